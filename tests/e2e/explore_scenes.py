"""The page to explore, in the states that it can have."""

from playwright.sync_api import expect
from stage import Scene, Stage, open_details


def explore(stage: Stage) -> Scene:
    """Show all questions, one of them alone, a mistake, and a query that is refused."""
    page = stage.new_device().visit(f"{stage.collector.url}/explore")
    expect(page.locator("[data-of]").first).to_be_visible()
    yield "explore", page
    open_details(page)
    yield "explore-open", page
    page.get_by_label("Respondents", exact=True).first.fill("many")
    expect(page.locator("#wrong-precision-people")).to_be_visible()
    page.locator("#draws-each").fill("9")
    expect(page.get_by_text("each must be from 1 to 4, got 9")).to_be_visible()
    page.get_by_role("button", name="ε = 2", exact=True).click()
    expect(page.get_by_text("It was refused, and cost nothing.")).to_be_visible()
    yield "explore-wrong", page
    page.goto(f"{stage.collector.url}/explore/precision?precision-epsilon=0.5")
    expect(page.locator("[data-of]").first).to_be_visible()
    yield "explore-one", page
