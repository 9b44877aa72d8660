"""A researcher's browser uploads, opens, and closes a study, and looks at its results."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from collector import Collector, command
from device import SURVEY, Device, answer
from playwright.sync_api import Page, expect
from test_looks import check_accessible as seen

from analysis.survey.simulate import payloads
from server.deliver import to_store
from server.store import Store

STUDY = f"""access = "invited"
{SURVEY.replace("canteen", "study", 1)}[results]
batch = 10
minimum = 20
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Collector]:
    """Run a server of its own; return it with its token."""
    (tmp_path / "served").mkdir()
    with command(tmp_path / "served", SURVEY) as collector:
        yield collector


@pytest.fixture
def console(device: Device, served: Collector) -> Page:
    """Return the console, at the list of surveys, for an owner."""
    page = device.context.new_page()
    page.goto(f"{served.url}/login")
    page.get_by_label("Password or token").fill(served.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Surveys")).to_be_visible()
    return page


def others_answer(served: Collector, links: list[str]) -> None:
    """Use each of these links."""
    store = Store(served.database)
    current = store.surveys.current("study")
    assert current is not None
    people = [{"smoked": "no", "pet": "", "team": "lab", "debts": ""}] * len(links)
    sent = payloads(current.survey, people, 1, seed=len(links))
    tokens = [link.rpartition("#")[2] for link in links]
    with_links = ({**one, "token": token} for one, token in zip(sent, tokens, strict=True))
    assert to_store(store, "study", with_links, lambda _: None) == {"stored": len(links)}
    store.close()


def _try_with_made_up_respondents(console: Page, served: Collector) -> None:
    """Fill a trial copy, look at its results, cross-tabulate, fit a model, and download it."""
    console.goto(f"{served.url}/surveys/study/pilot")
    console.get_by_label("Made-up respondents").fill("2000")
    console.get_by_role("button", name="Fill a trial copy").click()
    expect(console.get_by_text("The copy is being filled")).to_be_visible()
    seen(console)
    # The page goes on by itself once the copy is there.
    console.get_by_role("link", name="Look at its results").click()
    expect(console.get_by_text("2,000 reports are shown")).to_be_visible()
    seen(console)
    console.get_by_label("Picture").select_option("Dots of plausible values")
    console.get_by_label("Level").select_option("80 %")
    console.get_by_role("button", name="Show").click()
    expect(console.get_by_text("Each dot stands for a twentieth")).to_be_visible()
    seen(console)
    console.get_by_role("link", name="Together").click()
    seen(console)
    console.get_by_label("Groups by").select_option("Where do you work?")
    console.get_by_label("Answers to").select_option("Did you smoke?")
    console.get_by_role("button", name="Show the table").click()
    expect(console.get_by_text("Shares in groups", exact=True)).to_be_visible()
    seen(console)
    console.get_by_label("Outcome", exact=True).select_option("Did you smoke?")
    console.get_by_role("checkbox", name="Where do you work?").check()
    console.get_by_text("More choices").click()
    console.get_by_label("Infinite coefficients").select_option("log-f")
    console.get_by_role("checkbox", name="Show average effects").check()
    console.get_by_role("button", name="Fit the model").click()
    expect(console.get_by_role("region", name="Coefficients")).to_be_visible()
    expect(console.get_by_role("region", name="Average effects")).to_be_visible()
    expect(console.get_by_label("Infinite coefficients")).to_have_value("log-f")
    seen(console)
    with console.expect_download() as download:
        console.get_by_role("link", name="predicted.csv").click()
    assert download.value.path().read_text().startswith("predictor,answer,value,estimate")


def test_a_study_is_run_from_the_browser_alone(
    console: Page,
    served: Collector,
    tmp_path: Path,
    new_device: Callable[..., Device],
) -> None:
    """Thirty of sixty people answer: one on the page, and the others in bulk."""
    seen(console)
    console.locator("body").press("Tab")
    expect(console.get_by_role("link", name="To the content")).to_be_focused()
    console.keyboard.press("Enter")
    expect(console.get_by_role("main")).to_be_focused()
    (tmp_path / "study.toml").write_text(STUDY)
    console.get_by_role("link", name="A new survey").click()
    console.get_by_label("Survey file, and").set_input_files(tmp_path / "study.toml")
    console.get_by_role("button", name="Upload").click()
    seen(console)
    console.get_by_role("link", name="Publish").click()
    seen(console)
    console.get_by_role("button", name="Freeze and publish study").click()
    expect(console.get_by_text("It is published")).to_be_visible()
    console.get_by_role("link", name="Fieldwork", exact=True).first.click()
    expect(console.get_by_text("Nobody can answer it yet")).to_be_visible()
    seen(console)
    console.get_by_role("button", name="Open for respondents").click()
    console.get_by_label("Planned respondents").fill("60")
    console.get_by_role("button", name="Save", exact=True).click()
    console.get_by_label("How many").fill("60")
    console.get_by_role("button", name="Make them").click()
    expect(console.get_by_text("You have made 60 links")).to_be_visible()
    with console.expect_download() as download:
        console.get_by_role("button", name="Download them").click()
    with download.value.path().open() as file:
        links = [row["link"] for row in csv.DictReader(file)]
    assert len(set(links)) == 60
    device = new_device()
    answer(device.visit(links[0]), {"team": "lab"}, "stored")
    device.context.close()
    # One answer shows nothing; the rest of a batch does.
    console.clock.install()
    console.goto(f"{served.url}/surveys/study")
    expect(console.get_by_text("fewer than 20 reports")).to_be_visible()
    others_answer(served, links[1:20])
    others_answer(served, links[20:30])
    # The page asks by itself, and shows the new numbers, one batch behind.
    console.clock.fast_forward(31_000)
    expect(console.get_by_text("20 reports", exact=True)).to_be_visible()
    console.get_by_role("button", name="Close the survey").click()
    expect(console.get_by_text("30 reports", exact=True)).to_be_visible()
    seen(console)
    console.get_by_role("link", name="Results").click()
    expect(console.get_by_text("With 30 people the widest interval").first).to_be_visible()
    seen(console)
    for name in ("Privacy", "Downloads"):
        console.get_by_role("link", name=name, exact=True).click()
        seen(console)
    with console.expect_download() as download:
        console.get_by_role("link", name="CSV").first.click()
    assert download.value.suggested_filename.startswith("study-estimates-wave-1")
    _try_with_made_up_respondents(console, served)
    for name in ("People", "Log"):
        console.get_by_role("link", name=name, exact=True).click()
        seen(console)
    console.get_by_role("button", name="Sign out").click()
    console.goto(f"{served.url}/surveys")
    expect(console.get_by_role("heading", name="Sign in")).to_be_visible()
