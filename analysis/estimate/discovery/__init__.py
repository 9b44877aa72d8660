"""Frequent texts of which no list is known, found from their beginnings on.

The prefix-extending method (Wang, Li and Jha, "Locally differentially private heavy hitter
identification", IEEE TDSC 2021): each respondent reports a hash of the beginning of their text, of
a length that their cohort says. Beginnings that are frequent at one length are extended by all
letters to the next. Other people are asked for each length, so a text is chosen at the first length
at which it is whole, and its share is told by the later ones: no report is used for both. The last
length is not extended to; all texts are whole there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from analysis.core.encoders.text import Prefix
from analysis.core.texts import BEGINNING, WHOLE
from analysis.estimate.decoding import Chances
from analysis.estimate.decoding.discoveries import detected, selected_level
from analysis.estimate.discovery.one_length import NOBODY, Hashed, Length
from analysis.mechanisms.base import Share

#: What can follow, if the author does not say: each letter more costs time and finds a little less.
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 -'.äöüåøéèáíóúñç"
#: Of the texts told to be found, a part of at most this is false, on average.
ALPHA = 0.05
#: How many false texts a length lets through, on average; the next ones sort them out.
SPARE = 2.0
#: The most beginnings that are extended; it bounds the time it takes.
WIDEST = 64
#: The most endings of one beginning that are tried; where a step is longer, shorter ones are.
ENDINGS = 300_000
#: A text explains reports that chose it only if others say, so surely, that it is there.
_THERE = 0.02


@dataclass(frozen=True)
class Found:
    """The share of a text: nearly normal around the truth, with this standard error."""

    text: str
    estimate: float
    std_error: float


@dataclass(frozen=True)
class Search:
    """The texts found, the most frequent first; estimate and standard error of no answer.

    Intervals at `level` cover as often as was asked, on average over all texts that are found
    (false coverage rate).
    """

    texts: tuple[Found, ...]
    level: float
    no_answer: tuple[float, float] | None


@dataclass
class _Share:
    """What the lengths after `place` say together, weighted by precision."""

    place: int
    weight: float = 0.0
    sum: float = 0.0

    def add(self, estimate: float, std_error: float) -> None:
        self.weight += std_error**-2
        self.sum += estimate * std_error**-2

    @property
    def told(self) -> tuple[float, float]:
        """Estimate and standard error."""
        return self.sum / self.weight, self.weight**-0.5

    @property
    def p_value(self) -> float:
        """Of the share being 0, against being greater; 1 if there were no reports."""
        return float(ndtr(-self.sum / self.weight**0.5)) if self.weight else 1.0


def find(
    encoder: Prefix,
    chances: Chances,
    counts: NDArray[np.int64],
    no_answer: bool,
    letters: str = LETTERS,
    confidence_level: float = 0.95,
) -> Search:
    """The frequent texts, and their shares.

    Parameters
    ----------
    encoder, chances
        Of the reports; ``chances.one_symbol``.
    counts : (cohorts, symbols) array
        Of the reports of each cohort.
    no_answer : bool
        Whether that is an answer.
    letters : str
        What texts are made of; those with others are not found.
    confidence_level : float
        Of the intervals that `Search.level` is for.
    """
    each = counts.reshape(len(encoder.lengths), encoder.functions, encoder.inputs)
    asked = [Length(encoder, place, each[place], chances) for place in range(len(each))]
    shares = {NOBODY: _Share(-1)} if no_answer else {}
    survived = _search(asked, shares, letters)
    _estimate(asked, shares, survived)
    skipped = shares[NOBODY].told if no_answer and shares[NOBODY].weight else None
    texts = [one for one in shares if one != NOBODY]
    if not texts:
        return Search((), confidence_level, skipped)
    there = detected(np.array([shares[one].p_value for one in texts]), "fdr", ALPHA)
    found = [
        Found(one[1], *shares[one].told)
        for one, is_there in zip(texts, there, strict=True)
        if is_there
    ]
    level = selected_level(confidence_level, len(found), len(texts))
    return Search(tuple(sorted(found, key=lambda one: (-one.estimate, one.text))), level, skipped)


def _search(
    asked: Sequence[Length], shares: dict[Hashed, _Share], letters: str
) -> list[list[Hashed]]:
    """What survives at each length; whole texts are put into `shares`."""
    begun, survived = [""], list[list[Hashed]]()
    for place, length in enumerate(asked[:-1]):
        tried = _extended(begun, length.letters, letters)
        found = length.survivors(list(shares), tried, SPARE) if tried and len(length.held) else []
        shares.update({one: _Share(place) for one in found if one[0] == WHOLE})
        begun = [text for what, text in found if what == BEGINNING][:WIDEST]
        survived.append(found)
    return [*survived, []]


def _estimate(
    asked: Sequence[Length], shares: dict[Hashed, _Share], survived: Sequence[Sequence[Hashed]]
) -> None:
    """Tell `shares`, each from the lengths later than that which chose it.

    Beside them those are fitted that were chosen at the length itself, if others say that they are
    there: otherwise they would fit its noise.
    """
    for place in reversed(range(len(asked))):
        length = asked[place]
        if not len(length.held):
            continue
        extended = {text[: length.letters] for _, text in (*survived, [])[place + 1]}
        own = [
            one
            for one in survived[place]
            if (one[1] in extended if one[0] == BEGINNING else shares[one].p_value < _THERE)
        ]
        names = [one for one, share in shares.items() if share.place < place]
        told = zip(names, *length.fit(length.symbols([*names, *own])), strict=False)
        for one, estimate, std_error in told:
            shares[one].add(float(estimate), float(std_error))


def _extended(begun: Sequence[str], length: int, letters: str) -> list[Hashed]:
    """What may be hashed at a length by those whose text begins so, and is longer."""
    found: list[Hashed] = []
    for one in begun:
        for more in range(1, length - len(one) + 1):
            if len(letters) ** more > ENDINGS:
                break
            texts = [one + end for end in _endings(letters, more)]
            found += [(WHOLE, text) for text in texts]
            if len(one) + more == length:
                found += [(BEGINNING, text) for text in texts]
    return found


@lru_cache(maxsize=8)
def _endings(letters: str, more: int) -> tuple[str, ...]:
    return tuple("".join(one) for one in product(letters, repeat=more))


def floor(
    encoder: Prefix, chances: Chances, n: int, letters: str = LETTERS, longest: int = 8
) -> float:
    """The share above which a text of at most so many letters is found 9 times in 10.

    The share f with ``f = (z1 sd(0) + z2 sd(f)) sqrt(L / n)``, of L lengths and the error sd that
    one report leaves: z1 is what the choice at a length asks for, z2 what all of them together
    need. What collisions add is left out; it counts where n is near a million, or beyond.

    By hand: ε = 2 (sd 0.85, at f 0.90), 8 lengths and 100,000 respondents, z1 = 3.9 and z2 = 1.9,
    give 4.6 %.
    """
    portion = Fraction(1, len(encoder.lengths))
    alone = Share("", Fraction(chances.p), Fraction(1, encoder.inputs), portion)
    passed = sum(length < longest for length in encoder.lengths[:-1]) + 1
    step = max(np.diff((0, *encoder.lengths[:-1])), default=1)
    # Ten frequent beginnings and all their endings, as a middling case; it moves z1 by little.
    tried = 20 * len(letters) ** int(step)
    seen, sure = -float(ndtri(SPARE / tried)), float(ndtri(0.9 ** (1 / passed)))

    def missing(share: float) -> float:
        sd, more = np.sqrt(alone.variance(np.array([0.0, share])) / n)
        return float(seen * sd + sure * more - share)

    return 1.0 if missing(1.0) > 0 else float(scipy.optimize.brentq(missing, 0.0, 1.0))
