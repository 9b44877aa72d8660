"""Reports in parts are complete or absent, in no order of arrival, and without ids."""

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from bundled import study
from command_line import run
from every_mechanism import survey_of_all

from analysis.study.tally.statement import hash_of
from analysis.survey.survey import Survey
from server.formats import parts
from server.formats.parts import MANIFEST, write_parts
from server.store import Store
from server.store.disk import flush_to_disk
from server.stored_results import StoredWave

COLLECTOR = "0" * 32


def _rows(folder: Path) -> list[dict[str, Any]]:
    manifest = json.loads((folder / MANIFEST).read_text())
    files = [folder / part["name"] for part in manifest["parts"]]
    return [row for file in files for row in parquet.read_table(file).to_pylist()]


def _compare(tmp_path: Path, survey: Survey) -> None:
    """Compare the rows of parts of several sizes with those of one file."""
    store = study(tmp_path / "x.db", survey, 250)
    whole = tmp_path / "whole.parquet"
    words = "export", survey.id, "--db", tmp_path / "x.db", "--format", "parquet"
    assert run(*words, "--output", whole).exit_code == 0
    told = run(*words, "--parts", tmp_path / "one")
    assert told.exit_code == 0, told.output
    assert "250 reports" in told.stderr
    stored = StoredWave(store, survey.id)
    for rows in (60, 83, 250, 1000):
        folder = tmp_path / str(rows)
        assert write_parts(stored, folder, COLLECTOR, rows) == 250
        manifest = json.loads((folder / MANIFEST).read_text())
        assert manifest["sha256"] == hash_of(manifest)
        sizes = [part["rows"] for part in manifest["parts"]]
        assert sum(sizes) == manifest["reports"] == 250
        assert sizes[:-1] == [rows] * (len(sizes) - 1)
        assert {path.name for path in folder.iterdir()} == {
            MANIFEST,
            *(part["name"] for part in manifest["parts"]),
        }
        for part in manifest["parts"]:
            content = (folder / part["name"]).read_bytes()
            assert (len(content), sha256(content).hexdigest()) == (part["bytes"], part["sha256"])
        # They are equal row by row in the same order, which is that of what reports say.
        assert _rows(folder) == parquet.read_table(whole).to_pylist()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_parts_have_the_rows_of_one_file(tmp_path: Path, survey: Survey) -> None:
    _compare(tmp_path, survey)


@pytest.mark.more
def test_parts_have_the_rows_of_one_file_under_each_mechanism(
    tmp_path: Path, read: Callable[[str], Survey]
) -> None:
    _compare(tmp_path, survey_of_all(read))


def test_parts_do_not_show_who_came_when(tmp_path: Path, survey: Survey) -> None:
    store = study(tmp_path / "x.db", survey, 130)
    stored = StoredWave(store, survey.id)
    write_parts(stored, tmp_path / "parts", COLLECTOR, 50)
    content = b"".join(path.read_bytes() for path in sorted((tmp_path / "parts").iterdir()))
    connection = sqlite3.connect(tmp_path / "x.db")
    secrets = [
        cell
        for table, column in (("report", "rid"), ("ledger", "respondent"))
        for (cell,) in connection.execute(f"SELECT {column} FROM {table}")
    ]
    assert len(secrets) == 260
    assert not [one for one in secrets if one in content or one.hex().encode() in content]
    # The same reports under other ids, in another order of arrival, make the same parts.
    connection.execute("UPDATE report SET rid = randomblob(16)")
    connection.commit()
    connection.close()
    write_parts(StoredWave(store, survey.id), tmp_path / "again", COLLECTOR, 50)
    for path in (tmp_path / "parts").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_a_folder_is_complete_or_absent(
    tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = study(tmp_path / "x.db", survey, 130)
    before = {path.name for path in tmp_path.iterdir()}
    calls = 0

    def full(path: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(28, os.strerror(28))
        flush_to_disk(path)

    monkeypatch.setattr(parts, "flush_to_disk", full)
    for failing in range(1, 6):
        calls = 0
        with pytest.raises(Exception, match="No space left"):
            write_parts(StoredWave(store, survey.id), tmp_path / "parts", COLLECTOR, 50)
        assert {path.name for path in tmp_path.iterdir()} == before, failing
    monkeypatch.undo()
    words = "export", "canteen", "--db", tmp_path / "x.db", "--format", "parquet", "--parts"
    assert run(*words, tmp_path / "parts").exit_code == 0
    for taken in (tmp_path / "parts", tmp_path / "x.db"):
        refused = run(*words, taken)
        assert (refused.exit_code, "expected a new folder" in refused.output) == (1, True)
    assert "cannot be written" in run(*words, tmp_path / "none" / "parts").output
    assert run(*words, tmp_path / "y", "--version", "pooled").exit_code == 1
    assert run(*words[:4], "--parts", tmp_path / "y").exit_code == 2
    assert not (tmp_path / "y").exists()
    assert stat.S_ISDIR((tmp_path / "parts").stat().st_mode)


def test_a_wave_without_reports_makes_an_empty_part(tmp_path: Path, survey: Survey) -> None:
    store = Store(tmp_path / "x.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    assert write_parts(StoredWave(store, survey.id), tmp_path / "parts", COLLECTOR) == 0
    assert _rows(tmp_path / "parts") == []
