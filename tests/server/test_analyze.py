"""Check what `deniable analyze` prints for the examples."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from scipy.stats import binomtest

from server.cli import main

FOLDER = Path(__file__).parents[2] / "examples/elsewhere"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def _run(name: str, *options: str) -> Result:
    files = (str(FOLDER / f"{name}.csv"), "--design", str(FOLDER / f"{name}.toml"))
    return CliRunner().invoke(main, ["analyze", *files, *options])


def _rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.mark.parametrize("name", NAMES)
def test_each_example_is_estimated(name: str) -> None:
    rows = _rows(_run(name))
    assert {row["survey"] for row in rows} == {name}
    assert all(float(row["conf_low"]) < float(row["conf_high"]) for row in rows)


def test_columns_are_estimated_from_everybody_who_reported_on_them() -> None:
    result = _run("direct")
    assert {row["question"]: row["n"] for row in _rows(result)} == {
        "asked": "300",
        "thrown": "600",
        "work": "900",
    }
    assert "thrown: 300 rows were left out, because of an empty cell" in result.stderr


def test_designs_with_more_equations_than_unknowns_are_tested() -> None:
    result = _run("extended-crosswise")
    assert (
        "skipped: test of fit to the design: likelihood ratio 0.1698, df = 1, p = 0.68"
        in result.stderr
    )
    (row,) = _rows(_run("extended-crosswise", "--tests"))
    assert (row["test"], row["df"], row["n"], row["flag"]) == ("fit", "1", "600", "")
    assert float(row["p_value"]) == pytest.approx(0.68, abs=0.01)
    refused = _run("dice", "--tests")
    assert refused.exit_code == 1
    assert "no test of fit: it needs a design with more equations" in refused.stderr


def test_intervals_are_those_asked_for() -> None:
    rows = _rows(_run("dice", "--interval", "wilson", "--simultaneous"))
    assert {row["conf_method"] for row in rows} == {"wilson-bonferroni"}
    # 560 of 1200 said yes, which gives (x - 1/6) * 3/2; each of two intervals misses half as often.
    ends = binomtest(560, 1200).proportion_ci(0.975, method="wilson")
    assert float(rows[1]["conf_low"]) == pytest.approx((ends.low - 1 / 6) * 1.5)
    wrong = _run("dice", "--interval", "wald")
    assert wrong.exit_code == 2
    assert "expected one of clopper-pearson, wilson" in wrong.stderr
    terms = json.loads(
        _run("dice", "--model", "joined ~ age", "--interval", "wald", "--json").stdout
    )
    assert terms["interval"] == "wald"


def test_shares_can_be_made_possible_for_display() -> None:
    result = _run("direct", "--constrained", "norm-sub")
    rows = _rows(result)
    assert all(float(row["constrained"]) == pytest.approx(float(row["estimate"])) for row in rows)
    assert "for display only" in result.stderr
    assert "instead of" not in result.stderr
    # Estimates from several samples are likeliest shares already.
    likeliest = _run("cheater", "--constrained", "norm-sub")
    assert (
        "em instead of norm-sub for stole: its estimates are already the most likely shares"
        in likeliest.stderr
    )
    assert {row["constrained"] for row in _rows(_run("scrambled", "--constrained", "em"))} == {""}


@pytest.mark.parametrize(
    ("name", "intervals"),
    [
        ("cheater", '"stole": its intervals are always those of the profile likelihood'),
        ("scrambled", '"income": its intervals are always Student\'s'),
        ("unrelated-number", "its intervals are always Student's"),
    ],
)
def test_designs_with_one_kind_of_interval_refuse_another(name: str, intervals: str) -> None:
    refused = _run(name, "--interval", "wilson")
    assert refused.exit_code == 1
    assert intervals in refused.stderr
    assert "expected no other method, got wilson" in refused.stderr


def test_a_weighted_sample_has_one_kind_of_interval(tmp_path: Path) -> None:
    data, design = tmp_path / "d.csv", tmp_path / "d.toml"
    data.write_text("y,w\n" + "1,1\n0,2\n" * 20)
    design.write_text(
        '[columns.y]\nvalues = ["0", "1"]\ndesign = "two-coin"\n[sample]\nweights = "w"\n'
    )
    files = ["analyze", str(data), "--design", str(design)]
    refused = CliRunner().invoke(main, [*files, "--interval", "wilson"])
    assert refused.exit_code == 1
    assert "y: with a sample, shares have Korn and Graubard's intervals" in refused.stderr
    shown = CliRunner().invoke(main, [*files, "--constrained", "em"])
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [float(row["constrained"]) for row in rows] == pytest.approx([5 / 6, 1 / 6], abs=1e-3)


def test_models_read_samples_whose_matrices_are_known() -> None:
    result = _run("extended-crosswise", "--model", "skipped ~ 1", "--json")
    (term,) = json.loads(result.stdout)["terms"]
    assert term["estimate"] == pytest.approx(-0.5609, abs=1e-3)  # the logit of 0.3633
    refused = _run("cheater", "--model", "stole ~ 1")
    assert refused.exit_code == 1
    assert "models, tables and ranks need a design whose matrix is known" in refused.stderr


def test_two_columns_are_crossed() -> None:
    result = _run("dice", "--table", "joined", "--table", "town")
    rows = _rows(result)
    assert "test of independence: statistic" in result.stderr
    shares = [float(row["likeliest"]) for row in rows if row["quantity"] == "share"]
    assert sum(shares) == pytest.approx(1)
    (test,) = _rows(_run("dice", "--table", "joined", "--table", "town", "--tests"))
    assert test["test"] == "independence"


def test_tables_of_one_and_of_three_have_the_likeliest_shares() -> None:
    (no, yes) = _rows(_run("dice", "--table", "joined"))
    assert float(yes["likeliest"]) == pytest.approx(0.45, abs=1e-4)
    assert (no["questions"], no["values"]) == ("joined", "0")
    text = _run("direct", "--table", "thrown", "--table", "work", "--json").stdout
    assert json.loads(text)[0]["first_question"] == "thrown"
    three = _rows(_run("dice", "--table", "joined", "--table", "town", "--table", "age"))
    assert sum(float(row["likeliest"]) for row in three) == pytest.approx(1)


def test_numbers_of_many_values_correlate(tmp_path: Path) -> None:
    design = tmp_path / "d.toml"
    text = (FOLDER / "scrambled.toml").read_text().split("[sample]")[0]
    design.write_text(text + '[sample]\nweights = "weight"\n')
    files = ["analyze", str(FOLDER / "scrambled.csv"), "--design", str(design)]
    rows = _rows(CliRunner().invoke(main, [*files, "--table", "income", "--table", "age"]))
    assert rows[0]["quantity"] == "correlation"
    # For the true incomes and the ages it is about .67.
    assert float(rows[0]["conf_low"]) < 0.67 < float(rows[0]["conf_high"])
    refused = CliRunner().invoke(main, [*files, "--table", "income"])
    assert "income: a number with more than 64 values, or a scrambled one" in refused.stderr


def test_a_randomized_scale_correlates_with_a_known_number_of_many_values(tmp_path: Path) -> None:
    data, design = tmp_path / "d.csv", tmp_path / "d.toml"
    # Wages rise by 100 with each point of the scale, which is not randomized here.
    data.write_text(
        "y,wage\n" + "".join(f"{at % 3},{100 * (at % 3) + at / 9}\n" for at in range(99))
    )
    design.write_text(
        '[columns.y]\nvalues = ["0", "1", "2"]\namounts = [0, 1, 2]\ndesign = "direct"\n'
    )
    files = ["analyze", str(data), "--design", str(design)]
    rows = _rows(CliRunner().invoke(main, [*files, "--table", "wage", "--table", "y"]))
    assert [row["quantity"] for row in rows] == ["correlation", "mean", "mean", "mean"]
    assert 0.99 < float(rows[0]["estimate"]) < 1
    assert rows[0]["first_question"] == "y"
    assert float(rows[3]["estimate"]) == pytest.approx(200 + (2 + 98) / 2 / 9)


def test_fewer_people_admit_it_when_asked_directly() -> None:
    rows = {row["term"]: row for row in _rows(_run("direct", "--difference", "asked", "thrown"))}
    assert float(rows["yes"]["estimate"]) == pytest.approx(0.255 - 0.13333333)
    assert float(rows["yes"]["conf_low"]) > 0
    assert (rows["yes"]["n_first"], rows["yes"]["n_both"]) == ("300", "0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--table", "joined", "--model", "joined ~ age"], "--model cannot be combined with --tab"),
        (["--table", "joined", "--constrained", "em"], "--table cannot be combined with --constr"),
        (["--family", "linear"], "estimates cannot be combined with --family"),
        (["--share", "joined.1=0.1"], "estimates cannot be combined with --share"),
        (["--respondents", "9"], "expected either DATA (to estimate) or --respondents (to plan)"),
        (
            ["--table", "joined", "--table", "joined"],
            "expected different questions, got joined, joined",
        ),
        (["--table", "age", "--table", "town"], "expected a column with a design in the table"),
        (["--table", "joined", "--table", "nobody"], 'no column "nobody"; the file has joined'),
        (["--difference", "joined", "joined"], "expected two different columns, got joined twice"),
        (["--difference", "joined", "town"], 'one of joined, got "town"'),
    ],
)
def test_impossible_analyses_are_refused(options: list[str], message: str) -> None:
    result = _run("dice", *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def _planned(name: str, *options: str) -> Result:
    files = ["analyze", "--design", str(FOLDER / f"{name}.toml")]
    return CliRunner().invoke(main, [*files, *options])


def test_answers_are_ranked(tmp_path: Path) -> None:
    result = _run("direct", "--rank", "thrown", "--rank", "work")
    rows = _rows(result)
    # Each column has its own rows.
    assert {row["question"]: row["n"] for row in rows} == {"thrown": "600", "work": "900"}
    assert [row["order"] for row in rows] == ["1", "2"] * 2
    assert "thrown: With 95 % confidence “no” is the more frequent answer (p < 0.0001)." in (
        result.stderr
    )
    # Weights can reverse the order.
    answers = "a,1\n" * 60 + "b,3\n" * 40
    (tmp_path / "answers.csv").write_text("answer,weight\n" + answers)
    (tmp_path / "design.toml").write_text(
        '[sample]\nweights = "weight"\n[columns.answer]\nvalues = ["a", "b"]\ndesign = "direct"\n'
    )
    files = [str(tmp_path / "answers.csv"), "--design", str(tmp_path / "design.toml")]
    first, _ = _rows(CliRunner().invoke(main, ["analyze", *files, "--rank", "answer"]))
    assert (first["term"], first["conf_method"]) == ("b", "scaled-binomial")


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("lie-detector", "used", "ranks need a design whose matrix is known"),
        ("scrambled", "income", "ranks need a column of answers, got a scrambled number"),
        ("dice", "nothing", 'no column "nothing"; the file has joined, age, town'),
    ],
)
def test_columns_without_ranks_are_refused(name: str, column: str, message: str) -> None:
    refused = _run(name, "--rank", column)
    assert refused.exit_code == 1
    assert message in refused.stderr
    assert refused.stdout == ""


def test_a_design_is_planned_without_data() -> None:
    options = ["--respondents", "1200", "--share", "joined.1=0.2", "--null", "joined.1=.1"]
    no, yes = _rows(_planned("dice", *options, "--half-width", "0.03"))
    assert (yes["question"], yes["term"], yes["method"]) == ("joined", "1", "exact")
    assert float(yes["power"]) > 0.99
    assert 300 < int(yes["respondents_for_power"]) < 400
    assert int(yes["respondents_needed"]) > 1200
    assert no["power"] == ""
    stated = ["--share", "income.mean=2750", "--share", "income.sd=1500"]
    weighted = _planned("scrambled", "--respondents", "600", *stated)
    assert float(_rows(weighted)[0]["half_width"]) > 100
    assert "the plan assumes that respondents are drawn one by one" in weighted.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected either DATA (to estimate) or --respondents (to plan)"),
        (
            ["--respondents", "9", "--share", "joined=0.1"],
            "expected COLUMN.TERM=VALUE, of a column",
        ),
        (["--respondents", "9", "--share", "joined.1=x"], "of a column joined, got joined.1=x"),
        (
            ["--respondents", "9", "--share", "joined.1=.1", "--share", "joined.1=.2"],
            "expected one number of joined.1, got two",
        ),
        (["--respondents", "9", "--share", "joined.2=.1"], "expected one of 0, 1, got 2"),
        (["--respondents", "9", "--power", "0.01"], "power must be above 0.05 and below 1"),
    ],
)
def test_wrong_plans_are_refused(options: list[str], message: str) -> None:
    result = _planned("dice", *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def test_scrambled_numbers_are_outcomes_of_linear_models() -> None:
    robust = ["--family", "linear", "--errors", "sandwich"]
    terms = json.loads(_run("scrambled", "--model", "income ~ region", *robust, "--json").stdout)
    south = terms["terms"][1]
    # They are 1,000 higher in the south.
    assert south["conf_low"] < 1000 < south["conf_high"]
    for options in (["income ~ age"], ["age ~ income", *robust], ["log(income) ~ age", *robust]):
        refused = _run("scrambled", "--model", *options)
        assert refused.exit_code == 1
        assert '"income ~ ..." with --family linear --errors sandwich' in refused.stderr
