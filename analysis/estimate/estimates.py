"""Estimates from the tallies of noisy reports, each with all that is needed to read it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.core.table import (
    MechanismName,
    QuestionId,
    QuestionKind,
    ReportEpsilon,
    Term,
    ValueLabel,
)
from analysis.estimate import Ints
from analysis.estimate.distribution import distribution
from analysis.estimate.distribution.ranges import tells_distribution
from analysis.estimate.intervals import Interval, bonferroni_level
from analysis.estimate.number import number_quantities
from analysis.estimate.quantity import Quantity, mean_quantity, share_quantity
from analysis.estimate.text import text_quantities
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Estimate:
    """One quantity of a question, in the columns of the table of estimates after `wave`.

    `estimate` is unbiased for shares and may lie outside [0, 1]. It is None if reports carry no
    information. If each report either supports a share's value or not, `std_error` is that of a
    binomial count at the estimate, or at the nearest share from 1 / (n + 2) to 1 - 1 / (n + 2). A
    number's mean is over those who answered, in its own unit. `n` counts all reports of the
    question, including no-answer. `n_eff` is the number of people who, if asked directly, would
    give the same standard error; None if that is not known. `epsilon` is that of one report. `flag`
    holds words joined by ``;``: ``out-of-range`` (the estimate is not a possible value),
    ``boundary`` (the usual interval has no possible value, so another was taken) and ``few``
    (reports are too few or too skewed for the approximation behind the interval). Texts also have
    ``detected`` and ``collisions`` (`analysis.estimate.text`).
    """

    question: QuestionId
    kind: QuestionKind
    term: Term
    label: ValueLabel
    estimate: Annotated[
        float | None,
        "Unbiased estimate, not clipped: a share can lie below 0 or above 1.",
    ]
    std_error: Annotated[float | None, "Standard error, including that of randomization."]
    conf_low: Annotated[float, "Lower end of the confidence interval."]
    conf_high: Annotated[float, "Upper end of the confidence interval."]
    conf_level: Annotated[float, "Confidence level."]
    conf_method: Annotated[str, "Method of the interval."]
    n: Annotated[int, "Reports on the question."]
    n_eff: Annotated[
        float | None,
        "Number of people who, asked directly, would give the same standard error.",
    ]
    epsilon: ReportEpsilon
    mechanism: MechanismName
    flag: Annotated[str, "Remarks, joined by semicolons."]

    @classmethod
    def of(cls, quantity: Quantity, level: float, label: str, **asked: Any) -> "Estimate":
        """Return the row of a quantity; `asked` has the fields that depend on its question."""
        return cls(
            term=quantity.term,
            label=label,
            estimate=quantity.value,
            std_error=quantity.std_error,
            conf_low=quantity.interval.low,
            conf_high=quantity.interval.high,
            conf_level=level,
            conf_method=quantity.interval.method,
            n_eff=quantity.n_eff,
            flag=";".join(quantity.flags),
            **asked,
        )

    @property
    def design_effect(self) -> float | None:
        """The variance divided by that of asking the same `n` people directly."""
        return None if self.n_eff is None else self.n / self.n_eff

    @property
    def direct_error(self) -> float | None:
        """The standard error of asking the same `n` people directly."""
        if self.std_error is None or self.n_eff is None or not self.n:
            return None
        return self.std_error * float(np.sqrt(self.n_eff / self.n))


#: The columns of the table of estimates that other programs read.
ESTIMATE_COLUMNS = ("survey", "version", "wave", *(field.name for field in fields(Estimate)))


def estimate_rows(
    survey: str, version: str | None, wave: int | None, rows: Iterable[Estimate]
) -> list[dict[str, Any]]:
    """Return estimates as dicts that begin with their survey, version and wave (or None)."""
    where = {"survey": survey, "version": version, "wave": wave}
    return [{**where, **asdict(row)} for row in rows]


def estimates(
    survey: Survey,
    tallies: Mapping[str, Ints],
    confidence_level: float = 0.95,
    *,
    method: str = "clopper-pearson",
    simultaneous: bool = False,
    spread: bool = True,
) -> list[Estimate]:
    """Return every quantity of every question, in the survey's order.

    Parameters
    ----------
    survey : Survey
        The version that the reports belong to.
    tallies : mapping
        For each question's id, a (cohorts, symbols) array: how many reports of each cohort, or of
        all if there are none, count for each symbol.
    confidence_level : float
        The level of each single interval, in (0, 1).
    method : str
        The method of intervals of shares whose values each report either supports or not: one of
        `analysis.estimate.intervals.INTERVALS`.
    simultaneous : bool
        Whether the level is that of all shares of a question together (Bonferroni: each of k misses
        a k-th as often). `conf_method` then ends in ``-bonferroni``. This does not apply to means,
        or to the texts of questions without candidates, which have wider intervals anyway.
    spread : bool
        Whether to estimate the variance and the quartiles of numbers, which takes the longest.

    Raises
    ------
    ValueError
        If the method is unknown, or the level is not in (0, 1).
    """
    rows: list[Estimate] = []
    for question in survey.questions:
        counts = tallies[question.id]
        together = shares_together(question) if simultaneous else 1
        labels = {"mean": "Mean", **survey.labels(question)}
        asked = _asked(question, counts)
        rows += [
            Estimate.of(
                quantity, confidence_level, quantity.label or labels[quantity.term], **asked
            )
            for quantity in _quantities(
                question, counts, confidence_level, method, together, spread
            )
        ]
    return rows


def without_ranges(questions: Sequence[Question]) -> list[str]:
    """Return reasons why distributions of numbers are not shown: a sentence for each mechanism.

    The list is empty if all are shown. Questions without a number have none.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for question in questions:
        mechanism, randomizer = question.mechanism, question.randomizer
        if question.domain.estimand is not Estimand.MEAN:
            continue
        if not tells_distribution(randomizer, question.domain):
            why = "rounds numbers to the ends of their range here: reports show the mean alone"
        elif not mechanism.shows_ranges(randomizer):
            why = (
                "adds so much noise here that the picture would be far flatter than the truth; "
                "variance and quartiles are valid"
            )
        else:
            continue
        alike.setdefault((mechanism.name, why), []).append(f'"{question.id}"')
    return [
        f"question{'s' * (len(ids) > 1)} {', '.join(ids)}: no ranges: {name} {why}; "
        'mechanism = "square-wave" can show a distribution, and check prints its price'
        for (name, why), ids in alike.items()
    ]


def range_estimates(
    question: Question, counts: Ints, bins: int, rng: Generator, confidence_level: float = 0.95
) -> list[Estimate]:
    """Return the smoothed distribution of a number for display: a row for each range ``[a,b)``.

    There are no rows if the question has no number, or if reports do not show its distribution
    (`without_ranges`).

    Parameters
    ----------
    question : Question
        A question of any version of the survey.
    counts : (1, symbols) array
        Its tally.
    bins, rng, confidence_level
        See `distribution`.
    """
    randomizer, domain = question.randomizer, question.domain
    if domain.estimand is not Estimand.MEAN or without_ranges([question]):
        return []
    ranges = distribution(randomizer, domain, counts, bins, rng, confidence_level=confidence_level)
    asked = _asked(question, counts)
    rows = []
    for part in ranges:
        interval = Interval(part.conf_low, part.conf_high, part.conf_method)
        quantity = Quantity(part.term, part.estimate, None, interval, None, (part.flag,))
        rows.append(Estimate.of(quantity, confidence_level, part.term, **asked))
    return rows


def _asked(question: Question, counts: Ints) -> dict[str, Any]:
    """Return the fields of `Estimate` that all quantities of a question share."""
    return {
        "question": question.id,
        "kind": question.spec["kind"],
        "n": question.randomizer.asked_in(counts),
        "epsilon": question.randomizer.epsilon,
        "mechanism": question.mechanism.name,
    }


def shares_together(question: Question) -> int:
    """Return the number of shares with simultaneous intervals: all of a question, if known."""
    domain = question.domain
    if domain.estimand is Estimand.TEXTS:
        return 1 if domain.is_open else len(domain.terms) + domain.no_answer
    shares = question.mechanism.shares(question.randomizer, domain).values
    means = question.mechanism.means(question.randomizer, domain)
    return max(1, len(shares) + sum(domain.is_share(mean.term) for mean in means))


def _quantities(
    question: Question, counts: Ints, level: float, method: str, together: int, spread: bool
) -> list[Quantity]:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    n = randomizer.reports_in(counts)
    single_level = bonferroni_level(level, together)
    if domain.estimand is Estimand.TEXTS:
        texts = _latest(text_quantities, (randomizer, domain), counts, single_level)
        return [quantity.one_of(together) for quantity in texts]
    shares = mechanism.shares(randomizer, domain)
    supports, trials = shares.count(counts)
    quantities = [
        mean_quantity(mean, counts, n, single_level).one_of(together)
        if domain.is_share(mean.term)
        else mean_quantity(mean, counts, n, level)
        for mean in mechanism.means(randomizer, domain)
    ]
    if domain.estimand is Estimand.MEAN and spread:
        quantities += _latest(number_quantities, (mechanism, randomizer, domain), counts, level)
    return quantities + [
        share_quantity(share, int(support), int(chances), single_level, method).one_of(together)
        for share, support, chances in zip(shares.values, supports, trials, strict=True)
    ]


def _latest(
    estimate: Callable[..., list[Quantity]], parts: tuple[Any, ...], counts: Ints, level: float
) -> tuple[Quantity, ...]:
    """Return `estimate` of a tally. The latest results are kept, since each can take seconds."""
    cells = np.ascontiguousarray(counts, dtype=np.int64)
    return _remembered(estimate, parts, cells.tobytes(), cells.shape, level)


@lru_cache(maxsize=96)
def _remembered(
    estimate: Callable[..., list[Quantity]],
    parts: tuple[Any, ...],
    cells: bytes,
    shape: tuple[int, ...],
    level: float,
) -> tuple[Quantity, ...]:
    return tuple(estimate(*parts, np.frombuffer(cells, dtype=np.int64).reshape(shape), level))
