"""Compare recounts of exported reports by our own reader, DuckDB and Spark.

Usage: `python benchmarks/recounts.py [--reports N ...] [--engines NAME ...] [--questions ID ...]`

The benchmark draws reports of a question under each channel by the product's randomizers, writes
them to Parquet as `deniable export` does, and counts them by each engine in a process of its own.
It prints processor seconds, ratios to our own reader, and the most memory. Processes that an engine
starts, such as the Java of Spark, are included; their largest memories are added up. All tallies
must equal that of the drawn reports. So must the merged tallies of ten collectors, each of which
has every tenth block of respondents. The exit status is 1 if a tally differs. Spark is left out if
it is not installed. Linux is needed.
"""

import argparse
import ctypes
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
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from analysis.core.packed import unpack
from analysis.core.words import Block
from analysis.study.tally import Tally, merged
from analysis.study.tally.statement import Source
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.recount.counting import recounted
from server.recount.engines import ENGINES
from server.recount.queries import column_of

#: With this option, processes whose parent ended become children of this one (man 2 prctl).
_PR_SET_CHILD_SUBREAPER = 36

#: How many reports are written at once, and how many are drawn before they are repeated.
AT_ONCE, DRAWN = 2**16, 2**20
COLLECTORS = 10

HEAD = """title = "x"
id = "x"
[privacy]
cap = 1000
[[together]]
id = "of-two"
questions = ["one-draw", "joint-bits"]
epsilon = 4
epsilon_each = 2
[[together]]
id = "of-some"
questions = ["sampled", "second", "third"]
epsilon = 3
epsilon_each = 2
ask = 2
"""


def _options(count: int) -> str:
    return ", ".join(f'{{id = "o{at}", text = "?"}}' for at in range(count))


def _question(name: str, kind: str, more: str, alone: bool = True) -> str:
    epsilon = "epsilon = 1\n" * alone
    return f'[[questions]]\nid = "{name}"\nkind = "{kind}"\ntext = "?"\n{epsilon}{more}\n'


#: A question under each channel; some have cohorts, or belong to a draw for several questions.
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
        _question("bloom", "text", 'mechanism = "rappor"\ncandidates = ["ab", "cd"]'),
        _question("one-draw", "choice", f"options = [{_options(4)}]", alone=False),
        _question("joint-bits", "choices", f"options = [{_options(3)}]", alone=False),
        _question("sampled", "choice", f"options = [{_options(6)}]", alone=False),
        _question("second", "yes-no", "", alone=False),
        _question("third", "yes-no", "", alone=False),
    ]
)


def the_survey(folder: Path) -> Survey:
    """Return the survey whose reports are counted."""
    file = folder / "x.toml"
    file.write_text(HEAD + QUESTIONS)
    return read_survey(file)


def cells(question: Question, drawn: Any, cohorts: Any) -> Any:
    """Return reports as a file has them: an array of whole numbers or of texts."""
    channel = question.randomizer.channel
    kind = channel.report_schema()["type"]
    if kind == "integer" and question.randomizer.encoder.cohorts is None:
        return pyarrow.array(drawn.astype(np.int64))
    if kind == "integer":
        texts = pyarrow.array(drawn.astype(np.int64)).cast(pyarrow.string())
    elif kind == "array":
        rows = unpack(drawn, channel.symbols)[:, : channel.inputs]
        names = pyarrow.array([str(place) for place in range(channel.inputs)])
        ends = np.append(0, rows.sum(axis=1, dtype=np.int64).cumsum()).astype(np.int32)
        members = names.take(pyarrow.array(np.nonzero(rows)[1]))
        texts = compute.binary_join(pyarrow.ListArray.from_arrays(ends, members), "|")
    else:
        # Filled up with zeros to whole groups of four characters, all are written in one go.
        filled = -(-channel.length // 4) * 3
        packed = np.packbits(unpack(drawn, channel.inputs), axis=1)
        padded = np.pad(packed, ((0, 0), (0, filled - packed.shape[1])))
        buffers = [None, pyarrow.py_buffer(urlsafe_b64encode(padded.tobytes()))]
        fixed = pyarrow.binary(filled // 3 * 4)
        written = pyarrow.Array.from_buffers(fixed, len(packed), buffers).cast(pyarrow.binary())
        texts = compute.binary_slice(written, 0, channel.length).cast(pyarrow.string())
    if question.randomizer.encoder.cohorts is None:
        return texts
    numbers = pyarrow.array(cohorts.astype(np.int64)).cast(pyarrow.string())
    return compute.binary_join_element_wise(numbers, texts, ":")


def write(survey: Survey, folder: Path, reports: int) -> list[dict[str, Any]]:
    """Write this many reports to a file; return each collector's tally of each question.

    After the first `DRAWN`, the same ones come again: drawing takes longer than counting.
    """
    rng = np.random.default_rng(1)

    def block(count: int) -> NDArray[np.uint32]:
        return rng.integers(0, 2**32, count, dtype=np.uint32)

    tallies = [
        {each.id: np.zeros(each.randomizer.shape, np.int64) for each in survey.questions}
        for _ in range(COLLECTORS)
    ]
    at_once = min(AT_ONCE, -(-reports // COLLECTORS))
    known: list[tuple[pyarrow.Table, dict[str, Any]]] = []
    writer = None
    for place, start in enumerate(range(0, reports, at_once)):
        some = min(reports - start, at_once)
        if some < at_once or len(known) < DRAWN // at_once:
            drawn = _drawn(survey, some, block)
            known.append(drawn)
        else:
            drawn = known[place % len(known)]
        table, counts = drawn
        for name, tally in counts.items():
            tallies[place % COLLECTORS][name] += tally
        writer = writer or parquet.ParquetWriter(folder / "reports.parquet", table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return tallies


def _drawn(survey: Survey, some: int, block: Block) -> tuple[pyarrow.Table, dict[str, Any]]:
    """Return a table of this many respondents' reports, and its tallies."""
    tallies, columns = {}, []
    for question in survey.questions:
        values: Any = np.arange(some) % 2
        if question.spec["kind"] == "number":
            values = (np.arange(some) % 61) / 61
        if question.spec["kind"] == "text":
            values = np.tile(np.array(["ab", "cd"]), some // 2 + 1)[:some]
        if question.spec["kind"] == "choices":
            values = np.zeros((some, len(question.spec["options"]) + 1), dtype=np.int64)
            values[:, 0] = 1
        made = question.randomizer.randomize_many(values, block)
        tallies[question.id] = question.randomizer.tally_many(made)
        columns.append(cells(question, made.drawn, made.cohorts))
    names = [column_of(question) for question in survey.questions]
    return pyarrow.Table.from_arrays(columns, names), tallies


def added(survey: Survey, collectors: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the tallies of all collectors, merged as `deniable tally merge` does."""
    tallies = []
    for place, counts in enumerate(collectors):
        question = survey.questions[0]
        n = question.randomizer.reports_in(counts[question.id])
        source = Source(f"{place:032x}", n)
        tallies.append((str(place), Tally(survey, 1, False, 0, (source,), n, counts, None)))
    return dict(merged(tallies).tallies)


def count(folder: Path, engine: str, name: str) -> None:
    """Count a question's reports; print its tally."""
    survey = the_survey(folder)
    alone = [question for question in survey.questions if question.id == name]
    with ENGINES[engine]([str(folder / "reports.parquet")]) as counting:
        tallies, _, _ = recounted(replace(survey, questions=tuple(alone)), counting)
    # Memory that a parent had before it began this program does not count here, as it does in
    # rusage.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([int(peak) / 1024, tallies[name].tolist()]))


def measured(folder: Path, engine: str, name: str) -> tuple[float, float, Any]:
    """Return processor seconds, MiB, and the tally of a count in a process of its own."""
    command = [sys.executable, __file__, "--count", str(folder), engine, name]
    seconds, memory, failed = 0.0, 0.0, True
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=out, stderr=told)
        # The engine's own processes may end after the one that started them, so all are waited for.
        while (ended := _next_to_end()) is not None:
            pid, status, used = ended
            seconds += used.ru_utime + used.ru_stime
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                failed = bool(process.returncode)
            else:
                memory += used.ru_maxrss / 1024
        if failed:
            told.seek(0)
            sys.exit(f"{engine}, {name}: failed\n{told.read()}")
        out.seek(0)
        own, tally = json.load(out)
        return seconds, memory + own, tally


def _next_to_end() -> tuple[int, int, Any] | None:
    """Return pid, status and use of the next child to end; None if there is no child."""
    try:
        return os.wait4(-1, 0)
    except ChildProcessError:
        return None


def engines(asked: list[str]) -> Iterator[str]:
    """Yield the engines that are installed."""
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
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("prctl failed: processes that an engine starts could not be measured")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, nargs="+", default=[10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--engines", nargs="+", default=["own", "duckdb", "spark"])
    parser.add_argument("--questions", nargs="+", help="of these alone")
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    if given.smallest:
        given.reports, given.questions = [100], ["krr"]
    print("reports   question   engine   seconds  of own   MiB  equal")
    wrong = False
    there = list(engines(given.engines))
    for reports in given.reports:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            survey = the_survey(folder)
            asked = [q for q in survey.questions if q.id in (given.questions or [q.id])]
            survey = replace(survey, questions=tuple(asked))
            collectors = write(survey, folder, reports)
            tallies = {each.id: sum(one[each.id] for one in collectors) for each in asked}
            size = (folder / "reports.parquet").stat().st_size
            print(f"{reports:>9,} {size / reports:.1f} bytes a respondent", flush=True)
            several = added(survey, collectors)
            same = all(np.array_equal(several[name], tallies[name]) for name in tallies)
            wrong = wrong or not same
            told = "yes" if same else "NO"
            print(f"{reports:>9,} merged tallies of {COLLECTORS} collectors are equal: {told}")
            for question in survey.questions:
                first = None
                for engine in there:
                    seconds, memory, tally = measured(folder, engine, question.id)
                    first = first or seconds
                    equal = tally == tallies[question.id].tolist()
                    wrong = wrong or not equal
                    print(
                        f"{reports:>9,} {question.id:10} {engine:8} {seconds:7.2f} "
                        f"{seconds / first:7.2f} {memory:6.0f}  {'yes' if equal else 'NO'}",
                        flush=True,
                    )
    sys.exit(wrong)


if __name__ == "__main__":
    main()
