"""One estimated quantity of a question, as `analysis.estimate` puts it into its table."""

from dataclasses import dataclass

from analysis.intervals import Interval


@dataclass(frozen=True)
class Quantity:
    """What there is to say of one term; `label` if it is not one of the author's."""

    term: str
    value: float | None
    std_error: float | None
    interval: Interval
    n_eff: float | None
    flags: tuple[str, ...] = ()
    label: str | None = None


def possible_share(value: float, n: int) -> float:
    """The nearest share that can be, and not 0 or 1 itself, which no `n` reports can prove.

    There the variance would be too small, or nothing.
    """
    least = 1 / (n + 2)
    return min(1 - least, max(least, value))


def people_directly(value: float, std_error: float, n: int) -> float:
    """How many people, asked directly, would give a share with this standard error."""
    possible = possible_share(value, n)
    return possible * (1 - possible) / std_error**2
