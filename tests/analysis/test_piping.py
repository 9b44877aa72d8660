"""Texts and orders made on the device: earlier answers, "other, namely", random orders."""

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from analysis.survey.piping import NONE_YET, Piece, answers_told, pieces, without_answers
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

WORK = """[[questions]]
id = "work"
kind = "choice"
text = "Where do you work?"
required = true
epsilon = 1
options = [{id = "lab", text = "Lab"}, {id = "other", text = "Other"}]
"""
NAMELY = '[[questions]]\nid = "which"\nkind = "text"\ntext = "Which?"\nepsilon = 1\n'
GLAD = '[[questions]]\nid = "glad"\nkind = "yes-no"\nepsilon = 1\n'
TOLD = 'text = "Glad at {answer.work}?"\n'
NOTE = '[[questions]]\nid = "n"\nkind = "note"\n'
Read = Callable[..., Survey]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a survey of these entries, with these lines before them."""

    def call(entries: str, head: str = "") -> Survey:
        path = tmp_path / "s.toml"
        path.write_text(f'id = "s"\ntitle = "S"\n{head}\n{entries}')
        return read_survey(path)

    return call


def test_a_text_has_parts_that_the_device_fills_in() -> None:
    text = "At {answer.work|your place}, or {answer.b-2}?"
    assert list(pieces(text)) == [
        Piece("At "),
        Piece("your place", "work"),
        Piece(", or "),
        Piece(NONE_YET, "b-2"),
        Piece("?"),
    ]
    assert without_answers(text) == f"At your place, or {NONE_YET}?"
    assert list(pieces("{x} {} {answer} {answer.X} {answer.a|}")) == [
        Piece("{x} {} {answer} {answer.X} {answer.a|}")
    ]


def test_readers_of_results_see_the_words_instead(read: Read) -> None:
    survey = read(WORK + GLAD + 'text = "Glad at {answer.work|work}?"\nhelp = "{answer.work}"\n')
    (_, glad) = survey.questions
    assert survey.wording(glad) == "Glad at work?"
    assert glad.spec["text"] == "Glad at {answer.work|work}?"
    assert answers_told(glad.spec) == {"work"}


def test_each_language_can_place_the_answer_elsewhere(read: Read) -> None:
    text = 'text = {en = "At {answer.work}?", de = "{answer.work} ist es?"}\n'
    survey = read(WORK + GLAD + text, 'languages = ["en", "de"]')
    assert answers_told(survey.questions[1].spec) == {"work"}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (GLAD + TOLD, "earlier questions; work is not one of them"),
        (NOTE + 'text = "Hi"\n' + GLAD + 'text = "{answer.n}?"', "n is not one of them"),
        (WORK.replace("required = true\n", "") + GLAD + TOLD, "words for people who do not answer"),
        (WORK + GLAD + 'text = "{answer.work|}?"', "a text in which each answer is {answer.ID}"),
        (WORK + GLAD + 'text = "{answer work}?"', "a text in which each answer is {answer.ID}"),
        (WORK + GLAD + 'text = "{answer.work} https://x.test"', "without a link"),
        (WORK + GLAD + 'text = "[me](/x) {answer.work}"', "without a link"),
        (WORK + GLAD + 'text = "www.x.test/?{answer.work}"', "without a link"),
        (WORK + GLAD + 'text = "A"\nsection = "{answer.work}"', "this text cannot contain answers"),
        (WORK.replace("Lab", "{answer.x}"), "this text cannot contain answers"),
        (WORK + GLAD + TOLD + "epsilon_forever = 2\nstable = true", "left out, since text depends"),
    ],
)
def test_quotes_that_reveal_more_or_nothing_are_refused(
    read: Read, entries: str, message: str
) -> None:
    with pytest.raises(SurveyError, match=message.replace("{", r"\{").replace(".", r"\.")):
        read(entries)


@pytest.mark.parametrize("key", ["thanks", "introduction"])
def test_texts_of_the_study_quote_no_answer(read: Read, key: str) -> None:
    with pytest.raises(SurveyError, match=f"{key} must be without"):
        read(WORK, f'{key} = "To {{answer.work}}"')


@pytest.mark.parametrize("kind", ["choice", "choices"])
def test_which_other_is_meant_is_asked_with_it(read: Read, kind: str) -> None:
    asked = WORK.replace('"choice"', f'"{kind}"')
    survey = read(asked + NAMELY + 'namely = "other"')
    which = survey.questions[1].spec
    operator = "=" if kind == "choice" else "selected"
    assert which["shows_if"] == [operator, "work", "other"]
    assert which["namely"] == "other"
    assert which["no_answer"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (WORK + NAMELY + 'namely = "else"', "namely must be one of lab, other"),
        (NAMELY + 'namely = "other"', "left out, unless the question before it is a choice"),
        (WORK + GLAD + 'text = "?"\n' + NAMELY + 'namely = "other"', "namely must be left out"),
        (WORK + NAMELY + 'namely = "other"\nnew_page = true', "new_page must be left out"),
        (WORK + NAMELY + 'namely = "other"\nshows_if = "work = \'lab\'"', "shows_if must be left"),
        (
            WORK + GLAD + 'text = "?"\nnamely = "other"',
            "unknown key 'namely'|unknown key \"namely\"",
        ),
    ],
)
def test_other_without_its_place_is_refused(read: Read, entries: str, message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        read(entries)


def test_an_order_is_drawn_only_on_request(read: Read) -> None:
    drawn = read(WORK + "random_order = true").questions[0].spec
    assert drawn["random_order"] is True
    assert "random_order" not in read(WORK + "random_order = false").questions[0].spec
    scale = GLAD.replace("yes-no", "scale") + 'text = "?"\npoints = ["a", "b"]\n'
    for ordered in (scale, GLAD + 'text = "?"\n'):
        with pytest.raises(SurveyError, match=r"unknown key .?random_order"):
            read(ordered + "random_order = true")


def test_an_order_gives_answers_no_other_meaning(read: Read) -> None:
    kept = WORK + "epsilon_forever = 2\n"
    one, other = read(kept), read(kept + "random_order = true")
    assert one.version != other.version
    assert list(one.memos) == list(other.memos)


@pytest.mark.parametrize(
    "second",
    [GLAD + TOLD, GLAD + 'text = "?"\nshows_if = "work = \'lab\'"\n'],
    ids=["told", "shown"],
)
def test_no_question_comes_before_one_that_it_depends_on(read: Read, second: str) -> None:
    random = "[page]\nrandom_order = true\n"
    with pytest.raises(SurveyError, match=r'random_order must be left out, or "glad" on a later'):
        read(WORK + second, random)
    assert read(WORK + second + "new_page = true\n", random).spec["page"] == {"random_order": True}
    assert read(WORK + NAMELY + 'namely = "other"\n', random)
