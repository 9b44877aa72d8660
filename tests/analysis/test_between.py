"""Check respondents for a difference between randomized groups, by hand and by simulation."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

from analysis.estimate.columns.of_survey import columns_of
from analysis.study.planning import respondents_between
from analysis.survey.question import Question
from analysis.survey.survey_file import read_survey

REACH = float(ndtri(0.975) + ndtri(0.8))


@pytest.fixture
def questions(tmp_path: Path) -> dict[str, Question]:
    def question(name: str, epsilon: float) -> str:
        options = '[{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]'
        return (
            f'[[questions]]\nid = "{name}"\nkind = "choice"\ntext = "?"\n'
            f"options = {options}\nepsilon = {epsilon}\nrequired = true\n"
        )

    path = tmp_path / "s.toml"
    parts = [question("y", 2), question("g", 3), question("plain", 20), question("open", 20)]
    text = 'kind = "text"\ntext = "?"\nepsilon = 1\n'
    path.write_text('title = "S"\nid = "s"\n' + "".join(parts) + f'[[questions]]\nid = "t"\n{text}')
    return {one.id: one for one in read_survey(path).questions}


def test_asked_directly_it_is_the_number_of_textbooks(questions: dict[str, Question]) -> None:
    sizes = {"a": 0.5, "b": 0.5, "c": 0.0}
    n = respondents_between(
        questions["plain"], "a", questions["open"], ("a", "b"), (0.3, 0.5), sizes
    )
    # Two halves have the variance p (1 - p) / (n / 2) each.
    assert n == pytest.approx((REACH / 0.2) ** 2 * 2 * (0.3 * 0.7 + 0.5 * 0.5), abs=1)


def test_it_is_the_variance_of_simulated_surveys(questions: dict[str, Question]) -> None:
    y, g = (columns_of(questions[name], [])[0] for name in "yg")
    rng, people, times = np.random.default_rng(7), 2000, 4000
    sizes, shares = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.3])
    joint = np.stack([sizes * shares, sizes * (1 - shares) / 2, sizes * (1 - shares) / 2])
    law = np.einsum("rv,sw,vw->rs", y.chances, g.chances, joint)
    counts = rng.multinomial(people, law.ravel(), times).reshape(times, *law.shape)
    both = np.einsum("trs,r,sk->tk", counts, y.scores[:, 0], g.scores[:, :2])
    there = np.einsum("trs,sk->tk", counts, g.scores[:, :2])
    found = both / there
    difference = found[:, 1] - found[:, 0]
    n = respondents_between(
        questions["y"],
        "a",
        questions["g"],
        ("a", "b"),
        (0.2, 0.4),
        dict(zip("abc", sizes, strict=True)),
    )
    # The variance of 4,000 surveys has a standard error of 2.2 %.
    assert float(difference.var()) * people * (REACH / 0.2) ** 2 == pytest.approx(n, rel=0.07)


@pytest.mark.parametrize(
    ("names", "term", "pair", "shares", "told"),
    [
        ("yg", "x", ("a", "b"), (0.2, 0.4), "y: expected one of a, b, c, got x"),
        ("yg", "a", ("a", "x"), (0.2, 0.4), "g: expected one of a, b, c, got x"),
        ("yg", "a", ("a", "b"), (0.2, 0.2), "expected two that differ, in 0..1"),
        ("yg", "a", ("a", "b"), (0.2, 1.2), "expected two that differ, in 0..1"),
        ("yt", "a", ("a", "b"), (0.2, 0.4), "expected a yes-no, choice"),
        ("yg", "a", ("a", "b"), (0.2, 0.2001), "more than"),
    ],
)
def test_impossible_comparisons_are_named(
    questions: dict[str, Question],
    names: str,
    term: str,
    pair: tuple[str, str],
    shares: tuple[float, float],
    told: str,
) -> None:
    outcome, groups = (questions[name] for name in names)
    with pytest.raises(ValueError, match=re.escape(told)):
        respondents_between(outcome, term, groups, pair, shares)
