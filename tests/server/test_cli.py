"""The command: its tables, its messages, and its exit codes."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import run, table

from server.cli import REFUSALS, main

ANSWERS = "meat,dish,price\n" + "yes,soup,3.25\nno,,\n,stew,10\n" * 20


def test_errors_that_become_one_line_have_the_listed_names() -> None:
    for module, names in REFUSALS.items():
        for name in names:
            assert getattr(import_module(module), name).__module__ == module


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text(ANSWERS)
    return path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


def test_check_prints_mechanism_and_epsilon(survey_file: Path) -> None:
    rows = table(run("check", survey_file))
    assert [
        (row["question"], row["mechanism"], f"{float(row['epsilon']):.6g}") for row in rows
    ] == [
        ("meat", "krr", "1"),
        ("dish", "krr", "1.5"),
        ("price", "optimal", "1.5"),
    ]
    assert "ε = 4; the cap of 12 is enough for 3 waves in all" in run("check", survey_file).stderr


def test_a_bad_survey_is_one_line_and_exit_1(survey_file: Path) -> None:
    survey_file.write_text(survey_file.read_text().replace("epsilon = 1.0", "epsilon = -1"))
    for command in (["check"], ["publish"], ["serve"], ["simulate", "--answers", "-"]):
        result = run(*command, survey_file)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert 'question "meat": epsilon must be a number greater than 0, got -1' in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("mechanisms", "told"),
    [
        (("laplace",), 'question "a": no ranges: laplace rounds numbers to the ends'),
        (("laplace", "laplace"), 'questions "a", "b": no ranges: laplace rounds numbers'),
        (("duchi",), 'mechanism = "square-wave" can show a distribution'),
        (("square-wave", "laplace"), 'question "b": no ranges: laplace rounds numbers to the ends'),
        (("square-wave", "noise"), 'question "b": no ranges: laplace adds so much noise'),
        ((), "study: --bins is for numbers; the survey asks for none"),
    ],
)
def test_ranges_are_refused_if_reports_do_not_show_them(
    tmp_path: Path, db: Path, mechanisms: tuple[str, ...], told: str
) -> None:
    named = {"noise": '{name = "laplace", steps = 10}'}
    questions = "".join(
        f'[[questions]]\nid = "{name}"\ntext = "?"\nkind = "number"\nmin = 0\nmax = 10\n'
        f"required = true\nepsilon = 1\nmechanism = {named.get(mechanism, repr(mechanism))}\n"
        for name, mechanism in zip("ab", mechanisms, strict=False)
    )
    study, truth = tmp_path / "study.toml", tmp_path / "answers.csv"
    also = '[[questions]]\nid = "c"\ntext = "?"\nkind = "yes-no"\nepsilon = 1\n'
    study.write_text(f'title = "Study"\nid = "study"\n{questions}{also}')
    columns = ["a", "b"][: len(mechanisms)]
    truth.write_text(",".join([*columns, "c"]) + "\n" + "3," * len(columns) + "yes\n")
    assert run("simulate", study, "--answers", truth, "--db", db).exit_code == 0
    result = run("estimate", "study", "--db", db, "--bins", "5")
    assert told in result.stderr
    if "square-wave" in mechanisms:
        ranges = [row for row in table(result) if row["conf_method"] == "bootstrap"]
        assert {row["question"] for row in ranges} == {"a"}
    else:
        assert (result.exit_code, result.stdout) == (1, "")


def test_wrong_usage_is_exit_2(survey_file: Path, truth: Path, db: Path) -> None:
    both = ["simulate", survey_file, "--answers", truth]
    for arguments in (
        ["check"],
        ["nonsense"],
        [*both, "--url", "http://127.0.0.1:1", "--db", db],
        [*both, "--wave", "0"],
        ["estimate", "canteen", "--level", "2"],
        ["estimate", "canteen", "--wave", "x"],
    ):
        assert run(*arguments).exit_code == 2


def test_publishing_twice_is_publishing_once(survey_file: Path, db: Path) -> None:
    (first,) = table(run("publish", survey_file, "--db", db))
    (second,) = table(run("publish", survey_file, "--db", db))
    assert (first["new"], second["new"]) == ("yes", "no")
    assert first["version"] == second["version"]


def test_whoever_publishes_is_told_that_nobody_can_answer_yet(survey_file: Path, db: Path) -> None:
    told = "nobody can answer it yet"
    assert told in run("publish", survey_file, "--db", db).stderr
    assert run("open", "canteen", "--db", db).exit_code == 0
    assert told not in run("publish", survey_file, "--db", db).stderr
    assert run("close", "canteen", "--db", db).exit_code == 0
    assert told not in run("publish", survey_file, "--db", db).stderr


def test_questions_that_another_survey_asks_already_are_named(survey_file: Path, db: Path) -> None:
    told = r"next: survey canteen of this collector asks already: meat, cost\. .* ε of both"
    assert run("publish", survey_file, "--db", db).exit_code == 0
    assert "asks already" not in run("check", survey_file, "--db", db).stderr
    other = survey_file.read_text().replace('id = "canteen"', 'id = "next"')
    other = other.replace("Do you eat meat?", "do you eat  MEAT")
    other = other.replace('id = "price"', 'id = "cost"')
    other = other.replace("Which dish do you like best?", "Which dish?")
    survey_file.write_text(other)
    assert "asks already" not in run("check", survey_file).stderr
    assert re.search(told, run("check", survey_file, "--db", db).stderr)
    assert re.search(told, run("publish", survey_file, "--db", db).stderr)
    assert "asks already" not in run("publish", survey_file, "--db", db).stderr  # nothing new


def test_the_same_simulation_twice_stores_nothing_twice(
    survey_file: Path, truth: Path, db: Path
) -> None:
    command = ["simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3]
    (first,) = table(run(*command))
    assert (first["stored"], first["known"], first["refused"]) == ("60", "0", "0")
    before = run("estimate", "canteen", "--db", db).stdout
    (second,) = table(run(*command))
    assert (second["stored"], second["known"], second["refused"]) == ("0", "60", "0")
    assert run("estimate", "canteen", "--db", db).stdout == before


def test_three_waves_spend_the_cap_and_a_fourth_is_refused(
    survey_file: Path, truth: Path, db: Path
) -> None:
    command = ["simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3]
    for wave in (1, 2, 3):
        assert table(run(*command, "--wave", wave))[0]["stored"] == "60"
    last = run(*command, "--wave", 4)
    assert last.exit_code == 1
    assert "60 refused: cap-exceeded" in last.stderr
    rows = table(run("ledger", "canteen", "--db", db))
    assert len(rows) == 60
    assert {(r["waves"], r["reports"], r["epsilon"], r["remaining"]) for r in rows} == {
        ("3", "9", "12", "0")
    }
    rows = table(run("estimate", "canteen", "--db", db, "--wave", "all"))
    assert {(row["wave"], row["n"]) for row in rows} == {
        *((str(wave), "60") for wave in (1, 2, 3)),
        ("4", "0"),
    }


def test_a_wrong_cell_stores_nothing(survey_file: Path, truth: Path, db: Path) -> None:
    truth.write_text(ANSWERS + "yes,soup,99\n")
    result = run("simulate", survey_file, "--answers", truth, "--db", db)
    assert result.exit_code == 1
    assert 'row 61 (line 62), column "price": expected a number from 0 to 20' in result.stderr
    assert not db.exists()


def test_dry_run_prints_what_would_be_sent_and_opens_nothing(
    survey_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("simulate", survey_file, "--answers", "-", "--dry-run", "--seed", 3, stdin=ANSWERS)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 60
    assert set(lines[0]) == {"version", "wave", "rid", "respondent", "reports"}
    assert [path.name for path in tmp_path.iterdir()] == ["canteen.toml"]


def test_json_is_the_same_table(survey_file: Path, truth: Path, db: Path) -> None:
    run("simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3)
    rows = table(run("estimate", "canteen", "--db", db))
    for option in (["--json"], ["--format", "json"]):
        whole = json.loads(run("estimate", "canteen", "--db", db, *option).stdout)
        assert [list(row) for row in whole] == [list(row) for row in rows]
        assert [row["estimate"] for row in whole] == pytest.approx(
            [float(row["estimate"]) for row in rows], rel=1e-9
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "none"],
        ["estimate", "canteen", "--wave", "9"],
        ["estimate", "canteen", "--version", "zz"],
        ["ledger", "none"],
    ],
)
def test_missing_things_are_named_with_those_that_exist(
    survey_file: Path, truth: Path, db: Path, arguments: list[str]
) -> None:
    run("simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3)
    result = run(*arguments, "--db", db)
    assert result.exit_code == 1
    assert "expected" in result.stderr
    assert "got" in result.stderr


def test_a_missing_database_is_named(db: Path) -> None:
    result = run("estimate", "canteen", "--db", db)
    assert (result.exit_code, "no such database" in result.stderr) == (1, True)
    assert not db.exists()


@pytest.mark.parametrize("method", ["wilson", "profile-likelihood", "feldman-cousins"])
def test_intervals_follow_the_options(
    survey_file: Path, truth: Path, db: Path, method: str
) -> None:
    run("simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3)
    usual = table(run("estimate", "canteen", "--db", db))
    rows = table(run("estimate", "canteen", "--db", db, "--interval", method, "--simultaneous"))
    assert list(rows[0]) == list(usual[0])
    shares = [row for row in rows if row["question"] != "price"]
    assert {row["conf_method"] for row in shares} <= {
        f"{method}-bonferroni",
        "profile-likelihood-bonferroni",
    }
    for row, one in zip(rows, usual, strict=True):
        assert (row["estimate"], row["conf_level"]) == (one["estimate"], "0.95")


@pytest.mark.parametrize("method", ["norm-sub", "em"])
def test_constrained_shares_and_design_effects_are_optional_columns(
    survey_file: Path, truth: Path, db: Path, method: str
) -> None:
    run("simulate", survey_file, "--answers", truth, "--db", db, "--seed", 3)
    result = run("estimate", "canteen", "--db", db, "--constrained", method, "--deff")
    rows = table(result)
    assert list(rows[0])[-2:] == ["constrained", "deff"]
    for question in ("meat", "dish"):
        shares = [float(row["constrained"]) for row in rows if row["question"] == question]
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(1)
    assert {row["constrained"] for row in rows if row["question"] == "price"} == {""}
    assert float(rows[0]["deff"]) == pytest.approx(int(rows[0]["n"]) / float(rows[0]["n_eff"]))
    assert "for display only, biased upward for rare answers" in result.stderr


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ('epsilon = 3\nepsilon_each = 1.5\naim = "shares"', "is worse for pairs of answers than"),
        ("epsilon = 3\nepsilon_each = 1", None),
        ('epsilon = 3\nepsilon_each = 1\naim = "pairs"', "is worse for shares than separate draws"),
    ],
)
def test_check_warns_of_one_draw_that_is_worse_than_separate_ones(
    tmp_path: Path, limits: str, told: str | None
) -> None:
    asked = (
        f'id = "s"\ntitle = "T"\n[[together]]\nid = "t"\nquestions = ["a", "b", "c"]\n{limits}\n'
    )
    for name, points in (("a", 3), ("b", 5), ("c", 6)):
        names = ", ".join(f'"{point}"' for point in range(points))
        asked += f'[[questions]]\nid = "{name}"\nkind = "scale"\ntext = "?"\nrequired = true\n'
        asked += f"points = [{names}]\n"
    path = tmp_path / "s.toml"
    path.write_text(asked)
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 0, result.output
    assert ("one draw is worse" in result.stderr) == (told is not None)
    assert told is None or told in result.stderr
