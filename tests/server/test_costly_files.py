"""Files of a few kilobytes that kept a processor busy for minutes are read at once, or refused."""

import io
import json
import tomllib
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest
from limits import run_within_cpu
from test_importing import ROWS, book

from analysis.survey.document import check_keys

TITLES = """import json, sys
from server.forms import read_form
for part in json.load(sys.stdin):
    title = part * 12_000
    asked = {"type": "boolean", "name": "drove", "title": title}
    content = json.dumps({"title": title, "pages": [{"elements": [asked]}]}).encode()
    print(read_form(content, "form.json").questions)
"""
DRAFT = """import sys
from analysis.core.errors import SurveyError
from server.editing.reading import read_draft
try:
    read_draft(sys.stdin.read(), {})
except SurveyError as error:
    print(error)
"""
PIPED = """title = "S"
id = "s"
[[questions]]
id = "q"
kind = "yes-no"
text = "One?"
epsilon = 1
[[questions]]
id = "r"
kind = "yes-no"
text = "{}"
epsilon = 1
"""


def test_titles_of_beginnings_without_ends_are_read() -> None:
    parts = ["<script ", "<style>", "<!--", "<a ", "<!", "< ", "</script ", "&"]
    assert run_within_cpu(TITLES, stdin=json.dumps(parts).encode()) == "1\n" * len(parts)


@pytest.mark.parametrize("rest", ["a" * 90_000, "a " * 45_000])
def test_a_text_whose_earlier_answer_has_no_end_is_refused(rest: str) -> None:
    told = run_within_cpu(DRAFT, stdin=PIPED.format("{answer.q|" + rest).encode())
    assert "text must be a text in which each answer is {answer.ID}" in told


SHEETS = """import json, sys
from base64 import b64decode
from server.forms import FormError, read_form
for book in json.load(sys.stdin):
    try:
        print(read_form(b64decode(book), "form.xlsx").questions)
    except FormError as error:
        print(error)
"""
SIZE = b'<dimension ref="A1:XFD1048576"/>'


def claiming(size: bytes, row: bytes) -> bytes:
    """Return a workbook of 5 KB whose sheets claim a size, and whose last row is this."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book(ROWS))) as archive,
        zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as other,
    ):
        for part in archive.namelist():
            content = archive.read(part)
            if part.startswith("xl/worksheets/sheet"):
                begin, _, end = content.partition(b"<dimension")
                content = begin + size + end.partition(b"/>")[2]
                content = content.replace(b"</sheetData>", row + b"</sheetData>")
            other.writestr(part, content)
    assert len(changed.getvalue()) < 8 * 1024
    return changed.getvalue()


def test_a_workbook_is_not_read_up_to_the_size_that_it_claims() -> None:
    told = {
        b'<row r="1048576"><c r="XFD1048576" s="1"/></row>': "2",
        b'<row r="1048576"><c r="A1048576"><v>1</v></c></row>': "2",
        b'<row r="7"><c r="XFD7"><v>1</v></c></row>': "at most 1,000 columns",
        b'<row r="1e300"><c r="A7"><v>1</v></c></row>': "cells in 1,048,576 rows, got more",
    }
    books = [b64encode(claiming(SIZE, row)).decode() for row in told]
    lines = run_within_cpu(SHEETS, stdin=json.dumps(books).encode()).splitlines()
    assert len(lines) == len(told)
    assert all(text in line for text, line in zip(told.values(), lines, strict=True))


MANY = """import json, sys
from server.forms import read_form
rows = [b",note,a,A"] * 1_000
print(read_form(b"\\n".join([b"survey", b",type,name,label", *rows]), "notes.csv").questions)
grid = b'{"type": "matrix", "name": "a", "columns": ["b", "c"], "rows": [' + b"0," * 4_900 + b"0]}"
print(read_form(b'{"elements": [' + grid + b"]}", "grid.json").questions)
wide = {"type": "matrix", "name": "a", "columns": [*range(1_500)], "rows": [*range(2_500)]}
print(read_form(json.dumps({"elements": [wide]}).encode(), "wide.json").questions)
group = [",begin_group,g,G,table-list", ",select_one l,a,A,", ",select_one m,b,B,", ",end_group,,,"]
lists = [f",{name},{value},{name}{value}" for name in "lm" for value in "12"]
head = [b"survey", b",type,name,label,appearance"]
lines = [*group * 200, "choices", ",list_name,name,label", *lists]
found = read_form(b"\\n".join([*head, *(line.encode() for line in lines)]), "grids.csv")
print(found.questions, sum("the text of the grid is a heading" in row.detail for row in found.rows))
"""


def test_questions_and_notes_of_the_same_name_are_read() -> None:
    assert run_within_cpu(MANY) == "0\n1000\n0\n400 400\n"


#: A reader of TOML took 23 s and 3.6 GiB for such a key of 30,000 parts.
KEYS = """import sys
from pathlib import Path
from analysis.core.errors import SurveyError
from analysis.survey.document import read_toml
from server.editing.draft_file import DraftFile
from server.editing.draft_view import DraftView
path = Path(sys.argv[1])
for text in sys.stdin.read().split("|"):
    path.write_text(text)
    for read in (lambda: read_toml(path), lambda: DraftView(text), lambda: DraftFile(text)):
        try:
            read()
            print("read")
        except SurveyError as error:
            print(error)
"""
LONG = [".".join("a" * 30_000), " .\t".join(["a", '"b.c"', "'d'"] * 10_000)]


def test_a_key_of_many_parts_is_refused_at_once(tmp_path: Path) -> None:
    texts = [
        part.format(key)
        for key in LONG
        for part in ("{} = 1", "[{}]", "[[{}]]\nb = 1", "a = {{{} = 1}}", 'a = "\\\\"\n{} = 1')
    ]
    told = run_within_cpu(KEYS, str(tmp_path / "a.toml"), stdin="|".join(texts).encode())
    lines = told.splitlines()
    assert len(lines) == 3 * len(texts)
    assert all("expected keys of at most 16 parts, got one of 30000" in line for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        'a = "{}"',
        "a = '{}'",
        'a = """\n{}\\""" {}\n"""""',
        "a = '''{}\n' {}''''",
        "a = 1.5 # {}",
        '"{}" = 1',
        "['{}'.b]",
        'a.b."{}" = [1.5, 2.5, "{}"] # "{}',
        'a = "\\"{}" # {}',
    ],
)
def test_dots_in_texts_and_comments_are_no_parts_of_keys(text: str) -> None:
    check_keys(text.replace("{}", ".".join("abc" * 100)), "a.toml")
    tomllib.loads(text.replace("{}", ".".join("abc" * 100)))
