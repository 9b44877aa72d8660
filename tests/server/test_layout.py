"""How a page is divided, from the frozen survey alone."""

from pathlib import Path
from typing import Any

import pytest

from analysis.survey.survey_file import read_survey
from server.pages.rendering import EntryGroup, layout, minutes_left

EXAMPLES = Path(__file__).parents[2] / "examples"


def entry(name: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "kind": "yes-no", "text": "?", **keys}


def shape(*entries: dict[str, Any]) -> list[list[tuple[Any, Any, str]]]:
    """The pages, each group as its section, its matrix, and the ids of its entries."""
    return [
        [
            (group.section, group.matrix, " ".join(one["id"] for one in group.entries))
            for group in page
        ]
        for page in layout({"questions": list(entries)})
    ]


@pytest.mark.parametrize(
    ("entries", "pages"),
    [
        ([entry("a"), entry("b")], [[(None, None, "a"), (None, None, "b")]]),
        (
            [entry("a", new_page=True), entry("b", new_page=True)],
            [[(None, None, "a")], [(None, None, "b")]],
        ),
        (
            [entry("a", matrix="M"), entry("b", matrix="M"), entry("c", matrix="N")],
            [[(None, "M", "a b"), (None, "N", "c")]],
        ),
        (
            [entry("a", matrix={"en": "M", "fr": "N"}), entry("b", matrix={"en": "M", "fr": "N"})],
            [[(None, {"en": "M", "fr": "N"}, "a b")]],
        ),
        (
            [
                entry("a", section="S", matrix="M", new_page=True),
                entry("b", matrix="M"),
                entry("n", kind="note", section="S", new_page=True),
                entry("c"),
                entry("still", section="S"),
                entry("d", section={"en": "T"}),
                entry("e", section={"en": "T"}),
                entry("f", section="S"),
            ],
            [
                [("S", "M", "a b")],
                [
                    (None, None, "n"),
                    (None, None, "c"),
                    (None, None, "still"),
                    ({"en": "T"}, None, "d"),
                    (None, None, "e"),
                    ("S", None, "f"),
                ],
            ],
        ),
    ],
)
def test_entries_stand_where_the_author_put_them(
    entries: list[dict[str, Any]], pages: list[list[tuple[Any, Any, str]]]
) -> None:
    assert shape(*entries) == pages


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_entry_of_an_example_is_on_a_page_once(path: Path) -> None:
    spec = read_survey(path).spec
    groups = [group for page in layout(spec) for group in page]
    assert [one for group in groups for one in group.entries] == spec["questions"]


def test_an_example_shows_all_that_pages_can_be_divided_into() -> None:
    pages = layout(read_survey(EXAMPLES / "well-being.toml").spec)
    assert len(pages) == 3
    assert [page[0].section["en"][:5] for page in pages] == ["About", "How y", "What "]
    assert [len(group.entries) for group in pages[1]] == [2, 1]
    assert isinstance(pages[0][0], EntryGroup)
    assert {one["kind"] for page in pages for group in page for one in group.entries} == {
        *("note", "yes-no", "choice", "choices", "scale", "number", "rank", "text")
    }


def test_the_time_that_is_left_goes_by_the_questions_that_are_left() -> None:
    pages = layout(read_survey(EXAMPLES / "well-being.toml").spec)
    assert [sum(len(group.entries) for group in page) for page in pages] == [3, 3, 5]
    assert minutes_left(pages, 4) == [4, 3, 2]
    assert minutes_left(pages, 1) == [1, 1, 1]
    assert minutes_left(pages, None) == [None] * 3
