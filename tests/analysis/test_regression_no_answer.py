"""Models of questions that may be left out are about people who answered, or all on request."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from scipy.special import expit, logit, softmax

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from errors_of_intervals import check_errors, error
from test_regression import draw, krr, reported

#: Shares of yes by the answer to the other question, for people who answered both.
SHARES = 0.2, 0.5


def optional(seed: int, away: float, n: int = 1500, epsilon: float = 2.0) -> dict[str, Column]:
    """Return two questions that may be left out; people who would say yes leave more out."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    y = (rng.random(n) < np.array(SHARES)[x]).astype(int)
    left_y, left_x = rng.random(n) < away * (1 + x), rng.random(n) < away
    values, matrix = "no yes no-answer", krr(3, epsilon)
    return {
        "y": reported(rng, "y", values, np.where(left_y, 2, y), matrix),
        "x": reported(rng, "x", values, np.where(left_x, 2, x), matrix),
    }


@pytest.mark.more
@pytest.mark.parametrize("away", [0.0, 0.05])
def test_models_of_people_who_answered_converge_and_cover(away: float) -> None:
    truth, errors = [logit(SHARES[0]), logit(SHARES[1]) - logit(SHARES[0])], []
    for seed in range(30):
        found = regress("y ~ x", optional(seed, away), {})
        assert [term.term for term in found.terms] == ["Intercept", "x[T.yes]"]
        assert found.converged
        errors.append(
            [
                error(term.estimate, term.conf_low, term.conf_high, true)
                for term, true in zip(found.terms, truth, strict=True)
            ]
        )
    check_errors(errors)


@pytest.mark.more
def test_all_of_six_coefficients_have_estimates_and_cover() -> None:
    # Log-odds of the second and third answer against the first, and what b and c add to them.
    truth = np.array([[-0.4, 0.8, 0.4], [0.3, -0.5, 0.7]])
    names = [f"{y}:{x}" for y in ("q", "r") for x in ("Intercept", "x[T.b]", "x[T.c]")]
    errors, matrix = [], krr(4, 2.0)
    for seed in range(40, 60):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 3, 1500)
        odds = np.eye(3)[x] @ np.column_stack([np.ones(3), np.eye(3)[:, 1:]]) @ truth.T
        y = draw(rng, softmax(np.column_stack([np.zeros(1500), odds]), axis=1))
        left_y, left_x = rng.random((2, 1500)) < 0.04
        columns = {
            "y": reported(rng, "y", "p q r no-answer", np.where(left_y, 3, y), matrix),
            "x": reported(rng, "x", "a b c no-answer", np.where(left_x, 3, x), matrix),
        }
        found = regress("y ~ x", columns, {}, family="multinomial")
        assert found.converged
        assert [term.term for term in found.terms] == names
        # Reports say little about the few people who gave no answer, which must not matter here.
        assert all(np.isfinite(not_none(term.estimate)) for term in found.terms)
        errors.append(
            [
                error(term.estimate, term.conf_low, term.conf_high, true)
                for term, true in zip(found.terms, truth.ravel(), strict=True)
            ]
        )
    check_errors(errors)
    found = regress("y ~ x", columns, {}, family="multinomial", no_answer="category")
    assert any(term.estimate is None or np.isinf(term.estimate) for term in found.terms)


def test_no_answer_is_a_category_on_request() -> None:
    columns = optional(1, 0.1)
    left = regress("y ~ x", columns, {})
    found = regress("y ~ x", columns, {}, no_answer="category")
    assert [term.term for term in found.terms] == [
        "Intercept",
        "x[T.yes]",
        "x[T.no-answer]",
        "no-answer:Intercept",
        "no-answer:x[T.yes]",
        "no-answer:x[T.no-answer]",
    ]
    # No term is shared with people who left x out, so the likelihood is the same.
    assert found.log_likelihood == pytest.approx(not_none(left.log_likelihood))
    for term, other in zip(found.terms[:2], left.terms, strict=True):
        assert term.estimate == pytest.approx(not_none(other.estimate), abs=1e-4)
    assert {"Intercept[no-answer]", "no-answer:x[T.yes]"} <= {term.term for term in left.nuisance}
    assert any("a model of those who answered" in message for message in left.messages)


@pytest.mark.more
@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_people_who_left_a_predictor_out_by_lot_give_no_effect_to_others(family: str) -> None:
    """A known column that goes with the predictor, but not with the outcome, has a slope of 0."""
    slopes, errors, runs = [], [], 20
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        # Respondents of few kinds are few rows of the model.
        z = rng.normal(size=3000).round()
        x = (rng.random(3000) < expit(1.5 * z)).astype(int)
        left_x = rng.random(3000) < 0.3
        is_yes = rng.random(3000) < expit(2.0 * x - 1)
        y = is_yes if family == "logistic" else 2.0 * x + rng.normal(size=3000)
        columns = {"x": reported(rng, "x", "no yes no-answer", np.where(left_x, 2, x), krr(3, 3.0))}
        found = regress("y ~ x + z", columns, {"y": y.astype(float), "z": z}, family=family)
        assert [term.term for term in found.terms] == ["Intercept", "x[T.yes]", "z"]
        slope = found.terms[2]
        slopes.append(not_none(slope.estimate))
        errors.append(error(slope.estimate, slope.conf_low, slope.conf_high, 0.0))
    # If both shared the slope of z, its mean would be 0.2 here.
    assert abs(np.mean(slopes)) < 4 * np.std(slopes) / runs**0.5 < 0.08
    check_errors(errors)


def test_a_known_category_of_this_name_is_one_like_others() -> None:
    rng = np.random.default_rng(2)
    group = np.array(["a", "b", "no-answer"])[rng.integers(0, 3, 900)]
    column = reported(rng, "y", "no yes", rng.integers(0, 2, 900), krr(2, 2.0))
    found = regress("y ~ g", {"y": column}, {"g": group})
    assert [term.term for term in found.terms] == ["Intercept", "g[T.b]", "g[T.no-answer]"]


def test_linear_models_of_people_who_answered_need_no_terms_of_others() -> None:
    # Without noise it is the line through the means of people who answered.
    codes = np.repeat([0, 1, 2], 100)
    y = np.repeat([0, 1, 2], 100)
    values, amounts = ["1", "2", "no-answer"], (1.0, 2.0, np.nan)
    columns = {
        "s": from_matrix("s", values, codes, np.eye(3), amounts),
        "y": from_matrix("y", ["0", "3", "9"], y, np.eye(3), (0.0, 3.0, 9.0)),
    }
    found = regress("y ~ s", columns, {}, family="linear")
    assert [term.estimate for term in found.terms] == pytest.approx([-3.0, 3.0])
    assert any("a model of those who answered" in message for message in found.messages)


def test_the_number_of_people_who_answered_is_reported() -> None:
    columns = optional(4, 0.1, epsilon=12.0)
    # There is hardly any noise, so reports are the answers.
    both = int(((columns["y"].codes != 2) & (columns["x"].codes != 2)).sum())
    message = next(text for text in regress("y ~ x", columns, {}).messages if "about" in text)
    assert re.findall(r"about (\d+) of 1500", message) == [str(both)]
    assert "n, log_likelihood, parameters and aic are of all" in message
