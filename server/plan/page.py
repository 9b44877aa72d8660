"""A page as one HTML file, to be kept, sent and printed; it asks nothing of anybody."""

import re
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from server.plan.parts import Part, cell

_TEMPLATES = Environment(
    loader=PackageLoader("server"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _tied(words: str) -> str:
    """The same with spaces at which no line ends: in ε = 1, and between a number and its %."""
    return re.sub(r"(?<=[εδρn]) (?==)|(?<=[εδρn] =) |(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", words)


_TEMPLATES.filters |= {"cell": cell, "tied": _tied}


def render(title: str, lead: str, sections: Sequence[tuple[str, str, Part]], foot: str) -> str:
    """The page as one HTML text, without a script and without a request to anywhere.

    Parameters
    ----------
    title, lead, foot : str
        What stands above and below all sections.
    sections : sequence of (str, str, Part)
        Id, heading and contents of each; those with none are left out.
    """
    return _TEMPLATES.get_template("plan.html").render(
        title=title,
        lead=lead,
        sections=[section for section in sections if section[2]],
        foot=foot,
    )
