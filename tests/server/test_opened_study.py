"""A study that is opened from its bundle has the server's tables and models."""

import http.server
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from bundled import bundled, study
from command_line import run, table

from analysis import Study, compare_groups
from analysis.core.errors import DataError
from analysis.study.shown import Results
from analysis.survey.survey_file import read_survey
from server import stored_results

EXAMPLE = Path(__file__).parents[2] / "examples/working-conditions.toml"


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
    with pytest.raises(ValueError, match="the formula names salary"):
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
        with pytest.raises(DataError, match=r"bundle\.zip: \w+: expected \w+, got a bundle of "):
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
    with pytest.raises(DataError, match="expected a study with its reports, got one without"):
        left.columns(left.names[:1])


def test_without_reports_there_are_estimates_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(bundled(folder / "x.db", "work-2026", "--without-reports"))
    found = Study.open(tmp_path / "x.zip")
    assert found.estimates()
    with pytest.raises(DataError, match="expected a study with its reports, got one without"):
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
