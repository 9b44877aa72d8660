"""Whether stored reports look like the output of the channels that their questions run.

Fakes by a script that does not draw as the channel does shift what no answers can shift. Those that
are drawn from the channel, or whose counts some answers would explain, are reports like any other:
nothing can find them, and `analysis.estimate.poisoning` says what they can do. Each check holds for
any population, of fixed answers too: reports that the channel did draw look otherwise with at most
the probability `p_value` (that of chi-square, by its usual approximation from 5 expected on).

The number of ones of a unary encoding tells fakes that set all bits; so the attackers of Cao, Jia
and Gong (USENIX Security 2021) set as many as are expected, which its whole distribution tells.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, chdtrc, gammaln

from analysis.estimate import Floats, Ints
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: Below this, reports are called unlike the channel: one false alarm in 10,000 checks of honest
#: reports, so that a survey of some dozen questions seldom cries wolf, if looked at rarely.
UNLIKELY = 1e-4
#: What such reports look like.
UNLIKE = "unlike the channel"
#: The least expected count of a class in a chi-square test (Cochran, Biometrics 1954).
_EXPECTED = 5
#: Of larger tables of weights, sets of symbols are not tried: that would take over half a second.
_MOST_WEIGHTS = 2**20


@dataclass(frozen=True)
class Plausibility:
    """One check of one question's reports.

    `check` is ``cohorts`` (they are drawn uniformly), ``symbols`` (how many reports count for each
    is possible for some answers) or ``weights`` (so is the number of ones in each report).

    `statistic` of ``cohorts``, and of ``weights`` where every input has the same number of ones, is
    chi-square. Elsewhere it is how many reports the least possible count lies beyond the most that
    answers explain in expectation; negative if it does not.

    `p_value` covers all counts of the check, not several checks. `looks` is ``unlike the channel``
    where it is below 1e-4, else ``as drawn``, or ``too few`` if not even `n` equal reports would be
    unlike it.
    """

    question: str
    check: str
    statistic: float
    p_value: float
    n: int
    looks: str


#: The columns of the table that other programs read.
PLAUSIBILITY_COLUMNS = tuple(field.name for field in fields(Plausibility))


@dataclass(frozen=True)
class _Found:
    """A statistic, its p-value, and the p-value that so many equal reports could have given."""

    statistic: float
    p_value: float
    least: float


def plausibility(
    survey: Survey, tallies: Mapping[str, Ints], sizes: Mapping[str, Ints] | None = None
) -> list[Plausibility]:
    """The checks of every question, in the survey's order.

    Parameters
    ----------
    survey : Survey
        The version that the reports belong to.
    tallies : mapping
        For each question's id the (cohorts, symbols) array of how many reports of each cohort,
        or of all, count for each symbol.
    sizes : mapping, optional
        As of `sizes_of`: the (symbols + 1,) array of how many reports count for 0, 1, 2, ...
        symbols, of each question where that can differ. Without them there is no check ``weights``.
    """
    sizes = sizes or {}
    rows: list[Plausibility] = []
    for question in survey.questions:
        tally, randomizer = tallies[question.id], question.randomizer
        own = np.array([randomizer.channel.reports_in(cohort) for cohort in tally])
        n = int(own.sum())
        if len(own) > 1:
            uniform = np.full(len(own), 1 / len(own))
            rows.append(_row(question, "cohorts", _fit(own, uniform), n))
        rows.append(_row(question, "symbols", _symbols(question, tally, own), n))
        if question.id in sizes:
            found, number = _weights(question, sizes[question.id]), sizes[question.id].sum()
            rows.append(_row(question, "weights", found, int(number)))
    return rows


def _row(question: Question, check: str, found: _Found, n: int) -> Plausibility:
    looks = UNLIKE if found.p_value < UNLIKELY else "as drawn"
    if not n or found.least >= UNLIKELY:
        looks = "too few"
    return Plausibility(question.id, check, found.statistic, min(1.0, found.p_value), n, looks)


def sizes_of(survey: Survey, reports: Iterable[Mapping[str, Any]]) -> dict[str, Ints]:
    """How many reports count for 0, 1, 2, ... symbols, of each question where that can differ.

    Parameters
    ----------
    survey : Survey
        The version that the reports belong to.
    reports : iterable of mappings
        Each respondent's ``{question id: report}`` as it was sent; all are read at once.
    """
    sent = list(reports)
    found = {}
    for question in survey.questions:
        randomizer = question.randomizer
        if randomizer.channel.size_chances(1) is None:
            continue  # all count for equally many
        sizes = randomizer.sizes_many(randomizer.read_many([one[question.id] for one in sent]))
        assert sizes is not None
        found[question.id] = sizes
    return found


def _weights(question: Question, counts: Ints) -> _Found:
    """An input has 1 to so many ones: "none of these" and no-answer are bits of their own."""
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    most = max(max(pair) for pair in encoder.apart)
    laws = [channel.size_chances(ones) for ones in range(1, most + 1)]
    return _fit(counts, laws[0]) if most == 1 else _mixed(counts, most, lambda law: laws[law])


def _symbols(question: Question, tally: Ints, own: Ints) -> _Found:
    """The best of up to three families of counts, Bonferroni: all cohorts', each one's, support."""
    channel, n = question.randomizer.channel, own.sum()
    pooled, (least, most) = tally.sum(axis=0), channel.bounds()
    if channel.gives_one_symbol and channel.inputs * channel.symbols <= _MOST_WEIGHTS:
        total = sum(channel.weights(0))
        found = [
            _mixed(
                pooled, channel.inputs, lambda x: np.array(channel.weights(x), dtype=float) / total
            )
        ]
    else:
        # What every report counts for tells nothing.
        told = least < 1
        found = [_single(pooled[told], n, least[told], most[told])]
    if len(own) > 1:
        found.append(_single(tally, own[:, None], least, most))
        # A value's reports are spread over the cohorts, a symbol of each.
        shares = question.mechanism.shares(question.randomizer, question.domain)
        ends = np.array([sorted((one.q, one.p)) for one in shares.values], dtype=float)
        if len(ends):
            found.append(_single(*shares.count(tally), *ends.T))
    best = min(found, key=lambda one: one.p_value)
    return _Found(
        best.statistic,
        len(found) * best.p_value,
        len(found) * min(one.least for one in found),
    )


def _fit(counts: Ints, chances: Floats) -> _Found:
    """Of counts with one known law: chi-square over neighbors joined, and the likeliest fakes.

    Chi-square sees many small deviations; equal reports that are few among many classes, it does
    not. So each single count is held against its binomial, too; p is doubled for that.
    """
    n = counts.sum()
    groups, expected = [0], 0.0
    for place, mean in enumerate((n * chances).tolist()):
        if expected >= _EXPECTED:
            groups.append(place)
            expected = 0.0
        expected += mean
    if expected < _EXPECTED:
        groups = groups[:-1] or [0]
    means = np.add.reduceat(n * chances, groups)
    apart = (np.add.reduceat(counts, groups) - means) ** 2 / np.maximum(means, 1e-300)
    statistic, freedom = float(apart.sum()), len(groups) - 1
    fits = float(chdtrc(freedom, statistic)) if freedom else 1.0
    single = len(counts) * float(bdtrc(counts - 1, n, chances).min())
    least = 2 * len(counts) * float(chances.min()) ** int(n)
    return _Found(statistic, 2 * min(fits, single), least)


def _single(counts: Ints, n: Ints, least: Floats, most: Floats) -> _Found:
    """Counts of which each of `n` reports adds to with a chance from `least` to `most`.

    Whatever these chances are, such a count is stochastically at most binomial with `most`, and at
    least binomial with `least`: so both tails are bounds. All of one shape, or broadcast to it.
    """
    above, below = bdtrc(counts - 1, n, most), bdtr(counts, n, least)
    tails = np.stack([above, below])
    beyond = np.stack([counts - n * most, n * least - counts])
    place = np.unravel_index(tails.argmin(), tails.shape)
    reach = float((np.minimum(most, 1 - least) ** n).min())
    return _Found(float(beyond[place]), tails.size * float(tails[place]), tails.size * reach)


def _mixed(counts: Ints, laws: int, law: Callable[[int], Floats]) -> _Found:
    """Counts of reports each of which has one of these laws, whichever.

    How many lie in a set of symbols is bounded as in `_single`. Fakes may press a few symbols
    beyond what is possible, or all but a few below it; so sets are tried that take in the symbols
    one by one, the most conspicuous first. As they are chosen by the counts, p is multiplied by the
    number of all sets of that size, and of sizes m and k - m, weighted by 1 / m(m+1).
    """
    n, k = counts.sum(), len(counts)
    lowest, highest = law(0), law(0)
    for one in range(1, laws):
        lowest, highest = np.minimum(lowest, law(one)), np.maximum(highest, law(one))
    down, up = np.argsort(_apart(counts, n, lowest)), np.argsort(-_apart(counts, n, highest))
    least, most = np.ones(k - 1), np.zeros(k - 1)
    for one in range(laws):
        row = law(one)
        least = np.minimum(least, row[down].cumsum()[:-1])
        most = np.maximum(most, row[up].cumsum()[:-1])
    most = np.minimum(most, 1.0)
    sizes = np.arange(1, k)
    smaller = np.minimum(sizes, k - sizes)
    weights = 1 / (smaller * (smaller + 1.0))
    ways = gammaln(k + 1) - gammaln(sizes + 1) - gammaln(k - sizes + 1)
    factors = ways + np.log(weights.sum() / weights)
    below, above = counts[down].cumsum()[:-1], counts[up].cumsum()[:-1]
    tails = np.stack([bdtr(below, n, least), bdtrc(above - 1, n, most)])
    # A tail that underflows is taken for larger: there may be more sets than it is small.
    logs = np.log(np.maximum(tails, 1e-300)) + factors
    beyond = np.stack([n * least - below, above - n * most])
    place = np.unravel_index(logs.argmin(), logs.shape)
    reach = float(np.exp(factors[0])) * float(highest.min()) ** int(n)
    return _Found(float(beyond[place]), float(np.exp(min(0.0, logs[place]))), reach)


def _apart(counts: Ints, n: np.int64, chances: Floats) -> Floats:
    """In standard deviations; finite where a chance is 0 or 1, since it is an order alone."""
    spread = np.sqrt(np.maximum(n * chances * (1 - chances), 1e-12))
    return np.asarray((counts - n * chances) / spread)
