"""How the page of a survey is divided: into pages, and these into what stands together."""

from dataclasses import dataclass
from typing import Any

from analysis.survey.digest import groups_of


@dataclass(frozen=True)
class Group:
    """Entries of a frozen survey that stand together: one alone, or the rows of a matrix.

    `section` is a heading to show before them, None where they go on under the one before;
    `matrix` the text over all rows, None of an entry alone. Texts may have several languages.
    """

    section: Any
    matrix: Any
    entries: tuple[dict[str, Any], ...]


def layout(spec: dict[str, Any]) -> tuple[tuple[Group, ...], ...]:
    """The pages of a frozen survey, notes included; one page if no entry begins a new one."""
    pages: list[list[Group]] = []
    heading = None
    for entries in groups_of(spec["questions"]):
        first = entries[0]
        section = first.get("section", heading)
        if first.get("new_page") or not pages:
            pages.append([])
        pages[-1].append(
            Group(
                section=None if section == heading else section,
                matrix=first.get("matrix"),
                entries=tuple(entries),
            )
        )
        heading = section
    return tuple(map(tuple, pages))
