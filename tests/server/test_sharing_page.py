"""The lines for R and pandas in docs/sharing.md compute what `deniable compare` does."""

import csv
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bundled import bundled
from command_line import run, table
from found import optional
from limits import LONG
from numpy.typing import NDArray

from analysis.study.report_columns import report_columns
from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.store import Store

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/sharing.md").read_text()


def _lines(language: str, section: str = "A difference between groups, in ten lines") -> str:
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    (program,) = re.findall(rf"```{language}\n(.*?)```", text, re.S)
    return str(program)


def _answered(folder: Path) -> tuple[Path, list[float]]:
    """Return a folder with a bundle, and the difference that compare prints, with its error."""
    survey = read_survey(ROOT / "examples/working-conditions.toml")
    store = Store(folder / "x.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    draw = np.random.default_rng(5)
    people = []
    for _ in range(3000):
        team = "lab" if draw.random() < 0.5 else "office"
        answer = "yes" if draw.random() < (0.4 if team == "lab" else 0.15) else "no"
        people.append({"harassed": answer, "told": "", "team": team, "income": "1500"})
    to_store(store, survey.id, payloads(survey, people, 1, seed=1), lambda _: None)
    store.surveys.close_waves(survey.id)
    (folder / "study.zip").unlink(missing_ok=True)
    bundled(store.database.place, survey.id)
    zipfile.ZipFile(folder / "study.zip").extractall(folder / "all")
    words = "compare", survey.id, "harassed", "--groups", "team", "--db", store.database.place
    (stated,) = (row for row in table(run(*words)) if row["term"] == "yes")
    return folder / "all", [float(stated["estimate"]), float(stated["std_error"])]


@pytest.mark.more
def test_ten_lines_compute_the_difference_that_compare_prints(tmp_path: Path) -> None:
    folder, expected = _answered(tmp_path)
    rscript = optional("rscript")
    with_functions = _lines("r", "In R").replace("difference(", "told <- difference(")
    with_functions += 'cat("difference", sprintf("%.9f", told[1, c("estimate", "std_error")]))'
    for program, option, lines in (
        (rscript, "-e", _lines("r")),
        (rscript, "-e", with_functions),
        (sys.executable, "-c", _lines("python")),
    ):
        assert len(list(filter(None, lines.splitlines()))) <= 10
        done = subprocess.run(
            [program, option, lines],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (told,) = re.findall(r"^difference +(\S+) +(\S+)$", done.stdout, re.M)
        assert [float(number) for number in told] == pytest.approx(expected, rel=1e-6)


def _nlcom(
    expression: str, means: dict[str, float], covariance: NDArray[np.float64]
) -> tuple[float, float]:
    """Return a function of means, and its standard error by the delta method, as `nlcom` does."""

    def value(at: NDArray[np.float64]) -> float:
        b = dict(zip(means, at, strict=True))
        written = re.sub(r"_b\[(\w+)\]", r'b["\1"]', expression)
        return float(eval(written, {"__builtins__": {}, "b": b}))

    centre, step = np.array([*means.values()]), 1e-6
    slope = np.array(
        [(value(centre + e) - value(centre - e)) / 2 / step for e in step * np.eye(len(centre))]
    )
    return value(centre), float(slope @ covariance @ slope) ** 0.5


@pytest.mark.more
def test_the_steps_for_stata_compute_the_same(tmp_path: Path) -> None:
    # Stata runs in no test, so this does what its manual says about these four commands.
    folder, expected = _answered(tmp_path)
    load, *steps, of, combine = _lines("stata").replace("///\n", "").strip().splitlines()
    assert load == "import delimited reports.csv, clear asdouble"
    with (folder / "reports.csv").open() as file:
        rows = list(csv.DictReader(file))
    # Longer names, and names that differ only in case, would get other names.
    assert all(len(name) <= 32 and name == name.lower() for name in rows[0])
    data = {
        name: np.array([float(row[name]) for row in rows])
        for name in rows[0]
        if name.startswith("debiased_")
    }
    for step in steps:
        made = re.fullmatch(r"generate double (\w+) = (\w+) \* (\w+)", step)
        assert made is not None, step
        assert made[1] not in data
        data[made[1]] = data[made[2]] * data[made[3]]
    command, *names = of.split()
    assert command == "mean"
    means = {name: float(data[name].mean()) for name in names}
    covariance = np.cov([data[name] for name in names]) / len(rows)
    asked = re.findall(r"\((\w+): ((?:[^()]|\([^()]*\))*)\)", combine)
    assert [name for name, _ in asked] == ["lab", "office", "difference"]
    told = _nlcom(dict(asked)["difference"], means, covariance)
    assert told == pytest.approx(tuple(expected), rel=1e-6)


@pytest.mark.more
def test_lines_for_stata_name_existing_columns() -> None:
    lines = _lines("stata")
    names = {
        column.name
        for column in report_columns(read_survey(ROOT / "examples/working-conditions.toml"))
    }
    assert set(re.findall(r"debiased_\w+", lines)) <= names
    assert len(lines.splitlines()) <= 10
