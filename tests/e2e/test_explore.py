"""The page to explore works without a program, is live with one, and reports to nobody."""

from collections.abc import Callable

from collector import Collector
from device import Device
from playwright.sync_api import Page, expect
from test_keyboard import Keys
from test_looks import check_accessible, check_quiet, check_width

#: The size of the narrowest phones.
NARROW = {"width": 360, "height": 740}


def open_page(device: Device, collector: Collector, path: str = "/explore") -> Page:
    page = device.visit(collector.url + path)
    expect(page.locator("[data-of]").first).to_be_visible()
    return page


def test_without_a_program_a_form_leads_to_an_address_with_all_that_was_asked(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    page = new_device(java_script_enabled=False).visit(f"{collector.url}/explore?delta-reports=50")
    expect(page.locator("[data-of]").first).to_be_hidden()
    page.locator("#meaning-epsilon").fill("2")
    page.locator("#meaning").get_by_role("button", name="Show").click()
    expect(page.locator("#meaning")).to_contain_text("At ε = 2, a report is at most 7.39 times")
    assert "meaning-epsilon=2" in page.url
    assert "delta-reports=50" in page.url
    assert page.url.endswith("#meaning")
    for _ in range(2):
        page.get_by_role("button", name="ε = 1", exact=True).click()
        expect(page.locator("#meaning-epsilon")).to_have_value("2")
    expect(page.locator("#budget")).to_contain_text("was refused, and cost nothing")
    page.get_by_role("button", name="Start again").click()
    expect(page.locator("#budget")).to_contain_text("Nothing is spent of the cap of ε = 3")


def test_with_a_program_a_slider_shows_another_picture_at_an_address_of_its_own(
    device: Device, collector: Collector
) -> None:
    page = open_page(device, collector)
    page.locator("#meaning summary").click()
    slider = page.get_by_label("ε of one report, as a slider").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#meaning-epsilon")).to_have_value("1.5")
    expect(slider).to_have_attribute("aria-valuetext", "1.5")
    expect(page.locator("#meaning")).to_contain_text("At ε = 1.5, a report")
    expect(page.locator("#meaning details")).to_have_attribute("open", "")
    expect(page).to_have_url(f"{collector.url}/explore?meaning-epsilon=1.5")
    page.locator("#precision-people").fill("500")
    expect(page.locator("#precision")).to_contain_text("500 people answer")
    expect(page).to_have_url(f"{collector.url}/explore?meaning-epsilon=1.5&precision-people=500")
    shown = page.locator("#meaning svg").last.inner_html()
    page.reload()
    expect(page.locator("#meaning-epsilon")).to_have_value("1.5")
    assert page.locator("#meaning svg").last.inner_html() == shown
    check_quiet(device, collector)
    assert all("/explore" in one.url or "/static/" in one.url or "/client/style.css" in one.url
               for one in device.requests if one.url.startswith("http"))  # fmt: skip


def test_mistakes_are_shown_at_the_field_and_change_no_address(
    device: Device, collector: Collector
) -> None:
    page = open_page(device, collector, "/explore/groups")
    field = page.locator("#groups-people")
    field.fill("few")
    told = page.locator("#wrong-groups-people")
    expect(told).to_have_text(
        "Respondents: expected a whole number from 10 to 1,000,000, got 'few'"
    )
    expect(field).to_have_attribute("aria-describedby", "wrong-groups-people")
    expect(page).to_have_url(f"{collector.url}/explore/groups")
    field.fill("400")
    expect(told).to_have_count(0)
    expect(page).to_have_url(f"{collector.url}/explore/groups?groups-people=400")
    expect(page.locator("#groups")).to_contain_text("10 % of 400 people are a group of 40.")


def test_the_page_works_by_keyboard(device: Device, collector: Collector) -> None:
    page = open_page(device, collector, "/explore/budget")
    keys = Keys(page)
    keys.reach('button[value="2"]')
    keys.press("Enter")
    expect(page.locator("#budget-queries")).to_have_value("1 1 0.5 2")
    expect(page.locator("#budget")).to_contain_text("Query 4 asked for ε = 2")
    keys.reach('button[value="back"]')
    keys.press("Enter")
    expect(page.locator("#budget-queries")).to_have_value("1 1 0.5")
    expect(page).to_have_url(f"{collector.url}/explore/budget")


def test_the_narrowest_phone_shows_everything(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    device = new_device(viewport=NARROW, color_scheme="dark", bypass_csp=True)
    page = open_page(device, collector)
    check_accessible(page)
    for summary in page.locator("main summary").all():
        summary.click()
    check_width(page)


def test_the_page_says_so_if_the_server_is_gone(device: Device, collector: Collector) -> None:
    page = open_page(device, collector, "/explore/meaning")
    device.context.route("**/explore/**", lambda route: route.abort())
    page.locator("#meaning-epsilon").fill("3")
    expect(page.locator("#meaning")).to_contain_text("The server cannot be reached.")
