"""Margins: questions whose answers have known shares in the population, and their file."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isinf
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.errors import SurveyError
from analysis.estimate import Floats
from analysis.estimate.columns import Column
from analysis.survey.document import Table, read_toml
from analysis.survey.mechanism_file import probability

#: A group's known share must be at least this many standard errors of its estimate from reports.
LEAST = 4.0
#: The shares of a margin may miss a sum of 1 by this much.
_MISSED = 1e-6


@dataclass(frozen=True)
class Margin:
    """A question whose answers have known shares in the population, as respondents reported on it.

    Attributes
    ----------
    column : Column
    shares : mapping
        The share of each answer in the population, above 0; they sum to 1. No-answer has none.
    """

    column: Column
    shares: Mapping[str, float]

    def __post_init__(self) -> None:
        name, answers = self.column.name, self.column.answers
        if set(self.shares) != set(answers):
            raise ValueError(
                f"{name}: margins must have a share for each of {', '.join(answers)}, got "
                f"{', '.join(self.shares) or 'none'}"
            )
        if not all(0 < share < 1 for share in self.shares.values()):
            raise ValueError(f"{name}: margins must be shares between 0 and 1, got others")
        if abs(sum(self.shares.values()) - 1) > _MISSED:
            raise ValueError(
                f"{name}: margins must sum to 1, got {sum(self.shares.values()):.8g} "
                '(write "1/3" rather than 0.333)'
            )

    @property
    def known(self) -> Floats:
        """(answers,) the known shares, in the order of the column's values."""
        return np.array([self.shares[answer] for answer in self.column.answers])

    @property
    def errors(self) -> Floats:
        """(answers,) the standard errors of the groups' shares if respondents had the known shares.

        If the reports' law cannot be listed, they follow from the reports that were made.
        """
        column, k = self.column, len(self.known)
        if column.whole and len(column.values) == k:
            law = column.chances @ self.known
        else:
            law = column.counts() / column.n
        variances = law @ column.scores[:, :k] ** 2 - self.known**2
        return np.asarray(np.sqrt(np.maximum(variances, 0) / column.n))

    def check_told(self) -> None:
        """Raise TooNoisy if respondents are too few for the noise."""
        ratios = self.known / np.maximum(self.errors, 1e-12)
        worst = int(np.argmin(ratios))
        if ratios[worst] < LEAST:
            needed = ceil(self.column.n * (LEAST / ratios[worst]) ** 2)
            message = (
                f"{self.column.name}: too few respondents to calibrate: with {self.column.n:,} at "
                f"ε = {self.column.epsilon:.3g}, the standard error of the share of "
                f'"{self.column.answers[worst]}" is {self.errors[worst]:.2g}; at most a quarter of '
                f"its known share {self.known[worst]:.4g} is allowed. That takes {needed:,} "
                "respondents"
            )
            raise TooNoisy(message, self, needed)


class TooNoisy(ValueError):
    """Respondents are too few for the noise of a margin; `needed` is the number it takes."""

    def __init__(self, message: str, margin: Margin, needed: int) -> None:
        super().__init__(f"{message}, a larger ε of this question, or answers that are joined")
        self.message, self.margin, self.needed = message, margin, needed

    def with_epsilon(self, epsilon: float | None) -> ValueError:
        """Return an error that also says which ε it takes: None if unknown, inf if none."""
        if epsilon is None:
            return self
        if isinf(epsilon):
            return ValueError(f"{self.message}, or answers that are joined; no ε is enough")
        return ValueError(f"{self.message}, or ε = {epsilon:.1f} of this question")


def read_margins(path: Path) -> dict[str, dict[str, float]]:
    """Read the shares of answers in the population: a table for each question.

    Raises
    ------
    SurveyError
        If the file cannot be read, or if shares are not between 0 and 1 with the sum 1. The message
        says where, what was expected, and what was there.
    """
    data = read_toml(path)
    if not data:
        raise SurveyError(
            f"{path}: expected a table for each question, such as [sex] with women = 0.52 and "
            "men = 0.48, got none"
        )
    return {name: _shares(name, table, path) for name, table in data.items()}


def _shares(name: str, answers: Any, path: Path) -> dict[str, float]:
    place = f"{path}: [{name}]"
    if not isinstance(answers, dict) or not answers:
        raise SurveyError(f"{place}: expected a table with the share of each answer")
    table = Table(answers, place)
    shares = {answer: Fraction(probability(table, answer)) for answer in answers}
    total = float(sum(shares.values()))
    if abs(total - 1) > _MISSED:
        raise SurveyError(
            f'{place}: shares must sum to 1, got {total:.8g} (write "1/3" rather than 0.333)'
        )
    return {answer: float(share) for answer, share in shares.items()}
