"""Devices with a memory whose labels change make other draws, which are charged separately."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import Change, Collector
from device import READ_MEMO, Device, expect_state, fill_in, press, review
from javascript import beside_modules
from playwright.sync_api import Browser, Page

from analysis.privacy.ledger import in_epsilon
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, spent_on
from analysis.survey.survey_file import read_survey
from server.store import Store

Vectors = dict[str, list[Any]]


@pytest.fixture(scope="module")
def modules(browser: Browser, collector: Collector) -> Iterator[Page]:
    """Return a page beside the modules, which runs nothing by itself."""
    device = Device(browser)
    yield beside_modules(device, collector)
    device.context.close()


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    file = Path(__file__).parent.parent / "vectors" / "memories.json"
    found: Vectors = json.loads(file.read_text())
    return found


def test_waves_of_bits_cost_what_the_reference_says_by_both_protocols(
    modules: Page, vectors: Vectors
) -> None:
    cases = vectors["bits"]
    body = """async (cases) => {
      const { spent } = await import('/client/randomizer.js');
      return cases.map((one) => one.spent.map(([n]) =>
        [n, spent(one.randomizer, n, false, 2), spent(one.randomizer, n, false, 1)])); }"""
    assert modules.evaluate(body, cases) == [case["spent"] for case in cases]


def test_memories_belong_to_the_digests_of_the_reference(modules: Page, vectors: Vectors) -> None:
    cases = vectors["digests"]
    # Names under which a device counts; in the first protocol also the meaning.
    body = """async (cases) => {
      const { check, priceOf } = await import('/client/report.js');
      return Promise.all(cases.map(async ({ survey, randomizers }) => {
        check(survey, randomizers);
        return Object.keys((await priceOf(survey, randomizers))({}).times); })); }"""
    for case, keys in zip(cases, modules.evaluate(body, cases), strict=True):
        expected = []
        for question in case["survey"]["questions"]:
            if "epsilon_forever" in question:
                digest, meaning = case["digests"][question["id"]]
                memory = f"{question['id']}:{digest}"
                expected += [memory] if "memory" in question else [memory, f"{memory}/{meaning}"]
        assert keys == expected


@pytest.mark.parametrize("place", [0, 1, 3, 4], ids=["second", "swapped", "first", "first swapped"])
def test_draws_belong_to_the_digest_that_waves_are_counted_under(
    modules: Page, vectors: Vectors, place: int
) -> None:
    case = vectors["digests"][place]
    body = """async (v) => {
      const [{ prepare }, { keyOf, memoryOf }, { remember }] = await Promise.all(
        ['report', 'hashes', 'randomizer'].map((name) => import(`/client/${name}.js`)));
      const none = { next() { throw new Error('a draw of its own'); } };
      const key = await keyOf('01'.repeat(32)), { survey, randomizers } = v;
      const given = Object.fromEntries(survey.questions.map(({ id, options }) =>
        [id, options?.[0].id ?? '']));
      const kept = await prepare(v, given, key, none);
      const bytes = v.digests.seen[0].match(/../g).map((byte) => parseInt(byte, 16));
      const memory = memoryOf(key, survey.id, 'seen', Uint8Array.from(bytes));
      return [kept.seen.kept, await remember(0, randomizers.seen, memory, none)]; }"""
    drawn, expected = modules.evaluate(body, case)
    assert drawn == expected


def test_versions_with_other_labels_cost_what_the_reference_says(
    modules: Page, vectors: Vectors
) -> None:
    cases = vectors["prices"]
    body = """async (cases) => {
      const { priceOf } = await import('/client/report.js');
      return Promise.all(cases.map(async ({ versions, waves }) => {
        let [times, cost, constant] = [{}, 0, 0];
        const found = [];
        for (const [place] of waves) {
          const { survey, randomizers } = versions[place];
          const one = (await priceOf(survey, randomizers))(times);
          [times, cost, constant] = [one.times, cost + one.cost, constant + one.constant];
          found.push([place, cost, constant]);
        }
        return found; })); }"""
    assert modules.evaluate(body, cases) == [case["waves"] for case in cases]


BORN = """
title = "Panel"
id = "panel"
[privacy]
cap = 60
[[questions]]
id = "born"
kind = "choice"
text = "Where were you born?"
options = [{id = "one", text = "Here"}, {id = "two", text = "There"}]
required = true
epsilon = 1
epsilon_forever = 2
stable = true
"""
SWAPPED = BORN.replace('"Here"', '"..."').replace('"There"', '"Here"').replace('"..."', '"There"')


def republish(collector: Collector, name: str, text: str, wave: int) -> Survey:
    """Publish another version of a survey; return it with its wave, which is then open."""
    file = collector.database.parent / f"{name}-{wave}.toml"
    file.write_text(text.replace('id = "panel"', f'id = "{name}"'))
    store = Store(collector.database, create=True)
    store.surveys.publish(read_survey(file))
    store.close()
    collector.open_wave(name, wave)
    return frozen(collector, name)


def frozen(collector: Collector, name: str) -> Survey:
    """Return the survey as devices get it now."""
    data = collector.frozen(name)
    return thaw({key: data[key] for key in ("survey", "randomizers")}, data["version"])


def answer(page: Page, choice: str) -> dict[str, Any]:
    """Answer a wave; return what the device keeps of the survey."""
    expect_state(page, "ready")
    fill_in(page, {"born": choice})
    review(page)
    press(page)
    expect_state(page, "stored")
    kept = page.evaluate(READ_MEMO)
    (memo,) = (one for key, one in kept.items() if key.startswith("survey/"))
    page.close()
    return dict(memo)


def test_a_changed_label_starts_a_new_memory_that_is_charged_as_one(
    device: Device, collector: Collector
) -> None:
    name = collector.publish(BORN)
    first, answered = frozen(collector, name), []
    for wave, text in enumerate((BORN, SWAPPED, BORN, SWAPPED), 1):
        survey = republish(collector, name, text, wave)
        answered.append((survey, 1))
        memo = answer(device.visit(collector.page(name)), "one" if text == BORN else "two")
        assert memo["spent"] == spent_on(answered)
        (row,) = collector.ledger(name)
        assert row["epsilon"] == f"{in_epsilon(spent_on(answered)).normalize():f}"
    assert sorted(memo["times"].values()) == [2, 2]
    assert len({survey.questions[0].memo for survey, _ in answered}) == 2
    # As one fact that never changes, four waves would have cost less.
    assert memo["spent"] == 2 * spent_on([(first, 2)]) > spent_on([(first, 4)])


#: In the form of an earlier release, options are known by their ids alone.
BLIND: Change = (
    "report.js",
    "(protocolOf(question) === 1",
    "(question",
)


def test_a_device_that_does_not_see_labels_charges_too_little(
    serve_client: Any, browser: Browser, vectors: Vectors
) -> None:
    collector, device = serve_client(BLIND), Device(browser)
    page = beside_modules(device, collector)
    body = """async (versions) => {
      const { priceOf } = await import('/client/report.js');
      let times = {};
      for (const { survey, randomizers } of versions) {
        ({ times } = (await priceOf(survey, randomizers))(times));
      }
      return times; }"""
    times = page.evaluate(body, vectors["digests"][:2])
    device.context.close()
    assert [n for memory, n in times.items() if memory.startswith("born:")] == [2]
