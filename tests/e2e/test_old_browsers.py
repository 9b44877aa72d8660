"""A browser that lacks something does all the same, or says what to do before anything is typed."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import CANARIES, SURVEY, Device, answer, expect_closed, expect_state
from playwright.sync_api import Page, expect
from stage import ANSWERS, WELL_BEING

from server.page_texts import LANGUAGES

#: Takes from the engine what came after the oldest browsers of docs/page.md.
NEWER = """(() => {
  const lacks = {
    AbortSignal: ['timeout', 'any'],
    Object: ['hasOwn', 'groupBy'],
    Map: ['groupBy'],
    Promise: ['withResolvers', 'try'],
    Array: ['fromAsync'],
    'Array.prototype': ['at', 'findLast', 'findLastIndex', 'toSorted', 'toSpliced', 'with'],
    'String.prototype': ['at', 'isWellFormed', 'toWellFormed'],
    'Uint8Array.prototype': ['toHex', 'toBase64'],
    'Set.prototype': ['union', 'intersection', 'difference', 'isSubsetOf'],
    'Element.prototype': ['ariaHidden', 'ariaInvalid', 'ariaPressed', 'ariaValueText'],
    'Navigator.prototype': ['locks', 'storage'],
    'Intl.NumberFormat.prototype': ['formatRange'],
    window: ['structuredClone', 'HTMLDialogElement', 'navigation', 'trustedTypes'],
  };
  for (const [path, names] of Object.entries(lacks)) {
    const owner = path.split('.').reduce((found, name) => found?.[name], window);
    for (const name of names) if (owner) delete owner[name];
  }
  for (const prototype of [Document.prototype, DocumentFragment.prototype, Element.prototype]) {
    for (const name of ['querySelector', 'querySelectorAll', 'matches', 'closest']) {
      const whole = prototype[name];
      if (!whole) continue;
      prototype[name] = function (selector) {
        if (/:(has|is|where)\\(/.test(selector)) throw new DOMException(selector, 'SyntaxError');
        return whole.call(this, selector);
      };
    }
  }
})()"""


@pytest.mark.parametrize(
    ("text", "given"), [(SURVEY, CANARIES), (WELL_BEING, ANSWERS)], ids=["short", "of all kinds"]
)
def test_browser_without_what_is_newer_sends_its_report(
    device: Device, collector: Collector, text: str, given: dict[str, str]
) -> None:
    survey = collector.publish(text)
    device.context.add_init_script(NEWER)
    answer(device.visit(collector.page(survey)), given)
    assert collector.stored(survey) == 1
    assert not [line for line in device.console if line.startswith("error")]


def expect_advice(page: Page, device: Device) -> None:
    """Check that nothing can be answered, and the page says what to do."""
    expect_closed(page, "broken")
    expect(page.locator('[data-state="broken"]')).to_contain_text("Please update this browser")
    assert device.posted() == []


@pytest.mark.parametrize("name", ["AbortController", "Request", "Array.prototype.flatMap"])
def test_browser_without_what_is_needed_says_so_before_the_first_question(
    device: Device, collector: Collector, survey: str, name: str
) -> None:
    device.context.add_init_script(f"delete window.{name}")
    expect_advice(device.visit(collector.page(survey)), device)


@pytest.mark.provokes("Unexpected token")
def test_browser_that_cannot_read_an_optional_module_says_so(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    served = serve_client(
        ("optional/numbers.js", "const DECIMAL", "const = of-tomorrow;\nconst DECIMAL")
    )
    page = device.visit(served.page(served.publish(SURVEY)))
    # The style alone would show the text after eight seconds, and no button.
    expect(page.locator("#load-again")).to_be_visible()
    expect(page.locator('[data-state="loading"] div .panel')).to_be_visible()
    expect(page.locator("#controls")).to_have_js_property("disabled", True)
    assert device.posted() == []


@pytest.mark.provokes("Unexpected token")
@pytest.mark.parametrize("name", ["exact.js", "page/dom.js", "memo.js"])
def test_browser_that_cannot_read_the_program_is_told_so_in_all_languages(
    device: Device, serve_client: Callable[..., Collector], name: str
) -> None:
    served = serve_client((name, "export const", "const = of-tomorrow;\nexport const"))
    pages = {"page": served.page(served.publish(WELL_BEING)), "me": f"{served.url}/me"}
    for table, url in pages.items():
        page = device.visit(url)
        told = page.locator('[data-state="loading"] div .panel')
        if name == "page/dom.js":
            expect(told.first).to_be_hidden()
            # Some seconds later. No program is needed for it.
            page.evaluate("document.getAnimations().forEach((one) => one.finish())")
        expect(told.filter(visible=True)).to_have_count(len(LANGUAGES))
        assert {*told.all_inner_texts()} == {
            language.words[f"{table}.not-started"] for language in LANGUAGES.values()
        }
        assert page.locator("#answers input:not(:disabled)").count() == 0


def test_error_of_the_program_is_not_taken_for_a_lost_connection(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.add_init_script(
        "const whole = window.fetch; window.fetch = () => { throw new TypeError('odd'); };"
        "addEventListener('mended', () => { window.fetch = whole; });"
    )
    page = device.visit(collector.page(survey))
    answer(page, CANARIES, "waiting")
    expect(page.locator('[data-state="waiting"]')).to_contain_text("(odd)")
    assert collector.stored(survey) == 0
    # The report waits, and goes out once it can.
    page.evaluate("dispatchEvent(new Event('mended')); dispatchEvent(new Event('online'))")
    expect_state(page, "stored")
    assert collector.stored(survey) == 1
