"""Unmistakable answers are searched for in all places of browsers and servers, and found nowhere.

That holds whatever a person does, and whatever fails. In leaky copies of the page each leak is
found at its place.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import Collector, Relay, in_process
from device import expect_state, press, wait_for
from everything import (
    ANSWERS,
    CHOSEN,
    EVERYTHING,
    MARKERS,
    REGRET,
    answer_pages,
    begin,
    person,
    press_on,
    type_in,
)
from page_errors import MODULE, POLICY
from playwright.sync_api import Browser, Page, Route, expect
from watchers import (
    ELSEWHERE,
    Profile,
    check_device,
    check_document,
    check_files,
    check_places,
    check_wire,
    found_in,
    kept_places,
)

from server.pages.browser_files import CLIENT

CANARIES = MARKERS + CHOSEN
#: Where the page handles answers: the file, the line before which something is done, and what.
HOOKS = [
    ("page/controls.js", "  const asked = visible(survey, answers());", "input?.(answers())"),
    ("page/review.js", "  const list = one('#review dl');", "review?.(answers)"),
    (
        "page/survey.js",
        "  for (const other of pages) other.hidden = other !== page;",
        "shown?.(page)",
    ),
    (
        "report.js",
        "    const made = reportsOf(questions, randomizers[id], prepared, words);",
        "draw?.(id, prepared)",
    ),
    ("memo.js", "    return price.settled({\n", "keep?.()"),
]
#: Opens all of a page whose program does not run, as the browser's developer tools could.
FORCE = """() => {
  document.querySelector('#controls').disabled = false;
  for (const part of document.querySelectorAll('#answers [hidden]')) part.hidden = false;
}"""
#: Everything that submits a form, one after another.
SUBMITS = """() => {
  const form = document.querySelector('#answers');
  for (const button of form.querySelectorAll('[type="submit"]')) button.click();
  form.requestSubmit();
  form.submit();
  form.method = 'post';
  form.submit();
}"""
MakeProfile = Callable[..., Profile]


@pytest.fixture(scope="module")
def everything(collector: Collector) -> str:
    """Return the id of a survey of everything; each test uses another device."""
    return collector.publish(EVERYTHING)


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Collector, str]]:
    """Serve a copy that does at its hooks what a test puts there.

    Return its survey of everything.
    """
    folder = tmp_path_factory.mktemp("hooked")
    shutil.copytree(CLIENT, folder / "client")
    for name, line, call in HOOKS:
        file = folder / "client" / name
        text = file.read_text()
        assert text.count(line) == 1, f"{name} no longer has {line!r} once: change the test with it"
        file.write_text(text.replace(line, f"globalThis.hooks?.{call};\n{line}"))
    (folder / "data").mkdir()
    with in_process(folder / "data", folder / "client") as served:
        yield served, served.publish(EVERYTHING)


@pytest.fixture
def new_profile(browser: Browser, tmp_path: Path) -> Iterator[MakeProfile]:
    """Make a device with a profile on disk, with the options of Playwright's contexts."""
    made: list[Profile] = []

    def make(**options: Any) -> Profile:
        made.append(Profile(browser, tmp_path / f"profile-{len(made)}", **options))
        return made[-1]

    yield make
    for device in made:
        device.context.close()


def close(device: Profile) -> None:
    """Leave all pages, as when the browser is closed, so that everything is written."""
    device.context.new_page().wait_for_timeout(100)
    device.context.close()


def requests_of(device: Profile) -> bytes:
    """Return all that its requests say, also those that nobody received."""
    return b"\n".join(
        f"{one.url} {one.headers}".encode() + (one.post_data_buffer or b"")
        for one in device.requests
    )


def check_everywhere(device: Profile, wire: Relay, served: Collector, survey: str) -> None:
    """Check that no answer was sent, said or kept, on either side; the browser is closed."""
    check_wire(wire, survey, CANARIES)
    console = "\n".join(device.console).encode()
    places = {"requests": requests_of(device), "console": console, **device.files()}
    check_places(places, CANARIES)
    check_files(served.database.parent, MARKERS, CHOSEN)


def test_person_who_sends_leaves_no_answer_behind(
    new_profile: MakeProfile, collector: Collector, everything: str, relay: Callable[..., Relay]
) -> None:
    device, wire = new_profile(), relay(collector)
    page = device.visit(f"{wire.url}/s/{everything}")
    assert set(person(page).values()) >= {"Zebra with a Canary", ANSWERS["word"]}
    check_device(page, device, everything, CANARIES)
    check_document(page, MARKERS, elsewhere=True)
    press(page)
    expect_state(page, "stored")
    check_device(page, device, everything, CANARIES)
    check_document(page, MARKERS)
    page.locator("#sent > summary").click()
    expect(page.locator("#sent tbody")).to_contain_text(ANSWERS["word"])
    check_document(page, MARKERS, elsewhere=True)
    check_device(page, device, everything, CANARIES)
    page.locator("#sent > summary").click()
    expect(page.locator("#sent td")).to_have_count(0)
    check_document(page, MARKERS)
    page.reload()
    page.go_back()
    page.go_forward()
    expect_state(page, "answered")
    check_document(page, MARKERS)
    close(device)
    assert len(device.posted()) == 1
    check_everywhere(device, wire, collector, everything)


def without_javascript(make: MakeProfile) -> Profile:
    return make(java_script_enabled=False)


def without_its_program(make: MakeProfile) -> Profile:
    return without("page/survey.js", make())


def without(module: str, device: Profile) -> Profile:
    """Return the device, which this module never reaches."""
    device.context.route(f"**/client/{module}", lambda route: route.abort())
    return device


@pytest.mark.provokes(POLICY, MODULE)
@pytest.mark.parametrize(
    "way", [without_javascript, without_its_program], ids=lambda way: way.__name__
)
def test_form_that_is_forced_open_without_its_program_reveals_nothing(
    new_profile: MakeProfile,
    collector: Collector,
    everything: str,
    relay: Callable[..., Relay],
    way: Callable[[MakeProfile], Profile],
) -> None:
    device, wire = way(new_profile), relay(collector)
    page = device.visit(f"{wire.url}/s/{everything}")
    expect(page.locator("#controls")).to_have_js_property("disabled", True)
    page.evaluate(FORCE)
    press_on(page, "animal", "zebra-canary")
    press_on(page, "foods", "vorkel", "plimsa")
    press_on(page, "mood", "midjan")
    for question, text in {"regret": REGRET, **ANSWERS}.items():
        if question in ("regret", "debts", "weight", "town", "word"):
            type_in(page, question, text)
    # Playwright would wait for the page that a key opens, and none is opened.
    keys = device.context.new_cdp_session(page)
    keys.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "text": "\r"})
    page.evaluate(SUBMITS)
    page.wait_for_timeout(200)
    close(device)
    assert {method for method, _ in wire.targets()} == {"GET"}
    check_everywhere(device, wire, collector, everything)


@pytest.mark.provokes("broken")
@pytest.mark.parametrize(
    ("hooks", "presses"),
    [
        ("shown: ({ id }) => { if (id === 'review') throw new Error('broken'); }", False),
        ("draw: (id) => { if (id === 'weight' && answered) throw new Error('broken'); }", True),
        ("keep: () => { throw new Error('broken'); }", True),
    ],
    ids=["the review is built", "half is drawn", "all is drawn and not kept"],
)
def test_program_that_throws_when(
    new_profile: MakeProfile,
    hooked: tuple[Collector, str],
    relay: Callable[..., Relay],
    hooks: str,
    presses: bool,
) -> None:
    served, survey = hooked
    device, wire = new_profile(), relay(served)
    # Before anybody answers, the page draws a report of made-up answers.
    device.context.add_init_script(
        "let answered = false; addEventListener('input', () => { answered = true; }, true);"
        f"globalThis.hooks = {{ {hooks} }};"
    )
    page = device.visit(f"{wire.url}/s/{survey}")
    if presses:
        person(page)
        press(page)
        expect_state(page, "unkept")
        press(page)
        expect_state(page, "unkept")
    else:
        answer_pages(page)
        wait_for(page, lambda: any("broken" in line for line in device.console))
        assert not page.locator("#review").is_visible()
    check_device(page, device, survey, CANARIES)
    close(device)
    assert device.posted() == []
    assert not any(served.estimates(survey)) or served.stored(survey) == 0
    check_everywhere(device, wire, served, survey)


def test_press_without_a_connection_leaves_no_answer_behind(
    new_profile: MakeProfile, collector: Collector, everything: str, relay: Callable[..., Relay]
) -> None:
    device, wire = new_profile(), relay(collector)
    page = device.visit(f"{wire.url}/s/{everything}")
    person(page)
    device.context.set_offline(True)
    press(page)
    expect_state(page, "waiting")
    check_device(page, device, everything, CANARIES)
    check_document(page, MARKERS)
    close(device)
    check_everywhere(device, wire, collector, everything)


#: A leak where the page handles answers, and every place where it must be found.
LEAKS = {
    "request": ("fetch('/healthz?' + btoa(given)).catch(() => 0)", {"wire", "requests"}),
    "storage": ("localStorage.setItem('draft', given)", {"local", "Default/Local Storage"}),
    "session": (
        "sessionStorage.setItem('draft', given)",
        {"session", "Default/Session Storage"},
    ),
    "IndexedDB": (
        "(indexedDB.open('deniable', 1).onsuccess = ({ target: { result } }) => "
        "result.transaction('memo', 'readwrite').objectStore('memo').put(given, 'draft'))",
        {"memo", "Default/IndexedDB"},
    ),
    "databases": ("indexedDB.open(regret)", {"databases", "Default/IndexedDB"}),
    "caches": ("caches.open(given)", {"caches", "Default/Service Worker"}),
    "console": ("console.log(given)", {"console"}),
    "title": (
        "document.title = given",
        {"title", "document", "Default/History", "Default/Sessions"},
    ),
    "name": ("window.name = given", {"name"}),
    "state": ("history.replaceState(given, '')", {"state", "Default/Sessions"}),
    "URL": (
        "history.replaceState(null, '', '#' + regret)",
        {"url", "Default/History", "Default/Sessions"},
    ),
    "cookie": ("document.cookie = `draft=${regret}; path=/`", {"cookie", "cookies", "wire"}),
    "document": ("document.body.dataset.draft = given", {"document"}),
}


#: Leaks that are planted together, since none of their places is one of another. `make test-more`
#: plants what shows in the window, too.
PLANTED: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "what is kept or sent": (
        "request",
        "storage",
        "session",
        "IndexedDB",
        "caches",
        "console",
        "name",
        "document",
    ),
    "the title": ("title", "databases", "cookie"),
    "the state": ("state",),
    "the URL": ("URL",),
}


def test_every_leak_is_planted_where_no_other_one_is() -> None:
    assert {leak for leaks in PLANTED.values() for leak in leaks} == set(LEAKS)
    for leaks in PLANTED.values():
        places = [place for leak in leaks for place in LEAKS[leak][1]]
        assert len(places) == len(set(places))


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(planted, marks=[pytest.mark.more] * planted.startswith("the "))
        for planted in PLANTED
    ],
)
def test_watchers_catch_a_leak_into(
    new_profile: MakeProfile,
    hooked: tuple[Collector, str],
    relay: Callable[..., Relay],
    planted: str,
) -> None:
    served, survey = hooked
    device, wire = new_profile(), relay(served)
    leaks = [LEAKS[leak] for leak in PLANTED[planted]]
    script = "; ".join(script for script, _ in leaks)
    places = set[str]().union(*(places for _, places in leaks))
    # This happens once, when everything is typed.
    hook = f"({{ regret }}) => {{ if (regret !== '{REGRET}') return; {script}; }}"
    hook = hook.replace("given", "JSON.stringify({ regret })")
    device.context.add_init_script(f"globalThis.hooks = {{ input: {hook} }};")
    page = device.visit(f"{wire.url}/s/{survey}")
    begin(page)
    press_on(page, "visited", "no")
    type_in(page, "regret", REGRET)
    # Some of it happens a moment later. Files are complete once the browser is closed.
    soon = places & set(kept_places(page, device))
    wait_for(page, lambda: soon <= found_soon(page, device))
    assert places_of_answers(page, device, wire) == places


def test_watchers_catch_fields_that_a_browser_may_restore(
    new_profile: MakeProfile, hooked: tuple[Collector, str], relay: Callable[..., Relay]
) -> None:
    def careless(route: Route) -> None:
        response = route.fetch()
        pins = r'<script type="importmap">.*</script>| integrity="[^"]*"'
        text = re.sub(rf'{pins}| autocomplete="off"', "", response.text())
        route.fulfill(
            response=response, body=text.replace("addEventListener('pagehide', leave);", "")
        )

    served, survey = hooked
    device, wire = new_profile(), relay(served)
    for address in ("**/s/*", "**/client/page/survey.js"):
        device.context.route(address, careless)
    page = device.visit(f"{wire.url}/s/{survey}")
    begin(page)
    press_on(page, "visited", "no")
    type_in(page, "regret", REGRET)
    page.goto(f"{wire.url}/me")
    assert places_of_answers(page, device, wire) == {"Default/Sessions"}


def found_soon(page: Page, device: Profile) -> set[str]:
    """Return all places that a page can read and that have the typed number."""
    return {place for place, _ in found_in(kept_places(page, device), [REGRET])}


def places_of_answers(page: Page, device: Profile, wire: Relay) -> set[str]:
    """Return all places with the typed number; for files, the folder. This closes the browser."""
    page.evaluate("fetch('/healthz')")  # which would carry a cookie
    places = kept_places(page, device)
    places["document"] = page.evaluate(ELSEWHERE).encode()
    close(device)
    places |= {"wire": bytes(wire.sent), "requests": requests_of(device)} | device.files()
    found = {"/".join(Path(place).parts[:2]) for place, _ in found_in(places, [REGRET])}
    return found - {"segmentation_platform/ukm_db"}  # which follows the history, now and then
