"""The page that plans a study: fast answers at once, exact numbers when they are ready."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from limits import wait_until
from test_access import HTTPS
from test_editing import ROOT

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.console.precision import told as in_words
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]
ADDRESS = "/surveys/work-2026/plan"
# Exact numbers for questions about numbers take minutes on a busy machine.
TWO = """
title = "Two"
id = "two"

[privacy]
cap = 2

[[questions]]
id = "late"
kind = "yes-no"
text = "Have you come late?"
epsilon = 1

[[questions]]
id = "ill"
kind = "yes-no"
text = "Did you say that you were ill?"
epsilon = 1
"""


@pytest.fixture
def published(store: Store) -> None:
    store.surveys.publish(read_survey(ROOT / "examples" / "working-conditions.toml"))


def test_questions_are_answered_in_a_researchers_words(
    signed_in: Browsers, published: None
) -> None:
    page = signed_in("bob").get(f"{ADDRESS}?respondents=1000", **HTTPS).text
    assert "How precise are the answers of 1,000 people?" in page
    # `deniable plan` prints 8.98, 10.1, 7.11 points, and 444 EUR.
    for width in ("± 9 points", "± 10 points", "± 7 points", "EUR"):
        assert width in page
    assert "between “Laboratory” and “Office”, as randomized answers show" in page
    chosen = "outcome=harassed&groups=told&one=superior&other=council"
    page = signed_in("bob").get(f"{ADDRESS}?{chosen}", **HTTPS).text
    assert "between “A superior” and “The works council”, as randomized answers show" in page
    (between,) = re.findall(r"answers show</dt><dd><strong>([0-9,]+)</strong>", page)
    (halves,) = re.findall(r"two links</dt><dd><strong>([0-9,]+)</strong>", page)
    assert int(between.replace(",", "")) > 3 * int(halves.replace(",", ""))


def test_an_even_division_spends_the_same_and_is_equally_precise(
    signed_in: Browsers, published: None
) -> None:
    page = signed_in("bob").get(f"{ADDRESS}?respondents=2000", **HTTPS).text
    table = page.partition('aria-label="ε"')[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in table.split("<tr")[2:]]
    assert sum(float(row[4]) for row in rows) == pytest.approx(5, abs=0.1)
    widths = {row[5] for row in rows if "points" in row[5]}
    assert len(widths) == 1


def test_exact_numbers_come_by_themselves(
    signed_in: Browsers, store: Store, read: Callable[[str], Survey]
) -> None:
    store.surveys.publish(read(TWO))
    browser = signed_in("bob")
    address = "/surveys/two/plan"
    asked = f"{address}?respondents=300&exact=1"
    assert "The exact numbers are being computed" in browser.get(asked, **HTTPS).text
    wait_until(lambda: "being computed" not in browser.get(asked, **HTTPS).text)
    page = browser.get(f"{address}?respondents=300", **HTTPS).text
    assert "Who else spends how much" in page
    assert "How to divide the cap over the questions" in page
    assert "Compute them" in browser.get(f"{address}?respondents=301", **HTTPS).text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("respondents=0", "Respondents: expected a whole number from 1 to 100,000, got '0'"),
        (
            "width=much",
            "Wanted half-width, points: expected a number such as 5 or 2.5, from 0.1 to 50, got",
        ),
        ("difference=101", "Difference to see, points: expected a number"),
        ("waves=nan", "Waves: expected a whole number"),
    ],
)
def test_an_impossible_wish_is_reported(
    signed_in: Browsers, published: None, query: str, told: str
) -> None:
    answer = signed_in("bob").get(f"{ADDRESS}?{query}", **HTTPS)
    assert (answer.status_code, told in unescape(answer.text)) == (404, True)


def test_groups_are_by_a_question_that_everybody_answers_or_by_none(
    signed_in: Browsers, store: Store, tmp_path: Path
) -> None:
    text = (ROOT / "examples" / "working-conditions.toml").read_text()
    for required, chosen in (("", "team"), ("required = false\n", "")):
        path = tmp_path / "w.toml"
        path.write_text(text.replace("required = true\n", required) if required else text)
        store.surveys.publish(read_survey(path))
        page = signed_in("bob").get(ADDRESS, **HTTPS).text
        groups = page.partition('id="groups"')[2].partition("</select>")[0]
        assert re.findall(r'value="(\w+)" selected', groups) == [chosen] * bool(chosen)


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (0.0046, "less than ± 1 point"),
        (0.0097, "± 1 point"),
        (0.064, "± 6 points"),
        (3.0, "± 100 points"),
        (None, "–"),
    ],
)
def test_a_small_half_width_is_not_shown_as_zero(width: float | None, words: str) -> None:
    survey = read_survey(ROOT / "examples" / "working-conditions.toml")
    assert in_words(survey, survey.questions[0], width) == words
