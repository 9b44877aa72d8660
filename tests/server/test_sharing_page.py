"""The few lines of docs/sharing.md for R and pandas compute what `deniable compare` does."""

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


@pytest.mark.more
def test_ten_lines_compute_the_difference_that_compare_prints(tmp_path: Path) -> None:
    survey = read_survey(ROOT / "examples/working-conditions.toml")
    store = Store(tmp_path / "x.db", create=True)
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
    (tmp_path / "study.zip").unlink(missing_ok=True)
    bundled(store.database.path, survey.id)
    zipfile.ZipFile(tmp_path / "study.zip").extractall(tmp_path / "all")
    words = "compare", survey.id, "harassed", "--groups", "team", "--db", store.database.path
    (stated,) = (row for row in table(run(*words)) if row["term"] == "yes")
    expected = [float(stated["estimate"]), float(stated["std_error"])]

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
            cwd=tmp_path / "all",
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (told,) = re.findall(r"^difference +(\S+) +(\S+)$", done.stdout, re.M)
        assert [float(number) for number in told] == pytest.approx(expected, rel=1e-6)


@pytest.mark.more
def test_lines_for_stata_name_columns_that_there_are() -> None:
    lines = _lines("stata")
    names = {
        column.name
        for column in report_columns(read_survey(ROOT / "examples/working-conditions.toml"))
    }
    assert set(re.findall(r"debiased_\w+", lines)) <= names
    assert len(lines.splitlines()) <= 10
