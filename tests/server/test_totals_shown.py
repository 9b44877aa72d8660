"""Commands, results pages, downloads and the methods paragraph show totals."""

import csv
import io
from pathlib import Path

import pytest
from command_line import run, table
from flask.testing import FlaskClient

from analysis.estimate.totals import TOTAL_COLUMNS

DICE = Path(__file__).parent.parent.parent / "examples/elsewhere"


@pytest.fixture
def db(tmp_path: Path, survey_file: Path) -> Path:
    """Return a database with the simulated reports of 120 respondents."""
    answers = tmp_path / "truth.csv"
    answers.write_text("meat,dish,price\n" + "yes,stew,4.5\nno,,12\nyes,soup,\n" * 40)
    run("simulate", survey_file, "--answers", answers, "--db", tmp_path / "t.db", "--seed", 3)
    return tmp_path / "t.db"


def test_totals_are_optional_columns(db: Path) -> None:
    rows = table(run("estimate", "canteen", "--db", db, "--totals"))
    assert tuple(rows[0])[-len(TOTAL_COLUMNS) :] == TOTAL_COLUMNS
    by_term = {(row["question"], row["term"]): row for row in rows}
    yes = by_term["meat", "yes"]
    assert float(yes["total"]) == pytest.approx(float(yes["estimate"]) * int(yes["n"]))
    assert (yes["population"], yes["total_method"]) == (yes["n"], "finite-clopper-pearson")
    large = table(run("estimate", "canteen", "--db", db, "--population", 10**6))
    for row in large:
        if row["question"] != "price":
            low, high = (float(row[name]) / 1e6 for name in ("total_low", "total_high"))
            assert (low, high) == pytest.approx(
                (float(row["conf_low"]), float(row["conf_high"])), abs=2e-3
            )
    assert by_term["price", "median"]["total"] == ""
    assert float(by_term["price", "mean"]["total_high"]) <= 20 * int(yes["n"])


def test_a_population_below_the_respondents_is_refused(
    db: Path,
) -> None:
    for command in (["estimate"], ["codebook", "--methods"]):
        result = run(command[0], "canteen", "--db", db, *command[1:], "--population", 3)
        assert result.exit_code == 1
        assert "population must be at least the" in result.stderr
    assert run("codebook", "canteen", "--db", db, "--population", 3).exit_code == 2


def test_the_methods_paragraph_says_whose_totals_are_reported(
    db: Path,
) -> None:
    told = run("codebook", "canteen", "--db", db, "--methods", "--population", 9000).stdout
    assert "Totals are of 9,000 people" in told
    n = table(run("estimate", "canteen", "--db", db))[0]["n"]
    told = run("codebook", "canteen", "--db", db, "--methods", "--population", n).stdout
    assert "Totals are of the respondents themselves" in told


def test_data_from_elsewhere_have_totals() -> None:
    asked = ("analyze", DICE / "dice.csv", "--design", DICE / "dice.toml")
    (row, _) = table(run(*asked, "--totals"))
    assert row["population"] == "1200"
    assert float(row["total"]) == pytest.approx(660)
    (row, _) = table(run(*asked, "--population", 9000))
    assert float(row["total"]) == pytest.approx(4950)
    refused = run(*asked, "--totals", "--model", "joined ~ age")
    assert (refused.exit_code, "cannot be combined with --totals" in refused.stderr) == (2, True)


@pytest.mark.parametrize(("name", "terms"), [("cheater", 3), ("scrambled", 1), ("lie-detector", 2)])
def test_other_designs_have_totals_of_what_is_counted(name: str, terms: int) -> None:
    asked = ("analyze", DICE / f"{name}.csv", "--design", DICE / f"{name}.toml")
    rows = table(run(*asked, "--population", 90_000))
    counted = [row for row in rows if row["total"]]
    assert len(counted) == terms < len(rows) + (name == "cheater")
    for row in counted:
        assert float(row["total"]) == pytest.approx(90_000 * float(row["estimate"]))
        assert float(row["total_high"]) == pytest.approx(90_000 * float(row["conf_high"]))


def test_pages_and_downloads_show_totals_of_a_population(
    client: FlaskClient, bearer: dict[str, str], answered: int
) -> None:
    page = client.get("/results/canteen?population=2,000", headers=bearer).get_data(as_text=True)
    assert "Total of 2,000 people" in page
    assert "estimates.csv?wave=1&amp;version=" in page
    assert "&amp;population=2000" in page
    text = client.get("/api/surveys/canteen/estimates.csv?population=2000", headers=bearer).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["population"] for row in rows if row["term"] == "yes"} == {"2000"}
    methods = client.get("/api/surveys/canteen/methods.txt?population=2000", headers=bearer).text
    assert "Totals are of 2,000 people" in methods
    for wrong in ("7", "many", "1" * 12):
        response = client.get(f"/results/canteen?population={wrong}", headers=bearer)
        assert response.status_code == 404
        assert "population: expected a whole number of at least" in response.text
    assert "Total of" not in client.get("/results/canteen", headers=bearer).text
