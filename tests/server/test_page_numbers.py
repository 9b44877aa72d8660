"""Every number on every page is one that a command prints."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from answered_study import DRINKS, answered, ask, at_once, signed_in, studied, told
from flask.testing import FlaskClient
from test_access import HTTPS

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.store import Store

__all__ = ["at_once"]
NUMBER = re.compile(r"[−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]\d+)?")


@pytest.fixture
def survey(survey_file: Path) -> Survey:
    survey_file.write_text(survey_file.read_text() + DRINKS)
    return read_survey(survey_file)


@pytest.fixture
def store(database: Path, survey: Survey) -> Store:
    return studied(database, survey)


@pytest.fixture
def browser(store: Store, database: Path, at_once: None) -> FlaskClient:
    """Return a browser of an analyst, whose work is done at once."""
    return signed_in(database, "bob")


def numbers(html: str) -> Iterator[str]:
    """Return all numbers in the tables and pictures of a page."""
    html = re.sub(r"<code.*?</code>", "", html, flags=re.S)
    cells = re.findall(r'<td class="number"[^>]*>(.*?)</td>', html, flags=re.S)
    drawn = re.findall(r"<desc>(.*?)</desc>", html, flags=re.S)
    drawn += re.findall(r'<text [^>]*text-anchor="end"[^>]*>([^<]*)</text>', html)
    for text in [*cells, *drawn]:
        for number in NUMBER.findall(unescape(text)):
            yield number.replace("−", "-")


def as_shown(value: float) -> set[str]:
    """Return a command's number in each form in which a page may show it."""
    forms = (f"{value:,.4g}", f"{value:,.5g}", f"{value:.4g}", f"{value:.3g}", f"{value:.2g}")
    return {f"{100 * value:.1f}", f"{value:,.0f}", f"{100 * value:.0f}", *forms}


def all_shown(rows: Any) -> set[str]:
    """Return all numbers of a command's rows as pages may show them, and the marks of axes."""
    shown = {"0", "25", "50", "75", "100", "95"}
    for row in rows:
        # A smaller p-value is shown as "< .001".
        shown |= {"001"} if (row.get("p_value") or 1) < 0.001 else set()
        for value in row.values():
            if isinstance(value, int | float) and not isinstance(value, bool):
                shown |= as_shown(value) | as_shown(-value)
    return shown


def check_numbers(html: str, rows: list[dict[str, Any]], *more: set[str]) -> None:
    """Check that a page has numbers, and that each of them is one of a command."""
    found = set(numbers(re.sub(r"(\d)-(\d)", r"\1 \2", html)))
    assert len(found) > 5
    known = all_shown(rows).union(*more)
    # A label may contain a number, and a minus may be the dash of an interval.
    assert {one for one in found if one not in known and one.lstrip("-") not in known} == set()


def test_every_number_of_results_is_one_of_the_command(
    browser: FlaskClient, store: Store, database: Path, survey: Survey
) -> None:
    answered(store, survey, 2, 500)
    for level, interval in ((0.95, "clopper-pearson"), (0.8, "wilson")):
        query = f"wave=2&level={level}&interval={interval}"
        html = browser.get(f"/results/canteen?{query}", **HTTPS).text
        options = ("--level", level, "--interval", interval, "--batch", "--db", database)
        rows = told("estimate", "canteen", "--wave", "all", "--fakes", 5, *options)
        assert {row["wave"] for row in rows} == {1, 2}
        direct = [
            {"low": max(middle - reach, 0), "high": min(middle + reach, most)}
            for row in rows
            if row["n_eff"] and not row["term"].endswith(":change")
            for most in [20 if row["term"] == "mean" else 1]
            for middle in [min(max(row["estimate"], 0), most)]
            for reach in [_reach(level) * row["std_error"] * (row["n_eff"] / row["n"]) ** 0.5]
        ]
        check_numbers(html, [*rows, *direct], {"5", "6"})
        assert "Change" in html


def _reach(level: float) -> float:
    return {0.95: 1.959964, 0.8: 1.281552}[level]


def test_every_number_of_a_table_is_one_of_the_command(
    browser: FlaskClient, database: Path
) -> None:
    pair = ("meat", "dish")
    html = browser.get(ask(browser, first=pair[0], second=pair[1]), **HTTPS).text
    rows = told("crosstab", "canteen", *pair, "--batch", "--db", database)
    test = told("crosstab", "canteen", *pair, "--tests", "--batch", "--db", database)
    check_numbers(html, rows)
    assert test[0]["p_value"] < 0.001
    assert "p &lt; .001" in html
    assert f"χ² = {test[0]['statistic']:.4g}" in html


def test_a_number_has_means_in_groups(browser: FlaskClient, database: Path) -> None:
    html = browser.get(ask(browser, first="meat", second="price"), **HTTPS).text
    rows = told("crosstab", "canteen", "meat", "price", "--batch", "--db", database)
    assert "Means in groups" in html
    check_numbers(html, rows)


@pytest.mark.more
def test_every_number_of_a_model_is_one_of_the_command(
    browser: FlaskClient, store: Store, survey: Survey, database: Path
) -> None:
    answered(store, survey, 2, 2500)
    address = ask(browser, outcome="meat", effects="yes", **{"with": ["drinks.tea", "old"]})
    html = browser.get(address, **HTTPS).text
    command = ("regress", "canteen", "meat ~ drinks_tea + old", "--effects")
    model = told(*command, "--batch", "--db", database)
    rows = [*model["terms"], *model["predicted"], *model["effects"], {"n": model["n"]}]
    check_numbers(html, rows, {"40"}, *map(as_shown, (1, 2, 4, 5, 8, 0.5, 2.5, 10)))
    assert "What do you drink? – Tea: ticked" in html
    # Only the choices are run: no text of a request becomes a part of the formula.
    assert "deniable regress canteen &#34;meat ~ drinks_tea + old&#34;" in unescape_quotes(html)
    for table, part in (("model", "terms"), ("predicted", "predicted"), ("effects", "effects")):
        download = f"/api{address}".replace("/together?", f"/{table}.json?")
        rows = [row | {"simulated": 0} for row in model[part]]
        assert browser.get(download, **HTTPS).get_json() == rows != []


@pytest.mark.more
def test_missing_limits_are_described_in_words(
    browser: FlaskClient, store: Store, survey: Survey, database: Path
) -> None:
    store.surveys.open_wave(survey.id, 2, alone=True)
    # Nobody under 40 eats meat.
    pairs = [{"meat": "yes", "old": "yes"}, {"meat": "no", "old": "no"}] * 1000
    nothing = {question.id: "" for question in survey.questions}
    people = [nothing | pair for pair in pairs]
    to_store(store, survey.id, payloads(survey, people, 2, 5), lambda _: None)
    store.surveys.close_waves(survey.id)
    address = ask(browser, outcome="meat", **{"with": ["old"]})
    html = browser.get(address, **HTTPS).text
    model = told("regress", "canteen", "meat ~ old", "--batch", "--db", database)
    (row,) = (row for row in model["terms"] if row["term"] == "old[T.yes]")
    assert "no-upper-limit" in row["flag"]
    assert row["conf_high"] is None
    assert f"from {row['conf_low']:.3g}, no upper limit" in html
    assert "None to" not in html
    check_numbers(html, [*model["terms"], *model["predicted"], {"n": model["n"]}], {"40"})


def unescape_quotes(html: str) -> str:
    return html.replace('"meat', "&#34;meat").replace('old"', "old&#34;")


def test_the_numbers_of_fieldwork_are_those_of_the_plan(
    browser: FlaskClient, store: Store, database: Path, survey_file: Path
) -> None:
    html = browser.get("/surveys/canteen", **HTTPS).text
    table = re.search(r'aria-label="Precision">(.*?)</table>', html, flags=re.S)
    assert table is not None
    cells = re.findall(r'<td class="number"[^>]*>± ([\d.]+)', table[1])
    plans = [told("plan", survey_file, "--respondents", 400 * n) for n in (1, 2, 5, 10)]
    rows = told("estimate", "canteen", "--batch", "--db", database)
    expected = []
    for row, *later in zip(*plans, strict=True):
        is_mean = row["kind"] == "number"
        widths = [
            (one["conf_high"] - one["conf_low"]) / 2
            for one in rows
            if one["question"] == row["question"]
            and (one["term"] == "mean" if is_mean else one["term"] != "no-answer")
        ]
        expected_widths = [one["half_width"] for one in (row, *later)]
        for width in (max(widths), *expected_widths, row["half_width_direct"]):
            expected.append(f"{width:.3g}" if is_mean else f"{100 * min(width, 1):.0f}")
    assert cells == expected


def test_every_number_of_privacy_is_one_of_the_commands(
    browser: FlaskClient, store: Store, database: Path
) -> None:
    html = browser.get("/surveys/canteen/privacy", **HTTPS).text
    label = told("codebook", "canteen", "--label", "--db", database)
    shown = re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+)</td>', html)
    assert [(unescape(fact), unescape(value)) for fact, value in shown] == [
        (row["fact"], row["value"]) for row in label
    ]
    section = re.search(r"What respondents have spent</h2>(.*?)</section>", html, flags=re.S)
    assert section is not None
    totals = told("ledger", "canteen", "--by", "total", "--batch", "--db", database)
    assert sum(row["respondents"] for row in totals) == 600
    (row,) = totals
    known = {"600", f"{row['epsilon']:g}", f"{row['cap']:g}"}
    wave = next(row["value"] for row in label if row["fact"] == "ε of one wave")
    text = re.sub(r"<[^>]*>", " ", section[1])
    assert set(NUMBER.findall(text)) == known | {wave}


def test_lists_show_as_many_reports_as_the_tables(
    browser: FlaskClient, store: Store, survey: Survey, database: Path
) -> None:
    answered(store, survey, 2, 120)
    store.surveys.open_wave(survey.id, 2, alone=True)
    answered(store, survey, 3, 60)
    counts = {1: "600", 2: "120"}
    for wave, n in counts.items():
        rows = told("estimate", "canteen", "--wave", wave, "--batch", "--db", database)
        assert {str(row["n"]) for row in rows} == {n}
    page = browser.get("/surveys/canteen/downloads", **HTTPS).text
    assert re.findall(r'<td class="number"[^>]*>(\d+)</td>', page) == [*counts.values()]
    page = browser.get("/surveys/canteen", **HTTPS).text
    assert re.findall(r'<strong id="wave-\d">([^<]+)</strong>', page) == [
        *("600 reports", "120 reports", "fewer than 100 reports")
    ]
