"""Columns with more than one number: counts as bytes, and how often somebody answered as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

#: How many counts make a block: a report of 256 bits adds to one row, and a report on a number with
#: thousands of symbols does not write the counts of all of them.
BLOCK = 512


def written_counts(offsets: Sequence[int] | NDArray[Any], counts: Any) -> bytes:
    """Return counts at offsets within a block, as `tally` and `report_size` have them.

    Each has 64 bits, the lowest byte first. Offsets that are not given have 0, and those after the
    largest are left out.
    """
    block = np.zeros(int(max(offsets)) + 1, dtype="<i8")
    block[offsets] = counts
    return block.tobytes()


def read_counts(written: bytes) -> NDArray[np.int64]:
    """Return the counts that `written_counts` wrote."""
    return np.frombuffer(written, dtype="<i8")


def blocks(
    cohorts: NDArray[np.int64], symbols: NDArray[np.int64], counts: NDArray[np.int64]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the cohort, the number and the counts of each block; cohorts and symbols in order."""
    numbers, offsets = np.divmod(symbols, BLOCK)
    begins = np.flatnonzero(np.diff(cohorts, prepend=-1) | np.diff(numbers, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(counts)]):
        cells = slice(begin, end)
        written = written_counts(offsets[cells], counts[cells])
        yield int(cohorts[begin]), int(numbers[begin]), written


def answered_as(times: Iterable[tuple[str, int]]) -> str:
    """Return how often somebody answered under each set of terms, as `respondent_total` has it."""
    return msgspec.json.encode(sorted(times)).decode()
