"""Estimates calibrated to known shares of the population, by answers that are noisy themselves.

Respondents differ from the population, since some groups answer more often. Margins are known
shares of the answers to some questions in the population. All estimates can be calibrated to them.
Let x(i) be the indicators of respondent i's true answers to these questions, X their averages in
the population, and y(i) a function of the answer to another question. Then

    A = mean of x x',   c = mean of x y,   B = A^-1 c,   estimate  X'B

is the regression estimator (docs/methods.md, (40)). It is also the average of w(i) y(i). The
weights w = X'A^-1 x make the average of w x equal to X (Deville and Särndal 1992, the linear case).
With one margin it is post-stratification: the sum of known shares times the averages within groups.

Nobody sees x or y. But A and c are averages of products of two questions' answers, which debiased
reports estimate without bias (`analysis.estimate.columns.together`). The weights themselves are
never known. A regression on the noisy reports would be attenuated, and would leave the bias in.

Intervals invert the score test: they hold a value R of a ratio if some B with X'B = 0 makes

    n g' V^-1 g,   g = mean of x (y - R z) - A B,   V the covariance of one report's g

at most the quantile of chi-square with one degree of freedom (Hansen, Heaton and Yaron 1996). With
one group that is Fieller's theorem. Where reports hardly show that a group exists, the interval is
wide, up to the whole possible range, and still has its coverage.
"""

from collections.abc import Sequence

import numpy as np

from analysis.core.domain import NO_ANSWER
from analysis.core.words import parts
from analysis.estimate import Floats
from analysis.estimate.calibration.margins import Margin
from analysis.estimate.calibration.score_test import Calibrated, Moments
from analysis.estimate.columns import Column
from analysis.estimate.columns.estimate import support_of
from analysis.estimate.columns.together import Seen, debiased_product
from analysis.estimate.intervals import FEW, Interval, check_level, share_interval
from analysis.estimate.quantity import Quantity, people_directly

__all__ = ["Calibrated", "Calibration", "Margin"]

#: With more groups of all margins together, no estimate would be precise enough to use.
MOST_GROUPS = 24
#: The covariance of products is not relied on alone if fewer reports support a value, or if fewer
#: do not support it.
RELIABLE = 100
#: The number of respondents who are read at once.
_AT_ONCE = 2**15


class Calibration:
    """The margins of a sample of respondents, to which estimates of other questions are calibrated.

    With several margins, all of their questions must be required. With one margin, respondents who
    skip its question are not counted; within a group, skipping must not depend on what is
    estimated. Estimates are consistent if, within each group of one margin, respondents are like
    people who did not answer the survey. With several margins, that must hold within each
    combination of groups. In addition, either the inverse of the probability of taking part, or the
    mean of what is estimated, must be a sum of terms, one for each margin.

    Parameters
    ----------
    margins : sequence of Margin
        Margins of different questions that the same respondents reported on, in the same order.

    Raises
    ------
    ValueError
        If there is no margin, or a question has two; if the margins have different respondents or
        too many groups; or if respondents are too few for the noise. The message then says how many
        it takes.

    References
    ----------
    Deville and Särndal, Journal of the American Statistical Association 1992; Hansen, Heaton and
    Yaron, Journal of Business and Economic Statistics 1996; Fieller, Journal of the Royal
    Statistical Society B 1954.
    """

    def __init__(self, margins: Sequence[Margin]) -> None:
        if not margins:
            raise ValueError("margins: expected known shares of a question at least, got none")
        columns = [margin.column for margin in margins]
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("margins: expected each question once, got one twice")
        if len({column.n for column in columns}) > 1:
            raise ValueError("margins: expected questions that the same people reported on")
        self.n = columns[0].n
        if self.n < 2:
            raise ValueError(f"margins: expected at least 2 respondents, got {self.n}")
        groups = sum(len(margin.known) for margin in margins)
        if groups > MOST_GROUPS:
            raise ValueError(f"margins: expected at most {MOST_GROUPS} groups in all, got {groups}")
        for margin in margins:
            if len(margins) > 1 and NO_ANSWER in margin.column.values:
                raise ValueError(
                    f"{margin.column.name}: with several margins, each question must be required, "
                    "since a respondent who skips it belongs to none of its groups"
                )
            margin.check_told()
        self._columns = columns
        # With one margin there is a regressor for each group. With several, the first group of each
        # is the reference.
        first = int(len(margins) > 1)
        self._groups = [
            (place, group)
            for place, margin in enumerate(margins)
            for group in range(first, len(margin.known))
        ]
        self._constant = bool(first)
        known = [margins[place].known[group] for place, group in self._groups]
        #: (regressors,) the averages of the regressors in the population.
        self.known = np.array([1.0] * first + known)

    def check_target(self, column: Column) -> None:
        """Raise ValueError unless a column has the same respondents and is not a margin."""
        if column.name in {margin.name for margin in self._columns}:
            raise ValueError(f"{column.name}: its shares are known, since it is one of the margins")
        if column.n != self.n:
            raise ValueError(
                f"{column.name}: expected the {self.n:,} respondents of the margins, got "
                f"{column.n:,}"
            )

    def ratio(
        self,
        column: Column,
        above: Floats,
        below: Floats,
        possible: tuple[float, float] = (0.0, 1.0),
        confidence_level: float = 0.95,
    ) -> "Calibrated":
        """Return the ratio of two calibrated averages of functions of a question's answers.

        Parameters
        ----------
        column : Column
            The reports on the question, which must pass `check_target`.
        above, below : (k,) arrays
            The functions of the values; `below` is all 1 for an average over everybody.
        possible : pair of float
            The least and the largest possible ratio.
        confidence_level : float
            In (0, 1).
        """
        self.check_target(column)
        check_level(confidence_level)
        moments = self._moments(column, np.column_stack([above, below]))
        return moments.calibrated(self.known, possible, confidence_level)

    def quantity(
        self, column: Column, value: int | None, confidence_level: float = 0.95
    ) -> Quantity:
        """Return the share of the value at a position, or the mean of the amounts if it is None."""
        k, low, width = len(column.values), 0.0, 1.0
        if value is None:
            amounts = np.array(column.amounts, dtype=np.float64)
            there = np.isfinite(amounts)
            low, width = float(amounts[there].min()), float(np.ptp(amounts[there]))
            above = np.where(there, (np.nan_to_num(amounts) - low) / width, 0.0)
            below, term = there.astype(float), "mean"
        else:
            above, below, term = np.eye(k)[value], np.ones(k), column.values[value]
        found = self.ratio(column, above, below, confidence_level=confidence_level)
        estimate, error, interval = found.estimate, found.std_error, found.interval
        if value is not None and estimate is not None and error:
            interval = _at_least_exact(column, value, estimate, error, interval, confidence_level)
        flags = ["out-of-range"] * (estimate is not None and not 0 <= estimate <= 1)
        flags += ["few"] * (self.n < FEW)
        wide = interval.high - interval.low >= 0.5
        flags += ["unreliable"] * (wide or interval.method == "none")
        n_eff = None
        if value is not None and estimate is not None and error:
            n_eff = people_directly(estimate, error, self.n)
        return Quantity(
            term,
            None if estimate is None else low + width * estimate,
            None if error is None else width * error,
            Interval(low + width * interval.low, low + width * interval.high, interval.method),
            n_eff,
            tuple(flags),
        )

    def _moments(self, column: Column, functions: Floats) -> "Moments":
        regressors, offset = len(self.known), int(self._constant)
        pairs = [
            (a, b)
            for a in range(regressors)
            for b in range(a, regressors)
            if a < offset or a == b or self._place(a) != self._place(b)
        ]
        size = 2 * regressors + len(pairs)
        total, squares = np.zeros(size), np.zeros((size, size))
        for part in parts(self.n, _AT_ONCE):
            rows = self._rows(column, functions, pairs, part)
            total += rows.sum(axis=0)
            squares += rows.T @ rows
        mean = total / self.n
        covariance = (squares / self.n - np.outer(mean, mean)) * (self.n / max(1, self.n - 1))
        return Moments(mean, covariance / self.n, np.array(pairs).T, regressors)

    def _place(self, regressor: int) -> int:
        return self._groups[regressor - int(self._constant)][0]

    def _rows(
        self, column: Column, functions: Floats, pairs: list[tuple[int, int]], part: slice
    ) -> Floats:
        """Return (n, size) the debiased x y, x z and x x' of all pairs, for each respondent."""
        offset = int(self._constant)
        columns = [each.of(np.arange(each.n)[part]) for each in self._columns]
        seen = [
            columns[place].seen(np.eye(len(columns[place].values))[:, [group]])
            for place, group in self._groups
        ]
        alone = [each.values for each in seen]
        target = column.of(np.arange(column.n)[part])
        rows = []
        for function in functions.T:
            of_target = target.seen(function[:, None])
            rows += [of_target.values] * offset
            rows += [debiased_product([each, of_target]) for each in seen]
        for a, b in pairs:
            rows.append(_product(a - offset, b - offset, seen, alone))
        n = columns[0].n
        return np.hstack([np.broadcast_to(row, (n, 1)) for row in rows])


def _at_least_exact(
    column: Column, value: int, estimate: float, error: float, interval: Interval, level: float
) -> Interval:
    """Return the interval, widened to Clopper and Pearson's where few reports decide.

    That is if few reports support a value, or few do not. Clopper and Pearson's interval is for the
    number of reports that would have this error. The covariance of few reports says too little
    about larger shares: with a share of 0.01, ε = 6 and 500 respondents, coverage was .85, not .95.
    """
    share, _ = support_of(column, value)
    if share is None:
        return interval
    p, q = share.chances
    possible = min(1.0, max(0.0, estimate))
    rate = q + (p - q) * possible
    reports = float(column.n)
    if 0 < rate < 1:
        reports *= min(1.0, (share.std_error(possible, column.n) / error) ** 2)
    if min(rate, 1 - rate) * reports >= RELIABLE:
        return interval
    exact = share_interval(rate * reports, reports, p, q, level)
    low, high = min(interval.low, exact.low), max(interval.high, exact.high)
    return Interval(low, high, interval.method)


def _product(a: int, b: int, seen: Sequence[Seen], alone: Sequence[Floats]) -> Floats:
    """Return the debiased product of two regressors, `a` <= `b`; -1 stands for the constant."""
    if b < 0:
        return np.ones((1, 1))
    return alone[b] if a < 0 or a == b else debiased_product([seen[a], seen[b]])
