"""Every figure of the page to explore is one that a command prints, or a sum by hand."""

import re
from collections.abc import Sequence
from html import unescape
from math import comb, exp
from pathlib import Path

import pytest
from command_line import run, table
from flask.testing import FlaskClient
from test_explore import survey_file, words

from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.explore.allowance import Allowance
from server.explore.page import Answers
from server.store import Store

Rows = list[list[str]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    database = tmp_path_factory.mktemp("figures") / "x.db"
    Store(database, create=True).close()
    app = create_app({"DATABASE": database})
    app.extensions["explore"] = Answers(Allowance(share=1e9))
    return app.test_client()


def rows_of(page: str, title: str) -> Rows:
    """Return the cells of a table of the page, row by row, without its head."""
    name = re.escape(f'aria-label="{title}"')
    found = re.search(rf"{name}[^>]*>\s*(<table.*?</table>)", unescape(page), re.S)
    assert found is not None, title
    body = found[1].partition("<tbody")[2]
    rows = re.findall(r"<tr.*?</tr>", body, re.S)
    return [[words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in rows]


def number(cell: str) -> float:
    return float(cell.replace(",", "").removesuffix(" %"))


def check_percent(cell: str, share: float) -> None:
    """Check that a cell states a share, to three digits; near 100 % it states only that."""
    if cell == "over 99.9 %":
        assert 0.999 < share < 1
    else:
        assert number(cell) == pytest.approx(100 * share, rel=0.005)


def check_bound(cell: str, value: float) -> None:
    """Check that a cell states a bound, rounded up in its third digit or a later one."""
    if cell == "less than 100 %":
        assert 99.9 < value < 100
        return
    assert value * (1 - 1e-6) <= number(cell) <= value * 1.01 + 1e-9


def test_beliefs_at_every_epsilon_are_those_of_plan(client: FlaskClient, tmp_path: Path) -> None:
    page = client.get("/explore/meaning?meaning-epsilon=1.5").text
    rows = rows_of(page, "The same for other ε: what a belief becomes at most")
    assert [row[0] for row in rows] == ["0.1", "0.5", "1", "1.5", "2", "3", "5", "8", "10"]
    for epsilon, odds, *beliefs in rows:
        path = survey_file(tmp_path, epsilon, more="[privacy]\ncap = 20\n")
        (told, _) = table(run("plan", path, "--respondents", 100, "--table", "meaning"))
        check_bound(odds, exp(float(epsilon)))
        check_bound(odds, float(told["likelihood_ratio"]))
        for prior, cell in zip((1, 10, 50), beliefs, strict=True):
            check_bound(cell, 100 * float(told[f"belief_{prior}_seen"]))


def check_half_widths(rows: Rows, path: Path) -> None:
    """Check rows of a number of people and their half-width by `plan`, in points."""
    for people, *points in rows:
        (told,) = table(run("plan", path, "--respondents", people.replace(",", "")))
        for name, cell in zip(("", "_curator", "_direct"), points, strict=True):
            assert cell == f"{100 * float(told[f'half_width{name}']):.2f}", (people, name)


def test_half_widths_of_every_number_of_people_are_those_of_plan(
    client: FlaskClient, tmp_path: Path
) -> None:
    page = client.get("/explore/precision?precision-people=700").text
    rows = rows_of(page, "Half of the 95 % interval, in points")
    assert len(rows) == 12
    check_half_widths(rows, survey_file(tmp_path, "1"))
    asked = client.get("/explore/precision").text
    assert [row[0] for row in rows_of(asked, "Half of the 95 % interval, in points")] == [
        row[0] for row in rows if row[0] != "700"
    ]


def test_the_people_that_a_curator_and_direct_questions_need_are_the_fewest_by_plan(
    client: FlaskClient, tmp_path: Path
) -> None:
    text = words(client.get("/explore/precision").text)
    found = re.search(r"own devices, (\d+) people with a curator, (\d+) people asked", text)
    assert found is not None
    path = survey_file(tmp_path, "1")
    for name, people in zip(("curator", "direct"), map(int, found.groups()), strict=True):
        (enough,), (few,) = (
            table(run("plan", path, "--respondents", n)) for n in (people, people - 1)
        )
        assert float(enough[f"half_width_{name}"]) <= 0.05 < float(few[f"half_width_{name}"])


def test_half_widths_of_groups_are_those_of_plan(client: FlaskClient, tmp_path: Path) -> None:
    page = client.get("/explore/groups?groups-epsilon=2&groups-people=700&groups-part=30").text
    rows = rows_of(page, "Half of the 95 % interval in a group, in points")
    assert "210" in [row[0] for row in rows]
    check_half_widths(rows, survey_file(tmp_path, "2"))


def test_people_who_share_an_answer_reveal_as_much_as_as_many_reports(client: FlaskClient) -> None:
    page = client.get("/explore/groups?groups-epsilon=0.7").text
    rows = rows_of(page, "People who share one answer")
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    for people, epsilon, belief in rows:
        together = 0.7 * int(people)
        check_bound(epsilon, together)
        check_percent(belief, exp(together) / (1 + exp(together)))


def test_five_totals_are_those_that_plan_prints(client: FlaskClient, tmp_path: Path) -> None:
    path = survey_file(tmp_path, "0.5", more="[privacy]\ncap = 12\n")
    printed = table(run("plan", path, "--respondents", 100, "--waves", 20, "--table", "totals"))
    told = next(row for row in printed if row["waves"] == "20")
    page = client.get("/explore/totals?totals-epsilon=0.5&totals-reports=20").text
    names = ("sum", "advanced", "convolution", "renyi", "zcdp")
    rows = rows_of(page, "The total ε of 20 reports, by five rules")
    for name, row in zip(names, rows, strict=True):
        check_bound(row[1], float(told[name]))


def collected(folder: Path, epsilons: Sequence[str], cap: int) -> Path:
    """Return a database in which one respondent was asked with each ε in turn, below a cap."""
    database = folder / "collected.db"
    store = Store(database, create=True)
    client = create_app({"DATABASE": database}).test_client()
    for wave, epsilon in enumerate(epsilons, 1):
        survey = read_survey(survey_file(folder, epsilon, more=f"[privacy]\ncap = {cap}\n"))
        store.surveys.publish(survey)
        store.surveys.open_wave(survey.id, wave)
        (sent,) = payloads(survey, [{"q0": "yes"}], wave, seed=1)
        client.post(f"/api/surveys/{survey.id}/reports", json=sent)
    store.close()
    return database


def ledger(database: Path, delta: float) -> dict[str, str]:
    (row,) = table(run("ledger", "explored", "--db", database, "--delta", delta))
    return row


def test_totals_with_a_delta_are_those_of_the_ledger(client: FlaskClient, tmp_path: Path) -> None:
    database = collected(tmp_path, ["0.5"] * 20, 20)
    page = client.get("/explore/delta?delta-epsilon=0.5&delta-reports=20").text
    rows = rows_of(page, "Totals of 20 reports of ε = 0.5")
    p = exp(0.5) / (1 + exp(0.5))
    for one_in, total, people in rows:
        row = ledger(database, 1 / number(one_in))
        check_bound(total, float(row["epsilon"]))
        # The total is exceeded by 20 reports if agreeing less contradicting ones, times 0.5, exceed
        # it.
        above = [k for k in range(21) if 0.5 * (2 * k - 20) > float(row["epsilon"]) + 1e-4]
        chance = sum(comb(20, k) * p**k * (1 - p) ** (20 - k) for k in above)
        expected = "none" if chance == 0 else f"{1e6 * chance:,.0f}"
        assert people == ("less than one" if 0 < 1e6 * chance < 1 else expected)
    assert len(rows) == 7


def test_the_page_spends_what_the_ledger_charges(client: FlaskClient, tmp_path: Path) -> None:
    asked = ["1", "0.5", "2", "0.25", "0.25", "1"]
    row = ledger(collected(tmp_path, asked, 3), 1e-6)
    page = client.get(f"/explore/budget?budget-cap=3&budget-queries={'+'.join(asked)}").text
    rows = rows_of(page, "What each query cost")
    assert [cells[2] for cells in rows] == ["yes", "yes", "refused", "yes", "yes", "yes"]
    assert [cells[3] for cells in rows] == ["1", "1.5", "1.5", "1.75", "2", "3"]
    assert [cells[4] for cells in rows] == ["2", "1.5", "1.5", "1.25", "1", "0"]
    check_bound(rows[-1][5], float(row["epsilon"]))
    assert number(rows[-1][3]) == pytest.approx(float(row["epsilon_sum"]), abs=1e-6)
    check_percent("95.3 %", exp(3) / (1 + exp(3)))
    assert "can move a belief of 50 % to 95.3 % at most" in words(page)


def test_every_row_of_one_draw_is_that_of_plan(client: FlaskClient, tmp_path: Path) -> None:
    more = '[[together]]\nid = "draw"\nquestions = ["q0", "q1", "q2"]\nepsilon = 6\n'
    path = survey_file(tmp_path, *[""] * 3, more=f"{more}epsilon_each = 3\n")
    told = table(run("plan", path, "--respondents", 100, "--table", "together"))
    told = [row for row in told if float(row["epsilon"]) == 6]
    page = client.get("/explore/draws?draws-questions=3&draws-total=6&draws-each=3").text
    rows = rows_of(page, "People for ± 5 points, by the limit of one answer")
    names = ("epsilon_each", "share", "pair", "share_saving", "pair_saving")
    for cells, row in zip(rows, told, strict=True):
        for name, cell in zip(names, cells, strict=True):
            assert number(cell) == pytest.approx(float(row[name]), rel=0.005), (cells, name)
    # The first row is that of separate draws.
    (first,) = [row for row in told if float(row["epsilon_each"]) == 2]
    assert f"has ε = 2. Then it takes {int(first['share']):,} people" in words(page)


def test_every_deployment_spends_what_plan_lists(client: FlaskClient, tmp_path: Path) -> None:
    path = survey_file(tmp_path, "1")
    told = table(run("plan", path, "--respondents", 100, "--table", "deployments"))
    (own,) = [row for row in told if row["organization"] == "this survey"]
    assert float(own["epsilon"]) == pytest.approx(1, abs=1e-6)
    page = client.get("/explore/deployments").text
    rows = {
        cells[0]: cells[1:] for cells in rows_of(page, "Deployments, with unit, model and source")
    }
    assert len(rows) == len(told) - 1
    for row in told:
        if row is own:
            continue
        spent, unit, model, source = rows[f"{row['name']} ({row['organization']}, {row['year']})"]
        assert (unit, model, source) == (row["unit"], row["model"], row["source"])
        first, *second = (float(one.partition(" = ")[2]) for one in spent.split(", "))
        assert first == pytest.approx(float(row["epsilon"] or row["rho"]), rel=1e-9)
        assert second == ([float(row["delta"])] if float(row["delta"] or 0) else [])
    nearest = {row["nearest"]: row["name"] for row in told if row["nearest"]}
    assert f"spend more, {nearest['next above']} (" in words(page)
    assert ("none spends as much or less" in words(page)) == ("next below" not in nearest)
