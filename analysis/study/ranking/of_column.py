"""Comparisons of all pairs of a column's answers, for data that no collector tallied.

The expected difference of two answers' debiased reports is the difference of their shares. In some
designs it has only one value a above 0 and one value -b below 0: in all designs of two reports, and
in those of equal probabilities. Then a binomial test shows whether the first answer is more
frequent. If it is not, at most the fraction b / (a + b) of the reports that are not indifferent is
for the first. The test is exact for any number of reports, and for a = b it is the sign test.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtri, stdtr

from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import Sample, effective_size
from analysis.estimate.intervals import FEW
from analysis.study.ranking.pairs import Compared

Array = NDArray[np.float64]

#: Differences of scores within this fraction of the largest count as equal.
_ALIKE = 1e-9
#: A mean counts as normal if one report moves it by at most this many standard errors, and if the
#: number of reports exceeds this multiple of the squared skewness (docs/methods.md, (13)).
_MOVES, _COCHRAN = 0.3, 25
#: The names of tests. A column has that of its least simple pair.
_SIGN, _BINOMIAL, _MEAN = range(3)
_METHODS = ("sign", "binomial", "normal")
_OF_SAMPLES = ("scaled-binomial", "scaled-binomial", "student-t")


def column_compared(column: Column, sample: Sample | None) -> Compared:
    """Compare all pairs of a column's answers; see docs/methods.md, (45).

    Raises
    ------
    ValueError
        If the column has fewer than two answers, or no reports.
    """
    terms = list(column.answers)
    if len(terms) < 2 or not column.n:
        raise ValueError(
            f"{column.name}: ranks need two answers or more and a report, got {len(terms)} answers "
            f"and {column.n} reports"
        )
    scores = column.scores[:, [column.values.index(term) for term in terms]]
    weights = np.ones(column.n) if sample is None else sample.weights
    estimates = column.counts(weights) @ scores / weights.sum()
    p_values, kinds, few = np.ones((len(terms), len(terms))), [_SIGN], False
    for i, j in zip(*np.nonzero(np.subtract.outer(estimates, estimates) > 0), strict=True):
        apart = scores[:, i] - scores[:, j]
        apart[np.abs(apart) <= _ALIKE * np.abs(apart).max()] = 0.0
        chance = _chance_of_two(apart)
        if sample is not None:
            tested = _of_sample(apart[column.codes], chance, sample)
        elif chance is not None:
            counts = column.counts()
            first, either = counts[apart > 0].sum(), counts[apart != 0].sum()
            tested = _at_least(first, either, chance), False
        else:
            tested = _of_mean(column.counts(), apart)
        p_values[i, j], rough = tested
        few |= rough
        kinds.append(_MEAN if chance is None else _SIGN if chance == 1 / 2 else _BINOMIAL)
    kind = max(kinds)
    few |= kind == _MEAN and column.n < FEW
    return Compared(
        terms,
        np.asarray(estimates),
        p_values,
        (_METHODS if sample is None else _OF_SAMPLES)[kind],
        multinomial=kind == _SIGN and sample is None and _names_one(scores),
        n=column.n,
        few=few or (sample is not None and sample.has_few_clusters),
    )


def _chance_of_two(apart: Array) -> float | None:
    """Return b / (a + b) if all differences are a, 0 or -b; None otherwise."""
    above, below = apart[apart > 0], apart[apart < 0]
    if not (len(above) and len(below)):
        return None
    least = _ALIKE * np.abs(apart).max()
    if np.ptp(above) > least or np.ptp(below) > least:
        return None
    a, b = float(above[0]), -float(below[0])
    return 1 / 2 if abs(a - b) <= least else b / (a + b)


def _names_one(scores: Array) -> bool:
    """Return whether each report is for one answer, and equally against all others."""
    if len(scores) != scores.shape[1]:
        return False
    p, q = scores.max(), scores.min()
    return bool(np.allclose(np.sort(scores, axis=1)[:, :-1], q) and np.allclose(scores.max(1), p))


def _at_least(often: float, trials: float, chance: float) -> float:
    """Return the upper tail probability of a binomial; neither number need be whole."""
    return 1.0 if often <= 0 else float(betainc(often, trials - often + 1, chance))


def _of_mean(counts: Array, apart: Array) -> tuple[float, bool]:
    """Return the p-value of a mean of at most 0, and whether reports are few for a normal mean.

    With few reports it is at least that of the law of largest variance between the least and the
    largest score.
    """
    n = counts.sum()
    mean = counts @ apart / n
    moved = apart - mean
    spread = counts @ moved**2 / n
    if n < 2 or spread <= 0:
        return 1.0, True
    error = (spread / (n - 1)) ** 0.5
    p_value = float(stdtr(n - 1, -mean / error))
    skewness = counts @ moved**3 / n / spread**1.5
    few = n < _COCHRAN * skewness**2 or np.abs(moved).max() > _MOVES * n * error
    if few:
        low, high = apart.min(), apart.max()
        often = n * (mean - low) / (high - low)
        p_value = max(p_value, _at_least(often, n, -low / (high - low)))
    return p_value, bool(few)


def _of_sample(own: Array, chance: float | None, sample: Sample) -> tuple[float, bool]:
    """Return the p-value in the population from which the sample was drawn.

    `own` (n,) are respondents' differences. A binomial test takes the number of reports that has
    the variance of the fraction for the first (Korn and Graubard, Survey Methodology 1998). There
    is no finite population correction.
    """
    told = own != 0
    if chance is None or not told.any():
        mean = float(sample.weights @ own / sample.weights.sum())
        variance = sample.variance_of_scores(own - mean)
        if variance <= 0:
            return 1.0, True
        return float(stdtr(sample.freedom, -mean / variance**0.5)), sample.is_few(own - mean)
    first, either = (own > 0).astype(np.float64), told.astype(np.float64)
    part, _ = sample.ratio(first, either, np.zeros(len(own)))
    _, variance = sample.ratio(first, either, (first - part * either) ** 2)
    # If all are alike, which shows no variance, they count as the number of independent ones.
    people = min(effective_size(sample.weights[told]), len(np.unique(sample.clusters[told])))
    if variance > 0 and 0 < part < 1:
        people = part * (1 - part) / variance
    people = min(max(people, 1.0), float(told.sum()))
    tail = _at_least(part * people, people, chance)
    if 0 < tail < 1:
        # With few clusters there are few degrees of freedom.
        tail = float(stdtr(sample.freedom, ndtri(tail)))
    return tail, False
