"""Before fielding: how precise a survey will be, and what its waves will cost."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtri

from analysis.discovery import LETTERS, floor
from analysis.domain import Numbers, Texts
from analysis.epsilon import MICRO, exp_lower
from analysis.estimate.text import chances_of
from analysis.intervals import share_interval
from analysis.mechanisms.base import Mean, Share
from analysis.mechanisms.hashed_krr import LONGEST_FOUND
from analysis.randomizer import Randomizer
from analysis.selection import variance
from analysis.survey import Question, Survey

#: Letters of the texts that `Plan.floor` is about.
USUAL_LENGTH = 8


@dataclass(frozen=True)
class Plan:
    """One question; the columns of the table that `plan` prints.

    `half_width` is that of the interval of a share at the least favorable one; of the mean of a
    number, in its unit; of a rare text. `floor` is, without candidates, the share from which on a
    text of at most eight letters is found nine times in ten. `epsilon_waves` is what so many waves
    cost together, whatever is answered, `epsilon_if_constant` if no answer ever changes, and
    `epsilon_fresh` what they would with fresh draws; `cheaper` is ``memory``, ``fresh`` (both
    whatever is answered) or, without a memory, empty.
    """

    question: str
    kind: str
    mechanism: str
    epsilon: float
    respondents: int
    half_width: float
    floor: float | None
    waves: int
    epsilon_waves: float
    epsilon_if_constant: float
    epsilon_fresh: float
    cheaper: str


def plan(
    survey: Survey, respondents: int, waves: int = 1, confidence_level: float = 0.95
) -> list[Plan]:
    """A row for each question of a frozen survey.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    respondents : int
        At least 1, in each wave.
    waves : int
        How many each answers, at least 1.
    confidence_level : float
        Of the intervals, in (0, 1).
    """
    rows = []
    for question in survey.questions:
        randomizer = question.randomizer
        worst, constant = (
            randomizer.spent(waves, stable) / MICRO for stable in (question.stable, True)
        )
        fresh = waves * randomizer.charge / MICRO
        rows.append(
            Plan(
                question=question.id,
                kind=question.spec["kind"],
                mechanism=question.mechanism.name,
                epsilon=randomizer.epsilon,
                respondents=respondents,
                half_width=_half_width(question, respondents, confidence_level),
                floor=_floor(question, respondents),
                waves=waves,
                epsilon_waves=worst,
                epsilon_if_constant=constant,
                epsilon_fresh=fresh,
                cheaper=("fresh" if fresh < worst else "memory") if question.memo else "",
            )
        )
    return rows


def costs_of_waves(question: Question, most: int = 6) -> str:
    """What 1, 2, 3, ... waves cost with the question's memory, and with fresh draws instead."""
    waves = range(1, most + 1)
    randomizer = question.randomizer
    worst, constant, fresh = (
        [cost / MICRO for cost in costs]
        for costs in (
            [randomizer.spent(n, question.stable) for n in waves],
            [randomizer.spent(n, stable=True) for n in waves],
            [n * randomizer.charge for n in waves],
        )
    )
    told, same = (", ".join(f"{one:.3g}" for one in costs) for costs in (worst, constant))
    text = f"1 to {most} waves cost ε = {told} together"
    if question.stable:
        text += ", as its answer cannot change"
    else:
        text += f", {same} if the answer never changes"
    dear = [n for n, one, other in zip(waves, worst, fresh, strict=True) if one > other]
    if dear:
        text += f"; fresh draws would cost less for {', '.join(map(str, dear))} waves"
    return text


def warnings(question: Question) -> list[str]:
    """What an author may not expect of a question with a memory, or of texts to be found."""
    found, domain, randomizer = [], question.domain, question.randomizer
    if question.stable and (domain.no_answer or "shows_if" in question.spec):
        found.append(
            "is charged as stable, but who skips it once, or is not asked, tells more than that; "
            "required = true without shows_if keeps it stable"
        )
    if question.memo and randomizer.forever > exp_lower(Fraction(4)):
        found.append(
            f"over many waves reports nearly tell an answer at epsilon_forever = "
            f"{question.spec['epsilon_forever']:g}; the page will say so to respondents"
        )
    if isinstance(domain, Texts) and domain.candidates is None and domain.longest > LONGEST_FOUND:
        found.append(
            f"texts of more than {LONGEST_FOUND} letters are not found; they count as other"
        )
    return found


def _floor(question: Question, n: int) -> float | None:
    """Of a question whose texts are to be found."""
    domain = question.domain
    if not isinstance(domain, Texts) or domain.candidates is not None:
        return None
    randomizer = question.randomizer
    usual = min(domain.longest, USUAL_LENGTH)
    return floor(randomizer.encoder, chances_of(randomizer), n, domain.letters or LETTERS, usual)


def _half_width(question: Question, n: int, level: float) -> float:
    domain, randomizer = question.domain, question.randomizer
    shares = question.mechanism.shares(randomizer, domain).values
    if shares and not isinstance(domain, Numbers):
        return max(_of_share(share, n, level) for share in shares)
    if isinstance(domain, Numbers | Texts):
        one = variance(question.mechanism, randomizer, domain)
    else:
        means = question.mechanism.means(randomizer, domain)
        one = max(_worst(mean, randomizer) for mean in means if mean.is_share)
    width = float(domain.high - domain.low) if isinstance(domain, Numbers) else 1.0
    return float(ndtri((1 + level) / 2) * math.sqrt(one / n) * width)


def _worst(mean: Mean, randomizer: Randomizer[Any, Any]) -> float:
    """The largest variance of a share's score, over all ways that answers can be spread.

    A score whose expectation is 1 for the value and 0 for others, and whose mean square is a for
    the value and b for the worst other, has the variance ``t a + (1 - t) b - t^2`` where a part t
    has the value: the most at ``t = (a - b) / 2``, or at an end.
    """
    channel, scores = randomizer.channel, np.array(mean.scores, dtype=float)
    rows = np.array([channel.weights(x) for x in range(channel.inputs)], dtype=float)
    rows /= rows[0].sum()
    squares, there = rows @ scores**2, rows @ scores > 0.5
    a, b = float(squares[there].max()), float(squares[~there].max())
    part = min(1.0, max(0.0, (a - b) / 2))
    return part * a + (1 - part) * b - part**2


def _of_share(share: Share, n: int, level: float) -> float:
    """At the share whose support is nearest to one half, where counts vary most."""
    trials = max(1, round(n * share.portion))
    ends = sorted((share.p, share.q))
    support = min(ends[1], max(ends[0], Fraction(1, 2)))
    interval = share_interval(
        round(trials * support), trials, float(share.p), float(share.q), level
    )
    return (interval.high - interval.low) / 2
