"""Texts that count have a form for each plural of their language, by the rules of the CLDR."""

from fractions import Fraction

import languages
import pytest

from analysis.survey.words_file import PLURALS
from server.cldr import plural, plurals_of
from server.explanation.wording import sends
from server.page_texts import LANGUAGES, Phrase, told
from server.words import PLACE, Text

#: Texts that count, and read well with each number in every language. The number is at least two;
#: or it stands apart, behind a colon or before "of"; or it is a number that was asked for.
FOR_ALL_NUMBERS = {
    "happens.asks-some",
    "who.published",
    "memory.some",
    "cost.drawn-together",
    "cost.waves",
    "cost.used",
    "odds.with-unit",
    "odds.symbol",
    "odds.beginning",
    "odds.bit",
    "odds.bits",
    "odds.drawn-together",
    "question.tick-at-most",
    "question.found",
    "question.number",
    "trial.times",
    "state.earlier-wait",
    "receipt.drawn-together",
    "me.waiting",
    "me.forget-waiting",
}


def test_each_text_that_counts_has_forms_or_a_reason_to_have_none() -> None:
    english = LANGUAGES["en"].texts
    counting = {key for key, text in english.items() if "n" in PLACE.findall(text.pattern)}
    formed = {key for one in LANGUAGES.values() for key, text in one.texts.items() if text.forms}
    assert counting - formed <= FOR_ALL_NUMBERS <= counting


@pytest.mark.parametrize("tag", LANGUAGES)
def test_forms_are_plurals_of_their_language_and_fill_the_same_places(tag: str) -> None:
    for key, text in LANGUAGES[tag].texts.items():
        assert {name for name, _ in text.forms} <= {*plurals_of(tag)}, key
        places = set(PLACE.findall(text.pattern))
        for name, form in text.forms:
            assert places - {"n"} <= set(PLACE.findall(form)) <= places, (key, name)


#: A language for each set of rules; Cornish alone looks at thousands.
LOCALES = languages.locales()
TAGS = {str(locale.plural_form): tag for tag, locale in LOCALES.items() if tag[:2] != "kw"}


@pytest.mark.parametrize("tag", [*TAGS.values(), *LANGUAGES])
def test_the_plural_of_a_number_is_that_of_the_cldr(tag: str) -> None:
    rules = LOCALES[tag].plural_form
    for number in (*range(320), 1000, 1001, 1002, 1111, 10_011, 123_456):
        assert plural(number, tag) == rules(number), number


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("en", {1: "About 1 minute.", 2: "About 2 minutes.", 21: "About 21 minutes."}),
        ("de", {1: "Etwa 1 Minute.", 4: "Etwa 4 Minuten."}),
        ("fr", {1: "Environ 1 minute.", 2: "Environ 2 minutes."}),
        ("es", {1: "Alrededor de 1 minuto.", 30: "Unos 30 minutos."}),
        (
            "ar",
            {
                1: "نحو دقيقة واحدة.",
                2: "نحو دقيقتين.",
                4: "نحو 4 دقائق.",
                10: "نحو 10 دقائق.",
                11: "نحو 11 دقيقة.",
                100: "نحو 100 دقيقة.",
                103: "نحو 103 دقائق.",
            },
        ),
    ],
)
def test_minutes_are_counted(tag: str, expected: dict[int, str]) -> None:
    said = {n: told(Phrase.of("page.minutes", n=n), LANGUAGES[tag]) for n in expected}
    assert said == expected


def test_people_are_counted() -> None:
    for chance, expected in ((1, "1 sends"), (2, "2 send"), (1.2, "about 1 sends")):
        phrase = sends(Fraction(chance).limit_denominator(1000) / 100)
        assert told(phrase, LANGUAGES["en"]) == expected


def test_the_program_gets_all_forms_of_a_number_that_it_alone_knows() -> None:
    text = Text("{n} ответов", "ru-RU", (("one", "{n} ответ"), ("few", "{n} ответа")))
    assert [text.form(n) for n in (1, 2, 5, 21)] == [
        "{n} ответ",
        "{n} ответа",
        "{n} ответов",
        "{n} ответ",
    ]
    assert text.form(None) == "ru‖one‖{n} ответ‖few‖{n} ответа‖other‖{n} ответов"
    assert PLURALS[-1] == "other"
