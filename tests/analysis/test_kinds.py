"""Check kinds: what authors write, which values answers have, and which mechanisms can be named."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from analysis.core.errors import SurveyError
from analysis.estimate.precision import curve_of_respondents
from analysis.survey.freeze import thaw
from analysis.survey.question import Question
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey

OPTIONS = '[{id = "x", text = "X"}, {id = "y", text = "Y"}, {id = "z", text = "Z"}]'
CHOICES = f'kind = "choices"\noptions = {OPTIONS}\nepsilon = 1\n'
RANK = f'kind = "rank"\nitems = {OPTIONS}\nepsilon = 1\n'
SCALE = 'kind = "scale"\npoints = ["never", "rarely", "often"]\nepsilon = 1\n'
NUMBER = 'kind = "number"\nmin = 0\nmax = 10\nepsilon = 1\n'
YES_NO = 'kind = "yes-no"\nrequired = true\n'


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Read a survey of one question from its keys."""

    def call(keys: str) -> Question:
        path = tmp_path / "s.toml"
        path.write_text(f'id = "s"\ntitle = "S"\n[[questions]]\nid = "q"\ntext = "?"\n{keys}')
        survey: Survey = read_survey(path)
        assert thaw(survey.to_json(), survey.version) == survey
        return survey.questions[0]

    return call


@pytest.mark.parametrize(
    ("keys", "answer", "value"),
    [
        (CHOICES, "x|z", (1, 0, 1, 0)),
        (CHOICES, "z|x", (1, 0, 1, 0)),
        (CHOICES, "none", (0, 0, 0, 1)),
        (CHOICES, "", None),
        (CHOICES, "no-answer", None),
        (RANK, "x|y|z", (1, 1, 1)),
        (RANK, "z|x|y", (1, 0, 0)),
        (RANK, "", None),
        (SCALE, "often", 2),
        (SCALE, "", 3),
    ],
)
def test_answers_have_their_values(read: Any, keys: str, answer: str, value: Any) -> None:
    assert read(keys).value(answer) == value


@pytest.mark.parametrize(("least", "most"), [(0, 10), (100, 110), (-5, 5)])
def test_the_precision_of_a_number_depends_on_the_width_of_its_range(
    read: Any, least: int, most: int
) -> None:
    shifted = NUMBER.replace("min = 0\nmax = 10", f"min = {least}\nmax = {most}")
    assert read(shifted).domain.span == 10
    (point,), (usual,) = (curve_of_respondents(read(keys), [1000]) for keys in (shifted, NUMBER))
    assert point == usual


@pytest.mark.parametrize(
    ("keys", "answer", "expected"),
    [
        (CHOICES + "at_most = 1\n", "x|y", "at most 1 of x, y, z joined by |, or none, or empty"),
        (CHOICES, "x|x", "at most 3 of"),
        (CHOICES, "x|none", "at most 3 of"),
        (CHOICES, "x|w", "at most 3 of"),
        (CHOICES, "|", "at most 3 of"),
        (CHOICES + "required = true\n", "", "joined by |, or none$"),
        (RANK, "x|y", "all of x, y, z in order, joined by |, or empty"),
        (RANK, "x|y|y", "all of x, y, z"),
        (SCALE, "sometimes", "one of never, rarely, often, no-answer, or empty"),
    ],
)
def test_impossible_answers_are_refused(read: Any, keys: str, answer: str, expected: str) -> None:
    pattern = re.escape(expected).replace(r"\$", "$")
    with pytest.raises(ValueError, match=pattern):
        read(keys).value(answer)


@pytest.mark.parametrize(
    ("points", "ids", "scores"),
    [
        ('["never", "often"]', ("never", "often"), (1, 2)),
        ('["Never", "Very often"]', ("1", "2"), (1, 2)),
        ("[0, 1, 2, 10]", ("0", "1", "2", "10"), (0, 1, 2, 10)),
        ("[-2, -1, 0]", ("1", "2", "3"), (-2, -1, 0)),
        ('["0", "5", "10"]', ("0", "5", "10"), (0, 5, 10)),
        ('["1", "2", "more"]', ("1", "2", "more"), (1, 2, 3)),
    ],
)
def test_points_have_ids_and_scores(
    read: Any, points: str, ids: tuple[str, ...], scores: tuple[int, ...]
) -> None:
    domain = read(f'kind = "scale"\nepsilon = 1\nrequired = true\npoints = {points}').domain
    assert (domain.ids, domain.scores) == (ids, tuple(map(Fraction, scores)))


@pytest.mark.parametrize(
    ("keys", "name", "epsilon"),
    [
        (YES_NO + 'mechanism = "two-coin"\n', "two-coin", 1.098613),
        (YES_NO + 'mechanism = {name = "warner", p = 0.75}\n', "warner", 1.098613),
        (YES_NO + 'mechanism = {name = "forced", p_yes = "1/6", p_no = "1/6"}', "forced", 1.609438),
        (YES_NO + 'mechanism = {name = "unrelated", p = "2/3", prevalence = "1/2"}', "unrelated",
         1.609438),
        (YES_NO + 'mechanism = {name = "crosswise", prevalence = "1/4"}', "crosswise", 1.098613),
        (CHOICES + 'mechanism = "multihot"\nat_most = 1\n', "multihot", 1),
        (RANK + 'mechanism = "permutations"\n', "permutations", 1),
        (SCALE + 'mechanism = "exponential"\n', "exponential", 1),
        (SCALE + 'mechanism = "optimal"\nprior = [1, 2, 1]\n', "optimal", 1),
        (NUMBER + 'prior = [5, 1, 1]\n', "optimal", 1),
        (NUMBER + 'required = true\nmechanism = "gaussian"\ndelta = 1e-5\n', "gaussian", 1),
        (NUMBER + 'required = true\nmechanism = "laplace"\n', "laplace", 1),
        (NUMBER + 'required = true\nmechanism = {name = "laplace", steps = 5}\n', "laplace", 1),
        (NUMBER + 'mechanism = "duchi"\n', "duchi", 1),
    ],
)  # fmt: skip
def test_a_mechanism_can_be_named(read: Any, keys: str, name: str, epsilon: float) -> None:
    question = read(keys)
    assert question.mechanism.name == name
    assert question.spec["epsilon"] == epsilon
    # ε is proved to be at most what the frozen survey states, and is not much less.
    assert question.randomizer.epsilon == pytest.approx(epsilon, rel=1e-4)
    assert question.spent(1, stated=True) <= epsilon * 1e6


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (YES_NO + 'mechanism = "two-coin"\nepsilon = 1', "epsilon must be left out: two-coin has"),
        (YES_NO + 'mechanism = {name = "warner"}', "p must be a probability between 0 and 1, such"),
        (YES_NO + 'mechanism = {name = "warner", p = 1}', "p must be a probability"),
        (YES_NO + 'mechanism = {name = "warner", p = "3/2"}', "p must be a probability"),
        (YES_NO + 'mechanism = {name = "warner", p = "1/2"}', "must depend on the answer"),
        (YES_NO + 'mechanism = {name = "warner", p = "3/4", q = 1}', 'unknown key "q"'),
        (YES_NO + 'mechanism = {name = "forced", p_yes = "2/3", p_no = "1/3"}', "than 1, got 1"),
        ('kind = "yes-no"\nmechanism = "two-coin"', "(two-coin needs required = true, and no"),
        (NUMBER + 'mechanism = "laplace"', "(laplace needs required = true, and no shows_if)"),
        (NUMBER + 'required = true\nmechanism = {name = "laplace", steps = 0}',
         "steps must be a whole number, at least 1, got 0"),
        (NUMBER + 'step = 1\nrequired = true\nmechanism = {name = "laplace", steps = 11}',
         "laplace: steps must be a whole number from 1 to 10, got 11"),
        (NUMBER + 'required = true\nmechanism = {name = "gaussian", steps = 101}',
         "gaussian: steps must be a whole number from 1 to 100, got 101"),
        (NUMBER + 'mechanism = {name = "duchi", steps = 5}', 'unknown key "steps"'),
        (NUMBER + 'mechanism = "krr"', "mechanism must be one of optimal, square-wave, piecewise,"),
        (CHOICES + "at_most = 4", "at_most must be a whole number from 1 to 3, the number of opti"),
        (CHOICES.replace('"x"', '"none"', 1), "id must be an id other than none, which is reserv"),
        (SCALE + 'aim = "median"', "aim must be one of mean, shares, cumulative, got"),
        (SCALE + 'prior = [1, 2]', "prior must be a list of relative frequencies, one for each of"),
        (NUMBER + 'aim = "shares"', "aim must be left out: no mechanism uses it here"),
        (NUMBER + "prior = [-1, 2]", "prior must be a list of relative frequencies, of 1 to 100"),
        (NUMBER + "prior = [nan, 1]", "prior must be a list of relative frequencies"),
        (NUMBER + "required = true\ndelta = 1e-6", "delta must be left out: only gaussian"),
        (YES_NO + 'mechanism = "optimal"\nepsilon = 1', "mechanism must be one of krr, subset, "),
        (CHOICES.replace("choices", "choice") + 'required = true\nmechanism = "two-coin"',
         "(two-coin serves two answers, yes and no)"),
        ('kind = "scale"\nepsilon = 1\npoints = ["mean", "x"]', "labels other than no-answer, me"),
        (RANK.replace('"x"', '"mean"', 1), "item 1: id must be an id other than mean, whi"),
        (SCALE + 'epsilon_forever = 2\nstable = true\nshows_if = "a = 1"', "shows_if: expected"),
        (NUMBER + "delta = 1e-6", "delta must be left out: no mechanism uses it here"),
        (NUMBER + 'mechanism = "duchi"\nprior = [1]', "prior must be left out: only optimal uses"),
        (NUMBER + 'required = true\nmechanism = "gaussian"\ndelta = 1e-8', "delta must be fr"),
        ('kind = "scale"\nepsilon = 1\npoints = ["a"]', "points must be a list of 2 to 50 labels"),
        ('kind = "scale"\nepsilon = 1\npoints = ["a", "a"]', "points must be labels that differ"),
        ('kind = "scale"\nepsilon = 1\npoints = ["a", 2.5]', "point 2: label must be a text that"),
        (RANK.replace("items", "options"), "items must be a list of at least 2 tables"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(read: Any, keys: str, message: str) -> None:
    with pytest.raises(SurveyError, match=re.escape(message)) as refused:
        read(keys)
    assert 'question "q"' in str(refused.value)
    assert "\n" not in str(refused.value)


def test_stored_surveys_that_contradict_themselves_are_refused(read: Any) -> None:
    gaussian = read(NUMBER + 'required = true\nmechanism = "gaussian"\ndelta = 1e-3\n')
    choice = read(SCALE + 'mechanism = "krr"\n')
    kept = read(SCALE + 'mechanism = "krr"\nepsilon_forever = 2\n')
    changes: list[tuple[Question, dict[str, Any], str]] = [
        (kept, {"epsilon_forever": 1.5}, "over all waves must be at most"),
        (kept, {"stable": 1}, "stable must be left out without a memory"),
        (choice, {"stable": True}, "stable must be left out without a memory"),
        (choice, {"epsilon_forever": 2}, "if, and only if, there is a memory"),
        (gaussian, {"delta": 1e-4}, "its delta is more than was asked for"),
        (gaussian, {"epsilon": 0.5}, "must be at most e"),
        (choice, {"shows_if": ["=", "p", "a"], "no_answer": False}, "its mechanism must be known"),
        (choice, {"mechanism": {"name": "magic"}}, "its mechanism must be known"),
        (choice, {"options": choice.spec["options"][:2]}, "does not fit its answers"),
    ]
    for question, change, message in changes:
        stored = {
            "survey": {"id": "s", "questions": [question.spec | change]},
            "randomizers": {"q": question.randomizer.to_json()},
        }
        with pytest.raises(ValueError, match=message):
            thaw(stored, version_of(stored))
