"""Keys of a column's table in a design file that several kinds of designs share."""

from typing import Any

from analysis.survey.document import Table

#: The name of designs that scramble numbers.
SCRAMBLED = "scrambled"
#: The text in place of a parameter that has to be estimated.
UNKNOWN = "unknown"


def is_table(value: Any) -> bool:
    """Return whether a value of a TOML file is a table."""
    return isinstance(value, dict)


def is_name(value: Any) -> bool:
    """Return whether a value can be the name of a column."""
    return isinstance(value, str) and value.strip() != ""


def sample_of(table: Table, *default: None) -> Any:
    """Return the name of the column that says in which sample a respondent was.

    The key must be given, unless there is a default.
    """
    return table.take(
        "sample",
        is_name,
        "the name of the column that says in which sample a respondent was",
        *default,
    )


def named_part(table: Table) -> Table:
    """Return a design's table of name and parameters. It may be written as a name alone."""
    given = table.take(
        "design",
        lambda value: isinstance(value, str | dict),
        "a name, or a table of name and parameters",
    )
    return Table({"name": given} if isinstance(given, str) else given, f"{table.place}: design")


def rows_of(
    table: Table, key: str, reports: tuple[str, ...], values: tuple[str, ...]
) -> list[list[Any]]:
    """Return the rows of a matrix, each with an entry for every value."""
    rows: list[list[Any]] = table.take(
        key,
        lambda value: (
            isinstance(value, list)
            and len(value) == len(reports)
            and all(isinstance(row, list) and len(row) == len(values) for row in value)
        ),
        f"{len(reports)} rows, one for each report, of {len(values)} probabilities, one for each "
        "true value",
    )
    return rows


def yes_first(table: Table, name: str, values: tuple[str, ...], yes: str | None) -> tuple[str, ...]:
    """Return the values in the order of a classic design, whose first input is "yes"."""
    if yes is None:
        raise table.error("yes", f"one of {', '.join(values)}, since {name} needs to know it")
    return (yes, *(value for value in values if value != yes))
