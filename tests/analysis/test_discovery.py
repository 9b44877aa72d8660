"""Frequent texts are found without a list, with intervals that hold."""

from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.core.encoders.text import Prefix
from analysis.core.texts import BEGINNING, NOTHING, WHOLE
from analysis.estimate.decoding import Chances
from analysis.estimate.discovery import Search, find, floor
from analysis.estimate.discovery.one_length import Hashed, symbols

LENGTHS = (2, 4, 6, 8, 20)
ENCODER = Prefix(64, LENGTHS, 8)
#: Eight symbols at ε = ln 10.
CHANCES = Chances((10 / 17, 1 / 17), one_symbol=True)
LETTERS = "abcdefghijklmnopqrstuvwxyz "
NAMES = ("anna", "bo", "charlotte", "dora", "emil", "francine")
SHARES: dict[str | None, float] = {
    None: 0.2,
    "codeine": 0.2,
    "lsd": 0.12,
    "codex": 0.1,
    "éther": 0.1,
    "2c-b": 0.05,
    **{name + end: 0.23 / 60 for name in NAMES for end in ("", *"abcdefghi")},
}


def _hashed(text: str | None, length: int) -> Hashed:
    if text is None:
        return NOTHING, ""
    return (WHOLE, text) if len(text) <= length else (BEGINNING, text[:length])


@lru_cache(maxsize=8)
def _laws(encoder: Prefix, shares: tuple[tuple[str | None, float], ...]) -> NDArray[np.float64]:
    """Return (cohorts, symbols) probabilities of reports."""
    g, weights = encoder.inputs, [share for _, share in shares]
    rows = [
        CHANCES.q + (CHANCES.p - CHANCES.q) * np.bincount(column, weights, g)
        for place, length in enumerate(encoder.lengths)
        for column in symbols(encoder, place, [_hashed(text, length) for text, _ in shares]).T
    ]
    return np.array(rows)


def _tally(
    n: int, seed: int, shares: dict[Any, float] = SHARES, encoder: Prefix = ENCODER
) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    totals = rng.multinomial(n, np.full(encoder.cohorts, 1 / encoder.cohorts))
    return rng.multinomial(totals, _laws(encoder, tuple(shares.items())))


def _search(n: int, seed: int) -> Search:
    return find(ENCODER, CHANCES, _tally(n, seed), True, LETTERS)


@pytest.mark.parametrize("text", [None, "ab", "abcd", "abcdefghi", "ein text mit leerzeichen"[:20]])
def test_symbols_are_those_that_devices_report(text: str | None) -> None:
    for place, length in enumerate(LENGTHS):
        own = symbols(ENCODER, place, [_hashed(text, length)])[0]
        cohorts = range(64 * place, 64 * place + 64)
        assert list(own) == [ENCODER.encode(text, cohort, iter(())) for cohort in cohorts]


def test_frequent_texts_are_found_and_nothing_else() -> None:
    for seed in range(3):
        found = [one.text for one in _search(200_000, seed).texts]
        # Their shares are 10 standard errors and more.
        assert {"codeine", "lsd", "codex"} <= set(found)
        assert len(set(found) - set(SHARES)) <= 1


def test_texts_of_other_letters_or_too_long_are_not_found() -> None:
    shares = {"éther": 0.5, "absolutely": 0.5}
    found = find(ENCODER, CHANCES, _tally(100_000, 1, shares), False, LETTERS)
    assert (found.texts, found.no_answer) == ((), None)


@pytest.mark.more
def test_intervals_hold_over_all_that_are_found() -> None:
    held, sizes = [], []
    for seed in range(12):
        search = _search(40_000, 100 + seed)
        z = NormalDist().inv_cdf((1 + search.level) / 2)
        assert search.no_answer is not None
        estimate, std_error = search.no_answer
        held.append(abs(estimate - SHARES[None]) <= 1.96 * std_error)
        for one in search.texts:
            held.append(abs(one.estimate - SHARES.get(one.text, 0.0)) <= z * one.std_error)
            sizes.append((one.estimate - SHARES.get(one.text, 0.0)) / one.std_error)
    # Each has at least .93: so few happen once in 10,000.
    assert sum(held) >= binom.ppf(1e-4, len(held), 0.93)
    # Selection hardly biases the estimates: within 4 standard errors of a mean of 0.3.
    assert abs(np.mean(sizes)) <= 0.3 + 4 / len(sizes) ** 0.5


@pytest.mark.more
def test_texts_above_the_floor_are_found_nine_times_in_ten() -> None:
    n, times = 20_000, 16
    share = floor(ENCODER, CHANCES, n, LETTERS, longest=6)
    found = {part: _times_found(share * part, n, times) for part in (1.0, 0.5)}
    # With .9 each, fewer than this happen once in 10,000; and the floor is not far too high.
    assert found[1.0] >= binom.ppf(1e-4, times, 0.9)
    assert found[0.5] <= times / 2


def _times_found(share: float, n: int, times: int) -> int:
    rng = np.random.default_rng(7)
    rare = ["".join(row) for row in rng.choice(list(LETTERS[:-1]), (1000, 6))]
    shares = {"heroin": share, **dict.fromkeys(rare, (1 - share) / len(rare))}
    found = (
        find(ENCODER, CHANCES, _tally(n, seed, shares), False, LETTERS) for seed in range(times)
    )
    return sum("heroin" in [one.text for one in search.texts] for search in found)


def test_floor_by_hand() -> None:
    # p = 10/17 and g = 8. There are 27 letters in steps of 2, and 2 of 20 * 27^2 pass at z = 3.639.
    # A text of 3 letters passes two lengths, .9487 each: 1.632. At 8.74 % a report supports it with
    # .1655.
    share = floor(ENCODER, CHANCES, 10_000, LETTERS, longest=3)
    spread = [(one * (1 - one)) ** 0.5 / (10 / 17 - 1 / 8) for one in (0.125, 0.16547)]
    needed = (3.639 * spread[0] + 1.632 * spread[1]) * (5 / 10_000) ** 0.5
    assert share == pytest.approx(needed, rel=1e-3)
    assert share == pytest.approx(0.0874, abs=1e-4)
    assert floor(ENCODER, CHANCES, 10, LETTERS) == 1.0


def test_few_reports_find_nothing() -> None:
    counts = np.zeros((ENCODER.cohorts, 8), dtype=np.int64)
    assert find(ENCODER, CHANCES, counts, True, LETTERS) == Search((), 0.95, None)
    counts[3, 2] = 1
    assert find(ENCODER, CHANCES, counts, True, LETTERS).texts == ()
