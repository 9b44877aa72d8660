"""A search for frequent texts without a list of candidates, from their beginnings on.

This is the prefix-extending method (Wang, Li and Jha, "Locally differentially private heavy hitter
identification", IEEE TDSC 2021). Each respondent reports a hash of the beginning of their text. The
cohort says how many letters that takes. Beginnings that are frequent at one length are extended by
all letters to the next. Each length has different respondents. A text is chosen at the first length
at which it is whole, and its share is estimated from the later lengths, so that no report is used
for both. Nothing is extended to the last length, since all texts are whole there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import compress, product

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from analysis.core.encoders.text import Prefix
from analysis.core.texts import BEGINNING, WHOLE
from analysis.estimate import Ints
from analysis.estimate.decoding import Chances, detected, selected_level
from analysis.estimate.discovery.one_length import NOBODY, Hashed, Length
from analysis.mechanisms.base import Share

#: The default letters of texts. More letters cost time, and the search finds a little less.
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 -'.äöüåøéèáíóúñç"
#: On average, at most this proportion of the texts that are found is false.
ALPHA = 0.05
#: The average number of false texts that pass a length. Later lengths sort them out.
SPARE = 2.0
#: The most beginnings that are extended, which bounds the time of a search.
WIDEST = 64
#: The most endings of one beginning that are tried. If a step has more, shorter endings are tried.
ENDINGS = 300_000
#: A text is fitted to the reports by which it was chosen only if other reports give it a p-value
#: below this.
_THERE = 0.02


@dataclass(frozen=True)
class Found:
    """The estimated share of a text. It is nearly normal around the truth, with this error."""

    text: str
    estimate: float
    std_error: float


@dataclass(frozen=True)
class Search:
    """The texts found, the most frequent first, and the share of `no_answer` with its error.

    Intervals at `level` cover at the level asked on average over all texts that are found (false
    coverage rate).
    """

    texts: tuple[Found, ...]
    level: float
    no_answer: tuple[float, float] | None


@dataclass
class _Share:
    """A share, estimated from all lengths after `index`, weighted by precision."""

    index: int
    weight: float = 0.0
    sum: float = 0.0

    def add(self, estimate: float, std_error: float) -> None:
        self.weight += std_error**-2
        self.sum += estimate * std_error**-2

    @property
    def result(self) -> tuple[float, float]:
        """The estimate and its standard error."""
        return self.sum / self.weight, self.weight**-0.5

    @property
    def p_value(self) -> float:
        """The p-value of a share of 0 against a greater share; 1 if there were no reports."""
        return float(ndtr(-self.sum / self.weight**0.5)) if self.weight else 1.0


def find(
    encoder: Prefix,
    chances: Chances,
    counts: Ints,
    no_answer: bool,
    letters: str = LETTERS,
    confidence_level: float = 0.95,
) -> Search:
    """Return the frequent texts, and their shares.

    Parameters
    ----------
    encoder, chances
        Those of the reports, with ``chances.one_symbol``.
    counts : (cohorts, symbols) array
        The number of each cohort's reports that are each symbol.
    no_answer : bool
        Whether respondents may skip the question.
    letters : str
        The letters of texts. Texts with other letters are not found.
    confidence_level : float
        The level that intervals at `Search.level` have on average.
    """
    each = counts.reshape(len(encoder.lengths), encoder.functions, encoder.inputs)
    lengths = [Length(encoder, index, counted, chances) for index, counted in enumerate(each)]
    shares = {NOBODY: _Share(-1)} if no_answer else {}
    survived = _search(lengths, shares, letters)
    _estimate(lengths, shares, survived)
    skipped = shares[NOBODY].result if no_answer and shares[NOBODY].weight else None
    texts = {hashed[1]: share for hashed, share in shares.items() if hashed != NOBODY}
    if not texts:
        return Search((), confidence_level, skipped)
    there = detected(np.array([share.p_value for share in texts.values()]), "fdr", ALPHA)
    found = [Found(text, *texts[text].result) for text in compress(texts, there)]
    level = selected_level(confidence_level, len(found), len(texts))
    ordered = sorted(found, key=lambda share: (-share.estimate, share.text))
    return Search(tuple(ordered), level, skipped)


def _search(
    lengths: Sequence[Length], shares: dict[Hashed, _Share], letters: str
) -> list[list[Hashed]]:
    """Return the beginnings that survive at each length, and add whole texts to `shares`."""
    begun, survived = [""], list[list[Hashed]]()
    for index, length in enumerate(lengths[:-1]):
        tried = _extended(begun, length.letters, letters)
        there = length.survivors(list(shares), tried, SPARE) if tried and len(length.held) else []
        shares.update({hashed: _Share(index) for hashed in there if hashed[0] == WHOLE})
        begun = [text for what, text in there if what == BEGINNING][:WIDEST]
        survived.append(there)
    return [*survived, []]


def _estimate(
    lengths: Sequence[Length], shares: dict[Hashed, _Share], survived: Sequence[Sequence[Hashed]]
) -> None:
    """Estimate `shares`, each from the lengths after the one at which it was chosen.

    Texts that were chosen at a length itself are fitted there too, but only if other lengths
    confirm them. Otherwise they would fit the noise of this length.
    """
    for index in reversed(range(len(lengths))):
        length = lengths[index]
        if not len(length.held):
            continue
        extended = {text[: length.letters] for _, text in (*survived, [])[index + 1]}
        confirmed = [
            (what, text)
            for what, text in survived[index]
            if (text in extended if what == BEGINNING else shares[what, text].p_value < _THERE)
        ]
        earlier = [hashed for hashed, share in shares.items() if share.index < index]
        estimates, errors = length.fit(length.symbols([*earlier, *confirmed]))
        for hashed, estimate, std_error in zip(earlier, estimates, errors, strict=False):
            shares[hashed].add(float(estimate), float(std_error))


def _extended(begun: Sequence[str], length: int, letters: str) -> list[Hashed]:
    """Return the hashed beginnings of longer texts that begin with one of `begun`, at a length."""
    extended: list[Hashed] = []
    for beginning in begun:
        for more in range(1, length - len(beginning) + 1):
            if len(letters) ** more > ENDINGS:
                break
            texts = [beginning + end for end in _endings(letters, more)]
            extended += [(WHOLE, text) for text in texts]
            if len(beginning) + more == length:
                extended += [(BEGINNING, text) for text in texts]
    return extended


@lru_cache(maxsize=8)
def _endings(letters: str, more: int) -> tuple[str, ...]:
    return tuple(map("".join, product(letters, repeat=more)))


def floor(
    encoder: Prefix, chances: Chances, n: int, letters: str = LETTERS, longest: int = 8
) -> float:
    """Return the share above which a text of at most `longest` letters is found 9 times in 10.

    It is the share f with ``f = (z1 sd(0) + z2 sd(f)) sqrt(L / n)``, where L is the number of
    lengths and sd is the standard error from one report. z1 is the quantile for being chosen at one
    length, and z2 that for passing all lengths. Collisions are ignored. They matter if n is near a
    million or above.

    By hand: ε = 2 (sd 0.85 at 0, 0.90 at f), 8 lengths, 100,000 respondents, z1 = 3.9 and z2 = 1.9
    give 4.6 %.
    """
    portion = Fraction(1, len(encoder.lengths))
    alone = Share("", Fraction(chances.p), Fraction(1, encoder.inputs), portion)
    passed = sum(length < longest for length in encoder.lengths[:-1]) + 1
    step = max(np.diff((0, *encoder.lengths[:-1])), default=1)
    # This takes ten frequent beginnings and all their endings; z1 hardly depends on that.
    tried = 20 * len(letters) ** int(step)
    seen, sure = -float(ndtri(SPARE / tried)), float(ndtri(0.9 ** (1 / passed)))

    def missing(share: float) -> float:
        sd, more = np.sqrt(alone.variance(np.array([0.0, share])) / n)
        return float(seen * sd + sure * more - share)

    return 1.0 if missing(1.0) > 0 else float(scipy.optimize.brentq(missing, 0.0, 1.0))
