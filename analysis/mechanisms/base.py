"""The base of mechanisms: recipes from a domain and ε to a randomizer, and back to estimates."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy

from analysis.core.domain import Domain
from analysis.core.epsilon import TooCoarse
from analysis.core.randomizer import AnyRandomizer
from analysis.core.types import Floats, Integers

#: Parameters of a mechanism, or of a wish such as `aim`, by their keys in the survey file.
Params = Mapping[str, Any]

#: A number, or many at once.
_Numbers = TypeVar("_Numbers", float, Floats)


@dataclass(frozen=True)
class Share:
    """The rule by which the share of one value is estimated from the reports that support it.

    A report supports the value with probability `p` if it is the respondent's value, and with
    probability `q` otherwise. So the support count is binomial, and ``(count / trials - q) / (p -
    q)`` is unbiased (Wang et al., USENIX Security 2017, section 3; docs/methods.md, (3)). A
    proportion `portion` of all reports are trials of this value.
    """

    term: str
    p: Fraction
    q: Fraction
    portion: Fraction = Fraction(1)

    @cached_property
    def chances(self) -> tuple[float, float]:
        """`p` and `q` as floats."""
        return float(self.p), float(self.q)

    def support(self, share: _Numbers) -> _Numbers:
        """Return the probability that a trial supports the value, at each true share."""
        chance = self.chances[1] + self._gap * share
        if isinstance(chance, float):
            return min(1.0, max(0.0, chance))
        return np.minimum(1.0, np.maximum(0.0, chance))

    def estimate(self, count: _Numbers, trials: int) -> _Numbers:
        """Return the unbiased estimate of the share, for each count of trials that support it."""
        return (count / trials - self.chances[1]) / self._gap

    def variance(self, share: _Numbers) -> _Numbers:
        """Return the variance of the estimate from one report, at each true share.

        By hand: with p = 3/4, q = 1/4 and share 1/2, a report supports the value with probability
        1/2, so the variance is (1/4) / (1/2)^2 = 1.
        """
        return self._spread(share) / self._gap**2 / float(self.portion)

    def std_error(self, share: _Numbers, trials: int) -> _Numbers:
        """Return the standard deviation of the estimate from `trials` trials, at each true share.

        See docs/methods.md, (4).
        """
        error: _Numbers = (self._spread(share) / trials) ** 0.5 / abs(self._gap)
        return error

    @cached_property
    def _gap(self) -> float:
        p, q = self.chances
        return p - q

    def _spread(self, share: _Numbers) -> _Numbers:
        """Return the variance of the indicator that a trial supports the value."""
        support = self.support(share)
        return support * (1 - support)

    @property
    def poisoning(self) -> float:
        """The number of honest people that one fake report outweighs: its largest score."""
        return float(max(1 - self.q, self.q) / abs(self.p - self.q) / self.portion)


@dataclass(frozen=True)
class Shares:
    """The values whose shares follow from support counts, and the function that counts support.

    `count` takes a (cohorts, symbols) tally and returns two (values,) arrays: the number of reports
    that support each value, and the number that could have.
    """

    values: tuple[Share, ...]
    count: Callable[[Integers], tuple[Integers, Integers]]


@dataclass(frozen=True)
class Mean:
    """The rule by which a mean is estimated from scores of the cohorts' symbols, in order.

    The mean is over those who answered: the ratio of the averages of `scores` and `present`, times
    `width`, plus `low` (docs/methods.md, (10)). The expectation of `scores` is the quantity, on a
    scale where it lies in 0..1, and 0 for no-answer. The expectation of `present` is 1 for every
    answer and 0 for no-answer. The expectation of `squares`, if they are known, is the quantity's
    square; for numbers between two grid points the variance of rounding is added.

    A report that counts for several symbols has the sum of their scores. `second` then returns,
    from a tally, the (symbols, symbols) averages of the products of one report's counts.
    """

    term: str
    scores: Sequence[Fraction]
    present: Sequence[Fraction]
    squares: Sequence[Fraction] | None
    low: Fraction = Fraction(0)
    width: Fraction = Fraction(1)
    second: Callable[[Integers], Floats] | None = None

    @cached_property
    def floats(self) -> tuple[Floats, Floats]:
        """`scores` and `present` as floats."""
        return np.array(self.scores, dtype=float), np.array(self.present, dtype=float)

    @property
    def poisoning(self) -> float:
        """The number of honest people that a fake outweighs, if each can move it by `width`."""
        if self.second is not None:
            # The scores of a report's symbols add up. In the worst case, all have the same sign.
            up = sum(score for score in self.scores if score > 0)
            return float(max(up, up - sum(self.scores)))
        pairs = zip(self.scores, self.present, strict=True)
        return float(max(max(abs(score), abs(score - there)) for score, there in pairs))


NO_SHARES = Shares((), lambda counts: (np.zeros(0, np.int64), np.zeros(0, np.int64)))


class Mechanism(ABC):
    """A mechanism. Most take an ε and use no other key of a question."""

    name: ClassVar[str]
    #: Its name in a section on methods, and its keys in `analysis.study.references`.
    called: ClassVar[str]
    cites: ClassVar[tuple[str, ...]]
    #: The kinds of domains that it serves. `fits` may restrict them.
    serves: ClassVar[tuple[type, ...]]
    #: The keys of probabilities that it takes instead of ε; None if it takes ε.
    parameters: ClassVar[tuple[str, ...] | None] = None
    #: The keys of whole numbers that its table may have besides its name. It chooses the others.
    options: ClassVar[tuple[str, ...]] = ()
    #: Other keys of a question that it uses.
    heeds: ClassVar[tuple[str, ...]] = ()

    def shows_ranges(self, randomizer: AnyRandomizer) -> bool:
        """Return whether reports that show more than a mean show the numbers' distribution."""
        return True

    def fits(self, domain: Domain) -> bool:
        """Return whether it serves questions with this domain."""
        return isinstance(domain, self.serves)

    @abstractmethod
    def compile(self, domain: Any, epsilon: Fraction, params: Params) -> AnyRandomizer:
        """Return a randomizer with ``ratio <= e^epsilon``, as near to that as whole weights can be.

        A mechanism with `parameters` takes ε from them, and ignores `epsilon`.

        Raise TooCoarse if 32-bit weights cannot serve this domain at this ε. Raise ValueError if it
        does not serve this domain, or these parameters.
        """

    def remark(self, domain: Any, epsilon: Fraction, params: Params) -> str:
        """Return a sentence on what an author must know about its choices; empty if nothing."""
        return ""

    def shares(self, randomizer: Any, domain: Any) -> Shares:
        """Return the values whose shares follow from support counts, in the domain's order."""
        return NO_SHARES

    def means(self, randomizer: Any, domain: Any) -> tuple[Mean, ...]:
        """Return the means that its reports show, and shares that have no support count."""
        return ()

    def share_scores(self, randomizer: Any, domain: Any) -> Any:
        """Return a sparse (values, cells) array of what each cell of a tally adds to each share.

        Preconditions: one of the domain's values is true, and the mechanism's means are their
        shares.
        """
        means = {mean.term: mean for mean in self.means(randomizer, domain)}
        rows = [means[term].scores for term in domain.alternatives]
        return scipy.sparse.csr_array(np.array(rows, dtype=float))


RandomizerT = TypeVar("RandomizerT", bound=AnyRandomizer)


def spends(randomizer: RandomizerT, epsilon: Fraction) -> RandomizerT:
    """Return the randomizer if it is sound and spends nearly all of `epsilon`.

    Raise TooCoarse if more than a hundredth of ε is lost because weights must be whole and sum to
    at most 2^32. Then the domain is too large for so small an ε.
    """
    randomizer.check()
    randomizer.check_epsilon(epsilon)
    if randomizer.epsilon < 0.99 * float(epsilon):
        raise TooCoarse(
            f"epsilon must be larger for so many values, got {float(epsilon)}: "
            f"weights of 32 bits give only {randomizer.epsilon:.3g}"
        )
    return randomizer
