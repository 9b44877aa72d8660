"""Data come in as lists, Series and data frames, and results go out as data frames."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import from_matrix, goodness_of_fit, regress, to_frame
from analysis.study.regression import Regression

WARNER = [[0.8, 0.2], [0.2, 0.8]]
N = 400


def reports() -> tuple[list[int], list[int]]:
    """Which group each of N is in, and what they reported."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, N)
    true = rng.random(N) < np.array([0.2, 0.5])[group]
    return group.tolist(), np.where(rng.random(N) < 0.8, true, ~true).astype(int).tolist()


def fitted(codes: Any, known: Any, formula: str = "y ~ g", **options: Any) -> Regression:
    return regress(formula, [from_matrix("y", ["no", "yes"], codes, WARNER)], known, **options)


def test_any_kind_of_table_gives_the_same() -> None:
    group, codes = reports()
    plain = fitted(np.array(codes), {"g": np.array(group)})
    # Rows belong together by their order, not by an index that a selection has left.
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
def test_codes_that_are_no_rows_are_refused(codes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_matrix("y", ("no", "yes"), codes, WARNER)


def test_a_matrix_of_words_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold probabilities from 0 to 1, got others"):
        from_matrix("y", ("no", "yes"), [0], [["a", "b"]])


def test_known_values_that_pandas_calls_missing_are_told() -> None:
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
    # All of the second group said no, so its slope has no lower limit.
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
