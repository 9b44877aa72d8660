"""Nothing that is typed is lost: by a colleague, a slow server or a mistake."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect
from test_editor import (
    EPSILON,
    SHOWN,
    add,
    begun,
    follow_to_the_mistake,
    served,
    sign_in,
    signed_in,
    write,
    write_nonsense,
)
from test_looks import PHONE
from test_looks import check_accessible as seen

__all__ = ["begun", "served", "sign_in", "signed_in"]

pytestmark = pytest.mark.more


def test_two_researchers_write_at_the_same_time(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    ada, bob = sign_in(), sign_in()
    begun(ada)
    add(ada, "Where do you work?", "One of several options", "team")
    bob.goto(ada.url)
    write(bob, "Help below it", "Bob was here.")
    # Ada has not seen that change, so the page says so, and her text stays.
    ada.locator("#form").get_by_label("Help below it", exact=True).fill("Ada was here.")
    ada.locator("#form").get_by_label("Help below it", exact=True).press("Tab")
    expect(ada.get_by_role("alert")).to_contain_text("changed this in the meantime")
    seen(ada)
    expect(ada.locator("#form").get_by_label("Help below it")).to_have_value("Ada was here.")
    with ada.expect_response(SHOWN):
        ada.get_by_role("button", name="Save").click()
    bob.reload()
    expect(bob.locator("#form").get_by_label("Help below it")).to_have_value("Ada was here.")


def test_one_press_does_not_overwrite_what_a_colleague_wrote(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    ada, bob = sign_in(), sign_in()
    begun(ada)
    bob.goto(ada.url)
    write(bob, "Help below it", "Bob was here.")
    # Leaving the field stores it, and so does the button, both before any message.
    form = ada.locator("#form")
    form.get_by_label("Help below it", exact=True).fill("Ada was here.")
    form.get_by_role("button", name="Save").first.click()
    expect(ada.get_by_role("alert")).to_contain_text("changed this in the meantime")
    # Nothing is stored by itself until it is clear whose text is wanted.
    form.get_by_label("Question", exact=True).fill("Were you harassed at all?")
    form.get_by_label("Question", exact=True).press("Tab")
    bob.reload()
    expect(bob.locator("#form").get_by_label("Help below it")).to_have_value("Bob was here.")
    with ada.expect_response(SHOWN):
        form.get_by_role("button", name="Save").first.click()
    bob.reload()
    expect(bob.locator("#form").get_by_label("Help below it")).to_have_value("Ada was here.")
    expect(bob.locator("#form").get_by_label("Question", exact=True)).to_have_value(
        "Were you harassed at all?"
    )


def test_what_is_typed_while_the_server_is_slow_is_stored(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in()
    begun(page)
    held: list[Route] = []
    page.route("**/edit", lambda route: held.append(route))
    form = page.locator("#form")
    texts = {"Help below it": "First.", "Question": "Second?", EPSILON: "2"}
    posted: list[Request] = []
    page.on("request", lambda one: posted.append(one) if one.method == "POST" else None)
    with page.expect_request("**/edit"):
        for label, text in texts.items():
            form.get_by_label(label, exact=True).fill(text)
            form.get_by_label(label, exact=True).press("Tab")
    # All three fields were left before the first answer came, which knows only the first.
    for _ in texts:
        with page.expect_response(SHOWN):
            held.pop().continue_()
        for label, text in texts.items():
            expect(form.get_by_label(label, exact=True)).to_have_value(text)
        while not held and len(posted) < len(texts):
            page.evaluate("() => new Promise((go) => setTimeout(go, 50))")
    for route in held:
        route.continue_()
    page.unroute_all(behavior="wait")
    page.reload()
    expect(form.get_by_label("Help below it", exact=True)).to_have_value("First.")
    expect(form.get_by_label("Question", exact=True)).to_have_value("Second?")
    expect(form.get_by_label(EPSILON, exact=True)).to_have_value("2")


def test_a_mistake_moves_the_focus_of_nobody_who_types(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in(bypass_csp=True, viewport=PHONE)
    begun(page)
    page.get_by_role("link", name="Form", exact=True).click()  # below much else on a phone
    expect(page.locator("#form").get_by_label("Kind")).to_be_in_viewport()
    write_nonsense(page, "Tab")
    expect(page.locator("#epsilon")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#mistakes")).not_to_be_focused()
    seen(page)
    page.locator("#form").get_by_role("button", name="Save").first.press("Enter")
    expect(page.locator("#mistakes")).to_be_focused()
    follow_to_the_mistake(page)
    write(page, "ε, the most that a report reveals", "2")
    expect(page.locator("#mistakes, .at-field, [aria-invalid]")).to_have_count(0)
