"""Mend the pages that the theme makes, for assistive technology and for phones."""

import re

NBSP = "\N{NO-BREAK SPACE}"

#: Replacements: blocks that scroll can be reached by keyboard, an empty header cell becomes a plain
#: cell, parameters are no longer a list of definitions, and both asides get names.
_MENDED = (
    (re.compile("<pre>"), '<pre tabindex="0">'),
    (re.compile('<div class="table-wrapper'), '<div tabindex="0" class="table-wrapper'),
    (re.compile('<th class="head">(<p></p>)?</th>'), "<td></td>"),
    (re.compile(r"(</span>\n\n)<dl>\n(.*?)</dl>", re.S), r'\1<span class="parameters">\2</span>'),
    (re.compile(r"<dd>(<em class=\"sig-param.*?)</dd>", re.S), r"<span>\1</span>"),
    (re.compile('<aside class="sidebar-drawer'), '<aside aria-label="Site" class="sidebar-drawer'),
    (re.compile('<aside class="toc-drawer'), '<aside aria-label="Page" class="toc-drawer'),
)

#: A picture is a link to itself, since a phone shows large ones small.
_PICTURE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*/>')
#: Blocks of commands, whose lines break. All other blocks scroll.
_COMMANDS = re.compile(
    r"<pre(?= [^>]*><span></span>(?:(?:deniable|make|pip|python3?|bash|\.venv/\S+) .*\n)+</pre>)"
)
#: Spaces at which no line may break, outside of code: "5 %", "± 5" and "ε = 1".
_TIED = re.compile(r"<(pre|code)\b.*?</\1>|(?<=\d) (?=%)|(?<=±) (?=\d)|(?<=[εδn]) = (?=\d)", re.S)
_TABLE = re.compile(r'<table class="docutils[^>]*>.*?</table>', re.S)
_ROW = re.compile(r"<tr[^>]*>.*?</tr>", re.S)
_CELL = re.compile(r"<t([dh])(?: [^>]*)?>(.*?)</t\1>", re.S)
_TAG = re.compile(r"<[^>]+>")
#: If the longest cells of all columns have at least this many letters together, a phone shows each
#: row as a card. A table of two columns fits if the first one is narrow.
_WIDE, _NARROW = 95, 14


def mended(html: str) -> str:
    """Return a page of the site as it should be."""
    for pattern, better in _MENDED:
        html = pattern.sub(better, html)
    html = _TIED.sub(lambda match: match[0] if match[1] else match[0].replace(" ", NBSP), html)
    html = _PICTURE.sub(r'<a class="picture" href="\1">\g<0></a>', html)
    html = _COMMANDS.sub('<pre class="commands"', html)
    return _TABLE.sub(lambda match: _table(match[0]), html)


def _table(html: str) -> str:
    """Return a table; if it is wide, each cell names its column, since phones show rows as cards.

    To a browser cards are not a table, so each element also says which part of a table it is.
    """
    heads, *rows = [_CELL.findall(row) for row in _ROW.findall(html)]
    names, *texts = [[_TAG.sub("", cell).strip() for _, cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if sum(widths) < _WIDE or (len(widths) == 2 and widths[0] < _NARROW):
        return html
    head, _, body = html.partition("<tbody>")
    for plain, better in _ROLES:
        head = head.replace(plain, better)
    body = _ROW.sub(lambda row: _card(row[0], names), body)
    return f'{head}<tbody role="rowgroup">{body}'


#: The roles of the elements of a table's head.
_ROLES = (
    ('<table class="', '<table role="table" class="cards '),
    ("<thead", '<thead role="rowgroup"'),
    ("<tr", '<tr role="row"'),
    ("<th class", '<th role="columnheader" class'),
    ("<td></td>", '<td role="columnheader"></td>'),
)


def _card(row: str, names: list[str]) -> str:
    """Return a row whose cells name their columns, unless the cells are empty."""
    heads = iter(names)

    def cell(match: re.Match[str]) -> str:
        head = next(heads)
        told = head if _TAG.sub("", match[2]).strip() else ""
        return f'<td role="cell" data-head="{told}">{match[2]}</td>'

    return _CELL.sub(cell, row).replace("<tr", '<tr role="row"')
