"""What a survey file says of how it is shown: matrices of scales, and what the page may do."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from analysis.survey.digest import groups_of
from analysis.survey.document import Table
from analysis.survey.survey import PAGE, asked_in


def check_matrices(tables: Sequence[Table], entries: Sequence[dict[str, Any]]) -> None:
    """Check that scales of one matrix can be rows of one matrix.

    Parameters
    ----------
    tables, entries : sequences of equal length
        Each entry as its author wrote it, and as it is frozen.

    Raises
    ------
    SurveyError
        If a row is alone, has other points than the first, or begins something of its own.
    """
    written = {entry["id"]: table for table, entry in zip(tables, entries, strict=True)}
    for first, *others in groups_of(entries):
        if "matrix" in first and not others:
            raise written[first["id"]].error(
                "matrix", "that of the scale before or after, too: one row makes no matrix"
            )
        for row in others:
            _check_row(written[row["id"]], row, first)


def _check_row(table: Table, row: dict[str, Any], first: dict[str, Any]) -> None:
    rows = f'the matrix that begins with "{first["id"]}"'
    for key in ("section", "new_page", "help"):
        if key in row:
            raise table.error(key, f"left out: this is a row within {rows}")
    points = zip_longest(first["options"], row["options"])
    for place, (expected, got) in enumerate(points, 1):
        if expected != got:
            raise table.error("points", f"the same in all rows of {rows} (point {place} differs)")


def read_page(table: Table, spec: dict[str, Any]) -> dict[str, bool]:
    """What the page of a survey may do: the names of `PAGE` that are true.

    Raises
    ------
    SurveyError
        If one is no flag, or if respondents who share a device would share more than that.
    """
    given = table.take("page", lambda value: isinstance(value, dict), "a table", default={})
    part = Table(given, f"{table.place}: [page]")
    page = {name: True for name in PAGE if part.flag(name)}
    part.finish()
    if "kiosk" not in page:
        return page
    if "access" in spec:
        raise part.error("kiosk", 'left out unless access is "open": links are for one person each')
    for question in asked_in(spec):
        if "epsilon_forever" in question:
            raise part.error(
                "kiosk",
                f'left out, as question "{question["id"]}" has epsilon_forever: on a shared '
                "device each person is somebody new, so no draw can be remembered",
            )
    if "resume" in page:
        raise part.error("kiosk", "left out with resume, which shows answers to the next person")
    return page
