"""The split of a cap over the questions that minimizes the worst half-width."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import exp, isfinite, log

import numpy as np
from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.core.epsilon import LARGEST, MICRO, SMALLEST, TooCoarse
from analysis.core.errors import check_count
from analysis.core.options import MOST_WAVES
from analysis.core.types import Floats
from analysis.estimate.intervals import check_level
from analysis.estimate.precision.check import check_respondents
from analysis.estimate.precision.curves import EPSILONS, closed_variance
from analysis.estimate.precision.truth import Stated, check_truth
from analysis.mechanisms.base import Mechanism
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import Grade, grade_of
from analysis.study.planning.half_width import expected
from analysis.study.planning.redesign import is_best, with_epsilon
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The number of times that the split is corrected by its half-widths.
_ROUNDS = 12
#: The largest ε, in millionths.
_LARGEST = int(LARGEST * MICRO)
#: The log-ratio of two ε below which the best mechanism is assumed to be the same.
_SAME = 0.03
#: The difference in logarithms of half-widths at which the split is accepted. Those of drawn
#: tallies are known to .003.
_NEAR = 0.006
#: The log-ratio of ε below which a half-width follows from another one, by the shape. The shape is
#: known far better there than half-widths of drawn tallies.
_AGAIN = 0.006
#: Half-widths of drawn tallies are smooth and take long. So they follow from two others within
#: these log-ratios: beyond two (at most `_FAR` apart), and between two. For numbers, that is
#: precise to .5 % and .4 % for ε from .9 on, at 400 respondents.
_BEYOND, _FAR, _BETWEEN = 0.027, 0.5, 0.15
#: Half-widths fall like the shape if they are at most this many times as fast or as slow.
_ALIKE = 3.0
#: The ε at which the shape of half-widths is tabulated, in millionths.
_TABULATED = np.geomspace(int(SMALLEST * MICRO), _LARGEST, 4000)


@dataclass(frozen=True)
class Split:
    """One question's row of the result of `split_cap`.

    `epsilon` is the recommended ε of one report, and `half_width` is the expected half-width with
    it, in the question's unit. `own_epsilon` and `own_half_width` are those of the file. `kept`
    says that the ε was not changed: the question has a memory, its author named probabilities, or
    it is drawn together with others. In the last case, `epsilon` is the limit of its answer, and
    the spent ε is that of the table, which is less than the sum over its questions.
    """

    question: str
    epsilon: float
    half_width: float
    own_epsilon: float
    own_half_width: float
    kept: bool

    @property
    def reveals(self) -> bool:
        """Return whether the recommended ε was chosen here, and a report nearly reveals at it."""
        return not self.kept and grade_of(exp(self.epsilon)) is Grade.NEARLY


def split_cap(
    survey: Survey,
    cap: float,
    respondents: int,
    waves: int = 1,
    confidence_level: float = 0.95,
    *,
    truth: Stated | None = None,
    weights: Mapping[str, float] | None = None,
    rng: Generator,
) -> list[Split]:
    """Return the ε of each question that together minimize the worst half-width.

    Half-widths fall as ε rises. So at the best split, all questions whose ε can change have equal
    weighted half-widths. For each half-width there is an ε that a question needs. The result is the
    smallest half-width whose ε do not exceed the cap, to about 1 %, since drawn widths are known to
    .3 %. Numbers count as fractions of their range.

    Parameters
    ----------
    survey : Survey
        The survey as it will be published.
    cap : float
        The ε of a respondent over all waves, above 0.
    respondents, waves : int
        The number of respondents in each wave, and of waves that each answers; at least 1.
    confidence_level, truth, rng
        See `plan`.
    weights : mapping, optional
        For each question, the factor by which its half-width counts, above 0; by default, 1.

    Returns
    -------
    list of Split
        Rows in the survey's order. The ε are whole millionths that sum to the cap's ε for a wave,
        unless every question has the largest possible ε. Questions with a memory, and those whose
        author named probabilities, keep their ε.

    Raises
    ------
    ValueError
        If the cap is too small for the ε that are kept, or for 32-bit weights of the others; or if
        a number is out of range.
    """
    check_level(confidence_level)
    check_respondents(respondents)
    if not (isfinite(cap) and cap > 0):
        raise ValueError(f"cap must be a number above 0, got {cap:g}")
    check_count(waves, "waves", MOST_WAVES)
    check_truth(survey, truth or {})
    scales = {q.id: _weight(weights or {}, q) / q.domain.span for q in survey.questions}
    unknown = set(weights or {}) - set(scales)
    if unknown:
        raise ValueError(f"weights: expected questions {', '.join(scales)}, got {min(unknown)}")
    free = [question for question in survey.questions if not _is_kept(question)]
    kept = {question.id for question in survey.questions if _is_kept(question)}
    spent = sum(
        draw.spent(waves)
        for draw in survey.draws
        if all(question.id in kept for question in draw.questions)
    )
    left = int(Fraction(repr(float(cap))) * MICRO) - spent
    least = len(free) * int(SMALLEST * MICRO)
    if left < least * waves:
        raise ValueError(
            f"cap must be at least {in_epsilon(spent + least * waves):f} for {waves} waves of "
            f"these questions, got {cap:g}"
        )

    def width(question: Question) -> float:
        stated = (truth or {}).get(question.id)
        return expected(question, respondents, confidence_level, stated, rng=rng).half_width

    solved = _solved(
        [_Part(question, scales[question.id], width) for question in free], left // waves
    )
    rows = []
    for question in survey.questions:
        now, half = float(question.spec["epsilon"]), width(question)
        best = solved.get(question.id, (question.randomizer.epsilon, half))
        rows.append(Split(question.id, *best, now, half, question.id not in solved))
    return rows


def _is_kept(question: Question) -> bool:
    return question.memo is not None or question.mechanism.parameters is not None


def _weight(weights: Mapping[str, float], question: Question) -> float:
    weight = weights.get(question.id, 1.0)
    if not (isfinite(weight) and weight > 0):
        raise ValueError(f'weight of question "{question.id}" must be above 0, got {weight:g}')
    return weight


@dataclass
class _Part:
    """A question whose ε is searched for. `known` has the log of its badness by millionths of ε.

    The badness is the half-width times its weight. The mechanism stays, or is the best one, which
    `tried` has for near ε.
    """

    question: Question
    scale: float
    width: Callable[[Question], float]
    known: dict[int, float] = field(default_factory=dict)
    tried: dict[int, Mechanism] = field(default_factory=dict)
    least: int = int(SMALLEST * MICRO)

    @cached_property
    def shape(self) -> Floats:
        """The shape of half-widths against ε, at `_TABULATED`: logs of errors by the normal law.

        They are those of the best mechanism with a closed form at the ε of charts. Between and
        beyond these they fall as those of k-ary randomized response do at 1/2, for a number with
        two answers, as in Duchi's mechanism. Other widths fall nearly alike, so few are computed.
        """
        domain = self.question.domain
        answers = 2 if domain.estimand is Estimand.MEAN else len(domain.terms)
        odds = np.exp(_TABULATED / MICRO)
        low = 1 / (odds + max(2, answers) - 1)
        middle = (odds * low + low) / 2
        shape: Floats = np.log(middle * (1 - middle) / ((odds - 1) * low) ** 2) / 2
        closed = {
            epsilon: log(variance) / 2
            for epsilon in EPSILONS
            if (variance := closed_variance(domain, Fraction(repr(epsilon))))
        }
        if closed:
            places = np.log(np.array([*closed]) * MICRO)
            above = np.array([*closed.values()]) - np.interp(places, np.log(_TABULATED), shape)
            shape = shape + np.interp(np.log(_TABULATED), places, above)
        # The shape must not rise where another mechanism becomes the best.
        return np.minimum.accumulate(shape)

    def shape_at(self, epsilons: Sequence[float]) -> Floats:
        """Return the shape at these ε, in millionths."""
        return np.asarray(np.interp(epsilons, _TABULATED, self.shape))

    @cached_property
    def stays(self) -> bool:
        """Return whether the author named another mechanism than the best."""
        return not is_best(self.question)

    def look(self, epsilon: int) -> None:
        """Compute the badness at an ε, or note that ε must be larger for 32-bit weights."""
        if epsilon in self.known or epsilon < self.least:
            return
        near = (best for at, best in self.tried.items() if abs(log(at / epsilon)) < _SAME)
        mechanism = self.question.mechanism if self.stays else next(near, None)
        try:
            redesigned = with_epsilon(self.question, Fraction(epsilon, MICRO), mechanism)
        except TooCoarse:
            self.least = max(self.least, round(epsilon * 1.2))
            return
        if mechanism is None:
            self.tried[epsilon] = redesigned.mechanism
        self.known[epsilon] = log(self.scale * self.width(redesigned))

    def badness(self, epsilon: int) -> float | None:
        """Return the badness at a known ε, or at one near known ones; None if it is not known."""
        if epsilon in self.known:
            return self.known[epsilon]
        points = sorted(self.known, key=lambda at: abs(log(at / epsilon)))[:2]
        if not points:
            return None
        away = [log(at / epsilon) for at in points]
        trusted, is_drawn = _AGAIN, self.question.domain.estimand is not Estimand.SHARES
        if is_drawn and len(points) == 2 and abs(away[0] - away[1]) <= _FAR:
            trusted = _BEYOND if away[0] * away[1] > 0 else _BETWEEN / 2
        if abs(away[0]) >= trusted:
            return None
        shape = self.shape_at([*points, epsilon])
        above = [self.known[at] - there for at, there in zip(points, shape, strict=False)]
        if trusted > _AGAIN:
            # The distance of widths from the shape is linear in the logarithm of ε.
            above[0] += (above[1] - above[0]) * away[0] / (away[0] - away[1])
        return float(shape[-1] + above[0])

    def needed(self, badness: float) -> float:
        """Return the ε, in millionths, with this badness, by the shape and known points."""
        points = sorted(self.known)
        shape, seen = self.shape_at(points), np.array([self.known[point] for point in points])
        piece = int(np.count_nonzero(seen > badness)) - 1
        if 0 <= piece < len(points) - 1:
            (left, right), (above, below) = points[piece : piece + 2], seen[piece : piece + 2]
            part = (above - badness) / (above - below)
            slope = (above - below) / (shape[piece] - shape[piece + 1])
            if not 1 / _ALIKE < slope < _ALIKE:
                # Widths do not follow the shape here, so a power law serves between the two points.
                return float(np.clip(left * (right / left) ** part, self.least, _LARGEST))
            wanted = shape[piece] + part * (shape[piece + 1] - shape[piece])
        else:
            end = max(piece, 0)
            wanted = shape[end] + badness - seen[end]
        epsilon = np.interp(-wanted, -self.shape, _TABULATED)
        return float(np.clip(epsilon, self.least, _LARGEST))


def _solved(parts: list[_Part], left: int) -> dict[str, tuple[float, float]]:
    """Return the ε and half-width of each question, if a wave spends `left` millionths."""
    if not parts:
        return {}
    even = min(left // len(parts), _LARGEST)
    for part in parts:
        # The design with the file's ε exists already.
        part.look(min(round(part.question.spec["epsilon"] * MICRO), _LARGEST))
        part.look(even) if not part.known else None
        while not part.known:
            # There are too many values for so small an ε.
            if part.least > _LARGEST:
                raise ValueError(f'question "{part.question.id}": no epsilon can serve it')
            part.look(part.least)
    for _ in range(_ROUNDS):
        least = sum(part.least for part in parts)
        if least > left:
            raise ValueError(
                f"cap must leave at least {in_epsilon(least):f} for a wave of these questions, "
                f"since weights have 32 bits, got {in_epsilon(left):f}"
            )
        split = list(zip(parts, _split(parts, left), strict=True))
        for part, epsilon in split:
            if part.badness(epsilon) is None:
                part.look(epsilon)
        seen = [(part.badness(at), part.least < at < _LARGEST) for part, at in split]
        if any(badness is None for badness, _ in seen):
            continue
        bad = [badness for badness, is_free in seen if is_free and badness is not None]
        if not bad or max(bad) - min(bad) < _NEAR:
            break
    solved = {}
    for part, epsilon in split:
        badness = part.badness(epsilon)
        if badness is None:
            part.look(epsilon)
            badness = part.known[epsilon]
        solved[part.question.id] = epsilon / MICRO, exp(badness) / part.scale
    return solved


def _split(parts: list[_Part], left: int) -> list[int]:
    """Return whole millionths that sum to `left` and give all the same badness, as far as known."""
    low, high = -40.0, 10.0
    for _ in range(100):
        badness = (low + high) / 2
        fits = sum(part.needed(badness) for part in parts) <= left
        low, high = (low, badness) if fits else (badness, high)
    split = [int(part.needed(high)) for part in parts]
    for _ in range(len(parts)):
        spare = left - sum(split)
        room = [min(spare, _LARGEST - epsilon) for epsilon in split]
        widest = int(np.argmax(room))
        split[widest] += max(0, room[widest])
    return split
