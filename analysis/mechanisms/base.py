"""What a mechanism is: a recipe from (domain, ε) to a randomizer, and back to estimates."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

from analysis.randomizer import Randomizer


@dataclass(frozen=True)
class Share:
    """How the share of one value is estimated: from how many reports support it.

    A report supports the value if it counts for one of `symbols`; it does so with probability `p`
    if the value is the respondent's, with `q` if it is another. So the support count is binomial,
    and ``(count / n - q) / (p - q)`` is unbiased (Wang et al., USENIX Security 2017, section 3).
    """

    term: str
    symbols: tuple[int, ...]
    p: Fraction
    q: Fraction

    def variance(self, share: float) -> float:
        """Variance of the estimate from one report, at a true share."""
        p, q = float(self.p), float(self.q)
        support = q + (p - q) * share
        return support * (1 - support) / (p - q) ** 2


@dataclass(frozen=True)
class Mean:
    """How the mean of a number is estimated: from a score that each symbol carries.

    The expectation of `scores` is the number's place in its range, 0..1, and 0 for no-answer. That
    of `present` is 1 for every number and 0 for no-answer. The mean over those who answered is
    the ratio of their averages. That of `squares` is the square of the number's place (for places
    between two grid points, plus the variance of rounding). Each has one entry for each symbol.
    """

    scores: tuple[Fraction, ...]
    present: tuple[Fraction, ...]
    squares: tuple[Fraction, ...]


class Mechanism(Protocol):
    """What every mechanism offers."""

    name: ClassVar[str]
    domain: ClassVar[type[Any]]

    def compile(self, domain: Any, epsilon: Fraction) -> Randomizer[Any, Any]:
        """A randomizer with ``ratio <= e^epsilon``, and as near to it as its weights can be.

        Raises
        ------
        ValueError
            If 32-bit weights cannot serve this domain at this ε.
        """

    def shares(self, randomizer: Any, domain: Any) -> tuple[Share, ...]:
        """The values whose shares its reports tell, in the order of the domain."""

    def mean(self, randomizer: Any, domain: Any) -> Mean | None:
        """How its reports tell the mean of a number; None if the domain is not one."""


R = TypeVar("R", bound=Randomizer[Any, Any])


def spends(randomizer: R, epsilon: Fraction) -> R:
    """The randomizer, if it is sound and spends nearly all of `epsilon`.

    Raises
    ------
    ValueError
        If more than a hundredth of ε is lost because the weights must be whole and sum to at
        most 2^32: then the domain is too large for so small an ε.
    """
    randomizer.check()
    randomizer.check_epsilon(epsilon)
    if randomizer.epsilon < 0.99 * float(epsilon):
        raise ValueError(
            f"epsilon must be larger for so many values, got {float(epsilon)}: "
            f"weights of 32 bits give only {randomizer.epsilon:.3g}"
        )
    return randomizer
