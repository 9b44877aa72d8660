"""The editor's figures and steps: costs, conditions, deletions."""

import re
from decimal import Decimal
from html import unescape

from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, seen, text_of, toml, upload
from forms import post
from test_access import HTTPS

from server.editing.draft_file import DraftFile
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]


COMMENTED = IDEA.replace('text = "One?"', 'text = "One?"   # asked since 2019').replace(
    '"idea"', '"undone"', 1
)


def test_a_deletion_is_undone_until_the_next_change(signed_in: Browsers, store: Store) -> None:
    bob, ada, address = signed_in("bob"), signed_in("ada"), "/surveys/undone/edit"
    upload(bob, ("undone.toml", COMMENTED.encode()))
    part = "question/one"
    assert "Undo" not in bob.get(address, **HTTPS).text

    def delete() -> str:
        answer = post(bob, address, do="delete", part=part, seen=seen(bob, part, address))
        assert answer.status_code == 303
        page = bob.get(address, **HTTPS).text
        assert "Deleted: “One?”." in text_of(page, "undo")
        found = re.search(r'name="number" value="(\d+)"', page.partition('id="undo"')[2])
        assert found is not None
        return found[1]

    number = delete()
    # Nobody else can undo it.
    assert "Undo" not in ada.get(address, **HTTPS).text
    assert post(ada, address, do="undo", number=number).status_code == 409
    answer = post(bob, address, do="undo", number=number)
    assert (answer.status_code, answer.location) == (303, f"{address}?part={part}")
    assert toml(store, "undone") == COMMENTED
    assert "Undo" not in bob.get(address, **HTTPS).text
    assert post(bob, address, do="undo", number=number).status_code == 409
    number = delete()
    form = fields(ada, "question/two", address) | {"text": "Ada's?"}
    assert post(ada, address, do="save", **form).status_code == 303
    assert "Undo" not in bob.get(address, **HTTPS).text
    answer = post(bob, address, do="undo", number=number)
    assert (answer.status_code, "cannot be undone here" in answer.text) == (409, True)
    assert DraftFile(toml(store, "undone")).ids() == ["two"]


GRID = (
    IDEA
    + """
[[questions]]
id = "led"
kind = "scale"
matrix = "How much do you agree with these statements about your place of work?"
text = "My ward is well led"
points = ["no", "partly", "yes"]
epsilon = 1.0

[[questions]]
id = "paid"
kind = "scale"
matrix = "How much do you agree with these statements about your place of work?"
text = "I am paid well"
points = ["no", "partly", "yes"]
required = true
epsilon = 1.0

[[questions]]
id = "age"
kind = "number"
text = "How old are you?"
min = 18
max = 99
epsilon = 1.0

[[questions]]
id = "last"
kind = "yes-no"
text = "The last one?"
epsilon = 1.0
"""
)


def test_a_condition_is_chosen_in_two_steps(signed_in: Browsers, store: Store) -> None:
    browser, address = signed_in("bob"), "/surveys/grid/edit"
    upload(browser, ("grid.toml", GRID.replace('"idea"', '"grid"', 1).encode()))

    def menu(name: str) -> list[str]:
        page = browser.get(f"{address}?part=question/last", **HTTPS).text
        found = page.partition(f'name="shows_if.{name}"')[2].partition("</select>")[0]
        return [unescape(one) for one in re.findall(r"<option[^>]*>([^<]*)", found)]

    def save(**typed: str) -> str:
        given = {f"shows_if.{name.replace('_', '.')}": one for name, one in typed.items()}
        form = fields(browser, "question/last", address) | given
        assert post(browser, address, do="save", **form).status_code == 303
        data = DraftFile(toml(store, "grid")).data("question/last")
        return str(data.get("shows_if", ""))

    # Rows of a grid begin with the words that distinguish them.
    assert menu("0.question") == [
        "everybody is asked", "One?", "Two?",
        "My ward is well led (How much do you agree with…)",
        "I am paid well (How much do you agree with…)",
        "How old are you?",
    ]  # fmt: skip
    assert menu("0.choice") == []
    # The question comes first; then only its answers can be chosen.
    assert save(**{"0_question": "led"}) == "led = 'no'"
    assert "is not “yes” (this includes people who skipped it)" in menu("0.choice")
    assert not any("One?" in one for one in menu("0.choice"))
    assert save(**{"0_choice": "led != 'yes'"}) == "led != 'yes'"
    assert save(**{"0_question": "paid"}) == "paid = 'no'"
    # Nobody can skip this question.
    assert "is not “yes”" in menu("0.choice")
    assert save(**{"0_question": "age"}) == "age >= 18"
    assert save(**{"0_choice": "age <", "0_number": "30"}) == "age < 30"
    assert save(**{"1_question": "one"}) == "age < 30 and one = 'yes'"
    assert save(**{"0_question": ""}) == "one = 'yes'"
    assert save(**{"0_question": ""}) == ""


def test_sliders_change_the_figures_and_are_kept_on_request(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    page = browser.get(f"{EDIT}?respondents=900&total=4", **HTTPS).text
    assert "ε = 4" in page
    assert toml(store) == IDEA
    sent = {"part": "study", "seen": seen(browser, "study"), "respondents": "900", "total": "4"}
    # If somebody else has kept it meanwhile, keeping it again would multiply it twice.
    assert post(browser, EDIT, do="scale", number="7", **sent).status_code == 409
    assert post(browser, EDIT, do="scale", number="1", **sent).status_code == 303
    assert toml(store) == IDEA.replace("epsilon = 1.0", "epsilon = 2.0")
    assert store.studies.get("idea").planned == 900


def test_a_total_that_is_typed_is_honoured_exactly(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"text": "Three?", "kind": "yes-no", "id": "three", "part": "question/two", "seen": ""}
    post(browser, EDIT, do="add", **sent)
    sent = {"part": "study", "seen": seen(browser, "study"), "number": "2"}
    assert post(browser, EDIT, do="scale", total="3.7", **sent).status_code == 303
    stated = DraftFile(toml(store)).epsilons()
    assert sum(stated.values()) == Decimal("3.7")
    assert max(stated.values()) - min(stated.values()) < Decimal("0.001")
    assert "<strong>ε = 3.7</strong>" in browser.get(EDIT, **HTTPS).text
    for wrong in ("much", "0", "-1", "1e3", "99999999"):
        page = browser.get(f"{EDIT}?total={wrong}", **HTTPS).text
        assert "Total: expected a number such as 4 or 0.5, got" in page, wrong
    answer = post(browser, EDIT, do="scale", total="90", **(sent | {"number": "3"}))
    assert (answer.status_code, "epsilon must be" in answer.text) == (422, True)
    assert DraftFile(toml(store)).epsilons() == stated


def test_a_design_with_its_own_probabilities_keeps_its_part_of_a_total(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    form = fields(browser, "question/one") | {"required": "true", "do": "save"}
    assert post(browser, EDIT, **form).status_code == 303
    form = fields(browser, "question/one") | {"mechanism": "warner", "mechanism.p": "0.7311"}
    assert post(browser, EDIT, do="save", **(form | {"epsilon": ""})).status_code == 303
    page = browser.get(f"{EDIT}?total=3", **HTTPS).text
    assert "<strong>ε = 3</strong>" in page
    page = browser.get(f"{EDIT}?total=1", **HTTPS).text
    assert re.search(r"expected more than ε = 1\.000\d, which designs with probabilities", page)


def test_one_wave_and_all_waves_are_compared_with_the_limit(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    capped = fields(browser, "study") | {"privacy.cap": "5", "do": "save"}
    assert post(browser, EDIT, **capped).status_code == 303
    costs = text_of(browser.get(EDIT, **HTTPS).text, "totals")
    assert re.search(
        r"One ε = 2: odds of up to 7.39 to 1 .* 5: enough All planned \(2\) ε = 4 5: enough", costs
    )
    costs = text_of(browser.get(f"{EDIT}?waves=3", **HTTPS).text, "totals")
    assert "All planned (3) ε = 6 5: too low, since it is enough for 2" in costs
    # A limit below one wave is reported once, whatever total is tried.
    sent = {"part": "study", "seen": seen(browser, "study"), "number": "2", "total": "6"}
    assert post(browser, EDIT, do="scale", **sent).status_code == 303
    page = browser.get(EDIT, **HTTPS).text
    costs = text_of(page, "totals")
    assert re.search(r"One ε = 6: odds of up to 404 to 1 ?.* 5: too low for a single wave", costs)
    assert "enough" not in text_of(page, "totals")
    assert "is too low" not in page
    publish = browser.get("/surveys/idea/publish", **HTTPS).text
    assert "the cap of 5 is too low: one wave costs ε = 6" in publish
    assert "Nobody can spend more than ε = 5" in publish
    sent = {"part": "study", "seen": seen(browser, "study"), "number": "3", "waves": "3"}
    assert post(browser, EDIT, do="limit", **sent).status_code == 303
    assert DraftFile(toml(store)).data("study")["privacy"]["cap"] == 18
    assert "All planned (3) ε = 18 18: enough" in text_of(browser.get(EDIT, **HTTPS).text, "totals")


def test_the_list_with_its_draws_adds_up_to_the_total(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    for name in ("three", "four", "five"):
        sent = {"text": f"{name}?", "kind": "yes-no", "id": name, "part": "study", "seen": ""}
        post(browser, EDIT, do="add", **sent)
    base = {"part": "study", "seen": seen(browser, "study")}
    post(browser, EDIT, do="together", questions=["one", "three"], **base)
    shown = text_of(browser.get(EDIT, **HTTPS).text, "list").partition("Another question")[0]
    assert re.search(r"One\? in draw .* Two\? 1 .* One draw for 2 questions 2 ", shown)
    lines = re.findall(r'<td class="number">([0-9.]+)</td>', browser.get(EDIT, **HTTPS).text)
    assert sum(map(Decimal, lines[:-1])) == Decimal(lines[-1]) == 5
    file = DraftFile(toml(store))
    draft = store.drafts.get("idea")
    assert draft is not None
    more = {"id": "more", "questions": ["two", "five"], "epsilon": 1.5, "epsilon_each": 1.0}
    for name in ("two", "five"):
        file.put(f"question/{name}", "epsilon", None)
    file.add("together", more)
    store.drafts.change(draft, file.toml, "ada", "drew two more together")
    shown = text_of(browser.get(EDIT, **HTTPS).text, "list")
    assert re.search(r"in draw A .* in draw B .* One draw B for 2 questions 1.5 ", shown)


def test_the_gain_from_a_looser_limit_is_drawn_on_request(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    base = {"part": "question/one", "seen": seen(browser, "question/one")}
    post(browser, EDIT, do="together", questions=["one", "two"], **base)
    part = f"{EDIT}?part=together/together"
    assert "<svg" not in browser.get(part, **HTTPS).text.partition('id="aside"')[2]
    page = browser.get(f"{part}&draw=1", **HTTPS).text.partition('id="aside"')[2]
    assert page.count("<svg") == 3
