"""From the tallies of noisy reports to estimates, each with all that is needed to read it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Estimand
from analysis.estimate.number import number_quantities
from analysis.estimate.quantity import Quantity, mean_quantity, share_quantity
from analysis.estimate.text import text_quantities
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Estimate:
    """One quantity of a question; the columns of the table of estimates after `wave`.

    `estimate` is unbiased for shares and may lie outside [0, 1]; it is None where the reports tell
    nothing. A number's mean is over those who answered, in its own unit. `n` counts all reports of
    the question, no-answer included; `n_eff` is how many people asked directly would give the same
    standard error; None if that cannot be told. `epsilon` is that of one report. `flag` holds words
    joined by ``;``: ``out-of-range`` (the estimate is no possible value), ``boundary`` (nor is any
    in the usual interval; another was taken) and ``few`` (too few reports, or too skewed ones, for
    the approximation behind the interval); of texts also ``detected`` and ``collisions``
    (`analysis.estimate.text`).
    """

    question: str
    kind: str
    term: str
    label: str
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    n: int
    n_eff: float | None
    epsilon: float
    mechanism: str
    flag: str

    @property
    def design_effect(self) -> float | None:
        """The variance as a multiple of what asking the same `n` people directly would give."""
        return None if self.n_eff is None else self.n / self.n_eff


#: The columns of the table of estimates that other programs read.
ESTIMATE_COLUMNS = ("survey", "version", "wave", *(field.name for field in fields(Estimate)))


def estimate_rows(
    survey: str, version: str | None, wave: int | None, rows: Iterable[Estimate]
) -> list[dict[str, Any]]:
    """Estimates with the survey, version and wave that they are of in front; None for none."""
    where = {"survey": survey, "version": version, "wave": wave}
    return [{**where, **asdict(row)} for row in rows]


def estimates(
    survey: Survey,
    tallies: Mapping[str, NDArray[np.int64]],
    confidence_level: float = 0.95,
    *,
    method: str = "clopper-pearson",
    simultaneous: bool = False,
) -> list[Estimate]:
    """Every quantity of every question, in the survey's order.

    Parameters
    ----------
    survey : Survey
        The version that the reports belong to.
    tallies : mapping
        For each question's id the (cohorts, symbols) array of how many reports of each cohort,
        or of all, count for each symbol.
    confidence_level : float
        Of every interval by itself, in (0, 1).
    method : str
        Of the intervals of shares that reports simply support or not: one of
        `analysis.estimate.intervals.INTERVALS`.
    simultaneous : bool
        Whether the level is that of all shares of a question together (Bonferroni: each of k misses
        a k-th as often); `conf_method` then ends in ``-bonferroni``. Means are left out of it, and
        texts without candidates, of which those that are found have wider intervals anyway.

    Raises
    ------
    ValueError
        If there is no such method, or no such level.
    """
    rows: list[Estimate] = []
    for question in survey.questions:
        counts = tallies[question.id]
        n = question.randomizer.reports_in(counts)
        together = _together(question) if simultaneous else 1
        labels = {"mean": "Mean", **survey.labels(question)}
        rows += [
            Estimate(
                question=question.id,
                kind=question.spec["kind"],
                term=quantity.term,
                label=quantity.label or labels[quantity.term],
                estimate=quantity.value,
                std_error=quantity.std_error,
                conf_low=quantity.interval.low,
                conf_high=quantity.interval.high,
                conf_level=confidence_level,
                conf_method=quantity.interval.method,
                n=n,
                n_eff=quantity.n_eff,
                epsilon=question.randomizer.epsilon,
                mechanism=question.mechanism.name,
                flag=";".join(quantity.flags),
            )
            for quantity in _quantities(question, counts, n, confidence_level, method, together)
        ]
    return rows


def _together(question: Question) -> int:
    """Of how many shares intervals can be simultaneous: all of the question, if they are known."""
    domain = question.domain
    if domain.estimand is Estimand.TEXTS:
        return 1 if domain.is_open else len(domain.terms) + domain.no_answer
    shares = question.mechanism.shares(question.randomizer, domain).values
    means = question.mechanism.means(question.randomizer, domain)
    return max(1, len(shares) + sum(mean.is_share for mean in means))


def _quantities(
    question: Question,
    counts: NDArray[np.int64],
    n: int,
    level: float,
    method: str,
    together: int,
) -> list[Quantity]:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    own = level if together == 1 else 1 - (1 - level) / together
    if domain.estimand is Estimand.TEXTS:
        texts = text_quantities(randomizer, domain, counts, own)
        return [_one_of(together, quantity) for quantity in texts]
    shares = mechanism.shares(randomizer, domain)
    supports, trials = shares.count(counts)
    found = [
        _one_of(together, mean_quantity(mean, counts, n, own))
        if mean.is_share
        else mean_quantity(mean, counts, n, level)
        for mean in mechanism.means(randomizer, domain)
    ]
    if domain.estimand is Estimand.MEAN:
        found += number_quantities(mechanism, randomizer, domain, counts, level)
    return found + [
        _one_of(together, share_quantity(share, int(support), int(chances), own, method))
        for share, support, chances in zip(shares.values, supports, trials, strict=True)
    ]


def _one_of(together: int, quantity: Quantity) -> Quantity:
    """With a method that tells that so many intervals hold the level together."""
    interval = quantity.interval
    if together == 1 or interval.method == "none":
        return quantity
    return replace(quantity, interval=replace(interval, method=f"{interval.method}-bonferroni"))
