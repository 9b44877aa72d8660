"""Mechanisms: named recipes that compile to a randomizer, and debias what it reports."""

from fractions import Fraction
from typing import Any

from analysis.domain import Domain
from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.krr import Krr
from analysis.mechanisms.square_wave import SquareWave
from analysis.mechanisms.subset import SubsetSelection
from analysis.randomizer import Randomizer

#: Every mechanism by its name in the survey file; of equally good ones the first is chosen.
MECHANISMS: dict[str, Mechanism] = {
    mechanism.name: mechanism for mechanism in (Krr(), SubsetSelection(), SquareWave())
}


def choose(domain: Domain, epsilon: Fraction) -> tuple[Mechanism, Randomizer[Any, Any]]:
    """The mechanism with the least variance among those that fit, and its randomizer.

    The variance is exact: of the estimated share of a value that one in k holds, averaged over the
    k values. For a number there is one mechanism so far.
    """
    fitting = [one for one in MECHANISMS.values() if isinstance(domain, one.domain)]
    compiled = [(one, one.compile(domain, epsilon)) for one in fitting]
    if len(compiled) == 1:
        return compiled[0]
    return min(compiled, key=lambda pair: variance(pair[0], pair[1], domain))


def variance(mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Domain) -> float:
    """Variance of one report's share estimates, averaged over the values, all equally frequent.

    Rounded to nine digits, so that designs which differ by whole-number rounding alone are equal.
    """
    shares = mechanism.shares(randomizer, domain)
    return float(f"{sum(share.variance(1 / len(shares)) for share in shares) / len(shares):.9g}")
