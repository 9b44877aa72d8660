"""The files of google/rappor are read as its own programs read them, or refused at the mistake."""

import csv
import hmac
from pathlib import Path

import numpy as np
import pytest

from analysis.estimate.rappor_files import (
    RapporFileError,
    RapporParams,
    google_bloom,
    map_row,
    read_counts,
    read_map,
    read_params,
)

PARAMS = RapporParams(k=4, h=2, m=2, p=0.25, q=0.75, f=0.5)
FILES = {
    "params.csv": "k,h,m,p,q,f\n4,2,2,0.25,0.75,0.5\n",
    "counts.csv": "10,1,2,3,4\n20,5,6,7,20\n",
    "map.csv": "a,1,2,5,5\nb,3,4,6,8\n",
}


def _read(folder: Path) -> object:
    params = read_params(folder / "params.csv")
    counts = read_counts(folder / "counts.csv", params)
    return params, counts, read_map(folder / "map.csv", params)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_files_are_read(folder: Path) -> None:
    assert read_params(folder / "params.csv") == PARAMS
    totals, counts = read_counts(folder / "counts.csv", PARAMS)
    assert totals.tolist() == [10, 20]
    assert counts.tolist() == [[1, 2, 3, 4], [5, 6, 7, 20]]
    strings, hits = read_map(folder / "map.csv", PARAMS)
    assert strings == ["a", "b"]
    assert hits.tolist() == [[[0, 1], [2, 3]], [[0, 0], [1, 3]]]


def test_numbers_are_read_as_r_writes_them(folder: Path) -> None:
    (folder / "counts.csv").write_text("1e+05,1,2,3,4\n20.0,5,6,7,2e1\n")
    totals, counts = read_counts(folder / "counts.csv", PARAMS)
    assert (totals.tolist(), counts[1, 3]) == ([100_000, 20], 20)


def test_quotes_marks_and_line_ends_of_other_programs_are_read(folder: Path) -> None:
    text = '\ufeff"a,\nb",1,2,5,5\r\n"ε ""q""",3,4,6,8\r\n'
    (folder / "map.csv").write_bytes(text.encode())
    assert read_map(folder / "map.csv", PARAMS)[0] == ["a,\nb", 'ε "q"']


def test_probabilities_are_those_of_the_paper() -> None:
    # Section 4: q* = (1/2) f (p + q) + (1 - f) q, and p* with p; here .625 and .375 by hand.
    chances = PARAMS.chances()
    assert chances.p == pytest.approx(0.625)
    assert chances.q == pytest.approx(0.375)
    # regtest_spec.py calls these "eps_1 = 1, eps_inf = 5" with h = 2.
    spec = RapporParams(8, 2, 128, 0.39, 0.61, 0.45).chances()
    odds = spec.p * (1 - spec.q) / (spec.q * (1 - spec.p))
    assert 2 * np.log(odds) == pytest.approx(0.973, abs=5e-4)
    kept = spec.permanent[0] / spec.permanent[1]
    assert 4 * np.log(kept) == pytest.approx(4.947, abs=5e-4)


def test_bloom_bits_are_googles() -> None:
    # By its compiled C++ encoder, "foo" in cohort 3 of a metric sets the Bloom filter to 4112.
    assert sum(1 << bit for bit in set(google_bloom("foo", 3, 32, 2))) == 4112
    assert sum(1 << bit for bit in set(google_bloom("foo", 3, 16, 2))) == 4112


def test_bloom_bits_give_the_report_of_googles_own_test() -> None:
    # client/python/rappor_test.py, testEncoder: "abc", cohort 0, k = 16, h = 2, f = 1/2, p = 1/2,
    # q = 3/4, and random numbers 0, 0.6, 0 in turn: the report is 64493.
    bloom = sum(1 << bit for bit in set(google_bloom("abc", 0, 16, 2)))
    digest = hmac.digest(b"secret", bloom.to_bytes(4, "big"), "sha256")[:16]
    uniform = sum((byte & 1) << i for i, byte in enumerate(digest))
    mask = sum((byte >> 1 < 64) << i for i, byte in enumerate(digest))
    permanent = (bloom & ~mask) | (uniform & mask)
    p_bits = sum(((0.0, 0.6, 0.0)[i % 3] < 0.5) << i for i in range(16))
    assert (p_bits & ~permanent) | permanent == 64493


def test_a_map_is_written_as_it_is_read(tmp_path: Path) -> None:
    values = ["abc", "ε,", 'q"q']
    with (tmp_path / "map.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(map_row(value, PARAMS) for value in values)
    strings, hits = read_map(tmp_path / "map.csv", PARAMS)
    assert strings == values
    assert tuple(hits[1, 0]) == google_bloom("abc", 1, 4, 2)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("params.csv", "", "line 1, column 1: expected k,h,m,p,q,f, got nothing"),
        ("params.csv", "k,h,m,p,q\n", "line 1, column 1: expected k,h,m,p,q,f, got k,h,m,p,q"),
        ("params.csv", "k,h,m,p,q,f\n", "line 2, column 1: expected one line of numbers, got 0"),
        ("params.csv", FILES["params.csv"] + "1\n", "line 3, column 1: expected one line of"),
        ("params.csv", "k,h,m,p,q,f\n4,2,2,.2,.7\n", "line 2, column 6: expected 6 columns in"),
        ("params.csv", "k,h,m,p,q,f\n4,2,x,.2,.7,0\n", "line 2, column 3: expected a whole"),
        ("params.csv", "k,h,m,p,q,f\n1,1,2,.2,.7,0\n", "line 2, column 1: expected k in 2..256"),
        ("params.csv", "k,h,m,p,q,f\n4,17,2,.2,.7,0\n", "line 2, column 2: expected h in 1..16"),
        ("params.csv", "k,h,m,p,q,f\n4,2,0,.2,.7,0\n", "line 2, column 3: expected m in 1..16384"),
        ("params.csv", "k,h,m,p,q,f\n4,2,2,nan,.7,0\n", "line 2, column 4: expected a probabili"),
        ("params.csv", "k,h,m,p,q,f\n4,2,2,.5,.5,0\n", "line 2, column 5: expected a q that diff"),
        ("params.csv", "k,h,m,p,q,f\n4,2,2,.2,.7,1.5\n", "line 2, column 6: expected a probabili"),
        ("params.csv", "k,h,m,p,q,f\n4,2,2,.2,.7,1\n", "line 2, column 6: expected a smaller f"),
        ("counts.csv", "", "line 1, column 1: expected 2 lines, for as many cohorts, got 0 lines"),
        ("counts.csv", "10,1,2,3,4\n", "line 2, column 1: expected 2 lines"),
        ("counts.csv", "9,1,2,3,4\n" * 3, "line 3, column 1: expected 2 lines, for as many"),
        ("counts.csv", "10,1,2,3\n1,1,1,1,1\n", "line 1, column 5: expected 5 columns in all"),
        ("counts.csv", "10,1,2,3,4,5\n", "line 1, column 6: expected 5 columns in all, got 6"),
        ("counts.csv", "9,1,2,3,4\n9,1,-2,3,4\n", "line 2, column 3: expected a whole number, 0 "),
        ("counts.csv", "9,1,2,3,1.5\n", "line 1, column 5: expected a whole number, 0 or more, "),
        (
            "counts.csv",
            "9,1,,3,1\n",
            'line 1, column 3: expected a whole number, 0 or more, got ""',
        ),
        ("counts.csv", "9,1,2,x,1\n", "line 1, column 4: expected a whole number"),
        ("counts.csv", "9" * 30 + ",1,2,3,1\n", "line 1, column 1: expected a whole number"),
        ("counts.csv", "9,1,2,3,4\n9,1,2,3,10\n", "line 2, column 5: expected at most 9, the re"),
        ("counts.csv", "0,0,0,0,0\n" * 2, "line 1, column 1: expected reports, got none"),
        ("counts.csv", "\n9,1,2,3,1\n", "line 1, column 1: expected 5 columns in all, got 0"),
        ("map.csv", "", "line 1, column 1: expected a candidate, got nothing"),
        ("map.csv", "a,1,2,5\n", "line 1, column 5: expected 5 columns in all, got 4"),
        (
            "map.csv",
            "a,1,2,5,5\na,1,2,5,5\n",
            'line 2, column 1: expected each string once, got "a',
        ),
        ("map.csv", "a" * 1025 + ",1,2,5,5\n", "line 1, column 1: expected a string of at most 10"),
        ("map.csv", "a,1,5,5,5\n", "line 1, column 3: expected a cell of 1..4 of cohort 0; is the"),
        ("map.csv", "a,1,2,5,9\n", "line 1, column 5: expected a cell of 5..8 of cohort 1; is the"),
        ("map.csv", "a,0,2,5,5\n", "line 1, column 2: expected a cell of 1..4 of cohort 0; is the"),
        ("map.csv", '"a\nb",1,2,5,5\nc,1,2,x,5\n', "line 3, column 4: expected a whole number, "),
        (
            "map.csv",
            'a,1,2,5,5\n"b,1',
            "line 2, column 1: expected CSV, got unexpected end of data",
        ),
    ],
)
def test_a_bad_file_is_refused_with_line_and_column(
    folder: Path, name: str, text: str, message: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(RapporFileError) as caught:
        _read(folder)
    assert str(caught.value).startswith(f"{folder / name}: {message}")


def test_other_encodings_than_utf_8_are_refused_with_line_and_column(folder: Path) -> None:
    (folder / "map.csv").write_bytes("a,1,2,5,5\nb,1,é,5,5\n".encode("latin-1"))
    with pytest.raises(
        RapporFileError, match="line 2, column 3: expected UTF-8, got the byte 0xe9"
    ):
        _read(folder)
