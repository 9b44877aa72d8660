"""Masses on a lattice of privacy losses: upper bounds of sums of independent losses.

Masses that are moved go to a larger loss, so that the result bounds every δ from above. All terms
are positive. So rounding changes each mass by a small fraction, and small masses are as precise as
large ones. `rounding` adds up the most that this can be.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The rounding of one operation on floats.
ULP = float(np.finfo(float).eps)
#: Tails of at most this mass are moved up, the upper tail to infinity.
_NEGLIGIBLE = 1e-25
#: A lattice with more points gets twice the step. Its masses then spread over about 400 points, and
#: moving them by one point adds a millionth to the variance.
_POINTS = 8192
#: A step smaller than a loss over this would seem to divide any loss.
_PARTS = 2000


@dataclass(frozen=True)
class Lattice:
    """Masses of the losses ``step * start``, ``step * (start + 1)``, ..., and of infinity."""

    step: float
    start: int
    masses: NDArray[np.float64]
    infinite: float
    rounding: float

    @property
    def losses(self) -> NDArray[np.float64]:
        """Return the (points,) losses in rising order."""
        return self.step * np.arange(self.start, self.start + len(self.masses), dtype=np.float64)

    @property
    def reach(self) -> float:
        """Return the largest absolute loss."""
        return self.step * max(-self.start, self.start + len(self.masses) - 1)

    @classmethod
    def of(
        cls,
        step: float,
        losses: NDArray[np.float64],
        masses: NDArray[np.float64],
        infinite: float = 0.0,
        rounding: float = 0.0,
    ) -> "Lattice":
        """Return the lattice of masses of losses, each split between the two points around it.

        A loss that is a point stays exact.

        A mass p under the first input is p e^(-loss) under the second. The split keeps both. So it
        interpolates every δ between points from above, linearly in e^ε (Doroshenko, Ghazi, Kamath,
        Kumar and Manurangsi, "Connect the dots", PoPETs 2022).
        By hand: if a loss lies halfway and the step is small, half of its mass goes to either
        point.
        """
        below = np.floor(losses / step)
        beyond = np.clip(losses - below * step, 0, step)
        upper = np.minimum(np.expm1(-beyond) / np.expm1(-step) * (1 + 4 * ULP), 1)
        start = int(below[0])
        points = (below - start).astype(np.int64)
        split: NDArray[np.float64] = np.zeros(points[-1] + 2)
        np.add.at(split, points, masses * (1 - upper))
        np.add.at(split, points + 1, masses * upper)
        return cls(step, start, split, infinite, rounding + 8 * ULP)._trimmed()

    def on(self, step: float) -> "Lattice":
        """Return the same losses on the points of another step."""
        return Lattice.of(step, self.losses, self.masses, self.infinite, self.rounding)

    def joined(self, other: "Lattice") -> "Lattice":
        """Return the sum of two independent losses on one step. Terms of mass 0 take no time."""
        few, many = sorted((self.masses, other.masses), key=np.count_nonzero)
        points = np.flatnonzero(few)
        if 4 * len(points) > len(few):
            masses = np.convolve(many, few)
        else:
            masses = np.zeros(len(many) + len(few) - 1)
            for point in points:
                masses[point : point + len(many)] += few[point] * many
        return Lattice(
            self.step,
            self.start + other.start,
            masses,
            self.infinite + other.infinite,
            self.rounding + other.rounding + (len(points) + 2) * ULP,
        )._trimmed()

    def times(self, reports: int) -> "Lattice":
        """Return the sum of `reports` >= 1 independent such losses, by repeated squaring."""
        total, power = None, self
        for place in range(reports.bit_length()):
            if place:
                power = power.joined(power)
                while len(power.masses) > _POINTS:
                    power = power.on(2 * power.step)
            if reports >> place & 1:
                if total is not None and total.step != power.step:
                    total = total.on(power.step)
                total = power if total is None else total.joined(power)
        assert total is not None
        return total

    def _trimmed(self) -> "Lattice":
        """Return the lattice without points of negligible mass at its ends."""
        last = len(self.masses) - int(
            np.searchsorted(np.cumsum(self.masses[::-1]), _NEGLIGIBLE, side="right")
        )
        first = int(np.searchsorted(np.cumsum(self.masses), _NEGLIGIBLE, side="right"))
        masses = self.masses[first:last].copy()
        masses[0] += self.masses[:first].sum()
        infinite = self.infinite + float(self.masses[last:].sum())
        return Lattice(self.step, self.start + first, masses, infinite, self.rounding)


def common_step(steps: NDArray[np.float64]) -> float | None:
    """Return the largest step of which all these are multiples, up to a millionth.

    It is None if the step is not the smallest number over 1 to 64. Precondition: all are above 0.
    """
    smallest = float(steps.min())
    for parts in range(1, 65):
        multiples = np.rint(steps * (parts / smallest))
        ratios = steps / multiples
        if multiples.max() <= _PARTS and ratios.max() - ratios.min() <= 1e-6 * ratios.max():
            # This takes the largest quotient, so that no number is rounded down.
            return float(ratios.max())
    return None
