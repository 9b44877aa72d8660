"""The mechanism with the least exact variance is chosen, and the cost of others is stated."""

from fractions import Fraction
from math import e
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import candidates, choose, compile_as, share_covariance, variance
from analysis.survey.check import check
from analysis.survey.survey_file import read_survey

POINTS = tuple("12345")
SCALE = Categories(POINTS, tuple(map(Fraction, POINTS)))
SKIPPED = Categories((*POINTS, NO_ANSWER), tuple(map(Fraction, POINTS)))
NUMBER = Numbers(Fraction(0), Fraction(1), 1000, False)


def _categories(k: int) -> Categories:
    return Categories(tuple(f"v{value}" for value in range(k)))


@pytest.mark.parametrize("k", [2, 3, 5, 8, 16, 50])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4"])
def test_choice_is_the_least_variance_of_all_that_fit(k: int, epsilon: str) -> None:
    domain = _categories(k)
    chosen, randomizer = choose(domain, Fraction(epsilon))
    least = variance(chosen, randomizer, domain)
    for mechanism in MECHANISMS.values():
        if mechanism.fits(domain) and mechanism.parameters is None:
            other = mechanism.compile(domain, Fraction(epsilon), {})
            assert least <= variance(mechanism, other, domain)
    # Subset selection with one member is k-RR, which is then preferred.
    alone = max(1, round(k / (e ** float(epsilon) + 1))) == 1
    assert chosen.name == ("krr" if alone else "subset")


@pytest.mark.parametrize(
    ("domain", "epsilon", "params", "name"),
    [
        (NUMBER, "1", {}, "optimal"),
        (NUMBER, "4", {}, "optimal"),
        (Numbers(Fraction(0), Fraction(1), 10, True), "2", {}, "optimal"),
        (SCALE, "1", {}, "krr"),
        (SKIPPED, "1", {}, "subset"),
        (SCALE, "1", {"aim": "mean"}, "optimal"),
        (SKIPPED, "1", {"aim": "cumulative"}, "optimal"),
        (Sets(tuple("abcdefgh"), 8, True), "1", {}, "pick"),
        (Sets(tuple("abcdefgh"), 1, True), "1", {}, "privset"),
        (Sets(tuple("abcdefgh"), 8, True), "2", {}, "group"),
        (Sets(tuple("abcdefgh"), 3, False), "1", {}, "privset"),
        (Sets(tuple("abc"), 3, False), "3", {}, "group"),
        (Rankings(tuple("abcdef"), True), "1", {}, "pick"),
        (Rankings(tuple("abcdef"), True), "2", {}, "suborder"),
        (Rankings(tuple("abc"), False), "1", {}, "pick"),
        (Rankings(tuple("abc"), False), "3", {}, "permutations"),
    ],
    ids=str,
)
def test_each_kind_gets_its_best(
    domain: Domain, epsilon: str, params: dict[str, Any], name: str
) -> None:
    found = candidates(domain, Fraction(epsilon), params)
    assert found[0].mechanism.name == name
    variances = [candidate.variance for candidate in found]
    assert variances == sorted(variances)
    # No mechanism is chosen whose ε can fail, or that has parameters of its own.
    names = {candidate.mechanism.name for candidate in found}
    assert not {"gaussian", "warner", "two-coin"} & names


@pytest.mark.parametrize(
    ("aim", "subset", "optimal"),
    [pytest.param("cumulative", 4.216, 3.218, marks=pytest.mark.more), ("mean", 88.54, 40.7)],
)
def test_variance_of_a_scale_is_that_of_its_aim(aim: str, subset: float, optimal: float) -> None:
    # Seven points at ε = 1: the sums of variances that a convex program finds, and those of subset
    # selection; for the mean of the scores 0..6 (in squares of a point), and for each cut.
    domain = Categories(tuple("0123456"), tuple(map(Fraction, range(7))))
    found = {
        candidate.mechanism.name: candidate.variance * (36 if aim == "mean" else 1)
        for candidate in candidates(domain, Fraction(1), {"aim": aim})
    }
    assert found["subset"] == pytest.approx(subset, rel=2e-3)
    assert found["optimal"] == pytest.approx(optimal, rel=2e-3)


@pytest.mark.parametrize("name", ["krr", "subset", "oue", "sue", "hashed-krr", "exponential"])
def test_covariance_of_shares_has_the_variances_on_its_diagonal(name: str) -> None:
    mechanism = MECHANISMS[name]
    randomizer = mechanism.compile(SKIPPED, Fraction(1), {})
    found = share_covariance(mechanism, randomizer, SKIPPED, np.full(6, 1 / 6))
    assert np.allclose(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    for place, share in enumerate(mechanism.shares(randomizer, SKIPPED).values):
        assert found[place, place] == pytest.approx(share.variance(1 / 6), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "2", "4"])
def test_the_mean_variance_is_taken_over_the_prior(epsilon: str) -> None:
    even = {"prior": [1]}
    plain, designed = (
        MECHANISMS["optimal"].compile(NUMBER, Fraction(epsilon), params) for params in ({}, even)
    )
    mechanism = MECHANISMS["optimal"]
    assert variance(mechanism, designed, NUMBER, even) < variance(mechanism, plain, NUMBER, even)
    assert variance(mechanism, plain, NUMBER) < variance(mechanism, designed, NUMBER)


@pytest.mark.parametrize("name", ["duchi", "piecewise", "optimal"])
def test_an_even_prior_means_the_same_however_many_parts_it_has(name: str) -> None:
    mechanism = MECHANISMS[name]
    randomizer = mechanism.compile(NUMBER, Fraction(1), {})
    found = [variance(mechanism, randomizer, NUMBER, {"prior": [1] * n}) for n in (1, 3, 20, 100)]
    assert found == pytest.approx([found[0]] * 4, rel=2e-3)
    if name == "duchi":
        # C²/4 less the mean of the squared place about 1/2, 1/12; C = (e + 1) / (e - 1).
        assert found[0] == pytest.approx(((e + 1) / (e - 1)) ** 2 / 4 - 1 / 12, rel=2e-3)


def test_shares_of_a_scale_are_compared_at_its_prior() -> None:
    rare = {"aim": "mean", "prior": [100, 1, 1, 1, 1]}
    mechanism = MECHANISMS["optimal"]
    even, designed = (
        mechanism.compile(SCALE, Fraction(1), params) for params in ({"aim": "mean"}, rare)
    )
    assert variance(mechanism, designed, SCALE, rare) < variance(mechanism, even, SCALE, rare)


def test_hashes_of_a_long_scale_are_compared_without_a_huge_table() -> None:
    long = Categories(tuple(f"{n}" for n in range(50)), tuple(map(Fraction, range(50))))
    found = candidates(long, Fraction(4), {"aim": "mean"})
    assert "hashed-krr" in {candidate.mechanism.name for candidate in found}


def test_too_small_an_epsilon_is_refused_with_the_smallest_that_can_be_served() -> None:
    many = Categories(range(10**9))  # type: ignore[arg-type]  # as many, without their names
    with pytest.raises(ValueError, match=r"must be at least 1\.8 for krr with so many") as refused:
        compile_as(MECHANISMS["krr"], many, Fraction("0.001"), {})
    least = Fraction(str(refused.value).split("at least ")[1].split()[0])
    assert compile_as(MECHANISMS["krr"], many, least, {}).epsilon > 0.99 * float(least)


def test_so_many_values_that_no_epsilon_serves_them_are_refused() -> None:
    many = Categories(range(10**10))  # type: ignore[arg-type]  # as many, without their names
    with pytest.raises(ValueError, match="no epsilon can serve"):
        compile_as(MECHANISMS["krr"], many, Fraction(1), {})


def test_check_says_why_and_what_the_runner_up_costs(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    options = ", ".join(f'{{id = "v{n}", text = "V"}}' for n in range(16))
    question = f'kind = "choice"\ntext = "?"\nrequired = true\noptions = [{options}]\n'
    path.write_text(
        'id = "s"\ntitle = "S"\n'
        f'[[questions]]\nid = "free"\nepsilon = 1\n{question}'
        f'[[questions]]\nid = "named"\nepsilon = 1\nmechanism = "oue"\n{question}'
    )
    free, named = check(read_survey(path))
    assert (free.mechanism, free.why) == ("subset", "least variance of 6")
    assert free.runner_up == "oue: 1.17 × the respondents"
    assert (named.mechanism, named.why) == ("oue", "named by the author")
    assert named.runner_up.startswith("subset: 0.85")
    assert free.poisoning == pytest.approx(3.2, abs=0.1)  # of 16 values at ε = 1
