"""Show the pages of researchers one by one, to be looked at."""

from playwright.sync_api import expect
from stage import EXAMPLES, Scene, Stage, simulated


def research(stage: Stage) -> Scene:
    """Show what researchers see, and what they do in a trial copy."""
    device = stage.new_device()
    page = device.visit(f"{stage.collector.url}/login")
    yield "sign-in", page
    page.get_by_label("Password or token").fill(stage.collector.token)
    page.get_by_role("button", name="Sign in").click()
    survey = simulated(stage.collector)
    for name, path in {
        "surveys": "/surveys",
        "fieldwork": f"/surveys/{survey}",
        "sheet": f"/surveys/{survey}/sheet",
        "results": f"/results/{survey}",
        "results-dots": f"/results/{survey}?picture=dots&level=0.8",
        "together": f"/surveys/{survey}/together",
        "privacy": f"/surveys/{survey}/privacy",
        "downloads": f"/surveys/{survey}/downloads",
        "new": "/surveys/new",
        "account": "/account",
        "people": "/people",
        "log": "/log",
        "not-public": f"/public/{survey}",
    }.items():
        page.goto(stage.collector.url + path)
        yield name, page
    page.goto(f"{stage.collector.url}/surveys/{survey}")
    page.get_by_label("Planned respondents").fill("many")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#mistakes")).to_be_focused()
    yield "mistake", page
    page.goto(f"{stage.collector.url}/surveys/new")
    page.get_by_label("Survey file, and").set_input_files(EXAMPLES / "staff-panel.toml")
    page.get_by_role("button", name="Upload").click()
    for part in ("edit", "translations", "history", "plan", "pilot", "publish"):
        # An earlier scene may have made the draft already.
        page.goto(f"{stage.collector.url}/surveys/staff-panel/{part}")
        if part == "edit":
            expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
        yield part, page
    page.goto(f"{stage.collector.url}/surveys/{survey}/pilot")
    page.get_by_label("Made-up respondents").fill("2000")
    page.get_by_role("button", name="Fill a trial copy").click()
    page.wait_for_load_state()
    yield "trial", page
    page.get_by_role("link", name="Look at its results").click()
    expect(page.get_by_text("2,000 reports are shown")).to_be_visible()
    yield "trial-results", page
    page.get_by_role("link", name="Together").click()
    page.get_by_label("Groups by").select_option("team")
    page.get_by_label("Answers to").select_option("harassed")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_text("Shares in groups", exact=True)).to_be_visible()
    yield "crosstab", page
    page.get_by_label("Outcome", exact=True).select_option("harassed")
    for name in ("Where do you work?", "Income per month?"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_text("More choices").click()
    page.get_by_role("checkbox", name="Show average effects").check()
    page.get_by_role("button", name="Fit the model").click()
    expect(page.get_by_role("region", name="Coefficients")).to_be_visible()
    yield "model", page
