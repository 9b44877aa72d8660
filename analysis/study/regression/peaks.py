"""Starts of climbs to the peaks of a profile that has several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.climbing import climb_from
from analysis.study.regression.likelihood import Point

Array = NDArray[np.float64]

#: The log-odds of a usual respondent at which climbs to other peaks start, along each coefficient.
_STEEP = (-12.0, -3.0, 0.0, 3.0, 12.0)
#: The most starts, which are the likeliest, and the most points that are moved to be starts.
_STARTS, _MOST_POSSIBLE = 4, 8
#: A climb ends if a step would gain less than this.
_ROUGH = 1e-2
#: No higher peak is searched for if the log-likelihood exceeds the wanted least by this.
_WITHIN = 0.2
#: A smaller fraction of a coefficient counts as 0.
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
        Orthonormal columns, along which the function is constant.
    tangent : (parameters,) array
        The derivative of the likeliest parameters by the function near the maximum.
    axes : (terms, parameters) array
        The derivatives of parameters by each coefficient, if all others stay.
    """

    best: Point
    row: Array
    ways: Array
    tangent: Array
    axes: Array

    def highest(
        self, at: float, starts: list[Point], possible: Sequence[Array], least: float | None
    ) -> Point | None:
        """Return the likeliest point where the function is `at`; None if reports are impossible.

        Climbs begin at some of the `starts`, at `possible` points that are moved there, and at
        steep slopes. If only values above `least` matter, climbs below end soon, and no climb
        begins after one has ended well above.
        """
        starts = [*starts, *self._steep(at)]
        for one in possible[:: -(-len(possible) // _MOST_POSSIBLE) or 1]:
            starts += self.moved(at, one)
        starts = [start for start in starts if isfinite(start.value)]
        if not starts:
            return None
        # Equally likely starts are on one plateau.
        apart = {round(start.value, 1): start for start in starts}
        highest = starts[0]
        for start in sorted(apart.values(), key=lambda start: -start.value)[:_STARTS]:
            point, _ = climb_from(start, self.ways, _ROUGH, -inf if least is None else least)
            highest = max(highest, point, key=lambda point: point.value)
            if least is not None and highest.value > least + _WITHIN:
                break
        return highest

    def moved(self, at: float, parameters: Array, *tangents: Array) -> list[Point]:
        """Return starts where the function is `at`, moved there from a point along tangents."""
        apart = at - float(self.row @ parameters)
        ways = (self.tangent, self.row / (self.row @ self.row), *tangents)
        return [self.best.likelihood.at(parameters + apart * way) for way in ways]

    def _steep(self, at: float) -> list[Point]:
        """Return starts with steep slopes, including those that separate outcomes."""
        apart = at - float(self.row @ self.best.parameters)
        base = self.best.parameters + apart * self.row / (self.row @ self.row)
        return [
            self.best.likelihood.at(base + (steep - way @ base) * way)
            for way in self._slopes
            for steep in _STEEP
        ]

    @cached_property
    def _slopes(self) -> Array:
        """(slopes, parameters) unit directions that change a coefficient and keep the function.

        Another coefficient compensates.
        """
        weights = self.axes @ self.row
        pivot = int(np.flatnonzero(np.abs(weights) > _NONE * np.abs(weights).max())[0])
        ways = np.delete(self.axes - np.outer(weights / weights[pivot], self.axes[pivot]), pivot, 0)
        return np.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True))
