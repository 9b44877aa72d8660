"""Devices with a memory make the same permanent draw in every wave, and are charged for waves."""

import json
import math
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest
from collector import Collector, ServeClient
from device import READ_MEMO, WRITE_MEMO, Device, expect_state, fill_in, press, review
from javascript import beside_modules
from playwright.sync_api import Browser, Page, expect
from scipy.stats import chi2

from analysis.core.channels.bits import Bits
from analysis.core.channels.window import Window
from analysis.core.encoders.categories import Hash, Index, Onehot
from analysis.core.encoders.text import Bloom, Digest, Prefix
from analysis.core.epsilon import MICRO
from analysis.core.memory import Memory, pseudonym
from analysis.core.randomizer import Randomizer
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import rounded_up
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, spent_on

PANEL = """
format = 2
title = "Panel"
id = "panel"
[privacy]
cap = 60
[[questions]]
id = "bullied"
kind = "yes-no"
text = "Were you bullied?"
epsilon = 1
epsilon_forever = 2
[[questions]]
id = "born"
kind = "choice"
text = "Where were you born?"
options = [{id = "here", text = "Here"}, {id = "near", text = "Near"}, {id = "far", text = "Far"}]
epsilon = 1
epsilon_forever = 1.5
required = true
stable = true
[[questions]]
id = "tried"
kind = "choices"
text = "What did you try?"
options = [{id = "tea", text = "Tea"}, {id = "wine", text = "Wine"}, {id = "gin", text = "Gin"}]
epsilon = 1
epsilon_forever = 3
[[questions]]
id = "debts"
kind = "number"
text = "How much do you owe?"
min = 0
max = 1000
epsilon = 1
epsilon_forever = 3
[[questions]]
id = "place"
kind = "text"
text = "Where do you live?"
candidates = ["Paris", "Rome", "Bern"]
epsilon = 2
epsilon_forever = 4
[[questions]]
id = "word"
kind = "text"
text = "In one word?"
mechanism = "rappor"
candidates = ["good", "bad"]
epsilon = 2
epsilon_forever = 4
[[questions]]
id = "mood"
kind = "yes-no"
text = "Are you well today?"
epsilon = 1
"""
SAME = {
    **{"bullied": "yes", "born": "far", "tried": "wine", "mood": "no"},
    **{"debts": "333", "place": " ROME ", "word": "good"},
}
OTHER = {**SAME, "bullied": "no", "tried": "gin", "debts": "10", "place": "Oslo"}
KEPT = [name for name in SAME if name != "mood"]
#: What the page keeps for all waves.
PREPARE = """async (answers) => {
  const [{ prepare }, { deviceKey }] = await Promise.all(
    ['report', 'memo'].map((name) => import(`/client/${name}.js`)));
  const open = JSON.parse(document.querySelector('#survey-data').textContent);
  const { words } = await import('/client/random.js');
  const all = await prepare(open, answers, await deviceKey(), words());
  return Object.fromEntries(Object.entries(all).map(([id, { kept }]) => [id, kept ?? null]));
}"""


def answer_wave(page: Page, answers: dict[str, str]) -> None:
    """Go all of a respondent's way in one wave."""
    expect_state(page, "ready")
    fill_in(page, answers)
    review(page)
    press(page)
    expect_state(page, "stored")


def frozen(collector: Collector, survey: str) -> Survey:
    """Return the survey as the server has it."""
    data = collector.frozen(survey)
    return thaw({key: data[key] for key in ("survey", "randomizers")}, data["version"])


def remembered(survey: Survey, secret: bytes, answers: dict[str, str]) -> dict[str, Any]:
    """Return what a device with this secret keeps of each answer, by the reference."""
    found: dict[str, Any] = {}
    for question in survey.questions:
        memory = Memory.of(secret, survey.id, question.id, question.digest)
        value, one = question.value(answers[question.id]), question.randomizer
        if one.stages is None:
            found[question.id] = None
            continue
        cohort = 0
        if one.encoder.cohorts is not None:
            # A report names its cohort, whatever else is drawn.
            cohort = one.randomize(value, iter([0] * 1000), memory)["cohort"]
        symbol = one.encoder.encode(value, cohort, memory.words("rounding"))
        kept = one.stages[0].remember(
            symbol, lambda x, c=cohort, m=memory: m.words("permanent", c, x)
        )
        found[question.id] = {"cohort": cohort, "symbol": kept}
    as_json: dict[str, Any] = json.loads(json.dumps(found))
    return as_json


def telling_secret(survey: Survey) -> bytes:
    """Return a secret whose permanent draws of other answers differ, which some secrets' do not."""
    secrets = (sha256(bytes([number])).digest() for number in range(256))
    return next(
        secret
        for secret in secrets
        if remembered(survey, secret, SAME) != remembered(survey, secret, OTHER)
    )


@pytest.mark.parametrize("later", [SAME, OTHER], ids=["same answers", "changed answers"])
def test_three_waves_keep_what_is_permanent_and_cost_what_is_proved(
    device: Device, collector: Collector, later: dict[str, str]
) -> None:
    name = collector.publish(PANEL)
    survey, kept = frozen(collector, name), []
    chosen = telling_secret(survey).hex()
    device.visit(f"{collector.url}/healthz").evaluate(WRITE_MEMO, ["secret", chosen])
    for wave, answers in enumerate((SAME, later, SAME), 1):
        collector.open_wave(name, wave)
        page = device.visit(collector.page(name))
        answer_wave(page, answers)
        kept.append(page.evaluate(PREPARE, answers))
        memo = page.evaluate(READ_MEMO)
        assert memo["secret"] == chosen
        secret = bytes.fromhex(chosen)
        assert kept[-1] == remembered(survey, secret, answers)
        worst, constant = spent_on([(survey, wave)]), spent_on([(survey, wave)], stable=True)
        own = memo[f"survey/{name}"]
        assert (own["spent"], own["constant"]) == (worst, constant)
        assert set(own["times"].values()) == {wave}
        for name_of, spent in (("spent", worst), ("constant", constant)):
            expect(page.locator(f'[data-filled="receipt.{name_of}"]')).to_contain_text(
                f" {rounded_up(spent / MICRO, 4)}"
            )
        (row,) = collector.ledger(name)
        assert row["respondent"] == pseudonym(secret, name)
        assert (row["epsilon"], row["epsilon_if_constant"]) == (
            f"{in_epsilon(worst).normalize():f}",
            f"{in_epsilon(constant).normalize():f}",
        )
        assert row["method"] == "memory"
        page.close()
    assert kept[0] == kept[2]
    assert (kept[0] == kept[1]) == (later == SAME)
    # A wave is charged alike whether or not an answer changed; nothing about a change is stored.
    reports = [json.loads(body)["reports"] for body in device.posted()]
    assert len(reports) == 3
    for question in ("tried", "place", "word"):
        assert len({report[question]["cohort"] for report in reports}) == 1
    assert set(own) == {"title", "spent", "constant", "cap", "waves", "times", "pending"}
    # The probability that all instant draws of three waves are equal is below 1e-6.
    assert len({json.dumps(report, sort_keys=True) for report in reports}) > 1


def test_emptied_storage_is_a_new_respondent_and_the_page_says_so(
    device: Device, collector: Collector
) -> None:
    name = collector.publish(PANEL)
    page = device.visit(collector.page(name))
    expect(page.locator("#no-memory")).to_be_hidden()
    answer_wave(page, SAME)
    collector.open_wave(name, 2)
    page.reload()
    expect_state(page, "ready")
    expect(page.locator("#no-memory")).to_be_hidden()
    page.evaluate(
        """() => new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase('deniable');
          request.onsuccess = resolve;
          request.onerror = reject;  // if a connection is still open, it waits for that to close
        })"""
    )
    page.reload()
    expect_state(page, "ready")
    expect(page.locator("#no-memory")).to_be_visible()
    expect(page.locator("#no-memory")).to_contain_text("you count as somebody new")
    answer_wave(page, SAME)
    rows = collector.ledger(name)
    assert [row["waves"] for row in rows] == ["1", "1"]
    assert len({row["respondent"] for row in rows}) == 2


def test_two_tabs_of_two_waves_share_one_memory(device: Device, collector: Collector) -> None:
    name = collector.publish(PANEL)
    first = device.visit(collector.page(name))
    expect_state(first, "ready")
    collector.open_wave(name, 2)
    second = device.visit(collector.page(name))
    expect_state(second, "ready")
    assert first.evaluate(PREPARE, SAME) == second.evaluate(PREPARE, SAME)


#: Returns how often many devices with other secrets send each report of a value in one wave.
DEVICES = """async ({ randomizer, value, devices }) => {
  const m = await import('/client/randomizer.js');
  const { keyOf, memoryOf } = await import('/client/hashes.js');
  const { hex, words } = await import('/client/random.js');
  m.verify(randomizer);
  const found = {};
  for (let device = 0; device < devices; device += 1) {
    const memory = memoryOf(await keyOf(hex(32)), 's', 'q', new Uint8Array(32));
    const kept = await m.remember(value, randomizer, memory, words());
    const report = JSON.stringify(m.randomize(value, randomizer, words(), kept));
    found[report] = (found[report] ?? 0) + 1;
  }
  return found;
}"""
SMALL: dict[str, tuple[Randomizer[Any, Any], Any]] = {
    "krr": (Randomizer.remembering(Index(3), Window(3, 1, 5, 1), Window(3, 1, 3, 1)), 1),
    "sue": (Randomizer.remembering(Onehot(3), Bits(3, 5, 1, 6), Bits(3, 3, 1, 4)), 1),
    "hash": (Randomizer.remembering(Hash(4, 2, 2), Window(2, 1, 5, 1), Window(2, 1, 3, 1)), 3),
    "digest": (Randomizer(Digest(2, 3), Window(3, 1, 3, 1)), "rome"),
    "bloom": (Randomizer(Bloom(2, 1, 3), Bits(3, 3, 1, 4)), "rome"),
    "prefix": (Randomizer(Prefix(2, (2, 9), 3), Window(3, 1, 3, 1)), "rome"),
}


@pytest.mark.parametrize("name", SMALL)
def test_one_wave_of_many_devices_has_the_law_of_the_channel(
    device: Device, collector: Collector, name: str
) -> None:
    randomizer, value = SMALL[name]
    page, n = beside_modules(device, collector), 2000
    given = {"randomizer": randomizer.to_json(), "value": value, "devices": n}
    found = page.evaluate(DEVICES, given)
    expected: dict[str, float] = {}
    cohorts = randomizer.encoder.cohorts or 1
    for cohort in range(cohorts):
        symbol = randomizer.encoder.encode(value, cohort, iter(()))
        for report, chance in randomizer.channel.distribution(symbol):
            whole = {"cohort": cohort, "report": report} if cohorts > 1 else report
            expected[json.dumps(whole, separators=(",", ":"))] = n * float(chance) / cohorts
    assert set(found) <= set(expected)
    apart = sum((found.get(key, 0) - mean) ** 2 / mean for key, mean in expected.items())
    assert chi2.sf(apart, len(expected) - 1) > 1e-6


#: Draws the reports of 400 waves of one answer, by many devices; returns each device's counts.
WAVES = """async ({ randomizer, value, devices, waves }) => {
  const m = await import('/client/randomizer.js');
  const { keyOf, memoryOf } = await import('/client/hashes.js');
  const { hex, words } = await import('/client/random.js');
  m.verify(randomizer);
  const found = [];
  for (let device = 0; device < devices; device += 1) {
    const key = await keyOf(hex(32));
    const counts = [0, 0, 0, 0];
    for (let wave = 0; wave < waves; wave += 1) {
      const memory = memoryOf(key, 's', 'q', new Uint8Array(32));
      const kept = await m.remember(value, randomizer, memory, words());
      counts[m.randomize(value, randomizer, words(), kept)] += 1;
    }
    found.push(counts);
  }
  return found;
}"""
FOUR = """
title = "Four"
id = "four"
[privacy]
cap = 900
[[questions]]
id = "q"
kind = "choice"
text = "Which?"
options = [
  {id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}, {id = "d", text = "D"}]
required = true
mechanism = "krr"
epsilon = 1
epsilon_forever = 2
"""


def right_guesses(collector: Collector, browser: Browser, devices: int = 100) -> float:
    """Return the share of devices whose most frequent report of 400 waves is the answer."""
    randomizer = collector.frozen(collector.publish(FOUR))["randomizers"]["q"]
    device = Device(browser)
    page = beside_modules(device, collector)
    given = {"randomizer": randomizer, "value": 2, "devices": devices, "waves": 400}
    guesses = Counter(max(range(4), key=one.__getitem__) for one in page.evaluate(WAVES, given))
    device.context.close()
    return guesses[2] / devices


#: The best guess among four answers if reports have a ratio of at most e^2.
BEST = math.exp(2) / (math.exp(2) + 3)


@pytest.mark.more
def test_400_waves_do_not_reveal_an_answer_beyond_epsilon_forever(
    collector: Collector, browser: Browser
) -> None:
    # Five standard deviations of 100 guesses: wrong once in two million runs.
    assert right_guesses(collector, browser) < BEST + 5 * math.sqrt(BEST * (1 - BEST) / 100)


FORGETS: list[tuple[str, str, str]] = [
    # The permanent draw is made anew each time, as if it were remembered, so averages reveal it.
    ("hashes.js", "const words = (await derive(key, message, blocks)).values();",
     "const words = crypto.getRandomValues(new Uint32Array(8 * blocks)).values();"),
    # The permanent stage is left out.
    ("randomizer.js", "return { cohort, symbol: await CHANNELS[permanent.name]"
     ".remember(symbol, permanent, drawn) };", "return { cohort, symbol };"),
]  # fmt: skip


@pytest.mark.more
@pytest.mark.parametrize("change", FORGETS, ids=["forgets", "leaves out"])
def test_without_a_memory_400_waves_do_reveal_it(
    serve_client: ServeClient, browser: Browser, change: tuple[str, str, str]
) -> None:
    assert right_guesses(serve_client(change), browser, devices=25) > 0.99
