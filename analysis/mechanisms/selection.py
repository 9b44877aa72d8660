"""The choice of a question's mechanism: the one with the least variance, by exact formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, assert_never

import numpy as np

from analysis.core.domain import Domain, DomainOfShares, Estimand
from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.core.randomizer import AnyRandomizer
from analysis.core.types import Floats
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mean, Mechanism, Params, Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.mechanisms.two_stages import can_remember, with_memory


@dataclass(frozen=True)
class Candidate:
    """A mechanism for a question, its randomizer, and the variance by which it is compared."""

    mechanism: Mechanism
    randomizer: AnyRandomizer
    variance: float


def candidates(
    domain: Domain,
    epsilon: Fraction,
    params: Params | None = None,
    forever: Fraction | None = None,
) -> list[Candidate]:
    """Return the mechanisms that serve a domain at this ε, by ascending variance.

    Mechanisms are left out if they take parameters instead of ε, if weights of 32 bits are too
    coarse for them or, with `forever`, if they cannot have a memory. So are those that can have a
    δ, since what they spend depends on the format of the file.

    Raise TooCoarse if no mechanism is left. The message has the smallest ε that one can serve.
    """
    # A list, such as a prior, cannot be a key of the cache.
    wishes = tuple(
        (key, tuple(wish) if isinstance(wish, list) else wish)
        for key, wish in (params or {}).items()
    )
    return list(_candidates(domain, epsilon, wishes, forever))


@lru_cache(maxsize=128)
def _candidates(
    domain: Domain,
    epsilon: Fraction,
    wishes: tuple[tuple[str, Any], ...],
    forever: Fraction | None,
) -> tuple[Candidate, ...]:
    """Return the result of `candidates`, which is kept, since it is asked for repeatedly."""
    params = dict(wishes)
    serving, fitting = [], []
    for mechanism in MECHANISMS.values():
        can_have_delta = "delta" in mechanism.heeds
        if mechanism.parameters is not None or can_have_delta or not mechanism.fits(domain):
            continue
        fitting.append(mechanism)
        try:
            randomizer = compiled(mechanism, domain, epsilon, params, forever)
        except ValueError:
            continue
        spread = variance(mechanism, randomizer, domain, params)
        serving.append(Candidate(mechanism, randomizer, spread))
    if not serving:
        raise TooCoarse(_too_small(fitting[0], domain, epsilon, params))
    return tuple(sorted(serving, key=lambda candidate: candidate.variance))


def choose(
    domain: Domain,
    epsilon: Fraction,
    params: Params | None = None,
    forever: Fraction | None = None,
) -> tuple[Mechanism, AnyRandomizer]:
    """Return the mechanism with the least variance among those that fit, and its randomizer."""
    best = candidates(domain, epsilon, params, forever)[0]
    return best.mechanism, best.randomizer


def compiled(
    mechanism: Mechanism,
    domain: Domain,
    epsilon: Fraction,
    params: Params,
    forever: Fraction | None = None,
) -> AnyRandomizer:
    """Return the result of `mechanism.compile`, with a memory if there is an ε for all waves.

    Raise TooCoarse if 32-bit weights cannot serve this domain at this ε. Raise ValueError if the
    mechanism does not serve the domain, or cannot have a memory.
    """
    return _remembering(mechanism, mechanism.compile(domain, epsilon, params), epsilon, forever)


def _remembering(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    epsilon: Fraction,
    forever: Fraction | None,
) -> AnyRandomizer:
    """Return the randomizer, with a memory if there is an ε for all waves."""
    if forever is None:
        return randomizer
    if not can_remember(randomizer):
        raise ValueError(f"epsilon_forever must be left out: {mechanism.name} can have no memory")
    return with_memory(randomizer, epsilon, forever)


def compile_as(
    mechanism: Mechanism,
    domain: Domain,
    epsilon: Fraction,
    params: Params,
    forever: Fraction | None = None,
) -> AnyRandomizer:
    """Return the result of `compiled`. If ε is too small, the error says which ε is enough."""
    try:
        randomizer = mechanism.compile(domain, epsilon, params)
    except TooCoarse:
        raise ValueError(_too_small(mechanism, domain, epsilon, params)) from None
    try:
        return _remembering(mechanism, randomizer, epsilon, forever)
    except TooCoarse:
        raise ValueError(
            f"epsilon_forever must be nearer to epsilon {float(epsilon):g} for {mechanism.name} "
            f"and weights of 32 bits, got {float(forever or 0):g}"
        ) from None


def _too_small(mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: Params) -> str:
    """Return the message for an ε that is too small, with the smallest possible, in two digits."""
    served = None
    low, high = float(SMALLEST), float(LARGEST)
    for _ in range(14):
        middle = float(f"{(low * high) ** 0.5:.2g}")
        try:
            mechanism.compile(domain, Fraction(repr(middle)), params)
        except TooCoarse:
            low = middle
        else:
            served = high = middle
    least = (
        f"at least {served:g}" if served else "served by fewer values: no epsilon can serve these"
    )
    return (
        f"epsilon must be {least} for {mechanism.name} with so many values and weights of 32 bits, "
        f"got {float(epsilon):g}"
    )


def variance(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    domain: Domain,
    params: Params | None = None,
) -> float:
    """Return the variance of one report's estimates, by which mechanisms are compared.

    It is rounded to nine digits, so that designs that differ only by whole-number rounding are
    equal. The estimate depends on the domain:

    - one of k, and a scale: the shares, averaged over the values, or the scale's mean or cumulative
      shares if `aim` says so; values have the frequencies of the `prior`, which are equal by
      default
    - a number: the mean, relative to the squared range, at the least favorable number or, with a
      `prior`, averaged over it
    - several options: their shares, if all tick as many as allowed, at most half
    - a ranking: the pairs' shares
    - a text: the share of a rare text
    """
    params = params or {}
    match domain.estimand:
        case Estimand.TEXTS:
            spread = text_share(randomizer).variance(0.0)
        case Estimand.MEAN:
            mean = mechanism.means(randomizer, domain)[0]
            spread = _of_number(mean, randomizer, domain.steps, params.get("prior"))
        case Estimand.SHARES:
            spread = _of_shares(mechanism, randomizer, domain, params)
        case _:
            assert_never(domain.estimand)
    return float(f"{spread:.9g}")


def poisoning(mechanism: Mechanism, randomizer: AnyRandomizer, domain: Domain) -> float:
    """Return the most honest people whose weight one fake report can have in an estimate."""
    if domain.estimand is Estimand.TEXTS:
        return text_share(randomizer).poisoning
    quantities: list[Share | Mean] = [
        *mechanism.shares(randomizer, domain).values,
        *mechanism.means(randomizer, domain),
    ]
    return max(quantity.poisoning for quantity in quantities)


def _of_number(
    mean: Mean, randomizer: AnyRandomizer, answers: int, prior: Sequence[float] | None
) -> float:
    """Return the variance of a mean if all answer, which is that of score - x present (delta)."""
    steps = randomizer.encoder.steps
    # There are at least 16 numbers between two grid points, and 16 in each part of the prior.
    parts = max(16, -(-16 * len(prior or ()) // steps))
    weights = randomizer.channel.chances()[: steps + 1]
    score, present = mean.floats
    products = weights @ np.column_stack([score**2, score * present, present**2])
    # Without a prior, only possible answers are looked at if a number has few steps.
    pieces = min(answers, steps * parts) if prior is None else steps * parts
    points = np.linspace(0, 1, pieces + 1)
    # Between two grid points, rounding mixes the expectations at both.
    low = np.minimum((points * steps).astype(int), steps - 1)
    part = (points * steps - low)[:, None]
    squares, both, ones = ((1 - part) * products[low] + part * products[low + 1]).T
    variances = squares - 2 * points * both + points**2 * ones
    if prior is None:
        return float(variances.max())
    shares = np.asarray(prior, dtype=float) / sum(prior)
    middles = (points[:-1] + points[1:]) / 2
    parts_of = np.minimum((middles * len(shares)).astype(int), len(shares) - 1)
    of_pieces = shares[parts_of] / np.bincount(parts_of, minlength=len(shares))[parts_of]
    return float(of_pieces @ ((variances[:-1] + variances[1:]) / 2))


def _of_shares(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    domain: DomainOfShares,
    params: Params,
) -> float:
    """Return the average variance of shares, or of the combinations that the aim is about."""
    if domain.aims:
        points, prior = len(domain.terms), params.get("prior")
        truth = np.full(points + domain.no_answer, 1 / (points + domain.no_answer))
        if prior is not None:
            truth[:points] = np.asarray(prior, dtype=float) / sum(prior) * truth[:points].sum()
        covariance = share_covariance(mechanism, randomizer, domain, truth)
        rows = domain.combined(params.get("aim", "shares"), truth)
        return float(np.trace(rows @ covariance @ rows.T)) / len(rows)
    # With ten thousand options, looking up each in a list would take longer than the rest.
    terms = set(domain.compared)
    shares = mechanism.shares(randomizer, domain).values
    compared = [share for share in shares if share.term in terms]
    if compared:
        return sum(share.variance(domain.usual_share) for share in compared) / len(compared)
    means = mechanism.means(randomizer, domain)
    spreads = [_spread(mean, randomizer, domain) for mean in means if mean.term in terms]
    return float(np.mean(spreads))


def share_covariance(
    mechanism: Mechanism, randomizer: AnyRandomizer, domain: Domain, truth: Floats
) -> Floats:
    """Return the (k, k) covariance of one report's estimates of shares, of k values or a scale.

    `truth` has the k true shares.
    """
    scores = mechanism.share_scores(randomizer, domain)
    # The channel's input for each value, in each cohort.
    cohorts = range(randomizer.encoder.cohorts or 1)
    inputs = [
        [randomizer.encoder.encode(value, cohort, iter(())) for cohort in cohorts]
        for value in range(len(truth))
    ]
    if randomizer.channel.gives_one_symbol:
        table = randomizer.channel.chances()
        chances = sum(
            share * table[symbols].reshape(-1) / len(cohorts)
            for share, symbols in zip(truth, inputs, strict=True)
        )
        first = scores @ chances
        second = (scores * chances) @ scores.T
        return np.asarray(second.todense() - np.outer(first, first))
    moments = [randomizer.channel.moments(symbols[0]) for symbols in inputs]
    first = scores @ np.tensordot(truth, np.array([mean for mean, _ in moments]), 1)
    products = np.tensordot(truth, np.array([product for _, product in moments]), 1)
    return np.asarray(scores @ (scores @ products).T - np.outer(first, first))


def _spread(mean: Mean, randomizer: AnyRandomizer, domain: Domain) -> float:
    """Return the variance of a pair's score if all orders are equally frequent and nobody skips."""
    scores = np.array(mean.scores, dtype=float)
    orders = randomizer.channel.inputs - domain.no_answer
    return float((randomizer.channel.chances()[:orders] @ scores**2).mean() - 0.25)
