"""Recounts of exported reports by our own reader, DuckDB and Spark.

Usage: `python benchmarks/recounts.py [--reports N ...] [--engines NAME ...] [--questions ID ...]`

Draws reports of a question under each channel by the product's randomizers, writes them to Parquet
as `deniable export` does, and counts them by each engine, each in a process of its own. It prints
processor seconds, ratios to our own reader, and the most memory. All tallies must equal that of
what was drawn: exit status 1 if one does not. Spark is left out where it is not installed;
what its own processes take is not counted, so that its seconds and memory are too small.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from analysis.core.csv_json import cell_text
from analysis.core.packed import unpack
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.recount.counting import recounted
from server.recount.engines import ENGINES
from server.recount.queries import column_of

HEAD = """title = "x"\nid = "x"\n[privacy]\ncap = 1000\n"""


def _options(count: int) -> str:
    return ", ".join(f'{{id = "o{at}", text = "?"}}' for at in range(count))


def _question(name: str, kind: str, more: str) -> str:
    return f'[[questions]]\nid = "{name}"\nkind = "{kind}"\ntext = "?"\nepsilon = 1\n{more}\n'


#: A question under each channel that draws alone: k-RR, a table, hashes, sets, bits.
QUESTIONS = "".join(
    [
        _question("krr", "yes-no", 'mechanism = "krr"'),
        _question("number", "number", "min = 0\nmax = 60"),
        _question("wave", "number", 'min = 0\nmax = 60\nmechanism = "square-wave"'),
        _question("shift", "number", 'min = 0\nmax = 9\nmechanism = "laplace"\nrequired = true'),
        _question("hashed", "choice", f'mechanism = "hashed-krr"\noptions = [{_options(30)}]'),
        _question("subset", "choice", f'mechanism = "subset"\noptions = [{_options(12)}]'),
        _question("long-set", "choice", f'mechanism = "subset"\noptions = [{_options(24)}]'),
        _question("overlap", "choices", f'mechanism = "privset"\noptions = [{_options(6)}]'),
        _question("bits", "choice", f'mechanism = "oue"\noptions = [{_options(64)}]'),
    ]
)


def the_survey(folder: Path) -> Survey:
    """Return the survey whose reports are counted."""
    file = folder / "x.toml"
    file.write_text(HEAD + QUESTIONS)
    return read_survey(file)


def cells(question: Question, drawn: Any, cohorts: Any) -> pyarrow.Array:
    """Return reports as a file has them: whole numbers, or texts."""
    channel = question.randomizer.channel
    kind = channel.report_schema()["type"]
    if kind == "integer" and question.randomizer.encoder.cohorts is None:
        return pyarrow.array(drawn.astype(np.int64))
    if kind == "integer":
        return pyarrow.array(
            [f"{c}:{r}" for c, r in zip(cohorts.tolist(), drawn.tolist(), strict=True)]
        )
    rows = unpack(drawn, channel.symbols if kind == "array" else channel.inputs)
    if kind == "array":
        members = np.nonzero(rows)[1].reshape(len(rows), channel.size).tolist()
        return pyarrow.array([str(cell_text(row)) for row in members])
    packed = np.packbits(rows, axis=1)
    return pyarrow.array([urlsafe_b64encode(row).rstrip(b"=").decode() for row in packed])


def write(survey: Survey, folder: Path, reports: int) -> dict[str, Any]:
    """Write so many reports to a file, and return the tally of each question."""
    rng = np.random.default_rng(1)

    def block(count: int) -> NDArray[np.uint32]:
        return rng.integers(0, 2**32, count, dtype=np.uint32)

    tallies: dict[str, Any] = {}
    names = [column_of(question) for question in survey.questions]
    writer = None
    left = reports
    while left:
        some = min(left, 2**16)
        left -= some
        columns = []
        for question in survey.questions:
            values: Any = np.arange(some) % 2
            if question.spec["kind"] == "number":
                values = (np.arange(some) % 61) / 61
            if question.spec["kind"] == "choices":
                values = np.zeros((some, 7), dtype=np.int64)
                values[:, 0] = 1
            made = question.randomizer.randomize_many(values, block)
            tally = question.randomizer.tally_many(made)
            tallies[question.id] = tallies.get(question.id, 0) + tally
            columns.append(cells(question, made.drawn, made.cohorts))
        table = pyarrow.Table.from_arrays(columns, names)
        writer = writer or parquet.ParquetWriter(folder / "reports.parquet", table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return tallies


def count(folder: Path, engine: str, name: str) -> None:
    """Count a question's reports; print its tally."""
    survey = the_survey(folder)
    alone = [question for question in survey.questions if question.id == name]
    with ENGINES[engine]([str(folder / "reports.parquet")]) as counting:
        tallies, _, _ = recounted(replace(survey, questions=tuple(alone)), counting)
    # What a parent had before it began this program does not count here, as it does in rusage.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([int(peak) / 1024, tallies[name].tolist()]))


def measured(folder: Path, engine: str, name: str) -> tuple[float, float, Any]:
    """Return processor seconds, MiB, and the tally of a count in a process of its own."""
    command = [sys.executable, __file__, "--count", str(folder), engine, name]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{engine}, {name}: failed")
        out.seek(0)
        memory, tally = json.load(out)
        return used.ru_utime + used.ru_stime, memory, tally


def engines(asked: list[str]) -> Iterator[str]:
    """Yield the engines that are there."""
    packages = {"own": "pyarrow", "duckdb": "duckdb", "spark": "pyspark"}
    for engine in asked:
        if find_spec(packages[engine]):
            yield engine
        else:
            print(f"{engine} is not installed, and left out")


def main() -> None:
    """Measure and print, or count as a process of its own."""
    if sys.argv[1:2] == ["--count"]:
        count(Path(sys.argv[2]), *sys.argv[3:5])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, nargs="+", default=[10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--engines", nargs="+", default=["own", "duckdb", "spark"])
    parser.add_argument("--questions", nargs="+", help="of these alone")
    given = parser.parse_args()
    print("reports   question  engine   seconds  of own   MiB  equal")
    wrong = False
    there = list(engines(given.engines))
    for reports in given.reports:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            survey = the_survey(folder)
            asked = [q for q in survey.questions if q.id in (given.questions or [q.id])]
            survey = replace(survey, questions=tuple(asked))
            tallies = write(survey, folder, reports)
            size = (folder / "reports.parquet").stat().st_size
            print(f"{reports:>9,} {size / reports:.1f} bytes a respondent", flush=True)
            for question in survey.questions:
                first = None
                for engine in there:
                    seconds, memory, tally = measured(folder, engine, question.id)
                    first = first or seconds
                    equal = tally == tallies[question.id].tolist()
                    wrong = wrong or not equal
                    print(
                        f"{reports:>9,} {question.id:9} {engine:8} {seconds:7.2f} "
                        f"{seconds / first:7.2f} {memory:6.0f}  {'yes' if equal else 'NO'}",
                        flush=True,
                    )
    sys.exit(wrong)


if __name__ == "__main__":
    main()
