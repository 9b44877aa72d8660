"""Authors' texts in Markdown: paragraphs, emphasis, lists and links, and nothing else."""

import re
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

_ADDRESS = re.compile(r"(https?|mailto|tel):", re.IGNORECASE)


def _is_address(url: str) -> bool:
    """Whether a link may lead there: any other kind could run a program, or be a page like ours."""
    return bool(_ADDRESS.match(url))


def _reader() -> MarkdownIt:
    # HTML, images and headings stay as they were typed: a page has its own headings, and loads
    # nothing from elsewhere.
    reader = MarkdownIt("zero", {"html": False})
    reader.enable(["emphasis", "link", "autolink", "list", "newline", "escape", "entity"])
    reader.validateLink = _is_address  # type: ignore[method-assign]
    reader.add_render_rule("link_open", _link)
    return reader


def _link(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Return the beginning of a link that leaves the page, with what is filled in, as it is."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer")
    return str(self.renderToken(tokens, place, options, env))


_READER = _reader()


def rendered(text: str) -> Markup:
    """Return the HTML of a text in Markdown."""
    return Markup(_READER.render(text))
