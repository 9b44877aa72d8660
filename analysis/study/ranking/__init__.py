"""The ranks that a question's answers can have, and whether the first by estimate is the first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Ints
from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import Sample
from analysis.estimate.intervals import check_level
from analysis.study.ranking.of_column import column_compared
from analysis.study.ranking.pairs import Compared, compared
from analysis.survey.survey import Survey

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rank:
    """The rank of an answer among all answers to its question except no-answer; 1 is the first.

    `order` is the rank of the unbiased `estimate`. `rank_low` and `rank_high` are the ends of the
    ranks that the true share can have. All intervals of a question cover together at `conf_level`.
    Answers with equal shares have all ranks that any order gives them.

    `p_first`, which only the first by estimate has, is the p-value of the hypothesis that another
    answer is as frequent. `is_first` is whether `p_first` is at most 1 - `conf_level`, or
    `rank_high` is 1. Since `p_first` is about this question alone, and not about all ranks
    together, it can show more than `rank_high`. `conf_method` is ``sign`` (exact, or conservative)
    or ``normal``, which has the flag ``few`` with fewer than 100 reports. For a column it can be
    ``binomial``, which is exact, too. With a sample it is ``scaled-binomial`` or ``student-t``,
    flagged ``few`` below 10 degrees of freedom.
    """

    question: str
    term: str
    label: str
    estimate: float
    order: int
    rank_low: int
    rank_high: int
    conf_level: float
    conf_method: str
    is_first: bool
    p_first: float | None
    n: int
    flag: str


def ranks(
    survey: Survey, tallies: Mapping[str, Ints], confidence_level: float = 0.95
) -> list[Rank]:
    """Return the ranks of the answers to all questions, sorted by their order in each question.

    A question has no ranks if its reports do not give shares of two or more answers. That is so for
    numbers, texts and rankings, and for questions without reports.

    Parameters
    ----------
    survey, tallies
        The arguments of `analysis.estimate.estimates.estimates`.
    confidence_level : float
        The level of all ranks of a question together, in (0, 1).

    Raises
    ------
    ValueError
        If the level is not in (0, 1).

    References
    ----------
    Klein, Wright and Wieczorek, JRSS A 2020, and Mogstad, Romano, Shaikh and Wilhelm, Review of
    Economic Studies 2024 (ranks from simultaneous comparisons of all pairs); Holm, Scandinavian
    Journal of Statistics 1979, and Shaffer, JASA 1986 (step-down tests with logical implications);
    Hung and Fithian, Annals of Statistics 2019 (the first of a multinomial).
    """
    check_level(confidence_level)
    rows: list[Rank] = []
    for question in survey.questions:
        told = compared(question, tallies[question.id])
        if told is not None:
            rows += _ranks(question.id, told, survey.labels(question), confidence_level)
    return rows


def column_ranks(
    column: Column, confidence_level: float = 0.95, sample: Sample | None = None
) -> list[Rank]:
    """Return the ranks of a column's answers, sorted by their order, for data from elsewhere.

    With a `sample`, they are those of the population from which it was drawn. A finite population
    does not make ranks narrower, since errors are those of a large population.

    Parameters
    ----------
    column : Column
        The reports of at least one respondent on at least two answers.
    confidence_level : float
        The level of all ranks together, in (0, 1).
    sample : Sample, optional
        How respondents were drawn; by default, one by one.

    Raises
    ------
    ValueError
        If the level is not in (0, 1), if there is no report, or if there is only one answer.

    References
    ----------
    docs/methods.md, (45), and the references of `ranks`.
    """
    check_level(confidence_level)
    told = column_compared(column, sample)
    return _ranks(column.name, told, {term: term for term in told.terms}, confidence_level)


def sentence(rows: Sequence[Rank]) -> str:
    """Return a sentence on the first answer, from one question's ranks; empty without ranks."""
    if not rows:
        return ""
    first = rows[0]
    more, level = "most" if len(rows) > 2 else "more", f"{100 * first.conf_level:g} %"
    if first.is_first:
        p_first = first.p_first or 0.0
        chance = "p < 0.0001" if p_first < 1e-4 else f"p = {p_first:.2g}"
        return f"With {level} confidence “{first.label}” is the {more} frequent answer ({chance})."
    possible = sum(row.rank_low == 1 for row in rows)
    if first.rank_high < len(rows):
        return (
            f"“{first.label}” has the largest estimate. With {level} confidence it is among the "
            f"first {first.rank_high} of {len(rows)}, and one of {possible} answers that can be "
            f"the {more} frequent."
        )
    if possible < len(rows):
        return (
            f"“{first.label}” has the largest estimate, but with {level} confidence any of "
            f"{possible} answers can be the {more} frequent."
        )
    return (
        f"The reports do not show which answer is the {more} frequent: with {level} confidence it "
        "can be any of them."
    )


def _ranks(question: str, told: Compared, labels: Mapping[str, str], level: float) -> list[Rank]:
    k, estimates = len(told.terms), told.estimates
    above = surely_above(told.p_values, 1 - level)
    orders = [1 + int((estimates > share).sum()) for share in estimates]
    first = int(np.argmax(estimates))
    nearest = float(np.delete(told.p_values[first], first).max())
    p_first = min(1.0, (2 if told.multinomial else k) * nearest)
    flag = "few" if told.few else ""
    rows = [
        Rank(
            question=question,
            term=term,
            label=labels[term],
            estimate=float(estimates[place]),
            order=orders[place],
            rank_low=1 + int(above[:, place].sum()),
            rank_high=k - int(above[place].sum()),
            conf_level=level,
            conf_method=told.method,
            is_first=k - int(above[place].sum()) == 1 or (place == first and p_first <= 1 - level),
            p_first=p_first if orders[place] == 1 else None,
            n=told.n,
            flag=flag,
        )
        for place, term in enumerate(told.terms)
    ]
    return sorted(rows, key=lambda row: row.order)


def surely_above(p_values: Array, alpha: float) -> NDArray[np.bool_]:
    """Return (k, k) whether a value is more frequent than another, with familywise error `alpha`.

    See docs/methods.md, (45).

    Hypotheses that i is no more frequent than j are rejected in steps. Rejections imply others: if
    i is above j, and j is above h, then i is above h. With each step fewer hypotheses can be true,
    since the number of differing pairs must be possible for some groups of equal values (Shaffer).
    """
    k = len(p_values)
    differing = _numbers_of_differing_pairs(k)
    above = np.zeros((k, k), dtype=np.bool_)
    for _ in range(k * k):
        fewest = min(number for number in differing if number >= above.sum())
        found = above | (p_values * (k * (k - 1) - fewest) <= alpha)
        for middle in range(k):
            found |= np.outer(found[:, middle], found[middle])
        # A cycle can only come from errors. Then nothing is known.
        if found.diagonal().any():
            return np.zeros((k, k), dtype=np.bool_)
        if (found == above).all():
            break
        above = found
    return above


def _numbers_of_differing_pairs(k: int) -> set[int]:
    """Return the possible numbers of differing pairs of k values, over groups of equal values."""
    squares = [{0}]
    for size in range(1, k + 1):
        squares.append({s + a * a for a in range(1, size + 1) for s in squares[size - a]})
    return {(k * k - total) // 2 for total in squares[k]}
