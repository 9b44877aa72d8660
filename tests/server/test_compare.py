"""Check `deniable test`, `compare`, `trend` and `estimate --rank` on three simulated waves."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from command_line import run, table

SURVEY = """
title = "Work"
id = "work"
access = "ACCESS"
organisation = "Us"

[privacy]
cap = 60.0

[[questions]]
id = "harassed"
kind = "yes-no"
text = "Were you harassed?"
required = true
mechanism = "krr"
epsilon = 4.0

[[questions]]
id = "team"
kind = "choice"
text = "In which team are you?"
options = [{id = "lab", text = "Lab"}, {id = "office", text = "Office"}]
required = true
mechanism = "krr"
epsilon = 4.0

[[questions]]
id = "mood"
kind = "scale"
text = "How are you?"
points = ["Bad", "So so", "Good"]
mechanism = "krr"
epsilon = 4.0

[[questions]]
id = "pay"
kind = "number"
text = "What do you earn?"
min = 0
max = 20
required = true
mechanism = "duchi"
epsilon = 4.0
"""


def _stored(folder: Path, access: str) -> Path:
    """Return a database with three waves of 300 people, of whom more and more say yes."""
    file, answers, db = folder / "work.toml", folder / "truth.csv", folder / "x.db"
    file.write_text(SURVEY.replace("ACCESS", access))
    for wave, share in enumerate((0.2, 0.4, 0.6), start=1):
        rng = np.random.default_rng(wave)
        rows = [
            f"{'yes' if rng.random() < share else 'no'},{team},{rng.integers(1, 4)},"
            f"{rng.integers(0, 10) + 10 * (team == 'lab')}"
            for team in rng.choice(["lab", "office"], 300)
        ]
        answers.write_text("\n".join(["harassed,team,mood,pay", *rows]))
        done = run(
            *("simulate", file, "--answers", answers, "--db", db, "--wave", wave, "--seed", wave)
        )
        assert done.exit_code == 0, done.output
    return db


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _stored(tmp_path_factory.mktemp("compare"), "open")


def test_false_shares_are_rejected(db: Path) -> None:
    (true,) = table(
        run("test", "work", "harassed", "--shares", "no=4/5,yes=0.2", "--wave", 1, "--db", db)
    )
    (false,) = table(run("test", "work", "harassed", "--shares", "yes=0.2,no=0.8", "--db", db))
    assert float(true["p_value"]) > 0.05
    assert float(false["p_value"]) < 1e-6
    assert (false["test"], false["method"]) == ("goodness-of-fit", "exact")
    assert (false["wave"], false["n"], false["question"]) == ("3", "300", "harassed")


def test_waves_are_compared(db: Path) -> None:
    result = run("compare", "work", "harassed", "--waves", "1,3", "--db", db)
    yes, no = table(result)
    assert "all answers together: test of difference: statistic" in result.stderr
    assert yes["simulated"] == no["simulated"] == "600"
    for wave in (1, 3):
        assert f"wave {wave}: 300 of 300 reports were simulated" in result.stderr
    assert float(yes["conf_low"]) < 0.4 < float(yes["conf_high"])
    assert float(no["estimate"]) == pytest.approx(-float(yes["estimate"]))
    assert (yes["wave"], yes["first"], yes["second"], yes["groups"]) == ("1,3", "1", "3", "")
    # By default the last two waves are compared.
    assert table(run("compare", "work", "harassed", "--db", db))[0]["wave"] == "2,3"
    (test,) = table(run("compare", "work", "harassed", "--tests", "--db", db))
    assert test["test"] == "difference"


def test_groups_are_compared(db: Path) -> None:
    result = run("compare", "work", "pay", "--groups", "team", "--reference", "office", "--db", db)
    (row,) = table(result)
    assert (row["quantity"], row["groups"], row["first"], row["second"]) == (
        *("mean", "team"),
        *("office", "lab"),
    )
    assert float(row["conf_low"]) < 10 < float(row["conf_high"])
    assert float(row["conf_low"]) > 3
    rows = table(run("compare", "work", "mood", "--groups", "team", "--db", db))
    assert [row["term"] for row in rows] == ["1", "2", "3", "no-answer", "mean"]
    (test,) = table(run("compare", "work", "mood", "--groups", "team", "--tests", "--db", db))
    assert test["test"] == "independence"


def test_trends_are_printed(db: Path) -> None:
    (row,) = table(run("trend", "work", "harassed", "--value", "yes", "--db", db))
    assert float(row["conf_low"]) < 0.2 < float(row["conf_high"])
    assert float(row["p_value"]) < 1e-4
    assert (row["wave"], row["waves"], row["n"]) == ("1,2,3", "3", "900")
    rows = table(run("trend", "work", "mood", "--waves", "1,3", "--at", "2019,2023", "--db", db))
    assert [row["quantity"] for row in rows] == ["share"] * 4 + ["mean"]
    (pay,) = table(run("trend", "work", "pay", "--db", db))
    assert (pay["quantity"], pay["term"]) == ("mean", "mean")


def test_ranks_are_printed_for_each_question(db: Path) -> None:
    result = run("estimate", "work", "--rank", "--wave", "all", "--db", db)
    rows = table(result)
    assert [row["question"] for row in rows[:7]] == ["harassed"] * 2 + ["team"] * 2 + ["mood"] * 3
    assert [row["wave"] for row in rows[::7]] == ["1", "2", "3"]
    first = rows[0]
    assert (first["term"], first["order"], first["rank_high"]) == ("no", "1", "1")
    assert first["is_first"] == "True"
    assert float(first["p_first"]) < 1e-6
    assert rows[1]["p_first"] == ""
    assert "wave 1, harassed: With 95 % confidence “No” is the more frequent" in result.stderr
    wrong = run("estimate", "work", "--rank", "--deff", "--db", db)
    assert wrong.exit_code == 2
    assert "--rank goes only with" in wrong.stderr


def test_text_is_for_people(db: Path) -> None:
    text = run("trend", "work", "harassed", "--format", "text", "--db", db).stdout
    head, _, first, *_ = text.splitlines()
    assert head.split()[:5] == ["survey", "version", "wave", "question", "quantity"]
    assert len(first.split()[1]) == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["test", "work", "mood", "--shares", "1=.5,2=.5"], "got none for 3, no-answer"),
        (["test", "work", "harassed", "--shares", "yes=.5,no=.2"], "must sum to 1, got 0.7"),
        (["test", "work", "harassed", "--shares", "yes=2"], "a share from 0 to 1"),
        (["test", "work", "harassed", "--shares", "yes=1/0"], "a share from 0 to 1"),
        (["test", "work", "harassed", "--shares", "yes=.5,yes=.5"], "got 'yes' twice"),
        (["test", "work", "pay", "--shares", "1=1"], "expected a question with shares"),
        (["test", "work", "nope", "--shares", "1=1"], "question: expected one of"),
        (["compare", "work", "mood", "--wave", "1"], "--wave goes with --groups"),
        (["compare", "work", "mood", "--reference", "lab"], "--reference goes with --groups"),
        (["compare", "work", "mood", "--waves", "1,1"], "two different waves, got 1 twice"),
        (["compare", "work", "mood", "--waves", "1,2,3"], "expected two waves, such as 1,3, got 3"),
        (["compare", "work", "mood", "--waves", "1,9"], "wave: expected one of 1, 2, 3, got 9"),
        (["compare", "work", "mood", "--waves", "1,2", "--groups", "team"], "--waves goes without"),
        (
            ["compare", "work", "mood", "--groups", "mood"],
            "expected different questions, got mood, mood",
        ),
        (["compare", "work", "mood", "--groups", "pay"], "pay: expected a question whose answers"),
        (["compare", "work", "pay", "--tests"], "a number has no test"),
        (["compare", "none", "mood"], "survey: expected one of work"),
        (["trend", "work", "mood", "--waves", "1"], "at least two waves, each once, got 1"),
        (["trend", "work", "mood", "--waves", "1,x"], "--waves: expected whole numbers"),
        (["trend", "work", "mood", "--at", "1,2"], "--at: expected 3 numbers, got 2"),
        (["trend", "work", "mood", "--at", "1,2,nan"], "--at: expected finite numbers with commas"),
        (["trend", "work", "mood", "--value", "9"], "--value: expected one of 1, 2, 3, no-answer"),
        (["trend", "work", "pay", "--value", "9"], "pay is a number"),
    ],
)
def test_impossible_comparisons_are_refused(db: Path, words: list[str], message: str) -> None:
    result = run(*words, "--db", db)
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.split())


def test_a_panel_is_mentioned_and_batches_wait_until_the_wave_is_closed(tmp_path: Path) -> None:
    panel = _stored(tmp_path, "panel")
    commands = [["compare", "work", "harassed"], ["trend", "work", "harassed"]]
    for words in commands:
        assert "the same people may have answered" in run(*words, "--db", panel).stderr
        withheld = run(*words, "--batch", "--db", panel)
        assert (withheld.exit_code, withheld.stdout) == (1, "")
    assert run("close", "work", "--db", panel).exit_code == 0
    for words in commands:
        assert len(table(run(*words, "--batch", "--db", panel))) == 2
