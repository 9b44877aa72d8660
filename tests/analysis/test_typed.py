"""Tables of other programs, and numbers in the digits of other scripts, are read."""

import codecs
from pathlib import Path

import pytest

from analysis.core.typed import delimiter_of, encoding_of, latin, number_cell
from analysis.estimate.columns.data_file import read_data
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.rappor_files import RapporParams, read_counts
from analysis.survey.simulate import read_answers
from analysis.survey.survey_file import read_survey

DESIGN = """
[columns.y]
values = ["0", "1"]
design = {name = "forced", p_yes = "1/6", p_no = "1/4"}
[columns.word]
values = ["１", "two"]
design = {name = "krr", epsilon = 1}
"""
TABLE = 'y,age,word,town\n0,"3,5",１,"Bonn, Süd"\n1,4,two,"""x"""\n1,1e1,１,نعم\n'
SEMICOLONS = 'y;age;word;town\n0;3,5;１;Bonn, Süd\n1;4;two;"""x"""\n1;1e1;１;نعم\n'
OTHER_DIGITS = "y,age,word,town\n０,３．５,１,12\n١,٤,two,x\n۱,۱e۱,１,y\n"


def test_digits_and_signs_of_other_scripts_become_latin() -> None:
    assert latin("１２３ ٤٥٦ ۷۸۹ ०") == "123 456 789 0"
    assert latin("－١٬٢٣٤٫٥ + １．５") == "-1234.5 + 1.5"
    assert latin("naïve½²") == "naïve½²"


@pytest.mark.parametrize(
    ("cell", "delimiter", "found"),
    [
        ("３,５", ";", "3.5"),
        ("3,5", ",", "3,5"),
        ("-,5", "\t", "-.5"),
        ("1,2,3", ";", "1,2,3"),
        ("A１", ";", "A１"),
        ("1.234,5", ";", "1.234,5"),
    ],
)
def test_only_cells_that_are_numbers_are_changed(cell: str, delimiter: str, found: str) -> None:
    assert number_cell(cell, delimiter) == found


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1;2;3", ","),
        ("a;b\n1,5;2", ";"),
        ("a\tb\n", "\t"),
        ('"a;b;c",d\n', ","),
        ('"a, ""b"", c";d\n', ";"),
        ("\r\na;b\r\n", ";"),
        ("alone\n", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_that_of_the_first_line(text: str, delimiter: str) -> None:
    assert delimiter_of(text) == delimiter


@pytest.mark.parametrize(
    "content",
    [
        TABLE.replace('"3,5"', "3.5").encode(),
        TABLE.replace('"3,5"', "3.5").encode("utf-16"),
        SEMICOLONS.encode("utf-8-sig"),
        codecs.BOM_UTF16_BE + SEMICOLONS.encode("utf-16-be"),
        SEMICOLONS.replace(";", "\t").encode("utf-16"),
    ],
)
def test_a_table_is_the_same_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "design.toml").write_text(DESIGN)
    (tmp_path / "x.csv").write_bytes(content)
    designs = read_designs(tmp_path / "design.toml")
    data = read_data(tmp_path / "x.csv", designs, ["y", "word", "age", "town"])
    assert data.known["age"].tolist() == [3.5, 4, 10]
    assert data.known["town"].tolist() == ["Bonn, Süd", '"x"', "نعم"]
    # A report that the design has is that report, also if it looks like a number.
    assert data.columns["word"].codes.tolist() == [0, 1, 0]
    assert data.columns["y"].codes.tolist() == [0, 1, 1]


def test_cells_in_other_digits_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(f'[sample]\nweights = "age"\n{DESIGN}')
    (tmp_path / "x.csv").write_text(OTHER_DIGITS.replace("٤", "٠"))
    designs = read_designs(tmp_path / "design.toml")
    data = read_data(tmp_path / "x.csv", designs, ["y", "word"])
    assert data.columns["y"].codes.tolist() == [0, 1]
    assert data.sample is not None
    assert data.sample.weights.tolist() == [3.5, 10]


def test_counts_of_rappor_are_read_from_excel(tmp_path: Path) -> None:
    params = RapporParams(2, 1, 2, 0.5, 0.75, 0.0)
    (tmp_path / "counts.csv").write_bytes("9;١;2\r\n３;0;1\r\n".encode("utf-16"))
    reports, counts = read_counts(tmp_path / "counts.csv", params)
    assert (reports.tolist(), counts.tolist()) == ([9, 3], [[1, 2], [0, 1]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_true_answers_and_candidates_are_read_from_excel(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "words.txt").write_bytes("süß\r\nsauer\r\n".encode(encoding))
    (tmp_path / "s.toml").write_text(
        'title = "S"\nid = "s"\n[[questions]]\nid = "price"\nkind = "number"\ntext = "?"\nmin = 0\n'
        'max = 20\nepsilon = 1\n[[questions]]\nid = "taste"\nkind = "text"\ntext = "?"\n'
        'candidates = "words.txt"\nepsilon = 1\n'
    )
    survey = read_survey(tmp_path / "s.toml")
    assert survey.questions[1].spec["candidates"] == ["süß", "sauer"]
    content = "price;taste\r\n3,25;süß\r\n１２;\r\n".encode(encoding)
    assert read_answers(content, survey, "truth.csv") == [
        {"price": "3.25", "taste": "süß"},
        {"price": "12", "taste": ""},
    ]
    assert encoding_of(content) == ("utf-16" if encoding == "utf-16" else "utf-8-sig")
