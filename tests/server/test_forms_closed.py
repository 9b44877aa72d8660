"""Each value of a questionnaire is read, declared as harmless, or named in the report."""

import io
import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pytest
from test_forms_googleforms import FORM as GOOGLE_FORMS
from test_forms_limesurvey_cases import RICH as LIMESURVEY
from test_forms_qualtrics_more import full as qualtrics
from test_forms_surveyjs_rich import RICH as SURVEYJS
from test_forms_xlsform import CHOICES, SETTINGS, SURVEY, workbook

from server.forms import FormError, read_form, report
from server.forms.source import Declared, Given

#: A questionnaire of each tool with much of what the tool has, by the ending of its name.
FIXTURES: dict[str, bytes] = {
    "xlsform.xlsx": workbook(survey=SURVEY, choices=CHOICES, settings=SETTINGS),
    **{f"limesurvey.{ending}": content for ending, content in LIMESURVEY.items()},
    "surveyjs.json": json.dumps(SURVEYJS).encode(),
    "googleforms.json": json.dumps(GOOGLE_FORMS).encode(),
    "qualtrics.qsf": json.dumps(qualtrics()).encode(),
}
Plant = Callable[[bytes, Iterator[int]], bytes]


def json_leaves(value: Any) -> Iterator[str]:
    """Yield all simple values of a file of JSON."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from json_leaves(one)
    elif value not in (None, ""):
        yield str(value)


def cells(content: bytes) -> Iterator[str]:
    """Yield all cells of a workbook, but for the titles of columns."""
    for sheet in openpyxl.load_workbook(io.BytesIO(content)).worksheets:
        for row in sheet.iter_rows(min_row=2, values_only=True):
            yield from (str(cell).strip() for cell in row if cell not in (None, ""))


def texts_of_xml(content: bytes) -> Iterator[str]:
    """Yield all texts between the tags of an XML file."""
    for element in ElementTree.fromstring(content).iter():
        yield from filter(None, [(element.text or "").strip(), (element.tail or "").strip()])


def cells_of_table(content: bytes) -> Iterator[str]:
    """Yield all cells of a table with tabs, but for the titles of columns."""
    for line in content.decode("utf-8-sig").split("\n")[1:]:
        yield from filter(None, map(str.strip, line.split("\t")))


LEAVES: dict[str, Callable[[bytes], Iterator[str]]] = {
    "xlsx": cells,
    "json": lambda content: json_leaves(json.loads(content)),
    "lss": texts_of_xml,
    "old.lss": texts_of_xml,
    "txt": cells_of_table,
    "qsf": lambda content: json_leaves(json.loads(content)),
}


def planted_table(value: Any, numbers: Iterator[int]) -> Any:
    """Return a value in which each table has an invented key."""
    if isinstance(value, list):
        return [planted_table(one, numbers) for one in value]
    if not isinstance(value, dict):
        return value
    inside = {key: planted_table(one, numbers) for key, one in value.items()}
    return inside | {f"zz{next(numbers)}zz": "invented"}


def planted_json(content: bytes, numbers: Iterator[int]) -> bytes:
    return json.dumps(planted_table(json.loads(content), numbers)).encode()


def planted_cells(content: bytes, numbers: Iterator[int]) -> bytes:
    """Return a workbook with an invented column in each sheet, and an invented sheet."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    for sheet in book.worksheets:
        last = sheet.max_column
        sheet.cell(1, last + 1, f"zz{next(numbers)}zz")
        for row in range(2, sheet.max_row + 1):
            sheet.cell(row, last + 1, "invented")
    sheet = book.create_sheet(f"zz{next(numbers)}zz")
    sheet["A1"], sheet["A2"] = f"zz{next(numbers)}zz", "invented"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def planted_xml(content: bytes, numbers: Iterator[int]) -> bytes:
    """Return a survey structure with an invented cell in each row, and an invented table."""
    root = ElementTree.fromstring(content)
    for part in (*root.iter("row"), *root.iter("options"), *root.iter("languages")):
        ElementTree.SubElement(part, f"zz{next(numbers)}zz").text = "invented"
    rows = ElementTree.SubElement(ElementTree.SubElement(root, f"zz{next(numbers)}zz"), "rows")
    row = ElementTree.SubElement(rows, "row")
    ElementTree.SubElement(row, f"zz{next(numbers)}zz").text = "invented"
    return ElementTree.tostring(root)


def planted_columns(content: bytes, numbers: Iterator[int]) -> bytes:
    """Return a table with tabs that has invented columns."""
    first, *lines = [line.split("\t") for line in content.decode("utf-8-sig").split("\n")]
    wide = [line + [""] * (len(first) - len(line)) for line in lines]
    more = [f"zz{next(numbers)}zz" for _ in range(5)]
    rows = [first + more, *(line + ["invented"] * 5 for line in wide)]
    return "\n".join("\t".join(row) for row in rows).encode()


PLANTS: dict[str, Plant] = {
    "xlsx": planted_cells,
    "json": planted_json,
    "qsf": planted_json,
    "lss": planted_xml,
    "old.lss": planted_xml,
    "txt": planted_columns,
}


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Given]:
    """Return what collects the parts of the file that is read next."""
    made: list[Given] = []
    begin = Given.__init__

    def spy(part: Given, content: Any, name: str) -> None:
        begin(part, content, name)
        made.append(part)

    monkeypatch.setattr(Given, "__init__", spy)
    return made


def values(part: Given) -> Iterator[str]:
    for value in part._content.values():
        if not isinstance(value, Given):
            yield from json_leaves(value if isinstance(value, list) else [value])


@pytest.mark.parametrize("name", FIXTURES)
def test_nothing_of_a_questionnaire_vanishes(name: str, parts: list[Given]) -> None:
    tool, _, ending = name.partition(".")
    found = read_form(FIXTURES[name], name, tool)
    known = {value.strip() for part in parts for value in values(part)}
    # The words of some columns are keys or values of their own.
    words = {word for part in parts for text in (*part, *values(part)) for word in text.split()}
    for leaf in LEAVES[ending](FIXTURES[name]):
        assert leaf in known or {*leaf.replace("=", " ").split()} <= words, leaf
    told = report(found.rows)
    declared = Declared(tool)
    for part in parts:
        named = [change.words for change in declared.changes(part) if change.words in told]
        for left in part.left():
            is_named = any(left.shown in words for words in named)
            is_named |= left.key in told or (declared.words(left.name) or left.key) in told
            assert declared.allows(left) or is_named, left


@pytest.mark.parametrize("name", FIXTURES)
def test_an_invented_key_is_named_wherever_it_stands(name: str) -> None:
    tool, _, ending = name.partition(".")
    numbers = count()
    content = PLANTS[ending](FIXTURES[name], numbers)
    told = report(read_form(content, name, tool).rows)
    invented = [f"zz{number}zz" for number in range(next(numbers))]
    assert len(invented) > 4
    assert [key for key in invented if key not in told] == []


@pytest.mark.parametrize("name", FIXTURES)
def test_a_row_is_imported_only_if_nothing_of_it_is_left(name: str) -> None:
    tool, _, ending = name.partition(".")
    plain = read_form(FIXTURES[name], name, tool)
    planted = read_form(PLANTS[ending](FIXTURES[name], count()), name, tool)
    assert planted.toml == plain.toml
    there = {row.row: row.outcome for row in planted.rows}
    assert "imported" in {row.outcome for row in plain.rows}
    assert {there[row.row] for row in plain.rows if row.outcome == "imported"} == {"changed"}


def test_cells_without_a_title_are_named() -> None:
    sheet = [["type", "name", "label", "", "label"], ["text", "a", "A", "B", "C"]]
    found = read_form(workbook(survey=sheet, more=sheet), "a.xlsx")
    rows = {row.name: row for row in found.rows if row.type != "survey"}
    assert rows["a"].outcome == "changed"
    for left in ("“column 4” (B) is left out", "“column 5” (C) is left out"):
        assert left in rows["a"].detail
    assert "the sheet more is not read; with it: type, name" in rows[""].detail


def test_harmless_parts_are_exact_names() -> None:
    for name in FIXTURES:
        for declared in Declared(name.partition(".")[0]).harmless:
            assert "*" not in declared
    with pytest.raises(FormError):
        read_form(b"{}", "x.json")
