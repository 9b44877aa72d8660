"""Tables of which a device asks some questions: its key decides which ones, as stated."""

import json

import numpy as np
import pytest
from collector import Collector
from device import (
    Device,
    begin,
    expect_state,
    fill_in,
    press,
    review,
    what_was_sent,
)
from javascript import Run, beside_modules, taken, vector
from playwright.sync_api import Page, expect
from scipy.stats import chisquare
from test_forgetting import forget

from analysis.survey.freeze import thaw
from analysis.survey.survey import version_of

#: The probability that a sound draw fails the test of its samples.
CHANCE = 1e-6
YES = 'kind = "yes-no"'
AFTER = f"{YES}\nshows_if = \"q1 = 'yes'\""
THREE = (
    'kind = "choice"\noptions = ['
    + ", ".join(f'{{id = "{name}", text = "{name}"}}' for name in ("yes", "no", "unsure"))
    + "]"
)
#: Six questions, of which each person is asked three, the second only after the first. Two have 3
#: answers.
SOME = """
title = "Work"
id = "work-life"
[[together]]
id = "work"
questions = ["q1", "q2", "q3", "q4", "q5", "q6"]
epsilon = 3.0
epsilon_each = 1.5
ask = 3
""" + "".join(
    f"""[[questions]]
id = "q{number}"
text = "Did this happen to you: {number}?"
{more}
"""
    for number, more in enumerate(
        [YES, f"{YES}\nshows_if = \"q1 = 'yes'\"", YES, YES, THREE, THREE], 1
    )
)
_UNASKED = """async ({ open, count }) => {
  const { unaskedOf } = await import('/client/report.js');
  const { keyOf } = await import('/client/hashes.js');
  const { hex } = await import('/client/random.js');
  const found = [];
  for (let done = 0; done < count; done += 1) {
    found.push([...await unaskedOf(open, await keyOf(hex(32)))].join());
  }
  return found;
}"""


def test_a_device_is_asked_some_questions_the_same_after_a_reload(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SOME)
    page = device.visit(collector.page(survey))
    expect(page.locator("#promise")).to_contain_text("of 6 questions your device picks 3 by chance")
    fields = page.locator("[data-question]")

    def asked() -> list[str]:
        expect_state(page, "ready")
        ids = [f"q{number}" for number in range(1, 7)]
        shown = [name for name in ids if page.locator(f"[data-question={name}]").is_visible()]
        return [name for name in shown if name != "q2"]

    begin(page)
    first = asked()
    assert len(first) in (2, 3)
    assert fields.count() == 6
    page.reload()
    begin(page)
    assert asked() == first
    fill_in(page, dict.fromkeys(first, "yes"))
    if len(first) == 2:
        fill_in(page, {"q2": "no"})
    review(page)
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    reports = json.loads(body)["reports"]
    told = [name for name in sorted(reports) if reports[name]]
    assert told == sorted({*first, *(["q2"] if len(first) == 2 else [])})
    assert [reports[name] for name in sorted(reports) if name not in told] == [[]] * 3
    expect(page.locator("#receipt")).to_contain_text("3 answers are swapped together")
    rows, _ = what_was_sent(page)
    assert len(rows) == 3
    # The server refuses reports on questions that are not asked together.
    wrong = json.loads(body) | {"rid": "ab" * 16, "respondent": "cd" * 16}
    wrong["reports"][told[0]] = []
    answered = page.request.post(f"{collector.url}/api/surveys/{survey}/reports", data=wrong)
    assert answered.status == 400
    counted = {row["question"]: row["n"] for row in collector.estimates(survey)}
    assert counted == {name: int(name in told) for name in reports}


def test_devices_draw_all_samples_as_often(device: Device, collector: Collector) -> None:
    frozen = collector.frozen(collector.publish(SOME))
    survey = thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])
    page = beside_modules(device, collector)
    found = page.evaluate(_UNASKED, {"open": frozen, "count": 3000})
    (draw,) = survey.joint
    ids = [question.id for question in draw.questions]
    every = [",".join(n for at, n in enumerate(ids) if at not in one) for one in draw.samples]
    # Of 20 sets, those with the second question are possible only with the first.
    assert len(every) == 14
    counts = np.array([found.count(one) for one in every])
    assert counts.sum() == 3000
    assert chisquare(counts).pvalue > CHANCE


def test_some_of_many_questions_are_asked_as_by_the_reference(run: Run) -> None:
    given = vector("together")["asked"]
    body = """return v.draws.map((one) => { const words = tape(one.words);
      m.verifyTogether(v.joint, v.draws.map(({ asked }) => asked));
      return [m.randomizeTogether(one.values, v.joint, words, one.asked), words.left]; });"""
    reports = [draw["reports"] for draw in given["draws"]]
    assert taken(run("optional/together.js", body, given)) == reports
    body = """const { keyOf } = await import('/client/hashes.js');
      const { samplesOf } = await import('/client/optional/together.js');
      return Promise.all(v.map(async ({ questions, table, drawn }) => {
        const survey = { id: 's', questions, together: [table] };
        const unasked = await Promise.all(drawn.map(async ({ secret, wave }) =>
          [...await m.unaskedOf({ survey, wave }, await keyOf(secret))]));
        return { every: samplesOf(survey, table), unasked }; }));"""
    found = run("report.js", body, given["samples"])
    for case, one in zip(given["samples"], found, strict=True):
        assert one["every"] == case["every"]
        assert one["unasked"] == [drawn["unasked"] for drawn in case["drawn"]]


def test_a_survey_that_asks_otherwise_than_it_states_is_refused(
    device: Device, collector: Collector
) -> None:
    frozen = collector.frozen(collector.publish(SOME))
    page = beside_modules(device, collector)
    body = """async (open) => { const { check } = await import('/client/report.js');
      try { check(open.survey, open.randomizers); return 'accepted'; }
      catch (error) { return error instanceof RangeError ? 'refused' : `${error}`; } }"""
    assert page.evaluate(body, frozen) == "accepted"
    # Without `ask`, answers beyond the parts of the draw would be sent as they are.
    for ask in (None, 2, 4, 6, 2.5, "3", True):
        wrong = json.loads(json.dumps(frozen))
        wrong["survey"]["together"][0].pop("ask")
        if ask is not None:
            wrong["survey"]["together"][0]["ask"] = ask
        assert page.evaluate(body, wrong) == "refused", ask
        given = {key: wrong[key] for key in ("survey", "randomizers")}
        with pytest.raises(ValueError, match="together"):
            thaw(given, version_of(given))
    # Nobody can be asked one of these: it depends on more questions than are asked with it.
    chained = json.loads(json.dumps(frozen))
    for number in (3, 4):
        of_all = ["and", *(["=", f"q{one}", "yes"] for one in range(1, number))]
        chained["survey"]["questions"][number - 1]["shows_if"] = of_all
    assert page.evaluate(body, chained) == "refused"
    given = {key: chained[key] for key in ("survey", "randomizers")}
    with pytest.raises(ValueError, match="each question must be asked of somebody"):
        thaw(given, version_of(given))


def test_a_device_that_was_forgotten_meanwhile_gets_new_questions(
    device: Device, collector: Collector
) -> None:
    # Ten questions, of which five are asked: a new secret has the same ones once in 252 times.
    names = [f"q{number}" for number in range(10)]
    survey = collector.publish(
        'title = "Work"\nid = "work-life"\n[[together]]\nid = "work"\n'
        f"questions = {json.dumps(names)}\nepsilon = 3\nepsilon_each = 1\nask = 5\n"
        + "".join(
            f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "{name}?"\nrequired = true\n'
            for name in names
        )
    )

    def asked(page: Page) -> list[str]:
        return [n for n in names if page.locator(f"[data-question={n}]").is_visible()]

    for _ in range(3):
        page = device.visit(collector.page(survey))
        begin(page)
        expect_state(page, "ready")
        first = asked(page)
        fill_in(page, dict.fromkeys(first, "yes"))
        review(page)
        forget(device, collector)
        press(page)
        expect(page.locator('[data-state="stored"], [data-state="changed"]').first).to_be_visible()
        if page.locator('[data-state="changed"]').is_visible():
            break
        forget(device, collector)
        device.posted()
    expect(page.locator('[data-state="changed"]')).to_contain_text("deleted in the meantime")
    assert device.posted() == []
    second = asked(page)
    assert len(second) == 5
    assert second != first
    # Questions that both devices were asked are still filled in; the others are asked for.
    for name in set(second) - set(first):
        page.locator(f"#{name}--no").check()
    review(page)
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    reports = json.loads(body)["reports"]
    assert [name for name in names if reports[name]] == second
