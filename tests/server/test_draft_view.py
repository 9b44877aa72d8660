"""A draft's file is read in the same way whether or not it is going to be changed."""

from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from server.editing.draft_file import DraftFile
from server.editing.draft_view import STUDY, DraftView, Missing

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "examples").glob("*.toml"), *(ROOT / "server/studies").glob("*.toml")])
#: Content that files can have and examples do not.
ODD = '''
title = """
A title
of lines"""
id = "odd"
closes = 2030-01-31
page.resume = true
privacy = {cap = 12.50}

[[questions]]
id = "a"
kind = "number"
text.en = "How many?"
min = -1_000
max = 1e3
step = 0.5
epsilon = 1
'''


@pytest.mark.parametrize(
    "text",
    [*(path.read_text() for path in FILES), ODD, ODD.replace("\n", "\r\n")],
    ids=[*(path.stem for path in FILES), "odd", "odd lines"],
)
def test_both_see_the_same_in_every_part(text: str) -> None:
    view, file = DraftView(text), DraftFile(text)
    assert view.languages == file.languages
    for kind in ("question", "together"):
        assert view.ids(kind) == file.ids(kind)
    assert view.values("matrix") == file.values("matrix")
    parts = [
        STUDY,
        *(f"{kind}/{one}" for kind in ("question", "together") for one in view.ids(kind)),
    ]
    for part in parts:
        assert view.seen(part) == file.seen(part), part
        if "\r" not in text:
            assert view.data(part) == file.data(part)
    assert len({view.seen(part) for part in parts}) == len(parts)


@pytest.mark.parametrize("read", [DraftView, DraftFile])
def test_missing_parts_are_reported(read: type[DraftView]) -> None:
    with pytest.raises(SurveyError, match="not TOML"):
        read("title = ")
    for part in ("question/b", "poem/a", ""):
        with pytest.raises(Missing, match="is not part of this draft"):
            read(ODD).data(part)


def test_the_view_of_a_part_changes_only_with_the_part() -> None:
    before, after = (DraftView(text) for text in (ODD, ODD.replace("0.5", "0.25")))
    assert before.seen(STUDY) == after.seen(STUDY)
    assert before.seen("question/a") != after.seen("question/a")
