"""Authors' texts in Markdown: paragraphs, emphasis, lists and links, and nothing else."""

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

_ADDRESS = re.compile(r"(https?|mailto|tel):", re.IGNORECASE)
#: Links that open a program of the device, and ask no server for anything.
_OF_DEVICE = re.compile(r"(mailto|tel):", re.IGNORECASE)


class _Reader(MarkdownIt):
    """Reads some parts of Markdown, and links whose addresses are `allowed`."""

    def __init__(self, parts: list[str], allowed: re.Pattern[str] = _ADDRESS) -> None:
        # HTML, images and headings stay as they were typed: a page has its own headings, and loads
        # nothing from elsewhere.
        super().__init__("zero", {"html": False})
        self.enable(parts)
        self.add_render_rule("link_open", _link)
        self._allowed = allowed

    def validateLink(self, url: str) -> bool:
        """Return whether a link may lead there: others could run a program, or fake our pages."""
        return bool(self._allowed.match(url))


def _link(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Return the beginning of a link that opens elsewhere, so that answers on the page stay."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer")
    return str(self.renderToken(tokens, place, options, env))


_LINKS = ["link", "autolink"]
_READER = _Reader([*_LINKS, "emphasis", "list", "newline", "escape", "entity"])
_NOTE_READER, _CONDITIONAL_NOTE_READER = _Reader(_LINKS), _Reader(_LINKS, _OF_DEVICE)

#: The most words and letters of a text that stand above its first button.
_FIRST_WORDS, _FIRST_LETTERS = 30, 240
_WORDS = re.compile(r"[。！？]|[^\s。！？]+|\s+")
#: What ends a sentence, and what may stand behind that.
_ENDS, _CLOSING = ".!?…؟。！？", "\"'’”»)*"


def rendered(text: str, part: int | None = None) -> Markup:
    """Return the HTML of a text in Markdown, or of its beginning (0) or its rest (1).

    The beginning has at most 30 words. It ends with a sentence, unless its first one is longer.
    """
    html = str(_READER.render(text))
    return Markup(html if part is None else _beginning_and_rest(html)[part])


def in_lines(html: Markup) -> Markup:
    """Return the HTML of a text with the line breaks that its author typed."""
    return Markup(str(html).replace("\n", "\n<br>"))


def linked(text: str, is_conditional: bool) -> Markup:
    """Return the HTML of a note's text, of which only links are marked up.

    A note that is shown after some answers alone has links to telephones and mail alone: whoever
    followed another one would tell its website, and the network, that it was shown.
    """
    reader = _CONDITIONAL_NOTE_READER if is_conditional else _NOTE_READER
    return Markup(reader.renderInline(text))


def _pieces(html: str) -> Iterator[str]:
    """Yield the tags of HTML, and the words and the space between them."""
    before, *tagged = html.split("<")
    yield from _WORDS.findall(before)
    for one in tagged:
        tag, _, text = one.partition(">")
        yield f"<{tag}>"
        yield from _WORDS.findall(text)


def _beginning_and_rest(html: str) -> tuple[str, str]:
    """Return the beginning and the rest of HTML, each with the elements that both are in."""
    pieces = list(_pieces(html))
    words = letters = 0
    opened: list[str] = []
    # Places where it can be cut: after the last whole sentence, and after the last word.
    sentence: tuple[int, list[str]] = (0, [])
    word: tuple[int, list[str]] = (0, [])
    for place, piece in enumerate(pieces):
        if piece.startswith("</"):
            opened.pop()
        elif piece.startswith("<"):
            opened += [] if piece.startswith("<br") else [piece]
        elif not piece.isspace():
            words, letters = words + 1, letters + len(piece)
            if words > _FIRST_WORDS or letters > _FIRST_LETTERS:
                break
            word = (place + 1, list(opened))
            ends = piece.rstrip(_CLOSING)[-1:]
            if (ends and ends in _ENDS) or pieces[place + 1] in ("</p>", "</li>"):
                sentence = word
    else:
        return html, ""
    if not word[0]:
        return "", html
    end, within = sentence if sentence[0] else word
    dots = "" if sentence[0] else " …"
    closing = "".join(f"</{tag.strip('<>').split()[0]}>" for tag in reversed(within))
    rest: list[str] = []
    for piece in (*within, *pieces[end:]):
        if piece.startswith("</") and rest and rest[-1] == piece.replace("/", "", 1):
            rest.pop()  # nothing is left in this element
        else:
            rest.append(piece)
    return "".join(pieces[:end]) + dots + closing, "".join(rest)
