"""The best pattern for several questions that are drawn together, and the sizes of its sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import exp, inf, prod

import numpy as np

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_pattern import SampledPattern
from analysis.core.types import Floats
from analysis.mechanisms.joint_goals import Part, alone, contrast_variance, questions_of
from analysis.mechanisms.joint_program import GAP, Program, Rounds

#: A program with more unknowns than this takes a second or more.
_LARGE = 300

#: For designs that are only looked at, sizes are skipped if their `Program.reached` is this many
#: times that of the best so far. This is a rule of thumb, which was tuned on 250 random draws. In
#: 150 other draws it changed no design.
_UNLIKELY = 1.2

#: The sum of the weights of each of several patterns. Two words can then draw from the mean of some
#: hundreds of them.
_WHOLE = 2**40


@dataclass(frozen=True)
class Design:
    """A pattern, its mean variance, and a bound that no pattern of the same sizes can beat.

    Variances are relative to those of separate draws; see `design`.
    """

    channel: Pattern
    variance: float
    bound: float

    @property
    def saving(self) -> float:
        """The factor by which separate draws need more respondents, on average."""
        return 1 / self.variance


@lru_cache(maxsize=256)
def design(
    parts: tuple[Part, ...],
    total: Fraction,
    each: Fraction,
    aim: str = "shares",
    gap: float = GAP,
) -> Design:
    """Return the pattern within both limits with the least mean variance.

    Each variance counts relative to that of separate draws with `total` divided evenly. The mean is
    over a question's shares at a usual share, or over pairs of answers if all pairs are equally
    frequent, or half of each mean for both. The sizes of sets are searched from those of separate
    draws on, and from those that are best if all questions are like one of them. For the chosen
    sizes, the variance is within a fraction `gap` of the best. If questions of many kinds make a
    program large, only that of the last sizes is solved, which takes seconds instead of minutes.

    Parameters
    ----------
    parts : tuple of Part
        The questions, at least 2.
    total, each : Fraction
        The largest ε of all answers together, and of one answer against somebody who knows the
        others.
    aim : str
        One of `AIMS`.
    gap : float
        The gap of surveys, or a larger one for designs that are only looked at.

    Raises
    ------
    ValueError
        If weights cannot be made whole within the limits.
    """
    best = _searched(parts, total, each, aim, gap)
    best.finish()
    return Design(best.channel, best.variance, best.bound)


def _searched(
    parts: tuple[Part, ...], total: Fraction, each: Fraction, aim: str, gap: float
) -> Rounds:
    """Return the programs of the best sizes of sets, solved as far as the search needed."""
    alike = sorted(set(parts), key=parts.index)
    # Probabilities that are best for pairs alone need not fall as those of `reached` do.
    is_quick = gap > GAP and aim != "pairs"

    def of_sizes(sizes: tuple[int, ...]) -> Program:
        by_part = dict(zip(alike, sizes, strict=True))
        return Program(parts, tuple(by_part[part] for part in parts), total, each, aim, gap=gap)

    def better(task: Program, best: Rounds) -> Rounds:
        if is_quick and task.reached > best.program.reached * _UNLIKELY:
            return best
        rounds = Rounds(task)
        return rounds if rounds.beats(best) else best

    around = [
        tuple(min(part.k - 1, max(1, round(part.k / (exp(epsilon) + 1)))) for part in alike)
        for epsilon in (total / len(parts), min(each, total))
    ]
    if len(alike) > 1:
        # These come first, since they are often the best. Others end as soon as they are beaten.
        size = _likely_size if is_quick else _size_as_one
        around.insert(0, tuple(size(part, len(parts), total, each, aim) for part in alike))
    is_large = prod(parts.count(part) + 1 for part in alike) > _LARGE
    if is_large:
        del around[1:]
    best, tried = Rounds(of_sizes(around[0])), {around[0]}
    while around:
        for sizes in around:
            best = best if sizes in tried else better(of_sizes(sizes), best)
            tried.add(sizes)
        of_part = dict(zip(parts, best.program.sizes, strict=True))
        near = [] if is_large else _neighbors(alike, [of_part[part] for part in alike])
        around = [sizes for sizes in near if sizes not in tried]
    return best


@lru_cache(maxsize=1024)
def _size_as_one(part: Part, number: int, total: Fraction, each: Fraction, aim: str) -> int:
    """Return the size of sets of the best design for `number` parts like this one."""
    if part.k == 2:
        return 1
    parts = (Part(part.k, part.share),) * number
    return _searched(parts, total, each, aim, GAP).program.sizes[0]


@lru_cache(maxsize=1024)
def _likely_size(part: Part, number: int, total: Fraction, each: Fraction, aim: str) -> int:
    """Return the likely best size by `Program.reached`, without a linear program."""
    parts, least, best = (Part(part.k, part.share),) * number, inf, 1
    for size in range(1, part.k):
        reached = Program(parts, (size,) * number, total, each, aim).reached
        if reached > least:
            break
        least, best = reached, size
    return best


def _neighbors(alike: Sequence[Part], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sizes of sets of alike parts that differ from these by one, in one part."""
    return [
        (*sizes[:place], sizes[place] + step, *sizes[place + 1 :])
        for place, part in enumerate(alike)
        for step in (-1, 1)
        if 1 <= sizes[place] + step < part.k
    ]


def sampled_design(
    parts: tuple[Part, ...],
    samples: tuple[tuple[int, ...], ...],
    total: Fraction,
    each: Fraction,
    aim: str = "shares",
) -> SampledPattern:
    """Return the patterns for sets of questions, each within both limits, as `design` returns one.

    A question has one size of sets, whatever else is asked: the size that most designs have. So the
    mean of the laws of its reports is a `Subset`, too.

    Parameters
    ----------
    parts : tuple of Part
        All questions. Each has one part.
    samples : tuple of tuples of int
        The sets of questions that can be asked, as positions in order.

    Raises
    ------
    ValueError
        If weights cannot be made whole within the limits.
    """

    def by_size(place: int) -> tuple[int, float]:
        return parts[place].k, parts[place].share

    orders = [tuple(sorted(sample, key=by_size)) for sample in samples]
    times = Counter(tuple(parts[place] for place in order) for order in orders)
    votes: dict[Part, Counter[int]] = {part: Counter() for asked in times for part in asked}
    for asked, number in times.items():
        best = design(asked, total, each, aim).channel.sizes
        for part, size in dict(zip(asked, best, strict=True)).items():
            votes[part][size] += number
    sizes = {part: counts.most_common(1)[0][0] for part, counts in votes.items()}
    laws = {
        asked: Program(
            asked, tuple(sizes[part] for part in asked), total, each, aim, _WHOLE
        ).solved()
        for asked in times
    }
    ordered = []
    for sample, order in zip(samples, orders, strict=True):
        law = laws[tuple(parts[place] for place in order)]
        ordered.append(law if order == sample else law.of([order.index(place) for place in sample]))
    return SampledPattern(samples, tuple(ordered))


def savings(channel: Pattern, parts: Sequence[Part], total: Fraction) -> tuple[float, float]:
    """Return by what factor separate draws need more respondents, for shares and for pairs.

    Answers have the parts' shares. For pairs they are equally common and independent. The factor is
    one over the mean, over parts or pairs of parts, of the variance by one draw divided by that of
    separate draws with `total` divided evenly. Below 1, separate draws are better.

    Pairs of options of one question are left out, since hardly any separate draw shows them.
    """
    questions = questions_of(parts)
    usual = np.array([alone(part, total / len(questions)) for part in parts])
    shares = share_variances(channel, parts) / usual
    even = [replace(part, share=1 / part.k) for part in parts]
    usual = np.array([alone(part, total / len(questions)) for part in even])
    ratios = []
    for variance, (one, other) in zip(
        pair_variances(channel), combinations(range(len(parts)), 2), strict=True
    ):
        if not any({one, other} <= set(question) for question in questions):
            separate = usual[one] * usual[other]
            separate += usual[one] / parts[other].k ** 2 + usual[other] / parts[one].k ** 2
            ratios.append(variance / separate)
    return float(1 / shares.mean()), float(1 / np.mean(ratios))


def share_variances(channel: Pattern | SampledPattern, parts: Sequence[Part]) -> Floats:
    """Return (parts,) n times the variance of an answer's share, at the part's stated share."""
    return np.array(
        [
            contrast_variance(np.array(float(channel.contrast(place))), part.k, size, part.share)
            for place, (part, size) in enumerate(zip(parts, channel.sizes, strict=True))
        ]
    )


def pair_variances(channel: Pattern) -> Floats:
    """Return n times the variance of the share of a pair of answers, for all pairs of parts.

    It is infinite if the reports reveal nothing about pairs. If all answers are equally common, all
    reports on two parts are equally common, and deviations of debiased shares are uncorrelated.
    """
    even = [Part(k, 1 / k) for k in channel.inputs]
    deviations, variances = share_variances(channel, even), []
    for one, other in combinations(range(len(channel.inputs)), 2):
        try:
            factor = float(channel.factor(one, other))
        except ValueError:
            factor = inf
        both = factor**2 * deviations[one] * deviations[other]
        both += deviations[one] / channel.inputs[other] ** 2
        variances.append(both + deviations[other] / channel.inputs[one] ** 2)
    return np.array(variances)
