"""Regression refuses and flags what it must, and formulas name things."""

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.special import expit

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import regress
from analysis.study.regression.likelihood import Likelihood
from analysis.study.regression.outcome import Categories, Counts, Gaussian, Outcome

N = 60
RNG = np.random.default_rng(1)
AGE = RNG.normal(40, 10, N)
NEAR = np.array([[0.9, 0.1], [0.1, 0.9]])


def _column(name: str, values: list[str], codes: NDArray[np.int64], **more: Any) -> Column:
    k = len(values)
    matrix = np.full((k, k), 0.2 / (k - 1))
    np.fill_diagonal(matrix, 0.8)
    return from_matrix(name, values, codes, matrix, **more)


COLUMNS = {
    "y": _column("y", ["no", "yes"], RNG.integers(0, 2, N)),
    "z": _column("z", ["a", "b", "c"], RNG.integers(0, 3, N)),
    "s": _column("s", ["1", "2", "3"], RNG.integers(0, 3, N), amounts=(1.0, 2.0, 3.0)),
    "many": _column("many", [str(i) for i in range(20)], RNG.integers(0, 20, N)),
    "more": _column("more", [str(i) for i in range(11)], RNG.integers(0, 11, N)),
    "short": _column("short", ["no", "yes"], RNG.integers(0, 2, 10)),
    "same": _column("same", ["no", "yes"], RNG.integers(0, 2, N)),
}
KNOWN: dict[str, NDArray[Any]] = {
    "age": AGE,
    "twice": 2 * AGE,
    "one": np.ones(N),
    "gaps": np.where(np.arange(N) < 7, np.nan, AGE),
    "text": RNG.choice(["u", "v"], N),
    "holes": np.array(["u", None, ""] * 20, dtype=object),
    "mixed": np.array([1, "a"] * 30, dtype=object),
    "square": np.ones((N, 2)),
    "dates": np.full(N, "2026-01-01", dtype="datetime64[D]"),
    "half": RNG.integers(0, 2, N) / 2,
    "minus": AGE - 40,
    "same": AGE,
    "flag": RNG.integers(0, 2, N),
}


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("y ~ wage", {}, "names wage, but the columns are y, z"),
        ("y ~ same", {}, "either randomized or known, got both of same"),
        ("y ~ age +", {}, 'cannot read the formula "y ~ age \\+"'),
        ("y ~ age.size", {}, "names age.size, but the columns are"),
        ("y ~ len(age, 2)", {}, "names len, but the columns are"),
        ("y ~ log(age, 1, 2, 3)", {}, "cannot evaluate the formula"),
        ("y ~ (age", {}, "cannot read the formula"),
        ("~ age", {}, 'must be "outcome ~ predictors", got "~ age"'),
        ("age", {}, 'must be "outcome ~ predictors"'),
        ("y ~ age | flag", {}, 'must be "outcome ~ predictors"'),
        ("y + flag ~ age", {}, "one outcome"),
        ("y ~ 0", {}, "must have a term"),
        ("log(s) ~ age", {"family": "linear"}, "must stand alone"),
        ("y ~ y + age", {}, "must not be a predictor too"),
        ("y ~ frobnicate(age)", {}, "names frobnicate, but"),
        ("y ~ gaps", {}, '"gaps" must have a value in every row, got 7 of 60'),
        ("y ~ holes", {}, '"holes" must have a value in every row, got 40 of 60'),
        ("y ~ mixed", {}, '"mixed" must be numbers or text, got both'),
        ("y ~ square", {}, '"square" must be a row of numbers or of text'),
        ("y ~ dates", {}, '"dates" must be a row of numbers or of text'),
        ("y ~ log(minus)", {}, r'"log\(minus\)" must be a finite number in every row'),
        ("y ~ age + short", {}, "a row for each respondent, got 60 of age, 10 of short"),
        ("y ~ age + twice", {}, "depend on each other, got age, twice"),
        ("y ~ age + one", {}, "depend on each other, got Intercept, one"),
        ("y ~ s + I(2 * s)", {}, r"depend on each other, got s, I\(2 \* s\)"),
        ("y ~ many * more", {}, r"at most 200 combinations of values, got 220 \(20 of many"),
        ("y ~ many * z", {}, "as many respondents as parameters, got 60 for 119"),
        ("z ~ age", {}, '2 answers, got 3 of "z"'),
        ("flag ~ age", {"family": "probit"}, 'family must be logistic or .*, got "probit"'),
        ("y ~ age", {"se": "HC3"}, 'se must be observed or sandwich, got "HC3"'),
        ("y ~ age", {"interval": "score"}, 'interval must be profile or wald, got "score"'),
        ("y ~ age", {"offset": "age"}, 'only a poisson model takes an offset, got "age" in a log'),
        ("flag ~ age", {"offset": "y", "family": "poisson"}, 'got "y", of which y is randomized'),
        ("flag ~ age", {"offset": "gaps", "family": "poisson"}, '"gaps" must have a value in'),
        ("flag ~ age", {"offset": "text", "family": "poisson"}, "offset must be (one|a) number"),
        ("y ~ age", {"confidence_level": 95}, "between 0 and 1, got 95"),
        ("half ~ age", {}, '"half" of a logistic model must be 0 or 1 in every row, got 0.5'),
        ("text ~ age", {}, "must be 0 or 1 in every row, got text"),
        ("half ~ age", {"family": "poisson"}, "whole number of 0 or more in every row, got 0.5"),
        ("minus ~ age", {"family": "poisson"}, "whole number of 0 or more"),
        ("s ~ age", {"family": "poisson"}, 'must be known, got the randomized column "s"'),
        ("z ~ age", {"family": "linear"}, 'must have amounts, got "z"'),
        ("text ~ age", {"family": "linear"}, "must be a number in every row, got text"),
        ("one ~ age", {"family": "linear"}, '"one" must vary, got 1 in all rows'),
        ("one ~ age", {"family": "multinomial"}, "two categories or more, got 1.0 alone"),
        ("y ~ age", {"weights": np.full(N, -1.0)}, "not negative, got 60 of 60"),
        ("y ~ age", {"weights": np.full(N, np.nan)}, "finite and not negative"),
        ("y ~ age", {"weights": np.zeros(N)}, "must not all be 0"),
        ("y ~ age", {"weights": np.ones(3)}, "one for each of 60 respondents"),
        ("y ~ age", {"weights": ["a"] * N}, "weights must be numbers"),
        ("y ~ age", {"weights": np.arange(N) == 3}, "as parameters, got 1 for 2"),
    ],
)
def test_mistakes_are_named(formula: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regress(formula, COLUMNS, KNOWN, **options)


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "analysis.study.regression.formula", raising=False)
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(ModuleNotFoundError, match=r"wheel with its extra: .*whl\[models\]'"):
        regress("y ~ age", COLUMNS, KNOWN)


def test_an_empty_table_is_refused() -> None:
    empty = {"y": COLUMNS["y"].of(np.zeros(N, dtype=bool))}
    with pytest.raises(ValueError, match="needs respondents"):
        regress("y ~ age", empty, {"age": np.zeros(0)})


def test_a_report_that_no_value_can_make_is_refused() -> None:
    chances = np.array([[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]])
    column = replace(COLUMNS["y"], codes=np.arange(N) % 3, chances=chances)
    with pytest.raises(
        ValueError, match='"y" must hold reports that are possible under some value, got 20'
    ):
        regress("y ~ age", {"y": column}, KNOWN)


def _people(n: int) -> tuple[np.random.Generator, NDArray[np.float64]]:
    rng = np.random.default_rng(2)
    return rng, rng.normal(size=n)


def _noisy(true: NDArray[np.int64], values: list[str], epsilon: float, **more: Any) -> Column:
    rng, k = np.random.default_rng(3), len(values)
    matrix = np.where(np.eye(k, dtype=bool), np.exp(epsilon), 1.0) / (np.exp(epsilon) + k - 1)
    bounds = matrix.cumsum(axis=0)[:-1].T[true]
    return from_matrix(
        "y", values, (rng.random(len(true))[:, None] > bounds).sum(axis=1), matrix, **more
    )


def _all_unknown(found: Any, terms: tuple[str, ...]) -> None:
    assert found.boundary
    assert not found.converged
    for term in found.terms:
        if term.term in terms:
            numbers = (term.estimate, term.std_error, term.p_value, term.conf_low, term.conf_high)
            assert numbers == (None,) * 5
            assert term.term in " ".join(found.messages)
        else:
            assert term.std_error > 0
    unknown = [place for place, term in enumerate(found.terms) if term.estimate is None]
    assert np.isnan(found.covariance[unknown]).all()


def test_perfect_separation_gives_no_number_by_wald() -> None:
    _, age = _people(200)
    found = regress("old ~ age", {}, {"age": age, "old": (age > 0).astype(int)}, interval="wald")
    _all_unknown(found, ("Intercept", "age"))
    assert "perfect separation" in found.messages[0]


def test_a_group_without_events_gives_no_number_for_itself_alone() -> None:
    rng, age = _people(3000)
    team = rng.choice(["a", "b", "c"], 3000)
    true = ((rng.random(3000) < 0.5) & (team != "b")).astype(int)
    known = {"age": age, "team": team}
    _all_unknown(
        regress("true ~ age + team", {}, known | {"true": true}, interval="wald"), ("team[T.b]",)
    )
    column = _noisy(true, ["no", "yes"], 3.0)
    # There are fewer reports of yes than noise alone makes, so the likeliest share is 0.
    codes = np.where((team == "b") & (np.arange(3000) % 2 == 0), 0, column.codes)
    column = from_matrix("y", column.values, codes, column.chances)
    _all_unknown(regress("y ~ age + team", {"y": column}, known, interval="wald"), ("team[T.b]",))


@pytest.mark.parametrize(
    "matrix", [np.eye(3), np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])]
)
def test_a_category_that_is_never_seen_gives_no_number(matrix: NDArray[np.float64]) -> None:
    rng, age = _people(500)
    codes = (rng.random(500) < expit(age)).astype(int)
    column = from_matrix("y", ["a", "b", "c"], codes, matrix)
    found = regress("y ~ age", {"y": column}, {"age": age}, family="multinomial", interval="wald")
    assert {"c:Intercept", "c:age"} == {t.term for t in found.terms if t.estimate is None}
    assert found.boundary
    assert not found.converged
    assert not_none(found.terms[0].std_error) > 0


def test_a_predictors_value_that_nobody_has_gives_no_number_for_itself_alone() -> None:
    rng, age = _people(2000)
    true = rng.integers(0, 2, 2000)
    column = _noisy(true, ["a", "b", "c"], 3.0)
    column = from_matrix("x", column.values, np.minimum(column.codes, 1), column.chances)
    told = (rng.random(2000) < expit(true - 0.5 + age)).astype(int)
    found = regress("told ~ x + age", {"x": column}, {"told": told, "age": age}, interval="wald")
    _all_unknown(found, ("x[T.c]",))


def test_all_alike_outcomes_give_no_number() -> None:
    _, age = _people(50)
    for outcome, family in ((np.zeros(50), "poisson"), (np.ones(50), "logistic")):
        found = regress("y ~ age", {}, {"y": outcome, "age": age}, family=family, interval="wald")
        assert found.boundary
        assert found.terms[0].estimate is None


def test_an_outcome_without_error_gives_no_number() -> None:
    _, age = _people(50)
    found = regress("y ~ age", {}, {"y": 2 * age + 1, "age": age}, family="linear")
    assert not found.converged
    assert all(term.std_error is None for term in found.terms)
    assert found.messages


def test_predictors_hidden_by_noise_give_no_least_squares() -> None:
    rng, _ = _people(200)
    columns = {
        "y": _noisy(rng.integers(0, 2, 200), ["0", "1"], 1.0, amounts=(0.0, 1.0)),
        "x": _noisy(np.zeros(200, dtype=int), ["no", "yes"], 0.5),
    }
    found = regress("y ~ x", columns, {}, family="linear")
    assert found.boundary
    assert [term.estimate for term in found.terms] == [None, None]
    assert "noise hides" in found.messages[1]


def test_answers_that_hardly_anybody_leaves_out_do_not_hide_a_linear_model() -> None:
    rng, n, held, of_answering = np.random.default_rng(4), 4000, 0, 0
    values, amounts = ["1", "2", "3", "no-answer"], (1.0, 2.0, 3.0, np.nan)
    matrix = np.where(np.eye(4, dtype=bool), 0.76, 0.08)
    for _ in range(40):
        x = rng.integers(0, 3, n)
        y = np.where(rng.random(n) < 0.4, x, rng.integers(0, 3, n))
        x[rng.random(n) < 0.002] = 3
        columns = {}
        for name, true in (("x", x), ("y", y)):
            codes = np.where(rng.random(n) < 0.68, true, rng.integers(0, 4, n))
            columns[name] = from_matrix(name, values, codes, matrix, amounts)
        found = regress(
            "y ~ x", columns, {}, family="linear", confidence_level=0.99, no_answer="category"
        )
        terms = {term.term: term for term in found.terms}
        assert found.converged
        if terms["x[no-answer]"].estimate is None:
            of_answering += 1
            assert any("this is a model of those who answered" in text for text in found.messages)
        slope = terms["x"]
        held += not_none(slope.conf_low) <= 0.4 <= not_none(slope.conf_high)
    # Of 40 intervals at 99 %, at least 37 hold with a probability of .999.
    assert held >= 37
    assert of_answering > 20
    # The same holds for a known outcome, by corrected scores.
    out = np.minimum(x, 2) + rng.normal(size=n)
    known = regress("out ~ x", columns, {"out": out}, family="linear", se="sandwich")
    assert known.converged
    slope = next(term for term in known.terms if term.term == "x")
    assert not_none(slope.conf_low) < 1 < not_none(slope.conf_high)


def _terms(formula: str, columns: Mapping[str, Column], known: Mapping[str, Any]) -> list[str]:
    found = regress(formula, columns, known, family="poisson", no_answer="category")
    left = regress(formula, columns, known, family="poisson")
    names = [term.term for term in found.terms]
    assert [term.term for term in left.terms] == [x for x in names if "no-answer" not in x]
    return names


def test_formulas_name_terms_by_reference_and_value() -> None:
    rng, age = _people(4000)
    two, three = rng.integers(0, 2, 4000), rng.integers(0, 3, 4000)
    columns = {
        "x": _noisy(two, ["yes", "no"], 4.0),
        "s": _noisy(three, ["1", "2", "no-answer"], 4.0, amounts=(1.0, 2.0, np.nan)),
        "my col": _noisy(two, ["no", "yes"], 4.0),
    }
    known = {"n": rng.poisson(2, 4000), "age": np.exp(age), "k": rng.integers(0, 2, 4000)}
    assert _terms("n ~ x * s", columns, known) == [
        "Intercept",
        "x[T.yes]",
        "s",
        "x[T.yes]:s",
        "s[no-answer]",
        "x[T.yes]:s[no-answer]",
    ]
    assert _terms("n ~ C(s) + log(age) + C(k)", columns, known) == [
        "Intercept",
        "C(s)[T.2]",
        "log(age)",
        "C(k)[T.1]",
        "s[no-answer]",
    ]
    assert _terms("n ~ 0 + x", columns, known) == ["x[no]", "x[yes]"]
    assert "my col[T.yes]" in _terms("n ~ `my col` + I(s * log(age))", columns, known)


def test_amounts_are_numbers_and_no_answer_is_apart() -> None:
    # Without noise these are the slope between 1 and 2, and the mean of people without an answer.
    codes = np.repeat([0, 1, 2], 100)
    y = np.repeat([1.0, 3.0, 9.0], 100) + np.tile([-0.5, 0.5], 150)
    column = from_matrix("s", ["1", "2", "no-answer"], codes, np.eye(3), (1.0, 2.0, np.nan))
    of_all = partial(regress, family="linear", no_answer="category")
    found = of_all("y ~ s", {"s": column}, {"y": y})
    assert [term.estimate for term in found.terms] == pytest.approx([-1.0, 2.0, 10.0])
    found = of_all("y ~ C(s)", {"s": column}, {"y": y})
    assert [term.estimate for term in found.terms] == pytest.approx([1.0, 2.0, 8.0])


def test_equal_rows_stay_apart_if_the_formula_depends_on_their_order() -> None:
    rng, _ = _people(400)
    k = rng.integers(0, 2, 400)
    y = rng.integers(0, 2, 400)
    ordered = regress("y ~ np.cumsum(k)", {}, {"k": k, "y": y})
    plain = regress("y ~ c", {}, {"c": np.cumsum(k), "y": y})
    assert ordered.covariance == pytest.approx(plain.covariance)


def test_progress_ends_at_1() -> None:
    seen: list[float] = []
    regress("y ~ age", COLUMNS, {"age": AGE}, progress=seen.append)
    assert seen[-1] == 1
    assert len(seen) > 2


def test_nothing_warns_where_numbers_overflow() -> None:
    _, age = _people(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = regress(
            "n ~ age", {}, {"age": 1e8 * age, "n": np.round(np.exp(3 * age))}, family="poisson"
        )
    assert found.converged


@pytest.mark.parametrize(
    "outcome", ["categories", "categories of one draw with predictors", "gaussian", "counts"]
)
@pytest.mark.parametrize("cells", [1, 3])
def test_derivatives_are_those_of_the_likelihood(outcome: str, cells: int) -> None:
    rng = np.random.default_rng(4)
    n = 7
    outcomes: dict[str, Outcome] = {
        "categories": Categories(rng.random((3, n, 1))),
        "categories of one draw with predictors": Categories(rng.random((3, n, cells))),
        "gaussian": Gaussian(rng.normal(size=n)),
        "counts": Counts(rng.poisson(2, n).astype(float), rng.normal(size=n)),
    }
    made = outcomes[outcome]
    design = rng.normal(size=(n, cells, 2))
    likelihood = Likelihood(
        made,
        (design,) * made.sloped + (np.ones((n, cells, 1)),) * made.flat,
        rng.normal(size=(n, 2)),
        rng.random((n, cells)),
        rng.gamma(2.0, size=n),
    )
    at = 0.3 * rng.normal(size=sum(likelihood.parts))
    steps = 1e-5 * np.eye(len(at))
    ahead = [(likelihood.at(at + step), likelihood.at(at - step)) for step in steps]
    point = likelihood.at(at)
    slope = np.array([(up.value - down.value) / 2e-5 for up, down in ahead])
    bend = np.array([(down.gradient - up.gradient) / 2e-5 for up, down in ahead])
    assert point.gradient == pytest.approx(slope, abs=1e-6)
    assert likelihood.times @ point.scores == pytest.approx(slope, abs=1e-6)
    assert point.information == pytest.approx(bend, abs=1e-6)
    assert np.linalg.eigvalsh(point.most)[0] >= -1e-9


def test_latent_values_depend_on_functions_of_known_columns() -> None:
    rng, age = _people(1000)
    column = _noisy(rng.integers(0, 2, 1000), ["2", "3"], 4.0, amounts=(2.0, 3.0))
    known = {"n": rng.poisson(2, 1000), "age": np.exp(age), "k": rng.normal(size=1000)}
    found = regress("n ~ s:log(age) + I(s * k)", {"s": column}, known, family="poisson")
    names = {term.term for term in found.nuisance}
    assert names == {"s=3:Intercept", "s=3:log(age)", "s=3:k"}
