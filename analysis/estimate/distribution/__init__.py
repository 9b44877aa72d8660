"""The distribution of a number, for display: by EM with smoothing, with bootstrap bands.

Smoothing makes single ranges readable, and biases them: it flattens what is steep. So the bands
tell how much of the picture is noise, not where the truth is; for statements about a distribution
take its quartiles (`analysis.estimate.number`), whose intervals hold for every one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator

from analysis.core.domain import Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate import Floats, Ints
from analysis.estimate.distribution.em import rest, shifted
from analysis.estimate.distribution.ranges import cells, edges, middles, places, tells_distribution
from analysis.estimate.intervals import FEW, check_level

#: Resamples that are fitted at once: more gain no time, and progress is told after each.
_BATCH = 100


@dataclass(frozen=True)
class Range:
    """The share of numbers in ``low <= number < high``; the last range includes `high`.

    Of those who answered. `estimate` is None if there are no reports. The band is one of
    percentiles, at the level for this range alone; it has the smoothing's bias like the estimate.
    `flag` holds words joined by ``;``: ``smoothed`` (for display), ``few`` (answers) and
    ``not-converged`` (the fit could still move).
    """

    term: str
    low: float
    high: float
    estimate: float | None
    conf_low: float
    conf_high: float
    conf_method: str
    flag: str


@dataclass(frozen=True)
class Distribution:
    """Shares of ranges, which sum to 1; `resamples` of `n` reports made the bands."""

    rows: tuple[Range, ...]
    n: int
    resamples: int


def distribution(
    randomizer: Randomizer[Any, Any],
    domain: Numbers,
    counts: Ints,
    bins: int = 10,
    rng: Generator | None = None,
    resamples: int = 1000,
    progress: Callable[[int, int], None] | None = None,
    confidence_level: float = 0.95,
    smooth: bool = True,
) -> Distribution:
    """The likeliest distribution, smoothed, over about so many ranges between round numbers.

    Parameters
    ----------
    randomizer, domain
        Of the question.
    counts : (1, symbols) array
        How often each report was made.
    bins : int
        Ranges, about; from 1 to 100.
    rng : Generator, optional
        For the resamples; without it there are none, and no bands (0 to 1, method ``none``).
    resamples : int
        Tallies drawn with the shares of this one (multinomial bootstrap), each fitted alike.
    progress : callable, optional
        Called with the resamples that are fitted, and their number.
    confidence_level : float
        Of each band, in (0, 1).
    smooth : bool
        Without it maximum likelihood: no flag ``smoothed``, and a few high peaks.

    Raises
    ------
    ValueError
        If the channel tells only the mean, or an argument is outside its range.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, SIGMOD 2020, section 5.5.
    """
    if not tells_distribution(randomizer, domain):
        raise ValueError(
            "distribution needs reports that tell more than the mean, got a number that is "
            "rounded to the ends of its range"
        )
    check_level(confidence_level)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    ends = edges(domain, bins)
    grouped = cells(domain, ends)
    channel = places(randomizer)
    tally = channel.classes(counts)
    n = int(tally.sum())
    unknown = np.array([[0.0], [1.0]]) * np.ones(len(grouped))
    if n == 0:
        nothing = np.full(len(grouped), np.nan)
        return Distribution(_rows(ends, nothing, unknown[0], unknown[1], "none", ["few"]), 0, 0)
    flat = [cell for cells_of in grouped for cell in cells_of]
    sizes = np.array([len(cell) for cell in flat], dtype=float)
    means = [channel.chances(middles(cell) / domain.steps).mean(axis=1) for cell in flat]
    chances = np.column_stack([*means, channel.skipped])
    blur = _blur(sizes, chances.shape[1]) if smooth else np.eye(chances.shape[1])
    shares = tally[:, None] / n
    start = np.append(sizes, np.full(channel.skipped.shape[1], sizes.mean()))[:, None]
    found, rested = rest(chances, shares, start, blur)

    def in_ranges(weights: Floats) -> Floats:
        firsts = np.cumsum([0, *(len(own) for own in grouped[:-1])])
        sums = np.add.reduceat(weights[: len(flat)], firsts)
        return np.asarray(sums / sums.sum(axis=0))

    share = in_ranges(found)[:, 0]
    answered = n * float(found[: len(flat)].sum())
    flags = ["smoothed"] * smooth + ["few"] * (answered < FEW)
    flags += ["not-converged"] * (not rested.all())
    if rng is None:
        return Distribution(_rows(ends, share, unknown[0], unknown[1], "none", flags), n, 0)
    drawn = []
    for done in range(0, resamples, _BATCH):
        size = min(_BATCH, resamples - done)
        others = rng.multinomial(n, shares[:, 0], size).T / n
        near = shifted(chances, shares[:, 0], found[:, 0], others, blur)
        drawn.append(in_ranges(rest(chances, others, near, blur)[0]))
        if progress is not None:
            progress(done + size, resamples)
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(np.hstack(drawn), [tail, 1 - tail], axis=1)
    return Distribution(_rows(ends, share, low, high, "bootstrap", flags), n, resamples)


def _blur(sizes: Floats, parts: int) -> Floats:
    """Smoothing with weights 1/4, 1/2, 1/4 over cells; no-answer, the last part, has no neighbors.

    Of cells of different sizes it is their density that is smoothed, so that none is preferred.
    """
    blur = np.eye(parts)
    for left, (one, two) in enumerate(pairwise(sizes)):
        apart = np.zeros(parts)
        apart[left], apart[left + 1] = -1 / one, 1 / two
        flow = min(one, two) / 4 * apart
        blur[left] += flow
        blur[left + 1] -= flow
    return blur


def _rows(
    ends: tuple[Fraction, ...],
    share: Floats,
    low: Floats,
    high: Floats,
    method: str,
    flags: list[str],
) -> tuple[Range, ...]:
    last = len(share) - 1
    return tuple(
        Range(
            term=f"[{float(start):g},{float(stop):g}" + ("]" if place == last else ")"),
            low=float(start),
            high=float(stop),
            estimate=None if np.isnan(share[place]) else float(share[place]),
            conf_low=float(low[place]),
            conf_high=float(high[place]),
            conf_method=method,
            flag=";".join(flags),
        )
        for place, (start, stop) in enumerate(pairwise(ends))
    )
