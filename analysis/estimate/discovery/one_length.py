"""What those tell of frequent texts who were asked for the hash of beginnings of one length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.core.encoders.text import Prefix
from analysis.core.texts import NOTHING, text_words
from analysis.estimate.decoding import Chances, decode
from analysis.estimate.decoding.few import fit_few
from analysis.mechanisms.base import Share

#: The most texts that are chosen at one length; it bounds the time that it takes.
MOST = 128
#: Explaining noise by chosen texts makes it look small: one for so many free cells at most.
_FREE = 6
#: Rounds in which the frequent ones are taken out, to see what they hide.
_ROUNDS = 8
#: Texts that are scored at once.
_ROWS = 16384

#: What is hashed (`NOTHING`, `WHOLE` or `BEGINNING`), and the text.
Hashed = tuple[int, str]
NOBODY: Hashed = (NOTHING, "")

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Length:
    """The tallies of those who were asked for one length."""

    encoder: Prefix
    place: int
    counts: NDArray[np.int64]
    chances: Chances

    @property
    def letters(self) -> int:
        """The length."""
        return self.encoder.lengths[self.place]

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """The functions that anybody reported for."""
        return np.flatnonzero(self.counts.sum(axis=1))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        totals: NDArray[np.int64] = self.counts[self.held].sum(axis=1)
        return totals

    @cached_property
    def tallies(self) -> Rows:
        """(held, symbols) unbiased for the share of people whose text has that symbol."""
        p, q = self.chances.p, self.chances.q
        unbiased: Rows = (self.counts[self.held] / self.totals[:, None] - q) / (p - q)
        return unbiased

    @property
    def most(self) -> int:
        """How many texts can be chosen by so many cells."""
        return min(MOST, len(self.held) * (self.encoder.inputs - 1) // _FREE)

    def symbols(self, what: Iterable[Hashed]) -> NDArray[np.int64]:
        """(texts, held) symbols of texts."""
        return symbols(self.encoder, self.place, what)[:, self.held]

    def fit(self, own: NDArray[np.int64]) -> tuple[Rows, Rows]:
        """Shares and standard errors of texts with these symbols, fitted together."""
        if not len(own):
            return np.zeros(0), np.zeros(0)
        tallied = self.counts[self.held], self.totals, own.T[:, :, np.newaxis], self.chances
        fitted = fit_few(*tallied) or decode(*tallied)
        return fitted.estimate, fitted.std_error

    def scores(self, own: NDArray[np.int64], shares: Rows, cells: NDArray[np.int64]) -> Rows:
        """How many standard errors further texts are above 0, each fitted alone to what is left.

        Parameters
        ----------
        own, shares : (fitted, held) and (fitted,) arrays
            Symbols of the texts that are taken out, and their shares.
        cells : (texts, held) array
            Places of the further texts' symbols in `tallies`, row after row.
        """
        functions, symbols = self.tallies.shape
        explained = np.full((functions, symbols), (1 - shares.sum()) / symbols)
        for share, places in zip(shares, own, strict=True):
            explained[np.arange(functions), places] += share
        reports, left = self.totals[:, np.newaxis], self.tallies - explained
        alone = Share("", Fraction(self.chances.p), Fraction(self.chances.q))
        # Shares at which a cell is counted with a chance of q / 2, and of 1 - q / 2.
        ends = alone.estimate(np.array([alone.q / 2, 1 - alone.q / 2], dtype=np.float64), 1)
        noise = alone.variance(np.clip(explained, ends.min(), ends.max())) / reports
        # What texts that are not fitted do to cells, beyond noise.
        noise += max(0.0, float(np.mean(left**2 - noise)))
        above, spread = (reports * left).ravel(), (reports**2 * noise).ravel()
        found = np.empty(len(cells))
        for start in range(0, len(cells), _ROWS):
            part = cells[start : start + _ROWS]
            found[start : start + _ROWS] = above[part].sum(axis=1) / spread[part].sum(axis=1) ** 0.5
        return found

    def survivors(
        self, known: Sequence[Hashed], tried: Sequence[Hashed], spare: float
    ) -> list[Hashed]:
        """Those of `tried` that seem to be there, the most frequent first, beside `known` ones.

        Of texts that are not there, about `spare` survive on average.
        """
        own = np.concatenate([self.symbols(known), self.symbols(tried)])
        cells = own[len(known) :] + self.encoder.inputs * np.arange(len(self.held))
        limit = -float(ndtri(min(0.1, spare / len(tried))))
        taken = list(range(len(known)))
        for _ in range(_ROUNDS):
            shares, errors = self.fit(own[taken])
            score = self.scores(own[taken], shares, cells)
            score[np.array(taken[len(known) :], dtype=np.int64) - len(known)] = -np.inf
            # A text that shares cells with a frequent one seems to be there, but less so.
            new = np.flatnonzero(score >= max(limit, float(score.max()) / 2))
            room = self.most - (len(taken) - len(known))
            if not len(new) or room <= 0:
                break
            taken += [len(known) + int(one) for one in new[np.argsort(-score[new])][:room]]
        shares, errors = self.fit(own[taken])
        found = [
            (float(share), tried[one - len(known)])
            for one, share, error in zip(taken, shares, errors, strict=True)
            if one >= len(known) and share >= limit / 2 * error
        ]
        return [one for _, one in sorted(found, reverse=True)]


def symbols(encoder: Prefix, place: int, what: Iterable[Hashed]) -> NDArray[np.int64]:
    """(texts, functions) symbols of what is hashed by those who are asked for one length."""
    start = place * encoder.functions
    words = [text_words(how, text, start, encoder.functions) for how, text in what]
    return np.array(words, dtype=np.int64).reshape(-1, encoder.functions) % encoder.inputs
