"""From the tallies of noisy reports to estimates, each with all that is needed to read it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.domain import NO_ANSWER, Texts
from analysis.intervals import Interval, ratio_interval, share_interval
from analysis.kinds import KINDS
from analysis.mechanisms.base import Mean, Share
from analysis.quantity import Quantity, people_directly, possible_share
from analysis.survey import Question, Survey
from analysis.text_estimate import text_quantities

#: Below so many reports an interval that relies on their number being large is flagged.
FEW = 100


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
    (`analysis.text_estimate`).
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


def estimates(
    survey: Survey,
    tallies: Mapping[str, NDArray[np.int64]],
    confidence_level: float = 0.95,
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
    """
    rows: list[Estimate] = []
    for question in survey.questions:
        counts = tallies[question.id]
        n = question.randomizer.reports_in(counts)
        skipped = "No answer, or not asked" if "shows_if" in question.spec else "No answer"
        labels = {
            NO_ANSWER: skipped,
            "mean": "Mean",
            **KINDS[question.spec["kind"]].labels(question.spec),
        }
        rows += [
            Estimate(
                question=question.id,
                kind=question.spec["kind"],
                term=quantity.term,
                label=quantity.label or survey.text(labels[quantity.term]),
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
            for quantity in _quantities(question, counts, n, confidence_level)
        ]
    return rows


def _quantities(
    question: Question, counts: NDArray[np.int64], n: int, level: float
) -> list[Quantity]:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    if isinstance(domain, Texts):
        return text_quantities(randomizer, domain, counts, level)
    shares = mechanism.shares(randomizer, domain)
    supports, trials = shares.count(counts)
    found = [_mean(mean, counts, n, level) for mean in mechanism.means(randomizer, domain)]
    return found + [
        _share(share, int(support), int(chances), level)
        for share, support, chances in zip(shares.values, supports, trials, strict=True)
    ]


def _share(share: Share, count: int, n: int, level: float) -> Quantity:
    p, q = float(share.p), float(share.q)
    interval = share_interval(count, n, p, q, level)
    if n == 0:
        return Quantity(share.term, None, None, interval, None, ("few",))
    value = (count / n - q) / (p - q)
    possible = possible_share(value, n)
    support = q + (p - q) * possible
    std_error = (support * (1 - support) / n) ** 0.5 / abs(p - q)
    flags = ["out-of-range"] * (not 0 <= value <= 1)
    flags += ["boundary"] * (interval.method != "clopper-pearson")
    n_eff = people_directly(value, std_error, n)
    return Quantity(share.term, value, std_error, interval, n_eff, tuple(flags))


def _mean(mean: Mean, tally: NDArray[np.int64], n: int, level: float) -> Quantity:
    low, width, counts = float(mean.low), float(mean.width), tally.reshape(-1)
    scores, present = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    second = None if mean.second is None or not n else mean.second(tally)
    ratio = ratio_interval(counts, scores, present, level, n, second)
    found = ratio.interval
    interval = Interval(low + width * found.low, low + width * found.high, found.method)
    answered = float(counts @ present)
    few = answered < FEW or ratio.std_error is None or ratio.few
    flags = ["few"] * few
    if ratio.value is None or ratio.std_error is None:
        return Quantity(mean.term, None, None, interval, None, tuple(flags))
    flags = ["out-of-range"] * (not 0 <= ratio.value <= 1) + flags
    flags += ["boundary"] * found.method.endswith("likelihood")
    value, std_error = low + width * ratio.value, width * ratio.std_error
    if mean.squares is None or second is not None:
        return Quantity(mean.term, value, std_error, interval, None, tuple(flags))
    # The variance of the numbers themselves is estimated too: without knowing it to about its own
    # size, nothing can be said of the people it would take.
    squares = np.array(mean.squares, dtype=float)
    apart = squares - 2 * ratio.value * scores + ratio.value**2 * present
    spread = float(counts @ apart) / answered
    unsure = float(counts @ (apart - spread * present) ** 2) ** 0.5 / answered
    n_eff = spread / ratio.std_error**2 if spread > 2 * unsure else None
    return Quantity(mean.term, value, std_error, interval, n_eff, tuple(flags))
