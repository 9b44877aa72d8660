"""Check links of other people, mistyped and used links, and temporary refusals."""

import hmac
import json
from collections.abc import Callable

import pytest
from collector import Collector
from device import (
    COST,
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

from analysis.survey.survey_file import read_survey
from server.intake.invitations import ISSUER
from server.store import Store

pytestmark = pytest.mark.more

ANSWERS = {"smoked": "no", "team": "lab", "debts": "12"}
REPORTS = "**/api/surveys/*/reports"
INVITED = SURVEY.replace('id = "canteen"', 'id = "canteen"\naccess = "invited"', 1)


def links(collector: Collector, survey: str, count: int) -> list[str]:
    """Return this many new links."""
    tokens = [ISSUER.issue() for _ in range(count)]
    store = Store(collector.database)
    store.invitations.add(survey, 1, map(ISSUER.key, tokens))
    store.close()
    return [f"{collector.page(survey)}#{token}" for token in tokens]


def waits_for_a_link(device: Device, collector: Collector) -> tuple[str, list[str]]:
    """Let A answer with a link that somebody else uses first; return the survey and more links."""
    survey = collector.publish(INVITED)
    used, *others = links(collector, survey, 3)
    page = device.visit(used)
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    store = Store(collector.database)
    with store.database.writing() as connection:
        key = ISSUER.key(used.partition("#")[2])
        connection.execute("UPDATE invitation SET used = 1 WHERE token_hash = ?", [key])
    store.close()
    press(page)
    expect_state(page, "refused")
    expect(page.locator('[data-state="refused"]')).to_contain_text("wait on this device")
    page.close()
    return survey, others


def reports(device: Device) -> list[dict[str, object]]:
    """Return the requests that sent reports, without the questions about links."""
    return [body for body in map(json.loads, device.posted()) if "reports" in body]


def test_report_that_waits_takes_another_link_only_after_a_press(
    device: Device, collector: Collector
) -> None:
    survey, (link, _) = waits_for_a_link(device, collector)
    (first,) = reports(device)
    page = device.visit(link)
    expect_closed(page, "other-link")
    page.wait_for_timeout(1500)
    assert reports(device) == [first]
    assert collector.ledger(survey) == []
    page.locator("#send-with-link").click()
    expect_state(page, "stored")
    second = reports(device)[-1]
    assert second.pop("token") == link.partition("#")[2]
    first.pop("token")
    assert second == first
    (row,) = collector.ledger(survey)
    assert row["epsilon_sum"] == COST


def pseudonym(secret: str, survey: str) -> str:
    digest: str = hmac.digest(bytes.fromhex(secret), survey.encode(), "sha256").hex()
    return digest[:32]


def test_link_goes_on_with_what_an_earlier_release_kept_unless_another_answered(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(INVITED.replace("invited", "panel"))
    mine, other, late = links(collector, survey, 3)
    page = device.visit(collector.page(survey))
    expect_closed(page, "uninvited")
    secret = page.evaluate(READ_MEMO)["secret"]
    old = {"title": "Canteen", "spent": 5_000_000, "cap": 12, "waves": {"1": "a" * 32}}
    old |= {"times": {}, "pending": []}
    page.evaluate(WRITE_MEMO, [f"survey/{survey}", old])
    page.close()
    # Whoever answered this time, it was with a link that cannot be used any more.
    page = device.visit(other)
    expect_state(page, "ready")
    answer(page, ANSWERS)
    page.close()
    collector.open_wave(survey, 2)
    for link, name, spent in ((mine, pseudonym(secret, survey), "10"), (late, None, "5")):
        page = device.visit(link)
        expect_state(page, "ready")
        answer(page, ANSWERS)
        expect(page.locator("#receipt")).to_contain_text(f"ε = {spent} of at most 12")
        assert (reports(device)[-1]["respondent"] == name) == (link == mine)
        page.close()


def test_next_person_answers_with_their_own_link_which_counts_alone(
    device: Device, collector: Collector
) -> None:
    survey, (link, _) = waits_for_a_link(device, collector)
    (first,) = reports(device)
    page = device.visit(link)
    expect_state(page, "other-link")
    page.locator("#keep-waiting").click()
    answer(page, ANSWERS)
    expect(page.locator("#receipt")).to_contain_text("ε = 5 of at most 12")
    assert collector.stored(survey) == 1
    mine = [body for body in reports(device) if body["rid"] != first["rid"]]
    assert [body["token"] for body in mine] == [link.partition("#")[2]]
    # The other person never used this link.
    assert {body["token"] for body in reports(device) if body["rid"] == first["rid"]} == {
        first["token"]
    }


def test_next_person_is_not_asked_about_a_report_that_waits_for_a_connection_alone(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(INVITED)
    first, second = links(collector, survey, 2)
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(first)
    answer(page, ANSWERS, "waiting")
    page.close()
    page = device.visit(second)
    expect_state(page, "ready")
    answer(page, ANSWERS, "waiting")
    # One's own report is not counted among those of others.
    expect(page.locator("#earlier-wait")).to_contain_text("still wait on this device: 1.")
    device.context.unroute(REPORTS)
    sent_again(page)
    wait_until(lambda: len(collector.ledger(survey)) == 2)
    tokens = {str(body["rid"]): body["token"] for body in reports(device)}
    assert {*tokens.values()} == {link.partition("#")[2] for link in (first, second)}


def test_next_person_is_told_if_the_device_has_spent_all(
    device: Device, collector: Collector, new_device: Callable[..., Device]
) -> None:
    survey = collector.publish(INVITED.replace("cap = 12", "cap = 6\ndevice_cap = 6"))
    first, second = links(collector, survey, 2)
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(first)
    answer(page, ANSWERS, "waiting")
    page.close()
    page = device.visit(second)
    expect_closed(page, "spent")


def test_mistyped_link_is_reported_at_once_without_asking_the_server(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(INVITED)
    (link,) = links(collector, survey, 1)
    for wrong in (link[:-1], link[:-5] + link[-4:], link[:-9] + "~" + link[-8:], link + "A"):
        page = device.visit(wrong)
        expect_closed(page, "mistyped")
        page.close()
    assert device.posted() == []
    page = device.visit(link)
    expect_state(page, "ready")


def test_device_finds_the_mistakes_that_the_issuer_promises_to_find(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    tokens = [ISSUER.issue() for _ in range(20)]
    found = page.evaluate(
        """async (tokens) => {
          const { isWhole } = await import('/client/optional/links.js');
          const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
          const missed = tokens.filter((token) => !isWhole(token));
          for (const token of tokens) {
            for (let at = 0; at < 24; at += 1) {
              for (const digit of digits) {
                const wrong = token.slice(0, at) + digit + token.slice(at + 1);
                if (wrong !== token && isWhole(wrong)) missed.push(wrong);
              }
              const swapped = [...token];
              [swapped[at], swapped[at + 1]] = [swapped[at + 1], swapped[at]];
              const text = swapped.join('');
              if (at < 23 && text !== token && isWhole(text)) missed.push(text);
            }
          }
          return [missed, isWhole(tokens[0].slice(0, 22)), isWhole(tokens[0].slice(0, 23))];
        }""",
        tokens,
    )
    assert found == [[], True, False]


def test_used_link_is_reported_at_begin_before_any_question(
    device: Device, collector: Collector, new_device: Callable[..., Device]
) -> None:
    survey = collector.publish(INVITED)
    used, fresh = links(collector, survey, 2)
    answer(new_device().visit(used), ANSWERS)
    for link in (used, f"{collector.page(survey)}#{ISSUER.issue()}"):
        page = device.visit(link)
        expect_state(page, "ready")
        asked = len(device.posted())
        page.locator("#begin").click()
        expect_closed(page, "unusable")
        assert json.loads(device.posted()[asked]) == {
            "wave": 1,
            "token": link.partition("#")[2],
        }
        assert len(device.posted()) == asked + 1
        # For another link that is pasted into the tab, the page asks again.
        page.evaluate("link => { location.href = link; }", fresh)
        expect_state(page, "ready")
        page.close()
    assert not [one.url for one in device.requests if "#" in one.url and one.method == "POST"]


@pytest.mark.parametrize("fault", ["offline", "busy"])
def test_page_goes_on_if_nobody_says_whether_the_link_can_be_used(
    device: Device, collector: Collector, fault: str
) -> None:
    survey = collector.publish(INVITED)
    (link,) = links(collector, survey, 1)
    page = device.visit(link)
    expect_state(page, "ready")
    device.context.route(
        "**/invitations",
        lambda route: route.abort() if fault == "offline" else route.fulfill(status=503, body="{}"),
    )
    answer(page, ANSWERS)
    assert collector.stored(survey) == 1


def closed(collector: Collector, survey: str) -> None:
    store = Store(collector.database)
    store.surveys.close_waves(survey)
    store.close()


def sent_again(page: Page) -> None:
    """Pretend that the network came back: the page does not wait until its pause is over."""
    page.evaluate("dispatchEvent(new Event('online'))")


def test_report_of_a_wave_that_is_closed_for_a_moment_is_sent_once_it_is_open_again(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    closed(collector, survey)
    press(page)
    expect_state(page, "waiting")
    expect(page.locator('[data-state="waiting"]')).to_contain_text("closed at the moment")
    collector.open_wave(survey, 1)
    sent_again(page)
    expect_state(page, "stored")
    assert len(set(device.posted())) == 1
    (row,) = collector.ledger(survey)
    assert row["epsilon_sum"] == COST


def test_report_gets_the_work_that_a_new_version_asks_for_and_is_not_drawn_again(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY)
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    file = collector.database.parent / f"{survey}.toml"
    file.write_text(file.read_text().replace("[privacy]", "proof_of_work = 10\n[privacy]", 1))
    store = Store(collector.database)
    store.surveys.publish(read_survey(file))
    store.close()
    press(page)
    expect_state(page, "waiting")
    expect(page.locator('[data-state="waiting"]')).to_contain_text("load this page again")
    page.reload()
    expect_state(page, "stored")
    *_, without, with_work = map(json.loads, device.posted())
    assert with_work.pop("work") >= 0
    assert with_work == without
    assert collector.frozen(survey)["version"] != without["version"]
    (row,) = collector.ledger(survey)
    assert row["epsilon_sum"] == COST


def test_press_in_one_tab_does_not_send_what_another_person_drew_in_another(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(INVITED)
    first_link, second_link = links(collector, survey, 2)
    first, second = device.visit(first_link), device.visit(second_link)
    for page in (first, second):
        expect_state(page, "ready")
        fill_in(page, ANSWERS)
        review(page)
    device.context.route(REPORTS, lambda route: route.abort())
    press(first)
    expect_state(first, "waiting")
    first.close()
    device.context.unroute(REPORTS)
    before = reports(device)
    press(second)
    expect_state(second, "stored")
    # It has sent its own report alone. What waits of the first link goes with that, from any page.
    (mine,) = [body for body in reports(device) if body not in before]
    assert mine["token"] == second_link.partition("#")[2]
    second.reload()
    expect_state(second, "answered")
    wait_until(lambda: len(collector.ledger(survey)) == 2)


def test_link_that_is_pasted_while_the_device_draws_is_not_used_for_the_draw(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(INVITED)
    first_link, second_link = links(collector, survey, 2)
    page = device.visit(first_link)
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    # The storage answers only once the other link is there.
    page.evaluate(
        """() => { const open = IDBFactory.prototype.open; const late = [];
        window.release = () => { IDBFactory.prototype.open = open; late.forEach((go) => go()); };
        IDBFactory.prototype.open = function (...given) {
          const request = {};
          late.push(() => { const real = open.apply(this, given);
            real.onupgradeneeded = () => { request.result = real.result;
              request.onupgradeneeded?.(); };
            real.onsuccess = () => { request.result = real.result; request.onsuccess?.(); };
          });
          return request; }; }"""
    )
    press(page)
    expect_state(page, "randomizing")
    page.evaluate("link => { location.hash = link.split('#')[1]; }", second_link)
    page.evaluate("release()")
    expect_state(page, "ready")
    page.wait_for_timeout(1500)
    assert reports(device) == []
    assert collector.ledger(survey) == []


def test_report_of_a_version_that_the_server_lost_waits_until_it_is_published_again(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY)
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    # This is the answer of a server that was restored from a copy without this version.
    device.context.route(
        REPORTS,
        lambda route: route.fulfill(
            status=400,
            content_type="application/problem+json",
            body=json.dumps({"type": "urn:deniable:problem:malformed", "field": "version"}),
        ),
    )
    press(page)
    expect_state(page, "waiting")
    device.context.unroute(REPORTS)
    page.reload()
    expect_state(page, "stored")
    assert len({json.dumps(body, sort_keys=True) for body in reports(device)}) == 1
