"""Mechanisms for a number that add integer noise on a grid.

A sum outside the range of the numbers is moved to its border, which costs no more ε. The
estimate of the mean corrects for the border.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from analysis.core.channels.shift import Shift
from analysis.core.domain import Domain, Numbers
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import TooCoarse, exp_lower
from analysis.core.gaussian import analytic_sigma
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, spends
from analysis.mechanisms.inverted_table import number_mean

#: The numbers of steps to choose from. Rounding to the finest grid adds at most 2^-14 of the
#: squared range to the variance. But if noise is wide, a fine grid's points can hardly be
#: distinguished.
_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64)

#: The finest grid that an author can ask for. Exact scores of it take .7 s, and 12 s at 200 steps.
FINEST = 100
#: The grids whose precision `check` prints.
_TOLD = (1, 2, 5, 10, 20, 50)

#: The largest variance of one report's score, in squared ranges, at which a distribution is shown.
#: For a skewed distribution, bands of `distribution` covered .62 of ten ranges with `laplace` at ε
#: = 1 (whose variance is above this), .88 at ε = 4, and .88 with `square-wave` at ε = 1.
_LOUD = 0.25

#: Tails of 32-bit weights cannot show a smaller δ.
SMALLEST_DELTA = Fraction(1, 10**7)
#: At a larger δ, reports reveal their answers outright too often to be called private.
LARGEST_DELTA = Fraction(1, 100)
#: The δ of a survey of format 1 that does not state one.
USUAL_DELTA = Fraction(1, 10**6)
#: By how much less ε a draft may ask for, until its rounded weights keep the bound.
_SLACK = (0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 5e-3)


class Noise(Mechanism):
    """A mechanism for required questions only, since noise cannot stand for no-answer.

    It adds noise on a grid of `steps` equal steps from the least number to the largest. The default
    is the number of steps with the least variance of the mean. At small ε that is one step: numbers
    are rounded to the ends of their range, and reports show the mean alone.

    ``{name = "laplace", steps = 20}``
    """

    options: ClassVar[tuple[str, ...]] = ("steps",)
    serves: ClassVar[tuple[type, ...]] = (Numbers,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and not domain.no_answer

    @abstractmethod
    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        """Return the channel on a grid of `steps` steps, before its rounding is made safe."""

    def noise(self, steps: int, epsilon: Fraction, params: Params) -> Randomizer[Grid, Shift]:
        """Return the randomizer on a grid of `steps` steps."""
        bound, asked = exp_lower(epsilon), float(epsilon)
        # Rounding can exceed the bound slightly, so slack grows until it does not.
        for slack in _SLACK:
            shift = self.draft(steps, asked * (1 - slack), params)
            if shift.ratio() <= bound:
                break
        return spends(Randomizer(Grid(steps, steps + 1), shift), epsilon)

    def compile(
        self, domain: Numbers, epsilon: Fraction, params: Params
    ) -> Randomizer[Grid, Shift]:
        if not self.fits(domain):
            raise ValueError(
                f"{self.name} must have required = true and no shows_if, since noise cannot "
                "stand for no-answer"
            )
        finest = min(FINEST, domain.steps)
        steps = params.get("steps") or self._best_steps(domain, epsilon, params)
        if not 1 <= steps <= finest:
            raise ValueError(
                f"{self.name}: steps must be a whole number from 1 to {finest}, got {steps}"
            )
        return self.noise(steps, epsilon, params)

    def _best_steps(self, domain: Numbers, epsilon: Fraction, params: Params) -> int:
        return min(
            (steps for steps in _STEPS if steps <= domain.steps),
            key=lambda steps: self._variance(steps, epsilon, params),
        )

    def _variance(self, steps: int, epsilon: Fraction, params: Params) -> float:
        return _worst_variance(self.draft(steps, float(epsilon), params))

    def remark(self, domain: Numbers, epsilon: Fraction, params: Params) -> str:
        """Return a sentence on the chosen grid, the reason for it, and the cost of others."""
        best = self._best_steps(domain, epsilon, params)
        steps = params.get("steps", best)
        spread = self._variance(steps, epsilon, params)
        why = "as its author asks" if "steps" in params else "which has the least variance"
        told = f"{self.name} rounds numbers to a grid of {_counted(steps)}, {why}"
        if steps == 1 < domain.steps:
            told += "; reports then show the mean alone, no quartiles and no distribution"
        finer = [other for other in _TOLD if best < other <= domain.steps]
        others = [other for other in dict.fromkeys([best, *finer]) if other != steps]
        prices = ", ".join(
            f"{_times(self._variance(other, epsilon, params) / spread)} with {_counted(other)}"
            for other in others
        )
        if not prices:
            return told
        needs = "the mean needs more respondents by these factors"
        return f"{told}. With another `steps`, {needs}: {prices}"

    def shows_ranges(self, randomizer: Randomizer[Grid, Shift]) -> bool:
        return _worst_variance(randomizer.channel) <= _LOUD

    def means(self, randomizer: Randomizer[Grid, Shift], domain: Numbers) -> tuple[Mean, ...]:
        return number_mean(randomizer, domain)


def _counted(steps: int) -> str:
    return f"{steps} step" + "s" * (steps > 1)


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor < 1000 else "over 1,000"


def _worst_variance(shift: Shift) -> float:
    """Return the worst variance of a report's unbiased score for the number, including rounding."""
    steps = shift.inputs - 1
    weights = shift.chances()
    places = np.linspace(0, 1, shift.inputs)
    try:
        squares = weights @ np.linalg.solve(weights, places) ** 2
    except np.linalg.LinAlgError:
        return float("inf")
    part = np.linspace(0, 1, 9)[:, None]
    mixed = (1 - part) * squares[:-1] + part * squares[1:]
    return float((mixed - (places[:-1] + part / steps) ** 2).max())


def _on_grid(half: Sequence[float]) -> Shift:
    """Return the channel of a density of the noise 0, 1, 2, ..., whose last entry is the tail.

    The tail is all noise at the border of the range or beyond it.
    """
    steps = len(half) - 1
    scale = (WORD - 2 * steps) / (half[0] + 2 * sum(half[1:]))
    weights = [max(1, round(scale * density)) for density in half]
    return Shift(steps + 1, (*reversed(weights[1:]), *weights))


class Laplace(Noise):
    """Discrete Laplace noise, clamped to the range: the truncated geometric mechanism.

    Dwork, McSherry, Nissim and Smith, TCC 2006, for the real line; Ghosh, Roughgarden and
    Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM Journal on Computing
    2012, for integers. Channel: encoder `grid` of M steps, `shift` with weights near r^|z|,
    r = e^(-ε/M).
    By hand: with M = 1 and r = 1/3, the weights 1/4, 1/2, 1/4 of -1, 0, 1 keep an end 3 times in 4,
    so ε = ln 3.

    It is the best-known noise. Mechanisms that are designed for the mean are better at every ε.
    """

    name: ClassVar[str] = "laplace"
    called: ClassVar[str] = "discrete Laplace noise, clamped to the range"
    cites: ClassVar[tuple[str, ...]] = ("ghosh2012",)

    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        rate = epsilon / steps
        # 1 + r + r^2 + ... = 1 / (1 - r): the sum of the tail.
        tail = math.exp(-epsilon) / -math.expm1(-rate)
        return _on_grid([*(math.exp(-rate * size) for size in range(steps)), tail])


class Gaussian(Noise):
    """Discrete Gaussian noise, clamped to the range; it is ε-DP, with δ = 0.

    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.
    Unclamped Gaussian noise satisfies only (ε, δ)-DP. Clamping leaves a finite table, all of
    whose reports are possible under every number, so that its largest ratio is finite: σ is the
    smallest at which that ratio is at most e^ε. Channel: encoder `grid` of M steps, `shift` with
    weights near e^(-z² / 2σ²).

    It serves comparisons with central deployments. Above about ε = 1 it needs more respondents than
    `Laplace`.

    With a `delta`, as in survey files of format 1, σ is the smallest at which the exact δ of the
    table at ε is at most this, and the true ε of its reports is larger than the one stated.
    """

    name: ClassVar[str] = "gaussian"
    called: ClassVar[str] = "discrete Gaussian noise, clamped to the range"
    cites: ClassVar[tuple[str, ...]] = ("canonne2022",)
    heeds: ClassVar[tuple[str, ...]] = ("delta",)

    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        if "delta" in params:
            delta = float(_delta(params))
            high = steps * analytic_sigma(epsilon, delta)
            return _least_noise(steps, high, lambda shift: _worst_delta(shift, epsilon) <= delta)
        # The log-ratio is about 1.6 M/σ where it is small, and M²/2σ² where it is large.
        high = steps * (2 / epsilon + 1)
        return _least_noise(steps, high, lambda shift: _log_ratio(shift) <= epsilon)

    def noise(self, steps: int, epsilon: Fraction, params: Params) -> Randomizer[Grid, Shift]:
        if "delta" not in params:
            return super().noise(steps, epsilon, params)
        delta = _delta(params)
        limit = exp_lower(epsilon).limit_denominator(2**31)
        if limit > exp_lower(epsilon):
            limit -= Fraction(1, 2**31)
        # Floats can exceed the bound slightly, so slack grows until the exact δ fits.
        for slack in (0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
            shift = self.draft(steps, float(epsilon) * (1 - slack), params)
            randomizer = Randomizer(Grid(steps, steps + 1), shift, limit)
            if randomizer.delta <= delta:
                break
        else:
            raise TooCoarse("weights of 32 bits are too coarse for so small an epsilon and delta")
        randomizer.check()
        randomizer.check_epsilon(epsilon)
        return randomizer


def _least_noise(steps: int, high: float, fits: Callable[[Shift], bool]) -> Shift:
    """Return clamped noise of the least σ, in steps, that fits; σ = `high` must fit."""
    low = high / 1000
    for _ in range(30):
        sigma = (low * high) ** 0.5
        low, high = (low, sigma) if fits(_clamped(steps, sigma)) else (sigma, high)
    return _clamped(steps, high)


def _log_ratio(shift: Shift) -> float:
    """Return the largest log-ratio of the probabilities of one report, in floats."""
    logs = np.log(shift.chances())
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def _delta(params: Params) -> Fraction:
    """Return the δ that a survey of format 1 states."""
    delta = params["delta"]
    delta = delta if isinstance(delta, Fraction) else Fraction(repr(delta))
    if not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise ValueError(
            f"delta must be from {float(SMALLEST_DELTA):g} to {float(LARGEST_DELTA):g}, "
            f"got {float(delta):g}"
        )
    return delta


def _worst_delta(shift: Shift, epsilon: float) -> float:
    """Return δ at this ε for the two inputs that are easiest to distinguish."""
    rows = shift.chances()
    return float(
        max(np.maximum(row - math.exp(epsilon) * rows, 0).sum(axis=1).max() for row in rows)
    )


def _clamped(steps: int, sigma: float) -> Shift:
    """Return clamped noise with this σ in steps."""
    sizes = np.arange(math.ceil(steps + 12 * sigma))
    density = np.exp(-((sizes / sigma) ** 2) / 2)
    return _on_grid([*density[:steps].tolist(), float(density[steps:].sum())])
