"""Surveys with links for each person, or with a puzzle, on real pages."""

import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from collector import Collector, Relay
from device import NUMBER, OPTION, READ_MEMO, SURVEY, Device, fill_in, press, review
from limits import LONG, wait_until
from playwright.sync_api import Page, expect

ANSWERS = {"smoked": "no", "team": "lab", "debts": "12"}


def _with(line: str) -> str:
    return SURVEY.replace('id = "canteen"', f'id = "canteen"\n{line}', 1)


def _links(collector: Collector, survey: str, count: int) -> list[str]:
    command = [sys.executable, "-m", "server.cli", "invite", survey, "--count", str(count)]
    done = subprocess.run(
        [*command, "--url", collector.url, "--db", str(collector.database)],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )
    return [line.split(",")[-1] for line in done.stdout.splitlines()[1:]]


def _answer(page: Page) -> None:
    fill_in(page, ANSWERS)
    review(page)
    press(page)


def _state(page: Page, state: str) -> None:
    expect(page.locator(f'[data-state="{state}"]')).to_be_visible()


def test_a_link_is_good_once_and_reaches_no_url(
    collector: Collector,
    new_device: Callable[..., Device],
    relay: Callable[[Collector], Relay],
) -> None:
    survey = collector.publish(_with('access = "invited"'))
    (link,) = _links(collector, survey, 1)
    token = link.partition("#")[2]
    assert re.fullmatch(r"[\w-]{24}", token)
    seen = relay(collector)
    device = new_device()
    page = device.visit(link.replace(collector.url, seen.url))
    _answer(page)
    _state(page, "stored")
    assert collector.stored(survey) == 1
    # The token was in the bodies of the two requests that need it, and in no address or header.
    assert all(token not in target for _, target in seen.targets())
    assert bytes(seen.sent).count(token.encode()) == 2
    # Somebody else with the same link learns so before any question.
    other = new_device().visit(link)
    other.locator("#begin").click()
    _state(other, "unusable")
    expect(other.locator('[data-state="unusable"]')).to_contain_text("was used already")
    assert collector.stored(survey) == 1


def test_my_privacy_sends_what_waits_and_has_nobodys_link(
    collector: Collector, device: Device
) -> None:
    survey = collector.publish(_with('access = "panel"'))
    links = _links(collector, survey, 2)
    device.context.route("**/reports", lambda route: route.abort())
    for link in links:
        page = device.visit(link)
        _answer(page)
        _state(page, "waiting")
        page.close()
    device.context.unroute("**/reports")
    # Somebody else looks into the browser: no link, and no receipt of anybody.
    page = device.visit(f"{collector.url}/me")
    entry = page.locator("#surveys li").first
    expect(entry).to_contain_text("Waiting to be sent: 1")
    assert not [link for link in links if link.partition("#")[2] in page.content()]
    entry.get_by_role("link").click()
    _state(page, "uninvited")
    assert "#" not in page.url
    expect(page.locator("#receipt")).to_be_hidden()
    wait_until(lambda: collector.stored(survey) == 2)


def test_without_its_end_a_link_leads_to_a_closed_page(
    collector: Collector, device: Device
) -> None:
    survey = collector.publish(_with('access = "invited"'))
    page = device.visit(collector.page(survey))
    _state(page, "uninvited")
    expect(page.locator("#answers")).to_be_hidden()
    assert device.posted() == []
    # Pasting the whole link into the same tab changes only the fragment.
    (link,) = _links(collector, survey, 1)
    page.evaluate("link => { location.href = link; }", link)
    _state(page, "ready")
    _answer(page)
    _state(page, "stored")


def test_a_link_that_lost_its_last_letters_costs_nothing(
    collector: Collector, device: Device
) -> None:
    survey = collector.publish(_with('access = "invited"'))
    (link,) = _links(collector, survey, 1)
    _state(device.visit(link[:-3]), "mistyped")
    # Without its check digits it looks like a link of an earlier release, so the server must
    # answer.
    page = device.visit(link[:-2])
    page.locator("#begin").click()
    _state(page, "unusable")
    page = device.visit(link)
    _answer(page)
    _state(page, "stored")
    assert collector.stored(survey) == 1


def test_a_panel_answers_each_wave_with_the_same_link(collector: Collector, device: Device) -> None:
    survey = collector.publish(_with('access = "panel"'))
    (link,) = _links(collector, survey, 1)
    for wave in (1, 2):
        collector.open_wave(survey, wave)
        page = device.visit(link)
        _answer(page)
        _state(page, "stored")
        assert collector.stored(survey, wave) == 1


def test_a_puzzle_is_solved_before_anything_is_sent(collector: Collector, device: Device) -> None:
    survey = collector.publish(_with("proof_of_work = 12"))
    page = device.visit(collector.page(survey))
    _answer(page)
    _state(page, "stored")
    assert collector.stored(survey) == 1
    (body,) = device.posted()
    assert re.search(rb'"work":[0-9]+', body)


@pytest.mark.parametrize("line", ["", 'access = "open"'])
def test_an_open_survey_sends_no_token(collector: Collector, device: Device, line: str) -> None:
    survey = collector.publish(_with(line))
    page = device.visit(collector.page(survey) + "#AAAAAAAAAAAAAAAAAAAAAA")
    _answer(page)
    _state(page, "stored")
    (body,) = device.posted()
    assert b"token" not in body
    assert b"work" not in body


def test_a_report_that_waits_for_a_better_link_holds_no_answer(
    collector: Collector, new_device: Callable[..., Device]
) -> None:
    survey = collector.publish(_with('access = "invited"\n'))
    answers = {"smoked": "yes", "pet": OPTION, "team": "lab", "debts": NUMBER}
    device = new_device()
    page = device.visit(f"{collector.page(survey)}#{'A' * 22}")
    # Nobody says that the link cannot be used, until the report is there.
    device.context.route("**/invitations", lambda route: route.abort())
    fill_in(page, answers)
    review(page)
    press(page)
    _state(page, "refused")
    kept = json.dumps(page.evaluate(READ_MEMO))
    assert "pending" in kept
    left = [kept, page.url, *device.console, *(body.decode() for body in device.posted())]
    assert not [text for text in left if OPTION in text or NUMBER in text]
    # Nor does the form keep it for the next person who opens the page.
    assert page.evaluate(
        "[...document.querySelectorAll('input[id$=--number]')].map(i => i.value)"
    ) == [""]
    assert page.locator("input:checked").count() == 0


def test_person_at_a_shared_browser_answers_with_their_own_link(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(_with('access = "invited"'))
    links = _links(collector, survey, 2)
    for link in links:
        page = device.visit(link)
        _answer(page)
        _state(page, "stored")
        expect(page.locator("#receipt")).to_contain_text("ε = 5 of at most 12")
        page.close()
    bodies = map(json.loads, device.posted())
    first, second = (body for body in bodies if "reports" in body)
    assert first["rid"] != second["rid"]
    assert first["respondent"] != second["respondent"]
    assert len(collector.ledger(survey)) == 2
    # Each finds its own receipt again, and not that of the other.
    for link, report in zip(links, (first, second), strict=True):
        page = device.visit(link)
        _state(page, "answered")
        expect(page.locator("#receipt-rid")).to_have_text(report["rid"])
        page.close()
