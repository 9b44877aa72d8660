"""Tables that phones show as cards: a row each, with the name of its column beside each cell."""

import re
from collections.abc import Iterator

from markupsafe import Markup

_TAG = re.compile(r"<(/?)(table|thead|tbody|tr|th|td)\b([^<>]*)>")
#: The role of each for a screen reader. Browsers forget it if styles show the element as a block.
_ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell"}


def as_cards(html: Markup) -> Markup:
    """Return tables whose cells know the names of their columns, and all parts their roles.

    Tables have no tables within, and each cell is in one column.
    """
    return Markup("").join(_pieces(str(html)))


def _pieces(html: str) -> Iterator[Markup]:
    names: list[str] = []
    column, is_head, end, begun = 0, False, 0, 0
    for tag in _TAG.finditer(html):
        closes, name, attributes = tag[1], tag[2], tag[3]
        yield Markup(html[end : tag.start()])
        end = tag.end()
        if name == "table":
            names = []
        elif name == "thead":
            is_head = not closes
        elif name == "tr":
            column = 0
        elif is_head and name == "th":
            if closes:
                names.append(_text(html[begun : tag.start()]))
            begun = tag.end()
        yield Markup(tag[0]) if closes else _told(name, attributes, names[column : column + 1])
        if name in ("th", "td") and not closes and not is_head:
            column += 1
    yield Markup(html[end:])


def _told(name: str, attributes: str, names: list[str]) -> Markup:
    """Return a tag that opens, with its role; a cell with the name of its column, too."""
    role = _ROLES.get(name) or ("rowheader" if 'scope="row"' in attributes else "columnheader")
    label = f' data-label="{names[0]}"' if name == "td" and names else ""
    return Markup(f'<{name}{attributes} role="{role}"{label}>')


def _text(html: str) -> str:
    """Return the text of an element, escaped as it was, as the value of an attribute.

    Text that is hidden from sight is left out: it has no place beside a cell.
    """
    seen = re.sub(r'<span class="hidden-text">[^<]*</span>', "", html)
    return " ".join(re.sub(r"<[^<>]*>", "", seen).split()).replace('"', "&#34;")
