"""Where to climb from to the peaks of a profile that has several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.climbing import climb_from
from analysis.study.regression.likelihood import Point

Array = NDArray[np.float64]

#: Log-odds of a usual respondent from which to climb to other peaks, along each coefficient.
_STEEP = (-12.0, -3.0, 0.0, 3.0, 12.0)
#: Starts that are climbed from, the likeliest, and points that are moved to be some of them.
_STARTS, _MOST_POSSIBLE = 4, 8
#: Climbs end where a step would gain less.
_ROUGH = 1e-2
#: Log-likelihood: so much above the least that is asked for, no higher peak is looked for.
_WITHIN = 0.2
#: A part of a coefficient that is nothing.
_NONE = 1e-6


@dataclass(frozen=True)
class Peaks:
    """The peaks of the profile of ``row @ parameters``.

    Attributes
    ----------
    best : Point
        The maximum.
    row : (parameters,) array
        The function.
    ways : (parameters, parameters - 1) array
        Orthonormal columns, along which it stays.
    tangent : (parameters,) array
        How the likeliest parameters move with it near the maximum.
    axes : (terms, parameters) array
        How parameters move with each coefficient, if all others stay.
    """

    best: Point
    row: Array
    ways: Array
    tangent: Array
    axes: Array

    def highest(
        self, at: float, starts: list[Point], possible: Sequence[Array], least: float | None
    ) -> Point | None:
        """Return the likeliest point where the function is `at`; None if nobody could report so.

        It is that of climbs from some of the `starts`, of the `possible` points, when they are
        moved there, and of steep slopes. If only what is above a `least` value matters, climbs
        below end soon, and none is begun once there is one well above.
        """
        starts = [*starts, *self._steep(at)]
        for one in possible[:: -(-len(possible) // _MOST_POSSIBLE) or 1]:
            starts += self.moved(at, one)
        starts = [start for start in starts if isfinite(start.value)]
        if not starts:
            return None
        # Starts that are as likely are on one plateau.
        apart = {round(start.value, 1): start for start in starts}
        highest = starts[0]
        for start in sorted(apart.values(), key=lambda start: -start.value)[:_STARTS]:
            point, _ = climb_from(start, self.ways, _ROUGH, -inf if least is None else least)
            highest = max(highest, point, key=lambda point: point.value)
            if least is not None and highest.value > least + _WITHIN:
                break
        return highest

    def moved(self, at: float, parameters: Array, *tangents: Array) -> list[Point]:
        """Return starts where the function is `at`, moved from a point along some tangents."""
        apart = at - float(self.row @ parameters)
        ways = (self.tangent, self.row / (self.row @ self.row), *tangents)
        return [self.best.likelihood.at(parameters + apart * way) for way in ways]

    def _steep(self, at: float) -> list[Point]:
        """Return starts with steep slopes, also those that separate outcomes."""
        apart = at - float(self.row @ self.best.parameters)
        base = self.best.parameters + apart * self.row / (self.row @ self.row)
        return [
            self.best.likelihood.at(base + (steep - way @ base) * way)
            for way in self._slopes
            for steep in _STEEP
        ]

    @cached_property
    def _slopes(self) -> Array:
        """(slopes, parameters) ways, of length 1, to change one coefficient and keep the function.

        Another one makes up for it.
        """
        weights = self.axes @ self.row
        pivot = int(np.flatnonzero(np.abs(weights) > _NONE * np.abs(weights).max())[0])
        ways = np.delete(self.axes - np.outer(weights / weights[pivot], self.axes[pivot]), pivot, 0)
        return np.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True))
