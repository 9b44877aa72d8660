"""Linear programs for the pattern of several questions that are drawn together.

The unknowns are the probabilities v(S) of single reports, where S are the parts that do not agree.
All limits are linear in them. So is the contrast of a question, c = p - r: p is the probability
that its set holds the answer, and r = ω/k is that of a uniform set. The contrast of a pair of
questions is the expectation of the product of both. The variance of a share at a stated truth,

    (r + c d)(1 - r - c d) / c²,   d = share - 1/k   (times the square of (k-1)/k),

and that of the product of two shares, 1/c² up to a factor, are convex in c. So tangents bound them
from below. Each program gives a design, and a bound that no design can beat. Programs are solved
until both agree.

Questions with the same numbers of values and members are alike. Since variances are convex, and
limits are the same for all orders of alike questions, some best design treats them alike. So only
the number of them that do not agree matters, and programs are small.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement, product
from math import comb, exp, prod
from typing import Any

import numpy as np
import scipy

from analysis.core.channels.pattern import Pattern
from analysis.core.epsilon import exp_lower
from analysis.core.types import Floats, Integers
from analysis.core.words import LARGEST_TOTAL
from analysis.mechanisms.joint_goals import (
    Goal,
    Part,
    alone,
    contrast_variance,
    over_square,
    questions_of,
)

#: The design of a survey may miss the bound by this fraction of a variance.
GAP = 1e-5
#: The first tangents, as fractions of the largest contrast, and the most programs.
_PLACES, _ROUNDS = np.geomspace(1e-3, 1, 24), 40
#: Programs of up to this many cases are passed to the solver as dense arrays.
_SMALL = 100
#: A bound must be above a variance by this fraction to show that it is beaten. The solver's
#: tolerance adds far less.
_NO_BETTER = 1e-6
#: The number of points, evenly spaced, at which `reached` lets probabilities begin to fall.
_BEGINS = 41
#: The margins by which ε may be held below its limits, so that rounded weights keep them. The first
#: that suffices is used. With the first, the charge in whole millionths equals that of the limit.
_MARGINS = (2e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Program:
    """The programs for stated sizes of sets, within the limits `total` and `each`, for an aim.

    Parts of one question must have the same size. Weights sum to `whole`, if it is given. `gap` is
    the largest fraction of a variance by which a design may miss the bound.
    """

    parts: tuple[Part, ...]
    sizes: tuple[int, ...]
    total: Fraction
    each: Fraction
    aim: str
    whole: int | None = None
    gap: float = GAP

    @cached_property
    def groups(self) -> list[list[int]]:
        """The positions of parts that are alike: of one question, or of questions of one part."""
        kinds = list(zip(self.parts, self.sizes, strict=True))
        return [
            [place for place, kind in enumerate(kinds) if kind == one]
            for one in dict.fromkeys(kinds)
        ]

    @cached_property
    def cases(self) -> list[tuple[int, ...]]:
        """The numbers of parts of each group that do not agree. Each case is an unknown."""
        return list(product(*(range(len(group) + 1) for group in self.groups)))

    def _cells(self, place: int) -> tuple[int, int]:
        """Return the number of sets that hold a question's answer, and of those that do not."""
        k, size = self.parts[place].k, self.sizes[place]
        return comb(k - 1, size - 1), comb(k - 1, size)

    @cached_property
    def masses(self) -> Floats:
        """The probability of each case if all reports are equally likely."""
        chances = []
        for case in self.cases:
            chance = 1.0
            for group, number in zip(self.groups, case, strict=True):
                held, not_held = self._cells(group[0])
                agree = held / (held + not_held)
                chance *= (
                    comb(len(group), number)
                    * agree ** (len(group) - number)
                    * (1 - agree) ** number
                )
            chances.append(chance)
        return np.array(chances)

    def _contrast(self, group: int) -> Floats:
        """Return the contrast of each case: the proportion of the group that agrees, less ω/k."""
        places = self.groups[group]
        rate = self.sizes[places[0]] / self.parts[places[0]].k
        numbers = np.array([case[group] for case in self.cases])
        return np.asarray(1 - numbers / len(places) - rate)

    def _pair_contrast(self, group: int, other: int) -> Floats:
        """Return the mean product of contrasts over pairs of two groups, or of one group."""
        if group != other:
            return self._contrast(group) * self._contrast(other)
        d = len(self.groups[group])
        place = self.groups[group][0]
        rate = self.sizes[place] / self.parts[place].k
        numbers = np.array([case[group] for case in self.cases])
        squares = (d - numbers) * (1 - rate) ** 2 + numbers * rate**2
        sums = (d - numbers) * (1 - rate) - numbers * rate
        return np.asarray((sums**2 - squares) / (d * (d - 1)))

    @cached_property
    def goals(self) -> list[Goal]:
        """The quantities to minimize together."""
        if self.aim == "both":
            goals = [*self._of_shares, *self._of_pairs]
            return [replace(goal, weight=goal.weight / 2) for goal in goals]
        return self._of_shares if self.aim == "shares" else self._of_pairs

    @property
    def _apart(self) -> Fraction:
        """The ε of each question if all were drawn one by one at the same total."""
        return self.total / len(questions_of(self.parts))

    @property
    def _of_shares(self) -> list[Goal]:
        weights = [len(places) / len(self.parts) for places in self.groups]
        return [
            self._share_goal(group, weight, self.parts[self.groups[group][0]].share)
            for group, weight in enumerate(weights)
        ]

    @property
    def _of_pairs(self) -> list[Goal]:
        # If answers are even and independent, the estimated share of a pair of answers is the sum
        # of three uncorrelated estimates: the two shares, each divided by the other question's
        # number of values, and the product.
        pairs = comb(len(self.parts), 2)
        of_shares = [0.0] * len(self.groups)
        of_products: list[Goal] = []
        for group, other in combinations_with_replacement(range(len(self.groups)), 2):
            count = len(self.groups[group]) * len(self.groups[other])
            count = comb(len(self.groups[group]), 2) if group == other else count
            if not count:
                continue
            ends = [self.parts[self.groups[place][0]] for place in (group, other)]
            by_itself = [alone(replace(part, share=1 / part.k), self._apart) for part in ends]
            usual = by_itself[0] / ends[1].k ** 2 + by_itself[1] / ends[0].k ** 2
            usual += by_itself[0] * by_itself[1]
            weight = count / pairs / usual
            of_shares[group] += weight / ends[1].k ** 2
            of_shares[other] += weight / ends[0].k ** 2
            noise = self._noise(group) * self._noise(other)
            variance = partial(over_square, noise)
            of_products.append(Goal(self._pair_contrast(group, other), weight, variance))
        return of_products + [
            self._share_goal(group, weight, None) for group, weight in enumerate(of_shares)
        ]

    def _noise(self, group: int) -> float:
        """Return n times the variance of an even share whose reports have a contrast of 1."""
        place = self.groups[group][0]
        k = self.parts[place].k
        return float(contrast_variance(np.array(1.0), k, self.sizes[place], 1 / k))

    def _share_goal(self, group: int, weight: float, share: float | None) -> "Goal":
        """Return the goal of a group's shares at a truth, relative to separate draws, or even."""
        place = self.groups[group][0]
        part, size = self.parts[place], self.sizes[place]
        usual = 1.0 if share is None else alone(part, self._apart)
        at = 1 / part.k if share is None else share

        def variance(contrast: Floats) -> Floats:
            return contrast_variance(contrast, part.k, size, at) / usual

        return Goal(self._contrast(group), weight, variance)

    def solved(self) -> Pattern:
        """Return the best pattern."""
        rounds = Rounds(self)
        rounds.finish()
        return rounds.channel

    @property
    def _each(self) -> Fraction:
        return min(self.each, self.total)

    @cached_property
    def _steps(self) -> tuple[Integers, Integers]:
        """The indices of all pairs of cases that differ in one question. The second agrees less.

        In a question of several parts, any number of parts can differ.
        """
        places = {case: place for place, case in enumerate(self.cases)}
        furthest = [len(group) if self.parts[group[0]].question else 1 for group in self.groups]
        steps = [
            (place, places[after])
            for case, place in places.items()
            for group, most in enumerate(furthest)
            for more in range(1, most + 1)
            if (after := (*case[:group], case[group] + more, *case[group + 1 :])) in places
        ]
        return np.array([one for one, _ in steps]), np.array([other for _, other in steps])

    @cached_property
    def reached(self) -> float:
        """A mean variance that is possible, found without a linear program, mostly near the least.

        Probabilities are equal up to the best number of questions that do not agree. Then they
        fall by `each` for each further question, and by at most `total`.
        """
        # A question of several parts counts once.
        most = [1 if self.parts[group[0]].question else len(group) for group in self.groups]
        number = np.minimum(self.cases, most).sum(axis=1)
        begins = np.linspace(0, int(number.max()), _BEGINS)[:, None]
        falls = np.minimum(float(self.total), float(self._each) * np.maximum(0, number - begins))
        likely = np.exp(-falls) * self.masses
        likely /= likely.sum(axis=1, keepdims=True)
        variances = [goal.weight * goal.value(likely @ goal.contrast) for goal in self.goals]
        return float(np.sum(variances, axis=0).min())

    def limits(self, more: int) -> Any:
        """Return rows whose products with probabilities within the limits are at most 0.

        The columns are the cases, the least v, and `more` that are not used. In each row one entry
        is 1, and another is below 0.
        """
        n = len(self.cases)
        (before, after), every, least = self._steps, np.arange(n), np.full(n, n)
        ones = np.concatenate([every, least, before, after])
        others = np.concatenate([least, every, after, before])
        factors = [exp(self.total), 1.0, *[exp(self._each)] * 2]
        sizes = [n, n, len(before), len(after)]
        rows = np.arange(len(ones))
        entries = np.concatenate([np.ones(len(ones)), -np.repeat(factors, sizes)])
        cells = np.concatenate([rows, rows]), np.concatenate([ones, others])
        return scipy.sparse.csr_array((entries, cells), shape=(len(ones), n + 1 + more))

    def pattern(self, multiples: Floats) -> Pattern:
        """Return a channel of these probabilities in whole weights, exactly within both limits."""
        d = len(self.parts)
        limits = exp_lower(self.total), exp_lower(self._each)
        for margin in _MARGINS:
            chances = np.exp(self._within(np.log(np.maximum(multiples, 1e-300)), margin))
            chances *= self.masses
            chances /= chances.sum()
            of_case = dict(zip(self.cases, chances.tolist(), strict=True))
            if len(self.groups) == 1:
                real = [of_case[(number,)] for number in range(d + 1)]
            else:
                real = [self._of_pattern(pattern, of_case) for pattern in range(2**d)]
            weights = [max(1, round(x * (self.whole or LARGEST_TOTAL // 2))) for x in real]
            if self.whole:
                weights[weights.index(max(weights))] += self.whole - sum(weights)
            channel = Pattern(tuple(p.k for p in self.parts), self.sizes, tuple(weights))
            channel.check()
            ones = {channel.ratio(parts) for parts in questions_of(self.parts)}
            if channel.ratio() <= limits[0] and max(ones) <= limits[1]:
                return channel
        raise ValueError("limits must leave room for whole weights")

    def _of_pattern(self, pattern: int, of_case: dict[tuple[int, ...], float]) -> float:
        """Return the probability of a pattern. All patterns of a case are equally likely."""
        case = tuple(sum(pattern >> place & 1 for place in group) for group in self.groups)
        ways = (comb(len(g), number) for g, number in zip(self.groups, case, strict=True))
        return of_case[case] / prod(ways)

    def _within(self, logs: Floats, margin: float) -> Floats:
        """Return the least logarithms that are at least these, within the limits less a margin.

        The solver's tolerance may leave one too far below a neighbor or the largest. It is raised.
        """
        step, most = float(self._each) - margin, float(self.total) - margin
        ones, others = self._steps
        logs = np.maximum(logs, logs.max() - most)
        for _ in range(len(self.parts)):
            np.maximum.at(logs, ones, logs[others] - step)
            np.maximum.at(logs, others, logs[ones] - step)
        return logs


def _stacked(above: Any, below: Floats) -> Any:
    """Return the rows of a sparse or dense array, and the rows of another below them."""
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return scipy.sparse.vstack([above, scipy.sparse.csr_array(below)], format="csr")


class Rounds:
    """The linear programs of `Program`, solved one after another until design and bound agree.

    `variance` is the mean variance of the best probabilities so far, and no design is below
    `bound`. Both refer to probabilities before they are made whole, which changes them by about a
    millionth.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.variance, self.bound = np.inf, 0.0
        self.is_done = False
        self._left = _ROUNDS
        self._found: Floats | None = None
        goals, masses, n = program.goals, program.masses, len(program.cases)
        # The columns are v of each case as a multiple of the even probability, the least v, and
        # each variance.
        self._contrasts = np.array([np.append(goal.contrast * masses, 0) for goal in goals])
        self._cost = np.concatenate([np.zeros(n + 1), [goal.weight for goal in goals]])
        self._sum = np.concatenate([masses, np.zeros(1 + len(goals))])[None]
        limits = program.limits(len(goals))
        # For small programs, dense rows are faster.
        self._limits = limits.toarray() if n <= _SMALL else limits
        self._rows, self._sides = np.empty((0, limits.shape[1])), np.zeros(limits.shape[0])
        for which, goal in enumerate(goals):
            self._add(which, _PLACES * float(goal.contrast.max()))

    def _add(self, which: int, at: Floats) -> None:
        """Add tangents of a goal at these contrasts."""
        values, slopes = self.program.goals[which].tangents(at)
        tangents = np.zeros((len(at), self._rows.shape[1]))
        tangents[:, : self._contrasts.shape[1]] = slopes[:, None] * self._contrasts[which]
        tangents[:, self._contrasts.shape[1] + which] = -1
        # Rows are scaled to about equal size, since the solver has one tolerance for all.
        scales = np.maximum(1, np.abs(slopes))
        self._rows = np.concatenate([self._rows, tangents / scales[:, None]])
        self._sides = np.concatenate([self._sides, (slopes * at - values) / scales])

    def step(self) -> None:
        """Solve one more program."""
        result = scipy.optimize.linprog(
            self._cost,
            A_ub=_stacked(self._limits, self._rows),
            b_ub=self._sides,
            A_eq=self._sum,
            b_eq=[1.0],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10},
        )
        self._left -= 1
        self.is_done = result.x is None or not self._left
        if result.x is None:
            return
        self.bound = max(self.bound, float(result.fun))
        goals, n = self.program.goals, len(self.program.cases)
        reached = [float(row @ result.x[: n + 1]) for row in self._contrasts]
        variance = sum(
            goal.weight * float(goal.value(np.array(c)))
            for goal, c in zip(goals, reached, strict=True)
        )
        if variance < self.variance:
            self.variance, self._found = variance, result.x[:n]
        if self.variance - self.bound <= self.program.gap * self.variance:
            self.is_done = True
            return
        for which, contrast in enumerate(reached):
            if contrast > 0:
                self._add(which, np.array([contrast]))

    def finish(self) -> None:
        """Solve programs until the design is near enough to the bound."""
        while not self.is_done:
            self.step()

    def beats(self, other: "Rounds") -> bool:
        """Return whether its variance will be below that of `other`; solve what this takes."""
        while not (self.is_done and other.is_done):
            if self.bound > other.variance * (1 + _NO_BETTER):
                return False
            if other.bound > self.variance * (1 + _NO_BETTER):
                return True
            (self if other.is_done else other).step()
        return self.variance < other.variance

    @property
    def channel(self) -> Pattern:
        """The best probabilities so far as whole weights, exactly within both limits."""
        if self._found is None:
            raise ValueError("limits must leave room for a design")
        return self.program.pattern(self._found)
