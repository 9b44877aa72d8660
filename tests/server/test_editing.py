"""The editor: what forms change in a file, what they leave, and what two people do at once."""

import io
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, seen, toml, upload
from forms import post

from server.editing.draft_file import DraftFile
from server.editing.reading import apply_valid, read_draft
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]
ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))
ACTIONS = [
    ("up", "question/two", ["two", "one"]),
    ("down", "question/one", ["two", "one"]),
    ("up", "question/one", ["one", "two"]),
    ("copy", "question/one", ["one", "one-2", "two"]),
    ("delete", "question/one", ["two"]),
]
KINDS = ("yes-no", "choice", "choices", "scale", "number", "rank", "text", "note")
MISTAKES: list[tuple[str, dict[str, str], str]] = [
    ("question/two", {"epsilon": "much"}, "expected a number such as 12 or 0.5, got 'much'"),
    ("question/two", {"epsilon": "99"}, "epsilon must be"),
    ("question/two", {"text": ""}, "text must be"),
    ("question/two", {"id": "Two!"}, "expected letters of a-z, digits and -"),
    ("question/two", {"id": "one"}, "expected one that is not taken, got one"),
    ("question/two", {"mechanism": "laplace"}, "expected one of"),
    ("question/two", {"kind": "poem"}, "expected one of"),
    ("study", {"closes": "tomorrow"}, "expected a day such as 2026-12-31"),
    ("study", {"link": "javascript:alert(1)"}, "link must be"),
    ("study", {"title": ""}, "title must be"),
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_saving_forms_unchanged_changes_no_letter_of_a_file(
    signed_in: Browsers, store: Store, name: str
) -> None:
    browser, folder = signed_in("bob"), ROOT / "examples"
    text = (folder / f"{name}.toml").read_text()
    others = [(path.name, path.read_bytes()) for path in folder.glob("*.png")]
    answer = upload(browser, (f"{name}.toml", text.encode()), *others)
    assert answer.status_code == 303, answer.text
    address = answer.headers["Location"]
    survey = address.split("/")[2]
    file = DraftFile(text)
    parts = ["study", *(f"question/{one}" for one in file.ids())]
    for part in [*parts, *(f"together/{one}" for one in file.ids("together"))]:
        answer = post(browser, address, do="save", **fields(browser, part, address))
        assert answer.status_code == 303, (part, answer.text)
        assert toml(store, survey) == text, part


def test_one_change_changes_one_line(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = fields(browser, "question/two")
    post(browser, EDIT, **(sent | {"text": "Two, really?", "do": "save"}))
    assert toml(store) == IDEA.replace("Two?", "Two, really?")
    history = store.drafts.history("idea")
    assert [(one.who, one.what) for one in history] == [
        ("bob", "changed question two"),
        ("ada", "began it"),
    ]


def test_two_people_change_two_questions_and_both_stay(signed_in: Browsers, store: Store) -> None:
    ada, bob = signed_in("ada"), signed_in("bob")
    first, second = fields(ada, "question/one"), fields(bob, "question/two")
    assert post(ada, EDIT, do="save", **(first | {"text": "Ada's?"})).status_code == 303
    assert post(bob, EDIT, do="save", **(second | {"text": "Bob's?"})).status_code == 303
    assert {"Ada's?", "Bob's?"} <= set(re.findall(r'text = "(.*)"', toml(store)))


def test_nobody_overwrites_an_unseen_change(signed_in: Browsers, store: Store) -> None:
    ada, bob = signed_in("ada"), signed_in("bob")
    mine, theirs = fields(ada, "question/one"), fields(bob, "question/one")
    post(ada, EDIT, do="save", **(mine | {"text": "Ada's?"}))
    answer = post(bob, EDIT, do="save", **(theirs | {"text": "Bob's?"}))
    assert answer.status_code == 409
    assert "ada changed this in the meantime" in answer.text
    assert "Ada&#39;s?" in toml(store).replace("'", "&#39;")
    # The typed text is still there, and can be stored again, now that the change is known.
    assert "Bob&#39;s?" in answer.text
    again = theirs | {"text": "Bob's?", "seen": seen(bob, "question/one")}
    assert post(bob, EDIT, do="save", **again).status_code == 303
    assert "Bob's?" in toml(store)
    for do in ("delete", "copy"):
        assert post(ada, EDIT, do=do, **mine).status_code == 409


@pytest.mark.parametrize(("do", "part", "left"), ACTIONS)
def test_questions_are_moved_copied_and_deleted(
    signed_in: Browsers, store: Store, do: str, part: str, left: list[str]
) -> None:
    browser = signed_in("bob")
    answer = post(browser, EDIT, do=do, part=part, seen=seen(browser, part))
    assert answer.status_code == 303
    assert DraftFile(toml(store)).ids() == left


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_of_each_kind_is_added_and_turned_into_others(
    signed_in: Browsers, store: Store, kind: str
) -> None:
    browser = signed_in("bob")
    sent = {"text": "Which of them?", "kind": kind, "id": "new", "part": "question/one", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    assert DraftFile(toml(store)).ids() == ["one", "new", "two"]
    # Over all tests, each kind is turned into each of the three that come 1, 2 and 3 places later.
    place = KINDS.index(kind)
    for steps in (1, 3, 6):
        other = KINDS[(place + steps) % len(KINDS)]
        form = fields(browser, "question/new") | {"kind": other, "do": "save"}
        answer = post(browser, EDIT, **form)
        assert answer.status_code == 303, unescape(answer.text.partition('id="said"')[2][:300])
        assert DraftFile(toml(store)).data("question/new")["kind"] == other


def test_the_grid_of_noise_is_typed_as_a_whole_number(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"text": "How many?", "kind": "number", "id": "many", "part": "question/one", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    # A mechanism that needs required = true can be chosen once that is saved.
    for typed in ({"required": "true"}, {"mechanism": "laplace"}, {"mechanism.steps": "5"}):
        form = fields(browser, "question/many") | {"do": "save"} | typed
        assert post(browser, EDIT, **form).status_code == 303
    stored = DraftFile(toml(store)).data("question/many")["mechanism"]
    assert stored == {"name": "laplace", "steps": 5}
    assert fields(browser, "question/many")["mechanism.steps"] == "5"
    for wrong, told in (
        ("many", 'at least 1, got "many"'),
        ("0", "at least 1, got 0"),
    ):
        form = fields(browser, "question/many") | {"do": "save", "mechanism.steps": wrong}
        answer = post(browser, EDIT, **form)
        assert answer.status_code == 422
        assert told in unescape(answer.text)


def test_numbers_are_typed_in_the_digits_of_any_script(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"text": "How many?", "kind": "number", "id": "many", "part": "question/one", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    typed = {"min": "－５", "max": "٩٥", "step": "٠٫٥", "epsilon": "۲"}
    form = fields(browser, "question/many") | typed | {"do": "save"}
    assert post(browser, EDIT, **form).status_code == 303
    stored = DraftFile(toml(store)).data("question/many")
    assert {key: stored[key] for key in typed} == {"min": -5, "max": 95, "step": 0.5, "epsilon": 2}


def test_a_changed_id_is_changed_in_conditions_texts_and_tables(
    signed_in: Browsers, store: Store
) -> None:
    text = (ROOT / "examples" / "working-conditions.toml").read_text()
    browser, address = signed_in("bob"), "/surveys/work-2026/edit"
    piped = text.replace("Whom did", "You said {answer.harassed|nothing}. Whom did")
    public = '[results]\npublic = ["harassed"]\n\n[[questions]]'
    upload(browser, ("w.toml", piped.replace("[[questions]]", public, 1).encode()))
    form = fields(browser, "question/harassed", address) | {"id": "was-harassed", "do": "save"}
    assert post(browser, address, **form).status_code == 303
    stored = toml(store, "work-2026")
    assert "shows_if = \"was-harassed = 'yes'\"    # decided on the device" in stored
    assert "{answer.was-harassed|nothing}" in stored
    assert 'public = ["was-harassed"]' in stored


@pytest.mark.parametrize(("part", "wrong", "told"), MISTAKES)
def test_a_mistake_is_reported_and_the_typed_text_stays(
    signed_in: Browsers, store: Store, part: str, wrong: dict[str, str], told: str
) -> None:
    browser = signed_in("bob")
    answer = post(browser, EDIT, do="save", **(fields(browser, part) | wrong))
    assert answer.status_code == 422
    assert told in unescape(answer.text)
    assert toml(store) == IDEA
    for text in wrong.values():
        assert f'value="{text}"' in answer.text or text in ("", "laplace", "poem") or ">" in text


def test_parts_that_a_condition_needs_cannot_be_deleted(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    chosen = {"shows_if.0.choice": "one = 'yes'", "do": "save"}
    assert post(browser, EDIT, **(fields(browser, "question/two") | chosen)).status_code == 303
    assert "shows_if = \"one = 'yes'\"" in toml(store)
    answer = post(
        browser, EDIT, do="delete", part="question/one", seen=seen(browser, "question/one")
    )
    assert (answer.status_code, "take its condition away" in answer.text) == (422, True)
    assert DraftFile(toml(store)).ids() == ["one", "two"]


def test_several_conditions_are_joined(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"text": "Three?", "kind": "number", "id": "three", "part": "question/two", "seen": ""}
    post(browser, EDIT, do="add", **sent)
    sent = {"text": "Four?", "kind": "note", "id": "four", "part": "question/three", "seen": ""}
    post(browser, EDIT, do="add", **sent)
    rows = {"shows_if.0.choice": "one = 'yes'", "shows_if.1.choice": "three >=", "do": "save"}
    form = fields(browser, "question/four") | rows
    answer = post(browser, EDIT, **form)
    assert "expected a number to compare with" in answer.text
    more = {"shows_if.1.number": "7", "shows_if.join": "or"}
    assert post(browser, EDIT, **(form | more)).status_code == 303
    assert DraftFile(toml(store)).data("question/four")["shows_if"] == "one = 'yes' or three >= 7"


def test_questions_are_drawn_together_and_alone_again(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    base = {"part": "question/one", "seen": seen(browser, "question/one")}
    assert "at least 2, got 1" in post(browser, EDIT, do="together", questions="one", **base).text
    answer = post(browser, EDIT, do="together", questions=["one", "two"], **base)
    assert answer.headers["Location"].endswith("part=together/together")
    (joint,) = read_draft(toml(store), {}).survey.joint
    assert joint.spec["epsilon"] == 2
    part = {"part": "together/together", "seen": seen(browser, "together/together")}
    assert post(browser, EDIT, do="apart", **part).status_code == 303
    assert read_draft(toml(store), {}).survey.joint == ()
    assert "epsilon = 1.0" in toml(store)


def test_a_grid_is_made_changed_and_dissolved(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"text": "My ward is well led", "kind": "scale", "id": "led", "part": "question/one"}
    assert post(browser, EDIT, do="add", seen="", **sent).status_code == 303
    over = {"matrix": "How much do you agree?", "help": "Of the last month.", "section": "Ward"}
    form = fields(browser, "question/led") | over | {"do": "save"}
    assert post(browser, EDIT, **form).status_code == 303
    # A grid has at least two rows; another one is added by copying.
    assert DraftFile(toml(store)).ids() == ["one", "led", "led-2", "two"]
    copied = {"do": "copy", "part": "question/led", "seen": seen(browser, "question/led")}
    assert post(browser, EDIT, **copied).status_code == 303
    rows = ["led", "led-3", "led-2"]
    file = DraftFile(toml(store))
    assert file.ids() == ["one", *rows, "two"]
    tables = [file.data(f"question/{name}") for name in rows]
    assert {table["matrix"] for table in tables} == {"How much do you agree?"}
    assert [("help" in table, "section" in table) for table in tables] == [
        (True, True), (False, False), (False, False),
    ]  # fmt: skip
    # The parts that all rows share can be changed at any of them.
    changed = {"matrix": "Do you agree?", "points": "no\r\npartly\r\nyes", "do": "save"}
    assert post(browser, EDIT, **(fields(browser, "question/led-2") | changed)).status_code == 303
    file = DraftFile(toml(store))
    for name in rows:
        table = file.data(f"question/{name}")
        assert (table["matrix"], table["points"]) == ("Do you agree?", ["no", "partly", "yes"])
    # The first row keeps the heading, whichever row it is.
    up = {"do": "up", "part": "question/led-3", "seen": seen(browser, "question/led-3")}
    assert post(browser, EDIT, **up).status_code == 303
    assert DraftFile(toml(store)).data("question/led-3")["section"] == "Ward"
    for name in ("led-3", "led"):
        part = f"question/{name}"
        sent = {"do": "delete", "part": part, "seen": seen(browser, part)}
        assert post(browser, EDIT, **sent).status_code == 303
    left = DraftFile(toml(store)).data("question/led-2")
    assert ("matrix" in left, left["section"]) == (False, "Ward")


def test_the_heading_of_a_deleted_question_stays(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    form = fields(browser, "question/one") | {"section": "First", "new_page": "on", "do": "save"}
    assert post(browser, EDIT, **form).status_code == 303
    sent = {"do": "delete", "part": "question/one", "seen": seen(browser, "question/one")}
    assert post(browser, EDIT, **sent).status_code == 303
    assert DraftFile(toml(store)).data("question/two")["section"] == "First"


def test_a_picture_of_the_same_name_replaces_none(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    picture = (ROOT / "examples/well-being.png").read_bytes()
    for part, content, status in (
        ("question/one", picture, 303),
        ("question/two", picture + b"\0", 422),
        ("question/two", picture, 303),
    ):
        form = fields(browser, part) | {"image_text": "A picture", "do": "save"}
        form["image"] = (io.BytesIO(content), "photo.png")
        answer = post(browser, EDIT, **form)
        assert answer.status_code == status, unescape(answer.text.partition('id="said"')[2][:300])
    assert store.drafts.files("idea")["photo.png"] == picture


def test_a_refused_picture_holds_up_no_text_and_is_not_stored(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    form = fields(browser, "question/one") | {"text": "Really?", "do": "save"}
    form |= {"image_text": "A picture", "image": (io.BytesIO(b"no picture"), "photo.png")}
    answer = post(browser, EDIT, **form)
    assert (answer.status_code, "photo.png" in unescape(answer.text)) == (422, True)
    assert 'text = "Really?"' in toml(store)
    assert store.drafts.files("idea") == {}
    picture = (ROOT / "examples/well-being.png").read_bytes()
    form = fields(browser, "question/one") | {"image_text": "A picture", "do": "save"}
    form["image"] = (io.BytesIO(picture), "photo.png")
    assert post(browser, EDIT, **form).status_code == 303
    assert store.drafts.files("idea") == {"photo.png": picture}


def test_few_attempts_find_the_changes_that_cannot_be_made() -> None:
    tried: list[int] = []

    def attempt(paths: Sequence[str]) -> list[str]:
        tried.append(len(paths))
        bad = [path for path in paths if path in wrong]
        if bad or ("needs" in paths and "needed" not in paths):
            raise ValueError(f"{bad} cannot be made")
        return [*paths]

    paths = ["needs", *(f"{number}" for number in range(100)), "needed"]
    wrong = {"17", "81"}
    made, refused = apply_valid(paths, attempt)
    assert ({*made}, {*refused}) == ({*paths} - wrong, wrong)
    assert len(tried) < 80
    wrong = {*paths}
    tried.clear()
    made, refused = apply_valid(paths, attempt)
    assert ([*made], [*refused]) == ([], paths)
    assert len(tried) < 80
