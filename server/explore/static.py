"""The page to explore as it is at first, for sites without a server: Markdown with SVG pictures."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from server.explore.sections import SECTIONS, Section
from server.plan.parts import Figure, Part, Table, cell

#: Pictures have the width at which their letters are as large as the text.
_WIDTH = "27rem"


def render_static(folder: Path) -> Path:
    """Write ``explore.md`` into a folder that exists, and return where it is.

    The file has all questions with their usual numbers. Pictures stand in it as SVG elements,
    which take the color of the text around them. So it needs no other file, script or request.
    """
    path = folder / "explore.md"
    path.write_text(f"# Explore ε and δ\n\n{as_markdown(2)}", encoding="utf-8")
    return path


def as_markdown(level: int) -> str:
    """Return all questions as Markdown, with headings of a level."""
    return "".join(f"{block}\n\n" for section in SECTIONS for block in _blocks(section, level))


def _blocks(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {section.heading}"
    yield section.lead
    asked = section.read({})
    yield "; ".join(f"{field.label}: {field.usual}" for field in section.fields) + "."
    part: Part = section.make(*asked.values)
    yield from part.texts
    yield from map(_figure, part.figures)
    for table in part.tables:
        yield from _table(table)
    yield f"On a terminal: `{section.command}`"


def _figure(figure: Figure) -> str:
    """Return a picture as one block of HTML, which a blank line would end."""
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f'<figure style="max-width: {_WIDTH}">{figure.svg}{caption}</figure>'


def _table(table: Table) -> Iterator[str]:
    yield f"**{table.title}**"
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    yield "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)
    if table.note:
        yield table.note


def _cell(value: object) -> str:
    return cell(value).replace("|", "\\|")
