"""The classic designs of randomized response, with two answers, and probabilities instead of ε.

Each class opens with its source. The channel is a `table` of two rows.
"""

from abc import abstractmethod
from fractions import Fraction
from math import lcm
from typing import ClassVar

import numpy as np

from analysis.core.channels.table import Table
from analysis.core.domain import NO_ANSWER, Categories, Domain
from analysis.core.encoders.categories import Index
from analysis.core.randomizer import Randomizer
from analysis.core.types import Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import Mechanism, Params, Share, Shares


class Classic(Mechanism):
    """A design of the randomized-response literature, carried out by the device.

    It has two answers: "yes", the first option, and "no", the second. Its questions must be
    required, since it has no third answer.
    """

    parameters: ClassVar[tuple[str, ...] | None] = ()
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and len(domain.terms) == 2 and not domain.no_answer

    @abstractmethod
    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        """Return the probabilities of the report "yes" for a true "yes" and for a true "no"."""

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
            raise ValueError(f"{self.name}: reports must depend on the answer, got p = q = {p}")
        rows = tuple((int(chance * total), int((1 - chance) * total)) for chance in (p, q))
        return Randomizer(Index(2), Table(2, rows))

    def shares(self, randomizer: Randomizer[Index, Table], domain: Categories) -> Shares:
        # A column has the probabilities of a report for a true "yes" and for a true "no".
        yes, no = zip(*randomizer.channel.rows, strict=True)
        total = randomizer.channel.total
        values = tuple(
            Share(term, Fraction(p, total), Fraction(q, total))
            for term, (p, q) in zip(domain.ids, (yes, no[::-1]), strict=True)
        )

        def count(counts: Integers) -> tuple[Integers, Integers]:
            return counts[0], np.full(2, counts.sum())

        return Shares(values, count)


class Warner(Classic):
    """Warner's design: people say whether "I am" (with probability p) or "I am not" is true.

    Warner, JASA 1965. Channel: `table`. The device reports the true answer with probability p, and
    the other otherwise, so ε = |ln(p / (1-p))|. By hand: p = 3/4 gives ε = ln 3.

    ``{name = "warner", p = "3/4"}``
    """

    name: ClassVar[str] = "warner"
    called: ClassVar[str] = "Warner's design"
    cites: ClassVar[tuple[str, ...]] = ("warner1965",)
    parameters: ClassVar[tuple[str, ...] | None] = ("p",)

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        p = Fraction(params["p"])
        return p, 1 - p


class TwoCoin(Classic):
    """Two coins: if the first shows heads, people report the truth; if tails, the second coin.

    Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.2, who
    credit it to Warner 1965. Channel: `table` with 3 : 1. By hand: "yes" has the probability 1/2 +
    1/4 or 1/4, so ε = ln 3.

    ``"two-coin"``, which has no parameters.
    """

    name: ClassVar[str] = "two-coin"
    called: ClassVar[str] = "two coins"
    cites: ClassVar[tuple[str, ...]] = ("warner1965", "dwork2014")

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        return Fraction(3, 4), Fraction(1, 4)


class Forced(Classic):
    """Forced response: a forced "yes" or "no" with known probabilities, the truth otherwise.

    Boruch, "Assuring confidentiality of responses in social research", The American Sociologist
    1971; Fox and Tracy, Randomized Response, 1986. Channel: `table`.
    By hand: a die forces "yes" with 1 and "no" with 6. So "yes" has the probability 5/6 or 1/6, and
    ε = ln 5.

    ``{name = "forced", p_yes = "1/6", p_no = "1/6"}``
    """

    name: ClassVar[str] = "forced"
    called: ClassVar[str] = "forced response"
    cites: ClassVar[tuple[str, ...]] = ("boruch1971",)
    parameters: ClassVar[tuple[str, ...] | None] = ("p_yes", "p_no")

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        forced_yes, forced_no = Fraction(params["p_yes"]), Fraction(params["p_no"])
        if forced_yes + forced_no >= 1:
            raise ValueError(
                f"forced: p_yes and p_no must sum to less than 1, got {forced_yes + forced_no}"
            )
        return 1 - forced_no, forced_yes


class Unrelated(Classic):
    """Unrelated question: people answer the sensitive question with probability p, or another.

    The other question is unrelated, and its share of "yes" is known (Greenberg, Abul-Ela, Simmons
    and Horvitz, JASA 1969). The device draws the answer to it. Channel: `table`.
    By hand: with p = 2/3 and prevalence 1/2, "yes" has the probability 5/6 or 1/6, so ε = ln 5.

    ``{name = "unrelated", p = "2/3", prevalence = "1/2"}``
    """

    name: ClassVar[str] = "unrelated"
    called: ClassVar[str] = "the unrelated-question design"
    cites: ClassVar[tuple[str, ...]] = ("greenberg1969",)
    parameters: ClassVar[tuple[str, ...] | None] = ("p", "prevalence")

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        p, prevalence = Fraction(params["p"]), Fraction(params["prevalence"])
        return p + (1 - p) * prevalence, (1 - p) * prevalence


class Crosswise(Classic):
    """Crosswise model: people say whether their answers to two questions are the same.

    One of the questions is innocuous (Yu, Tian and Tang, Metrika 2008). The device draws its
    answer, which is "yes" with the known prevalence. The first option stands for "the same".
    Channel: `table`, like Warner's with the prevalence as p. By hand: prevalence 1/4 gives ε = ln
    3.

    ``{name = "crosswise", prevalence = "1/4"}``
    """

    name: ClassVar[str] = "crosswise"
    called: ClassVar[str] = "the crosswise model"
    cites: ClassVar[tuple[str, ...]] = ("yu2008",)
    parameters: ClassVar[tuple[str, ...] | None] = ("prevalence",)

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        prevalence = Fraction(params["prevalence"])
        return prevalence, 1 - prevalence
