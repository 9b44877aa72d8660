"""Other programs read the table of reports back from each of its formats."""

import csv
import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pyarrow.parquet
import pyreadstat
import pytest
from bundled import study
from command_line import run, table
from flask.testing import FlaskClient
from found import optional
from limits import LONG

from analysis.study.report_columns import report_columns
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.formats import FORMATS
from server.formats.table import ReportsTable, Unwritable, shortened

PEOPLE = 120
LONG_ID = "have-you-ever-been-harassed-by-somebody-at-your-place-of-work"
SURVEY = f"""
title = "=Formats and ε"
id = "formats"

[privacy]
cap = 100

[[questions]]
id = "{LONG_ID}"
kind = "choice"
required = true
text = "=HYPERLINK(1) {"very " * 80}long?"
options = [
  {{id = "by-a-superior-who-is-there-no-more", text = "=1+1"}},
  {{id = "by-a-superior-who-is-there-no-less", text = "@SUM"}},
  {{id = "no", text = "{"Nein, 决不, " * 40}"}}]
mechanism = "krr"
epsilon = 1

[[questions]]
id = "bits"
kind = "choices"
text = "Which of these?"
mechanism = "multihot"
options = [{{id = "tea", text = "Tea"}}, {{id = "milk", text = "Milk"}}]
epsilon = 1

[[questions]]
id = "told"
kind = "choices"
text = "And of these?"
mechanism = "group"
options = [{{id = "a", text = "A"}}, {{id = "b", text = "B"}}, {{id = "c", text = "C"}}]
epsilon = 1

[[questions]]
id = "sets"
kind = "scale"
text = "How often?"
mechanism = "subset"
points = ["Never", "Rarely", "Often", "Always", "Cannot say"]
epsilon = 1

[[questions]]
id = "years"
kind = "number"
text = "How long?"
min = 0
max = 10
epsilon = 2

[[questions]]
id = "why"
kind = "text"
text = "Why?"
candidates = ["cheap", "good"]
epsilon = 2
"""


class Written:
    """A study, and its reports in each format."""

    def __init__(self, folder: Path) -> None:
        (folder / "formats.toml").write_text(SURVEY)
        self.folder, self.survey = folder, read_survey(folder / "formats.toml")
        self.database = study(folder / "x.db", self.survey, PEOPLE).database.place
        printed = run("export", "formats", "--db", self.database).stdout
        self.header, *self.rows = csv.reader(io.StringIO(printed))

    def path(self, form: str) -> Path:
        path = self.folder / f"reports.{form}"
        if not path.exists():
            words = "--db", self.database, "--format", form, "--output", path
            result = run("export", "formats", *words)
            assert result.exit_code == 0, result.output
            assert "never tabulate them" in result.stderr
        return path

    def check(self, columns: list[Any]) -> None:
        """Check that columns have the cells that CSV has."""
        assert len(columns) == len(self.header)
        for name, cells, stated in zip(
            self.header, columns, zip(*self.rows, strict=True), strict=True
        ):
            if name.startswith("noisy_"):
                texts = [str(int(x)) if isinstance(x, float) else str(x) for x in cells]
                assert texts == list(stated), name
            else:
                assert np.allclose(np.array(cells, float), np.array(stated, float), rtol=1e-9)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return Written(tmp_path_factory.mktemp("formats"))


@pytest.mark.parametrize(("form", "longest"), [("sav", 64), ("dta", 32)])
def test_statistical_programs_get_labels_and_names_that_they_accept(
    written: Written, form: str, longest: int
) -> None:
    read = getattr(pyreadstat, f"read_{form}")
    frame, about = read(written.path(form))
    written.check([frame[name].tolist() for name in frame.columns])
    names = list(frame.columns)
    assert len({name.upper() for name in names}) == len(names)
    assert all(re.fullmatch(rf"[a-z]\w{{0,{longest - 1}}}", name) for name in names)
    labels = about.column_names_to_labels
    for name, full in zip(names, written.header, strict=True):
        begins = "NOISY report, do not tabulate" if full.startswith("noisy_") else "WEIGHT: mean ="
        assert labels[name].startswith(begins)
        assert name.startswith(full.partition("_")[0])
    reads = about.variable_value_labels[names[0]]
    assert [reads[code] for code in (0, 1)] == ["reports: =1+1", "reports: @SUM"]
    assert reads[2].startswith("reports: Nein, 决不, Nein")
    assert (len(reads[2].encode()) <= 120) == (form == "sav")
    # Reports that stand for no value have no labels that would read like one.
    assert set(about.variable_value_labels) == {names[0]}
    told = " ".join([about.file_label or "", *about.notes])
    assert "noisy_" in told
    assert "debiased_" in told


def test_the_mean_of_a_weight_is_the_share_and_its_error_sd_over_root_n(written: Written) -> None:
    frame, _ = pyreadstat.read_dta(written.path("dta"))
    rows = table(run("estimate", "formats", "--db", written.database))
    first = [row for row in rows if row["question"] == LONG_ID]
    assert len(first) == 3
    columns = list(frame.columns)[6:9]
    for name, row in zip(columns, first, strict=True):
        weights = frame[name].to_numpy()
        assert weights.mean() == pytest.approx(float(row["estimate"]))
        error = weights.std(ddof=1) / len(weights) ** 0.5
        assert error == pytest.approx(float(row["std_error"]), rel=0.01)


def test_excel_gets_text_where_it_could_see_times_dates_or_formulas(written: Written) -> None:
    book = openpyxl.load_workbook(written.path("xlsx"))
    assert book.sheetnames == ["reports", "columns", "values", "about"]
    header, *rows = book["reports"].iter_rows()
    assert [cell.value for cell in header] == written.header
    for row in rows:
        for name, cell in zip(written.header, row, strict=True):
            assert cell.data_type == ("s" if name.startswith("noisy_") else "n")
    written.check([[cell.value for cell in column] for column in zip(*rows, strict=True)])
    texts = [cell for name in book.sheetnames[1:] for row in book[name].iter_rows() for cell in row]
    assert {cell.data_type for cell in texts} == {"s"}
    assert any(cell.value == "reports: =1+1" for cell in texts)
    # A text that begins like a formula, and reports with a cohort, which look like a time.
    assert any(str(cell.value).startswith("=Formats and ε") for cell in texts)
    told = written.header.index("noisy_told")
    assert all(re.fullmatch(r"\d+:\d+", row[told].value) for row in rows)
    assert {row[told].number_format for row in rows} == {"@"}


def test_parquet_has_types_and_labels(written: Written) -> None:
    read = pyarrow.parquet.read_table(written.path("parquet"))
    assert read.column_names == written.header
    written.check([column.to_pylist() for column in read.columns])
    assert "never tabulate" in read.schema.metadata[b"how_to_use"].decode()
    for field in read.schema:
        noisy = field.name.startswith("noisy_")
        assert field.metadata[b"noisy"] == (b"yes" if noisy else b"no")
        assert field.metadata[b"label"].startswith(b"NOISY" if noisy else b"WEIGHT")
    values = json.loads(read.schema[0].metadata[b"values"])
    assert values["0"] == "reports: =1+1"
    # The same study gives the same bytes, also through a pipe.
    piped = run("export", "formats", "--db", written.database, "--format", "parquet")
    assert piped.stdout_bytes == written.path("parquet").read_bytes()


def test_no_file_says_when_it_was_made(written: Written) -> None:
    for form in ("sav", "dta"):
        _, about = getattr(pyreadstat, f"read_{form}")(written.path(form))
        assert str(about.creation_time) == "1980-01-01 00:00:00", form
        if form == "sav":
            assert str(about.file_label).startswith("=Formats and ε")
    with zipfile.ZipFile(written.path("xlsx")) as book:
        assert {entry.date_time for entry in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        about = book.read("docProps/core.xml").decode()
    assert set(re.findall(r"\d{4}-[^<]*", about)) == {"1980-01-01T00:00:00Z"}
    for form in FORMATS:
        words = "--db", written.database, "--format", form
        piped = run("export", "formats", *words).stdout_bytes
        assert piped == written.path(form).read_bytes(), form


#: The elements that DDI-Codebook 2.5 allows within another one, in its order, as far as they are
#: used.
ORDER = {
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "stdyDscr": ["citation", "studyAuthorization", "stdyInfo", "method", "dataAccs"],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt"],
    "titlStmt": ["titl", "subTitl", "altTitl", "parTitl", "IDNo"],
    "prodStmt": ["producer", "copyright", "prodDate", "prodPlac", "software"],
    "method": ["dataColl", "notes", "anlyInfo"],
    "dataColl": ["timeMeth", "sampProc", "collMode", "collSitu", "ConOps", "weight", "cleanOps"],
    "fileDscr": ["fileTxt", "locMap", "notes"],
    "fileTxt": ["fileName", "fileCont", "fileStrc", "dimensns", "fileType", "format"],
    "dimensns": ["caseQnty", "varQnty", "logRecL"],
    "dataDscr": ["varGrp", "var"],
    "var": [
        *("location", "labl", "qstn", "valrng", "invalrng", "universe", "txt", "catgry"),
        *("concept", "varFormat", "notes"),
    ],
    "qstn": ["preQTxt", "qstnLit", "postQTxt"],
    "catgry": ["catValu", "labl", "txt", "catStat"],
}


def test_ddi_describes_each_column_in_the_order_of_its_schema(written: Written) -> None:
    text = run("export", "formats", "--db", written.database, "--format", "ddi").stdout
    book = ElementTree.fromstring(text)
    space = "{ddi:codebook:2_5}"
    assert book.tag == f"{space}codeBook"
    for element in book.iter():
        children = [child.tag.removeprefix(space) for child in element]
        if children:
            order = ORDER[element.tag.removeprefix(space)]
            places = [order.index(name) for name in children]
            assert places == sorted(places), element.tag
    variables = book.findall(f"{space}dataDscr/{space}var")
    assert [variable.get("name") for variable in variables] == written.header
    ids = [element.get("ID") for element in book.iter() if element.get("ID")]
    assert len(set(ids)) == len(ids) == len(variables) + 1
    assert book.findtext(f".//{space}caseQnty") == str(PEOPLE)
    for variable in variables:
        told = variable.findtext(f"{space}txt") or ""
        is_noisy = str(variable.get("name")).startswith("noisy_")
        assert ("do not tabulate" in told) == is_noisy
    codes = [each.text for each in variables[0].iter(f"{space}catValu")]
    assert codes == ["0", "1", "2"]


def test_a_missing_package_is_named_with_its_extra(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> Any:
        if name in ("pyreadstat", "pyarrow"):
            raise ModuleNotFoundError(f"No module named '{name}'")
        return import_module(name)

    monkeypatch.setattr("server.formats.import_module", without)
    for form in ("sav", "dta", "parquet"):
        result = run("export", "formats", "--db", written.database, "--format", form)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        wheel = f"deniable-{version('deniable')}-py3-none-any.whl[formats]"
        assert f"install the wheel with its extra: pip install './{wheel}'" in result.stderr


def test_binary_files_are_not_printed_on_a_terminal(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    words = "export", "formats", "--db", written.database
    for form in ("sav", "dta", "xlsx", "parquet"):
        result = run(*words, "--format", form)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"{form} is not text for a terminal: name a file with --output" in result.stderr
    assert run(*words).exit_code == 0
    again = run(*words, "--output", written.path("csv"))
    assert (again.exit_code, "expected a new file" in again.stderr) == (1, True)


def test_names_are_cut_in_their_middle_and_stay_different(written: Written) -> None:
    columns = report_columns(written.survey)
    made = ReportsTable(written.survey, 1, "0" * 64, columns, [])
    assert made.names(200) == written.header
    for longest in (12, 20, 32):
        names = made.names(longest)
        assert len({name.upper() for name in names}) == len(names)
        assert max(map(len, names)) <= longest
    # If the ids of two values end differently, their names do so, too.
    assert made.names(32)[6][-6:] == "o_more"
    assert made.names(32)[7][-6:] == "o_less"
    assert shortened("a\tb\n c\x00", 9) == "a b c"
    assert shortened("é" * 10, 11) == "éééé…"


def test_tables_that_excel_cannot_hold_are_refused(written: Written) -> None:
    from server.formats.excel import write

    columns = report_columns(written.survey)[:1]
    rows = np.zeros(1_048_576, dtype=np.int64)
    with pytest.raises(Unwritable, match=r"fewer than 1,048,576 reports .* got 1,048,576"):
        write(ReportsTable(written.survey, 1, "0" * 64, columns, [rows]))


def test_the_console_offers_each_format(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    from server.store import Store

    Store(written.database).access.add_token("let me in")
    client: FlaskClient = create_app({"DATABASE": written.database}).test_client()
    headers = {"Authorization": "Bearer let me in"}

    def links() -> Iterator[str]:
        page = client.get("/surveys/formats/downloads", headers=headers).text
        yield from re.findall(r'href="/api/surveys/formats/(reports\.\w+)\?', page)

    assert list(links()) == [
        f"reports.{end}" for end in ("csv", "json", "xlsx", "sav", "dta", "parquet", "R", "xml")
    ]
    for end, magic in (("sav", b"$FL2"), ("dta", b"<stata_dta>"), ("xlsx", b"PK"), ("xml", b"<?")):
        served = client.get(f"/api/surveys/formats/reports.{end}", headers=headers)
        assert served.status_code == 200
        assert served.data.startswith(magic)
        assert served.headers["Content-Disposition"].endswith(f'.{end}"')
    assert client.get("/api/surveys/formats/reports.ddi", headers=headers).status_code == 404
    monkeypatch.setattr(
        "server.formats.find_spec", lambda name: None if name == "pyreadstat" else name
    )
    assert not {"reports.sav", "reports.dta"} & set(links())


def _ran(name: str, *words: str, program: str = "") -> str:
    done = subprocess.run(
        [optional(name), *words],
        input=program,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.more
def test_pspp_reads_the_file_for_spss(written: Written, tmp_path: Path) -> None:
    (tmp_path / "read.sps").write_text(
        f"get file='{written.path('sav')}'.\n"
        f"save translate /outfile='{tmp_path}/read.csv' /type=csv /fieldnames /replace.\n"
        "display dictionary.\n"
    )
    told = _ran("pspp", "-O", "width=400", str(tmp_path / "read.sps"))
    assert "NOISY report, do not tabulate: How often?" in told
    assert "reports: @SUM" in told
    header, *rows = csv.reader(io.StringIO((tmp_path / "read.csv").read_text()))
    frame, _ = pyreadstat.read_sav(written.path("sav"))
    assert header == list(frame.columns)
    assert len(rows) == len(written.rows)
    noisy = len(written.survey.questions)
    for row, stated in zip(rows, written.rows, strict=True):
        assert [cell.strip() for cell in row[:noisy]] == stated[:noisy]


@pytest.mark.more
@pytest.mark.parametrize("form", ["sav", "dta"])
def test_haven_reads_both(written: Written, form: str) -> None:
    has = 'cat(requireNamespace("haven", quietly = TRUE))'
    if _ran("rscript", "-e", has) != "TRUE":
        pytest.skip("R has no haven: apt-get install r-cran-haven")
    program = (
        f'd <- haven::read_{form}("{written.path(form)}"); '
        'cat(nrow(d), ncol(d), attr(d[[1]], "label"), sep = "\\n"); '
        'cat("", names(attr(d[[1]], "labels")), "", sep = "\\n"); '
        'cat(sprintf("%.9g", sapply(d[grep("^debiased", names(d))], mean)), sep = "\\n")'
    )
    rows, columns, label, *rest = _ran("rscript", "-e", program).splitlines()
    assert (int(rows), int(columns)) == (PEOPLE, len(written.header))
    assert label.startswith("NOISY report, do not tabulate: =HYPERLINK(1) very")
    assert "reports: =1+1" in rest
    means = np.array(written.rows)[:, len(written.survey.questions) :].astype(float).mean(axis=0)
    found = [float(line) for line in rest[rest.index("reports: =1+1") + 3 :] if line]
    assert np.allclose(found, means, rtol=1e-6, atol=1e-9)
