"""The shares of texts, from the tally of a question whose answers are texts."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from analysis.core.domain import NO_ANSWER, OTHER, Texts
from analysis.core.encoders.text import Prefix, hits_of
from analysis.core.randomizer import Randomizer
from analysis.estimate import Ints
from analysis.estimate.decoding import Chances, detected, fit_texts, selected_level
from analysis.estimate.discovery import LETTERS, find
from analysis.estimate.intervals import FEW, Interval, normal_interval
from analysis.estimate.quantity import Quantity, people_directly
from analysis.mechanisms.one_of_texts import text_share

#: On average, at most this proportion of the texts with the flag `detected` is false.
FALSE_DISCOVERIES = 0.10
#: Texts get the flag `collisions` if more than this fraction of their variance is not noise.
COLLISIONS = 0.25


def text_quantities(
    randomizer: Randomizer[Any, Any], domain: Texts, tally: Ints, confidence_level: float = 0.95
) -> list[Quantity]:
    """Return the shares of candidates or of the texts found, of no answer, and of other texts.

    Estimates of candidates are nearly unbiased over hashes, and may lie outside [0, 1]. The flags
    are ``detected`` (the text stands out among all candidates; on average, at most a tenth of the
    texts with this flag are texts that nobody gave), ``collisions`` (over a quarter of the variance
    is not noise but due to texts with the same hashes, which more respondents will not reduce),
    ``out-of-range``, ``boundary`` and ``few``.

    Parameters
    ----------
    randomizer, domain
        Those of the question.
    tally : (cohorts, symbols) array
        The tally of its reports.
    confidence_level : float
        The level of intervals, on average over all candidates. Intervals of detected candidates,
        and of texts that are found, are wider, so that they have this level on average over these,
        too (false coverage rate).
    """
    n = randomizer.reports_in(tally)
    if n == 0:
        terms = (*(domain.candidates or ()), *[NO_ANSWER] * domain.no_answer, OTHER)
        return [
            Quantity(term, None, None, Interval(0, 1, "none"), None, ("few",)) for term in terms
        ]
    if domain.candidates is None:
        return _found_texts(randomizer, domain, tally, n, confidence_level)
    bits = randomizer.channel.takes_bits
    totals = tally[:, -1] if bits else tally.sum(axis=1)
    counts = tally[:, :-1] if bits else tally
    hits = hits_of(randomizer.encoder, domain.candidates, domain.no_answer).astype(np.int64)
    fitted = fit_texts(counts, totals, hits, chances_of(randomizer))
    stands_out = detected(ndtr(-fitted.estimate / fitted.std_error), "fdr", FALSE_DISCOVERIES)
    # Shares that stand out look larger than they are. Wider intervals cover at least as often.
    wider = selected_level(confidence_level, int(stands_out.sum()), len(stands_out))
    alone = text_share(randomizer)
    terms = (*domain.candidates, *[NO_ANSWER] * domain.no_answer)
    estimates, errors = fitted.estimate.tolist(), fitted.std_error.tolist()
    quantities = []
    for term, value, std_error, is_there in zip(terms, estimates, errors, stands_out, strict=True):
        noise = alone.variance(min(1.0, max(0.0, value))) / n
        flags = ["collisions"] * (noise < (1 - COLLISIONS) * std_error**2)
        flags += ["detected"] * bool(is_there)
        level = wider if is_there else confidence_level
        quantities.append(_quantity(term, value, std_error, level, n, flags))
    other = _quantity(OTHER, fitted.other, fitted.other_error, confidence_level, n, [])
    return [*quantities, other]


def _found_texts(
    randomizer: Randomizer[Prefix, Any], domain: Texts, tally: Ints, n: int, level: float
) -> list[Quantity]:
    """Return the texts that the prefix-extending method finds. All others are other texts."""
    chances, letters = chances_of(randomizer), domain.letters or LETTERS
    search = find(randomizer.encoder, chances, tally, domain.no_answer, letters, level)
    # Texts that are equal to another term are counted among the others.
    texts = [found for found in search.texts if found.text not in (NO_ANSWER, OTHER)]
    shares = [(found.estimate, found.std_error) for found in texts]
    quantities = [
        _quantity(found.text, *share, search.level, n, ["detected"], found.text)
        for found, share in zip(texts, shares, strict=True)
    ]
    if domain.no_answer and search.no_answer is not None:
        shares.append(search.no_answer)
        quantities.append(_quantity(NO_ANSWER, *search.no_answer, level, n, []))
    other, variance = 1.0, 0.0
    for value, std_error in shares:
        other, variance = other - value, variance + std_error**2
    if variance:
        quantities.append(_quantity(OTHER, other, variance**0.5, level, n, []))
    else:
        # Nobody can skip, and nothing was found, so all texts are other texts.
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
    """Return the probabilities that one wave's report counts for a text's symbol, or its bits."""
    channel = randomizer.channel
    return Chances((float(channel.p), float(channel.q)), one_symbol=not channel.takes_bits)
