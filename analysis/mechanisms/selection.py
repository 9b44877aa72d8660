"""Which mechanism a question gets: the one with the least variance, by exact formula."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.core.domain import Categories, Domain, Estimand, Rankings, Sets
from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.core.randomizer import AnyRandomizer
from analysis.core.types import Floats
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mean, Mechanism, Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.mechanisms.two_stages import can_remember, with_memory


@dataclass(frozen=True)
class Candidate:
    """A mechanism for a question, its randomizer, and the variance that it is judged by."""

    mechanism: Mechanism
    randomizer: AnyRandomizer
    variance: float


def candidates(
    domain: Domain,
    epsilon: Fraction,
    params: Mapping[str, Any] | None = None,
    forever: Fraction | None = None,
) -> list[Candidate]:
    """The mechanisms that serve a domain at this ε, the least variance first.

    Left out are those with own parameters instead of ε, those whose ε holds only but for a δ, those
    that 32-bit weights cannot serve here, and with `forever` those that can have no memory.

    Raises
    ------
    TooCoarse
        If none is left: with the smallest ε that one can serve.
    """
    params = params or {}
    found, fitting = [], []
    for mechanism in MECHANISMS.values():
        if mechanism.parameters is not None or not mechanism.fits(domain):
            continue
        fitting.append(mechanism)
        try:
            randomizer = compiled(mechanism, domain, epsilon, params, forever)
        except ValueError:
            continue
        if randomizer.limit is None:
            found.append(
                Candidate(mechanism, randomizer, variance(mechanism, randomizer, domain, params))
            )
    if not found:
        raise TooCoarse(too_small(fitting[0], domain, epsilon, params))
    return sorted(found, key=lambda one: one.variance)


def choose(
    domain: Domain,
    epsilon: Fraction,
    params: Mapping[str, Any] | None = None,
    forever: Fraction | None = None,
) -> tuple[Mechanism, AnyRandomizer]:
    """The mechanism with the least variance among those that fit, and its randomizer."""
    best = candidates(domain, epsilon, params, forever)[0]
    return best.mechanism, best.randomizer


def compiled(
    mechanism: Mechanism,
    domain: Domain,
    epsilon: Fraction,
    params: Mapping[str, Any],
    forever: Fraction | None = None,
) -> AnyRandomizer:
    """`mechanism.compile`, and with a memory if there is an ε for all waves.

    Raises
    ------
    TooCoarse
        If 32-bit weights cannot serve this domain at this ε.
    ValueError
        If the mechanism does not serve the domain, or can have no memory.
    """
    randomizer = mechanism.compile(domain, epsilon, params)
    if forever is None:
        return randomizer
    if not can_remember(randomizer):
        raise ValueError(f"epsilon_forever must be left out: {mechanism.name} can have no memory")
    return with_memory(randomizer, epsilon, forever)


def compile_as(
    mechanism: Mechanism,
    domain: Domain,
    epsilon: Fraction,
    params: Mapping[str, Any],
    forever: Fraction | None = None,
) -> AnyRandomizer:
    """As `compiled`; where ε is too small for so many values, the error says how small."""
    try:
        mechanism.compile(domain, epsilon, params)
    except TooCoarse:
        raise ValueError(too_small(mechanism, domain, epsilon, params)) from None
    try:
        return compiled(mechanism, domain, epsilon, params, forever)
    except TooCoarse:
        raise ValueError(
            f"epsilon_forever must be nearer to epsilon {float(epsilon):g} for {mechanism.name} "
            f"and weights of 32 bits, got {float(forever or 0):g}"
        ) from None


def too_small(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: Mapping[str, Any]
) -> str:
    """What to say where an ε cannot be served: the smallest that can, to two digits."""
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
    params: Mapping[str, Any] | None = None,
) -> float:
    """The variance of one report's estimates, by which mechanisms are compared.

    Of one of k and of a scale: that of the shares, averaged over the values, all equally frequent;
    or that of the scale's mean or of its cumulative shares, if `aim` says so; at the `prior`.
    Of a number: that of the mean, as a part of the squared range, at the least favorable number,
    or, with a `prior`, averaged over it. Of several options: that of their shares, if as many are
    ticked as may be. Of a ranking: that of the pairs' shares. Of a text: that of the share of
    a rare one. Rounded to nine digits, so that designs which differ by whole-number rounding alone
    are equal.
    """
    params = params or {}
    if domain.estimand is Estimand.TEXTS:
        found = text_share(randomizer).variance(0.0)
    elif domain.estimand is Estimand.MEAN:
        mean = mechanism.means(randomizer, domain)[0]
        found = _of_number(mean, randomizer, domain.steps, params.get("prior"))
    else:
        found = _of_shares(mechanism, randomizer, domain, params)
    return float(f"{found:.9g}")


def poisoning(mechanism: Mechanism, randomizer: AnyRandomizer, domain: Domain) -> float:
    """How many honest people one fake report can weigh in an estimate, at most."""
    if domain.estimand is Estimand.TEXTS:
        return text_share(randomizer).poisoning
    quantities: list[Share | Mean] = [
        *mechanism.shares(randomizer, domain).values,
        *mechanism.means(randomizer, domain),
    ]
    return max(one.poisoning for one in quantities)


def _of_number(
    mean: Mean, randomizer: AnyRandomizer, answers: int, prior: Sequence[float] | None
) -> float:
    """Of score - x present, everybody answering: the variance of their ratio, to first order."""
    steps = randomizer.encoder.steps
    # At least 16 numbers between two grid points, and 16 in each part of the prior.
    parts = max(16, -(-16 * len(prior or ()) // steps))
    weights = randomizer.channel.chances()[: steps + 1]
    score, there = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    products = weights @ np.column_stack([score**2, score * there, there**2])
    # Between two grid points, rounding mixes what is expected at them.
    # Few answers are possible: of a number with whole steps, no others.
    pieces = min(answers, steps * parts) if prior is None else steps * parts
    points = np.linspace(0, 1, pieces + 1)
    low = np.minimum((points * steps).astype(int), steps - 1)
    part = (points * steps - low)[:, None]
    squares, both, ones = ((1 - part) * products[low] + part * products[low + 1]).T
    found = squares - 2 * points * both + points**2 * ones
    if prior is None:
        return float(found.max())
    share = np.asarray(prior, dtype=float) / sum(prior)
    middles = (points[:-1] + points[1:]) / 2
    place = np.minimum((middles * len(share)).astype(int), len(share) - 1)
    own = share[place] / np.bincount(place, minlength=len(share))[place]
    return float(own @ ((found[:-1] + found[1:]) / 2))


def _of_shares(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    domain: Categories | Sets | Rankings,
    params: Mapping[str, Any],
) -> float:
    """The average variance of shares, or what the author's aim makes of it."""
    if domain.aims:
        return _of_scale(mechanism, randomizer, domain, params)
    shares = mechanism.shares(randomizer, domain).values
    compared = [share for share in shares if share.term in domain.compared]
    if compared:
        return sum(share.variance(domain.usual_share) for share in compared) / len(compared)
    means = mechanism.means(randomizer, domain)
    spreads = [_spread(mean, randomizer, domain) for mean in means if mean.term in domain.compared]
    return float(np.mean(spreads))


def _of_scale(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    domain: Categories | Sets | Rankings,
    params: Mapping[str, Any],
) -> float:
    """Of everybody's shares, or of what `aim` makes of them, at the prior."""
    points, prior = len(domain.terms), params.get("prior")
    truth = np.full(points + domain.no_answer, 1 / (points + domain.no_answer))
    if prior is not None:
        truth[:points] = np.asarray(prior, dtype=float) / sum(prior) * truth[:points].sum()
    covariance = share_covariance(mechanism, randomizer, domain, truth)
    rows = domain.combined(params.get("aim", "shares"), truth)
    return float(np.trace(rows @ covariance @ rows.T)) / len(rows)


def share_covariance(
    mechanism: Mechanism,
    randomizer: AnyRandomizer,
    domain: Domain,
    frequencies: Sequence[float] | Floats | None = None,
) -> Floats:
    """(k, k) covariance of one report's share estimates.

    Parameters
    ----------
    mechanism, randomizer, domain
        Of one of k, or of a scale.
    frequencies : (k,) sequence, optional
        True shares; equal ones if left out.
    """
    k = len(domain.alternatives)
    truth = np.full(k, 1 / k) if frequencies is None else np.asarray(frequencies, dtype=float)
    scores = mechanism.share_scores(randomizer, domain)
    inputs = [_inputs(randomizer, value) for value in range(k)]
    if randomizer.channel.gives_one_symbol:
        cohorts = len(inputs[0])
        table = randomizer.channel.chances()
        chances = sum(
            share * table[own].reshape(-1) / cohorts
            for share, own in zip(truth, inputs, strict=True)
        )
        first = scores @ chances
        second = (scores * chances) @ scores.T
        return np.asarray(second.todense() - np.outer(first, first))
    moments = [randomizer.channel.moments(own[0]) for own in inputs]
    first = scores @ np.tensordot(truth, np.array([one for one, _ in moments]), 1)
    both = np.tensordot(truth, np.array([one for _, one in moments]), 1)
    return np.asarray(scores @ (scores @ both).T - np.outer(first, first))


def _inputs(randomizer: AnyRandomizer, value: int) -> list[Any]:
    """What the channel gets for a value, in each cohort."""
    cohorts = randomizer.encoder.cohorts or 1
    return [randomizer.encoder.encode(value, cohort, iter(())) for cohort in range(cohorts)]


def _spread(mean: Mean, randomizer: AnyRandomizer, domain: Domain) -> float:
    """Variance of the score of a pair, when all orders are equally frequent and nobody skips."""
    scores = np.array(mean.scores, dtype=float)
    orders = randomizer.channel.inputs - domain.no_answer
    return float((randomizer.channel.chances()[:orders] @ scores**2).mean() - 0.25)
