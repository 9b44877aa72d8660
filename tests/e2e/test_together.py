"""For questions drawn together, the browser draws as the reference does, and checks both limits."""

import csv
import json
import re
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from collector import Collector
from device import (
    Device,
    answer,
    expect_state,
    fill_in,
    press,
    review,
)
from javascript import Run, beside_modules, taken, vector
from playwright.sync_api import Browser, expect
from scipy.stats import chi2
from stage import open_details

from analysis.study.crosstab import crosstab
from analysis.study.hypotheses import independence
from analysis.study.regression import regress
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey
from server.cli import main
from server.store import Store
from server.stored_results import StoredWave

OPTIONS = [{"id": name, "text": name} for name in ("a", "b")]
ASKED = {"id": "q", "kind": "choice", "epsilon": 1, "no_answer": True, "options": OPTIONS}
WINDOW = {"name": "window", "inputs": 3, "width": 1, "near": 271, "far": 100}
FREE = {"encoder": {"name": "index", "inputs": 3}, "channel": WINDOW, "ratio": ["271", "100"]}
PAIR = {
    "encoders": [{"name": "index", "inputs": 3}] * 2,
    "channel": {"name": "pattern", "inputs": [3, 3], "sizes": [1, 1], "weights": [6, 4, 2]},
    "ratio": ["12", "1"],
    "each": ["6", "1"],
}
TABLE = {"id": "t", "questions": ["p", "q"], "epsilon": 2.5, "epsilon_each": 1.8}
IN_TABLE = ASKED | {"epsilon": 1.8}
#: All questions of a draw are asked.
_ALL = "[joint.encoders.map((_, place) => place)]"


def test_answers_are_drawn_together_as_by_the_reference(run: Run) -> None:
    cases = vector("together")["cases"]
    body = f"return v.map(({{joint}}) => m.verifyTogether(joint, {_ALL}));"
    for case, epsilons in zip(cases, run("optional/together.js", body, cases), strict=True):
        assert epsilons == pytest.approx(case["epsilons"], abs=1e-12)
    body = """return v.flatMap(({joint, draws}) => draws.map((one) => {
      const words = tape(one.words);
      return [m.randomizeTogether(one.values, joint, words), words.left]; }));"""
    reports = [draw["reports"] for case in cases for draw in case["draws"]]
    assert taken(run("optional/together.js", body, cases)) == reports


def test_wide_draws_are_those_of_the_reference(run: Run) -> None:
    cases = vector("together")["below"]
    body = """return v.map((one) => { const words = tape(one.words);
      return [m.below(one.total, words), words.left]; });"""
    assert taken(run("exact.js", body, cases)) == [case["result"] for case in cases]


def test_unsound_joint_randomizers_are_refused(run: Run) -> None:
    refused = vector("together")["refused"]
    body = (
        "return v.map(({joint, samples}) => "
        f"refuses(() => m.verifyTogether(joint, samples ?? {_ALL})));"
    )
    results = run("optional/together.js", body, refused)
    assert [got for got in results if not got.startswith("RangeError: ")] == []


@pytest.mark.parametrize(
    ("table", "question", "more"),
    [
        ({"epsilon": 2.48}, {}, {}),  # ln 12 = 2.485
        ({"epsilon_each": 1.79}, {"epsilon": 1.79}, {}),  # ln 6 = 1.792
        ({}, {"epsilon": 1.5}, {}),
        ({}, {"epsilon_forever": 3}, {}),
        ({}, {"memory": 2}, {}),
        ({}, {"stable": True}, {}),
        ({}, {"options": OPTIONS[:1]}, {}),
        ({}, {"kind": "number", "min": 0, "max": 2}, {}),
        ({"questions": ["p", "p"]}, {}, {}),
        ({"questions": ["p", "r"]}, {}, {}),
        ({"questions": ["p"]}, {}, {}),
        ({"id": "p"}, {}, {}),
        ({"id": "T"}, {}, {}),
        ({"epsilon": "9999"}, {}, {}),
        ({}, {}, {"q": FREE}),
        ({}, {}, {"t": PAIR | {"ratio": ["11", "1"]}}),
        ({}, {}, {"t": PAIR | {"each": ["5", "1"]}}),
        ({}, {}, {"t": FREE}),
    ],
)
def test_table_that_reveals_more_than_it_states_is_refused(
    run: Run, table: dict[str, Any], question: dict[str, Any], more: dict[str, Any]
) -> None:
    body = """try { m.check(v, v.randomizers);
        return (await m.priceOf(v, v.randomizers))({}).cost; }
      catch (error) { return error instanceof RangeError ? 'refused' : `${error}`; }"""

    def given(table: dict[str, Any], question: dict[str, Any], more: dict[str, Any]) -> Any:
        asked = [IN_TABLE | {"id": "p"}, IN_TABLE | question]
        tables = [TABLE | table]
        return {
            "id": "s",
            "questions": asked,
            "together": tables,
            "randomizers": {tables[0]["id"]: PAIR} | more,
        }

    assert run("report.js", body, given({}, {}, {})) == 2484907  # ln 12, in millionths, rounded up
    assert run("report.js", body, given(table, question, more)) == "refused"


SURVEY = """
title = "Work"
id = "work-life"
[[together]]
id = "work"
questions = ["harassed", "told", "team"]
epsilon = 3.0
epsilon_each = 1.5
[[questions]]
id = "harassed"
kind = "yes-no"
text = "Were you harassed at work in the last year?"
[[questions]]
id = "told"
kind = "yes-no"
text = "Did you tell anybody?"
shows_if = "harassed = 'yes'"
[[questions]]
id = "team"
kind = "choice"
text = "Where do you work?"
required = true
options = [{id = "a", text = "Sales"}, {id = "b", text = "Lab"}, {id = "c", text = "Office"}]
[[questions]]
id = "years"
kind = "number"
text = "How many years?"
min = 0
max = 40
step = 1
epsilon = 1
"""
#: The same with a question of several options, each of which is a part of the draw.
WITH_OPTIONS = SURVEY.replace('"told", "team"]', '"ways", "team"]').replace(
    """id = "told"
kind = "yes-no"
text = "Did you tell anybody?"
""",
    """id = "ways"
kind = "choices"
text = "In which ways?"
at_most = 2
options = [{id = "words", text = "By words"}, {id = "hands", text = "By hands"}]
""",
)
#: Draws in the browser for each row of answers, by the stated law and by another one.
DRAWS, OTHERWISE = 8_000, 800
#: The probability that a sound draw fails the test of one row.
CHANCE = 1e-6
_DRAW = """async ({ open, rows, count }) => {
  const { draw, prepare } = await import('/client/report.js');
  const { keyOf } = await import('/client/hashes.js');
  const { hex, words } = await import('/client/random.js');
  const key = await keyOf(hex(32));
  const source = words();
  return Promise.all(rows.map(async (answers) => {
    const times = {};
    for (let done = 0; done < count; done += 1) {
      const prepared = await prepare(open, answers, key, source);
      const { reports } = draw(open, prepared, {}, source).content;
      const code = JSON.stringify(open.survey.together[0].questions.map((id) => reports[id]));
      times[code] = (times[code] ?? 0) + 1;
    }
    return times;
  }));
}"""


def test_answers_of_a_table_go_into_one_draw_and_cost_its_limit(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY)
    page = device.visit(collector.page(survey))
    told = page.locator(".same:has([data-about=harassed])").text_content() or ""
    assert "This answer is swapped together with others, 3 in all." in told
    assert "at most 4.49 times as likely under one answer as under another" in told
    assert "For all 3 together, it is at most 20.1 times as likely" in told
    answers = {"harassed": "yes", "told": "no", "team": "c", "years": "7"}
    answer(page, answers)
    (body,) = device.posted()
    reports = json.loads(body)["reports"]
    assert sorted(reports) == ["harassed", "team", "told", "years"]
    assert all(len(reports[name]) == 1 for name in ("harassed", "told", "team"))
    receipt = page.locator("#receipt")
    expect(receipt).to_contain_text(
        "3 answers are swapped together. From what is sent of them, somebody who knows all but one"
    )
    expect(receipt).to_contain_text("learns at most ε = 1.5 about that one.")
    assert collector.ledger(survey)[0]["epsilon"] == "4"
    page.goto(f"{collector.url}/me")
    expect(page.locator("#spent")).to_contain_text("4")
    expect(page.locator("#spent")).to_contain_text("the others can learn about one of them.")


def test_options_of_a_question_go_into_the_draw(device: Device, collector: Collector) -> None:
    survey = collector.publish(WITH_OPTIONS)
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    fill_in(page, {"harassed": "yes", "ways": "words|hands", "team": "c", "years": "7"})
    open_details(page)
    trial = page.locator(".trial:has([data-trial=ways])")
    trial.locator("[data-draw]").click()
    expect(trial.locator(".draws li").first).to_be_visible()
    review(page)
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    # Two options, "none" and no answer are four bits, which are two characters.
    assert len(json.loads(body)["reports"]["ways"]) == 2
    expect(page.locator("#receipt")).to_contain_text("3 answers are swapped together")
    wave = StoredWave(Store(collector.database), survey)
    (words, hands), _ = wave.columns(["ways.words", "ways.hands"])
    assert (words.values, words.n, hands.n) == (("yes", "not-ticked"), 1, 1)


def _rows(second: str, yes: str) -> list[dict[str, str]]:
    """Return rows of answers; `second` is the question that is asked only after a yes."""
    return [
        {"harassed": harassed, second: given, "team": team, "years": ""}
        for harassed, given, team in (("yes", yes, "c"), ("no", "", "a"), ("", "", "b"))
    ]


def _law(survey: Survey, row: dict[str, str]) -> dict[str, float]:
    """Return the probability of each row of reports, as it is sent, by the stated randomizer."""
    ((draw,), found) = survey.joint, dict[str, float]()
    joint = draw.randomizer
    values = [question.value(row[question.id]) for question in draw.questions]
    inputs = [s for e, v in zip(joint.encoders, values, strict=True) for s in e.states_of(v)]
    for sets, chance in joint.laws[0].distribution(inputs):
        reports = [
            law.channel.joined([list(one) for one in sets[parts.start : parts.stop]])
            for law, parts in zip(joint.marginals, joint.parts, strict=True)
        ]
        found[json.dumps(reports, separators=(",", ":"))] = float(chance)
    return found


def _p_value(survey: Survey, row: dict[str, str], seen: dict[str, int]) -> float:
    """Return the probability that this many draws are at least this far from the stated law."""
    law, draws = _law(survey, row), sum(seen.values())
    assert set(seen) <= set(law)
    statistic = sum((seen.get(r, 0) - draws * c) ** 2 / (draws * c) for r, c in law.items())
    return float(chi2.sf(statistic, len(law) - 1))


#: Made-up respondents, and how many of them answer the page in a browser of their own.
PEOPLE, ON_THE_PAGE = 20_000, 12
#: Teams of people who were harassed and of others, and the part of the former who told somebody.
TEAMS, TOLD = {"yes": (0.4, 0.5, 0.1), "no": (0.1, 0.5, 0.4)}, 0.4
SHARES = {"yes": 0.3, "no": 0.7}


def _person(rng: np.random.Generator) -> dict[str, str]:
    harassed = "yes" if rng.random() < SHARES["yes"] else "no"
    told = ("yes" if rng.random() < TOLD else "no") if harassed == "yes" else ""
    team = "abc"[rng.choice(3, p=TEAMS[harassed])]
    return {"harassed": harassed, "told": told, "team": team, "years": str(rng.integers(41))}


@pytest.mark.more
def test_tables_and_models_of_what_people_answer_cover_the_truth(
    browser: Browser, collector: Collector, tmp_path: Path
) -> None:
    rng, survey = np.random.default_rng(6), collector.publish(SURVEY)
    people = [_person(rng) for _ in range(PEOPLE)]
    for given in people[:ON_THE_PAGE]:
        device = Device(browser)
        shown = given if given["told"] else {k: v for k, v in given.items() if k != "told"}
        answer(device.visit(collector.page(survey)), shown)
        device.context.close()
    table = tmp_path / "answers.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(people[0]))
        writer.writeheader()
        writer.writerows(people[ON_THE_PAGE:])
    path = collector.database.parent / f"{survey}.toml"
    asked = ["simulate", str(path), "--answers", str(table), "--db", str(collector.database)]
    assert CliRunner().invoke(main, [*asked, "--seed", "3"]).exit_code == 0
    assert collector.stored(survey) == PEOPLE
    wave = StoredWave(Store(collector.database), survey)
    (harassed, team, told), _ = wave.columns(["harassed", "team", "told"])
    # Of some twenty intervals, all hold with a probability above .99.
    level = 1 - 1e-4
    by_team = {
        (harm, name): SHARES[harm] * part
        for harm, parts in TEAMS.items()
        for name, part in zip("abc", parts, strict=True)
    }
    by_told = {
        ("yes", "yes"): SHARES["yes"] * TOLD,
        ("yes", "no"): SHARES["yes"] * (1 - TOLD),
        ("no", "no-answer"): SHARES["no"],
    }
    for other, truth in ((team, by_team), (told, by_told)):
        found = crosstab(harassed, other, level)
        for cell, interval in zip(
            product(harassed.values, other.values), chain(*found.intervals), strict=True
        ):
            assert interval.low <= truth.get(cell, 0.0) <= interval.high, cell
            assert interval.high - interval.low < 0.2
        assert independence(harassed, other).p_value < 1e-6
    model = regress(
        "harassed ~ team", {"harassed": harassed, "team": team}, {}, confidence_level=level
    )
    odds = np.log(np.array(TEAMS["yes"]) * SHARES["yes"] / (np.array(TEAMS["no"]) * SHARES["no"]))
    for term, true in zip(model.terms, [odds[0], *(odds[1:] - odds[0])], strict=False):
        assert term.conf_low is not None
        assert term.conf_high is not None
        assert term.conf_low <= true <= term.conf_high, term


@pytest.mark.parametrize(
    ("text", "rows"),
    [(SURVEY, _rows("told", "no")), (WITH_OPTIONS, _rows("ways", "words|hands"))],
    ids=["answers", "options"],
)
def test_shipped_draw_has_the_law_of_both_limits_and_another_one_is_caught(
    device: Device, collector: Collector, text: str, rows: list[dict[str, str]]
) -> None:
    frozen = collector.frozen(collector.publish(text))
    survey = thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])
    page = beside_modules(device, collector)
    given = {"open": frozen, "rows": rows, "count": DRAWS}
    for row, times in zip(rows, page.evaluate(_DRAW, given), strict=True):
        assert _p_value(survey, row, times) > CHANCE
    # Most of the weight of the reports that agree with all answers is moved. The browser refuses
    # this, and reports that are drawn in this way nevertheless are distinguished from the stated
    # law.
    wrong = json.loads(json.dumps(frozen))
    weights = wrong["randomizers"]["work"]["channel"]["weights"]
    moved = weights[0] // 10 * 9
    weights[0], weights[-1] = weights[0] - moved, weights[-1] + moved
    body = """async (open) => { const { check } = await import('/client/report.js');
      try { check(open.survey, open.randomizers); return 'accepted'; }
      catch (error) { return error.message; } }"""
    assert page.evaluate(body, frozen) == "accepted"
    assert re.match("(ratio|each) must be", page.evaluate(body, wrong))
    drawn = page.evaluate(_DRAW, {**given, "open": wrong, "count": OTHERWISE})
    assert min(_p_value(survey, *one) for one in zip(rows, drawn, strict=True)) < CHANCE
