"""What is in a bundle computes its estimates again: in Python, and in base R."""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from bundled import bundled, study
from command_line import run, table
from found import optional
from limits import LONG

from analysis.mechanisms import MECHANISMS
from analysis.study.bundle import verify_bundle
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
    data = bundled(store.database.path, "canteen")
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


SEVERAL = """
title = "All"
id = "all"

[privacy]
cap = 100
"""


def _listed(names: str) -> str:
    return "[" + ", ".join(f'{{id = "{name}", text = "?"}}' for name in names) + "]"


def _every_mechanism() -> Iterator[str]:
    """Yield survey files in which each mechanism is named once where it fits."""
    three = _listed("abc")
    kinds = {
        "yes-no": "",
        "choice": f"options = {three}\n",
        "choices": f"options = {three}\n",
        "scale": 'points = ["1", "2", "3", "4"]\n',
        "number": "min = 0\nmax = 10\n",
        "rank": f"items = {three}\n",
    }
    for lines in _WITH_PARAMETERS:
        yield f'{SEVERAL}\n[[questions]]\nid = "q"\ntext = "?"\nrequired = true\n{lines}'
    for name in MECHANISMS:
        for kind, more in kinds.items():
            yield (
                f'{SEVERAL}\n[[questions]]\nid = "q"\nkind = "{kind}"\ntext = "?"\n{more}'
                f'epsilon = 1\nmechanism = "{name}"\n'
            )


#: Mechanisms that take parameters of their own, or other keys.
_WITH_PARAMETERS = (
    'kind = "yes-no"\nmechanism = {name = "warner", p = "3/4"}\n',
    'kind = "yes-no"\nmechanism = {name = "two-coin"}\n',
    'kind = "yes-no"\nmechanism = {name = "forced", p_yes = "1/6", p_no = "1/6"}\n',
    'kind = "yes-no"\nmechanism = {name = "unrelated", p = "2/3", prevalence = "1/2"}\n',
    'kind = "yes-no"\nmechanism = {name = "crosswise", prevalence = "1/4"}\n',
    f'kind = "rank"\nitems = {_listed("abcdef")}\nmechanism = "suborder"\nepsilon = 4\n',
)


@pytest.mark.more
def test_base_r_computes_the_same(tmp_path: Path, read: Callable[[str], Survey]) -> None:
    program = optional("rscript")
    told, compared = set[str](), 0
    surveys = [read_survey(EXAMPLES / f"{name}.toml") for name in ("well-being", "one-draw")]
    for text in _every_mechanism():
        for either in dict.fromkeys((text, f"{text}required = true\n")):
            try:
                surveys.append(read(either))
                break
            except ValueError:
                continue  # it does not serve this kind, or not with no-answer
    for number, survey in enumerate(surveys):
        folder = tmp_path / str(number)
        folder.mkdir()
        store = study(folder / "x.db", survey, 150)
        data = bundled(store.database.path, survey.id)
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
    # A row that differs is named.
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
