"""Data come in as lists, Series and data frames, and results go out as data frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import (
    Column,
    Study,
    column_estimates,
    compare_groups,
    compare_waves,
    crosstab,
    difference,
    from_matrix,
    goodness_of_fit,
    independence,
    joint_shares,
    regress,
    to_frame,
    trend,
)
from analysis.study.regression import Regression

WARNER = [[0.8, 0.2], [0.2, 0.8]]
N = 400


def reports() -> tuple[list[int], list[int]]:
    """Return the group of each of N respondents, and their reports."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, N)
    true = rng.random(N) < np.array([0.2, 0.5])[group]
    return group.tolist(), np.where(rng.random(N) < 0.8, true, ~true).astype(int).tolist()


def fitted(codes: Any, known: Any, formula: str = "y ~ g", **options: Any) -> Regression:
    return regress(formula, [from_matrix("y", ["no", "yes"], codes, WARNER)], known, **options)


def test_any_kind_of_table_gives_the_same() -> None:
    group, codes = reports()
    plain = fitted(np.array(codes), {"g": np.array(group)})
    # Rows belong together by their order, not by the index that a selection leaves.
    frame = pd.DataFrame({"g": group, "unused": "x"}, index=range(N, 0, -1))
    series = pd.Series(codes, index=range(7, N + 7))
    for reported, known in (
        (codes, {"g": group}),
        (series, frame),
        (np.array(codes, dtype=float), {"g": frame["g"]}),
        (pd.array(codes, dtype="Int64"), {"g": pd.array(group, dtype="Int64")}),
    ):
        assert fitted(reported, known).terms == plain.terms
    weighted = fitted(codes, frame, weights=pd.Series(np.ones(N), index=frame.index))
    assert weighted.terms[1].estimate == pytest.approx(plain.terms[1].estimate)
    assert fitted(codes, frame, clusters=list(range(N))).clusters == N
    assert regress("y ~ 1", {"y": from_matrix("z", "ab", codes, WARNER)}).n == N


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, float("nan")], r"whole numbers of 0\.\.1, got nan for respondent 2"),
        ([0, 1, 0.5], r"whole numbers of 0\.\.1, got 0\.5 for respondent 3"),
        (["yes"], r"whole numbers of 0\.\.1, got 'yes' for respondent 1"),
        ([0, -1], r"whole numbers of 0\.\.1, got -1 for respondent 2"),
        (pd.array([1, None], dtype="Int64"), "got nan for respondent 2"),
        ([[0, 1]], "one for each respondent, got 2 dimensions"),
    ],
)
def test_codes_without_a_row_are_refused(codes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_matrix("y", ("no", "yes"), codes, WARNER)


def test_a_matrix_of_words_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold probabilities from 0 to 1, got others"):
        from_matrix("y", ("no", "yes"), [0], [["a", "b"]])


def test_known_values_that_pandas_calls_missing_are_refused() -> None:
    _, codes = reports()
    team = pd.array(["a", None] * (N // 2), dtype="string")
    with pytest.raises(ValueError, match=f"got {N // 2} of {N} rows without"):
        fitted(codes, {"g": team})


def test_a_model_is_read_as_a_table() -> None:
    group, codes = reports()
    model = fitted(codes, {"g": group})
    frame = model.to_frame()
    assert list(frame["term"]) == ["Intercept", "g"]
    assert model.params["g"] == model.terms[1].estimate
    assert model.pvalues["g"] == model.terms[1].p_value
    assert tuple(model.conf_int().loc["g"]) == (model.terms[1].conf_low, model.terms[1].conf_high)
    assert list(model.conf_int()) == ["low", "high"]
    assert (likelihood := model.log_likelihood) is not None
    lines = model.summary().splitlines()
    assert lines[0].startswith(
        f"logistic model of y, n = {N}, log-likelihood {likelihood:.2f}, AIC"
    )
    assert lines[4].split()[:2] == ["g", f"{model.params['g']:.4g}"]
    assert lines[-1] == "y: yes against no"
    assert f"<td>{model.params['g']:.4g}</td>" in model._repr_html_()


def test_results_without_a_number_are_empty_cells() -> None:
    _, codes = reports()
    # Everybody in the second group said no, so its slope has no lower limit.
    group = [int(code == 0 and place % 4 == 0) for place, code in enumerate(codes)]
    model = fitted(codes, {"g": group})
    assert model.conf_int().loc["g", "low"] == -np.inf
    assert "no-lower-limit" in model.summary()


def test_rows_of_one_kind_become_a_frame() -> None:
    _, codes = reports()
    column = from_matrix("y", ["no", "yes"], codes, WARNER)
    test = goodness_of_fit(column, (0.6, 0.4))
    frame = to_frame(test)
    assert frame.loc[0, "p_value"] == test.p_value
    assert len(to_frame([test, test])) == 2
    assert to_frame([]).empty
    with pytest.raises(TypeError, match="results of one kind, such as estimates, got int"):
        to_frame([1, 2])
    with pytest.raises(TypeError, match="got HypothesisTest, Term"):
        to_frame([test, fitted(codes, {}, "y ~ 1").terms[0]])


def _column(n: int = 100) -> Column:
    return from_matrix("y", ("no", "yes"), np.arange(n) % 2, WARNER)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: column_estimates([0, 1]), "expected a Column, .*, got list"),  # type: ignore[arg-type]
        (lambda: column_estimates(pd.DataFrame()), "expected a Column, .*, got DataFrame"),
        (lambda: column_estimates(_column(), "0.95"), "between 0 and 1, got '0.95'"),  # type: ignore[arg-type]
        (lambda: crosstab("y", "z"), "expected a Column, .*, got str"),  # type: ignore[arg-type]
        (lambda: compare_groups(_column(), "z"), "expected a Column, .*, got str"),  # type: ignore[arg-type]
        (lambda: compare_waves(_column(), _column(), "ab"), "names must be two names.*, got 'ab'"),  # type: ignore[arg-type]
        (lambda: difference("y", "z"), "expected a Column, .*, got str"),  # type: ignore[arg-type]
        (lambda: independence(_column(), None), "expected a Column, .*, got NoneType"),  # type: ignore[arg-type]
        (lambda: joint_shares([_column(), 3]), "expected a Column, .*, got int"),  # type: ignore[list-item]
        (lambda: trend(["y", "z"], "yes"), "expected a Column, .*, got str"),  # type: ignore[list-item]
        (lambda: goodness_of_fit(_column(), "ab"), "shares must be 2 numbers, got 'ab'"),  # type: ignore[arg-type]
        (lambda: regress("y ~ 1", "y"), "expected a Column, .*, got str"),  # type: ignore[arg-type]
        (lambda: regress("y ~ 1", None), "expected a Column, .*, got NoneType"),  # type: ignore[arg-type]
        (lambda: regress("y ~ g", _column(), [1] * 100), "known must be a DataFrame, .*, got list"),
        (lambda: regress("y ~ g", _column(), pd.Series([1])), "known must be .*, got Series"),
        (lambda: Study.open(3), "expected a file or an address, got int"),  # type: ignore[arg-type]
        (lambda: Study.open("http://[x/y.zip"), "y.zip: cannot be read: Invalid IPv6 URL"),
    ],
)
def test_other_objects_are_refused_in_a_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_one_column_by_itself_is_enough() -> None:
    assert regress("y ~ 1", _column()).terms == regress("y ~ 1", [_column()]).terms
