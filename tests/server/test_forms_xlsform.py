"""Check each row of an XLSForm, and that nothing in a file does harm."""

import io
import random
import tomllib
import zipfile
from contextlib import suppress
from pathlib import Path

import openpyxl
import pytest
from command_line import run

from analysis.survey.document import parsed
from analysis.survey.survey_file import survey_of
from server.forms import FormError, Imported, read_form

Sheet = list[list[str]]
SURVEY: Sheet = [
    ["type", "name", "label::English (en)", "label::French (fr)", "hint::English (en)", "required",
     "relevant", "constraint", "appearance", "parameters", "calculation"],
    ["start", "start"],
    ["note", "hello", "Welcome <b>all</b>", "Bienvenue"],
    ["begin group", "about", "About you", "Sur vous", "", "", "", "", "field-list"],
    ["integer", "age", "How old are you?", "Quel âge ?", "", "yes", "",
     ". >= 18 and . < 100"],
    ["select_one yesno", "smokes", "Do you smoke?", "Fumez-vous ?"],
    ["select_multiple what", "What", "What?", "Quoi ?", "", "",
     "${smokes} = 'yes' and ${age} > 20"],
    ["end group"],
    ["begin_group", "grid", "", "", "", "", "selected(${What}, 'pipe')", "", "table-list"],
    ["select_one often", "mornings", "In the morning", "Le matin"],
    ["select_one often", "evenings", "In the evening", "Le soir"],
    ["end_group"],
    ["rank what", "order", "Which first?"],
    ["text", "name", "What is it called?", "Nom ?", "", "", "${nothere} = 1"],
    ["text", "story", "Tell us", "", "", "", "", "", "multiline"],
    ["decimal", "weight", "How heavy?"],
    ["date", "born", "Born?", "", "", "", "", ". > date('1920-01-01') and . <= date('2010-12-31')"],
    ["geopoint", "where", "Where?"],
    ["calculate", "sum", "", "", "", "", "", "", "", "", "1 + 1"],
    ["begin repeat", "children", "Children"],
    ["text", "child", "Name"],
    ["end repeat"],
    ["select_one yesno or_other", "more", "More of ${name}?", "Encore ?", "", "", "regex(., 'x')"],
    ["range", "far", "How far?", "", "", "", "", "", "", "start=0 end=10 step=2"],
    ["acknowledge", "ok", "Ok?"],
    ["poem", "p", "A poem"],
]  # fmt: skip
CHOICES: Sheet = [
    ["list_name", "name", "label::English (en)", "label::French (fr)"],
    ["yesno", "yes", "Yes", "Oui"],
    ["yesno", "no", "No", "Non"],
    ["what", "pipe", "Pipe", "Pipe"],
    ["what", "Cig ar", "Cigar", "Cigare"],
    ["often", "1", "never", "jamais"],
    ["often", "2", "often", "souvent"],
    ["unused", "x", "X", "X"],
]
SETTINGS: Sheet = [["form_title", "form_id", "version"], ["Smoking", "smoking 2026", "3"]]


def workbook(**sheets: Sheet) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.fixture(scope="module")
def imported() -> Imported:
    content = workbook(survey=SURVEY, choices=CHOICES, settings=SETTINGS)
    return read_form(content, "smoking.xlsx")


def check(imported: Imported) -> None:
    """Check that `deniable check` accepts the imported survey."""
    if imported.toml:
        survey_of(parsed(imported.toml, "x"), "x", Path("."))


def test_supported_rows_become_questions(imported: Imported) -> None:
    check(imported)
    tables = tomllib.loads(imported.toml)
    assert (tables["title"], tables["id"]) == ("Smoking", "smoking-2026")
    assert tables["languages"] == ["en", "fr"]
    entries = {entry["id"]: entry for entry in tables["questions"]}
    assert [*entries] == [
        "hello", "age", "smokes", "what", "mornings", "evenings", "order", "name", "born", "more",
        "more-other", "far", "ok",
    ]  # fmt: skip
    assert entries["hello"]["text"] == {"en": "Welcome all", "fr": "Bienvenue"}
    age = entries["age"]
    assert (age["min"], age["max"], age["integer"], age["required"]) == (18, 99, True, True)
    assert age["section"] == {"en": "About you", "fr": "Sur vous"}
    assert entries["smokes"]["kind"] == "yes-no"
    assert entries["what"]["shows_if"] == "smokes = 'yes' and age > 20"
    assert [option["id"] for option in entries["what"]["options"]] == ["pipe", "cig-ar"]
    for row in ("mornings", "evenings"):
        assert (entries[row]["kind"], entries[row]["shows_if"]) == (
            "scale",
            "selected(what, 'pipe')",
        )
    assert entries["order"]["kind"] == "rank"
    assert (entries["born"]["min"], entries["born"]["max"]) == (1920, 2010)
    assert entries["more-other"]["namely"] == "other"
    assert (entries["far"]["step"], entries["far"]["slider"]) == (2, True)


def test_each_row_of_the_source_is_reported(imported: Imported) -> None:
    rows = [row.row for row in imported.rows]
    for number in range(2, len(SURVEY) + 1):
        assert f"survey!{number}" in rows
    for number in range(2, len(CHOICES) + 1):
        assert rows.count(f"choices!{number}") == 1
    told = {row.name: (row.outcome, row.detail) for row in imported.rows}
    for name, why in {
        "start": "nothing is collected about the device",
        "story": "free prose cannot be randomized",
        "weight": "a number needs its lowest and highest value",
        "where": "places are not collected",
        "sum": "nothing is calculated",
        "children": "groups that repeat are not asked",
        "child": "it stands in a group that repeats",
        "p": "the type poem is not known here",
        "x": "no question that is imported uses the list unused",
    }.items():
        assert told[name][0] == "refused", name
        assert why in told[name][1]
    for name, change in {
        "name": "nothere",
        "born": "a date is asked as its year",
        "more": "regex is not understood",
        "ok": "a note",
        "order": "in fr is missing",
    }.items():
        assert told[name][0] == "changed", name
        assert change in told[name][1]
    assert told["age"] == ("imported", "ε = 1 is proposed")
    assert len(rows) == len(set(rows))
    settings = next(row for row in imported.rows if row.row == "settings!2")
    assert (settings.outcome, settings.detail) == ("imported", "")


def test_it_is_the_same_in_csv(imported: Imported) -> None:
    lines = []
    for name, sheet in (("survey", SURVEY), ("choices", CHOICES), ("settings", SETTINGS)):
        lines.append(name)
        lines += ["," + ",".join(f'"{cell}"' for cell in row) for row in sheet]
    found = read_form("\n".join(lines).encode(), "smoking.csv")
    assert tomllib.loads(found.toml)["questions"] == tomllib.loads(imported.toml)["questions"]


def test_the_command_prints_the_file_and_writes_the_report(tmp_path: Path) -> None:
    form = tmp_path / "smoking.xlsx"
    form.write_bytes(workbook(survey=SURVEY, choices=CHOICES))
    report = tmp_path / "report.csv"
    told = run("import", form, "--report", report)
    assert told.exit_code == 0
    (tmp_path / "s.toml").write_text(told.stdout)
    assert run("check", tmp_path / "s.toml").exit_code == 0
    assert report.read_text().startswith(
        "row,name,type,outcome,detail,weight,to_see,id\nsurvey!2,start,start,refused"
    )
    form.write_bytes(workbook(survey=[["type", "name"], ["geopoint", "g"]]))
    told = run("import", form, "--from", "xlsform")
    assert (told.exit_code, told.stdout) == (1, "")
    assert "survey!2: g: refused: places are not collected" in told.stderr


def repacked(content: bytes, name: str, text: bytes) -> bytes:
    """Return a workbook with another content of one part."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for part in old.namelist():
            new.writestr(part, text if part == name else old.read(part))
    return out.getvalue()


SMALL = workbook(survey=SURVEY[:3], choices=CHOICES)
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst>&b;</sst>'


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (repacked(SMALL, "xl/workbook.xml", BOMB), "x.xlsx", "no document type or entities"),
        (repacked(SMALL, "xl/styles.xml", b" " * (65 << 20)), "x.xlsx", "64 MiB unpacked"),
        (
            repacked(SMALL, "xl/worksheets/sheet1.xml", b"<row/>" * 100_000),
            "x.xlsx",
            "at most 5,000 rows, got 100,0",
        ),
        (b"type,name\n" * 100_000, "x.csv", "at most 5,000 rows"),
        (b"PK\x03\x04 no zip", "x.xlsx", "cannot be read as a workbook"),
        (b"\xff\xfe", "x.csv", "cannot be read as a workbook"),
        (b"no excel", "x.xls", "cannot be read as a workbook"),
        (b"x" * (9 << 20), "x.xlsx", "at most 8 MiB"),
        (workbook(other=[["a"], ["b"]], more=[["c"]]), "x.xlsx", "a sheet named survey"),
    ],
)
def test_harmful_and_other_files_are_refused(content: bytes, name: str, told: str) -> None:
    with pytest.raises(FormError, match=told):
        read_form(content, name, "xlsform")


def test_macros_are_never_run() -> None:
    rows = read_form(SMALL, "x.xlsm", "xlsform").rows
    assert any("macros are never run" in row.detail for row in rows)


def test_whatever_cells_hold_the_result_can_be_checked() -> None:
    rng = random.Random(3)
    strange = [
        *["", "=1+1", "${", "'", "((", "yes or", "\x01", "𝔘" * 300, "-1e99", "nan", "{answer.x}"],
        *["select_one what", "begin repeat", "end group", "not(", ". > 5", "or_other", "rank"],
    ]
    for _ in range(60):
        sheets = {"survey": [[*row] for row in SURVEY], "choices": [[*row] for row in CHOICES]}
        for _ in range(rng.randint(1, 25)):
            sheet = sheets[rng.choice(["survey", "survey", "choices"])]
            row = rng.choice(sheet)
            row[rng.randrange(len(row))] = rng.choice(strange)
        lines = []
        for name, sheet in sheets.items():
            lines.append(name)
            for row in sheet:
                cells = (cell.replace('"', '""') for cell in row)
                lines.append("," + ",".join(f'"{cell}"' for cell in cells))
        with suppress(FormError):
            check(read_form("\n".join(lines).encode(), "x.csv", "xlsform"))
