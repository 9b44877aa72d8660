"""Show every page in every state that a person can come to, to be looked at."""

import json

from device import (
    WRITE_MEMO,
    agree,
    begin,
    expect_state,
    fill_in,
    review,
    survey_data,
    turn_page,
)
from explore_scenes import explore
from playwright.sync_api import Route, expect
from research_scenes import research
from stage import (
    ANSWERS,
    EXAMPLES,
    FIRST_PAGE,
    KIOSK,
    PAGES,
    REPORTS,
    WELL_BEING,
    Scene,
    Stage,
    open_details,
    send,
    to_review,
)

from analysis.survey.survey_file import read_survey

#: The second time that the page opens the database never ends, so the state between two writes
#: stays.
_STALL = """() => {
  const open = IDBFactory.prototype.open;
  let times = 0;
  IDBFactory.prototype.open = function (...given) {
    times += 1;
    return times === 2 ? {} : open.apply(this, given);
  };
}"""
#: After as many hashes as answers may need, the hash of a puzzle never ends.
_PUZZLE = """() => {
  const digest = SubtleCrypto.prototype.digest;
  let times = 0;
  SubtleCrypto.prototype.digest = function (...given) {
    times += 1;
    return times > 200 ? new Promise(() => {}) : digest.apply(this, given);
  };
}"""


def without_script(stage: Stage) -> Scene:
    """Show a page without programs; the browser's own still runs, so the page can be examined."""

    def open_noscript(route: Route) -> None:
        response = route.fetch()
        body = response.text().replace("<noscript>", "").replace("</noscript>", "")
        route.fulfill(response=response, body=body)

    device = stage.new_device()
    device.context.route("**/s/*", open_noscript)
    device.context.route("**/client/**/*.js", lambda route: route.abort())
    page = device.visit(stage.collector.page(stage.collector.publish(WELL_BEING)))
    expect_state(page, "loading")
    yield "loading-without-script", page


def questions(stage: Stage) -> Scene:
    """Go from the explanation to the receipt, with everything open, and then back again."""
    _, page = stage.visit()
    expect_state(page, "ready")
    yield "explanation", page
    open_details(page)
    yield "explanation-details", page
    page.locator("#begin").click()
    yield "agreement", page
    page.locator("#quiz--yes").check()
    turn_page(page)
    expect(page.locator(".complaint:visible")).to_have_count(2)
    yield "agreement-complaints", page
    agree(page)
    for number, answers in enumerate(PAGES, 1):
        yield f"page-{number}", page
        fill_in(page, answers)
        open_details(page)
        for button in page.locator("[data-draw]:visible").all():
            button.click()
        expect(page.locator(".draws:visible:empty")).to_have_count(0)
        yield f"page-{number}-answered-and-tried", page
        turn_page(page)
    yield "review", page
    send(page)
    yield "stored", page
    page.locator("#sent > summary").click()
    yield "stored-what-was-sent", page
    page.reload()
    expect_state(page, "answered")
    yield "answered", page


def complaints(stage: Stage) -> Scene:
    """Show the complaints about invalid answers."""
    _, page = stage.visit(WELL_BEING.replace('id = "work"', 'id = "work"\nrequired = true', 1))
    expect_state(page, "ready")
    fill_in(page, {"age": "7"})
    turn_page(page)
    expect(page.locator(".complaint:visible").first).to_be_visible()
    yield "page-1-complaints", page
    fill_in(page, PAGES[0] | PAGES[1])
    turn_page(page)
    fill_in(page, {"strain": "money|work|health", "helps": "quiet", "app": "x" * 30})
    turn_page(page)
    expect(page.locator(".complaint:visible").first).to_be_visible()
    yield "page-3-complaints", page


def sending(stage: Stage) -> Scene:
    """Show the states between the press and its result."""
    _, page = stage.visit(FIRST_PAGE)
    to_review(page)
    page.evaluate(_STALL)
    send(page, "randomizing")
    yield "randomizing", page
    device, page = stage.visit(FIRST_PAGE)
    device.context.route(REPORTS, lambda _: None)
    to_review(page)
    send(page, "sending")
    yield "sending", page
    # Nobody answers the request, and the page is left like that.
    page.close()


def puzzled(stage: Stage) -> Scene:
    """Show a puzzle that is solved before the draw."""
    text = FIRST_PAGE.replace("languages =", "proof_of_work = 20\nlanguages =", 1)
    _, page = stage.visit(text)
    to_review(page)
    page.evaluate(_PUZZLE)
    send(page, "working")
    yield "working", page
    page.close()


def waiting(stage: Stage) -> Scene:
    """Show pages without a network, in this wave and in the next."""
    device, page = stage.visit(FIRST_PAGE)
    device.context.route(REPORTS, lambda route: route.abort())
    to_review(page)
    send(page, "waiting")
    yield "waiting", page
    stage.collector.open_wave(page.url.rpartition("/")[2], 2)
    page.reload()
    expect(page.locator("#earlier-wait")).to_be_visible()
    yield "earlier-wait", page


def refused(stage: Stage) -> Scene:
    """Show a survey that was closed meanwhile, and one whose last day was yesterday."""
    _, page = stage.visit(FIRST_PAGE)
    to_review(page)
    survey = page.url.rpartition("/")[2]
    stage.with_store(lambda store: store.surveys.close_waves(survey))
    send(page, "waiting")
    yield "waiting-while-closed", page
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("h1").first).to_be_visible()
    yield "message-closed", other
    _, page = stage.visit(FIRST_PAGE)
    survey = page.url.rpartition("/")[2]
    to_review(page)
    file = stage.collector.database.parent / f"{survey}.toml"
    file.write_text(file.read_text().replace("languages =", "closes = 2020-02-29\nlanguages =", 1))
    stage.with_store(lambda store: store.surveys.publish(read_survey(file)))
    send(page, "refused")
    yield "refused", page


def forgotten(stage: Stage) -> Scene:
    """Show a device that is forgotten in another tab while this one sends."""
    device, page = stage.visit(FIRST_PAGE)
    device.context.route(REPORTS, lambda route: route.abort())
    to_review(page)
    send(page, "waiting")
    me = device.visit(f"{stage.collector.url}/me")
    me.locator("#forget").click()
    yield "me-sure-while-one-waits", me
    me.locator("#forget-sure").click()
    expect_state(me, "forgotten")
    expect_state(page, "forgotten")
    yield "forgotten", page


def damaged(stage: Stage) -> Scene:
    """Show a page whose device keeps a damaged record of the survey."""
    device, page = stage.visit(FIRST_PAGE)
    expect_state(page, "ready")
    page.evaluate(WRITE_MEMO, [f"survey/{page.url.rpartition('/')[2]}", "garbage"])
    page.reload()
    expect_state(page, "damaged")
    yield "damaged", page
    me = device.visit(f"{stage.collector.url}/me")
    expect(me.locator("#damaged")).to_be_visible()
    yield "me-damaged", me


def spent(stage: Stage) -> Scene:
    """Show a page on which another wave would cost more than was promised."""
    _, page = stage.visit(FIRST_PAGE.replace("cap = 24.0", "cap = 4.0", 1))
    to_review(page)
    send(page)
    stage.collector.open_wave(page.url.rpartition("/")[2], 2)
    page.reload()
    expect_state(page, "spent")
    yield "spent", page


def not_kept(stage: Stage) -> Scene:
    """Show a device that cannot keep what it drew."""
    _, page = stage.visit(FIRST_PAGE)
    to_review(page)
    page.evaluate("() => { IDBFactory.prototype.open = () => { throw new Error('full'); }; }")
    send(page, "unkept")
    yield "unkept", page


def uninvited(stage: Stage) -> Scene:
    """Show invited people: no link, a mistyped one, a useless one, and somebody else's."""
    text = FIRST_PAGE.replace("languages =", 'access = "invited"\nlanguages =', 1)
    device, page = stage.visit(text)
    expect_state(page, "uninvited")
    yield "uninvited", page
    address = page.url
    page.goto(f"{address}#{'x' * 24}")
    expect_state(page, "mistyped")
    yield "mistyped", page
    page.goto(f"{address}#{'x' * 22}")
    expect_state(page, "ready")
    page.locator("#begin").click()
    expect_state(page, "unusable")
    yield "unusable", page
    device.context.route("**/invitations", lambda route: route.abort())
    page.reload()
    to_review(page)
    send(page, "refused")
    yield "refused-invitation", page
    # The server says that the first link cannot be used any more.
    device.context.unroute("**/invitations")
    page.goto(f"{address}#{'y' * 22}")
    expect_state(page, "other-link")
    yield "other-link", page


def insecure(stage: Stage) -> Scene:
    """Show a page over plain http from another machine."""
    device = stage.new_device()
    url = stage.collector.url
    device.context.route(
        "http://elsewhere.test/**",
        lambda route: route.fulfill(
            response=route.fetch(url=route.request.url.replace("http://elsewhere.test", url))
        ),
    )
    page = device.visit(f"http://elsewhere.test/s/{stage.collector.publish(FIRST_PAGE)}")
    expect_state(page, "insecure")
    yield "insecure", page


def broken(stage: Stage) -> Scene:
    """Show a page whose survey was changed on the way."""

    def change(route: Route) -> None:
        response = route.fetch()
        text, data = survey_data(response.text())
        changed = json.dumps(data | {"version": "0" * 64})
        route.fulfill(response=response, body=response.text().replace(text, changed))

    device = stage.new_device()
    device.context.route("**/s/*", change)
    page = device.visit(stage.collector.page(stage.collector.publish(FIRST_PAGE)))
    expect_state(page, "broken")
    yield "broken", page


def unstored(stage: Stage) -> Scene:
    """Show a browser that keeps nothing, and one that did not load a module."""
    device = stage.new_device()
    address = stage.collector.page(stage.collector.publish(FIRST_PAGE))
    device.context.add_init_script(
        "Object.defineProperty(window, 'indexedDB', { value: undefined });"
    )
    page = device.visit(address)
    expect_state(page, "unstored")
    page.locator("#error summary").click()
    yield "unstored", page
    device.context.route("**/client/exact.js", lambda route: route.abort())
    page.reload()
    expect(page.locator("#load-again")).to_be_visible()
    yield "not-loaded", page


def kiosk(stage: Stage) -> Scene:
    """Show a shared device."""
    _, page = stage.visit(KIOSK)
    expect_state(page, "ready")
    begin(page)
    yield "kiosk-page-1", page
    fill_in(page, ANSWERS)
    review(page)
    send(page)
    yield "kiosk-stored", page


def no_memory(stage: Stage) -> Scene:
    """Show a survey with a memory in a later wave, on a device that has none."""
    panel = (EXAMPLES / "staff-panel.toml").read_text().replace('access = "panel"\n', "", 1)
    survey = stage.collector.publish(panel)
    stage.collector.open_wave(survey, 2)
    page = stage.new_device().visit(stage.collector.page(survey))
    expect_state(page, "ready")
    expect(page.locator("#no-memory")).to_be_visible()
    yield "no-memory", page


def my_privacy(stage: Stage) -> Scene:
    """Show what this device has spent, from nothing back to nothing."""
    device = stage.new_device()
    me = device.visit(f"{stage.collector.url}/me")
    expect_state(me, "nothing")
    yield "me-nothing", me
    memo = {
        "title": {"en": "Well-being 2026", "de": "Wohlbefinden 2026", "ar": "الرفاه 2026"},
        "spent": 9_500_000, "constant": 6_250_000, "cap": 22, "times": {}, "pending": [],
        "waves": {"1": "0f" * 16, "2": "a7" * 16},
    }  # fmt: skip
    me.evaluate(WRITE_MEMO, ["survey/well-being-2026", memo])
    waits = json.dumps({"rid": "3c" * 16})
    memo |= {"title": "Night life 2026", "constant": memo["spent"], "waves": {"1": "3c" * 16}}
    me.evaluate(WRITE_MEMO, ["survey/night-2026", memo | {"pending": [waits]}])
    me.reload()
    expect(me.locator("#spent")).to_be_visible()
    yield "me", me
    me.locator("#forget").click()
    yield "me-sure", me
    me.locator("#forget-sure").click()
    expect_state(me, "forgotten")
    yield "me-forgotten", me


def me_broken(stage: Stage) -> Scene:
    """Show a browser that keeps nothing."""
    device = stage.new_device()
    device.context.add_init_script("delete window.indexedDB; window.indexedDB = undefined;")
    me = device.visit(f"{stage.collector.url}/me")
    expect_state(me, "broken")
    yield "me-broken", me


def messages(stage: Stage) -> Scene:
    """Show addresses without a survey."""
    device = stage.new_device()
    for name, path in {"home": "/", "no-survey": "/s/nothing", "not-found": "/nowhere"}.items():
        yield f"message-{name}", device.visit(stage.collector.url + path)


SCENES = (
    without_script,
    questions,
    complaints,
    sending,
    puzzled,
    waiting,
    refused,
    forgotten,
    damaged,
    spent,
    not_kept,
    uninvited,
    insecure,
    broken,
    unstored,
    kiosk,
    no_memory,
    my_privacy,
    me_broken,
    messages,
    explore,
    research,
)
