"""A study that is opened from its bundle has the server's tables and models."""

import http.server
import re
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bundled import bundled, study
from command_line import run, table

from analysis import Study, compare_groups
from analysis.core.errors import DataError
from analysis.study.shown import Results
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server import stored_results
from server.deliver import to_store
from server.store import Place, Store, StoreError
from server.store.places import Address
from server.stored_results import StoredWave

if TYPE_CHECKING:
    from postgres import Cluster

EXAMPLE = Path(__file__).parents[2] / "examples/working-conditions.toml"
OPERATIONS = EXAMPLE.parents[1] / "docs/operations.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a database, and the bundle of its study."""
    folder = tmp_path_factory.mktemp("opened")
    study(folder / "x.db", read_survey(EXAMPLE), 400)
    (folder / "bundle.zip").write_bytes(bundled(folder / "x.db", "work-2026"))
    return folder


@pytest.fixture(scope="module")
def opened(folder: Path) -> Study:
    return Study.open(folder / "bundle.zip")


def test_estimates_are_those_that_the_command_prints(folder: Path, opened: Study) -> None:
    printed = table(run("estimate", "work-2026", "--db", folder / "x.db"))
    frame = opened.to_frame()
    assert [str(one) for one in frame["term"]] == [row["term"] for row in printed]
    for estimate, row in zip(frame["estimate"], printed, strict=True):
        assert estimate == pytest.approx(float(row["estimate"]), rel=1e-8)
    assert repr(opened) == "<Study work-2026, wave 1, 400 reports>"
    narrow, wide = (opened.estimates(level)[0] for level in (0.5, 0.99))
    assert wide.conf_low < narrow.conf_low < narrow.conf_high < wide.conf_high


def test_tables_and_models_are_those_that_the_command_prints(folder: Path, opened: Study) -> None:
    printed = table(run("crosstab", "work-2026", "harassed", "team", "--db", folder / "x.db"))
    rows = opened.crosstab("harassed", "team").rows()
    assert len(rows) == len(printed)
    assert rows[0].estimate == pytest.approx(float(printed[0]["estimate"]), rel=1e-8)
    terms = table(run("regress", "work-2026", "harassed ~ team", "--db", folder / "x.db"))
    model = opened.regress("harassed ~ team")
    assert [term.term for term in model.terms] == [row["term"] for row in terms[: len(model.terms)]]
    assert model.params.iloc[0] == pytest.approx(float(terms[0]["estimate"]), rel=1e-6)
    (column,) = opened.columns(["team"])
    assert column.n == opened.n
    assert {"harassed", "team"} <= {*opened.names}


def test_results_are_shown_as_tables_with_pictures(opened: Study) -> None:
    rows = opened.estimates()
    html = rows._repr_html_()
    assert html.count("<tr>") == min(len(rows), 60) + 1
    assert html.count("<svg") == 5  # the number's mean and its shares of no answer are separate
    assert f"<td>{rows[0].estimate:.4g}</td>" in html
    assert rows.to_frame().equals(opened.to_frame())
    assert opened._repr_html_().startswith("<p>&lt;Study work-2026, wave 1, 400 reports&gt;</p>")
    table = opened.crosstab("harassed", "team")
    shown = table._repr_html_()
    shares = [row for row in table.rows() if row.quantity == "row-share"]
    assert shown.count("<tr>") == len(shares) + 1
    assert shown.count("<svg") == len({row.second for row in shares})
    assert len(table.to_frame()) == len(table.rows())
    groups, harassed = opened.columns(["team", "harassed"])
    differences = compare_groups(groups, harassed)
    assert differences.to_frame()["term"].tolist() == [row.term for row in differences]
    drawn = differences._repr_html_()
    assert drawn.count("<svg") == 1
    assert f"{differences[0].second} − {differences[0].first}" in drawn
    model = opened.regress("harassed ~ team")._repr_html_()
    assert "<td>Intercept</td>" in model
    # The survey's words are not taken for markup.
    odd = Results([replace(rows[0], question="<b>")])
    assert "<td>&lt;b&gt;</td>" in odd._repr_html_()


def test_missing_parts_are_named(opened: Study) -> None:
    with pytest.raises(ValueError, match=r"expected one of harassed, .*, got 'salary'"):
        opened.columns(["salary"])
    with pytest.raises(ValueError, match="expected two columns, got team twice"):
        opened.crosstab("team", "team")
    with pytest.raises(
        ValueError, match="expected one of harassed, told, team, income, got 'salary'"
    ):
        opened.regress("harassed ~ salary")


def test_other_files_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.zip: cannot be read: "):
        Study.open(tmp_path / "none.zip")
    data = bytearray((folder / "bundle.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "changed.zip").write_bytes(data)
    with pytest.raises(DataError, match=r"changed\.zip: [a-zA-Z.]+: "):
        Study.open(tmp_path / "changed.zip")


def test_a_database_is_opened_as_its_bundle_is(folder: Path, opened: Study) -> None:
    found = Study.open(folder / "x.db")
    assert found.estimates() == opened.estimates()
    assert found.crosstab("harassed", "team").rows() == opened.crosstab("harassed", "team").rows()
    assert Study.open(str(folder / "x.db"), "work-2026", 1, found.survey.version[:8]).n == found.n
    for asked, told in (
        ({"survey": "work"}, r"x\.db: survey: expected one of work-2026, got 'work'"),
        ({"wave": 2}, r"x\.db: wave: expected one of 1, got 2"),
        ({"version": "00"}, r"x\.db: version: expected pooled, or the beginning of one of"),
        ({"version": "pooled"}, r"x\.db: version: expected one, since a bundle is of one"),
    ):
        with pytest.raises(DataError, match=told):
            Study.open(folder / "x.db", **asked)
    for asked in ({"survey": "work"}, {"wave": 2}, {"version": "00"}):
        with pytest.raises(
            DataError, match=r"bundle\.zip: expected (survey|wave|version) \w+, got "
        ):
            Study.open(folder / "bundle.zip", **asked)


def test_one_of_several_surveys_must_be_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE x (y)")
    other.close()
    with pytest.raises(DataError, match=r"other\.db: "):
        Study.open(tmp_path / "other.db")
    several = study(tmp_path / "x.db", read_survey(EXAMPLE), 120)
    several.surveys.publish(read_survey(EXAMPLE.with_name("staff-panel.toml")))
    with pytest.raises(DataError, match="survey: expected one of staff-panel, work-2026, got none"):
        Study.open(tmp_path / "x.db")
    assert Study.open(tmp_path / "x.db", "work-2026").n == 120


def test_a_database_has_estimates_after_reports_were_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(tmp_path / "x.db", read_survey(EXAMPLE.with_name("staff-panel.toml")), 120)
    whole = Study.open(tmp_path / "x.db")
    monkeypatch.setattr(stored_results, "today", lambda: date(2029, 7, 1))
    left = Study.open(tmp_path / "x.db")
    assert left.estimates() == whole.estimates()
    with pytest.raises(DataError, match=r"the reports of each respondent .* got a study without"):
        left.columns(left.names[:1])


def _source(place: Place) -> str | Path:
    return place.text if isinstance(place, Address) else place


@pytest.mark.both
def test_a_study_is_of_one_moment_and_nothing_is_written(
    store: Store, database: Place, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [{"meat": "yes", "dish": "soup", "price": "3"}] * 40
    to_store(store, survey.id, payloads(survey, answers, 1, 1), lambda _: None)

    facts = vars(StoredWave)["fieldwork"].fget

    def meanwhile(wave: StoredWave) -> Any:
        """Store reports, and write all tables anew, between two queries of the study."""
        to_store(store, survey.id, payloads(survey, answers, 1, 2), lambda _: None)
        store.database.rewrite()
        return facts(wave)

    with monkeypatch.context() as patched:
        patched.setattr(StoredWave, "fieldwork", property(meanwhile))
        found = Study.open(_source(database))
    (column,) = found.columns(["meat"])
    assert (found.n, column.n) == (40, 40)
    assert found.estimates()[0].n == 40
    assert Study.open(_source(database)).n == 80
    with (
        pytest.raises(StoreError, match=r"read-?only"),
        store.database.reading(["report"]),
    ):
        store.database.write("DELETE FROM report")
    assert store.reports.kept(survey.id, 1) == 80


@pytest.fixture
def copied(folder: Path, cluster: "Cluster") -> Address:
    """Return a PostgreSQL database to which the folder's database was copied."""
    address = cluster.new()
    told = run("copy", folder / "x.db", address.text)
    assert told.exit_code == 0, told.stderr
    return address


@pytest.mark.more
def test_a_database_of_postgresql_is_opened_as_its_bundle_is(
    copied: Address, opened: Study
) -> None:
    found = Study.open(copied.text)
    assert found.estimates() == opened.estimates()
    assert found.crosstab("harassed", "team").rows() == opened.crosstab("harassed", "team").rows()
    assert found.content.fieldwork == opened.content.fieldwork
    assert Study.open(copied.text, "work-2026", 1, found.survey.version[:8]).n == found.n
    for asked, told in (
        ({"survey": "work"}, r": survey: expected one of work-2026, got 'work'"),
        ({"survey": ""}, r": survey: expected one of work-2026, got ''"),
        ({"wave": 2}, r": wave: expected one of 1, got 2"),
        ({"version": "00"}, r": version: expected pooled, or the beginning of one of"),
    ):
        with pytest.raises(DataError, match=f"^{re.escape(str(copied))}{told}"):
            Study.open(copied.text, **asked)


@pytest.mark.more
def test_a_role_that_may_only_read_reports_opens_a_study(copied: Address, opened: Study) -> None:
    session = Store(copied).database.connection
    session.execute("CREATE ROLE analyst LOGIN")
    reader = Address(copied.text.replace("deniable@", "analyst@"))
    with pytest.raises(DataError, match=r"refused a statement: InsufficientPrivilege$"):
        Study.open(reader.text)
    (grant,) = re.findall(r"GRANT SELECT ON [\w,\s]+ TO analyst", OPERATIONS.read_text())
    session.execute(grant)
    assert Study.open(reader.text).estimates() == opened.estimates()
    with pytest.raises(StoreError, match="InsufficientPrivilege"):
        Store(reader).database.query("SELECT * FROM ledger")
    session.execute("UPDATE deniable SET schema = 1")
    with pytest.raises(DataError, match=r": expected schema [0-9]+, got 1: it was written"):
        Study.open(reader.text)


@pytest.mark.more
def test_other_databases_of_postgresql_are_refused(cluster: "Cluster") -> None:
    with pytest.raises(DataError, match=": has no tables of deniable"):
        Study.open(cluster.new().text)
    with pytest.raises(DataError, match=r'database "none" does not exist$'):
        Study.open(cluster.address("none").text)
    empty = cluster.new()
    Store(empty, create=True)
    with pytest.raises(DataError, match="survey: expected a published survey, got none"):
        Study.open(empty.text)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://ada:secret@127.0.0.1:1/x", "postgresql://ada@127.0.0.1:1/x: cannot be used"),
        ("postgresql://ada:se/cret@db/x", "the address of the database: expected postgresql://"),
        ("POSTGRES://ada:secret@db/x", "the address of the database: expected postgresql://"),
        ("postgresql+psycopg://ada:secret@db/x", "the address of the database: expected"),
        ("host=db password=secret", "the address of the database: expected postgresql://"),
        ("host=db password = secret", "the address of the database: expected postgresql://"),
        (Path("postgresql://ada:secret@db/x"), "the address of the database: expected"),
    ],
)
def test_an_address_that_cannot_be_used_is_named_without_its_password(
    address: str | Path, told: str
) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(told)}") as raised:
        Study.open(address)
    assert "cret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_psycopg_an_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.places.find_spec", lambda _: None)
    with pytest.raises(DataError, match=r"needs psycopg: pip install 'deniable\[postgres\]'$"):
        Study.open("postgresql://ada:secret@localhost/study")


def test_without_reports_there_are_estimates_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(bundled(folder / "x.db", "work-2026", "--without-reports"))
    found = Study.open(tmp_path / "x.zip")
    assert found.estimates()
    with pytest.raises(DataError, match=r"the reports of each respondent .* got a study without"):
        found.crosstab("harassed", "team")


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """Return the address of a web server that has the folder."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_bundle_is_opened_from_an_address(address: str, opened: Study) -> None:
    assert Study.open(f"{address}/bundle.zip").estimates() == opened.estimates()
    with pytest.raises(DataError, match="cannot be read: HTTP Error 404"):
        Study.open(f"{address}/other.zip")
