"""The texts of pages in every language: none is missing, untranslated, or misleading."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from markupsafe import Markup

from server.cli import main
from server.page_texts import FOLDER, LANGUAGE, LANGUAGES, Phrase, languages_of, told, word
from server.words import PLACE

ROOT = Path(__file__).parent.parent.parent
ENGLISH = LANGUAGES["en"].words
#: What no text of a language may have, and which ones are the same in English; all can be missing.
OF_TESTS = {
    file.stem: tomllib.loads(file.read_text("utf-8")).get(LANGUAGE, {})
    for file in FOLDER.glob("*.toml")
}
NOTHING = "(?!)"
#: Parts in which numbers and ε may occur: those that open, and "My privacy".
OF_NUMBERS = ("cost.", "receipt.spent", "receipt.drawn-together", "me.")
OTHERS = [tag for tag in LANGUAGES if tag != "en"]


def _all_forms(tag: str) -> Iterator[tuple[str, str]]:
    for key, text in LANGUAGES[tag].texts.items():
        yield from ((key, pattern) for pattern in (text.pattern, *dict(text.forms).values()))


def _places(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize("tag", OTHERS)
def test_every_language_has_all_texts(tag: str) -> None:
    words = LANGUAGES[tag].words
    assert words.keys() == ENGLISH.keys()
    for key, text in words.items():
        assert _places(text) == _places(ENGLISH[key]), key
        assert text.strip() == text != ""


@pytest.mark.parametrize("tag", OTHERS)
def test_no_text_was_left_in_english(tag: str) -> None:
    words = LANGUAGES[tag].words
    same = {key for key, text in words.items() if text == ENGLISH[key]}
    is_said = {key: any(map(str.isalpha, PLACE.sub("", ENGLISH[key]))) for key in same}
    assert {key for key in same if is_said[key]} == {*OF_TESTS.get(tag, {}).get("alike", ())}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_language_uses_words_that_mislead(tag: str) -> None:
    misleading = OF_TESTS.get(tag, {}).get("misleading", NOTHING)
    for key, text in _all_forms(tag):
        assert not re.search(misleading, text, re.I), key


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_language_uses_words_of_the_trade(tag: str) -> None:
    trade = OF_TESTS.get(tag, {}).get("trade", NOTHING)
    for key, text in _all_forms(tag):
        assert not re.search(trade, text, re.I), key
        assert "ε" not in text or key.startswith(OF_NUMBERS), key


def test_french_punctuation_stays_on_the_line_of_its_word() -> None:
    for key, text in _all_forms("fr"):
        assert not re.search(r"[^\u00a0\u202f][:;?!»]|«[^\u00a0\u202f]", text), key


def test_epsilon_is_in_details_alone() -> None:
    """Details are the receipt, the spending of a device, and the folded cost."""
    named = {key for key, text in ENGLISH.items() if "ε" in text or "epsilon" in text.lower()}
    assert {key.split(".")[0] for key in named} <= {"cost", "me", "receipt"}


def _sources() -> list[str]:
    files = [*(ROOT / "server/templates").rglob("*.html")]
    files += [*(ROOT / "server/explanation").rglob("*.py"), *(ROOT / "client").rglob("*.js")]
    # A view names a message, which is composed where pages are made.
    views = [
        ROOT / "server/deploy/files/unavailable.html",
        ROOT / "server/pages/respondents.py",
        ROOT / "server/pages/rendering.py",
    ]
    # A domain names the sentences that explain a question.
    domains = (ROOT / "analysis/core/domain").glob("*.py")
    explained = [ROOT / "server/explanation/question.py", *domains]
    together = ["".join(path.read_text() for path in group) for group in (views, explained)]
    return [path.read_text() for path in files] + together


def test_every_word_that_is_used_exists_and_every_one_is_used() -> None:
    tables = "|".join({key.split(".")[0] for key in ENGLISH})
    whole = rf"""["'`]({tables})\.(?!html)([a-z][\w-]*)["'`]"""
    used = {f"{table}.{key}" for text in _sources() for table, key in re.findall(whole, text)}
    # A word composed from a table and a name in it, or from a message and its view.
    parts = rf"""["'`]({tables})\.(?:["'`] ~|[\{{$])"""
    for text in _sources():
        beside = set(re.findall(r"""["']([a-z][\w-]*)["']""", text))
        for table in re.findall(parts, text):
            used |= {f"{table}.{key}" for key in beside if f"{table}.{key}" in ENGLISH}
            used |= {f"{table}.{key}-title" for key in beside if f"{table}.{key}-title" in ENGLISH}
    # The ids of yes-no, and the words beside a form of sentence.
    used |= {"question.yes", "question.no"}
    used |= {f"odds.{form}-{side}" for form in ("value", "count") for side in ("other", "others")}
    assert used - ENGLISH.keys() == set()
    assert ENGLISH.keys() - used == set()


@pytest.mark.parametrize(
    ("asked", "tag", "speaks", "yes"),
    [
        ("de", "de", "de", "Ja"),
        ("de-CH", "de-CH", "de", "Ja"),
        ("nqo", "nqo", "en", "Yes"),
        ("ar", "ar", "ar", "نعم"),
    ],
)
def test_a_survey_gets_the_words_of_its_language(
    asked: str, tag: str, speaks: str, yes: str
) -> None:
    (found,) = languages_of({"languages": [asked]})
    said = found.texts["question.yes"]
    assert (found.tag, said.tag, said.pattern) == (tag, speaks, yes)
    assert len({one.name for one in languages_of({"languages": [asked, "de", "fr"]})}) >= 2


def test_a_survey_without_languages_gets_english() -> None:
    assert languages_of({}) == [LANGUAGES["en"]]


def test_one_language_is_plain_text_and_several_are_hidden_but_the_first() -> None:
    german = LANGUAGES["de"]
    assert word("question.yes", [german]) == "Ja"
    assert word("question.yes", languages_of({"languages": ["de-CH", "ar"]})) == Markup(
        '<span data-language="de-CH" lang="de" dir="ltr">Ja</span>'
        '<span data-language="ar" lang="ar" dir="rtl" hidden>نعم</span>'
    )


def test_texts_of_authors_are_escaped() -> None:
    text = word("question.earlier", languages_of({}), item="<b>{n}")
    assert text == "Move up: &lt;b&gt;{n}"


@pytest.mark.parametrize(
    ("value", "tag", "expected"),
    [
        (3, "de", "3"),
        (1234.5, "en", "1234.5"),
        (12345, "en", "12,345"),
        (-12345.5, "de", "-12.345,5"),
        (12345678, "fr", "12\u202f345\u202f678"),
        (2026, "ar", "2026"),
        (30_000.0, "ar", "30,000"),
        (0.25, "de", "0,25"),
        (1e-7, "en", "0.0000001"),
        (10.1 + 20.2, "en", "30.3"),
        (123456789.125, "en", "123,456,789.125"),
        (0.25, "ar", "0.25"),
        (-5, "ar", "\u200e-5"),
        ((0.5, 1.0), "fr", "0,5 + 1"),
        ({"en": "dog", "de": "Hund"}, "de", "Hund"),
        ({"tlh": "Qa"}, "de", "Qa"),
        (Phrase.of("question.yes"), "es", "Sí"),
    ],
)
def test_values_are_written_as_a_language_does(value: object, tag: str, expected: str) -> None:
    text = told(Phrase.of("question.earlier", item=value), LANGUAGES[tag])
    assert text == LANGUAGES[tag].words["question.earlier"].replace("{item}", expected)


def test_a_place_without_a_value_stays_for_the_program() -> None:
    assert told(Phrase.of("question.between", min=1), LANGUAGES["en"]) == "From 1 to {max}."


def test_missing_words_are_an_error() -> None:
    with pytest.raises(KeyError):
        word("question.nothing", languages_of({}))


def test_check_warns_of_a_language_without_words(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'id = "s"\ntitle = "S"\nlanguages = ["nqo", "de-CH"]\n[[questions]]\nid = "q"\n'
        'kind = "yes-no"\ntext = "?"\nepsilon = 1\n'
    )
    said = CliRunner().invoke(main, ["check", str(path)]).stderr
    assert f"""language "nqo": the page's own words exist in {", ".join(LANGUAGES)}""" in said
    assert "de-CH" not in said
