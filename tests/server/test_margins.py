"""Check `deniable estimate --margins`: estimates calibrated to known shares of the population."""

from pathlib import Path

import numpy as np
import pytest
from command_line import run, table

SURVEY = """
title = "Work"
id = "work"
[privacy]
cap = 30
[[questions]]
id = "sex"
kind = "choice"
text = "?"
options = [{id = "women", text = "Women"}, {id = "men", text = "Men"}]
required = true
epsilon = 4
[[questions]]
id = "insulted"
kind = "yes-no"
text = "?"
epsilon = 3
[[questions]]
id = "age"
kind = "number"
text = "?"
min = 10
max = 70
step = 1
epsilon = 3
[[questions]]
id = "drinks"
kind = "choices"
mechanism = "multihot"
text = "?"
options = [{id = "tea", text = "Tea"}, {id = "milk", text = "Milk"}]
epsilon = 4
[[questions]]
id = "why"
kind = "text"
candidates = ["pay", "time"]
text = "?"
epsilon = 2
"""
KNOWN = '[sex]\nwomen = 0.5\nmen = "1/2"\n'


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with 500 respondents, of whom one in five is a woman."""
    folder = tmp_path_factory.mktemp("margins")
    (folder / "s.toml").write_text(SURVEY)
    rng, rows = np.random.default_rng(3), ["sex,insulted,age,drinks,why"]
    for woman in np.arange(500) % 5 == 0:
        insulted = "yes" if rng.random() < (0.7 if woman else 0.1) else "no"
        rows.append(
            f"{'women' if woman else 'men'},{insulted},{60 if woman else 20},"
            f"{'tea' if woman else 'milk'},pay"
        )
    (folder / "truth.csv").write_text("\n".join(rows) + "\n")
    result = run(
        *("simulate", folder / "s.toml", "--answers", folder / "truth.csv"),
        *("--db", folder / "x.db", "--seed", 2),
    )
    assert result.exit_code == 0, result.output
    return folder / "x.db"


def _known(db: Path, text: str) -> Path:
    path = db.parent / "margins.toml"
    path.write_text(text)
    return path


def test_estimates_are_those_of_the_population(db: Path) -> None:
    result = run("estimate", "work", "--db", db, "--margins", _known(db, KNOWN))
    rows = {(row["question"], row["term"]): row for row in table(result)}
    assert {key[0] for key in rows} == {"insulted", "age", "drinks"}
    for key, truth, among in (
        (("insulted", "yes"), 0.4, 0.22),
        (("age", "mean"), 40, 28),
        (("drinks", "tea"), 0.5, 0.2),
    ):
        row, error = rows[key], float(rows[key]["std_error"])
        assert (row["conf_method"], int(row["simulated"]) > 0) == ("calibrated", True)
        assert abs(float(row["estimate"]) - truth) < 4 * error
        assert float(row["conf_low"]) < float(row["estimate"]) < float(row["conf_high"])
        assert abs(float(row["uncalibrated"]) - among) < abs(float(row["uncalibrated"]) - truth)
    plain = table(run("estimate", "work", "--db", db))
    (same,) = [row for row in plain if (row["question"], row["term"]) == ("insulted", "yes")]
    assert rows["insulted", "yes"]["uncalibrated"] == same["estimate"]
    assert "not calibrated, since texts and rankings make no columns: why" in result.stderr
    assert "was rounded at random" not in result.stderr
    assert result.stderr.count("500 of 500 reports were simulated") == 1


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("[nobody]\na = 0.5\nb = 0.5\n", 1, "question: expected one of sex, insulted"),
        ("[age]\na = 0.5\nb = 0.5\n", 1, "age: expected a question with listed answers"),
        ("[sex]\nmen = 0.5\nothers = 0.5\n", 1, "sex: margins must have a share for each of"),
        ("[sex]\nmen = 0.966\nwomen = 0.034\n", 1, "That takes 718 respondents, or ε = 5.8 of"),
        ("[sex]\nmen = 0.99\nwomen = 0.01\n", 1, "or answers that are joined; no ε is enough"),
        ("[sex]\nmen = 0.9\nwomen = 0.2\n", 1, "shares must sum to 1, got 1.1"),
        ("[sex\n", 1, "margins.toml"),
    ],
)
def test_margins_that_cannot_be_used_are_refused(
    db: Path, text: str, status: int, message: str
) -> None:
    result = run("estimate", "work", "--db", db, "--margins", _known(db, text))
    assert result.exit_code == status
    assert message in result.stderr
    assert result.stdout == ""


def test_other_ways_to_estimate_are_refused_beside_margins(db: Path) -> None:
    margins = _known(db, KNOWN)
    for more in ("--totals", "--simultaneous", "--deff", "--bins=5", "--interval=wilson"):
        result = run("estimate", "work", "--db", db, "--margins", margins, more)
        assert (result.exit_code, "--margins goes only with" in result.stderr) == (2, True), more
    result = run("estimate", "work", "--db", db, "--margins", db.parent / "none.toml")
    assert (result.exit_code, "none.toml: cannot be read" in result.stderr) == (1, True)


def test_pages_show_none_while_reports_come(db: Path) -> None:
    result = run("estimate", "work", "--db", db, "--margins", _known(db, KNOWN), "--batch")
    assert result.exit_code == 1
    assert "wait for the wave to be closed" in result.stderr
