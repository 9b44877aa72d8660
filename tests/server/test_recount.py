"""Recounts of exported reports by each engine are what the product counted."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest
from bundled import study
from command_line import refused, run
from every_mechanism import survey_of_all
from found import optional

from analysis.core.errors import DataError
from analysis.study.tally.statement import hash_of
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.formats.parts import MANIFEST, write_parts
from server.recount.counting import recounted
from server.recount.engines import ENGINES
from server.recount.queries import place_queries
from server.stored_results import StoredWave


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Survey, str]:
    """Return parts with reports of every mechanism, the survey, and the product's tally."""
    folder = tmp_path_factory.mktemp("everything")

    def read(text: str) -> Survey:
        (folder / "x.toml").write_text(text)
        return read_survey(folder / "x.toml")

    survey = survey_of_all(read)
    study(folder / "x.db", survey, 500)
    result = run("tally", "export", survey.id, "--db", folder / "x.db")
    assert result.exit_code == 0, result.output
    words = "export", survey.id, "--db", folder / "x.db", "--format", "parquet", "--parts"
    assert run(*words, folder / "parts").exit_code == 0
    return folder / "parts", survey, result.stdout


@pytest.mark.parametrize("engine", ["own", "duckdb", pytest.param("spark", marks=pytest.mark.more)])
def test_each_engine_counts_what_the_product_counted(
    everything: tuple[Path, Survey, str],
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, survey, told = everything
    if engine == "spark":
        # By its own settings, Spark divides each of some hundred results among 200 tasks.
        (tmp_path / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 2\n")
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        pytest.importorskip("pyspark", reason="pyspark is not installed: make test-more tries to")
        optional("java")
    result = run("recount", folder, "--engine", engine)
    assert result.exit_code == 0, result.output
    found, expected = json.loads(result.stdout), json.loads(told)
    for question in survey.questions:
        name = question.id
        assert found["questions"][name] == expected["questions"][name], name
        assert found["sizes"].get(name) == expected["sizes"].get(name), name
    assert result.stdout == told
    # For some questions whole reports are counted, for others their parts: bits and sets.
    by_place = [each.id for each in survey.questions if place_queries(each)]
    assert by_place == ["bloom", "long-set", "long-bits"]


def test_a_single_file_is_counted(everything: tuple[Path, Survey, str], tmp_path: Path) -> None:
    folder, _, told = everything
    file = tmp_path / "one.parquet"
    (part,) = folder.glob("part-*")
    shutil.copy(part, file)
    counted = json.loads(run("recount", file).stdout)
    expected = json.loads(told)
    assert counted["sources"] == []
    for name in ("questions", "sizes", "reports", "version", "wave"):
        assert counted[name] == expected[name]
    # Another program's file has no survey.
    table = parquet.read_table(file).replace_schema_metadata(None)
    parquet.write_table(table, file)
    assert "expected --survey and --wave" in refused("recount", file)
    frozen = tmp_path / "survey.json"
    frozen.write_text(json.dumps(expected["survey"]))
    words = "recount", file, "--survey", frozen, "--wave", 1, "--engine", "duckdb"
    assert json.loads(run(*words).stdout)["questions"] == expected["questions"]


_SET = list(range(9))


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        *[("q6", cell) for cell in (-1, 3, 2**40, None)],
        *[("q9", cell) for cell in ("3", "", "01", "1|2", "x", None)],
        *[("q18", cell) for cell in ("3:0", "0:3", "0", "0:", ":0", "0:0:0", "00:0", " 0:0")],
        *[("q12", cell) for cell in ("", "A", "AAA", "/A", "AB", "é", "D")],
        *[
            ("long_set", "|".join(map(str, cell)))
            for cell in (
                _SET[:-1],
                [*_SET, 9],
                [*_SET[:-1], 7],
                _SET[::-1],
                [*_SET[:-1], 25],
                [*_SET[:-1], "08"],
                [*_SET[:-1], "x"],
                [*_SET[:-1], ""],
                [""],
            )
        ],
        *[("long_bits", cell) for cell in ("A" * 11, "A" * 13, "A" * 11 + "+", "A" * 11 + "B")],
        *[("bloom", cell) for cell in ("64:AAAAAA", "x:AAAAAA", "0:AAAAA", "AAAAAA", "0:AAAAAB")],
        *[("bloom", cell) for cell in ("01:AAAAAA", "0:AAAAAA:", "0:AAA AA", None, ":AAAAAA")],
    ],
)
def test_reports_that_nobody_can_make_are_refused(
    everything: tuple[Path, Survey, str], tmp_path: Path, question: str, cell: Any
) -> None:
    (part,) = everything[0].glob("part-*")
    name = f"noisy_{question}"
    table = parquet.read_table(part, columns=[name])
    place, kind = table.column_names.index(name), table.schema.field(name).type
    column = pyarrow.array([cell, *table[name].to_pylist()[1:]], kind)
    file = tmp_path / "x.parquet"
    parquet.write_table(table.set_column(place, pyarrow.field(name, kind), column), file)
    alone = [each for each in everything[1].questions if each.id == question.replace("_", "-")]
    for engine in ("own", "duckdb"):
        with (
            ENGINES[engine]([str(file)]) as counting,
            pytest.raises(DataError, match=rf"^{name}\b.*expected") as error,
        ):
            recounted(replace(everything[1], questions=tuple(alone)), counting)
        assert "\n" not in str(error.value)


def test_parts_that_are_not_as_they_were_written_are_refused(
    survey: Survey, tmp_path: Path
) -> None:
    store = study(tmp_path / "x.db", survey, 130)
    folder = tmp_path / "parts"
    write_parts(StoredWave(store, survey.id), folder, "0" * 32, 50)
    path = folder / MANIFEST
    text = path.read_text()
    told = run("recount", folder)
    assert json.loads(told.stdout)["sources"] == [{"collector": "0" * 32, "reports": 130}]
    assert "expected wave 2" in refused("recount", folder, "--wave", 2)
    manifest = json.loads(text)
    hostile: list[tuple[str, Any]] = [
        ("wave", 0),
        ("reports", 131),
        ("simulated", 1000),
        ("simulated", -1),
        ("open", 1),
        ("parts", []),
        ("parts", manifest["parts"] * 2),
        ("parts", [*manifest["parts"][:2], manifest["parts"][2] | {"name": "../x.parquet"}]),
        ("parts", [*manifest["parts"][:2], manifest["parts"][2] | {"name": "none.parquet"}]),
        ("parts", [*manifest["parts"][:2], manifest["parts"][2] | {"bytes": 1}]),
        ("parts", [*manifest["parts"][:2], manifest["parts"][2] | {"rows": 10**30}]),
        ("parts", 1),
        ("deniable", "tally-1"),
    ]
    for name, value in hostile:
        changed = manifest | {name: value}
        if value != 10**30:
            changed["sha256"] = "" if "10000000" in str(value) else hash_of(changed)
        path.write_text(json.dumps(changed))
        refused("recount", folder)
    path.write_text(text.replace("Canteen", "Kantine"))
    assert "the file was changed" in refused("recount", folder)
    path.write_text(text)
    part = folder / manifest["parts"][1]["name"]
    content = part.read_bytes()
    part.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    assert "SHA-256 of the manifest" in refused("recount", folder)
    part.unlink()
    assert "cannot be read" in refused("recount", folder)
    path.unlink()
    assert "deniable export --parts wrote" in refused("recount", folder)
    (tmp_path / "x.parquet").write_text("none")
    assert "expected a Parquet file" in refused("recount", tmp_path / "x.parquet")
    assert "cannot be read" in refused("recount", tmp_path / "none")
    assert "expected --survey" in refused("recount", "s3://bucket/reports", "--engine", "spark")


def test_a_recount_and_a_tally_of_one_collector_are_not_added(
    survey: Survey, tmp_path: Path
) -> None:
    study(tmp_path / "x.db", survey, 130)
    words = "canteen", "--db", tmp_path / "x.db"
    exported, again = tmp_path / "exported.json", tmp_path / "again.json"
    assert run("tally", "export", *words, "--output", exported).exit_code == 0
    assert (
        run("export", *words, "--format", "parquet", "--parts", tmp_path / "parts").exit_code == 0
    )
    assert run("recount", tmp_path / "parts", "--output", again).exit_code == 0
    assert again.read_text() == exported.read_text()
    assert "would count twice" in refused("tally", "merge", exported, again)
    told = run("estimate", "canteen", "--tally", again)
    assert told.stdout == run("estimate", *words).stdout


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_missing_engine_is_named_in_a_line(
    everything: tuple[Path, Survey, str], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, {"duckdb": "duckdb", "spark": "pyspark.sql"}[engine], None)
    result = run("recount", everything[0], "--engine", engine)
    assert result.exit_code == 2
    assert f"[{engine}]" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("engine", ["own", pytest.param("duckdb", marks=pytest.mark.more)])
def test_tables_of_counted_pairs_are_those_of_the_database(
    everything: tuple[Path, Survey, str], tmp_path: Path, engine: str
) -> None:
    folder, survey, _ = everything
    database = folder.parent / "x.db"
    for number, names in enumerate(
        [
            ("q6", "q8"),
            ("q9", "q13"),
            ("q6", "q25"),
            ("q19", "q7"),
            ("one", "several.x"),
            ("several.x", "several.y"),
            ("a", "c"),
            ("long-set", "q6"),
            ("q32.a", "q7"),
        ]
    ):
        file = tmp_path / f"{number}.json"
        words = "recount", folder, "--engine", engine, "--pairs", *names, "--output", file
        assert run(*words).exit_code == 0
        for more in ([], ["--tests"]):
            crossed = run("crosstab", survey.id, *names, "--db", database, *more)
            counted = run("crosstab", survey.id, *names, "--tally", file, *more)
            assert (counted.exit_code, counted.stdout) == (crossed.exit_code, crossed.stdout)
            assert counted.stderr == crossed.stderr


def test_pairs_that_nobody_can_make_are_refused(
    everything: tuple[Path, Survey, str], tmp_path: Path
) -> None:
    folder, survey, _ = everything
    file = tmp_path / "x.json"
    assert run("recount", folder, "--pairs", "q6", "q7", "--output", file).exit_code == 0
    data = json.loads(file.read_text())
    words = "crosstab", survey.id, "q6", "q7", "--tally", file
    assert run(*words).exit_code == 0
    assert "whose reports were counted" in refused(*words[:3], "q8", *words[4:])
    assert "got counts of rows" in refused("estimate", survey.id, "--tally", file)
    assert "expected one of" in refused("recount", folder, "--pairs", "q6", "none")
    rows = data["rows"]
    for name, value in [
        *[("rows", value) for value in (1, [], rows[1:], rows + rows[:1], [*rows[1:], [0, 0]])],
        *[("rows", [*rows[1:], [*rows[0][:2], count]]) for count in (0, -1, 1.0, 10**15, True)],
        *[("rows", [*rows[1:], [report, *rows[0][1:]]]) for report in (3, -1, "0", None, [0])],
        *[("questions", value) for value in ([], ["q6"], ["q6", "q6"], ["q6", "none"], "q6", 1)],
        *[("reports", value) for value in (-1, 499, 2**50)],
    ]:
        changed = data | {name: value}
        file.write_text(json.dumps(changed | {"sha256": hash_of(changed)}))
        refused(*words)
