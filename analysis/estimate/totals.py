"""Numbers of people with an answer, and sums of their numbers, in a sample or a population.

A total is the population's size times an average. Its interval is that of the average with the
finite population correction (docs/methods.md, (34)). The correction applies only to the sampling
error: the noise of randomization is there even if everybody was asked. So the totals of the
respondents themselves are those of a population in which everybody was asked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.core.domain import Estimand
from analysis.estimate import Floats, Ints
from analysis.estimate.estimates import Estimate, shares_together
from analysis.estimate.intervals import (
    Interval,
    alone,
    bonferroni_level,
    finite_interval,
    student_interval,
)
from analysis.estimate.intervals.ratio import average_interval
from analysis.estimate.quantity import possible_share, supporting
from analysis.mechanisms.base import Mean, Share
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class PopulationTotal:
    """A count of people, or a sum of numbers over those who have one, in a finite population.

    Attributes
    ----------
    population : int or float
        The number of people. For a weighted sample it may be an estimate, and not whole.
    total : float, optional
        The unbiased estimate, which may be impossible; None if reports carry no information.
    total_error : float, optional
        Its standard error by sampling and randomization.
    total_low, total_high : float
        The interval, at the level of the quantity's other interval. Counts have whole numbers.
    total_method : str
        The method of the interval.
    """

    population: float
    total: float | None
    total_error: float | None
    total_low: float
    total_high: float
    total_method: str

    @classmethod
    def of(
        cls, people: float, average: float | None, error: float | None, interval: Interval
    ) -> "PopulationTotal":
        """Return `people` times an average; `interval` is that of the average."""
        return cls(
            people,
            None if average is None else people * average,
            None if error is None else people * error,
            people * interval.low,
            people * interval.high,
            interval.method,
        )

    def one_of(self, together: int) -> "PopulationTotal":
        """Return the total, named as one of several; see `Interval.one_of`."""
        interval = Interval(self.total_low, self.total_high, self.total_method).one_of(together)
        return replace(self, total_method=interval.method)


#: The term of the means of numbers and scores, the only ones whose sums have a meaning.
MEAN = "mean"
#: The columns that follow those of estimates if totals are asked for.
TOTAL_COLUMNS = tuple(field.name for field in fields(PopulationTotal))
#: The fields of quantities without a total.
_NO_TOTAL: dict[str, Any] = dict.fromkeys(TOTAL_COLUMNS)


def totals(
    survey: Survey,
    tallies: Mapping[str, Ints],
    rows: Iterable[Estimate],
    population: int | None = None,
) -> dict[tuple[str, str], PopulationTotal]:
    """Return totals by question and term: counts for shares, and sums for means of amounts.

    Quartiles, variances, mean ranks, ranges and changes have no totals. A count whose value each
    report either supports or not has an exact interval (`finite_interval`), whatever the method of
    shares. For texts, intervals of shares are multiplied, without the finite population correction.

    Parameters
    ----------
    survey, tallies
        The arguments of `estimates`.
    rows : iterable of Estimate
        The result of `estimates`. Each total has an interval of the same level.
    population : int, optional
        The size of the population of which the respondents are a simple random sample without
        replacement. By default, totals are those of the respondents themselves.

    Raises
    ------
    ValueError
        If the population is smaller than the number of respondents.

    References
    ----------
    Cochran, Sampling Techniques, 3rd edition 1977, sections 2.8 and 2.9; for the noise Chaudhuri,
    Randomized Response and Indirect Questioning Techniques in Surveys, 2011, chapter 5.
    """
    by_question: dict[str, list[Estimate]] = {}
    for row in rows:
        by_question.setdefault(row.question, []).append(row)
    found: dict[tuple[str, str], PopulationTotal] = {}
    for question in survey.questions:
        counts = tallies[question.id]
        respondents = question.randomizer.reports_in(counts)
        people = check_population(population, respondents)
        known = _of_question(question, counts, people)
        for row in by_question.get(question.id, ()):
            method, is_one = alone(row.conf_method)
            together = shares_together(question) if is_one else 1
            level = bonferroni_level(row.conf_level, together)
            total = known.total(replace(row, conf_method=method), level)
            if total is not None:
                found[row.question, row.term] = total.one_of(together)
    return found


def check_population(population: int | None, respondents: int) -> int:
    """Return a population's size, by default the number of respondents; or raise ValueError."""
    if population is None:
        return respondents
    if population < respondents:
        raise ValueError(
            f"population must be at least the {respondents:,} respondents who were drawn from it, "
            f"got {population:,}"
        )
    return population


def with_totals(
    rows: Iterable[dict[str, Any]], found: Mapping[tuple[str, str], PopulationTotal]
) -> list[dict[str, Any]]:
    """Return rows of the table of estimates with the columns of totals."""
    return [
        row | (_NO_TOTAL if total is None else asdict(total))
        for row in rows
        for total in [found.get((row["question"], row["term"]))]
    ]


@dataclass(frozen=True)
class _Known:
    """The totals of a question in a population of `people`, from its reports."""

    question: Question
    counts: Ints
    people: int
    #: For each term, the rule of its share, the support count, and the number of trials.
    shares: Mapping[str, tuple[Share, int, int]]
    means: Mapping[str, Mean]

    def total(self, row: Estimate, level: float) -> PopulationTotal | None:
        """Return the total of a quantity; None if it has none."""
        if row.term in self.shares:
            share, count, trials = self.shares[row.term]
            return count_total(share, count, trials, self.people, level)
        mean = self.means.get(row.term)
        if mean is not None and (row.term == MEAN or self.question.domain.is_share(row.term)):
            return self._of_mean(mean, row, level)
        if self.question.domain.estimand is Estimand.TEXTS:
            interval = Interval(row.conf_low, row.conf_high, row.conf_method)
            return PopulationTotal.of(self.people, row.estimate, row.std_error, interval)
        return None

    def _of_mean(self, mean: Mean, row: Estimate, level: float) -> PopulationTotal:
        counts, randomizer = self.counts, self.question.randomizer
        n = randomizer.reports_in(counts)
        second = None if mean.second is None or not n else mean.second(counts)
        low, width = float(mean.low), float(mean.width)
        scores, present = mean.floats
        is_share = mean.term != MEAN
        skips = not is_share and self.question.domain.no_answer
        squares = None if mean.squares is None else np.array(mean.squares, dtype=float)
        if squares is not None:
            # A person's square is that of low + width * place, or 0 without an answer.
            squares = low**2 * present + 2 * low * width * scores + width**2 * squares
        average = Average(
            counts.reshape(-1).astype(float),
            n,
            low * present + width * scores,
            squares,
            (min(0.0, low), max(0.0, low + width)) if skips else (low, low + width),
            second=second,
            rounding=width**2 * self._rounding,
            is_share=is_share,
        )
        return average.total(self.people, level, "few" in row.flag.split(";"))

    @property
    def _rounding(self) -> float:
        """The most that random rounding adds to the mean square of positions in 0..1."""
        domain = self.question.domain
        if domain.estimand is not Estimand.MEAN:
            return 0.0
        steps = self.question.randomizer.encoder.steps
        return 0.0 if steps == domain.steps else 1 / (4 * steps**2)


def _of_question(question: Question, counts: Ints, people: int) -> _Known:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    if domain.estimand is Estimand.TEXTS:
        return _Known(question, counts, people, {}, {})
    shares = mechanism.shares(randomizer, domain)
    supports, trials = shares.count(counts)
    return _Known(
        question,
        counts,
        people,
        {
            share.term: (share, int(support), int(chances))
            for share, support, chances in zip(shares.values, supports, trials, strict=True)
        },
        {mean.term: mean for mean in mechanism.means(randomizer, domain)},
    )


def count_total(
    share: Share, count: int, n: int, people: int, confidence_level: float
) -> PopulationTotal:
    """Return the number of `people` with a value that `count` of `n` reports support."""
    interval = finite_interval(count, n, people, *share.chances, confidence_level)
    ends = interval.low, interval.high, interval.method
    if n == 0:
        return PopulationTotal(people, None, None, *ends)
    estimate = share.estimate(count, n)
    likely = possible_share(estimate, n)
    # The sampling variance is that of the answers, reduced by the fraction that was asked.
    asked = likely * (1 - likely) / n * (n - 1) / max(1, people - 1)
    error = float(share.std_error(likely, n) ** 2 - asked) ** 0.5
    return PopulationTotal(people, people * estimate, people * error, *ends)


@dataclass(frozen=True)
class Average:
    """An average of amounts, or a share, for which each report has an unbiased score.

    Attributes
    ----------
    counts : (symbols,) array
        How often each symbol was reported.
    n : int
        The number of reports.
    scores : (symbols,) array
        Scores whose expectation is the respondent's amount. A report of several symbols has their
        sum.
    squares : (symbols,) array, optional
        Scores whose expectation is the square of the amount plus the variance of rounding, which is
        at most `rounding`; None if reports do not identify it.
    possible : pair of float
        The least and the largest possible average.
    second : (symbols, symbols) array, optional
        The averages of the products of one report's counts for two symbols, if reports count for
        several symbols.
    is_share : bool
        Whether it is a share. A mean of numbers that were rounded to two points looks like one.
    others : (symbols, values) array, optional
        The scores of all values of a share; see `supporting`.
    """

    counts: Floats
    n: int
    scores: Floats
    squares: Floats | None
    possible: tuple[float, float]
    second: Floats | None
    rounding: float
    is_share: bool
    others: Floats | None = None

    def total(self, people: int, confidence_level: float, few: bool) -> PopulationTotal:
        """Return the sum over `people`, with Student's interval, or with a wide one if `few`.

        A share that each report either supports or not has an exact interval.
        """
        simply = None
        if self.is_share and self.second is None:
            simply = supporting(self.scores, self.others)
        if simply is not None:
            supports, p, q = simply
            share, count = Share("", Fraction(p), Fraction(q)), round(self.counts[supports].sum())
            return count_total(share, count, self.n, people, confidence_level)
        low, high = self.possible
        if self.n < 2:
            average = float(self.counts @ self.scores) / self.n if self.n else None
            return PopulationTotal.of(people, average, None, Interval(low, high, "none"))
        average = float(self.counts @ self.scores) / self.n
        error = (self._variance(average, self.n / people) / (self.n - 1)) ** 0.5
        part, width = (average - low) / (high - low), high - low
        if few and self.second is None:
            scaled = (self.scores - low) / width
            interval = average_interval(scaled, part, self.n, confidence_level)
        elif error < 1e-9 * width:
            interval = Interval(0.0, 1.0, "none")
        else:
            interval = student_interval(part, error / width, self.n - 1, confidence_level)
        ends = low + width * interval.low, low + width * interval.high
        return PopulationTotal.of(people, average, error or None, Interval(*ends, interval.method))

    def _variance(self, average: float, asked: float) -> float:
        """Return the variance of a report's score if this fraction of the population was asked."""
        if self.second is None:
            square = float(self.counts @ self.scores**2) / self.n
        else:
            square = float(self.scores @ self.second @ self.scores)
        spread = max(0.0, square - average**2)
        noise = spread
        if self.squares is not None:
            noise = square - float(self.counts @ self.squares) / self.n + self.rounding
        # The noise is a part of the spread, so a larger estimate of the noise is not used.
        return (1 - asked) * spread + asked * (noise if 0 < noise < spread else spread)
