"""What mechanisms for one of k values have in common, if each report supports some of them."""

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import scipy

from analysis.core.arrays import Floats, Integers
from analysis.core.domain import Categories
from analysis.core.randomizer import AnyRandomizer
from analysis.mechanisms.base import Mean, Mechanism, Share, Shares


class OneOfK(Mechanism):
    """A pure protocol: a value is supported with chance p by its own reports, else with q."""

    serves: ClassVar[tuple[type, ...]] = (Categories,)

    @abstractmethod
    def support(self, randomizer: Any) -> tuple[Fraction, Fraction]:
        """p and q, the same for every value."""

    def shares(self, randomizer: AnyRandomizer, domain: Categories) -> Shares:
        p, q = self.support(randomizer)

        def count(counts: Integers) -> tuple[Integers, Integers]:
            supports = self.supports(randomizer, counts)[: len(domain.ids)]
            return supports, np.full(len(supports), randomizer.reports_in(counts))

        return Shares(tuple(Share(term, p, q) for term in domain.ids), count)

    def supports(self, randomizer: AnyRandomizer, counts: Integers) -> Integers:
        """How many of the reports in a (cohorts, symbols) tally support each value."""
        return np.asarray(counts[0])

    def cells(self, randomizer: AnyRandomizer, value: int) -> list[int]:
        """The places in a flattened tally of what supports a value."""
        return [value]

    def share_scores(self, randomizer: AnyRandomizer, domain: Categories) -> Any:
        p, q = (float(chance) for chance in self.support(randomizer))
        k = len(domain.ids)
        cells = [self.cells(randomizer, value) for value in range(k)]
        places = np.repeat(np.arange(k), [len(some) for some in cells]), np.concatenate(cells)
        shape = k, randomizer.shape[0] * randomizer.shape[1]
        return scipy.sparse.csr_array((np.full(len(places[0]), 1 / (p - q)), places), shape=shape)

    def means(self, randomizer: AnyRandomizer, domain: Categories) -> tuple[Mean, ...]:
        """Of a scale: the mean of its scores, as a sum of the shares' own estimates."""
        if not domain.scores:
            return ()
        p, q = self.support(randomizer)
        cells = [self.cells(randomizer, value) for value in range(len(domain.ids))]
        each = _of_every_report(randomizer)

        def scored(scores: list[Fraction]) -> tuple[Fraction, ...]:
            """Scores of the symbols: those of the values they support, debiased."""
            whole = -q * sum(scores) / (p - q)
            found = [whole * part for part in each]
            for score, own in zip(scores, cells, strict=True):
                for cell in own:
                    found[cell] += score / (p - q)
            return tuple(found)

        low, width = domain.score_range
        skipped = [Fraction(0)] * domain.no_answer
        places = [(score - low) / width for score in domain.scores]
        several = None
        if _counts_for_several(randomizer):

            def several(counts: Integers) -> Floats:
                n = randomizer.reports_in(counts)
                estimates = (self.supports(randomizer, counts) / n - float(q)) / float(p - q)
                likely = np.maximum(estimates[: len(domain.ids)], 1 / (n + 2))
                inputs = [randomizer.encoder.encode(x, 0, iter(())) for x in range(len(likely))]
                parts = [randomizer.channel.moments(one)[1] for one in inputs]
                return np.tensordot(likely / likely.sum(), np.array(parts), 1)

        return (
            Mean(
                "mean",
                scored(places + skipped),
                scored([Fraction(1)] * len(places) + skipped),
                scored([place**2 for place in places] + skipped),
                low,
                width,
                several,
            ),
        )


def _counts_for_several(randomizer: AnyRandomizer) -> bool:
    return randomizer.channel.takes_bits or len(randomizer.tallied(randomizer.longest())) > 1


def _of_every_report(randomizer: AnyRandomizer) -> list[Fraction]:
    """For each cell of a tally the part of a report that it is, so that one report sums to 1."""
    cells = randomizer.shape[0] * randomizer.shape[1]
    if randomizer.channel.takes_bits:
        return [Fraction(0)] * (cells - 1) + [Fraction(1)]
    return [Fraction(1, len(randomizer.tallied(randomizer.longest())))] * cells
