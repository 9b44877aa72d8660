"""From the tally of a question that is answered with texts to the shares of texts."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.core.domain import NO_ANSWER, OTHER, Texts
from analysis.core.encoders.text import Prefix, hits_of
from analysis.core.randomizer import Randomizer
from analysis.estimate.decoding import ALPHA, FEW, Chances, decode
from analysis.estimate.decoding.discoveries import detected, selected_level
from analysis.estimate.decoding.few import fit_few
from analysis.estimate.discovery import LETTERS, find
from analysis.estimate.intervals import Interval, normal_interval
from analysis.estimate.quantity import Quantity, people_directly
from analysis.mechanisms.one_of_texts import text_share

#: Above this part of the variance, texts whose hashes collide are told to be part of the error.
COLLISIONS = 0.25


def text_quantities(
    randomizer: Randomizer[Any, Any],
    domain: Texts,
    tally: NDArray[np.int64],
    confidence_level: float = 0.95,
) -> list[Quantity]:
    """As `_quantities`; the latest ones are kept, as they can take seconds."""
    cells = np.ascontiguousarray(tally, dtype=np.int64)
    return list(_kept(randomizer, domain, cells.tobytes(), cells.shape, confidence_level))


@lru_cache(maxsize=32)
def _kept(
    randomizer: Randomizer[Any, Any],
    domain: Texts,
    cells: bytes,
    shape: tuple[int, int],
    confidence_level: float,
) -> tuple[Quantity, ...]:
    tally = np.frombuffer(cells, dtype=np.int64).reshape(shape)
    return tuple(_quantities(randomizer, domain, tally, confidence_level))


def _quantities(
    randomizer: Randomizer[Any, Any],
    domain: Texts,
    tally: NDArray[np.int64],
    confidence_level: float,
) -> list[Quantity]:
    """The shares of candidates, or of the texts found; of no answer; and of all other texts.

    Estimates of candidates are nearly unbiased over hashes, and may lie outside [0, 1]. Flags are
    ``detected`` (among all candidates it stands out: of those so flagged a tenth at most is not
    there at all, on average), ``collisions`` (over a quarter of the variance is not noise, but
    texts that share hashes with it, and more respondents will not make it less), ``out-of-range``,
    ``boundary`` and ``few``.

    Parameters
    ----------
    randomizer, domain
        Of the question.
    tally : (cohorts, symbols) array
        Of its reports.
    confidence_level : float
        Of the intervals, on average over all candidates, and over those that are detected or found,
        whose own are wider for that (false coverage rate).
    """
    n = randomizer.reports_in(tally)
    if n == 0:
        terms = (*(domain.candidates or ()), *[NO_ANSWER] * domain.no_answer, OTHER)
        return [
            Quantity(term, None, None, Interval(0, 1, "none"), None, ("few",)) for term in terms
        ]
    if domain.candidates is None:
        return _found(randomizer, domain, tally, n, confidence_level)
    return _candidates(randomizer, domain, tally, n, confidence_level)


def _candidates(
    randomizer: Randomizer[Any, Any],
    domain: Texts,
    tally: NDArray[np.int64],
    n: int,
    level: float,
) -> list[Quantity]:
    assert domain.candidates is not None
    bits = randomizer.channel.takes_bits
    totals = tally[:, -1] if bits else tally.sum(axis=1)
    counts = tally[:, :-1] if bits else tally
    hits = hits_of(randomizer.encoder, domain.candidates, domain.no_answer)
    estimates, errors, other = _fitted(counts, totals, hits, chances_of(randomizer))
    seen = detected(ndtr(-estimates / errors), "fdr", ALPHA)
    # What stands out looks larger than it is; and wider intervals cover no less over all.
    chosen = selected_level(level, int(seen.sum()), len(seen))
    alone = text_share(randomizer)
    quantities = []
    for place, term in enumerate((*domain.candidates, *[NO_ANSWER] * domain.no_answer)):
        value, std_error = float(estimates[place]), float(errors[place])
        noise = alone.variance(min(1.0, max(0.0, value))) / n
        flags = ["collisions"] * (noise < (1 - COLLISIONS) * std_error**2)
        flags += ["detected"] * bool(seen[place])
        own = chosen if seen[place] else level
        quantities.append(_quantity(term, value, std_error, own, n, flags))
    return [*quantities, _quantity(OTHER, *other, level, n, [])]


def _fitted(
    counts: NDArray[np.int64],
    totals: NDArray[np.int64],
    hits: NDArray[np.uint16],
    chances: Chances,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[float, float]]:
    """Estimates and standard errors of candidates, and both of all other texts."""
    few = fit_few(counts, totals, hits.astype(np.int64), chances)
    if few is not None:
        return few.estimate, few.std_error, (few.other, few.other_error)
    many = decode(counts, totals, hits.astype(np.int64), chances)
    return many.estimate, many.std_error, (many.other.estimate, many.other.std_error)


def _found(
    randomizer: Randomizer[Prefix, Any],
    domain: Texts,
    tally: NDArray[np.int64],
    n: int,
    level: float,
) -> list[Quantity]:
    """The texts that the prefix-extending method finds; all that it does not are other texts."""
    found = find(
        randomizer.encoder,
        chances_of(randomizer),
        tally,
        domain.no_answer,
        domain.letters or LETTERS,
        confidence_level=level,
    )
    # Texts that read like another term are left among the others.
    texts = [one for one in found.texts if one.text not in (NO_ANSWER, OTHER)]
    quantities = [
        _quantity(one.text, one.estimate, one.std_error, found.level, n, ["detected"], one.text)
        for one in texts
    ]
    value, variance = 1.0, 0.0
    for one in texts:
        value, variance = value - one.estimate, variance + one.std_error**2
    if domain.no_answer and found.no_answer is not None:
        estimate, std_error = found.no_answer
        value, variance = value - estimate, variance + std_error**2
        quantities.append(_quantity(NO_ANSWER, estimate, std_error, level, n, []))
    if variance:
        quantities.append(_quantity(OTHER, value, variance**0.5, level, n, []))
    else:
        # Nobody can skip, and nothing was found: whatever was said was something else.
        quantities.append(Quantity(OTHER, None, None, Interval(0, 1, "none"), None))
    return quantities


def _quantity(
    term: str,
    value: float,
    std_error: float,
    level: float,
    n: int,
    flags: list[str],
    label: str | None = None,
) -> Quantity:
    interval = normal_interval(value, std_error, level)
    words = ["out-of-range"] * (not 0 <= value <= 1)
    words += ["boundary"] * (interval.method != "normal") + ["few"] * (n < FEW)
    n_eff = people_directly(value, std_error, n)
    return Quantity(term, value, std_error, interval, n_eff, (*words, *flags), label)


def chances_of(randomizer: Randomizer[Any, Any]) -> Chances:
    """What one wave's report says of a text's symbol, or of its bits."""
    channel = randomizer.channel
    return Chances((float(channel.p), float(channel.q)), one_symbol=not channel.takes_bits)
