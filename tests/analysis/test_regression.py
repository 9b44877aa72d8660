"""Regression agrees with written-out likelihoods, exact tables, and another program."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_softmax, softmax

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import Regression, regress

Array = NDArray[np.float64]


def krr(k: int, epsilon: float) -> Array:
    e = np.exp(epsilon)
    return np.asarray(np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1))


def reported(
    rng: np.random.Generator, name: str, values: str, true: NDArray[np.int64], matrix: Array
) -> Column:
    """Return a column of what people with these true values report."""
    bounds = matrix.cumsum(axis=0)[:-1].T[true]
    codes = (rng.random(len(true))[:, None] > bounds).sum(axis=1)
    return from_matrix(name, values.split(), codes, matrix)


def draw(rng: np.random.Generator, shares: Array) -> NDArray[np.int64]:
    bounds = shares.cumsum(axis=1)[:, :-1]
    return np.asarray((rng.random(len(shares))[:, None] > bounds).sum(axis=1))


def second(of: Callable[[Array], float], at: Array, h: float = 2e-3) -> Array:
    """Return second derivatives by central differences of fourth order."""
    steps = h * np.eye(len(at))
    parts = ((1, 8 / 12), (2, -1 / 12))

    def slope(point: Array, step: Array) -> float:
        return sum(c * (of(point + j * step) - of(point - j * step)) for j, c in parts) / h

    return np.array(
        [
            [
                sum(c * (slope(at + j * a, b) - slope(at - j * a, b)) for j, c in parts) / h
                for b in steps
            ]
            for a in steps
        ]
    )


def direct(fall: Callable[[Array], float], start: Array) -> tuple[Array, Array]:
    """Return parameters and errors of a written-out likelihood, by a general optimizer."""
    found = minimize(fall, start, method="BFGS", options={"gtol": 1e-5})
    found = minimize(fall, found.x, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    return found.x, np.sqrt(np.diag(np.linalg.inv(second(fall, found.x))))


def agrees(found: Regression, parameters: Array, errors: Array) -> None:
    assert found.converged
    assert not found.boundary
    assert [term.estimate for term in found.terms] == pytest.approx(parameters, abs=1e-4)
    assert [term.std_error for term in found.terms] == pytest.approx(errors, abs=1e-3)


def people(n: int, seed: int) -> tuple[np.random.Generator, Array]:
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=n)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_logistic_of_a_randomized_outcome_is_the_likeliest(epsilon: float) -> None:
    rng, age = people(1500, 1)
    matrix = krr(2, epsilon)
    column = reported(rng, "y", "no yes", (rng.random(1500) < expit(age - 0.5)).astype(int), matrix)

    def fall(b: Array) -> float:
        yes = expit(b[0] + b[1] * age)
        return -float(
            np.log(matrix[column.codes, 0] * (1 - yes) + matrix[column.codes, 1] * yes).sum()
        )

    found = regress("y ~ age", {"y": column}, {"age": age})
    agrees(found, *direct(fall, np.zeros(2)))
    estimates = np.array([not_none(term.estimate) for term in found.terms])
    assert found.log_likelihood == pytest.approx(-fall(estimates))
    assert found.se_type == "observed information"
    assert [term.term for term in found.terms] == ["Intercept", "age"]


@pytest.mark.parametrize(
    ("values", "family", "order", "names"),
    [
        ("a b c d", "multinomial", [0, 1, 2, 3], ["b:", "c:", "d:"]),
        ("yes no no-answer", "logistic", [1, 0, 2], ["", "no-answer:"]),
        ("yes no", "multinomial", [1, 0], ["yes:"]),
    ],
)
def test_categories_of_a_randomized_outcome_are_the_likeliest(
    values: str, family: str, order: list[int], names: list[str]
) -> None:
    rng, age = people(1200, 2)
    k = len(order)
    slopes = np.array([[0.0, 0.5, 0.8, -0.3], [0.0, 0.4, -0.7, 1.0]])[:, :k]
    design = np.column_stack([np.ones_like(age), age])
    matrix = krr(k, 2.5)
    true = np.array(order)[draw(rng, softmax(design @ slopes, axis=1))]
    column = reported(rng, "y", values, true, matrix)

    def fall(b: Array) -> float:
        logits = np.column_stack([np.zeros(len(age)), design @ b.reshape(k - 1, 2).T])
        shares = softmax(logits, axis=1)
        return -float(np.log((matrix[:, order][column.codes] * shares).sum(axis=1)).sum())

    columns, known = {"y": column}, {"age": age}
    found = regress("y ~ age", columns, known, family=family, no_answer="category")
    agrees(found, *direct(fall, slopes[:, 1:].T.ravel()))
    assert [term.term for term in found.terms] == [
        name + term for name in names for term in ("Intercept", "age")
    ]


def _known(family: str, rng: np.random.Generator, eta: Array) -> Array:
    if family == "linear":
        return 3 * (eta + rng.normal(size=len(eta)))
    if family == "poisson":
        return rng.poisson(np.exp(eta)).astype(float)
    return np.asarray((rng.random(len(eta)) < expit(eta)).astype(float))


def _log_density(family: str, y: Array, eta: Array, log_sigma: float) -> Array:
    if family == "linear":
        squares = ((y - eta) / np.exp(log_sigma)) ** 2
        return np.asarray(-0.5 * np.log(2 * np.pi) - log_sigma - squares / 2)
    if family == "poisson":
        return np.asarray(y * eta - np.exp(eta) - gammaln(y + 1))
    return y * eta - np.log1p(np.exp(eta))


@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_a_randomized_predictor_of_a_known_outcome_is_the_likeliest(family: str) -> None:
    rng, age = people(1000, 3)
    latent = (rng.random(1000) < expit(0.7 * age - 0.3)).astype(int)
    y = _known(family, rng, -0.4 + 1.2 * latent + 0.3 * age)
    matrix = krr(2, 2.0)
    column = reported(rng, "joined", "yes no", 1 - latent, matrix)
    size = 6 if family == "linear" else 5

    def fall(b: Array) -> float:
        share = expit(b[-2] + b[-1] * age)
        each = [
            np.log(weight * matrix[column.codes, 1 - x])
            + _log_density(family, y, b[0] + b[1] * x + b[2] * age, b[3])
            for x, weight in ((0, 1 - share), (1, share))
        ]
        return -float(np.logaddexp(*each).sum())

    found = regress("y ~ joined + age", {"joined": column}, {"y": y, "age": age}, family=family)
    start = np.array([-0.4, 1.2, 0.3, *[0.0] * (size - 5), -0.3, 0.7])
    if family == "linear":
        start[:4] = *(3 * start[:3]), np.log(3)
    parameters, errors = direct(fall, start)
    agrees(found, parameters[:3], errors[:3])
    assert [term.term for term in found.terms] == ["Intercept", "joined[T.yes]", "age"]
    assert [term.estimate for term in found.nuisance] == pytest.approx(parameters[3:], abs=2e-4)
    assert found.log_likelihood == pytest.approx(-fall(parameters), abs=1e-5)


def test_the_highest_of_several_maxima_is_taken() -> None:
    # With this seed the search that starts in the middle ends at a log-likelihood of -209.8.
    rng, age = people(100, 78)
    latent = rng.integers(0, 2, 100)
    y = 2 * latent + 0.3 * rng.normal(size=100)
    column = reported(rng, "x", "no yes", latent, krr(2, 0.5))
    found = regress("y ~ x * age", {"x": column}, {"y": y, "age": age}, family="linear")
    assert found.converged
    assert found.log_likelihood == pytest.approx(-165.44, abs=0.01)


def test_randomized_outcome_and_predictors_together_are_the_likeliest() -> None:
    rng, _ = people(3000, 4)
    a, b = draw(rng, np.full((3000, 2), [0.6, 0.4])), draw(rng, np.full((3000, 3), [0.3, 0.5, 0.2]))
    y = (rng.random(3000) < expit(-0.5 + a + 0.5 * (b == 1) - 0.8 * (b == 2))).astype(int)
    truth = {"y": (y, "no yes"), "a": (a, "no yes"), "b": (b, "u v w")}
    matrices = {name: krr(len(v.split()), 3.5) for name, (_, v) in truth.items()}
    columns = {n: reported(rng, n, v, t, matrices[n]) for n, (t, v) in truth.items()}
    rows = {name: matrices[name][column.codes] for name, column in columns.items()}

    def fall(p: Array) -> float:
        shares = np.exp(log_softmax(np.concatenate([[0.0], p[4:]])))
        total = np.zeros(3000)
        for share, (x, z) in zip(shares, product(range(2), range(3)), strict=True):
            yes = expit(p[0] + p[1] * x + [0.0, p[2], p[3]][z])
            outcome = rows["y"][:, 0] * (1 - yes) + rows["y"][:, 1] * yes
            total += share * rows["a"][:, x] * rows["b"][:, z] * outcome
        return -float(np.log(total).sum())

    found = regress("y ~ a + b", columns, {})
    start = [not_none(term.estimate) + 0.01 for term in found.terms + found.nuisance]
    parameters, errors = direct(fall, np.array(start))
    agrees(found, parameters[:4], errors[:4])
    assert [term.term for term in found.terms] == ["Intercept", "a[T.yes]", "b[T.v]", "b[T.w]"]


def _all_reports() -> tuple[dict[str, Column], Array, Array]:
    """Return columns y, x, s with each combination of reports and a known 0 or 1, and its law."""
    matrix, three = np.array([[0.8, 0.3], [0.2, 0.7]]), krr(3, 1.0)
    combinations = np.array(list(product(range(2), range(2), range(3), range(2))))
    chance = np.zeros(len(combinations))
    for place, (y, x, s, g) in enumerate(combinations):
        for latent_x, latent_s in product(range(2), range(3)):
            here = 0.5 * [0.7, 0.3][latent_x] * [0.5, 0.2, 0.3][latent_s]
            yes = expit(-0.5 + 0.9 * latent_x + 0.4 * g - 0.2 * latent_s)
            outcome = matrix[y] @ [1 - yes, yes]
            chance[place] += here * matrix[x, latent_x] * three[s, latent_s] * outcome
    y, x, s, g = combinations.T
    columns = {
        "y": from_matrix("y", ["no", "yes"], y, matrix, amounts=(0.0, 1.0)),
        "x": from_matrix("x", ["no", "yes"], x, matrix),
        "s": from_matrix("s", ["0", "1", "2"], s, three, amounts=(0.0, 1.0, 2.0)),
    }
    assert chance.sum() == pytest.approx(1)
    return columns, g.astype(float), chance


def test_expected_reports_give_the_true_model() -> None:
    columns, g, chance = _all_reports()
    found = regress("y ~ x + g + s", columns, {"g": g}, weights=1e4 * chance)
    assert [term.estimate for term in found.terms] == pytest.approx(
        [-0.5, 0.9, 0.4, -0.2], abs=1e-5
    )
    # An analysis that takes reports for answers is far off.
    naive = sm.GLM(
        columns["y"].codes,
        sm.add_constant(np.column_stack([columns["x"].codes, g, columns["s"].codes])),
        family=sm.families.Binomial(),
        freq_weights=chance,
    ).fit()
    assert abs(naive.params[1] - 0.9) > 0.5


def test_least_squares_of_debiased_reports_estimates_what_answers_would() -> None:
    columns, g, chance = _all_reports()
    places = np.repeat(np.arange(len(g)), np.round(3e5 * chance).astype(int))
    columns = {name: column.of(places) for name, column in columns.items()}
    found = regress("y ~ x * g + s", columns, {"g": g[places]}, family="linear")
    latent = np.array(list(product(range(2), range(2), range(3))))
    weights = 0.5 * np.array([0.7, 0.3])[latent[:, 0]] * np.array([0.5, 0.2, 0.3])[latent[:, 2]]
    x, h, s = latent.T
    design = np.column_stack([np.ones(12), x, h, s, x * h])
    yes = expit(-0.5 + 0.9 * x + 0.4 * h - 0.2 * s)
    expected = np.linalg.solve((design.T * weights) @ design, (design.T * weights) @ yes)
    assert [term.term for term in found.terms] == ["Intercept", "x[T.yes]", "g", "s", "x[T.yes]:g"]
    assert [term.estimate for term in found.terms] == pytest.approx(expected, abs=1e-4)
    assert found.se_type == "sandwich"
    assert found.log_likelihood is None


def test_errors_of_debiased_least_squares_are_the_sandwich() -> None:
    rng, age = people(400, 5)
    true = np.clip(np.round(age + 1.5), 0, 3).astype(int)
    plain = reported(rng, "y", "0 1 2 no-answer", true, krr(4, 3.0))
    column = from_matrix("y", plain.values, plain.codes, plain.chances, (0.0, 1.0, 2.0, np.nan))
    found = regress("y ~ age", {"y": column}, {"age": age}, family="linear")
    design = np.column_stack([np.ones(400), age])
    scores = np.linalg.inv(krr(4, 3.0)).T[column.codes]
    there, amount = scores[:, :3].sum(axis=1), scores @ [0.0, 1.0, 2.0, 0.0]
    bread = np.linalg.inv((design.T * there) @ design)
    b = bread @ design.T @ amount
    rest = design * (amount - there * (design @ b))[:, None]
    agrees(found, b, np.sqrt(np.diag(bread @ rest.T @ rest @ bread)))


def test_sandwich_is_its_formula_with_weights() -> None:
    rng, age = people(800, 6)
    matrix, weights = krr(2, 1.5), rng.gamma(2.0, size=800)
    column = reported(rng, "y", "no yes", (rng.random(800) < expit(age)).astype(int), matrix)

    def each(b: Array) -> Array:
        yes = expit(b[0] + b[1] * age)
        return np.asarray(
            np.log(matrix[column.codes, 0] * (1 - yes) + matrix[column.codes, 1] * yes)
        )

    found = regress("y ~ age", {"y": column}, {"age": age}, weights=weights)
    assert found.se_type == "sandwich"
    b, _ = direct(lambda b: -float(weights @ each(b)), np.zeros(2))
    bread = np.linalg.inv(second(lambda b: -float(weights @ each(b)), b))
    slopes = np.column_stack([(each(b + h) - each(b - h)) / 2e-5 for h in 1e-5 * np.eye(2)])
    meat = (slopes * weights[:, None] ** 2).T @ slopes
    agrees(found, b, np.sqrt(np.diag(bread @ meat @ bread)))
    assert found.covariance == pytest.approx(bread @ meat @ bread, rel=1e-3)
    scaled = regress("y ~ age", {"y": column}, {"age": age}, weights=7 * weights)
    assert scaled.covariance == pytest.approx(found.covariance)
    assert scaled.log_likelihood == pytest.approx(7 * not_none(found.log_likelihood))


def test_the_sandwich_of_equal_respondents_squares_their_own_weights() -> None:
    rng, _ = people(400, 9)
    k, y, weights = rng.integers(0, 3, 400), rng.integers(0, 2, 400), rng.gamma(2.0, size=400)
    found = regress("y ~ k", {}, {"k": k, "y": y}, weights=weights)
    design = np.column_stack([np.ones(400), k])
    yes = expit(design @ [term.estimate for term in found.terms])
    bread = np.linalg.inv((design.T * (weights * yes * (1 - yes))) @ design)
    scores = design * (weights * (y - yes))[:, None]
    assert found.covariance == pytest.approx(bread @ scores.T @ scores @ bread)


@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_a_weight_counts_as_so_many_rows(family: str) -> None:
    rng, _ = people(300, 7)
    age, weights = rng.integers(18, 30, 300).astype(float), rng.integers(0, 4, 300)
    true = rng.integers(0, 2, 300)
    columns = {"x": reported(rng, "x", "no yes", true, krr(2, 2.0))}
    y = (rng.random(300) < expit(true - 0.5)).astype(float)
    formula = "y ~ x + age"
    weighted = regress(formula, columns, {"y": y, "age": age}, family=family, weights=weights)
    places = np.repeat(np.arange(300), weights)
    repeated = regress(
        formula,
        {"x": columns["x"].of(places)},
        {"y": y[places], "age": age[places]},
        family=family,
    )
    assert [t.estimate for t in weighted.terms] == pytest.approx(
        [t.estimate for t in repeated.terms], abs=1e-6
    )
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)
    assert weighted.n == (weights > 0).sum()
    assert weighted.aic is None
    assert repeated.parameters == (6 if family == "linear" else 5)
    twice = 2 * repeated.parameters - 2 * not_none(repeated.log_likelihood)
    assert repeated.aic == pytest.approx(twice)


def _identity(name: str, values: list[str], true: NDArray[np.int64]) -> Column:
    return from_matrix(name, values, true, np.eye(len(values)))


def test_without_noise_it_is_the_result_of_statsmodels() -> None:
    rng, age = people(600, 8)
    team = rng.choice(["a", "b", "c"], 600)
    x = rng.integers(0, 2, 600)
    design = np.column_stack([np.ones(600), team == "b", team == "c", x, age]).astype(float)
    known = {"age": age, "team": team}
    columns = {"x": _identity("x", ["no", "yes"], x)}
    eta = design @ [-0.3, 0.5, 0.0, 0.8, 0.4]
    right = "team + x + age"
    yes = (rng.random(600) < expit(eta)).astype(int)
    logit = sm.Logit(yes, design).fit(disp=0)
    columns["yes"] = _identity("yes", ["0", "1"], yes)
    for outcome in ("yes", "told"):
        found = regress(f"{outcome} ~ {right}", columns, known | {"told": yes})
        assert [term.term for term in found.terms] == [
            "Intercept",
            "team[T.b]",
            "team[T.c]",
            "x[T.yes]",
            "age",
        ]
        agrees(found, logit.params, logit.bse)
    robust = sm.Logit(yes, design).fit(disp=0, cov_type="HC0")
    agrees(regress(f"yes ~ {right}", columns, known, se="sandwich"), robust.params, robust.bse)
    kind = draw(rng, softmax(np.column_stack([0 * eta, eta, 0.5 - eta]), axis=1))
    several = sm.MNLogit(kind, design).fit(disp=0)
    found = regress(f"kind ~ {right}", columns, known | {"kind": kind}, family="multinomial")
    agrees(found, several.params.T.ravel(), several.bse.T.ravel())
    count = rng.poisson(np.exp(eta))
    poisson = sm.Poisson(count, design).fit(disp=0)
    found = regress(f"count ~ {right}", {}, known | {"count": count, "x": x}, family="poisson")
    agrees(found, poisson.params, poisson.bse)
    assert found.log_likelihood == pytest.approx(poisson.llf)
    assert found.parameters == 5
    assert found.aic == pytest.approx(poisson.aic)
    size = 1e5 * (eta + rng.normal(size=600))
    ols = sm.OLS(size / 1e5, design).fit()
    found = regress(f"I(size / 1e5) ~ {right}", columns, known | {"size": size}, family="linear")
    # The likeliest variance has the divisor n, not n - p.
    agrees(found, ols.params, ols.bse * np.sqrt(595 / 600))
    found = regress(f"size ~ {right}", columns, known | {"size": size}, family="linear")
    assert [t.estimate for t in found.terms] == pytest.approx(1e5 * ols.params, rel=1e-6)
