"""Mechanisms of questions that are drawn together. Each counts the reports on its own parts.

See `core.channels.pattern` and `mechanisms.joint_design`. A ``[[together]]`` table asks for them.
No single question can, so they are not in `MECHANISMS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from analysis.core.channels.joint_bits import JointBits
from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.domain import Categories, Domain, Sets
from analysis.core.encoders.categories import Index
from analysis.core.encoders.several import Multihot
from analysis.core.randomizer import AnyRandomizer, Randomizer
from analysis.core.types import Floats, Integers
from analysis.mechanisms.base import Mean, Mechanism, Params, Share, Shares
from analysis.mechanisms.one_of_k import SubsetSelection

#: The name in surveys and tables.
TOGETHER = "together"


class _Together(Mechanism):
    """A mechanism that is compiled for a table of questions, and not for a single question."""

    name: ClassVar[str] = TOGETHER
    called: ClassVar[str] = "one draw for several questions"
    cites: ClassVar[tuple[str, ...]] = ("ye2018",)
    #: They take no ε of a question, since the table has two limits.
    parameters: ClassVar[tuple[str, ...]] = ()

    def compile(self, domain: Any, epsilon: Fraction, params: Params) -> Any:
        raise ValueError("together: a table of several questions is needed")


class OneTogether(_Together, SubsetSelection):
    """One of k values, which is one part of a draw. Reports are counted as those of a `subset`."""

    @staticmethod
    def encoder(domain: Categories) -> Index:
        """Return the encoder of a question's values."""
        return Index(len(domain.ids))

    def shares(self, randomizer: AnyRandomizer, domain: Categories) -> Shares:
        p, q = self.support(randomizer)

        def count(counts: Integers) -> tuple[Integers, Integers]:
            k = len(domain.ids)
            return counts[0, :k], np.full(k, randomizer.asked_in(counts))

        return Shares(tuple(Share(term, p, q, randomizer.portion) for term in domain.ids), count)

    def share_scores(self, randomizer: AnyRandomizer, domain: Categories) -> Any:
        return super().share_scores(randomizer, domain) / float(randomizer.portion)

    def means(self, randomizer: AnyRandomizer, domain: Categories) -> tuple[Mean, ...]:
        """Return the mean of a scale's scores over those who are asked."""
        law = randomizer.channel
        if randomizer.portion == 1:
            return super().means(randomizer, domain)

        def scaled(scores: Sequence[Fraction]) -> tuple[Fraction, ...]:
            return (*(score / law.portion for score in scores), Fraction(0))

        return tuple(
            replace(
                mean,
                scores=scaled(mean.scores),
                present=scaled(mean.present),
                squares=None if mean.squares is None else scaled(mean.squares),
                second=mean.second and partial(_second, law, mean.second),
            )
            for mean in super().means(randomizer.of_asked, domain)
        )


def _second(law: SampledSubset, of_asked: Callable[[Integers], Floats], counts: Integers) -> Floats:
    """Return the average products of a report's counts, from those of people who were asked."""
    portion = float(law.portion)
    every = np.pad(portion * of_asked(counts[:, :-1]), (0, 1))
    every[-1, -1] = 1 - portion
    return every


class SeveralTogether(_Together):
    """Any number of options. The parts are each option, "none of these", and no answer."""

    serves: ClassVar[tuple[type, ...]] = (Sets,)

    @staticmethod
    def encoder(domain: Sets) -> Multihot:
        """Return the encoder of a question's values."""
        return Multihot(len(domain.options), domain.at_most, len(domain.parts))

    def shares(self, randomizer: Randomizer[Multihot, JointBits], domain: Sets) -> Shares:
        channel = randomizer.channel
        values = tuple(
            Share(term, *channel.supports(part)) for part, term in enumerate(domain.picks)
        )

        def count(counts: Integers) -> tuple[Integers, Integers]:
            return counts[0, : len(values)], np.full(len(values), channel.reports_in(counts[0]))

        return Shares(values, count)


_MECHANISMS = (OneTogether(), SeveralTogether())


def together(domain: Domain) -> Any:
    """Return the mechanism of a question with this domain that is drawn together with others."""
    return next(mechanism for mechanism in _MECHANISMS if mechanism.fits(domain))
