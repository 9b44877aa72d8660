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
    r"<pre( [^>]*><span></span>)((?:(?:deniable|make|pip|python3?|bash|\.venv/\S+) .*\n)+)</pre>"
)
#: Parts of a page whose texts stay as they are: code, programs, pictures and tags.
_PART = re.compile(r"(<(pre|code|script|style|svg|title)\b.*?</\2>|<[^>]+>)", re.S)
#: Spaces at which no line may break: "5 %", "± 5", "≤ 5" and "ε = 1".
_TIED = re.compile(r"(?<=\d) (?=%)|(?<=[±≤≥]) (?=\d)|(?<=[εδn]) = (?=\d)")
#: Exponents: "e^ε", "e^(ε − L)" and "10^-6". The texts write them as a terminal can show them.
_ABOVE = re.compile(r"(?<=[\w)}\]>])\^(?:\(([^()]*)\)|([−-]?\d+(?:\.\d+)?|\w+))")
_CODE_ABOVE = re.compile(r"\be\^(<code\b.*?</code>)", re.S)
#: Indices of the formulas: "π_x", "V_AB", "l_p" and "Σ_{i in g}".
_BELOW = re.compile(
    r"(?<![A-Za-z0-9_])([^\W\d_][\u0300-\u036f⁰]*[’']?)"
    r"_(?:\{([^}]*)\}|([A-Za-z\u0370-\u03ff]+[’']?|\d+))(?![A-Za-z0-9_])"
)
#: A word of code. No line breaks within an option; long names break at their signs.
_WORD = re.compile(r'<span class="pre">([^<]+)</span>')
_OPTION, _LONG = re.compile(r"--[a-z-]{1,24}"), 16
_SIGN = re.compile(r"(?<=\w)(?:[/|](?=\w)|\.(?=\w{5})|(?<=\w{8})_(?=\w{8}))")
_CLASS_NAME = re.compile(r'(?<=\.</span></span>)(?=<span class="sig-name)')
_ADDRESS = re.compile(r"(?<=<h2>)[A-Z]+ /[^<]+")
_COMMENT = re.compile(r"(\S)( +)(#.*)")
_TABLE = re.compile(r'<table class="docutils[^>]*>.*?</table>', re.S)
_ROW = re.compile(r"<tr[^>]*>.*?</tr>", re.S)
_CELL = re.compile(r"<t([dh])(?: [^>]*)?>(.*?)</t\1>", re.S)
_TAG = re.compile(r"<[^>]+>")
#: Cells with nothing but short numbers, which do not break.
_NUMBERS = re.compile(r"<td>(<p>[\d\s.,±/−–%ε:=+-]{2,18}</p>)</td>")
#: If the longest cells of all columns have at least this many letters together, a phone shows each
#: row as a card. A table of two columns fits if the first one is narrow.
_WIDE, _NARROW = 95, 14


def mended(html: str, formulas: bool) -> str:
    """Return a page of the site as it should be; `formulas` says that its texts have indices."""
    for pattern, better in _MENDED:
        html = pattern.sub(better, html)
    html = _CODE_ABOVE.sub(r"e<sup>\1</sup>", html)
    html = _PICTURE.sub(r'<a class="picture" href="\1">\g<0></a>', html)
    html = _TABLE.sub(lambda match: _table(match[0]), html)
    html = _COMMANDS.sub(lambda match: _commands(match[1], match[2]), html)
    html = _WORD.sub(lambda match: _word(match[1]), html)
    html = _CLASS_NAME.sub("<wbr>", html)
    html = _ADDRESS.sub(lambda match: match[0].replace("/", "/<wbr>"), html)
    # Parts and the names of their elements alternate with texts.
    texts = _PART.split(html)
    texts[::3] = [_text(text, formulas) for text in texts[::3]]
    del texts[2::3]
    return "".join(texts)


def _text(text: str, formulas: bool) -> str:
    text = _TIED.sub(lambda match: match[0].replace(" ", NBSP), text)
    if formulas:
        text = _BELOW.sub(lambda match: f"{match[1]}<sub>{match[2] or match[3]}</sub>", text)
    return _ABOVE.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", text)


def _word(word: str) -> str:
    kind = "pre flag" if _OPTION.fullmatch(word) else "pre"
    broken = _SIGN.sub(r"\g<0><wbr>", word) if len(word) >= _LONG else word
    return f'<span class="{kind}">{broken}</span>'


def _commands(start: str, lines: str) -> str:
    """Return a block whose commands are told from the lines into which they break."""

    def command(line: str) -> str:
        line = _COMMENT.sub(r'\1<span class="gap">\2</span>\3', line)
        line = re.sub(rf"(?<=\s){_OPTION.pattern}", r'<span class="flag">\g<0></span>', line)
        return f'<span class="command">{line}\n</span>'

    return f'<pre class="commands"{start}{"".join(map(command, lines.splitlines()))}</pre>'


def _table(html: str) -> str:
    """Return a table; if it is wide, each cell names its column, since phones show rows as cards.

    To a browser cards are not a table, so each element also says which part of a table it is.
    """
    heads, *rows = [_CELL.findall(row) for row in _ROW.findall(html)]
    names, *texts = [[_TAG.sub("", cell).strip() for _, cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    fits = sum(widths) < _WIDE or (len(widths) == 2 and widths[0] < _NARROW)
    if fits and names[0] != "option":
        return _NUMBERS.sub(r'<td class="numbers">\1</td>', html)
    head, _, body = html.partition("<tbody>")
    for plain, better in _ROLES:
        head = head.replace(plain, better)
    above = ""
    cards = []
    for row, (first, *_) in zip(_ROW.findall(body), texts, strict=True):
        above = first or above
        cards.append(_card(row, names, above))
    parts = _ROW.split(body)
    body = "".join(part + card for part, card in zip(parts, [*cards, ""], strict=True))
    return f'{head}<tbody role="rowgroup">{body}'


#: The roles of the elements of a table's head.
_ROLES = (
    ('<table class="', '<table role="table" class="cards '),
    ("<thead", '<thead role="rowgroup"'),
    ("<tr", '<tr role="row"'),
    ("<th class", '<th role="columnheader" class'),
    ("<td></td>", '<td role="columnheader"></td>'),
)


def _card(row: str, names: list[str], above: str) -> str:
    """Return a row whose cells name their columns, unless the cells are empty.

    An empty first cell stands for the text `above` it.
    """
    heads = iter(enumerate(names))

    def cell(match: re.Match[str]) -> str:
        place, head = next(heads)
        if _TAG.sub("", match[2]).strip():
            return f'<td role="cell" data-head="{head}">{match[2]}</td>'
        told = f' data-above="{head}: {above}"' if place == 0 and above else ""
        return f'<td role="cell"{told}></td>'

    return _CELL.sub(cell, row).replace("<tr", '<tr role="row"')
