"""The frequent texts among the respondents who report hashes of beginnings of one length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from analysis.core.encoders.text import Prefix
from analysis.core.texts import NOTHING, text_words
from analysis.estimate import Floats, Ints
from analysis.estimate.decoding import Chances, fit_texts
from analysis.mechanisms.base import Share

#: The most texts that are chosen at one length, which bounds the time.
MOST = 128
#: The number of free cells for each chosen text. More texts would explain noise, which would then
#: look too small.
_FREE = 6
#: The rounds in which frequent texts are subtracted, so that others become visible.
_ROUNDS = 8
#: The number of texts that are scored at once.
_ROWS = 16384

#: The kind of hashed text (`NOTHING`, `WHOLE` or `BEGINNING`), and the text.
Hashed = tuple[int, str]
NOBODY: Hashed = (NOTHING, "")


@dataclass(frozen=True)
class Length:
    """The tallies of the respondents who report on one of the encoder's lengths."""

    encoder: Prefix
    index: int
    counts: Ints
    chances: Chances

    @property
    def letters(self) -> int:
        """The number of letters of the beginnings."""
        return self.encoder.lengths[self.index]

    @cached_property
    def held(self) -> Ints:
        """The hash functions for which there are reports."""
        return np.flatnonzero(self.counts.sum(axis=1))

    @cached_property
    def totals(self) -> Ints:
        return np.asarray(self.counts[self.held].sum(axis=1))

    @cached_property
    def tallies(self) -> Floats:
        """(held, symbols) unbiased shares of people whose text has a symbol."""
        p, q = self.chances.p, self.chances.q
        return np.asarray((self.counts[self.held] / self.totals[:, None] - q) / (p - q))

    def symbols(self, what: Iterable[Hashed]) -> Ints:
        """Return the (texts, held) symbols of texts."""
        return symbols(self.encoder, self.index, what)[:, self.held]

    def fit(self, hashed: Ints) -> tuple[Floats, Floats]:
        """Return shares and standard errors of texts with (texts, held) symbols `hashed`."""
        if not len(hashed):
            return np.zeros(0), np.zeros(0)
        hits = hashed.T[:, :, np.newaxis]
        fitted = fit_texts(self.counts[self.held], self.totals, hits, self.chances)
        return fitted.estimate, fitted.std_error

    def scores(self, hashed: Ints, shares: Floats, cells: Ints) -> Floats:
        """Return the shares of further texts in standard errors, each text being fitted alone.

        Parameters
        ----------
        hashed, shares : (fitted, held) and (fitted,) arrays
            The symbols and shares of texts that are subtracted.
        cells : (texts, held) array
            The indices of the further texts' symbols in the flattened `tallies`.
        """
        functions, symbols = self.tallies.shape
        explained = np.full((functions, symbols), (1 - shares.sum()) / symbols)
        for share, places in zip(shares, hashed, strict=True):
            explained[np.arange(functions), places] += share
        reports, left = self.totals[:, np.newaxis], self.tallies - explained
        alone = Share("", Fraction(self.chances.p), Fraction(self.chances.q))
        # The shares at which a cell is counted with probability q / 2, and with 1 - q / 2.
        ends = alone.estimate(np.array([alone.q / 2, 1 - alone.q / 2], dtype=np.float64), 1)
        noise = alone.variance(np.clip(explained, ends.min(), ends.max())) / reports
        # Because of texts that are not fitted, cells differ by more than noise.
        noise += max(0.0, float(np.mean(left**2 - noise)))
        above, spread = (reports * left).ravel(), (reports**2 * noise).ravel()
        blocks = (cells[start : start + _ROWS] for start in range(0, len(cells), _ROWS))
        return np.concatenate(
            [above[block].sum(axis=1) / spread[block].sum(axis=1) ** 0.5 for block in blocks]
        )

    def survivors(
        self, known: Sequence[Hashed], tried: Sequence[Hashed], spare: float
    ) -> list[Hashed]:
        """Return those of `tried` that seem to exist besides `known`, the most frequent first.

        On average, about `spare` texts survive that do not exist.
        """
        hashed = np.concatenate([self.symbols(known), self.symbols(tried)])
        cells = hashed[len(known) :] + self.encoder.inputs * np.arange(len(self.held))
        most = min(MOST, len(self.held) * (self.encoder.inputs - 1) // _FREE)
        limit = -float(ndtri(min(0.1, spare / len(tried))))
        taken = list(range(len(known)))
        for _ in range(_ROUNDS):
            shares, errors = self.fit(hashed[taken])
            score = self.scores(hashed[taken], shares, cells)
            score[np.array(taken[len(known) :], dtype=np.int64) - len(known)] = -np.inf
            # A text that shares cells with a frequent text seems to exist, but has a lower score.
            new = np.flatnonzero(score >= max(limit, float(score.max()) / 2))
            room = most - (len(taken) - len(known))
            if not len(new) or room <= 0:
                break
            taken += (len(known) + new[np.argsort(-score[new])][:room]).tolist()
        shares, errors = self.fit(hashed[taken])
        survivors = [
            (float(share), tried[row - len(known)])
            for row, share, error in zip(taken, shares, errors, strict=True)
            if row >= len(known) and share >= limit / 2 * error
        ]
        return [text for _, text in sorted(survivors, reverse=True)]


def symbols(encoder: Prefix, index: int, what: Iterable[Hashed]) -> Ints:
    """Return the (texts, functions) symbols of hashed texts at the length with this index."""
    start = index * encoder.functions
    words = [text_words(how, text, start, encoder.functions) for how, text in what]
    return np.array(words, dtype=np.int64).reshape(-1, encoder.functions) % encoder.inputs
