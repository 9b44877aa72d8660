"""Authors' texts in Markdown: paragraphs, emphasis, lists and links, and nothing else."""

import re
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

_ADDRESS = re.compile(r"(https?|mailto|tel):", re.IGNORECASE)


class _Reader(MarkdownIt):
    """Reads paragraphs, emphasis, lists and links."""

    def __init__(self) -> None:
        # HTML, images and headings stay as they were typed: a page has its own headings, and loads
        # nothing from elsewhere.
        super().__init__("zero", {"html": False})
        self.enable(["emphasis", "link", "autolink", "list", "newline", "escape", "entity"])
        self.add_render_rule("link_open", _link)

    def validateLink(self, url: str) -> bool:
        """Return whether a link may lead there: others could run a program, or fake our pages."""
        return bool(_ADDRESS.match(url))


def _link(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Return the beginning of a link that opens elsewhere, so that answers on the page stay."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer")
    return str(self.renderToken(tokens, place, options, env))


_READER = _Reader()


def rendered(text: str) -> Markup:
    """Return the HTML of a text in Markdown."""
    return Markup(_READER.render(text))
