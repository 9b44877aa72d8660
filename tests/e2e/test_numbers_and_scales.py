"""Numbers are read as people write them, and short scales are shown in a row."""

import json
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from collector import Collector
from device import Device, begin, review
from playwright.sync_api import Browser, Page, expect

PHONE = {"width": 390, "height": 844}
MakeDevice = Callable[..., Device]


@pytest.fixture(scope="module")
def hours(browser: Browser, collector: Collector) -> Iterator[Page]:
    """Return the page of a survey that asks for a number; each test types another one."""
    survey = (
        'title = "H"\nid = "h"\n[[questions]]\nid = "hours"\nkind = "number"\ntext = "Hours?"\n'
        'min = 0\nmax = 2000\nstep = 0.5\nunit = "hours"\nepsilon = 1\n'
    )
    device = Device(browser)
    page = device.visit(collector.page(collector.publish(survey)))
    begin(page)
    yield page
    device.context.close()


def to_question(page: Page) -> None:
    """Go back from the review, if it is shown."""
    if page.locator("#review").is_visible():
        page.locator("#review dd .link").first.click()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("12,5", "12.5"),
        ("12.5", "12.5"),
        ("٣٨", "38"),
        ("۳۸", "38"),
        ("３８", "38"),
        (" 7 ", "7"),
        ("1500", "1500"),
        ("1 500", "1500"),
        ("1\u202f500", "1500"),
        ("1'500", "1500"),
        ("7 h", "7"),
        ("7h.", "7"),
        ("7 Hours", "7"),
        ("7.3", "7.5"),
        ("0.125", "0"),
        ("1e3", "1000"),
        ("2000", "2000"),
    ]
    + [(one, "") for one in ("1,500", "1.500", "1.2.3", "many", "2001", "2000.1", "1,5,5")]
    + [(one, "") for one in ("7 min", "30 m", "7 %", "h", "7 h 30", "15 00", "$7", "-1")],
)
def test_number_is_read_as_it_is_written_anywhere_or_not_at_all(
    hours: Page, typed: str, answer: str
) -> None:
    to_question(hours)
    hours.locator("#hours--number").fill(typed)
    understood = hours.locator(".understood")
    if answer and typed.strip() != answer:
        expect(understood).to_have_text(f"Taken as: {answer} hours.")
    else:
        expect(understood).to_be_hidden()
    hours.get_by_role("button", name="Review my answers").click()
    if answer:
        expect(hours.locator("#review dd:not(:has(.link))")).to_have_text(f"{answer} hours")
    else:
        expect(hours.locator("#hours_complaint")).not_to_be_empty()
        expect(hours.locator("#review")).to_be_hidden()


def test_short_scales_are_in_a_row_on_a_phone(new_device: MakeDevice, collector: Collector) -> None:
    scales: list[list[str]] = [[*map(str, range(11))], ["no", "so", "ye"], [*map(str, range(12))]]
    scales.append(["yes", "no"])
    survey = 'title = "T"\nid = "t"\n[privacy]\ncap = 9\n'
    for place, labels in enumerate(scales):
        survey += f'[[questions]]\nid = "s{place}"\nkind = "scale"\ntext = "{place}?"\n'
        survey += f"points = {json.dumps(labels)}\nepsilon = 1\n"
    page = new_device(viewport=PHONE).visit(collector.page(collector.publish(survey)))
    begin(page)
    for place, labels in enumerate(scales):
        options = page.locator(f'[data-question="s{place}"] .option').all()
        boxes = [one.bounding_box() for one in options]
        assert all(boxes)
        heights = {box["y"] for box in boxes[:-1] if box}
        is_row = len(labels) <= 11 and max(map(len, labels)) <= 2
        assert len(heights) == (1 if is_row else len(labels))
        assert all(box["x"] + box["width"] <= PHONE["width"] for box in boxes if box)
        page.locator(f"#s{place}--no-answer").check()
    assert review(page) == {f"{place}?": "No answer" for place in range(len(scales))}


NUMBER = (
    'title = "N"\nid = "n"\nlanguages = ["en", "de", "fr", "es", "ar"]\n[[questions]]\nid = "n"\n'
    'kind = "number"\ntext = "How many?"\nslider = true\nepsilon = 1\n'
)
WHOLE = NUMBER + "min = 0\nmax = 2000000\nstep = 1\n"
ANY = NUMBER + "min = 0\nmax = 10\n"


@pytest.fixture(scope="module")
def asking(browser: Browser, collector: Collector) -> Iterator[Callable[[str], Page]]:
    """Return the page of a survey, which is the same page each time."""
    device = Device(browser)

    @cache
    def at_question(survey: str) -> Page:
        page = device.visit(collector.page(collector.publish(survey)))
        begin(page)
        return page

    yield at_question
    device.context.close()


@pytest.mark.parametrize(
    ("survey", "typed", "answer"),
    [
        (WHOLE, "12,345", "12,345"),
        (WHOLE, "12.345", "12,345"),
        (WHOLE, "1,234", "1234"),
        (WHOLE, "1,234,567", "1,234,567"),
        (WHOLE, "1.234.567", "1,234,567"),
        (WHOLE, "1,234.0", "1234"),
        (WHOLE, "1.234,0", "1234"),
        (WHOLE, "12,34", "12"),
        (WHOLE, "1,2,3", ""),
        (WHOLE, "1,234,56", ""),
        (WHOLE, "1,234.567,8", ""),
        (ANY, "1,234", "1.234"),
        (ANY, "1.234", "1.234"),
        (ANY, "12,345", ""),
    ],
)
def test_marks_between_thousands_are_read_where_they_can_mean_one_number(
    asking: Callable[[str], Page], survey: str, typed: str, answer: str
) -> None:
    page = asking(survey)
    to_question(page)
    page.locator("#n--number").fill(typed)
    page.get_by_role("button", name="Review my answers").click()
    if answer:
        expect(page.locator("#review dd:not(:has(.link))")).to_have_text(answer)
    else:
        expect(page.locator("#n_complaint")).not_to_be_empty()
        expect(page.locator("#review")).to_be_hidden()


@pytest.mark.parametrize(
    ("language", "million"),
    [
        ("en", "2,000,000"),
        ("de", "2.000.000"),
        ("fr", "2\u202f000\u202f000"),
        ("es", "2.000.000"),
        ("ar", "2,000,000"),
    ],
)
def test_numbers_are_written_as_the_reader_writes_them(
    new_device: MakeDevice, collector: Collector, language: str, million: str
) -> None:
    page = new_device(locale=language).visit(collector.page(collector.publish(WHOLE)))
    begin(page)
    # The server wrote these numbers, and the device wrote those of the review.
    expect(page.locator("#n--range span:visible")).to_contain_text(million)
    expect(page.locator(".slider > :last-child")).to_contain_text(million)
    page.locator("#n--number").fill(million)
    assert list(review(page).values()) == [million]
