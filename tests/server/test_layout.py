"""A page is divided by the frozen survey alone."""

from pathlib import Path
from typing import Any

import pytest

from analysis.survey.survey_file import read_survey
from server.pages.rendering import (
    alike,
    entries_of,
    explanations_of,
    layout,
    minutes_left,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


def entry(name: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "kind": "yes-no", "text": "?", **keys}


def shape(*entries: dict[str, Any]) -> list[list[tuple[Any, list[list[tuple[Any, str]]]]]]:
    """Return the pages: the section and runs of each part; the matrix and the ids of each group."""
    return [
        [
            (
                part.section,
                [
                    [(group.matrix, " ".join(one["id"] for one in group.entries)) for group in run]
                    for run in part.runs
                ],
            )
            for part in page
        ]
        for page in layout({"questions": list(entries)})
    ]


@pytest.mark.parametrize(
    ("entries", "pages"),
    [
        ([entry("a"), entry("b")], [[(None, [[(None, "a"), (None, "b")]])]]),
        (
            [entry("a", new_page=True), entry("b", new_page=True)],
            [[(None, [[(None, "a")]])], [(None, [[(None, "b")]])]],
        ),
        (
            [entry("a", matrix="M"), entry("b", matrix="M"), entry("c", matrix="N")],
            [[(None, [[("M", "a b"), ("N", "c")]])]],
        ),
        (
            [entry("a", matrix={"en": "M", "fr": "N"}), entry("b", matrix={"en": "M", "fr": "N"})],
            [[(None, [[({"en": "M", "fr": "N"}, "a b")]])]],
        ),
        (
            [entry("a"), entry("b", namely="other"), entry("n", kind="note"), entry("c")],
            [[(None, [[(None, "a b")], [(None, "n")], [(None, "c")]])]],
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
                [("S", [[("M", "a b")]])],
                [
                    (None, [[(None, "n")], [(None, "c"), (None, "still")]]),
                    ({"en": "T"}, [[(None, "d"), (None, "e")]]),
                    ("S", [[(None, "f")]]),
                ],
            ],
        ),
    ],
)
def test_entries_are_where_the_author_put_them(
    entries: list[dict[str, Any]], pages: list[Any]
) -> None:
    assert shape(*entries) == pages


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_entry_of_an_example_is_on_a_page_once(path: Path) -> None:
    spec = read_survey(path).spec
    assert [one for page in layout(spec) for one in entries_of(page)] == spec["questions"]


def test_an_example_shows_all_that_pages_can_be_divided_into() -> None:
    pages = layout(read_survey(EXAMPLES / "well-being.toml").spec)
    assert len(pages) == 3
    assert [page[0].section["en"][:5] for page in pages] == ["About", "How y", "What "]
    assert [[len(group.entries) for group in run] for run in pages[1][0].runs] == [[2, 1]]
    assert [[len(group.entries) for group in run] for run in pages[0][0].runs] == [[1], [1, 2]]
    assert {one["kind"] for page in pages for one in entries_of(page)} == {
        *("note", "yes-no", "choice", "choices", "scale", "number", "rank", "text")
    }


def test_the_remaining_time_depends_on_the_remaining_questions() -> None:
    pages = layout(read_survey(EXAMPLES / "well-being.toml").spec)
    assert [len(entries_of(page)) for page in pages] == [4, 3, 5]
    assert minutes_left(pages, 4) == [4, 3, 2]
    assert minutes_left(pages, 1) == [1, 1, 1]
    assert minutes_left(pages, None) == [None] * 3


def test_questions_that_are_protected_alike_are_explained_together() -> None:
    survey = read_survey(EXAMPLES / "well-being.toml")
    told = explanations_of(survey)
    together = [
        [[question.id for question in same] for same in alike(survey, page, told)]
        for page in layout(survey.spec)
    ]
    assert together == [
        [["age"], ["work"], ["activity"]],
        [["cheerful", "lonely"], ["sleep"]],
        [["hopeless"], ["strain"], ["helps"], ["app"]],
    ]
