"""The distribution of a number for display, by EM with smoothing, with bootstrap bands.

Smoothing makes single ranges readable but biases them, since it flattens steep parts. So the bands
show how much of the picture is noise, and not where the truth is. For statements about a
distribution use its quartiles (`analysis.estimate.number`), whose intervals are valid for every
distribution.
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

#: The number of resamples that are fitted at once. More would save no time.
_BATCH = 100


@dataclass(frozen=True)
class Range:
    """The share of numbers in ``low <= number < high``. The last range includes `high`.

    It is the share among those who answered. `estimate` is None if there are no reports. The
    percentile band has its level for this range alone. Like the estimate, it has the bias of
    smoothing. `flag` holds words joined by ``;``: ``smoothed`` (for display), ``few`` (there are
    few answers) and ``not-converged`` (the fit could still move).
    """

    term: str
    low: float
    high: float
    estimate: float | None
    conf_low: float
    conf_high: float
    conf_method: str
    flag: str


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
) -> tuple[Range, ...]:
    """Return the smoothed likeliest distribution over about `bins` ranges between round numbers.

    The shares of ranges sum to 1.

    Parameters
    ----------
    randomizer, domain
        Those of the question.
    counts : (1, symbols) array
        How often each report was made.
    bins : int
        The approximate number of ranges, from 1 to 100.
    rng : Generator, optional
        The generator of resamples. Without it there are no bands (0 to 1, method ``none``).
    resamples : int
        The number of tallies that are drawn with the shares of this one (multinomial bootstrap).
        Each is fitted in the same way.
    confidence_level : float
        The level of each band, in (0, 1).
    smooth : bool
        False gives maximum likelihood, which has no flag ``smoothed`` and a few high peaks.

    Raises
    ------
    ValueError
        If reports depend on the mean alone, or if an argument is outside its range.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, SIGMOD 2020, section 5.5.
    """
    if not tells_distribution(randomizer, domain):
        raise ValueError(
            "distribution needs reports that depend on more than the mean, got a number that is "
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
    unknown = (np.zeros(len(grouped)), np.ones(len(grouped)))
    if n == 0:
        nothing = np.full(len(grouped), np.nan)
        return _rows(ends, nothing, unknown, "none", "few")
    flat = [cell for group in grouped for cell in group]
    sizes = np.array([len(cell) for cell in flat], dtype=float)
    means = [channel.chances(middles(cell) / domain.steps).mean(axis=1) for cell in flat]
    chances = np.column_stack([*means, channel.skipped])
    blur = _blur(sizes, chances.shape[1]) if smooth else np.eye(chances.shape[1])
    shares = tally[:, None] / n
    start = np.append(sizes, np.full(channel.skipped.shape[1], sizes.mean()))[:, None]
    weights, rested = rest(chances, shares, start, blur)

    def in_ranges(fitted: Floats) -> Floats:
        firsts = np.cumsum([0, *map(len, grouped[:-1])])
        sums = np.add.reduceat(fitted[: len(flat)], firsts)
        return np.asarray(sums / sums.sum(axis=0))

    share = in_ranges(weights)[:, 0]
    answered = n * float(weights[: len(flat)].sum())
    flags = ["smoothed"] * smooth + ["few"] * (answered < FEW)
    flag = ";".join(flags + ["not-converged"] * (not rested.all()))
    if rng is None:
        return _rows(ends, share, unknown, "none", flag)
    drawn = []
    for done in range(0, resamples, _BATCH):
        others = rng.multinomial(n, shares[:, 0], min(_BATCH, resamples - done)).T / n
        near = shifted(chances, shares[:, 0], weights[:, 0], others, blur)
        drawn.append(in_ranges(rest(chances, others, near, blur)[0]))
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(np.hstack(drawn), [tail, 1 - tail], axis=1)
    return _rows(ends, share, (low, high), "bootstrap", flag)


def _blur(sizes: Floats, parts: int) -> Floats:
    """Return the matrix that smooths cells with weights 1/4, 1/2, 1/4.

    It smooths the density of cells, so that large cells are not preferred. No-answer, the last
    part, has no neighbors.
    """
    blur = np.eye(parts)
    for left, (size, next_size) in enumerate(pairwise(sizes)):
        apart = np.zeros(parts)
        apart[left], apart[left + 1] = -1 / size, 1 / next_size
        flow = min(size, next_size) / 4 * apart
        blur[left] += flow
        blur[left + 1] -= flow
    return blur


def _rows(
    ends: tuple[Fraction, ...], share: Floats, band: tuple[Floats, Floats], method: str, flag: str
) -> tuple[Range, ...]:
    last = len(share) - 1
    return tuple(
        Range(
            term=f"[{float(start):g},{float(stop):g}" + ("]" if place == last else ")"),
            low=float(start),
            high=float(stop),
            estimate=None if np.isnan(share[place]) else float(share[place]),
            conf_low=float(band[0][place]),
            conf_high=float(band[1][place]),
            conf_method=method,
            flag=flag,
        )
        for place, (start, stop) in enumerate(pairwise(ends))
    )
