"""Comparisons of all pairs of a question's answers, from its tally.

Two answers are compared by a sign test of the discordant reports, which support exactly one of
them. If both answers are equally frequent, a discordant report supports either with the same
probability, so that the test is exact for any number of reports. If tallies only count the reports
that support each value, the number of discordant reports follows from the channel's law, or is
bounded.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, gammaln, ndtr, xlog1py, xlogy

from analysis.core.domain import NO_ANSWER
from analysis.estimate import Ints
from analysis.estimate.intervals import FEW, Interval, share_interval
from analysis.estimate.quantity import possible_share
from analysis.mechanisms.base import Share, Shares
from analysis.survey.question import Question

Array = NDArray[np.float64]

#: With more expected discordant reports, the sign test uses the normal law.
_NORMAL = 1_000
#: The error probability of the bounds of the number of discordant reports.
_UNSURE = 1e-4
#: If a smaller fraction of the reports that support a value support another, too, the bound is 0.
_OVERLAP = 0.1


@dataclass(frozen=True)
class Compared:
    """Answers with unbiased shares, and the p-values of all pairs.

    `p_values` (k, k) are one-sided: if (i, j) is small, i is more frequent than j. `multinomial` is
    whether each report supports one value, and all others are equally likely. `few` is whether a
    test rests on too few reports.
    """

    terms: list[str]
    estimates: Array
    p_values: Array
    method: str
    multinomial: bool
    n: int
    few: bool = False


def compared(question: Question, counts: Ints) -> Compared | None:
    """Compare all pairs of answers; None if reports show fewer than two shares."""
    mechanism, domain, randomizer = question.mechanism, question.domain, question.randomizer
    options = [column.removeprefix(".") for column in domain.columns if column]
    answers = options or [value for value in domain.alternatives if value != NO_ANSWER]
    shares = mechanism.shares(randomizer, domain)
    kept = [place for place, share in enumerate(shares.values) if share.term in answers]
    if len(kept) > 1:
        return _of_supports(question, shares, kept, counts)
    means = [mean for mean in mechanism.means(randomizer, domain) if mean.term in answers]
    n = randomizer.reports_in(counts)
    if len(means) < 2 or not all(domain.is_share(mean.term) for mean in means) or not n:
        return None
    scores = np.array([mean.floats[0] for mean in means])
    cells = counts.reshape(-1) / n
    estimates = scores @ cells
    second = np.diag(cells) if means[0].second is None else means[0].second(counts)
    products = scores @ second @ scores.T - np.outer(estimates, estimates)
    squares = products.diagonal()[:, None] + products.diagonal() - 2 * products
    errors = np.sqrt(np.maximum(0.0, squares) / max(1, n - 1))
    p_values = _normal(estimates, errors)
    return Compared([mean.term for mean in means], estimates, p_values, "normal", False, n, n < FEW)


def _of_supports(
    question: Question, shares: Shares, kept: list[int], counts: Ints
) -> Compared | None:
    """Compare values by their support counts; None if a value has no reports."""
    every, trials = shares.count(counts)
    supports, trials = np.asarray(every)[kept], np.asarray(trials)[kept]
    values = [shares.values[place] for place in kept]
    terms = [value.term for value in values]
    if not trials.all():
        return None
    told = list(zip(values, supports.tolist(), trials.tolist(), strict=True))
    estimates = np.array([share.estimate(float(often), m) for share, often, m in told])
    n, encoder = int(trials.max()), question.randomizer.encoder
    alike = len({(share.p, share.q) for share in values}) == 1 == len(set(trials.tolist()))
    if not alike or encoder.picks_part:
        errors = np.array(
            [
                share.std_error(possible_share(share.estimate(float(often), m), m), m)
                for share, often, m in told
            ]
        )
        # If each report is about one value, errors are independent. Otherwise, as for a group,
        # their correlation is unknown, but the error of a difference is at most the sum of both.
        apart = encoder.picks_part and encoder.parts_told == 1
        both = np.hypot if apart else np.add
        p_values = _normal(estimates, np.asarray(both.outer(errors, errors)))
        return Compared(terms, estimates, p_values, "normal", False, n, n < FEW)
    turned = supports if values[0].p > values[0].q else n - supports
    channel = question.randomizer.channel
    # Each report supports one value if all support equally many, and support sums to the reports.
    single = channel.size_chances(1) is None and encoder.cohorts is None and int(sum(every)) == n
    law = None if single else _law(question, values[0])
    # Each of the two intervals of rates gets half of the error on either side.
    rates = [share_interval(int(often), n, 1.0, 0.0, 1 - _UNSURE / 2) for often in turned]
    p_values = np.ones((len(kept), len(kept)))
    for i, j in zip(*np.nonzero(np.subtract.outer(turned, turned) > 0), strict=True):
        difference, total = int(turned[i] - turned[j]), int(turned[i] + turned[j])
        if law is not None:
            p_values[i, j] = law.p_value(n, difference, (rates[i], rates[j]), (kept[i], kept[j]))
        else:
            # This may count reports that support both or neither, which makes the test
            # conservative.
            discordant = total if single else min(total, 2 * n - total)
            p_values[i, j] = _sign_test(discordant, difference)
    multinomial = single and bool(question.domain.alternatives)
    return Compared(terms, estimates, p_values, "sign", multinomial, n)


def _sign_test(discordant: int, difference: int) -> float:
    """Return the probability that one of two equally likely kinds exceeds the other by so much.

    It rises with `discordant`, in steps of two, so that too large a number is conservative.
    """
    return float(bdtrc((discordant + difference) // 2 - 1, discordant, 0.5))


@dataclass(frozen=True)
class _Law:
    """The channel's probability of discordant reports, which support exactly one of two values.

    `inside` (k, k) is that probability if one of both is true, and `outside` if another is true.
    """

    share: Share
    inside: Array
    outside: Array

    def p_value(
        self, n: int, difference: int, rates: tuple[Interval, Interval], places: tuple[int, int]
    ) -> float:
        """Return the one-sided p-value that the first value is no more frequent than the second.

        The number of discordant reports is bounded by intervals of both support rates, whose error
        is added (Berger and Boos, JASA 1994).
        """
        p, q = self.share.chances
        chances = []
        for end in (sum(rate.low for rate in rates), sum(rate.high for rate in rates)):
            both = min(1.0, max(0.0, (end - 2 * q) / (p - q)))
            chances.append(both * self.inside[places] + (1 - both) * self.outside[places])
        chance = min(1.0, max(chances))
        mean, deviation = n * chance, (n * chance * (1 - chance)) ** 0.5
        if mean > _NORMAL:
            return min(1.0, float(ndtr(-(difference - 1) / mean**0.5)) + _UNSURE)
        # Beyond nine deviations, all is below rounding.
        least, most = int(mean - 9 * deviation), int(mean + 9 * deviation)
        discordant = np.arange(max(difference, least), min(n, most) + 1)
        logs = gammaln(n + 1) - gammaln(discordant + 1) - gammaln(n - discordant + 1)
        logs += xlogy(discordant, chance) + xlog1py(n - discordant, -chance)
        tails = bdtrc((discordant + difference + 1) // 2 - 1, discordant, 0.5)
        return min(1.0, float(np.exp(logs) @ tails) + _UNSURE)


def _law(question: Question, share: Share) -> _Law | None:
    """Return the law of support; None if it depends on more than a channel, or is of no use.

    It depends on more with hashes and sets. It is of no use if few reports support both values,
    since a bound is better then.
    """
    asked = question.of_asked
    encoder, channel, values = asked.randomizer.encoder, asked.randomizer.channel, asked.domain
    k = len(values.alternatives)
    if encoder.cohorts is not None or not k or share.p < share.q:
        return None
    discordant, both = np.zeros((2, k, k, k))
    for value in range(k):
        mean, second = channel.moments(encoder.encode(value, 0, iter(())))
        expected = np.full(k, float(share.q))
        expected[value] = float(share.p)
        if len(mean) < k or not np.allclose(mean[:k], expected, atol=1e-9):
            return None
        both[value] = second[:k, :k]
        discordant[value] = np.add.outer(mean[:k], mean[:k]) - 2 * both[value]
    rate = float(share.p + (k - 1) * share.q) / k
    if both.mean(axis=0)[0, 1] < _OVERLAP * rate:
        return None
    places = np.arange(k)
    one = discordant[places, places]
    inside = np.maximum(one, one.T)
    for value in range(k):
        discordant[value, value] = discordant[value, :, value] = 0
    outside = discordant.max(axis=0) if k > 2 else inside
    return _Law(share, np.clip(inside, 0, 1), np.clip(outside, 0, 1))


def _normal(estimates: Array, errors: Array) -> Array:
    """Return one-sided p-values of differences with these errors."""
    differences = np.subtract.outer(estimates, estimates)
    known = errors > 0
    p_values = np.where(differences > 0, ndtr(-differences / np.where(known, errors, 1.0)), 1.0)
    return np.where(known, p_values, 1.0)
