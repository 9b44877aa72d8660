"""Numbers as people type them, and tables as other programs write them.

Excel writes CSV with semicolons, and decimals with a comma, where a comma is the decimal sign, and
"Unicode text" in UTF-16 with tabs. Keyboards of Arabic, Persian and Japanese have digits of their
own.
"""

import codecs
import re
import unicodedata

#: Signs in numbers that some keyboards have in place of the ASCII ones. That which parts thousands
#: in Arabic is never a decimal sign.
_SIGNS = str.maketrans({"٫": ".", "．": ".", "٬": "", "，": ",", "－": "-", "−": "-", "＋": "+"})
_DELIMITERS = ",;\t"
#: A text between quotation marks, in which a delimiter is none.
_QUOTED = re.compile(r'"[^"]*"?')
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)


def latin(text: str) -> str:
    """Return a text with ASCII digits in place of those of any other script, and such signs."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(letter)) if letter.isdecimal() else letter
        for letter in text.translate(_SIGNS)
    )


def number_cell(cell: str, delimiter: str = ",") -> str:
    """Return a cell that is a number with ASCII digits and a point; any other cell as it is.

    A comma is a decimal sign only where it does not part cells.
    """
    plain = latin(cell)
    if not _NUMBER.fullmatch(plain):
        return cell
    return plain if delimiter == "," else plain.replace(",", ".")


def encoding_of(content: bytes) -> str:
    """Return the encoding of a text: UTF-16 if a byte order mark says so, otherwise UTF-8."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if content.startswith(marks) else "utf-8-sig"


def delimiter_of(text: str) -> str:
    """Return what parts the cells of a table, by its first line: a comma, a semicolon or a tab."""
    first = _QUOTED.sub("", next(iter(text.lstrip("\r\n").splitlines()), ""))
    return max(_DELIMITERS, key=first.count)
