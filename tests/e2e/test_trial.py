"""People can try made-up answers, which are drawn as true ones are; nothing is sent."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from collector import Collector
from device import Device, begin
from javascript import beside_modules
from narrowing import instance
from playwright.sync_api import Browser, Page, expect
from scipy.stats import chisquare
from stage import open_details

from analysis.core.domain import Categories
from analysis.core.encoders import ENCODERS
from analysis.survey.freeze import thaw
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.survey import Survey

OPTIONS = """options = [
  {id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]"""
ITEMS = OPTIONS.replace("options", "items")
FOUR = ITEMS.replace("]", ', {id = "d", text = "D"}]')
#: A question of each kind and each encoder, and for encoders that name options, of each channel.
QUESTIONS = {
    "coin": 'kind = "yes-no"\nepsilon = 1',
    "kept": f'kind = "choice"\nmechanism = "krr"\nepsilon = 1\nepsilon_forever = 2\n{OPTIONS}',
    "set": f'kind = "choice"\nmechanism = "subset"\nepsilon = 0.1\n{OPTIONS}',
    "bits": f'kind = "choice"\nmechanism = "oue"\nepsilon = 1\nrequired = true\n{OPTIONS}',
    "hashed": f'kind = "choice"\nmechanism = "hadamard"\nepsilon = 1\n{OPTIONS}',
    "often": 'kind = "scale"\npoints = ["1", "2", "3"]\nmechanism = "exponential"\nepsilon = 1',
    "several": f'kind = "choices"\nmechanism = "multihot"\nepsilon = 1\n{OPTIONS}',
    "some-of": f'kind = "choices"\nmechanism = "privset"\nepsilon = 1\n{OPTIONS}',
    "few-of": f'kind = "choices"\nmechanism = "group"\nepsilon = 1\n{OPTIONS}',
    "first": f'kind = "rank"\nmechanism = "suborder"\nepsilon = 2\n{FOUR}',
    "one-of": f'kind = "choices"\nmechanism = "pick"\nepsilon = 1\n{OPTIONS}',
    "heat": 'kind = "number"\nmin = -40.5\nmax = 60.25\nepsilon = 1',
    "pay": 'kind = "number"\nmin = 1\nmax = 4.5\nstep = 0.1\nrequired = true\nepsilon = 1',
    "best": f'kind = "rank"\nmechanism = "permutations"\nepsilon = 1\n{ITEMS}',
    "drug": 'kind = "text"\ncandidates = ["Tea", "Gin"]\nmechanism = "hashed-krr"\nepsilon = 1',
    "wine": 'kind = "text"\ncandidates = ["Red", "White"]\nmechanism = "rappor"\nepsilon = 1',
    "word": 'kind = "text"\nlongest = 4\nrequired = true\nepsilon = 1',
}
MADE_UP = {
    "coin": ["yes", "no", ""],
    "kept": ["a", "b", "c", ""],
    "set": ["a", "b", "c", ""],
    "bits": ["a", "b", "c"],
    "hashed": ["a", "b", "c", ""],
    "often": ["1", "2", "3", ""],
    "several": ["a", "b", "c", "none", ""],
    "some-of": ["a", "b", "c", "none", ""],
    "few-of": ["a", "b", "c", "none", ""],
    "first": ["a|b|c|d", "d|c|b|a", ""],
    "one-of": ["a", "b", "c", "none", ""],
    "heat": ["-40.5", "9.5", "60.25", ""],
    "pay": ["1", "2.7", "4.5"],
    "best": ["a|b|c", "c|b|a", ""],
    "drug": ["Tea", "Gin", ""],
    "wine": ["Red", "White", ""],
    "word": ["exam"],
}
#: Questions whose reports name options; of these, bits; and questions with reports about a number.
NAMING = ["coin", "kept", "set", "bits", "often"]
SEVERAL = ["several"]
NUMBERS = ["heat", "pay"]
DRAWS = 3000
#: Draws for each share of a named option, since these are larger.
NAMED = 1000
#: The largest probability that a test fails by chance.
CHANCE = 1e-6
_TRY = """async ({ open, question, answers, count, told }) => {
  const { meaning, trial } = await import('/client/report.js');
  const { keyOf } = await import('/client/hashes.js');
  const { hex, words } = await import('/client/random.js');
  const key = () => keyOf(hex(32));
  const drawn = [];
  for (const answer of answers) {
    const reports = await trial(open, question, answer, key, words(), count);
    const tell = async (report) =>
      [report, await meaning(report, question, open.randomizers, told ?? answer)];
    drawn.push(await Promise.all(reports.map(tell)));
  }
  return JSON.stringify(drawn);  // since Playwright takes much longer for thousands of objects
}"""


@pytest.fixture(scope="module")
def frozen(collector: Collector) -> dict[str, Any]:
    """Return the survey of all these questions, as devices get it."""
    texts = [
        f'[[questions]]\nid = "{name}"\ntext = "?"\n{rest}' for name, rest in QUESTIONS.items()
    ]
    text = "\n".join(['title = "T"\nid = "t"\n[privacy]\ncap = 90', *texts])
    return collector.frozen(collector.publish(text))


@pytest.fixture(scope="module")
def survey(frozen: dict[str, Any]) -> Survey:
    """Return the same, as the reference reads it."""
    return thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])


@pytest.fixture(scope="module")
def beside(browser: Browser, collector: Collector) -> Iterator[Device]:
    """Return a device whose only page is beside the modules, and runs nothing by itself."""
    device = Device(browser)
    beside_modules(device, collector)
    yield device
    device.context.close()


@pytest.fixture
def page(beside: Device) -> Page:
    """Return that page."""
    return beside.context.pages[0]


def found(survey: Survey, name: str) -> Question:
    """Return a question by its id."""
    return next(one for one in survey.questions if one.id == name)


def tries(
    page: Page,
    frozen: dict[str, Any],
    name: str,
    count: int,
    answers: Sequence[str] = (),
    told: str | None = None,
) -> list[list[Any]]:
    """Press this often for each answer; return each report with its sentence for `told`."""
    (question,) = (one for one in frozen["survey"]["questions"] if one["id"] == name)
    given = {"question": question, "open": frozen, "count": count, "told": told}
    text = page.evaluate(_TRY, {**given, "answers": answers or MADE_UP[name]})
    drawn: list[list[Any]] = json.loads(text)
    return drawn


def test_every_kind_and_encoder_can_be_tried(frozen: dict[str, Any]) -> None:
    assert {one["kind"] for one in frozen["survey"]["questions"]} == set(KINDS)
    used = {one["encoder"]["name"] for one in frozen["randomizers"].values()}
    assert used == set(ENCODERS)


def test_made_up_answers_are_possible_answers(page: Page, frozen: dict[str, Any]) -> None:
    body = """async (questions) => {
      const { madeUp } = await import('/client/kinds.js');
      return Object.fromEntries(questions.map((one) => [one.id, madeUp(one, 'example')])); }"""
    assert page.evaluate(body, frozen["survey"]["questions"]) == MADE_UP


@pytest.mark.parametrize("name", QUESTIONS)
def test_trial_draws_reports_that_the_server_would_accept(
    page: Page, beside: Device, frozen: dict[str, Any], survey: Survey, name: str
) -> None:
    question = found(survey, name)
    for drawn in tries(page, frozen, name, 20):
        assert len(drawn) == 20
        for report, says in drawn:
            question.randomizer.check_report(report, name)
            (what,) = {*says} - {"isEnd"}
            expected = "ids" if name in NAMING + SEVERAL else "supports"
            assert what == expected or (name in NUMBERS and what in ("number", "ids"))
            if name in NAMING:
                named = says["ids"]
                ids = instance(question.domain, Categories).ids
                # Bits have one more symbol, which counts the reports.
                tallied = [symbol for _, symbol in question.randomizer.tallied(report)]
                assert named == [ids[symbol] for symbol in tallied if symbol < len(ids)]
    assert beside.posted() == []


def test_conditions_do_not_hide_trials(page: Page, frozen: dict[str, Any]) -> None:
    hidden = {"shows_if": ["=", "other", "yes"]}
    questions = [one | hidden for one in frozen["survey"]["questions"] if one["id"] == "coin"]
    certain = {"encoder": {"name": "index", "inputs": 3}}
    certain |= {"channel": {"name": "window", "inputs": 3, "width": 1, "near": 2**31, "far": 1}}
    survey = frozen["survey"] | {"questions": questions}
    given = {"open": {"survey": survey, "randomizers": {"coin": certain}}, "count": 20}
    text = page.evaluate(_TRY, {**given, "question": questions[0], "answers": ["yes"]})
    (drawn,) = json.loads(text)
    assert [says for _, says in drawn] == [{"ids": ["yes"]}] * 20


@pytest.mark.parametrize("name", NAMING)
def test_named_shares_are_those_of_the_channel(
    page: Page, frozen: dict[str, Any], survey: Survey, name: str
) -> None:
    question = found(survey, name)
    ids, randomizer = instance(question.domain, Categories).ids, question.randomizer
    comparisons = len(MADE_UP[name]) * len(ids)
    for answer, drawn in zip(MADE_UP[name], tries(page, frozen, name, NAMED), strict=True):
        symbol = randomizer.encoder.encode(question.value(answer), 0, iter(()))
        for one, chance in zip(ids, randomizer.channel.moments(symbol)[0], strict=False):
            times = sum(one in says["ids"] for _, says in drawn)
            expected = [NAMED * chance, NAMED * (1 - chance)]
            assert min(expected) > 50, "the approximation by chi-square is poor"
            p = chisquare([times, NAMED - times], expected, sum_check=False).pvalue
            assert p > CHANCE / comparisons, f"{answer}: {json.dumps(one)}: {times} of {NAMED}"


@pytest.mark.parametrize("name", sorted({*QUESTIONS} - {*NAMING, *NUMBERS, *SEVERAL}))
def test_reports_support_an_answer_more_often_if_it_was_given(
    page: Page, frozen: dict[str, Any], name: str
) -> None:
    # Of options that are treated alike, one other is enough, beside no answer.
    answers = [*dict.fromkeys([*MADE_UP[name][:2], MADE_UP[name][-1]])]
    answers += ["else"] * (name == "word")
    drawn = tries(page, frozen, name, DRAWS, answers, told=answers[0])
    mine, *theirs = (sum(says["supports"] for _, says in reports) / DRAWS for reports in drawn)
    # At ε = 1 some differ by less than a tenth; the error of a difference is about .013.
    assert all(mine > share + 0.05 for share in theirs), (mine, theirs)
    assert theirs


@pytest.mark.parametrize("name", NUMBERS)
def test_reports_of_high_numbers_are_higher(page: Page, frozen: dict[str, Any], name: str) -> None:
    (question,) = (one for one in frozen["survey"]["questions"] if one["id"] == name)
    low, high = tries(page, frozen, name, DRAWS, MADE_UP[name][:3:2])

    def mean(drawn: list[Any]) -> float:
        numbers: list[float] = [says["number"] for _, says in drawn if "number" in says]
        assert question["min"] <= min(numbers)
        assert max(numbers) <= question["max"]
        return sum(numbers) / len(numbers)

    assert mean(high) - mean(low) > (question["max"] - question["min"]) / 10


def test_only_what_somebody_could_answer_is_called_swapped(
    device: Device, collector: Collector
) -> None:
    """By chance a report can have more options than can be ticked, or "none" beside others."""
    asked = f'id = "some"\ntext = "?"\nat_most = 2\n{QUESTIONS["several"]}'
    page = device.visit(
        collector.page(collector.publish(f'title = "T"\nid = "t"\n[[questions]]\n{asked}'))
    )
    begin(page)
    open_details(page)
    said = set()
    for _ in range(20):
        page.locator("[data-draw]").click()
        said |= set(page.locator(".draws li > span:first-child").all_inner_texts())
    assert {
        "A: the same as this answer",
        "B, C: swapped by chance, not by you",
        "None of these: swapped by chance, not by you",
    } <= said
    assert {"Speaks for this answer, and for others, too", "Does not speak for this answer"} <= said
    for one in said:
        names = one.partition(":")[0].split(", ")
        if one.endswith(": swapped by chance, not by you"):
            assert len(names) <= 2
            assert len(names) == 1 or not {"None of these", "No answer"} & set(names)


def test_each_press_uses_some_of_the_cap_until_the_device_stops(
    device: Device, collector: Collector
) -> None:
    text = (
        'id = "pressed"\ntitle = "Pressed"\n[privacy]\ncap = 2.5\n'
        '[[questions]]\nid = "q"\nkind = "yes-no"\ntext = "?"\nrequired = true\nepsilon = 1\n'
    )
    page = device.visit(collector.page(collector.publish(text)))
    page.locator("#explanation").get_by_text("Privacy used, in numbers").click()
    fetched = len(device.requests)
    page.get_by_text("Try it: answer once").focus()
    for times, left in ((1, "1.5"), (2, "0.5")):
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"Times answered: {times}. ")).to_contain_text(f"Left: ε = {left}.")
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Now your device stops.")).to_be_visible()
    assert len(device.requests) == fetched
