"""The law of the reports under a truth: its moments, and tallies drawn from it."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.core.domain import Domain
from analysis.core.randomizer import Randomizer
from analysis.estimate.precision.truth import Truth

_Floats = NDArray[np.float64]

#: The most reports that are drawn one by one. The sum of more is drawn as if normal.
_MANY = 20_000


@dataclass(frozen=True)
class Law:
    """The law of reports of respondents whose values are drawn with the shares of a truth."""

    randomizer: Randomizer[Any, Any]
    domain: Domain
    truth: Truth

    def people(self, n: int, rng: Generator) -> NDArray[np.int64]:
        """Draw the number of `n` respondents with each value of the truth."""
        return np.asarray(rng.multinomial(n, self.truth.shares), dtype=np.int64)

    def draw(self, n: int, rng: Generator) -> NDArray[np.int64]:
        """Draw the (cohorts, symbols) tally of the reports of `n` respondents."""
        if self.table is not None:
            return self.tallies(n, 1, rng).reshape(self.randomizer.shape)
        return self.reports(self.people(n, rng), rng)

    def tallies(self, n: int, times: int, rng: Generator) -> NDArray[np.int64]:
        """Draw the (times, cells) tallies of `times` surveys whose reports are single symbols."""
        assert self.table is not None
        chances = self.table.reshape(-1) / self.table.sum()
        return np.asarray(rng.multinomial(n, chances, size=times), dtype=np.int64)

    def reports(self, people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        """Draw the tally of the reports of these numbers of respondents with each value."""
        channel, cohorts = self.randomizer.channel, self.randomizer.shape[0]
        n = int(people.sum())
        if self.randomizer.encoder.is_hashed:
            even = np.full(cohorts, 1 / cohorts)
            # These are (cohorts, values) numbers, and then numbers for each cohort and input.
            texts = self._spread(people, rng)
            held = np.array([rng.multinomial(count, even) for count in texts]).T
            return self._of_texts(held, rng)
        if n <= _MANY:
            return self._one_by_one(people, rng)
        if channel.gives_one_symbol:
            return self._of_symbols(people, rng)
        if channel.takes_bits and channel.ones is None:
            hit = np.zeros((cohorts, len(people), channel.inputs), dtype=bool)
            for index, value in enumerate(self.truth.values):
                hit[:, index, list(self.randomizer.encoder.encode(value, 0, iter(())))] = True
            return self._of_bits(people[None], hit, rng)
        mean = people / n @ self._moments[0]
        second = np.tensordot(people, self._moments[1] - _squares(self._moments[0]), 1)
        width, turn = np.linalg.eigh(second)
        noise = turn @ (np.sqrt(np.maximum(width, 0)) * rng.standard_normal(len(width)))
        counts = np.rint(n * mean + noise).astype(np.int64)
        # All reports count for the same number of symbols.
        counts[counts.argmax()] += round(n * float(mean.sum())) - int(counts.sum())
        return np.asarray(np.maximum(counts, 0).reshape(self.randomizer.shape))

    def second(self, left: _Floats, right: _Floats) -> float:
        """Return the expectation of the product of two (cells,) scores of a report."""
        if self.table is not None:
            return float(self.table.reshape(-1) @ (left * right))
        products = np.tensordot(np.array(self.truth.shares), self._moments[1], 1)
        return float(left @ products @ right)

    def first(self, score: _Floats) -> float:
        """Return the expectation of a score of a report."""
        if self.table is not None:
            return float(self.table.reshape(-1) @ score)
        return float(np.array(self.truth.shares) @ self._moments[0] @ score)

    @cached_property
    def table(self) -> _Floats | None:
        """(cohorts, symbols) probability of each report; None if it counts for several symbols."""
        channel, (cohorts, symbols) = self.randomizer.channel, self.randomizer.shape
        if not channel.gives_one_symbol:
            return None
        inputs = np.zeros((cohorts, channel.inputs))
        rows = np.arange(cohorts)
        for ways, share in zip(self._inputs, self.truth.shares, strict=True):
            for columns, part in ways:
                np.add.at(inputs, (rows, columns), share * part / cohorts)
        table = np.zeros((cohorts, symbols))
        for symbol in np.flatnonzero(inputs.any(axis=0)):
            row = np.array(channel.weights(int(symbol)), dtype=float)
            table += np.outer(inputs[:, symbol], row / row.sum())
        return table

    @cached_property
    def _inputs(self) -> list[list[tuple[NDArray[np.int64], float]]]:
        """Return the (cohorts,) inputs of each value, and the probability of each."""
        encoder, cohorts = self.randomizer.encoder, self.randomizer.shape[0]
        if encoder.is_hashed:
            return [
                [(self._hashed[:, text, 0], 1 / len(texts)) for text in texts]
                for texts in self._texts
            ]
        inputs = []
        for value in self.truth.values:
            by_way = zip(
                *(encoder.chances(value, cohort) for cohort in range(cohorts)), strict=True
            )
            inputs.append(
                [(np.array([symbol for symbol, _ in way]), float(way[0][1])) for way in by_way]
            )
        return inputs

    @cached_property
    def _moments(self) -> tuple[_Floats, _Floats]:
        """Return for each value the means of a report's counts, and of their products."""
        encoder, channel = self.randomizer.encoder, self.randomizer.channel
        encoded = (encoder.encode(value, 0, iter(())) for value in self.truth.values)
        means, products = zip(*map(channel.moments, encoded), strict=True)
        return np.array(means), np.array(products)

    def _one_by_one(self, people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        coded = self.domain.as_array(self.truth.values)

        def block(n: int) -> NDArray[np.uint32]:
            return rng.integers(0, 2**32, n, dtype=np.uint32)

        total = np.zeros(self.randomizer.shape, dtype=np.int64)
        left = people.copy()
        while left.any():
            # This draws as many at a time as a cache holds.
            taken = np.diff(np.minimum(np.cumsum(left), 2**20), prepend=0)
            left -= taken
            order = np.repeat(coded, taken, axis=0)
            total += self.randomizer.tally_many(self.randomizer.randomize_many(order, block))
        return total

    @cached_property
    def _texts(self) -> list[list[int]]:
        """Return for each value the indices of its texts in `_hashed`."""
        ends = np.cumsum([len(self.domain.standing_for(value)) for value in self.truth.values])
        return [list(range(start, end)) for start, end in pairwise([0, *ends.tolist()])]

    @cached_property
    def _hashed(self) -> NDArray[np.int64]:
        """(cohorts, texts, hashes) inputs of all texts of the truth."""
        texts = [text for value in self.truth.values for text in self.domain.standing_for(value)]
        hashed: NDArray[np.int64] = self.randomizer.encoder.encode_all(texts)
        return hashed

    def _spread(self, people: NDArray[np.int64], rng: Generator) -> list[int]:
        """Draw the number of respondents with each text."""
        counts: list[int] = []
        for count, texts in zip(people, self._texts, strict=True):
            counts += rng.multinomial(count, np.full(len(texts), 1 / len(texts))).tolist()
        return counts

    def _of_texts(self, held: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        """Draw the tally of (cohorts, texts) respondents."""
        channel, (cohorts, _) = self.randomizer.channel, self.randomizer.shape
        ones = np.zeros((cohorts, channel.inputs), dtype=np.int64)
        hashed, rows = self._hashed, np.arange(cohorts)[:, None]
        if channel.gives_one_symbol:
            np.add.at(ones, (rows, hashed[:, :, 0]), held)
            drawn = rng.multinomial(ones, channel.chances())
            return np.asarray(drawn.sum(axis=1), dtype=np.int64)
        hit = np.zeros((cohorts, hashed.shape[1], channel.inputs), dtype=bool)
        for number in range(hashed.shape[2]):
            hit[rows, np.arange(hashed.shape[1]), hashed[:, :, number]] = True
        return self._of_bits(held, hit, rng)

    def _of_bits(
        self, held: NDArray[np.int64], hit: NDArray[np.bool_], rng: Generator
    ) -> NDArray[np.int64]:
        """Draw the tally of (cohorts, values) respondents whose bits are 1 where `hit` is."""
        channel = self.randomizer.channel
        ones = (hit * held[:, :, None]).sum(axis=1)
        totals = held.sum(axis=1)[:, None]
        p, q = float(channel.p), float(channel.q)
        drawn = rng.binomial(ones, p) + rng.binomial(totals - ones, q)
        return np.concatenate([drawn, totals], axis=1)

    def _of_symbols(self, people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        """Draw the tally of all reports of a value at once, since these have one law."""
        total = np.zeros(self.randomizer.shape, dtype=np.int64)
        for value, count in zip(self.truth.values, people, strict=True):
            total += Law(self.randomizer, self.domain, Truth((value,), (1.0,))).draw(count, rng)
        return total


def _squares(means: _Floats) -> _Floats:
    return means[:, :, None] * means[:, None, :]
