"""A language of the product is one file: a made-up one is added, and everything speaks it."""

import re
import shutil
from pathlib import Path

import pytest
import test_page_texts
import test_plurals

from analysis.survey.survey_file import read_survey
from server.deploy import unavailable
from server.page_texts import FOLDER, LANGUAGES, languages_in, languages_of
from server.pages.browser_files import CLIENT, client_files
from server.pages.rendering import Pages

#: A language that nobody will add; its words are the English ones, each behind a sign.
TAG, SIGN = "tlh", "¤ "


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Add the language by its file alone; return its tag."""
    folder = tmp_path / "languages"
    shutil.copytree(FOLDER, folder)
    english = (FOLDER / "en.toml").read_text("utf-8").partition("\n\n")[2]
    words = re.sub(r'(= )"(?=[^"]*[A-Za-z])', rf'\1"{SIGN}', english)
    (folder / f"{TAG}.toml").write_text(words, "utf-8")
    found = languages_in(folder)
    assert list(found) == ["en", *sorted({*LANGUAGES, TAG} - {"en"})]
    monkeypatch.setitem(LANGUAGES, TAG, found[TAG])
    return TAG


def test_all_pages_speak_it(added: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        f'id = "s"\ntitle = "S"\nlanguages = ["{added}"]\nminutes = 1\n[[questions]]\n'
        'id = "q"\nkind = "yes-no"\ntext = "?"\nepsilon = 1\n'
    )
    survey = read_survey(path)
    (language,) = languages_of(survey.spec)
    assert {text.tag for text in language.texts.values()} == {added}
    pages = Pages(client_files(CLIENT))
    data = {"version": survey.version, "wave": 1, "state": "open"} | survey.to_json()
    page = pages.survey(survey, data).content.decode()
    assert f'<html lang="{added}"' in page
    for text in ("Begin", "Yes", "About 1 minute.", "Only you see your true answers."):
        assert f"{SIGN}{text}" in page
        assert f">{text}" not in page
    assert f'<option value="{added}" lang="{added}" dir="ltr">{added}</option>' in (
        pages.me().content.decode()
    )
    for key in ("closed", "not-found"):
        assert language.words[f"message.{key}"] in pages.message(key, title="T").content.decode()
    assert language.words["message.unavailable"] in unavailable()[0]


def test_the_tests_of_all_languages_hold_for_it(added: str) -> None:
    test_page_texts.test_every_language_has_all_texts(added)
    test_page_texts.test_no_text_was_left_in_english(added)
    test_page_texts.test_no_language_uses_words_that_mislead(added)
    test_page_texts.test_no_language_uses_words_of_the_trade(added)
    test_plurals.test_forms_are_plurals_of_their_language_and_fill_the_same_places(added)
