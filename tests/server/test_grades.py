"""What a page says of its protection is true at every ε, for every kind and mechanism."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from every_mechanism import tried
from random_surveys import random_survey

from analysis.privacy.meaning import Grade, grade_of
from analysis.survey.check import check
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.page_texts import LANGUAGES, Language, numeral
from server.pages.browser_files import CLIENT, client_files
from server.pages.rendering import Pages
from server.remarks import remarks

#: Around the ln of each limit, at those that people choose, and where the limit was before.
EPSILONS = [
    *(0.1, 0.5, 1, 1.0986, 1.0987, 1.7, 2, 2.0794, 2.0795, 2.5, 2.9957, 2.9958, 3, 3.9, 4, 6),
    *(12, 20),
]
YES_NO = '[[questions]]\nid = "{id}"\nkind = "yes-no"\ntext = "?"\nepsilon = {epsilon}\n{more}\n'
HEAD = 'format = 2\ntitle = "S"\nid = "s"\n[page]\ncomprehension = true\n'
Read = Callable[[str], Survey]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def survey(text: str) -> Survey:
        path = tmp_path / "s.toml"
        path.write_text(text)
        return read_survey(path)

    return survey


@cache
def _pages() -> Pages:
    return Pages(client_files(CLIENT))


def page_of(survey: Survey) -> str:
    """Return the text of a survey's page in all languages, whatever languages it has."""
    own = survey.spec.get("languages", [])
    tags = [*own, *(tag for tag in LANGUAGES if tag not in own)]
    spoken = replace(survey, spec=survey.spec | {"languages": tags})
    data = survey.to_json() | {"version": survey.version, "wave": 1, "state": "open"}
    return unescape(_pages().survey(spoken, data).content.decode())


def at(text: str, epsilon: float) -> str:
    """Return a survey file with another ε for its question."""
    return text.replace("epsilon = 1\n", f"epsilon = {epsilon}\n")


def largest_ratio(question: Question) -> Fraction:
    """Return the largest ratio of a report's probabilities, from the whole law if it is short."""
    randomizer = question.randomizer
    known = question.place is None and randomizer.encoder.cohorts is None
    names = question.domain.alternatives
    if not (known and randomizer.encoder.is_identity and randomizer.channel.gives_one_symbol):
        return randomizer.ratio
    values = [question.value(name) for name in names]
    inputs = [randomizer.encoder.encode(value, 0, iter(())) for value in values]
    laws: list[dict[Any, Fraction]] = [
        dict(randomizer.channel.distribution(symbol)) for symbol in inputs
    ]
    return max(max(law[r] for law in laws) / min(law[r] for law in laws) for r in laws[0])


def over_waves(question: Question) -> Fraction:
    """Return the odds of all waves, if the device remembers draws, or of one."""
    return largest_ratio(question) if question.memo is None else question.randomizer.forever


def about(survey: Survey, question: Question, odds: Callable[[Question], Fraction]) -> Fraction:
    """Return the odds of all that is sent about an answer: also by questions that depend on it."""
    told = survey.telling(question)
    joint = [[q for q in draw.questions if q in told] for draw in survey.joint]
    alone = [odds(q) for q in told if q.place is None]
    drawn = [draw.ratio_of(qs) for draw, qs in zip(survey.joint, joint, strict=True) if qs]
    return math.prod([*alone, *drawn], start=Fraction(1))


#: What fills a place: a number as a language writes it, or a power of ten.
_NUMBER = r"([\d⁰¹²³⁴⁵⁶⁷⁸⁹.,\s]*[\d⁰¹²³⁴⁵⁶⁷⁸⁹])"


def numbers_in(page: str, language: Language, key: str) -> list[str]:
    """Return what fills the place of a phrase wherever the page says it; "" if it has no place."""
    parts = re.split(r"\{\w+\}", language.words[key])
    filled = "(.+?)" if key == "quiz.text" else _NUMBER
    return re.findall(filled.join(map(re.escape, parts)), page)


def number(text: str, language: Language) -> float:
    plain = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    if plain != text:
        return 10.0 ** int(plain.removeprefix("10"))
    example = numeral(1_234_567.8, language)
    return float(text.replace(example[1], "").replace(example[-2], "."))


def check_bound(text: str, language: Language, odds: Fraction) -> None:
    """Assert that a number on the page is the computed one, rounded up."""
    shown = Fraction(number(text, language)).limit_denominator(10**6)
    assert odds <= shown <= odds * (Fraction("1.01") if odds < 10**9 else 10)


def check_page(survey: Survey) -> Grade:
    """Assert that all that the page says of its protection is true, in all languages."""
    page = page_of(survey)
    alone = max(map(over_waves, survey.questions))
    single = max(about(survey, question, over_waves) for question in survey.questions)
    once = max(about(survey, question, largest_ratio) for question in survey.questions)
    together = math.prod(
        (draw.ratio_of(draw.questions) for draw in survey.draws), start=Fraction(1)
    )
    grade = grade_of(single)
    feet = {about(survey, question, over_waves) for question in survey.questions}
    expected = {
        "happens.proves-nothing": single <= 3,
        "happens.hint": 3 < single <= 8,
        "happens.evens-out": single <= 8,
        "happens.coin": alone <= 3 and single <= 8,
        "happens.warning": single > 8,
        "happens.strong-hint": 8 < single <= 20,
        "happens.weak": single > 20,
        "happens.joint": together > 2 * once,
        "happens.warning-all": together > 2 * once and single <= 8,
        "quiz.text": "comprehension" in survey.spec.get("page", ()) and single <= 8,
        "odds.proves-nothing": any(odds <= 3 for odds in feet),
        "odds.hint": any(3 < odds <= 8 for odds in feet),
        "odds.strong-hint": any(8 < odds <= 20 for odds in feet),
        "odds.weak": any(odds > 20 for odds in feet),
    }
    for language in LANGUAGES.values():
        said = {key: numbers_in(page, language, key) for key in expected}
        assert {key: bool(found) for key, found in said.items()} == expected
        for key, odds in (
            ("happens.strong-hint", single),
            ("happens.weak", single),
            ("happens.joint", together),
        ):
            for text in said[key]:
                check_bound(text, language, odds)
        for text in numbers_in(page, language, "odds.together"):
            assert any(odds <= Fraction(number(text, language)) <= 10 * odds for odds in feet)
    return grade


#: A question by its ε and a line more; a memory reveals at most twice as much, and at most ε = 20.
ONE_QUESTION = [
    *((epsilon, more) for epsilon in EPSILONS for more in ("", "required = true")),
    *((one, f"epsilon_forever = {round(2 * one, 4)}") for one in EPSILONS if one <= 10),
]


@pytest.mark.parametrize(("epsilon", "more"), ONE_QUESTION)
def test_the_words_follow_the_odds_of_one_question(read: Read, epsilon: float, more: str) -> None:
    survey = read(HEAD + YES_NO.format(id="q", epsilon=epsilon, more=more))
    grade = check_page(survey)
    most = 2 * epsilon if "forever" in more else epsilon
    # The weights of 32 bits reach an ε only nearly, and a memory less nearly.
    if min(abs(most - limit) for limit in (math.log(3), math.log(8), math.log(20))) > 1e-3:
        assert grade == grade_of(math.exp(most))
    told = "\n".join(remarks(survey, check(survey)))
    assert ("does not ask whether its promise" in told) == (grade > Grade.HINT)
    assert ("say so to respondents" in told) == (grade > Grade.HINT)


@pytest.mark.parametrize("epsilon", [0.5, 0.54, 0.55, 1, 1.03, 1.04, 1.4, 1.49, 1.51, 3])
def test_the_words_count_questions_that_are_asked_because_of_an_answer(
    read: Read, epsilon: float
) -> None:
    blocks = [("q", ""), ("r", "shows_if = \"q = 'yes'\""), ("other", "")]
    text = "".join(YES_NO.format(id=name, epsilon=epsilon, more=more) for name, more in blocks)
    assert check_page(read(HEAD + text)) == grade_of(math.exp(2 * epsilon))


@pytest.mark.parametrize("questions", [1, 2, 4, 8, 30])
def test_all_answers_together_are_named_where_they_reveal_more(read: Read, questions: int) -> None:
    text = "".join(YES_NO.format(id=f"q{n}", epsilon=1, more="") for n in range(questions))
    check_page(read(HEAD + text))


@pytest.mark.parametrize("epsilon", [0.3, 2.5])
def test_the_words_follow_the_odds_of_every_mechanism(read: Read, epsilon: float) -> None:
    surveys = [survey for _, survey in tried(lambda text: read(at(text, epsilon)))]
    assert len(surveys) > 30
    grades = {check_page(survey) for survey in surveys}
    assert len(grades) > 1


@pytest.mark.parametrize("seed", range(12))
def test_the_words_follow_the_odds_of_random_surveys(tmp_path: Path, seed: int) -> None:
    check_page(random_survey(seed, tmp_path / "s.toml"))
