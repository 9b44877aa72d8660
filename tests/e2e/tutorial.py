"""Play the tutorial of docs/tutorial.md in a browser, step by step, and take its pictures.

`test_tutorial.py` plays it, and `make screenshots` takes its pictures into docs/pictures/.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence

from collector import Collector
from device import Device, expect_state, fill_in, press, review, wait_for
from limits import LONG
from playwright.sync_api import FloatRect, Page, expect

from analysis.survey.simulate import payloads
from server.deliver import to_store
from server.store import Store

#: A person's phone, and a researcher's window.
PHONE = {"viewport": {"width": 390, "height": 780}, "device_scale_factor": 2}
WINDOW = {"viewport": {"width": 1080, "height": 720}}
#: The study of the tutorial: its id, and how many people answer it.
STUDY, PEOPLE = "respect-at-work", 4000
PASSWORD = "four words nobody guesses"

Step = tuple[str, Page]


def tutorial(served: Collector, new_device: Callable[..., Device]) -> Iterator[Step]:
    """Play the tutorial on an empty database; yield the name of each picture, and its page."""
    page = _account(served, new_device)
    yield "surveys", page
    yield from _write(page)
    yield from _try(page)
    yield from _publish(page)
    yield from _answer(served, new_device)
    yield from _results(served, page)


def _account(served: Collector, new_device: Callable[..., Device]) -> Page:
    page = new_device(**WINDOW).visit(f"{served.url}/surveys")
    page.get_by_label("Password or token").fill(served.token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="People").click()
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_label("Role").select_option("owner")
    page.get_by_role("button", name="Make a link").click()
    page.locator(".address-of").click()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Set up my account").click()
    expect(page.get_by_role("heading", name="Surveys")).to_be_visible()
    return page


def _write(page: Page) -> Iterator[Step]:
    page.get_by_role("link", name="A new survey").first.click()
    page.get_by_label("Title").fill("Respect at work")
    page.get_by_label("First question").fill("In the last 12 months, were you harassed at work?")
    page.get_by_label("Its kind").select_option("yes-no")
    page.get_by_role("button", name="Begin").click()
    expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
    yield "write", _scrolled(page, "h2 >> text=The page as it will be")


def _try(page: Page) -> Iterator[Step]:
    page.get_by_role("link", name="Plan", exact=True).click()
    page.get_by_label("Respondents", exact=True).fill(str(PEOPLE))
    page.get_by_role("button", name="Show", exact=True).click()
    yield "plan", _scrolled(page, "h2 >> nth=0")
    page.get_by_role("link", name="Try", exact=True).click()
    page.get_by_label("Made-up respondents").fill(str(PEOPLE))
    page.get_by_role("button", name="Fill a trial copy").click()
    expect(page.get_by_role("link", name="Look at its results")).to_be_visible(timeout=1000 * LONG)
    yield "try", page


def _publish(page: Page) -> Iterator[Step]:
    page.get_by_role("link", name="Publish", exact=True).click()
    page.wait_for_url("**/publish")
    yield "publish", page
    page.get_by_role("button", name=f"Freeze and publish {STUDY}").click()
    page.get_by_role("button", name="Open for respondents").click()
    expect(page.get_by_role("button", name="Close the survey")).to_be_visible()
    yield "fieldwork", page


def _answer(served: Collector, new_device: Callable[..., Device]) -> Iterator[Step]:
    phone = new_device(**PHONE).visit(served.page(STUDY))
    expect_state(phone, "ready")
    yield "phone-explanation", phone
    question = phone.locator("[data-question]").first.get_attribute("data-question")
    fill_in(phone, {f"{question}": "yes"})
    yield "phone-question", phone
    review(phone)
    press(phone)
    expect_state(phone, "stored")
    yield "phone-receipt", phone
    _others(served, f"{question}")


def _others(served: Collector, question: str) -> None:
    """Let the other people answer, of whom one in four was harassed."""
    store = Store(served.database)
    current = store.surveys.current(STUDY)
    assert current is not None
    people = [{question: "no" if number % 4 else "yes"} for number in range(PEOPLE - 1)]
    to_store(store, STUDY, payloads(current.survey, people, 1, seed=5), lambda _: None)
    store.close()


def _results(served: Collector, page: Page) -> Iterator[Step]:
    page.goto(f"{served.url}/surveys/{STUDY}")
    page.get_by_role("button", name="Close the survey").click()
    page.get_by_role("link", name="Results", exact=True).click()
    expect(page.get_by_text(f"{PEOPLE:,} reports are shown")).to_be_visible()
    yield "results", _scrolled(page, "h2 >> nth=0")
    page.get_by_role("link", name="Downloads", exact=True).first.click()
    page.wait_for_url("**/downloads")
    yield "downloads", page


def _scrolled(page: Page, selector: str) -> Page:
    """Scroll until something is at the top of the window."""
    move = "(found) => scrollBy(0, found.getBoundingClientRect().top - 24)"
    page.locator(selector).evaluate(move)
    return page


def pictures(served: Collector, new_device: Callable[..., Device]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of each picture of the README and the tutorial."""
    taken = {}
    for name, page in tutorial(served, new_device):
        # Below the table of results there is more than a picture needs.
        part: FloatRect = {"x": 0.0, "y": 0.0, "width": 1080.0, "height": 545.0}
        shown = part if name == "results" else None
        taken[name] = page.screenshot(animations="disabled", clip=shown)
    table = new_device(viewport={"width": 1240, "height": 640}).context.new_page()
    phones = [taken.pop(name) for name in [*taken] if name.startswith("phone-")]
    yield "phones", _laid_out(table, phones, [])
    yield "both-sides", _laid_out(table, phones[1:2], [taken["results"]])
    yield from taken.items()


def _laid_out(page: Page, phones: Sequence[bytes], windows: Sequence[bytes]) -> bytes:
    """Return one picture of phones and windows beside each other."""
    images = [("phone", one) for one in phones] + [("window", one) for one in windows]
    shown = "".join(
        f'<img class="{kind}" src="data:image/png;base64,{b64encode(one).decode()}">'
        for kind, one in images
    )
    page.set_content(f"""<style>
      body {{ margin: 0; padding: 30px; display: flex; gap: 40px; align-items: center;
              justify-content: center; background: #eef1f5; box-sizing: border-box;
              height: 640px; }}
      .phone {{ height: 560px; border: 10px solid #222; border-radius: 34px; }}
      .window {{ width: 840px; border-radius: 10px; box-shadow: 0 4px 24px #0003; }}
    </style>{shown}""")
    wait_for(page, lambda: page.evaluate("[...document.images].every((one) => one.complete)"))
    return page.screenshot()
