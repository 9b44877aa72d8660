"""Forgetting works in every tab, whatever happens there, also if records are damaged."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector
from device import (
    CANARIES,
    READ_MEMO,
    SURVEY,
    WRITE_MEMO,
    Device,
    answer,
    expect_closed,
    expect_state,
    fill_in,
    press,
    review,
)
from limits import wait_until
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.more

REPORTS = "**/api/surveys/*/reports"
#: A survey that devices remember.
MEMORY = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)
#: Holds the draw after the secret was read, until the test lets it go on.
HOLD = """() => {
  const { sign } = SubtleCrypto.prototype;
  const held = new Promise((resolve) => { window.goOn = resolve; });
  SubtleCrypto.prototype.sign = async function wait(...given) {
    window.isHeld = true;
    await held;
    return sign.apply(this, given);
  };
}"""


def forget(device: Device, collector: Collector) -> None:
    """Press "Forget this device" at "My privacy", in another tab."""
    page = device.visit(f"{collector.url}/me")
    page.locator("#forget").click()
    page.locator("#forget-sure").click()
    expect_state(page, "forgotten")
    page.close()


def to_review(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    review(page)


def test_draw_of_a_secret_that_was_forgotten_meanwhile_is_not_kept(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(MEMORY)
    page = device.visit(collector.page(survey))
    to_review(page)
    page.evaluate(HOLD)
    press(page)
    wait_until(lambda: page.evaluate("window.isHeld"))
    forget(device, collector)
    page.evaluate("window.goOn()")
    expect_state(page, "changed")
    expect(page.locator('[data-state="changed"]')).to_contain_text("deleted in the meantime")
    assert device.posted() == []
    assert page.evaluate(READ_MEMO) == {}
    # The next press draws from the new secret, as the first use of a new memory.
    press(page)
    expect_state(page, "stored")
    (times,) = set(page.evaluate(READ_MEMO)[f"survey/{survey}"]["times"].values())
    assert times == 1


def test_report_that_was_forgotten_as_soon_as_it_was_drawn_is_not_sent(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    drawn = "await recall().then("
    served = serve_client(("page/survey.js", drawn, f"await memo.forget(); {drawn}"))
    page = device.visit(served.page(served.publish(SURVEY)))
    to_review(page)
    press(page)
    expect_state(page, "forgotten")
    assert device.posted() == []


def test_memories_of_a_secret_that_is_gone_are_priced_as_new_ones(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(MEMORY.replace("cap = 12", "cap = 30"))
    page = device.visit(collector.page(survey))
    answer(page, CANARIES)
    first = page.evaluate(READ_MEMO)[f"survey/{survey}"]
    page.evaluate(WRITE_MEMO, ["secret", None])
    collector.open_wave(survey, 2)
    page.reload()
    answer(page, CANARIES)
    second = page.evaluate(READ_MEMO)[f"survey/{survey}"]
    assert second["times"] == first["times"]
    assert second["spent"] == 2 * first["spent"]


def test_tab_that_sends_stops_before_its_next_request_once_the_device_was_forgotten(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, CANARIES, "waiting")
    me = device.visit(f"{collector.url}/me")
    me.locator("#forget").click()
    expect(me.locator("#sure")).to_contain_text("will not send them any more")
    expect(me.locator("#sure")).to_contain_text("cannot be called back")
    me.locator("#forget-sure").click()
    expect_state(me, "forgotten")
    tried = len(device.posted())
    device.context.unroute(REPORTS)
    expect_state(page, "forgotten")
    expect(page.locator('[data-state="forgotten"]')).to_contain_text("perhaps the server")
    assert len(device.posted()) == tried
    # Somebody who answers again is alone in the wave.
    page.reload()
    answer(page, CANARIES)
    assert collector.stored(survey) == 1
    assert len(collector.ledger(survey)) == 1


SOUND: dict[str, Any] = {
    "title": "Night life", "spent": 1_500_000, "constant": 1_500_000, "cap": 4,
    "waves": {"3": "ab" * 16}, "times": {}, "pending": [],
}  # fmt: skip
DAMAGES = {
    "a text": "garbage",
    "null members": SOUND | {"waves": None},
    "no spent": {key: value for key, value in SOUND.items() if key != "spent"},
    "spent is a text": SOUND | {"spent": "1"},
    "negative": SOUND | {"spent": -1},
    "garbage waits": SOUND | {"pending": ["{"]},
    "a number waits": SOUND | {"pending": [7]},
    "an id of other letters": SOUND | {"waves": {"3": "no" * 16}},
    "a short id": SOUND | {"waves": {"3": "ab"}},
    "a title of nothing": SOUND | {"title": {}},
    "cap is no number": SOUND | {"cap": "4"},
    "a list": [1, 2],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_record_closes_the_survey_and_is_named_at_my_privacy_which_forgets_it(
    device: Device, collector: Collector, survey: str, damage: Any
) -> None:
    me = device.visit(f"{collector.url}/me")
    expect_state(me, "nothing")
    me.evaluate(WRITE_MEMO, ["survey/sound", SOUND])
    me.evaluate(WRITE_MEMO, [f"survey/{survey}", damage])
    page = device.visit(collector.page(survey))
    expect_closed(page, "damaged")
    assert page.evaluate(READ_MEMO)[f"survey/{survey}"] == damage
    me.reload()
    expect(me.locator("#damaged")).to_contain_text(survey)
    expect(me.locator("#surveys li")).to_have_count(1)
    forget(device, collector)
    page.reload()
    expect_state(page, "ready")
    assert device.posted() == []


def test_damaged_secret_and_another_database_can_be_forgotten(
    device: Device, collector: Collector, survey: str
) -> None:
    me = device.visit(f"{collector.url}/me")
    expect_state(me, "nothing")
    for damage in (
        "WRITE(['secret', 'no hex'])",
        """new Promise((resolve) => {
          indexedDB.deleteDatabase('deniable').onsuccess = () => {
            const request = indexedDB.open('deniable', 7);
            request.onupgradeneeded = () => request.result.createObjectStore('other');
            request.onsuccess = () => resolve(request.result.close());
          };
        })""",
    ):
        me.evaluate(f"() => {damage.replace('WRITE', f'({WRITE_MEMO})')}")
        page = device.visit(collector.page(survey))
        expect_closed(page, "damaged")
        forget(device, collector)
        page.reload()
        expect_state(page, "ready")
        page.close()


def test_sound_records_are_not_called_damaged(
    device: Device, collector: Collector, survey: str, new_device: Callable[..., Device]
) -> None:
    answer(device.visit(collector.page(survey)), CANARIES)
    me = device.visit(f"{collector.url}/me")
    expect(me.locator("#surveys li")).to_have_count(1)
    expect(me.locator("#damaged")).to_be_hidden()
    assert json.dumps(me.evaluate(READ_MEMO))
