"""Sampled pattern: a `Pattern` for each set of questions that one person can be asked.

The set is drawn in public, and all sets are equally likely. The reports on one or several questions
are those of the people who are asked all of these questions. Their law is the mean of the laws of
all sets that hold the questions. A question's reported set has the same size in all laws.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.subset import Subset


@dataclass(frozen=True)
class SampledPattern:
    """The channel with these sets of questions, as positions in order, and the law of each set."""

    samples: tuple[tuple[int, ...], ...]
    laws: tuple[Pattern, ...]

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The number of symbols of each question."""
        return self._by_place([law.inputs for law in self.laws])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The size of each question's sets."""
        return self._by_place([law.sizes for law in self.laws])

    def _by_place(self, numbers: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        known: dict[int, int] = {}
        for sample, own in zip(self.samples, numbers, strict=True):
            for place, number in zip(sample, own, strict=True):
                if known.setdefault(place, number) != number:
                    raise ValueError(
                        "channels must have sets of one size for each question, whatever else is "
                        f"asked, got {known[place]} and {number}"
                    )
        return tuple(known[place] for place in sorted(known))

    def portion(self, place: int) -> Fraction:
        """Return the proportion of people who are asked a question."""
        return Fraction(sum(place in sample for sample in self.samples), len(self.samples))

    def ratio(self, changed: Sequence[int] | None = None) -> Fraction:
        """Return the largest `Pattern.ratio` of all laws."""
        ratios = set()
        for sample, law in zip(self.samples, self.laws, strict=True):
            own = sample if changed is None else set(changed) & set(sample)
            ratios.add((law, tuple(i for i, place in enumerate(sample) if place in own)))
        return max(law.ratio(own) for law, own in ratios)

    def of(self, chosen: Sequence[int]) -> Pattern:
        """Return the channel of respondents who are asked these questions, in this order.

        Its weights are whole, but their sum may be too large for a draw from two words.

        Raises
        ------
        ValueError
            If nobody is asked all of these questions.
        """
        return _mean(self, tuple(chosen))

    def contrast(self, *chosen: int) -> Fraction:
        """Return `Pattern.contrast` for respondents who are asked these questions."""
        return self.of(chosen).contrast(*range(len(chosen)))

    def marginal(self, place: int) -> Subset:
        """Return the channel of respondents who are asked a question."""
        return self.of([place]).marginal(0)

    def randomize(
        self, sample: Sequence[int], symbols: Sequence[int], words: Iterator[int]
    ) -> list[list[int]]:
        """Return a sorted list for the input of each question that is asked."""
        return self.laws[self.samples.index(tuple(sample))].randomize(symbols, words)


@lru_cache(maxsize=256)
def _mean(channel: SampledPattern, chosen: tuple[int, ...]) -> Pattern:
    asked = Counter(
        (law, tuple(sample.index(place) for place in chosen))
        for sample, law in zip(channel.samples, channel.laws, strict=True)
        if set(chosen) <= set(sample)
    )
    chances = [Fraction(0)] * 2 ** len(chosen)
    for (law, parts), times in asked.items():
        weights = law.of(parts).weights
        for pattern, weight in enumerate(weights):
            chances[pattern] += Fraction(times * weight, sum(weights))
    if not asked:
        raise ValueError("expected questions that some respondents are asked together")
    whole = lcm(*(chance.denominator for chance in chances))
    counts = [int(chance * whole) for chance in chances]
    return Pattern(
        tuple(channel.inputs[place] for place in chosen),
        tuple(channel.sizes[place] for place in chosen),
        tuple(count // gcd(*counts) for count in counts),
    )
