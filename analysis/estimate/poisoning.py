"""How far fake reports may have moved an estimate, given the reports that are stored.

If m of n stored reports are fakes, the honest reports alone would have given another estimate. It
is not known which reports are fakes. So the worst is assumed: that all fakes support a share, or
that none does, as far as there are such reports. By hand, for an average of scores: m fakes of
score s have moved the estimate e by ``m (s - e) / (n - m)`` (docs/methods.md, (37)).

A fake may be any report that the server takes: Cheu, Smith and Ullman, "Manipulation attacks in
local differential privacy", IEEE S&P 2021; Cao, Jia and Gong, "Data poisoning attacks to local
differential privacy protocols", USENIX Security 2021 (their maximal gain attack).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.core.randomizer import Randomizer
from analysis.estimate import Floats, Ints
from analysis.mechanisms.base import Mean, Share
from analysis.survey.survey import Survey

#: The most steps to the worst choice of fakes. Each is far closer than the last: few are enough.
_ROUNDS = 100


def shifts(survey: Survey, tallies: Mapping[str, Ints], fakes: int) -> dict[tuple[str, str], float]:
    """Return the most by which this many fakes can have moved each estimate, either way.

    Some reports with these tallies reach this bound. If a report counts for one symbol, the stored
    reports reach it. Sampling error is not included.

    Parameters
    ----------
    survey, tallies
        Those of `analysis.estimate.estimates.estimates`.
    fakes : int
        The number of fakes among the reports to each question; ``0 <= fakes < n``, or 0.

    Returns
    -------
    dict
        The distance by the (question id, term) of every row of `estimates`. For means it is in the
        question's unit. It is infinite if all reports about an option may be fakes, since the
        honest reports then carry no information. It is 0 without fakes.

    Raises
    ------
    ValueError
        If `fakes` is negative, or leaves no honest report to a question.
    """
    furthest: dict[tuple[str, str], float] = {}
    for question in survey.questions:
        tally, randomizer = tallies[question.id], question.randomizer
        n = randomizer.reports_in(tally)
        if fakes and not 0 < fakes < n:
            raise ValueError(
                f"fakes must be from 0 to {max(0, n - 1)}, one less than the reports to "
                f"{question.id}, got {fakes}"
            )
        mechanism, domain = question.mechanism, question.domain
        for mean in mechanism.means(randomizer, domain):
            furthest[question.id, mean.term] = _shift_of_mean(mean, randomizer, tally, fakes)
        shares = mechanism.shares(randomizer, domain)
        for share, support, trials in zip(shares.values, *shares.count(tally), strict=True):
            shift = _shift_of_share(share, int(support), int(trials), fakes)
            furthest[question.id, share.term] = shift
    return furthest


def _shift_of_share(share: Share, support: int, trials: int, fakes: int) -> float:
    """Return the most by which a share moves if all fakes are among its trials."""
    if not fakes:
        return 0.0
    if fakes >= trials:
        return float("inf")
    against = trials - support
    low = (support - min(fakes, support)) / (trials - min(fakes, support))
    high = support / (trials - min(fakes, against))
    moved = max(support / trials - low, high - support / trials)
    return moved / abs(float(share.p - share.q))


def _shift_of_mean(mean: Mean, randomizer: Randomizer[Any, Any], tally: Ints, fakes: int) -> float:
    """Return the most by which a ratio of two sums moves if the worst fakes are left out.

    At the largest ratio r, the sum of ``scores - r present`` over the honest reports is at most 0
    for all choices of fakes, and 0 for one choice (Dinkelbach, Management Science 1967).
    """
    if not fakes:
        return 0.0
    counts, n = tally.reshape(-1), randomizer.reports_in(tally)
    scores, present = mean.floats
    same = randomizer.channel.size_chances(1) is None
    size = int(counts.sum()) // n if same else None
    below = float(counts @ present)
    if below <= 0 or _left(present, counts, n, fakes, size) @ present <= 0:
        return float("inf")
    printed = float(counts @ scores) / below
    moved = 0.0
    for side in (1, -1):
        ratio = side * printed
        for _ in range(_ROUNDS):
            left = _left(ratio * present - side * scores, counts, n, fakes, size)
            better = side * float(left @ scores) / float(left @ present)
            if not better > ratio + 1e-12 * max(1.0, abs(ratio)):
                break
            ratio = better
        moved = max(moved, ratio - side * printed)
    return moved * float(mean.width)


def _left(worth: Floats, counts: Ints, n: int, fakes: int, size: int | None) -> Ints:
    """Return the tally of honest reports with the least sum of `worth`, over all choices of fakes.

    A report counts for a symbol at most once. So at most `fakes` fakes, and at most ``n - fakes``
    honest reports, count for a symbol. Within these bounds, all tallies of fakes that count for
    `size` symbols each, or for any number, are possible (Gale and Ryser, 1957).
    """
    fewest = np.maximum(0, counts - (n - fakes))
    most = np.minimum(fakes, counts)
    if size is None:
        return np.asarray(counts - np.where(worth > 0, most, fewest))
    taken, order = fewest.copy(), np.argsort(-worth)
    room = (most - fewest)[order]
    before = room.cumsum() - room
    taken[order] += np.clip(fakes * size - fewest.sum() - before, 0, room)
    return np.asarray(counts - taken)
