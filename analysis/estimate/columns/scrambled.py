"""Numbers that respondents scramble: they report the true number with some probability.

A report is the number X with probability p, and otherwise S X + T. S and T are drawn from laws
whose means and standard deviations are known. The expectation of a report is linear in X, and that
of its square is quadratic, so that

    x = (report - b) / a                        has the expectation X,
    y = (report² - B x - C) / A                 has the expectation X²,

with a = p + r μ_S, b = r μ_T, A = p + r (μ_S² + σ_S²), B = 2 r μ_S μ_T, C = r (μ_T² + σ_T²) and
r = 1 - p. So the mean and the variance of the numbers are identified, whatever the laws are, and
nothing else is: quantiles would take the laws themselves (docs/methods.md, (43)).

Sources: Eriksson, International Statistical Review 1973 (S = 0: T replaces the number); Pollock and
Bek, Journal of the American Statistical Association 1976 (p = 0, S = 1: T is added); Eichhorn and
Hayre, Journal of Statistical Planning and Inference 1983 (p = 0, T = 0: S multiplies); Bar-Lev,
Bobovitch and Boukai, Metrika 2004 (T = 0).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.core.errors import SurveyError
from analysis.estimate import Floats
from analysis.estimate.columns.keys import SCRAMBLED, UNKNOWN, is_table
from analysis.estimate.columns.measured import Cells, Precision
from analysis.estimate.columns.number_column import Moment, NumberColumn
from analysis.estimate.columns.sample import Sample
from analysis.estimate.columns.unrelated_number import UnrelatedNumberDesign, read_unrelated_number
from analysis.survey.document import Table
from analysis.survey.mechanism_file import entry_of_matrix


@dataclass(frozen=True)
class Moments:
    """The mean and the standard deviation of a factor, or of a summand, of scrambled numbers."""

    mean: float
    sd: float

    @property
    def square(self) -> float:
        """The mean square."""
        return self.mean**2 + self.sd**2


@dataclass(frozen=True)
class ScrambledDesign:
    """The design of a scrambled number; `truth` is the probability of the number itself."""

    truth: float
    multiply: Moments
    add: Moments

    @property
    def beside(self) -> tuple[str, ...]:
        return ()

    def is_report(self, cell: str) -> bool:
        return False

    @property
    def slope(self) -> float:
        """The slope of a report's expectation in the number."""
        return self.truth + (1 - self.truth) * self.multiply.mean

    def debiased(self, reports: Floats) -> tuple[Floats, Floats]:
        """Return (n,) debiased numbers, and debiased squares of the true numbers."""
        rest, times, plus = 1 - self.truth, self.multiply, self.add
        once = (reports - rest * plus.mean) / self.slope
        square = self.truth + rest * times.square
        apart = 2 * rest * times.mean * plus.mean * once + rest * plus.square
        return once, (reports**2 - apart) / square

    def precision(self, stated: Mapping[str, float]) -> list[Precision]:
        """Return the precision of the mean; `stated` must have the true ``mean`` and ``sd``."""
        if set(stated) != {"mean", "sd"} or not stated["sd"] >= 0:
            got = ", ".join(f"{term} = {value:g}" for term, value in stated.items()) or "nothing"
            raise ValueError(f"expected the true mean of the numbers and an sd >= 0, got {got}")
        rest, times, plus = 1 - self.truth, self.multiply, self.add
        mean = stated["mean"]
        square = (self.truth + rest * times.square) * (mean**2 + stated["sd"] ** 2)
        square += rest * (2 * times.mean * plus.mean * mean + plus.square)
        report = self.slope * mean + rest * plus.mean
        return [Precision("mean", mean, (square - report**2) / self.slope**2)]

    def read(self, name: str, cells: Cells) -> "ScrambledColumn":
        return ScrambledColumn(name, *self.debiased(cells.numbers(name)))


@dataclass(frozen=True)
class ScrambledColumn(NumberColumn):
    """(n,) debiased numbers of respondents, and debiased squares of the true numbers."""

    numbers: Floats
    squares: Floats

    @property
    def n(self) -> int:
        return len(self.numbers)

    @property
    def identified(self) -> str:
        return (
            "a scrambled number has a mean and a variance, and can be the outcome of a linear "
            "model; it is no predictor, and has no shares"
        )

    @property
    def powers(self) -> Floats:
        """(n, 3) debiased powers: 1, the number, and its square."""
        return np.column_stack([np.ones(self.n), self.numbers, self.squares])

    def influences(self, term: str, sample: Sample | None) -> Floats | None:
        weights = np.ones(self.n) if sample is None else sample.weights
        parts = weights / weights.sum()
        scores = self.numbers
        if term == "variance":
            scores = self.squares - 2 * (parts @ self.numbers) * self.numbers
        return np.asarray(parts * (scores - parts @ scores))

    def moments(self, sample: Sample | None, drawn: Sample) -> list[Moment]:
        """Return the mean and the variance of the true numbers.

        The mean is unbiased. Without weights, the variance is unbiased, too. The finite population
        correction of the mean does not reduce the noise of scrambling. It is not applied to the
        variance of the numbers.
        """
        ones = np.ones(self.n)
        mean, error = drawn.ratio(self.numbers, ones, self.numbers**2 - self.squares)
        second, _ = drawn.ratio(self.squares, ones, ones)
        _, whole = drawn.ratio(self.numbers, ones, (self.numbers - mean) ** 2)
        moved = self.squares - 2 * mean * self.numbers
        _, unsure = drawn.ratio(moved, ones, (moved - moved.mean()) ** 2)
        return [
            Moment("mean", mean, error, self.numbers - mean),
            Moment("variance", second - mean**2 + whole, unsure, moved - moved.mean(), 0.0),
        ]


def is_scrambled(table: Table) -> bool:
    """Return whether a column's table describes such a design."""
    design = table.peek("design")
    return isinstance(design, dict) and design.get("name") == SCRAMBLED


def read_scrambled_design(table: Table) -> ScrambledDesign | UnrelatedNumberDesign:
    """Return the design of a scrambled number.

    Raises
    ------
    SurveyError
        If a key or number is wrong, or if reports reveal nothing about the number.
    """
    design = table.take("design", is_table, "a table")
    part = Table(design, f"{table.place}: design")
    part.take("name", lambda _: True, SCRAMBLED)
    if part.peek("replace") == UNKNOWN:
        return read_unrelated_number(table, part)
    table.finish()
    truth = 0.0
    if part.peek("truth") is not None:
        truth = float(entry_of_matrix(part, "truth"))
    keys = ("multiply", "add", "replace")
    expected = dict.fromkeys(keys, "a table of mean and sd")
    expected["replace"] += f', or "{UNKNOWN}"'
    given = {key: part.take(key, is_table, expected[key], None) for key in keys}
    laws = {key: _moments(part, key, value) for key, value in given.items() if value is not None}
    part.finish()
    if not laws or ("replace" in laws and len(laws) > 1) or truth == 1:
        raise SurveyError(
            f"{part.place}: expected multiply, add or both, or replace, each a table of mean and "
            f"sd, and truth below 1, got {', '.join(laws) or 'none of them'}"
        )
    nothing = Moments(0.0, 0.0)
    times = laws.get("multiply", nothing if "replace" in laws else Moments(1.0, 0.0))
    found = ScrambledDesign(truth, times, laws.get("add", laws.get("replace", nothing)))
    if abs(found.slope) < 1e-9:
        raise SurveyError(
            f"{part.place}: reports must rise or fall with the number on average; these do not: "
            "truth + (1 - truth) * the mean of multiply is 0"
        )
    return found


def _moments(part: Table, key: str, given: dict[str, Any]) -> Moments:
    inner = Table(given, f"{part.place}: {key}")
    mean = inner.number("mean", "a number")
    sd = inner.number("sd", "a number of at least 0", _not_negative)
    inner.finish()
    return Moments(float(Fraction(mean)), float(Fraction(sd)))


def _not_negative(number: Any) -> bool:
    return bool(Decimal(number) >= 0)
