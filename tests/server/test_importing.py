"""Before a form is imported, researchers choose the questions and give missing bounds."""

import io
import json
import re
from html import unescape
from typing import Any

import openpyxl
import pytest
import test_forms_limesurvey as limesurvey
import test_forms_qualtrics as qualtrics
from console_pages import Browsers, app, signed_in, survey_file
from drafting import toml
from forms import post
from test_access import HTTPS

from analysis.mechanisms.inverted_table import _designed
from analysis.mechanisms.number_design import number_table
from server.editing.draft_file import DraftFile
from server.editing.reading import read_draft
from server.forms import Wanted, read_form
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]
ROWS = [
    ["type", "name", "label", "constraint", "relevant"],
    ["select_one yn", "smokes", "Do you smoke?"],
    ["integer", "packs", "How many packs a week?", "", "${smokes} = 'y'"],
    ["decimal", "weight", "Your weight?", ". > 0"],
    ["integer", "age", "How old are you?", ". >= 18 and . <= 99"],
]


def book(rows: list[list[str]]) -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = "survey"
    for row in rows:
        sheet.append(row)
    lists = workbook.create_sheet("choices")
    for row in (["list_name", "name", "label"], ["yn", "y", "Yes"], ["yn", "n", "No"]):
        lists.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def look(browser: Any, rows: list[list[str]]) -> Any:
    files = [(io.BytesIO(book(rows)), "smoking.xlsx")]
    return post(browser, "/surveys/new", how="tool", files=files)


def filled(page: str) -> dict[str, str]:
    """Return what the page's form sends if nothing is changed in it."""
    sent = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name, value = (re.search(rf' {key}="([^"]*)"', tag) for key in ("name", "value"))
        if name and name[1] != "csrf" and (" checked" in tag or "checkbox" not in tag):
            sent[unescape(name[1])] = unescape(value[1]) if value else ""
    return sent


def place(page: str, what: str, text: str) -> str:
    """Return the name of the field of a question."""
    if what == "keep":
        found = re.search(rf'name="(keep\.\d+)"[^>]*> <span>{re.escape(text)}', page)
    else:
        found = re.search(rf'name="({what}\.\d+)" aria-label="\w+: {re.escape(text)}"', page)
    assert found is not None
    return found[1]


def test_numbers_are_imported_with_bounds_that_are_typed_at_once(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    answer = look(browser, ROWS)
    assert answer.status_code == 200
    assert store.drafts.get("smoking") is None
    page = answer.text
    assert "Numbers without bounds (2)" in page
    sent = filled(page) | {
        place(page, "min", "How many packs a week?"): "0",
        place(page, "max", "How many packs a week?"): "30",
        place(page, "unit", "How many packs a week?"): "packs",
        place(page, "min", "Your weight?"): "30.5",
        place(page, "max", "Your weight?"): "250",
    }
    answer = post(browser, "/surveys/new", **sent)
    assert (answer.status_code, answer.location) == (303, "/surveys/smoking/history#imported")
    file = DraftFile(toml(store, "smoking"))
    assert file.ids() == ["smokes", "packs", "weight", "age"]
    packs = file.data("question/packs")
    keys = ("kind", "min", "max", "unit", "integer", "shows_if")
    assert [packs[key] for key in keys] == ["number", 0, 30, "packs", True, "smokes = 'yes'"]
    assert file.data("question/weight")["min"] == 30.5
    assert store.drafts.imported("smoking").count("its bounds were given when it was") == 2
    assert read_draft(toml(store, "smoking"), {}).problems == ()


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        ("0", "", "“Your weight?”, highest: expected a number, got nothing"),
        ("", "9", "“Your weight?”, lowest: expected a number, got nothing"),
        ("0", "many", "“Your weight?”, highest: expected a number, got 'many'"),
        ("9", "9", "“Your weight?”, highest: expected a number above 9, got 9"),
    ],
)
def test_wrong_bounds_are_reported_and_the_typed_text_stays(
    signed_in: Browsers, store: Store, low: str, high: str, told: str
) -> None:
    browser = signed_in("bob")
    page = look(browser, ROWS).text
    names = [place(page, key, "Your weight?") for key in ("min", "max")]
    left_out = place(page, "keep", "Do you smoke?")
    sent = filled(page) | dict(zip(names, (low, high), strict=True))
    del sent[left_out]
    answer = post(browser, "/surveys/new", **sent)
    assert (answer.status_code, store.drafts.get("smoking")) == (422, None)
    assert told in unescape(answer.text)
    again = filled(answer.text)
    assert [again[name] for name in names] == [low, high]
    assert left_out not in again


def test_answers_beside_a_scale_are_kept_as_points_if_somebody_says_so(
    signed_in: Browsers, store: Store
) -> None:
    lines = ["survey", ",type,name,label,appearance", ",select_one s,often,How often?,likert"]
    lines += ["choices", ",list_name,name,label", ",s,1,Never", ",s,2,Often", ",s,99,Do not know"]
    browser, draft = signed_in("bob"), DraftFile
    for is_kept, points in ((False, ["Never", "Often"]), (True, ["Never", "Often", "Do not know"])):
        files = [(io.BytesIO("\n".join(lines).encode()), f"form{is_kept:d}.csv")]
        page = post(browser, "/surveys/new", how="tool", files=files).text
        assert "Scales with answers beside them (1)" in page
        assert "Look at it (2)" in page
        assert "is no point: it means to give no answer" in page
        sent = filled(page) | ({"whole.0": "yes"} if is_kept else {})
        answer = post(browser, "/surveys/new", **sent)
        name = f"form{is_kept:d}"
        assert answer.location == f"/surveys/{name}/history#imported"
        found = draft(toml(store, name)).data("question/often")["points"]
        assert [one["text"] if is_kept else one for one in found] == points
        told = browser.get(f"/surveys/{name}/history", **HTTPS).text
        link = f'<a href="/surveys/{name}/edit?part=question/often">How often?</a>'
        assert ("Look at it (2)" in told, link in told) == (not is_kept, not is_kept)


def test_a_row_with_thousands_of_values_can_be_shown(signed_in: Browsers, store: Store) -> None:
    form = {"elements": [{"type": "text", "name": "q"}]} | {f"key{n}": 1 for n in range(8_000)}
    browser = signed_in("bob")
    files = [(io.BytesIO(json.dumps(form).encode()), "many.json")]
    page = post(browser, "/surveys/new", how="tool", files=files)
    assert (page.status_code, "key7999" in page.text) == (200, True)
    assert post(browser, "/surveys/new", **filled(page.text)).status_code == 303
    assert "key7999" in browser.get("/surveys/many/history", **HTTPS).text


def test_only_chosen_questions_are_imported(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    rows = [*ROWS, ["select_one yn", "tried", "Did you try to stop?", "", "${smokes} = 'y'"]]
    page = look(browser, rows).text
    sent = filled(page)
    # Without its bounds, a number is refused as before.
    for text in ("Do you smoke?", "How old are you?"):
        del sent[place(page, "keep", text)]
    assert post(browser, "/surveys/new", **sent).status_code == 303
    assert DraftFile(toml(store, "smoking")).ids() == ["tried"]
    report = {row.split(",")[1]: row for row in store.drafts.imported("smoking").splitlines()}
    assert "left out when the form was imported" in report["smokes"]
    assert "add a constraint such as" in report["packs"]
    assert "so more people are asked" in report["tried"]
    sent = {name: one for name, one in filled(page).items() if not name.startswith("keep")}
    answer = post(browser, "/surveys/new", **sent)
    assert (answer.status_code, "no question can be imported" in answer.text) == (422, True)


def test_the_returned_form_is_checked(signed_in: Browsers) -> None:
    browser = signed_in("bob")
    sent = filled(look(browser, ROWS).text)
    for wrong in ({"content": "§"}, {"content": "aGk="}, {"tool": "poem"}):
        assert post(browser, "/surveys/new", **(sent | wrong)).status_code == 422


def test_no_channel_is_designed_for_a_number_before_its_costs_are_shown(
    signed_in: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    designed: list[int] = []

    def counted(steps: int, *others: Any) -> Any:
        designed.append(steps)
        return number_table(steps, *others)

    monkeypatch.setattr("analysis.mechanisms.inverted_table.number_table", counted)
    _designed.cache_clear()
    rows = [
        ["integer", f"n{one}", f"Number {one}?", f". >= 0 and . <= {1000 + one}"]
        for one in range(40)
    ]
    browser = signed_in("bob")
    page = look(browser, [ROWS[0], *rows]).text
    assert post(browser, "/surveys/new", **filled(page)).status_code == 303
    told = browser.get("/surveys/smoking/history", **HTTPS)
    assert (told.status_code, "for each of its 40 ranges of numbers" in told.text) == (200, True)
    # The channel of numbers from 0 to 1 stands for all.
    assert {*designed} <= {1}


@pytest.mark.parametrize(
    ("low", "high", "is_whole"),
    [("0", "1", True), ("-1000000", "1000000", True), ("0", "0.001", False), ("18", "99", True)],
)
def test_numbers_that_are_imported_pass_the_whole_check(
    low: str, high: str, is_whole: bool
) -> None:
    kind = "integer" if is_whole else "decimal"
    rows = [ROWS[0], [kind, "n", "How many?", f". >= {low} and . <= {high}"], [kind, "m", "And?"]]
    (lacking,) = [one for one in read_form(book(rows), "n.xlsx").found if one.lacks_bounds]
    given = {"min": -5, "max": 7}
    imported = read_form(book(rows), "n.xlsx", None, Wanted({lacking.place: given}))
    assert len(read_draft(imported.toml, {}).survey.questions) == 2


def test_impossible_bounds_are_refused() -> None:
    rows = [ROWS[0], ["integer", "n", "How many?"], ["integer", "m", "And?", ". >= 0 and . <= 9"]]
    (lacking,) = [one for one in read_form(book(rows), "n.xlsx").found if one.lacks_bounds]
    given = {"min": 0.5, "max": 7}
    imported = read_form(book(rows), "n.xlsx", None, Wanted({lacking.place: given}))
    (row,) = [row for row in imported.rows if row.row == "survey!2"]
    assert (row.outcome, "a whole number, since integer = true" in row.detail) == ("refused", True)


#: Forms of each tool with numbers, whose bounds are removed by another name, and the ids of these
#: numbers.
UNBOUNDED = {
    "form.lss": (
        limesurvey.structure().replace(b"max_num_value_n", b"maximum_chars"),
        ["age", "sums-x", "sums-y", "weight"],
    ),
    "form.qsf": (
        json.dumps(qualtrics.form())
        .replace('"Max"', '"Most"')
        .replace("SliderMax", "SMost")
        .encode(),
        ["age", "slide-1", "slide-2"],
    ),
    "form.json": (
        json.dumps(
            {
                "elements": [
                    {"type": "text", "inputType": "number", "name": "weight", "min": 0},
                    {"type": "boolean", "name": "more", "visibleIf": "{weight} > 70"},
                ]
            }
        ).encode(),
        ["weight"],
    ),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_numbers_of_every_tool_are_imported_once_their_bounds_are_given(name: str) -> None:
    content, ids = UNBOUNDED[name]
    before = read_form(content, name)
    lacking = [one for one in before.found if one.lacks_bounds]
    assert len(lacking) == len(ids)
    refused = {row.row: row for row in before.rows if row.outcome == "refused"}
    assert all("needs its lowest and highest value" in refused[one.row].detail for one in lacking)
    given = {one.place: {"min": 0, "max": 100} for one in lacking}
    after = read_form(content, name, None, Wanted(given))
    file = DraftFile(after.toml)
    numbers = [one for one in file.ids() if file.data(f"question/{one}")["kind"] == "number"]
    assert {*ids} <= {*numbers}
    assert after.questions == before.questions + len(ids)
    # Conditions on these numbers are imported with them.
    told = {row.row: row for row in after.rows}
    assert all(told[one.row].outcome != "refused" for one in lacking)
    assert read_draft(after.toml, {}).problems == ()
    if name == "form.lss":
        assert file.data("question/often-am")["shows_if"] == "age >= 21"
        assert told["questions!9"].outcome == "imported"
    if name == "form.json":
        assert file.data("question/more")["shows_if"] == "weight > 70"
