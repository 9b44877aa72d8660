"""A bundle's own programs compute its estimates again, in Python and in base R."""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from bundled import bundled, study
from command_line import run, table
from every_mechanism import surveys_of_one_question
from found import optional
from limits import LONG

from analysis.core.errors import DataError
from analysis.mechanisms import MECHANISMS
from analysis.study.bundle import verify_bundle
from analysis.study.bundle.verify import _compare
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def _unpacked(data: bytes, folder: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
    return folder


def test_the_notebook_computes_every_estimate_again(
    store: Store, answered: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bundled(store.database.place, "canteen")
    monkeypatch.chdir(_unpacked(data, tmp_path / "all"))
    cells = json.loads(Path("recompute.ipynb").read_text())["cells"]
    programs = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]

    def executed() -> str:
        names: dict[str, Any] = {}
        with redirect_stdout(io.StringIO()) as printed:
            for program in programs:
                exec(program, names)
        return printed.getvalue()

    printed = executed()
    assert re.search("all 1[0-9] rows of estimates.csv are as computed", printed)
    assert "debiased_meat_yes" in printed
    stated = Path("estimates.csv").read_text()
    Path("estimates.csv").write_text(stated.replace("0.", "1.", 1))
    with pytest.raises(AssertionError, match="line 2, meat yes: "):
        executed()


@pytest.mark.more
def test_base_r_computes_the_same(tmp_path: Path, read: Callable[[str], Survey]) -> None:
    program = optional("rscript")
    told, compared = set[str](), 0
    surveys = [read_survey(EXAMPLES / f"{name}.toml") for name in ("well-being", "one-draw")]
    surveys += surveys_of_one_question(read)
    for number, survey in enumerate(surveys):
        folder = tmp_path / str(number)
        folder.mkdir()
        store = study(folder / "x.db", survey, 150)
        data = bundled(store.database.place, survey.id)
        assert verify_bundle(data).reports == 150
        _unpacked(data, folder / "all")
        called = [program, "recompute.R"]
        done = subprocess.run(
            called, cwd=folder / "all", capture_output=True, text=True, timeout=LONG, check=False
        )
        assert done.returncode == 0, (survey.questions[0].mechanism.name, done.stderr)
        assert not done.stderr
        found = re.search(r"(\d+) of (\d+) estimates and (\d+) of their intervals", done.stdout)
        assert found is not None
        compared += int(found[1])
        told |= {question.mechanism.name for question in survey.questions if int(found[1])}
    # RAPPOR serves texts alone, which base R cannot decode.
    assert told == {*MECHANISMS, "together"} - {"rappor"}
    assert compared > 150
    # The first row that differs is named.
    stated = (folder / "all/estimates.csv").read_text()
    rows = table(run("estimate", survey.id, "--db", folder / "x.db"))
    (folder / "all/estimates.csv").write_text(
        stated.replace(rows[0]["std_error"], f"{float(rows[0]['std_error']) * 1.01:.10g}")
    )
    done = subprocess.run(
        called, cwd=folder / "all", capture_output=True, text=True, timeout=LONG, check=False
    )
    assert done.returncode != 0
    assert f"line 2 ({rows[0]['question']}, {rows[0]['term']}): std_error" in done.stderr


def test_labels_that_are_numbers_are_compared_as_texts() -> None:
    made = "question,value,label,share\nq,a,20250101,0.5\nq,b,20250112,0.25\n"
    _compare("codebook.csv", made, True, made.replace("0.25", "0.2500000001"))
    for label in ("20250112.0", "20250101.5"):
        with pytest.raises(DataError, match=rf"label in line 2: .*{label}"):
            _compare("codebook.csv", made, True, made.replace("20250101", label))
