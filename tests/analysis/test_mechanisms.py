"""Contract of every mechanism: ε at most as asked, and unbiased, both exactly."""

from fractions import Fraction
from math import e
from typing import Any

import pytest

from analysis.channels.window import Window
from analysis.domain import NO_ANSWER, Categories, Domain, Numbers
from analysis.encoders import Index
from analysis.epsilon import exp_lower
from analysis.mechanisms import MECHANISMS, choose, variance
from analysis.mechanisms.base import Mechanism, spends
from analysis.mechanisms.square_wave import half_width
from analysis.randomizer import Randomizer

DOMAINS: list[Domain] = [
    *(Categories(tuple(f"v{value}" for value in range(k))) for k in (2, 3, 5, 8)),
    *(Numbers(Fraction(-1), Fraction(3), steps, skip) for steps in (1, 7, 20) for skip in (0, 1)),
]
CASES = [
    pytest.param(mechanism, domain, Fraction(epsilon), id=f"{mechanism.name}-{domain}-{epsilon}")
    for mechanism in MECHANISMS.values()
    for domain in DOMAINS
    if isinstance(domain, mechanism.domain)
    for epsilon in ("0.1", "1", "2.5", "6")
]


def test_every_mechanism_is_tested_here() -> None:
    assert {case.values[0] for case in CASES} == set(MECHANISMS.values())


@pytest.mark.parametrize(("mechanism", "domain", "epsilon"), CASES)
def test_ratio_is_at_most_the_asked_and_near_it(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction
) -> None:
    randomizer = mechanism.compile(domain, epsilon)
    rows = _rows(randomizer)
    worst = max(one[report] / other[report] for one in rows for other in rows for report in one)
    assert worst == randomizer.ratio <= exp_lower(epsilon)
    assert randomizer.epsilon == pytest.approx(float(epsilon), rel=1e-6)
    assert Randomizer.from_json(randomizer.to_json()) == randomizer


@pytest.mark.parametrize(("mechanism", "domain", "epsilon"), CASES)
def test_shares_are_exactly_unbiased(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction
) -> None:
    randomizer = mechanism.compile(domain, epsilon)
    rows = _rows(randomizer)
    shares = mechanism.shares(randomizer, domain)
    if isinstance(domain, Categories):
        assert tuple(share.term for share in shares) == domain.ids
    else:
        assert [share.term for share in shares] == [NO_ANSWER] * domain.no_answer
    for share in shares:
        truths = (
            [place for place, term in enumerate(domain.ids) if term == share.term]
            if isinstance(domain, Categories)
            else [randomizer.channel.inputs - 1]
        )
        for symbol in _inputs(randomizer):
            support = sum(
                chance
                for report, chance in rows[symbol].items()
                if set(share.symbols) & set(randomizer.channel.tallied(report))
            )
            # The expectation of (count/n - q) / (p - q) over one respondent.
            assert (support - share.q) / (share.p - share.q) == (symbol in truths)


@pytest.mark.parametrize(("mechanism", "domain", "epsilon"), CASES)
def test_means_are_exactly_unbiased_between_grid_points_too(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction
) -> None:
    randomizer = mechanism.compile(domain, epsilon)
    mean = mechanism.mean(randomizer, domain)
    if mean is None:
        assert isinstance(domain, Categories)
        return
    rows = _rows(randomizer)

    def expected(symbol: int, scores: Any) -> Fraction:
        return sum((chance * scores[y] for y, chance in rows[symbol].items()), Fraction(0))

    steps = randomizer.encoder.steps
    for place in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(5, 7), Fraction(1)):
        low, part = divmod(place * steps, 1)
        ends = {int(low): 1 - part} | ({int(low) + 1: part} if part else {})
        assert sum(w * expected(x, mean.scores) for x, w in ends.items()) == place
        assert sum(w * expected(x, mean.present) for x, w in ends.items()) == 1
        rounding = part * (1 - part) / steps**2
        squares = sum(w * expected(x, mean.squares) for x, w in ends.items())
        assert squares == place**2 + rounding
    if domain.no_answer:
        last = randomizer.channel.inputs - 1
        assert expected(last, mean.scores) == expected(last, mean.present) == 0
        assert expected(last, mean.squares) == 0


def test_two_values_by_hand() -> None:
    # Keep 3 times in 4, as two coins do: ε = ln 3.
    randomizer = MECHANISMS["krr"].compile(DOMAINS[0], Fraction("1.0986122886681098"))
    share = MECHANISMS["krr"].shares(randomizer, DOMAINS[0])[0]
    assert float(share.p) == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5, 8, 16, 50])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4"])
def test_choice_is_the_least_variance_of_all_that_fit(k: int, epsilon: str) -> None:
    domain = Categories(tuple(f"v{value}" for value in range(k)))
    chosen, randomizer = choose(domain, Fraction(epsilon))
    least = variance(chosen, randomizer, domain)
    for name in ("krr", "subset"):
        other = MECHANISMS[name]
        assert least <= variance(other, other.compile(domain, Fraction(epsilon)), domain)
    # Subset selection with one member is k-RR, which is then preferred.
    alone = max(1, round(k / (e ** float(epsilon) + 1))) == 1
    assert chosen.name == ("krr" if alone else "subset")


def test_weights_too_coarse_for_the_epsilon_are_refused() -> None:
    coarse = Randomizer(Index(4), Window(4, 1, 271, 100))
    assert spends(coarse, Fraction(1)) is coarse
    with pytest.raises(ValueError, match="epsilon must be larger for so many values"):
        spends(coarse, Fraction("1.2"))
    with pytest.raises(ValueError, match="must be at most e"):
        spends(coarse, Fraction("0.99"))


def test_half_width_of_the_square_wave() -> None:
    # (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), Li et al. 2020, at ε = 1: 1 / (2 e (e - 2)).
    assert half_width(1.0) == pytest.approx(1 / (2 * e * (e - 2)), rel=1e-12)
    assert half_width(1e-4) == pytest.approx(0.5, rel=1e-3)


def _rows(randomizer: Any) -> list[dict[Any, Fraction]]:
    channel = randomizer.channel
    return [dict(channel.distribution(symbol)) for symbol in range(channel.inputs)]


def _inputs(randomizer: Any) -> list[int]:
    """The inputs that an encoder uses; a grid leaves out those before no-answer."""
    inputs = range(randomizer.channel.inputs)
    if randomizer.encoder.name == "index":
        return list(inputs)
    numbers = list(range(randomizer.encoder.steps + 1))
    return numbers if len(inputs) == len(numbers) else [*numbers, inputs[-1]]
