"""In small windows and large letters, nothing is cut off, covered, too wide or too small."""

from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector
from device import Device, begin, expect_state, fill_in, turn_page
from playwright.sync_api import Page, expect
from scenes import complaints, my_privacy, questions
from stage import PAGES, WELL_BEING, Scene, Stage
from test_looks import DESKTOP, PHONE, check_targets, check_width

from server.page_texts import LANGUAGES

pytestmark = pytest.mark.more

#: A desktop of 1280 × 800 at a zoom of 200 %; letters of twice their size; and a small phone in
#: each language.
VIEWS: dict[str, dict[str, Any]] = {
    "zoomed": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "large-letters": {"viewport": PHONE},
    **{
        f"small-{tag}": {"viewport": {"width": 320, "height": 640}, "locale": tag}
        for tag in LANGUAGES
    },
}
_LARGE = "document.documentElement.style.fontSize = '200%'"
#: Texts that their element does not show whole, except those that are only read aloud.
_CUT = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const { overflow, position } = getComputedStyle(one);
  if (!one.checkVisibility() || overflow === 'visible' || position === 'absolute') return false;
  if (one.closest('.scroll, svg, input, select')) return false;
  return one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
}).map((one) => one.outerHTML.slice(0, 100))"""
#: Elements with a word that does not fit on a line and is broken anywhere; numbers of receipts are.
_BROKEN = """() => {
  const parts = 'h1, h2, h3, p:not(:has(code)), legend, button, summary, li:not(:has(dd)), th, td, '
    + 'figcaption';
  document.body.style.overflowWrap = 'normal';
  const found = [...document.querySelectorAll(parts)]
    .filter((one) => one.checkVisibility() && !one.closest('.hidden-text, footer'))
    .filter((one) => getComputedStyle(one).position !== 'absolute')
    .filter((one) => one.scrollWidth > one.clientWidth + 1);
  document.body.style.overflowWrap = '';
  return found.map((one) => one.outerHTML.slice(0, 200));
}"""
#: Pairs that cover each other, although neither is within the other.
_COVERED = """() => {
  const parts = 'h1, h2, h3, h4, p, legend, button, summary, select, .option, .entry, .slider, li, '
    + 'th, td, dt, dd, figure svg, figcaption, label, input';
  const isRead = (one) => one.closest('.hidden-text') || getComputedStyle(one).clipPath !== 'none';
  const shown = [...document.querySelectorAll(parts)]
    .filter((one) => one.checkVisibility() && !isRead(one) && one.getClientRects().length)
    .map((one) => [one, one.getBoundingClientRect()]);
  const pairs = shown.flatMap(([a, p], place) => shown.slice(place + 1).filter(([b, q]) => {
    if (a.contains(b) || b.contains(a) || b.closest('.option')?.contains(a)) return false;
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    return wide > 1 && high > 1;
  }).map(([b]) => [a, b]));
  return pairs.map((pair) => pair.map((one) => one.outerHTML.slice(0, 80)).join(' over '));
}"""


def check_whole(page: Page) -> None:
    """Check that everything can be seen and pressed."""
    check_width(page)
    check_targets(page)
    for look in (_CUT, _COVERED):
        found = page.evaluate(look)
        assert not found, found


@pytest.mark.parametrize("scene", [questions, complaints, my_privacy])
@pytest.mark.parametrize("view", VIEWS)
def test_pages_are_whole_in_small_windows_and_large_letters(
    new_device: Callable[..., Device],
    collector: Collector,
    view: str,
    scene: Callable[[Stage], Scene],
) -> None:
    stage = Stage(collector, lambda **options: new_device(**VIEWS[view], **options))
    wrong = []
    for state, page in scene(stage):
        if view == "large-letters":
            page.evaluate(_LARGE)
        try:
            check_whole(page)
            broken = page.evaluate(_BROKEN) if view != "large-letters" else []
            assert not broken, broken
        except AssertionError as error:
            wrong.append(f"{state}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("style", "finds"),
    [
        ("button { min-height: 30px !important; padding: 0 }", "button"),
        ("legend { width: 700px; display: block }", "page"),
        ("legend { margin-bottom: -20px !important }", "over"),
        (".option { height: 10px; overflow: hidden; min-height: 0 !important }", "option"),
    ],
    ids=["small", "wide", "covered", "cut"],
)
def test_the_check_finds_pages_that_are_not_whole(
    new_device: Callable[..., Device], collector: Collector, style: str, finds: str
) -> None:
    page = new_device(viewport=PHONE, bypass_csp=True).visit(
        collector.page(collector.publish(WELL_BEING))
    )
    expect_state(page, "ready")
    begin(page)
    page.add_style_tag(content=style)
    with pytest.raises(AssertionError, match=finds):
        check_whole(page)


def tops(page: Page, question: str) -> list[float]:
    """Return where the options of a question begin, from the top of the page."""
    options = page.locator(f'[data-question="{question}"] .option').all()
    return [box["y"] for option in options if (box := option.bounding_box())]


@pytest.mark.parametrize(("viewport", "is_grid"), [(PHONE, False), (DESKTOP, True)])
def test_matrix_is_a_grid_only_if_there_is_room(
    new_device: Callable[..., Device],
    collector: Collector,
    viewport: dict[str, int],
    is_grid: bool,
) -> None:
    page = new_device(viewport=viewport).visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    fill_in(page, PAGES[0])
    turn_page(page)
    assert len(set(tops(page, "cheerful"))) == (1 if is_grid else 5)
    expect(page.locator(".points")).to_be_visible(visible=is_grid)
    for place in range(5):
        columns = {
            round(box["x"])
            for row in ("cheerful", "lonely")
            if (box := page.locator(f'[data-question="{row}"] .option').nth(place).bounding_box())
        }
        assert len(columns) == 1
    # Each cell can be pressed anywhere, and is named by its row and column.
    page.get_by_role("group", name="lonely").get_by_role("radio", name="Often").check()
    expect(page.locator("#lonely--3")).to_be_checked()
