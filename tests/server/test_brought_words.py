"""Words of the page that a survey brings for a language that the product does not speak."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from console_pages import Browsers, app, signed_in, survey_file
from drafting import fields, toml, upload
from forms import post
from openapi_schema_validator import OAS31Validator
from test_access import HTTPS

from analysis.core.errors import SurveyError
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from analysis.survey.written import survey_tables
from server.audit.website import audit_survey_page
from server.cli import main
from server.editing.draft_file import toml_of
from server.editing.reading import read_draft
from server.openapi import protocol_schema
from server.page_texts import (
    LANGUAGES,
    TO_BRING,
    is_spoken,
    languages_of,
    to_translate,
    told,
    word,
)
from server.page_texts import Phrase as P
from server.pages.browser_files import CLIENT, client_files
from server.pages.rendering import Pages
from server.store import Store
from server.words import misfits, texts_in

__all__ = ["app", "signed_in", "survey_file"]

SURVEY = """id = "s"
title = "S"
languages = ["dv", "en"]
[[questions]]
id = "q"
kind = "yes-no"
text = "?"
epsilon = 1
"""


def survey_with(tmp_path: Path, words: str, survey: str = SURVEY) -> Survey:
    """Return the frozen survey of a file with such words."""
    path = tmp_path / "s.toml"
    path.write_text(survey + words, "utf-8")
    return read_survey(path)


def _said(tmp_path: Path, words: str, survey: str = SURVEY) -> str:
    survey_with(tmp_path, words, survey)
    return CliRunner().invoke(main, ["check", str(tmp_path / "s.toml")]).stderr


def _page(survey: Survey) -> str:
    data = {"version": survey.version, "wave": 1, "state": "open"} | survey.to_json()
    return Pages(client_files(CLIENT)).survey(survey, data).content.decode()


def _all_translated(tmp_path: Path) -> str:
    """Return the table that `check --words` prints, with each text in made-up words."""
    (tmp_path / "s.toml").write_text(SURVEY)
    printed = CliRunner().invoke(main, ["check", str(tmp_path / "s.toml"), "--words", "dv"]).stdout
    return re.sub(r'^# (\S+ = ")', r"\1ف ", printed, flags=re.M)


def test_words_are_used_and_others_stay_english(tmp_path: Path) -> None:
    survey = survey_with(tmp_path, '[words.dv]\npage.begin = "شروع"\nquestion.yes = "<b>بله"\n')
    persian, english = languages_of(survey.spec)
    assert told(P.of("page.begin"), persian) == "شروع"
    assert word("page.begin", [persian]) == "شروع"
    assert word("page.next", [persian]) == '<span lang="en" dir="ltr">Next</span>'
    assert english is LANGUAGES["en"]
    page = _page(survey)
    assert '<span data-language="dv" lang="dv" dir="rtl">شروع</span>' in page
    assert "&lt;b&gt;بله" in page
    assert "<b>بله" not in page.partition('id="survey-data"')[0]


def test_the_version_pins_the_words_and_they_can_be_read_again(tmp_path: Path) -> None:
    plain = survey_with(tmp_path, "")
    first = survey_with(tmp_path, '[words.dv]\npage.begin = "شروع"\n')
    other = survey_with(tmp_path, '[words.dv]\npage.begin = "آغاز"\n')
    assert len({plain.version, first.version, other.version}) == 3
    assert first.terms == plain.terms
    assert first.spec["words"] == {"dv": {"page": {"begin": "شروع"}}}
    assert "words" not in plain.spec
    assert thaw(first.to_json(), first.version).spec == first.spec
    OAS31Validator({**protocol_schema(), "$ref": "#/$defs/Survey"}).validate(first.spec)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('[words.dv]\npage.begin = ""', "[words.dv.page]: begin must be a text"),
        ("[words.dv]\npage.begin = 3", "[words.dv.page]: begin must be a text"),
        ('[words.dv]\npage.begin = "a\\u0007"', "[words.dv.page]: begin must be a text"),
        ('[words.dv]\npage.minutes = {one = "1"}', "[words.dv.page]: minutes must be a text"),
        ('[words.dv]\npage.minutes = {other = "a", 1 = "b"}', "minutes must be a text"),
        ('[words.dv]\n"page.begin" = "a"', "page.begin must be a table"),
        ('[words.dv]\npage."Be gin" = "a"', "page must be a table with names"),
        ("[words.dv]\npage = {}", "page must be a table with names"),
        ('[words.fr]\npage.begin = "a"', 'unknown key "fr", expected one of dv, en'),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, words: str, expected: str) -> None:
    with pytest.raises(SurveyError) as error:
        survey_with(tmp_path, words)
    assert expected in str(error.value)


def test_words_need_a_language_of_the_survey(tmp_path: Path) -> None:
    none = SURVEY.replace('languages = ["dv", "en"]', "")
    with pytest.raises(SurveyError, match="words must be left out without languages"):
        survey_with(tmp_path, '[words.dv]\npage.begin = "a"\n', none)
    assert "words" not in survey_with(tmp_path, "[words.dv]\n# page.begin = 'a'\n").spec


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ('page.nothing = "a"', "page.nothing is shown in English: the page has no such text"),
        ('page.page-of = "صفحه {page}"', "expected the places page, pages and no others"),
        ('page.begin = "{n}"', "expected the places of no value and no others"),
        ('trial.draw = "۳۰ بار"', "expected the numbers of the English text: 20"),
        ('trial.draw = "بار"', "expected the numbers of the English text: 20"),
        ('page.begin = {one = "a", other = "b"}', "expected one form, since this text does not"),
        ('page.left = {one = "{m}", other = "{n}"}', "expected the places n in the form one, too"),
        ('page.begin = "a‖b"', "expected no ‖"),
    ],
)
def test_a_text_that_does_not_fit_is_named_and_shown_in_english(
    tmp_path: Path, words: str, why: str
) -> None:
    assert why in _said(tmp_path, f"[words.dv]\n{words}\n")
    persian, english = languages_of(read_survey(tmp_path / "s.toml").spec)
    key = words.partition(" ")[0]
    assert persian.texts.get(key) == english.texts.get(key)


def test_numbers_can_be_in_the_digits_of_the_language(tmp_path: Path) -> None:
    survey = survey_with(tmp_path, '[words.dv]\ntrial.draw = "۲۰ بار"\n')
    assert told(P.of("trial.draw"), languages_of(survey.spec)[0]) == "۲۰ بار"


def test_no_survey_rewrites_the_words_of_the_product(tmp_path: Path) -> None:
    survey = 'languages = ["de-CH", "ar"]\n' + SURVEY.replace('languages = ["dv", "en"]\n', "")
    words = '[words.de-CH]\nwho.you = "Alles anonym."\n[words.ar]\nwho.you = "x"\n'
    assert 'language "de-CH": its words are left out, since the page has its own' in _said(
        tmp_path, words, survey
    )
    assert [is_spoken(tag) for tag in ("deu", "ARA-EG", "dv")] == [True, True, False]
    german, arabic = languages_of(read_survey(tmp_path / "s.toml").spec)
    assert german.words == LANGUAGES["de"].words
    assert arabic == LANGUAGES["ar"]


def test_check_prints_what_to_translate_and_names_what_is_missing(tmp_path: Path) -> None:
    words = _all_translated(tmp_path)
    brought = tomllib.loads(words)["words"]["dv"]
    assert sum(map(len, brought.values())) >= len(TO_BRING) - 10
    assert 'language "dv"' not in _said(tmp_path, words)
    said = _said(tmp_path, re.sub(r"^page\.(begin|next) .*\n", "", words, flags=re.M))
    assert 'language "dv": not translated, and shown in English: page.begin, page.next\n' in said
    assert "deniable check --words dv prints what to translate" in _said(tmp_path, "")
    path = str(tmp_path / "s.toml")
    survey_with(tmp_path, '[words.dv]\npage.begin = "a"\n')
    more = CliRunner().invoke(main, ["check", path, "--words", "dv"]).stdout
    assert "[words.dv]" not in more
    assert "page.begin" not in more
    refused = CliRunner().invoke(main, ["check", path, "--words", "en"])
    assert refused.exit_code != 0
    assert "a language of the survey without words (dv), got en" in refused.stderr


def test_a_page_with_such_words_says_who_translated_it_and_has_the_promises(
    tmp_path: Path,
) -> None:
    summary = "Translated by whoever asks you"
    assert summary not in _page(survey_with(tmp_path, ""))
    for tags, hidden in ((["dv"], False), (["dv", "en"], False), (["en", "dv"], True)):
        text = SURVEY.replace('["dv", "en"]', json.dumps(tags))
        page = _page(survey_with(tmp_path, _all_translated(tmp_path), text))
        (start,) = re.findall(r'<details class="translated".*?>', page)
        assert ('data-language="dv"' in start) == (len(tags) > 1)
        assert ("hidden" in start) == hidden
        (details,) = re.findall(r'<details class="translated".*?</details>', page, re.S)
        assert details.count('lang="en" dir="ltr"') == 2
        words = LANGUAGES["en"].words
        for key in ("who.you", "who.others", "stored.reports", "limits.trust"):
            assert f"<p>{words[key]}</p>" in details, key
        assert "no results of fewer than 100 people. Then at least 50 more" in details


def test_audit_says_which_words_the_survey_brought(tmp_path: Path) -> None:
    def found(words: str) -> Mapping[str, Any]:
        survey = survey_with(tmp_path, words)
        data = {"version": survey.version, "wave": 1, "state": "open"} | survey.to_json()
        return {one.subject: one for one in audit_survey_page(survey, data)}

    assert [*found("")] == ["/s/s"]
    finding = found('[words.dv]\npage.begin = "a"\npage.next = "b"\npage.nothing = "c"\n')["s dv"]
    total = len(LANGUAGES["en"].words)
    assert finding.finding == (
        f"2 of {total} texts are brought by the survey, and none is this program's: "
        "page.begin, page.next"
    )


DRAFT = """id = "brought"
title = {dv = "ع", en = "T"}
languages = ["dv", "en"]
[[questions]]
id = "one"
kind = "yes-no"
text = {dv = "؟", en = "?"}
epsilon = 1

[words.dv]
page.begin = "شروع"
page.minutes = {one = "۱", other = "{n}"}
"""


def test_no_draft_loses_the_words_that_its_survey_brings(
    signed_in: Browsers, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "brought.toml"
    path.write_text(DRAFT, "utf-8")
    survey = read_survey(path)
    browser = signed_in("bob")
    where = "/surveys/brought/edit"
    assert upload(browser, ("brought.toml", DRAFT.encode())).status_code == 303
    assert read_draft(toml(store, "brought"), {}).problems == ()
    for part in ("study", "question/one"):
        changed = fields(browser, part, where) | {"do": "save"}
        assert post(browser, where, **changed).status_code == 303
    assert toml(store, "brought") == DRAFT
    page = browser.get("/surveys/brought/translations", **HTTPS).text
    assert "All texts are translated" in page
    assert page.startswith('<!doctype html>\n<html lang="en" dir="ltr"')
    # Nobody takes a language away with its words unseen.
    spoken = fields(browser, "study", where) | {"languages": "en", "do": "save"}
    refused = post(browser, where, **spoken)
    assert (refused.status_code, "4 texts in dv would be lost" in refused.text) == (422, True)
    gone = post(browser, where, **spoken, forget="yes")
    assert gone.status_code == 303, gone.text
    assert "words" not in toml(store, "brought")
    # A published survey comes back with them.
    store.surveys.publish(survey)
    tables, _ = survey_tables(survey)
    draft = toml_of(tables)
    path.write_text(draft, "utf-8")
    assert (read_survey(path).version, "[words.dv.page]" in draft) == (survey.version, True)


@pytest.mark.parametrize(
    ("tag", "forms", "why"),
    [
        ("uk", {"one": "1 xв", "few": "{n} xв", "many": "{n} xв"}, "expected {n} in the form one"),
        ("uk", {"one": "{n} xв", "few": "99 {n}", "many": "{n} xв"}, "no other numbers"),
        ("it", {"one": "1 minuto"}, ""),
        ("it", {"one": "2 minuti"}, "no other numbers in the form one"),
    ],
)
def test_a_form_without_its_number_stands_for_one_number_alone(
    tag: str, forms: dict[str, str], why: str
) -> None:
    brought = texts_in({"page": {"minutes": {**forms, "other": "{n} xв"}}}, tag)
    found = misfits(brought, LANGUAGES["en"].texts)
    assert why in found.get("page.minutes", "")
    assert bool(found) == bool(why)


def test_what_is_printed_to_translate_has_each_plural_and_never_a_number_for_many() -> None:
    spec = {"languages": ["uk"]}
    printed = [*to_translate(spec, "uk")]
    assert any(line.startswith("# page.minutes.other = ") for line in printed)
    assert not [line for line in printed if re.match(r'# \S+\.one = "[^{]*1[^{]*"$', line)]
