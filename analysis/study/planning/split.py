"""How to split a cap over the questions, so that the worst half-width is as small as it can be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, isfinite, log

import numpy as np
from numpy.random import Generator

from analysis.core.epsilon import LARGEST, MICRO, SMALLEST, TooCoarse
from analysis.core.errors import check_count
from analysis.estimate.intervals import check_level
from analysis.mechanisms.base import Mechanism
from analysis.study.planning.check import MOST_WAVES, check_respondents
from analysis.study.planning.half_width import expected
from analysis.study.planning.redesign import is_best, with_epsilon
from analysis.study.planning.truth import Stated, check_truth
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: ε of a question at which its half-width is looked at first: parts of an even split.
_PARTS = (0.25, 1.0, 3.0)
#: How often the split is set right by the half-widths found at it.
_ROUNDS = 12
#: Log ratio of two ε below which the best mechanism is taken to be the same.
_SAME = 0.03
#: How near the worst half-width is to those of the others, when it is right.
_NEAR = 0.002


@dataclass(frozen=True)
class Split:
    """One question: a row of what `split_cap` gives.

    `epsilon` is that of one report as it should be, `half_width` the expected one with it, in the
    unit of the question; `own_epsilon` and `own_half_width` are those of the file. `kept` tells
    that its ε was not to be changed: a memory's, or that of probabilities which the author named.
    """

    question: str
    epsilon: float
    half_width: float
    own_epsilon: float
    own_half_width: float
    kept: bool


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
    """The ε of each question with which the worst half-width is the smallest.

    Half-widths fall as ε rises, so at the best split all that can be changed are equally bad: for
    each half-width there is an ε that each question needs, and the smallest is taken whose ε do not
    pass the cap. Numbers count as parts of their range.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    cap : float
        ε of a respondent over all waves, above 0.
    respondents, waves : int
        At least 1, in each wave; waves that each answers.
    confidence_level, truth, rng
        As of `plan`.
    weights : mapping, optional
        By question, how many times as bad its half-width is, above 0; 1 if left out.

    Returns
    -------
    list of Split
        In the survey's order. The ε are whole millionths that sum to what the cap leaves a wave,
        unless every question has the largest ε there is. Questions with a memory, and those whose
        author named probabilities, keep theirs.

    Raises
    ------
    ValueError
        If the cap is too small for what is kept, or for 32-bit weights of all others; or a number
        is out of range.
    """
    check_level(confidence_level)
    check_respondents(respondents)
    if not (isfinite(cap) and cap > 0):
        raise ValueError(f"cap must be a number above 0, got {cap:g}")
    check_count(waves, "waves", MOST_WAVES)
    check_truth(survey, truth or {})
    scales = {one.id: _weight(weights or {}, one) / one.domain.span for one in survey.questions}
    unknown = set(weights or {}) - set(scales)
    if unknown:
        raise ValueError(f"weights: expected questions {', '.join(scales)}, got {min(unknown)}")
    kept = [one for one in survey.questions if _is_kept(one)]
    open_ = [one for one in survey.questions if not _is_kept(one)]
    spent = sum(one.spent(waves) for one in kept)
    left = int(Fraction(repr(float(cap))) * MICRO) - spent
    least = len(open_) * int(SMALLEST * MICRO)
    if left < (least * waves if open_ else 0):
        raise ValueError(
            f"cap must be at least {(spent + least * waves) / MICRO:g} for {waves} waves of these "
            f"questions, got {cap:g}"
        )

    def width(question: Question) -> float:
        own = (truth or {}).get(question.id)
        return expected(question, respondents, confidence_level, own, rng=rng).half_width

    found = _solved([_Part.of(one, scales[one.id], width) for one in open_], left // waves)
    rows = []
    for question in survey.questions:
        own = width(question)
        epsilon, half = found.get(question.id, (question.randomizer.epsilon, own))
        rows.append(
            Split(
                question.id,
                epsilon,
                half,
                float(question.spec["epsilon"]),
                own,
                question.id not in found,
            )
        )
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
    """A question whose ε is looked for, and what is known of it: log badness by millionths of ε.

    Its mechanism stays, or is the best of those for an ε near that of `tried`.
    """

    question: Question
    stays: bool
    tried: dict[int, Mechanism]
    scale: float
    width: Callable[[Question], float]
    known: dict[int, float]
    least: int

    @classmethod
    def of(cls, question: Question, scale: float, width: Callable[[Question], float]) -> "_Part":
        stays = not is_best(question)
        return cls(question, stays, {}, scale, width, {}, int(SMALLEST * MICRO))

    def look(self, epsilon: int) -> None:
        """See how bad it is at an ε; or that it must be larger for 32-bit weights."""
        if epsilon in self.known or epsilon < self.least:
            return
        near = (one for at, one in self.tried.items() if abs(log(at / epsilon)) < _SAME)
        mechanism = self.question.mechanism if self.stays else next(near, None)
        try:
            other = with_epsilon(self.question, Fraction(epsilon, MICRO), mechanism)
        except TooCoarse:
            self.least = max(self.least, round(epsilon * 1.2))
            return
        if mechanism is None:
            self.tried[epsilon] = other.mechanism
        self.known[epsilon] = log(self.scale * self.width(other))

    def needed(self, badness: float) -> float:
        """The ε, in millionths, at which it is so bad: a power of ε between what is known."""
        points = sorted(self.known.items())
        epsilons, seen = np.log([one for one, _ in points]), np.array([one for _, one in points])
        # Half-widths fall at least about as the root of 1/ε; a flat piece would never get there.
        slopes = np.diff(seen) / np.diff(epsilons) if len(points) > 1 else np.array([-1.0])
        slopes = np.minimum(slopes, -0.05)
        place = int(np.clip(np.count_nonzero(seen > badness) - 1, 0, len(slopes) - 1))
        found = epsilons[place] + (badness - seen[place]) / slopes[place]
        return float(np.clip(exp(min(found, 40.0)), self.least, int(LARGEST * MICRO)))


def _solved(parts: list[_Part], left: int) -> dict[str, tuple[float, float]]:
    """ε and half-width of each, for so many millionths of a wave."""
    if not parts:
        return {}
    even = min(left // len(parts), int(LARGEST * MICRO))
    for part in parts:
        for share in _PARTS:
            part.look(min(round(even * share), int(LARGEST * MICRO)))
        while not part.known:
            # Too many values for so small an ε.
            if part.least > LARGEST * MICRO:
                raise ValueError(f'question "{part.question.id}": no epsilon can serve it')
            part.look(part.least)
    for _ in range(_ROUNDS):
        if sum(part.least for part in parts) > left:
            least = sum(part.least for part in parts) / MICRO
            raise ValueError(
                f"cap must leave a wave of these questions at least {least:g} for weights of 32 "
                f"bits, got {left / MICRO:g}"
            )
        split = _split(parts, left)
        for part, epsilon in zip(parts, split, strict=True):
            part.look(epsilon)
        if any(epsilon not in part.known for part, epsilon in zip(parts, split, strict=True)):
            continue
        bad = [part.known[epsilon] for part, epsilon in zip(parts, split, strict=True)]
        free = [
            one
            for one, part, epsilon in zip(bad, parts, split, strict=True)
            if part.least < epsilon < LARGEST * MICRO
        ]
        if not free or max(free) - min(free) < _NEAR:
            break
    return {
        part.question.id: (epsilon / MICRO, exp(part.known[epsilon]) / part.scale)
        for part, epsilon in zip(parts, split, strict=True)
    }


def _split(parts: list[_Part], left: int) -> list[int]:
    """Whole millionths of each that sum to `left`, so that all are equally bad, as far as known."""
    low, high = -40.0, 10.0
    for _ in range(100):
        badness = (low + high) / 2
        fits = sum(part.needed(badness) for part in parts) <= left
        low, high = (low, badness) if fits else (badness, high)
    split = [int(part.needed(high)) for part in parts]
    for _ in range(len(parts)):
        spare = left - sum(split)
        room = [min(spare, int(LARGEST * MICRO) - epsilon) for epsilon in split]
        place = int(np.argmax(room))
        split[place] += max(0, room[place])
    return split
