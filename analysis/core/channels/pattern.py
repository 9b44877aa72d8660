"""Pattern channel: several answers in one draw, by a law of which answers the report agrees with.

A report has a set of `sizes[i]` of the `inputs[i]` symbols for each part i. A part agrees if its
set holds the part's input. The probability depends only on S, the parts that do not agree:

    P[report | inputs] = v(S) = W(S) / ΣW / cells(S)
    cells(S) = Π_{i not in S} C(inputs[i]-1, sizes[i]-1) · Π_{i in S} C(inputs[i]-1, sizes[i])

S is drawn by whole weights W. Each part's set is then drawn uniformly among the sets that hold, or
do not hold, its input. A single part's report has the law of a `Subset` channel, which does not
depend on the other inputs. The reports of two parts are not independent under given inputs.

Several answers in one draw are proposed by Domingo-Ferrer and Soria-Comas, arXiv 2010.10881, 2020,
section 4. They have no limit for each answer, no sets, and no form that a browser can check.
By hand: two parts of 2 symbols, sizes 1, weights 6 2 2 1 (both agree, one does not, both do not).
The worst ratio of all is 6/1. If the other part's input is known, the worst ratio of one part is
6/2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb, gcd, lcm, prod
from typing import ClassVar

import numpy as np

from analysis.core.channels.set_reports import MOST_INPUTS
from analysis.core.channels.subset import Subset, draw_set
from analysis.core.types import Array, Integers
from analysis.core.words import (
    LARGEST_TOTAL,
    Block,
    below_many,
    by_weight,
    by_weight_many,
    check_total,
    chosen,
    parts,
)

#: This many parts have 4,096 patterns, which a phone still checks at once.
MOST_PARTS = 12


@dataclass(frozen=True)
class Pattern:
    """The channel with these whole numbers, ``1 <= sizes[i] < inputs[i]``.

    `weights` has one number for each pattern: bit i of its position says that part i does not
    agree. Alternatively, it has one number more than there are parts: one for each number of parts
    that do not agree. All sets of that many parts are then equally likely.
    """

    inputs: tuple[int, ...]
    sizes: tuple[int, ...]
    weights: tuple[int, ...]

    name: ClassVar[str] = "pattern"
    #: This is empty, since everybody is asked all questions; see `SampledPattern`.
    samples: ClassVar[tuple[tuple[int, ...], ...]] = ()

    @property
    def laws(self) -> "tuple[Pattern, ...]":
        """This channel alone, since everybody's reports have its law."""
        return (self,)

    def check(self) -> None:
        """Raise ValueError unless the numbers of sizes and weights fit the number of parts."""
        d = len(self.inputs)
        if not 1 <= d <= MOST_PARTS or len(self.sizes) != d:
            raise ValueError(
                f"pattern: inputs and sizes must be equally many, at most {MOST_PARTS}, got {d} "
                f"and {len(self.sizes)}"
            )
        if max(self.inputs) > MOST_INPUTS:
            raise ValueError(
                f"pattern: inputs must be at most {MOST_INPUTS} each, got {max(self.inputs)}"
            )
        if any(size >= k for k, size in zip(self.inputs, self.sizes, strict=True)):
            raise ValueError("pattern: sizes must be less than inputs")
        if len(self.weights) not in (d + 1, 2**d):
            raise ValueError(
                f"pattern: weights must be {d + 1} or {2**d} for {d} parts, got {len(self.weights)}"
            )
        check_total(self.name, sum(self.weights), LARGEST_TOTAL)

    @property
    def _is_by_number(self) -> bool:
        return len(self.weights) == len(self.inputs) + 1

    @cached_property
    def patterns(self) -> tuple[int, ...]:
        """The weight of each pattern, whole, up to a common factor."""
        if not self._is_by_number:
            return self.weights
        d = len(self.inputs)
        common = lcm(*(comb(d, disagreeing) for disagreeing in range(d + 1)))
        shares = [common // comb(d, number) * weight for number, weight in enumerate(self.weights)]
        return tuple(shares[pattern.bit_count()] for pattern in range(2**d))

    @cached_property
    def likelihoods(self) -> tuple[Fraction, ...]:
        """v(S), the probability of a single report, by its pattern S."""
        total = sum(self.patterns)
        cells = zip(self.patterns, self._cells, strict=True)
        return tuple(Fraction(weight, total * number) for weight, number in cells)

    @property
    def _cells(self) -> list[int]:
        """The number of reports that have each pattern."""
        cells = [1]
        for k, size in zip(self.inputs, self.sizes, strict=True):
            agree, disagree = comb(k - 1, size - 1), comb(k - 1, size)
            cells = [cell * agree for cell in cells] + [cell * disagree for cell in cells]
        return cells

    def ratio(self, changed: Sequence[int] | None = None) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two rows of inputs.

        The rows differ at most in the parts `changed`, which are all parts by default. The ratio
        bounds what somebody who knows all other inputs learns about these.
        """
        d = len(self.inputs)
        mask = sum(1 << part for part in (range(d) if changed is None else changed))
        ends: dict[int, tuple[int, int]] = {}
        for pattern, chance in enumerate(self._scaled):
            low, high = ends.get(pattern & ~mask, (chance, chance))
            ends[pattern & ~mask] = min(low, chance), max(high, chance)
        return max(Fraction(high, low) for low, high in {*ends.values()})

    @cached_property
    def _scaled(self) -> tuple[int, ...]:
        """The likelihoods, times a common factor that makes them whole."""
        cells = self._cells
        common = lcm(*cells)
        return tuple(
            weight * (common // number) for weight, number in zip(self.patterns, cells, strict=True)
        )

    def of(self, chosen_parts: Sequence[int]) -> "Pattern":
        """Return the channel of the reports of some parts alone, in this order.

        Its weights are whole, but their sum may be too large for a draw from two words.
        """
        # The first part is the last axis. Integers of Python have any size.
        d = len(self.inputs)
        by_part = np.array(self.patterns, dtype=object).reshape((2,) * d)
        left = [d - 1 - part for part in reversed(chosen_parts)]
        others = tuple(axis for axis in range(d) if axis not in left)
        kept = by_part.sum(axis=others) if others else by_part
        order = np.argsort(np.argsort(left)).tolist()
        weights = np.asarray(kept, dtype=object).transpose(order).reshape(-1).tolist()
        common = gcd(*weights)
        return Pattern(
            tuple(self.inputs[part] for part in chosen_parts),
            tuple(self.sizes[part] for part in chosen_parts),
            tuple(weight // common for weight in weights),
        )

    def contrast(self, *chosen_parts: int) -> Fraction:
        """Return the expectation of the product, over some parts, of (1{part agrees} - ω/k).

        For a single part, it is the excess of the probability that its set holds its input over
        that of a uniform set of the same size. For any other value than the input, the expectation
        is -1/(k-1) times this one.
        """
        some = self.of(chosen_parts)
        rates = [Fraction(size, k) for size, k in zip(some.sizes, some.inputs, strict=True)]
        total = sum(
            weight * prod((not place >> i & 1) - rate for i, rate in enumerate(rates))
            for place, weight in enumerate(some.weights)
        )
        return Fraction(total) / sum(some.weights)

    def factor(self, *chosen_parts: int) -> Fraction:
        """Return the factor that makes the product of the parts' debiased deviations unbiased.

        A debiased share is ``(1{value in set} - q) / (p - q)``. Its deviation is this number less
        one over the number of inputs. If the parts' reports were independent under given inputs,
        the product of deviations would be unbiased, and the factor would be 1.

        Raises
        ------
        ValueError
            If the reports reveal nothing about the association of the parts' inputs.
        """
        together = self.contrast(*chosen_parts)
        if not together:
            raise ValueError(
                "pattern: expected weights whose reports depend on several answers together, got "
                "weights whose reports depend on each answer alone"
            )
        return prod(self.contrast(part) for part in chosen_parts) / together

    def marginal(self, part: int) -> Subset:
        """Return the channel of one part's reports, whatever the other inputs are."""
        alone = self.of([part])
        return Subset(alone.inputs[0], alone.sizes[0], *alone.weights)

    def randomize(self, symbols: Sequence[int], words: Iterator[int]) -> list[list[int]]:
        """Return a sorted list for each part's input: the pattern is drawn first, then each set."""
        d, place = len(self.inputs), by_weight(self.weights, words)
        if self._is_by_number:
            agrees = [not disagrees for disagrees in chosen(place, d, words)]
        else:
            agrees = [not place >> part & 1 for part in range(d)]
        return [
            draw_set(k, size, symbol, member, words)
            for k, size, symbol, member in zip(
                self.inputs, self.sizes, symbols, agrees, strict=True
            )
        ]

    def distribution(
        self, symbols: Sequence[int]
    ) -> Iterator[tuple[tuple[tuple[int, ...], ...], Fraction]]:
        """Yield every report with its exact probability for the inputs `symbols`."""
        every = [combinations(range(k), w) for k, w in zip(self.inputs, self.sizes, strict=True)]
        for report in product(*every):
            pattern = sum(
                (symbol not in members) << part
                for part, (symbol, members) in enumerate(zip(symbols, report, strict=True))
            )
            yield report, self.likelihoods[pattern]

    def randomize_many(self, symbols: Integers, block: Block) -> list[Array]:
        """Return each part's packed reports for many (n, parts) rows of inputs.

        They are drawn from exactly the law of `randomize`, in the form of `Subset.randomize_many`.
        """
        d, n = len(self.inputs), len(symbols)
        disagrees = np.empty((n, d), dtype=np.bool_)
        for rows in parts(n):
            places = by_weight_many(self.weights, rows.stop - rows.start, block)
            if self._is_by_number:
                # The parts that disagree are drawn one after another, as `chosen` does.
                for part in range(d):
                    draws = below_many(d - part, len(places), block)
                    disagrees[rows, part] = draws < places
                    places = places - disagrees[rows, part]
            else:
                disagrees[rows] = places[:, None] >> np.arange(d) & 1
        return [
            Subset(k, size, 1, 1).sets_many(symbols[:, part], ~disagrees[:, part], block)
            for part, (k, size) in enumerate(zip(self.inputs, self.sizes, strict=True))
        ]
