"""The files of google/rappor: parameters, counts, the map of candidates, and their hashes.

All are CSV in UTF-8. Parameters have a header ``k,h,m,p,q,f`` and one line. Counts have no header.
They have a line for each of m cohorts: its number of reports, and the number of these with each of
the k bits. The map has a line for each candidate: the string, and its m * h cells
``cohort * k + bit + 1``.

References
----------
github.com/google/rappor, commit a13fa96: doc/data-flow.md, analysis/R/read_input.R,
client/python/rappor.py. Erlingsson, Pihur and Korolova, CCS 2014, sections 3 and 4.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path

import numpy as np

from analysis.core.errors import shown
from analysis.core.typed import delimiter_of, encoding_of, latin
from analysis.estimate import Ints
from analysis.estimate.decoding import Chances
from analysis.survey.files import open_file

HEADER = ["k", "h", "m", "p", "q", "f"]
#: The most letters of a candidate.
LONGEST = 1024
#: The most bits, since a byte of the digest gives a bit's number.
MOST_BITS = 256
#: The most hashes, since a digest has this many bytes.
MOST_HASHES = 16
#: The most bits of all cohorts, which bounds the memory of decoding.
MOST_CELLS = 65_536
#: R writes 100000 as 1e+05.
_WHOLE = re.compile(r"[0-9]{1,15}(\.0*)?|[0-9](\.[0-9]{1,15})?[eE]\+?[0-9]{1,2}", re.ASCII)
_CHANCE = re.compile(r"([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?|[0-9]+\.", re.ASCII)
_LARGEST = 2**53


class RapporFileError(ValueError):
    """A mistake in a file of google/rappor. The message has line, column and reason."""


@dataclass(frozen=True)
class RapporParams:
    """Parameters of RAPPOR: bits `k`, hashes `h`, cohorts `m`, and three probabilities.

    `p` and `q` are the probabilities that a bit of a report is 1 if its permanent bit is 0 and if
    it is 1. `f` is the proportion of permanent bits that are drawn by a fair coin.
    """

    k: int
    h: int
    m: int
    p: float
    q: float
    f: float

    def chances(self, repeats: float = 1.0) -> Chances:
        """Return probabilities by the nominal f, as RAPPOR decodes. Its clients round to 1/128."""
        return Chances((1 - self.f / 2, self.f / 2), (self.q, self.p), repeats=repeats)


#: If the probabilities of a 1 differ by less, reports carry no useful information.
_LEAST = 1e-6


def read_params(path: Path) -> RapporParams:
    """Return the parameters of a file.

    Raises
    ------
    RapporFileError
        At the first mistake. So do `read_counts` and `read_map`.
    """
    rows = list(_rows(path))
    if not rows or rows[0][1] != HEADER:
        raise _error(path, 1, 1, ",".join(HEADER), ",".join(rows[0][1]) if rows else "nothing")
    if len(rows) != 2:
        line = rows[2][0] if rows[2:] else 2
        raise _error(path, line, 1, "one line of numbers", f"{len(rows) - 1} lines")
    line, fields = rows[1]
    _check_length(path, line, fields, 6)
    k, h, m = (_whole(path, line, column + 1, fields[column]) for column in range(3))
    for column, (name, number, low, high) in enumerate(
        [("k", k, 2, MOST_BITS), ("h", h, 1, MOST_HASHES), ("m", m, 1, MOST_CELLS // k if k else 1)]
    ):
        if not low <= number <= high:
            raise _error(path, line, column + 1, f"{name} in {low}..{high}", str(number))
    p, q, f = (_chance(path, line, column + 1, fields[column]) for column in range(3, 6))
    if p == q:
        raise _error(path, line, 5, "a q that differs from p", fields[4])
    if abs(p - q) * (1 - f) < _LEAST:
        raise _error(
            path,
            line,
            6,
            "a smaller f, or p and q further apart: reports carry no information",
            fields[5],
        )
    return RapporParams(k, h, m, p, q, f)


def read_counts(path: Path, params: RapporParams) -> tuple[Ints, Ints]:
    """Return each cohort's number of reports, (m,), and how many of them have each bit, (m, k)."""
    table = np.zeros((params.m, params.k + 1), dtype=np.int64)
    line, read = 0, 0
    for read, (line, fields) in enumerate(_rows(path), 1):
        if read > params.m:
            raise _error(path, line, 1, f"{params.m} lines, for as many cohorts", "more")
        _check_length(path, line, fields, params.k + 1)
        table[read - 1] = counts = _wholes(path, line, fields, 1)
        above = np.flatnonzero(counts[1:] > counts[0])
        if len(above):
            column = int(above[0]) + 2
            most = f"at most {counts[0]}, the reports of the cohort"
            raise _error(path, line, column, most, str(counts[column - 1]))
    if read < params.m:
        raise _error(path, line + 1, 1, f"{params.m} lines, for as many cohorts", f"{read} lines")
    if not table[:, 0].any():
        raise _error(path, 1, 1, "reports", "none in any cohort")
    return table[:, 0], table[:, 1:]


def read_map(path: Path, params: RapporParams) -> tuple[list[str], Ints]:
    """Return the candidates, and the (m, candidates, h) array of their bits from 0 on."""
    seen: dict[str, int] = {}
    cells: list[Ints] = []
    alike_at: dict[bytes, int] = {}
    first = np.repeat(np.arange(params.m, dtype=np.int64) * params.k, params.h) + 1
    for line, fields in _rows(path):
        _check_length(path, line, fields, 1 + params.m * params.h)
        value = fields[0]
        if len(value) > LONGEST:
            raise _error(path, line, 1, f"a string of at most {LONGEST} letters", str(len(value)))
        if value in seen:
            raise _error(
                path, line, 1, "each string once", f"{shown(value)} of line {seen[value]} again"
            )
        seen[value] = line
        bits = _wholes(path, line, fields[1:], 2) - first
        outside = np.flatnonzero((bits < 0) | (bits >= params.k))
        if len(outside):
            at = int(outside[0])
            low = int(first[at])
            cohort = f"of cohort {at // params.h}; is the map made for other parameters?"
            expected = f"a cell of {low}..{low + params.k - 1} {cohort}"
            raise _error(path, line, at + 2, expected, fields[at + 1])
        # Reports cannot distinguish candidates with the same bits in all cohorts.
        alike = alike_at.setdefault(np.sort(bits.reshape(params.m, params.h)).tobytes(), line)
        if alike != line:
            raise _error(
                path, line, 2, "cells that differ from other lines", f"those of line {alike}"
            )
        cells.append(bits)
    if not cells:
        raise _error(path, 1, 1, "a candidate", "nothing")
    return list(seen), np.array(cells).reshape(-1, params.m, params.h).transpose(1, 0, 2)


def google_bloom(value: str, cohort: int, k: int, h: int) -> tuple[int, ...]:
    """Return the bits, which may repeat, that the Python client and the C++ client set.

    Bit i is byte i, modulo k, of an MD5 hash. Its input is the cohort, as four bytes with the
    highest first, followed by the value in UTF-8. The Java client, and the C++ client for k > 32,
    have other rules. Preconditions: ``2 <= k <= 256``, ``1 <= h <= 16``.
    """
    digest = md5(cohort.to_bytes(4, "big") + value.encode(), usedforsecurity=False).digest()
    return tuple(byte % k for byte in digest[:h])


def map_row(value: str, params: RapporParams) -> list[str | int]:
    """Return a line of the map file: the string and its cells."""
    cells = [
        cohort * params.k + bit + 1
        for cohort in range(params.m)
        for bit in google_bloom(value, cohort, params.k, params.h)
    ]
    return [value, *cells]


def _error(path: Path, line: int, column: int, expected: str, got: str) -> RapporFileError:
    return RapporFileError(f"{path}: line {line}, column {column}: expected {expected}, got {got}")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of the line on which it begins."""
    try:
        with open_file(path) as file:
            data = file.read()
    except OSError as error:
        raise RapporFileError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, before[before.rfind(b"\n") + 1 :].count(b",") + 1
        got = f"the byte 0x{data[error.start]:02x}"
        raise _error(path, line, column, "UTF-8", got) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    line = 1
    try:
        for fields in reader:
            yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise _error(path, line, 1, "CSV", str(error)) from None


def _check_length(path: Path, line: int, fields: list[str], length: int) -> None:
    if len(fields) != length:
        column = min(len(fields), length) + 1
        raise _error(path, line, column, f"{length} columns in all", str(len(fields)))


def _wholes(path: Path, line: int, fields: list[str], column: int) -> Ints:
    """Return the numbers of a line from `column` on."""
    fields = [*map(latin, fields)]
    joined = "".join(fields)
    if joined.isascii() and joined.isdigit() and all(0 < len(field) < 16 for field in fields):
        return np.array(list(map(int, fields)), dtype=np.int64)
    numbers = [_whole(path, line, column + i, field) for i, field in enumerate(fields)]
    return np.array(numbers, dtype=np.int64)


def _whole(path: Path, line: int, column: int, field: str) -> int:
    number = float(field) if _WHOLE.fullmatch(field.strip()) else -1.0
    if not 0 <= number <= _LARGEST or number != int(number):
        raise _error(path, line, column, "a whole number, 0 or more", shown(field))
    return int(number)


def _chance(path: Path, line: int, column: int, field: str) -> float:
    # A comma that is left in a field parts no cells.
    field = latin(field).replace(",", ".")
    number = float(field) if _CHANCE.fullmatch(field.strip()) else -1.0
    if not 0 <= number <= 1:
        raise _error(path, line, column, "a probability, 0 to 1", shown(field))
    return number
