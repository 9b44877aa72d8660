"""The notebooks run, and show what they say about local noise and about a curator's noise."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "examples/notebooks"

pytestmark = pytest.mark.more


def executed(name: str) -> dict[str, Any]:
    """Run the cells of a notebook one after the other, and return the names that they define."""
    found: dict[str, Any] = {}
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), found)
    return found


def test_all_notebooks_are_run() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in NOTEBOOKS.iterdir()} <= tested


def test_randomized_response(capsys: pytest.CaptureFixture[str]) -> None:
    found = executed("randomized_response")
    assert found["local"].conf_low < 0.3 < found["local"].conf_high
    assert abs(found["central"] - 0.3) < found["half"]
    # Some five times as many respondents.
    assert (found["noisy"] / found["curator"]) ** 2 == pytest.approx(5, abs=0.5)
    assert " 50000 people: local  0.93, curator  0.40" in capsys.readouterr().out


def test_means() -> None:
    found = executed("means")
    mean = found["hours"].mean()
    for estimate, error in (
        ("local", found["local_error"]),
        ("two", found["two_error"]),
        ("central", found["half"] / 2),
        ("central_gauss", found["central_gauss_error"]),
    ):
        assert abs(found[estimate] - mean) < 2.6 * error
    # Two reports say more than one with Laplace noise, which says more than Gaussian noise.
    assert found["two_error"] < found["local_error"] < found["gauss_error"]
    assert found["half"] < 2 * found["error"] * 1.2


def test_histograms() -> None:
    table = executed("histograms")["table"]
    assert (abs(table["estimate"] - table["truth"]) < 1.5 * table["local_half"]).all()
    assert (abs(table["central"] - table["truth"]) < 1.5 * table["central_half"]).all()
    assert (table["central_half"] < table["local_half"]).all()


def test_logistic_regression() -> None:
    found = executed("logistic_regression")
    limits = found["model"].conf_int().loc["hours"]
    assert limits["low"] < 1.5 < limits["high"]
    assert found["naive"].conf_int().loc["hours", "high"] < 1.5
    assert found["central"].shape == (2,)
    assert np.isfinite(found["central"]).all()


def test_budget(capsys: pytest.CaptureFixture[str]) -> None:
    found = executed("budget")
    assert found["refused"] == [6, 7]
    assert len(found["answered"]) == 6
    assert found["totals"][100] == pytest.approx(4.7746, abs=1e-3)
    assert "independent? p = " in capsys.readouterr().out


def test_study() -> None:
    found = executed("study")
    shares = found["predicted"].set_index(["team", "value"])["estimate"]
    for team, truth in (("lab", 0.1), ("office", 0.2), ("ward", 0.4)):
        assert shares[team, "yes"] == pytest.approx(truth, abs=0.06)
    for result in ("study", "table", "differences", "model"):
        assert found[result]._repr_html_().count("<svg") >= 1


def test_learning() -> None:
    found = executed("learning")
    true = found["true"]

    def error(b: object) -> float:
        return float(np.sqrt(np.mean((np.asarray(b, dtype=float) - true) ** 2)))

    # The seed is fixed; the errors are .04, .26 and .05.
    assert error(found["model"].params) < 0.1
    assert 0.1 < error(found["gradients"]) < 0.4
    assert error(found["c"]) < 0.1
    assert (found["model"].conf_int()["low"] < true).all()
