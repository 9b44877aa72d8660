"""Whether stored reports look like the output of their questions' channels.

Fake reports of a script that does not draw like the channel shift statistics that no answers can
shift. Fakes that are drawn from the channel, or whose counts some answers would explain, are like
any other reports. Nothing can find them; `analysis.estimate.poisoning` says how much they can
change. Each check is valid for any population, even of fixed answers: genuine reports look as
extreme as these with at most the probability `p_value`. Chi-square uses its usual approximation,
from 5 expected reports on.

The number of ones of a unary encoding reveals fakes that set all bits. So the attackers of Cao, Jia
and Gong (USENIX Security 2021) set the expected number of bits, which the distribution of that
number reveals.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, chdtrc, gammaln

from analysis.estimate import Floats, Ints
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: Reports with a p-value below this are called unlike the channel. There is one false alarm in
#: 10,000 checks of honest reports. So a survey of some dozen questions seldom has one if it is
#: checked rarely.
UNLIKELY = 1e-4
#: The words for such reports.
UNLIKE = "unlike the channel"
#: The least expected count of a class in a chi-square test (Cochran, Biometrics 1954).
_EXPECTED = 5
#: Sets of symbols are not tried with larger tables of weights, since that would take over half a
#: second.
_MOST_WEIGHTS = 2**20


@dataclass(frozen=True)
class Plausibility:
    """A check of one question's reports.

    `check` is ``cohorts`` (whether they are drawn uniformly), ``symbols`` (whether some answers
    explain the number of reports that count for each symbol) or ``weights`` (whether some answers
    explain the number of ones in each report).

    The `statistic` of ``cohorts``, and that of ``weights`` if all inputs have the same number of
    ones, is chi-square. Otherwise it is the excess of the least plausible count over the largest
    expectation that answers explain, in reports. It is negative if there is no excess.

    `p_value` takes all counts of the check into account, but not several checks. `looks` is
    ``unlike the channel`` if it is below 1e-4, ``too few`` if even `n` equal reports would not be
    unlike the channel, and ``as drawn`` otherwise.
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
class _Test:
    """A statistic, its p-value, and the `least` p-value, which as many equal reports would have."""

    statistic: float
    p_value: float
    least: float


def plausibility(
    survey: Survey, tallies: Mapping[str, Ints], sizes: Mapping[str, Ints] | None = None
) -> list[Plausibility]:
    """Return the checks of every question, in the survey's order.

    Parameters
    ----------
    survey, tallies
        The arguments of `analysis.estimate.estimates.estimates`.
    sizes : mapping, optional
        The result of `sizes_of`. Without it there is no check ``weights``.
    """
    sizes = sizes or {}
    rows: list[Plausibility] = []
    for question in survey.questions:
        tally, randomizer = tallies[question.id], question.randomizer
        members = np.array([randomizer.channel.reports_in(cohort) for cohort in tally])
        tests = {"symbols": (_symbols(question, tally, members), members.sum())}
        if len(members) > 1:
            uniform = np.full(len(members), 1 / len(members))
            tests = {"cohorts": (_fit(members, uniform), members.sum()), **tests}
        if question.id in sizes:
            counts = sizes[question.id]
            tests["weights"] = _weights(question, counts), counts.sum()
        for check, (test, n) in tests.items():
            looks = UNLIKE if test.p_value < UNLIKELY else "as drawn"
            if not n or test.least >= UNLIKELY:
                looks = "too few"
            p_value = min(1.0, test.p_value)
            rows.append(Plausibility(question.id, check, test.statistic, p_value, int(n), looks))
    return rows


def sizes_of(survey: Survey, reports: Iterable[Mapping[str, Any]]) -> dict[str, Ints]:
    """Return how many reports count for 0, 1, 2, ... symbols, as (symbols + 1,) arrays.

    The result has each question where that number can differ.

    Parameters
    ----------
    survey : Survey
        The version that the reports belong to.
    reports : iterable of mappings
        Each respondent's ``{question id: report}`` as it was sent. All are read at once.
    """
    sent = list(reports)
    sizes = {}
    for question in survey.questions:
        randomizer = question.randomizer
        if randomizer.channel.size_chances(1) is not None:
            read = randomizer.read_many([answered[question.id] for answered in sent])
            counts = randomizer.sizes_many(read)
            assert counts is not None
            sizes[question.id] = counts
    return sizes


def _weights(question: Question, counts: Ints) -> _Test:
    """Test the number of ones of reports, whose inputs have 1 to `most` ones.

    "None" and no-answer have a bit each. If only some people are asked the question, the test is of
    the number of those who are asked, which is the same for all inputs.
    """
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    most = max((max(pair) for pair in encoder.apart), default=1)
    laws = [channel.size_chances(ones) for ones in range(1, most + 1)]
    return _fit(counts, laws[0]) if most == 1 else _mixed(counts, most, lambda law: laws[law])


def _symbols(question: Question, tally: Ints, members: Ints) -> _Test:
    """Test up to three families of counts (Bonferroni): all cohorts, each cohort, support."""
    channel, n = question.randomizer.channel, members.sum()
    pooled, (least, most) = tally.sum(axis=0), channel.bounds()
    if channel.gives_one_symbol and channel.inputs * channel.symbols <= _MOST_WEIGHTS:
        total = sum(channel.weights(0))

        def law(symbol: int) -> Floats:
            return np.asarray(np.array(channel.weights(symbol), dtype=float) / total)

        tests = [_mixed(pooled, channel.inputs, law)]
    else:
        # A symbol for which every report counts carries no information.
        telling = least < 1
        tests = [_single(pooled[telling], n, least[telling], most[telling])]
    if len(members) > 1:
        tests.append(_single(tally, members[:, None], least, most))
        # A value's reports are spread over the cohorts, each of which has a symbol for it.
        shares = question.mechanism.shares(question.randomizer, question.domain)
        ends = np.array([sorted((share.q, share.p)) for share in shares.values], dtype=float)
        if len(ends):
            tests.append(_single(*shares.count(tally), *ends.T))
    best, least_p = min(tests, key=lambda test: test.p_value), min(test.least for test in tests)
    return _Test(best.statistic, len(tests) * best.p_value, len(tests) * least_p)


def _fit(counts: Ints, chances: Floats) -> _Test:
    """Test counts with a known law, by chi-square over merged neighbors and by single counts.

    Chi-square shows many small deviations, but not a few equal reports among many classes. So each
    single count is also compared with its binomial distribution. The p-value is doubled for that.
    """
    n = counts.sum()
    groups, expected = [0], 0.0
    for size, mean in enumerate((n * chances).tolist()):
        if expected >= _EXPECTED:
            groups.append(size)
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
    return _Test(statistic, 2 * min(fits, single), least)


def _single(counts: Ints, n: Ints, least: Floats, most: Floats) -> _Test:
    """Test counts to which each of `n` reports adds with a probability from `least` to `most`.

    Whatever these probabilities are, such a count is stochastically at most binomial with `most`,
    and at least binomial with `least`. So both tails are bounds. All arrays are broadcast to one
    shape.
    """
    above, below = bdtrc(counts - 1, n, most), bdtr(counts, n, least)
    tails = np.stack([above, below])
    beyond = np.stack([counts - n * most, n * least - counts])
    worst = np.unravel_index(tails.argmin(), tails.shape)
    reach = float((np.minimum(most, 1 - least) ** n).min())
    return _Test(float(beyond[worst]), tails.size * float(tails[worst]), tails.size * reach)


def _mixed(counts: Ints, laws: int, law: Callable[[int], Floats]) -> _Test:
    """Test counts of reports, each of which has one of these laws, whichever it is.

    The number of reports in a set of symbols is bounded as in `_single`. Fakes may push a few
    symbols above what is possible, or all but a few below it. So the test tries sets to which
    symbols are added one by one, the most conspicuous first. Since the counts choose these sets,
    the p-value is multiplied by the number of all sets of that size, and of sizes m and k - m,
    weighted by 1 / m(m+1).
    """
    n, k = counts.sum(), len(counts)
    lowest, highest = law(0), law(0)
    for row in map(law, range(1, laws)):
        lowest, highest = np.minimum(lowest, row), np.maximum(highest, row)
    down, up = np.argsort(_apart(counts, n, lowest)), np.argsort(-_apart(counts, n, highest))
    least, most = np.ones(k - 1), np.zeros(k - 1)
    for row in map(law, range(laws)):
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
    # A tail that underflows is replaced by a larger one, since there may be very many sets.
    logs = np.log(np.maximum(tails, 1e-300)) + factors
    beyond = np.stack([n * least - below, above - n * most])
    worst = np.unravel_index(logs.argmin(), logs.shape)
    reach = float(np.exp(factors[0])) * float(highest.min()) ** int(n)
    return _Test(float(beyond[worst]), float(np.exp(min(0.0, logs[worst]))), reach)


def _apart(counts: Ints, n: np.int64, chances: Floats) -> Floats:
    """Return deviations in standard deviations, finite even if a probability is 0 or 1."""
    spread = np.sqrt(np.maximum(n * chances * (1 - chances), 1e-12))
    return np.asarray((counts - n * chances) / spread)
