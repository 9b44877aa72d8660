"""What the classic designs have in common: two answers, and probabilities instead of ε."""

from abc import abstractmethod
from fractions import Fraction
from math import lcm
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.channels.table import Table
from analysis.domain import NO_ANSWER, Categories, Domain
from analysis.encoders.categories import Index
from analysis.mechanisms.base import Mechanism, Params, Share, Shares
from analysis.randomizer import Randomizer
from analysis.words import WORD


class Classic(Mechanism):
    """A design of the randomized-response literature, carried out by the device.

    It knows two answers: "yes", the first option, and "no", the second. It has no place for a
    third, so its questions must be required.
    """

    parameters: ClassVar[tuple[str, ...] | None] = ()
    heeds: ClassVar[tuple[str, ...]] = ()
    name: ClassVar[str]
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and len(domain.terms) == 2 and not domain.no_answer

    @abstractmethod
    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        """The chances that the report is "yes" for a true "yes" and for a true "no"."""

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Table]:
        if not self.fits(domain):
            raise ValueError(
                f"{self.name} must have two answers and required = true, got {len(domain.ids)} "
                f"values{f', {NO_ANSWER} among them' * domain.no_answer}"
            )
        p, q = self.yes(params)
        total = lcm(p.denominator, q.denominator)
        if total > WORD:
            raise ValueError(
                f"{self.name}: probabilities must have a common denominator of at most 2^32, "
                f"got {total}"
            )
        if p == q:
            raise ValueError(f"{self.name}: reports must depend on the answer; these do not")
        rows = tuple((int(chance * total), int((1 - chance) * total)) for chance in (p, q))
        return Randomizer(Index(2), Table(2, rows))

    def shares(self, randomizer: Randomizer[Index, Table], domain: Categories) -> Shares:
        (kept, left), (false, right) = randomizer.channel.rows
        total = randomizer.channel.total
        chances = (kept, false), (right, left)
        values = tuple(
            Share(term, Fraction(p, total), Fraction(q, total))
            for term, (p, q) in zip(domain.ids, chances, strict=True)
        )

        def count(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            return counts[0], np.full(2, counts.sum())

        return Shares(values, count)
