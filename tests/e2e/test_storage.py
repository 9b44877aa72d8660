"""If a device has to remember, the page asks the browser to keep what it stores."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import SURVEY, Device, answer
from everything import with_page
from javascript import Run
from playwright.sync_api import Page, expect

#: Notes each time that the page asks the browser. An empty page, which comes first, has no such
#: object.
_NOTE = """globalThis.asked = 0;
const { prototype = {} } = globalThis.StorageManager ?? {};
prototype.persist = async () => { globalThis.asked += 1; return true; };"""
REMEMBERS = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)


def asked(page: Page) -> int:
    """Return how often the page has asked the browser."""
    times: int = page.evaluate("globalThis.asked")
    return times


@pytest.mark.parametrize(
    ("survey", "times"),
    [(SURVEY, 0), (REMEMBERS, 1), (with_page("kiosk", survey=SURVEY), 0)],
    ids=["no memory", "memory", "kiosk"],
)
def test_browser_is_asked_to_keep_what_a_survey_with_a_memory_stores(
    device: Device, collector: Collector, survey: str, times: int
) -> None:
    device.context.add_init_script(_NOTE)
    page = device.visit(collector.page(collector.publish(survey)))
    assert asked(page) == 0
    answer(page, {"team": "lab"})
    assert asked(page) == times


def test_browser_is_asked_to_keep_a_report_that_waits(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.add_init_script(_NOTE)
    device.context.route("**/reports", lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, {"team": "lab"}, "waiting")
    assert asked(page) >= 1


def test_respondents_are_told_how_long_some_browsers_remember(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    page = new_device().visit(collector.page(collector.publish(REMEMBERS)))
    page.locator("#promise summary").click()
    expect(page.locator("#promise")).to_contain_text("do not visit it for seven days")


@pytest.mark.parametrize(("cost", "is_drawn"), [(1_000_000, True), (1_000_001, False)])
def test_nothing_is_drawn_that_another_tab_has_made_too_dear(
    run: Run, cost: int, is_drawn: bool
) -> None:
    # The page looks when it opens. Until it sends, another tab can have spent the rest.
    body = """const survey = { id: `s${v}`, title: 's', privacy: { cap: 2 } };
    const price = () => ({ cost: 1000000, constant: 1000000, times: {} });
    const dearer = () => ({ cost: v, constant: v, times: {} });
    price.settled = dearer.settled = (memo) => memo;
    const make = (wave) => () => ({ text: JSON.stringify({ rid: `${wave}`.repeat(32) }),
      content: { rid: `${wave}`.repeat(32) } });
    const key = await m.deviceKey();
    const first = await m.keepOnce(survey, 1, key, price, make(1));
    const second = await m.keepOnce(survey, 2, key, dearer, make(2));
    const { spent, left } = await m.recall(survey, 1, price);
    return [first, second, spent, left, (await m.waitingOf(survey)).length];"""
    spent = 1_000_000 + cost * is_drawn
    assert run("memo.js", body, cost) == [True, is_drawn, spent, 2_000_000 - spent, 1 + is_drawn]


def test_nothing_is_drawn_for_a_survey_whose_record_is_no_table(run: Run) -> None:
    # Otherwise what was spent before would be forgotten.
    body = """const draws = [];
    for (const [place, record] of v.entries()) {
      const survey = { id: `no-table-${place}`, title: 's', privacy: { cap: 2 } };
      await m.transact((table) => table.put(record, `survey/${survey.id}`));
      const price = () => ({ cost: 1000000, constant: 1000000, times: {} });
      price.settled = (memo) => memo;
      const make = () => ({ text: '{}', content: { rid: '1'.repeat(32) } });
      const key = await m.deviceKey();
      draws.push(await m.keepOnce(survey, 1, key, price, make)
        .catch((error) => error.constructor.name));
    }
    return draws;"""
    records = ["garbage", 7, [1, 2], None]
    assert run("memo.js", body, records) == ["Damaged"] * len(records)
