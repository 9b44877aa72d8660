"""A verdict in words: whether intervals are narrow enough, and how many respondents it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from numpy.random import Generator

from analysis.core.domain import NO_ANSWER, OTHER, Estimand
from analysis.estimate.estimates import Estimate
from analysis.study.planning import respondents_for
from analysis.study.planning.check import or_none
from analysis.survey.question import Question
from analysis.survey.survey import version_of

#: The fractions of the possible range up to which an interval is sharp, or shows large differences.
#: A wider interval shows nothing that a reader would ask for. Spans are rounded to whole points
#: first, so that a sentence and its number agree.
SHARP, ROUGH = 0.1, 0.2


@dataclass(frozen=True)
class Verdict:
    """The width of a question's widest interval, and a sentence on its meaning.

    `spans` is a fraction of the possible range, which is 1 for shares, and the range of the number
    for a mean. `needed` is the number of respondents with whom it would span `ROUGH`, if that is
    more than there are, and possible.
    """

    sentence: str
    spans: float | None
    needed: int | None = None


def verdict(
    question: Question, rows: Sequence[Estimate], level: float = 0.95, *, rng: Generator
) -> Verdict:
    """Return the verdict on one question.

    Parameters
    ----------
    question : Question
        A question of any kind.
    rows : sequence of Estimate
        Its estimates. The verdict uses a number's mean, the texts that were found, and all other
        shares except that of no answer.
    level : float
        The level of the intervals.
    rng : Generator
        The generator for `respondents_for`. Its state is not changed.
    """
    counted, width = _counted(question, rows)
    if not counted:
        if rows and rows[0].n and question.domain.estimand is Estimand.TEXTS:
            people = f"{rows[0].n:,} people"
            return Verdict(f"No text was found: with {people} none stands out from chance.", None)
        return Verdict("These reports show nothing.", None)
    spans = max(map(_width, counted)) / width
    people, points = f"{counted[0].n:,} people", 100 * spans
    interval, goal = "the interval of the mean", f"{100 * ROUGH:.0f} %"
    widest, wider = f"spans {points:.0f} % of the range", ""
    if question.domain.estimand is not Estimand.MEAN:
        interval = f"the {'widest ' * (len(counted) > 1)}interval of the answers"
        widest = f"spans {points:.0f} points (± {points / 2:.0f})"
        goal = f"{100 * ROUGH:.0f} points (± {50 * ROUGH:.0f})"
        more = [row for row in rows if row.term == NO_ANSWER and _width(row) > spans]
        wider = f" That of “{more[0].label}” is wider." if more else ""
    if round(points) <= 100 * SHARP:
        return Verdict(f"Sharp: with {people} {interval} {widest}.{wider}", spans)
    if round(points) <= 100 * ROUGH:
        told = f"Rough: with {people} {interval} {widest}, so only large differences can be"
        return Verdict(f"{told} seen.{wider}", spans)
    told = f"With {people} {interval} {widest}: this cannot distinguish much from little.{wider}"
    if question.domain.estimand is Estimand.TEXTS:
        # Expected intervals of texts are drawn, which takes seconds. They narrow as others do.
        needed: int | None = ceil(counted[0].n * (spans / ROUGH) ** 2)
    else:
        needed = _needed(question, ROUGH / 2 * width, level, rng)
    if needed is None:
        return Verdict(f"{told} No number of respondents would change that at this ε.", spans)
    if needed <= counted[0].n:
        return Verdict(f"{told} Most surveys with so many people are sharper.", spans)
    many = f"About {_rounded(needed):,} people"
    return Verdict(f"{told} {many} would bring it to {goal}.", spans, needed)


def half_width(question: Question, rows: Sequence[Estimate]) -> float | None:
    """Return half of the widest interval of a question, in the unit of `planning.expected`.

    It is in the unit of a number, or a share; None if nothing is estimated. `rows` are as above.
    """
    counted, _ = _counted(question, rows)
    return max(map(_width, counted), default=0) / 2 or None


def _width(row: Estimate) -> float:
    return row.conf_high - row.conf_low


def _counted(question: Question, rows: Sequence[Estimate]) -> tuple[list[Estimate], float]:
    """Return the estimates that the verdict uses, and the most that their intervals can span."""
    means = {
        mean.term: mean
        for mean in question.mechanism.means(question.randomizer, question.domain)
        if not question.domain.is_share(mean.term)
    }
    if question.domain.estimand is Estimand.MEAN:
        return [row for row in rows if row.term == "mean"], float(means["mean"].width)
    left_out = {*means, NO_ANSWER}
    if question.domain.estimand is Estimand.TEXTS:
        left_out.add(OTHER)
    return [row for row in rows if row.term not in left_out], 1.0


#: The results of `_needed` by its arguments, which are kept since it can take a third of a second.
_KNOWN: dict[tuple[str, float, float], int | None] = {}


def _needed(question: Question, half_width: float, level: float, rng: Generator) -> int | None:
    """Return the number of respondents for a half-width; None if no number is enough."""
    key = version_of(question.terms), half_width, level
    if key not in _KNOWN:
        if len(_KNOWN) > 1000:
            _KNOWN.clear()
        _KNOWN[key] = or_none(lambda: respondents_for(question, half_width, level, rng=rng))
    return _KNOWN[key]


def _rounded(respondents: int) -> int:
    """Return a number rounded up to two digits, since more would be false precision."""
    digits = len(str(respondents)) - 2
    return -(-respondents // 10**digits) * 10**digits if digits > 0 else respondents
