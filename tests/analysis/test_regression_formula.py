"""Formulas make the right terms from known columns, and from randomized ones with no-answer."""

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from numpy.typing import NDArray
from scipy.special import expit

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import regress
from analysis.study.regression.formula import design

Array = NDArray[np.float64]
N = 600
RNG = np.random.default_rng(1)
X, G, S, T = RNG.normal(size=N), RNG.choice(["a", "b"], N), *RNG.integers(0, 4, (2, N))
Z = RNG.integers(0, 2, N)


def _column(name: str, values: str, codes: NDArray[np.int64], *amounts: float) -> Column:
    """Return a column that is not randomized, so that another program fits the same model."""
    names = values.split()
    return from_matrix(name, names, codes, np.eye(len(names)), amounts or None)


COLUMNS = {
    "s": _column("s", "1 2 3 no-answer", S, 1.0, 2.0, 3.0, np.nan),
    "t": _column("t", "4 5 6 no-answer", T, 4.0, 5.0, 6.0, np.nan),
    "z": _column("z", "no yes", Z),
    "my col": _column("my col", "1 2", Z, 1.0, 2.0),
}
KNOWN = {"x": X, "g": G, "y": RNG.poisson(np.exp(0.1 * X)), "my x": 2 * X}
NO_S, NO_T = (S == 3).astype(float), (T == 3).astype(float)
AMOUNT_S, AMOUNT_T = np.where(S == 3, 0, S + 1), np.where(T == 3, 0, T + 4)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        (
            "s * x",
            {
                "s": AMOUNT_S,
                "x": X,
                "s:x": AMOUNT_S * X,
                "s[no-answer]": NO_S,
                "s[no-answer]:x": NO_S * X,
            },
        ),
        (
            "s:g",
            {
                "s:g[a]": AMOUNT_S * (G == "a"),
                "s:g[b]": AMOUNT_S * (G == "b"),
                "s[no-answer]": NO_S,
                "s[no-answer]:g[T.b]": NO_S * (G == "b"),
            },
        ),
        (
            "s:t",
            {
                "s:t": AMOUNT_S * AMOUNT_T,
                "s[no-answer]": NO_S,
                "t[no-answer]": NO_T,
                "s[no-answer]:t": NO_S * AMOUNT_T,
                "s:t[no-answer]": AMOUNT_S * NO_T,
                "s[no-answer]:t[no-answer]": NO_S * NO_T,
            },
        ),
        (
            "log(s) + I(s * x)",
            {
                "log(s)": np.log(np.maximum(AMOUNT_S, 1)),
                "I(s * x)": AMOUNT_S * X,
                "s[no-answer]": NO_S,
                "s[no-answer]:x": NO_S * X,
            },
        ),
        (
            "C(s) + z:x",
            {
                "C(s)[T.2]": S == 1,
                "C(s)[T.3]": S == 2,
                "z[no]:x": (Z == 0) * X,
                "z[yes]:x": (Z == 1) * X,
                "s[no-answer]": NO_S,
            },
        ),
    ],
)
def test_people_without_an_answer_have_a_level_and_slopes_of_their_own(
    formula: str, terms: dict[str, Array]
) -> None:
    found = design(f"y ~ {formula}", COLUMNS, KNOWN)
    assert found.terms == ("Intercept", *terms)
    true = np.column_stack([COLUMNS[name].codes for name in found.predictors])
    places = [int(np.flatnonzero((found.cells == row).all(axis=1))[0]) for row in true]
    assert found.matrix[np.arange(N), places, 1:] == pytest.approx(
        np.column_stack(list(terms.values())).astype(float)
    )


def test_slopes_of_people_without_an_answer_do_not_move_other_slopes() -> None:
    rng = np.random.default_rng(2)
    s, x = rng.integers(0, 4, 6000), rng.normal(size=6000)
    slope = np.where(s < 3, 0.5 * s, 0.5)
    yes = (rng.random(6000) < expit(np.where(s < 3, 0.3 * s - 0.7, 0.0) + slope * x)).astype(int)
    matrix = np.where(np.eye(4, dtype=bool), np.exp(3), 1.0) / (np.exp(3) + 3)
    codes = (rng.random(6000)[:, None] > matrix.cumsum(axis=0)[:-1].T[s]).sum(axis=1)
    column = from_matrix("s", COLUMNS["s"].values, codes, matrix, COLUMNS["s"].amounts)
    found = regress("y ~ s * x", {"s": column}, {"y": yes, "x": x}, no_answer="category")
    terms = {term.term: term for term in found.terms}
    # Each is within 4 standard errors, except with a probability of 6e-5.
    for name, true in {"x": -0.5, "s:x": 0.5, "s[no-answer]:x": 1.0, "s": 0.3}.items():
        error = not_none(terms[name].std_error)
        assert abs(not_none(terms[name].estimate) - true) < 4 * error
        assert error < 0.2


@pytest.mark.parametrize(
    "formula",
    [
        "center(x)",
        "scale(x) + `my x`:z",
        "poly(x, 2)",
        "bs(x, df=4)",
        "I(center(x) * (Z == 1))",
        "np.cumsum(x) + x",
        "x.shift(1, fill_value=0) + x",
        "scale(`my x`) + center(x):g",
        "I(x - x.mean()) + C(g)",
    ],
)
def test_functions_of_known_columns_are_those_of_the_respondents(formula: str) -> None:
    """With or without a randomized predictor, functions are as if its values were known."""
    text = np.where(Z == 1, "yes", "no")
    columns, known = {"z": COLUMNS["z"]}, {**KNOWN, "Z": Z}
    for right in (formula, f"z + {formula}"):
        found = design(f"y ~ {right}", columns, known)
        plain = design(f"y ~ {right}", {}, known | {"z": text})
        assert found.terms == plain.terms
        assert found.matrix[np.arange(N), Z * (len(found.cells) > 1)] == pytest.approx(
            plain.matrix[:, 0]
        )


def test_a_polynomial_beside_a_randomized_predictor_is_fitted_as_by_another_program() -> None:
    found = regress("y ~ z + poly(x, 2)", COLUMNS, KNOWN, family="poisson")
    basis = np.linalg.qr(np.column_stack([np.ones(N), X, X**2]))[0][:, 1:]
    fitted = sm.Poisson(KNOWN["y"], np.column_stack([np.ones(N), Z, basis])).fit(disp=0)
    assert np.abs([not_none(term.estimate) for term in found.terms]) == pytest.approx(
        np.abs(fitted.params), abs=1e-4
    )


@pytest.mark.parametrize(
    "formula",
    [
        *["center(s)", "scale(s)", "poly(s, 2)", "bs(s, df=4)", "np.cumsum(s)", "I(s - s.mean())"],
        *["x + center(s):z", "I(x * center(s))", "center(`my col`)", "s.shift(1, fill_value=0)"],
    ],
)
def test_functions_of_other_respondents_latent_values_are_refused(formula: str) -> None:
    with pytest.raises(ValueError, match="must not depend on the values of other respondents"):
        design(f"y ~ {formula}", COLUMNS, KNOWN)


def test_columns_within_functions_that_keep_a_state_are_checked() -> None:
    with pytest.raises(ValueError, match="names wage, but"):
        design("y ~ center(wage)", COLUMNS, KNOWN)
    with pytest.raises(ValueError, match="cannot read the formula"):
        design("y ~ log(x,,2)", COLUMNS, KNOWN)


def test_fewer_respondents_than_combinations_are_refused() -> None:
    few = {name: column.of(np.arange(7)) for name, column in COLUMNS.items()}
    with pytest.raises(ValueError, match="combinations of values, got 7 for 8"):
        design("y ~ s * z", few, {"y": KNOWN["y"][:7]})


def test_each_combination_has_its_design_once() -> None:
    found = design("y ~ s * z", COLUMNS, KNOWN)
    assert [tuple(cell) for cell in found.cells.tolist()] == list(product(range(4), range(2)))
    assert found.matrix.shape == (N, 8, len(found.terms))
    assert (found.matrix == found.matrix[:1]).all()


def test_categories_of_whole_numbers_have_names_of_whole_numbers() -> None:
    rng = np.random.default_rng(3)
    sex, half = rng.integers(1, 3, 300).astype(float), rng.integers(1, 4, 300) / 2
    known = {
        "sex": sex,
        "half": half,
        "age": rng.normal(size=300),
        # Its name is also a part of another column's name.
        "e": np.array(["1.0", "2.0"])[rng.integers(0, 2, 300)],
        "y": rng.integers(0, 2, 300),
    }
    found = regress("y ~ C(sex) * age + C(half) + e", {}, known)
    assert [term.term for term in found.terms] == [
        "Intercept",
        "C(sex)[T.2]",
        "age",
        "C(half)[T.1]",
        "C(half)[T.1.5]",
        "e[T.2.0]",
        "C(sex)[T.2]:age",
    ]
