"""The templates are good surveys, whose wording has sources, and which can show something."""

import re
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from analysis.core.domain import Numbers
from analysis.core.epsilon import MICRO
from analysis.privacy.meaning import Grade, grade_of
from analysis.privacy.one_wave import largest_single
from analysis.study.planning import half_widths
from analysis.survey.check import check
from analysis.survey.freeze import thaw
from analysis.survey.study_file import missing
from analysis.survey.survey import Survey, spent_on
from analysis.survey.survey_file import read_survey
from server.pages.browser_files import CLIENT, client_files
from server.pages.rendering import Pages
from server.remarks import remarks
from server.studies import Template, templates

Read = Callable[[str], Survey]

#: Upper limits of ε of one wave, and of half-widths with 400 respondents: of a share, or of a mean
#: as a part of its range, at the least favorable answers.
MOST_EPSILON = 7
MOST_HALF_WIDTH = 0.15
RESPONDENTS = 400

#: Words of the remarks of `check`, in their order. Those on draws, on what one wave spends, and on
#: the panel's memories are facts, not faults.
EXPECTED = {
    "harassment-at-work": ["version", "experience go", "all 8 questions"],
    "student-drug-use": ["version", "use go", "all 8 questions"],
    "well-being-panel": [
        "version",
        "Safari",
        "sick cost",
        "born cost",
        "all 6 questions",
        "over all waves",
    ],
    "whistle-blowing": ["version", "answers go", "all 8 questions"],
}
#: How many waves the cap allows.
WAVES = {
    "harassment-at-work": 1,
    "student-drug-use": 1,
    "well-being-panel": 3,
    "whistle-blowing": 1,
}

#: All survey files that people copy or look at.
ROOT = Path(__file__).parents[2]
FILES = [*ROOT.glob("examples/*.toml"), *ROOT.glob("server/*/*.toml")]
SURVEYS = [path for path in FILES if path.parent.name in ("examples", "studies", "demo")]

IN_ONE_DRAW = [one for one in templates().values() if "[[together]]" in one.text]
each = pytest.mark.parametrize("template", templates().values(), ids=lambda one: one.name)


def comment_of(template: Template) -> str:
    """Return the comment that opens the file, in one line."""
    lines = takewhile(lambda line: line.startswith("#"), template.text.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in lines)


def test_there_are_four_and_the_documentation_lists_them() -> None:
    assert list(templates()) == list(EXPECTED) == list(WAVES)
    assert len(IN_ONE_DRAW) == 3
    page = (Path(__file__).parents[2] / "docs/survey-file.md").read_text()
    assert [name for name in templates() if f"server/studies/{name}.toml)" not in page] == []


@each
def test_it_is_read_and_frozen_without_changes(template: Template, read: Read) -> None:
    survey = read(template.text)
    assert (survey.id, survey.spec["title"]) == (template.name, template.title)
    assert thaw(survey.to_json(), survey.version).spec == survey.spec
    assert missing(survey.spec) == []


@each
def test_a_list_can_show_it_in_one_sentence(template: Template) -> None:
    assert re.fullmatch(r"This survey asks [^.]+\.", template.description)
    assert len(template.description) <= 160


@each
def test_the_first_comment_names_the_source_of_each_question(
    template: Template, read: Read
) -> None:
    comment = comment_of(template)
    assert "Where the questions come from." in comment
    assert re.search(r"\b(19|20)\d\d\b", comment)
    assert [q.id for q in read(template.text).questions if f'"{q.id}"' not in comment] == []


@each
def test_texts_to_fill_in_are_in_brackets(template: Template, read: Read) -> None:
    spec = read(template.text).spec
    for key in ("organisation", "introduction", "contact", "consent", "thanks"):
        assert re.search(r"\[[^\]]+\]", spec[key]), key


@each
def test_each_epsilon_has_a_reason_and_one_wave_costs_little(
    template: Template, read: Read
) -> None:
    survey = read(template.text)
    assert 6 <= len(survey.questions) <= 12
    assert all(survey.reason_of(question) for question in survey.questions)
    assert survey.charge / MICRO <= MOST_EPSILON
    waves = WAVES[template.name]
    assert spent_on([(survey, waves)]) <= survey.cap < spent_on([(survey, waves + 1)])


@each
def test_its_remarks_are_what_is_expected(template: Template, read: Read) -> None:
    survey = read(template.text)
    found = list(remarks(survey, check(survey)))
    assert len(found) == len(EXPECTED[template.name])
    for remark, words in zip(found, EXPECTED[template.name], strict=True):
        assert re.search(r".*?\b".join(map(re.escape, words.split())), remark), remark


@each
def test_400_respondents_are_enough(template: Template, read: Read) -> None:
    for question in read(template.text).questions:
        rng = np.random.default_rng(1)
        width, direct = half_widths(question, RESPONDENTS, rng=rng)
        domain = question.domain
        span = domain.span if isinstance(domain, Numbers) else 1.0
        assert direct < width <= MOST_HALF_WIDTH * span, question.id


@pytest.mark.parametrize("template", IN_ONE_DRAW, ids=lambda one: one.name)
def test_with_600_respondents_a_smaller_epsilon_is_enough(template: Template, read: Read) -> None:
    assert "From 600 respondents on, an epsilon and a cap of 3.9 do as well" in comment_of(template)
    survey = read(
        template.text.replace("epsilon = 5.0", "epsilon = 3.9").replace("cap = 5.0", "cap = 3.9")
    )
    for question in survey.questions:
        width, _ = half_widths(question, 600, rng=np.random.default_rng(1))
        assert width <= MOST_HALF_WIDTH, question.id


@each
def test_its_page_shows_all_questions(template: Template, read: Read) -> None:
    survey = read(template.text)
    data = survey.to_json() | {"version": survey.version, "wave": 1, "state": "open"}
    page = Pages(client_files(CLIENT)).survey(survey, data).content.decode()
    assert f"<title>{survey.spec['title']}" in page
    for question in survey.questions:
        assert f'name="{question.id}--answer"' in page, question.id


@pytest.mark.parametrize("path", SURVEYS, ids=lambda path: path.stem)
def test_no_survey_that_people_learn_from_nearly_reveals_an_answer(path: Path) -> None:
    assert grade_of(largest_single(read_survey(path))) < Grade.NEARLY


def test_the_example_of_one_draw_needs_no_warning() -> None:
    survey = read_survey(ROOT / "examples/one-draw.toml")
    assert grade_of(largest_single(survey)) <= Grade.HINT
    assert grade_of(survey.ratio) < Grade.NEARLY
    for question in survey.questions:
        width, _ = half_widths(question, 2000, rng=np.random.default_rng(1))
        span = question.domain.span if isinstance(question.domain, Numbers) else 1.0
        assert width <= 0.12 * span, question.id
