"""The history of a draft shows, for each change, the old and the new text."""

import re
from html import unescape

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, seen
from forms import post
from test_access import HTTPS

from server.editing.differences import MOST, Line, differences
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]


def test_changed_lines_come_with_neighbors_and_their_question() -> None:
    found = differences(IDEA, IDEA.replace("Two?", "Two, really?"))
    assert found == [
        Line("gap", "…"),
        Line("same", 'id = "two"'),
        Line("same", 'kind = "yes-no"'),
        Line("old", 'text = "Two?"'),
        Line("new", 'text = "Two, really?"'),
        Line("same", "epsilon = 1.0"),
    ]
    # If the id is not among the shown lines, it is named above them.
    found = differences(IDEA, f"{IDEA}required = true\n")
    assert [found[0], found[-1]] == [Line("gap", "… two"), Line("new", "required = true")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", IDEA),
        (IDEA, ""),
        (IDEA, IDEA.partition("[[questions]]")[0]),
        (IDEA, IDEA.replace("?", "!")),
        (IDEA, "# a comment\n" + IDEA),
        ("a\nb\nb\nb\n", "a\nb\nb\n"),
    ],
)
def test_old_and_new_lines_are_those_that_differ(old: str, new: str) -> None:
    found = differences(old, new)
    rest_old, rest_new = old.splitlines(), new.splitlines()
    for line in found:
        if line.kind in ("old", "same"):
            rest_old.remove(line.text)
        if line.kind in ("new", "same"):
            rest_new.remove(line.text)
    # The lines that are not shown are equal in both.
    assert rest_old == rest_new
    assert sum(line.kind in ("old", "new") for line in found) > 0
    assert differences(new, new) == []


def test_long_changes_are_cut_and_say_by_how_much() -> None:
    long = "".join(f"# {number}\n" for number in range(3000))
    found = differences(IDEA, long + IDEA)
    assert len(found) == MOST + 1
    assert re.fullmatch(r"29\d\d more lines", found[-1].text)


def test_the_history_shows_what_each_version_changed(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    form = fields(browser, "question/two") | {"text": 'Is "<two>" it?', "do": "save"}
    assert post(browser, EDIT, **form).status_code == 303
    sent = {"do": "delete", "part": "question/one", "seen": seen(browser, "question/one")}
    assert post(browser, EDIT, **sent).status_code == 303
    page = browser.get("/surveys/idea/history", **HTTPS).text
    third, second, first = re.findall(r'<td class="what"[^>]*>(.*?)</td>', page, re.S)
    removed = [unescape(one) for one in re.findall(r"<del>.*?</span>.*?</span>(.*?)</del>", third)]
    assert 'id = "one"' in removed
    assert 'text = "One?"' in removed
    assert "<ins>" not in third
    changed = [
        [unescape(one) for one in re.findall(rf"<{tag}>.*?</span>.*?</span>(.*?)</{tag}>", second)]
        for tag in ("del", "ins")
    ]
    assert changed[0] == ['text = "Two?"']
    assert re.fullmatch(r"text = .*Is .*<two>.* it\?.*", changed[1][0])
    assert "the first version that is kept" in first
    assert "<two>" not in page
