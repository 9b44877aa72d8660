"""Any language tag: its own name, direction, numbers and plurals, by the Unicode CLDR."""

import json
import re
from decimal import Decimal
from pathlib import Path

import babel
import languages
import pytest

from analysis.survey.survey_file import read_survey
from server.cldr import direction, number_example, own_name, tag_named
from server.page_texts import LANGUAGES, languages_of, numeral, program_word, word
from server.pages.browser_files import CLIENT, client_files
from server.pages.rendering import Pages

TABLE = json.loads(languages.FILE.read_text("utf-8"))
RTL = ["fa", "he", "ur", "ckb", "ps", "dv", "yi", "ku-Arab", "ku-IQ", "az-Arab", "pa-Arab", "pa-PK"]
LTR = ["it", "zh-Hant", "pt-BR", "sr-Latn", "sd-IN", "ar-Latn", "ku", "az", "tlh", "x-made-up"]


def test_the_table_is_what_its_source_gives() -> None:
    if TABLE["babel"] == babel.__version__:
        assert languages.FILE.read_text("utf-8") == languages.text()
    for tag, locale in languages.locales().items():
        assert direction(tag) == ("rtl" if locale.character_order == "right-to-left" else "ltr")


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        *[
            ("German", "de"),
            ("deutsch", "de"),
            (" Português ", "pt"),
            ("Farsi", "fa"),
            ("اردو", "ur"),
        ],
        *[("Simplified Chinese", "zh-Hans"), ("Tagalog", "fil"), ("Klingonisch", None), ("", None)],
    ],
)
def test_languages_are_known_by_their_names(name: str, tag: str | None) -> None:
    assert tag_named(name) == tag


@pytest.mark.parametrize("tag", [*RTL, *LTR])
def test_each_tag_has_its_direction(tag: str) -> None:
    assert direction(tag) == ("rtl" if tag in RTL else "ltr")


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("fa", "فارسی"),
        ("he", "עברית"),
        ("ur", "اردو"),
        ("ckb", "کوردیی ناوەندی"),
        ("ku-Arab", "کوردی"),
        ("dv", "ދިވެހިބަސް"),
        ("zh-Hant", "中文 (繁體)"),
        ("zh-tw", "中文 (繁體, 台灣)"),
        ("pt-BR", "Português (Brasil)"),
        ("sr-Latn", "Srpski (latinica)"),
        ("ka", "ქართული"),
        ("iw", "עברית"),
        ("tl", "Filipino"),
        ("deu", "Deutsch"),
        ("ger-AT", "Deutsch (Österreich)"),
        ("es", "Español"),
        ("de-US", "Deutsch (de-US)"),
        ("tlh", "tlh"),
    ],
)
def test_each_tag_has_its_own_name(tag: str, name: str) -> None:
    assert own_name(tag) == name


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("de", "-1.234.567,8"),
        ("de-CH", "-1'234'567.8"),
        ("es-MX", "-1,234,567.8"),
        ("hi", "-12,34,567.8"),
        ("fa", "\u200e−1,234,567.8"),
        ("ps", "\u200e−1.234.567,8"),
        ("ku-Arab", "\u200e-1.234.567,8"),
        ("tlh", "-1,234,567.8"),
    ],
)
def test_each_tag_has_its_numbers(tag: str, expected: str) -> None:
    (language,) = languages_of({"languages": [tag]})
    assert number_example(tag) == numeral(-1234567.8, language) == expected


def test_every_number_is_read_back_from_each_form() -> None:
    for tag in [*RTL, *LTR, *LANGUAGES, "hi", "sv", "fr-CH"]:
        (language,) = languages_of({"languages": [tag]})
        comma, point = re.findall(r"\D", language.number_example[-6:])[-2:]
        for number in (0, 7, 2026, 9999, 10_000, 123_456, -1_234_567, 0.25, -12_345.5, 1e-7):
            text = numeral(number, language).replace(comma, "").replace(point, ".")
            plain = text.replace("\u200e", "").replace("−", "-")
            assert Decimal(plain) == Decimal(str(number)), (tag, number)


def test_english_words_keep_their_direction_where_a_page_runs_the_other_way() -> None:
    span = '<span lang="en" dir="ltr">Yes</span>'
    assert word("question.yes", languages_of({"languages": ["dv"]})) == span
    assert word("question.yes", languages_of({"languages": ["en-GB"]})) == "Yes"
    assert word("question.yes", languages_of({"languages": ["de", "dv"]})) == (
        '<span data-language="de" lang="de" dir="ltr">Ja</span>'
        '<span data-language="dv" lang="en" dir="ltr" hidden>Yes</span>'
    )
    # The program takes the text alone, so marks isolate it.
    assert "\u2066Yes\u2069" in program_word("question.yes", languages_of({"languages": ["dv"]}))
    assert "\u2067نعم\u2069" in program_word(
        "question.yes", languages_of({"languages": ["ar-Latn"]})
    )
    assert program_word("question.yes", languages_of({"languages": ["ar"]})) == "نعم"


@pytest.mark.parametrize("tag", ["dv", "ckb", "az-Arab"])
def test_a_page_is_laid_out_in_the_direction_of_its_tag(tag: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    for tags in ([tag], [tag, "en"], ["en", tag]):
        text = ", ".join(f'"{one}" = "?"' for one in tags)
        path.write_text(
            f'id = "s"\ntitle = {{{text}}}\nlanguages = {json.dumps(tags)}\n[[questions]]\n'
            f'id = "q"\nkind = "yes-no"\ntext = {{{text}}}\nepsilon = 1\n'
        )
        survey = read_survey(path)
        data = {"version": survey.version, "wave": 1, "state": "open"} | survey.to_json()
        page = Pages(client_files(CLIENT)).survey(survey, data).content.decode()
        way = "rtl" if tags[0] == tag else "ltr"
        assert page.startswith(f'<!doctype html>\n<html lang="{tags[0]}" dir="{way}"')
        option = f'<option value="{tag}" lang="{tag}" dir="rtl">{own_name(tag)}</option>'
        assert (option in page) == (len(tags) > 1)
        assert '<p class="panel" lang="en" dir="ltr">This page protects' in page
        # No English text stands in this language without its mark.
        bare = re.sub(r'<(\w+)( [^>]*)? lang="en" dir="ltr".*?</\1>', "", page, flags=re.S)
        assert "Begin" not in bare
        assert "Only you see your true answers." not in bare
