"""Scripts of R, which hold the table of reports and functions that undo the randomization.

A script is text that anybody can read before running it, and needs no package on either side.
"""

import re
from importlib.resources import files

from analysis.core.csv_json import pieces_of_columns, to_text
from analysis.study.bundle.tables import Together, table_text, together_rows
from analysis.study.codebook import codebook_table
from server.formats.table import ReportsTable

#: All characters except the ASCII ones that have no special meaning within a text of R.
_SPECIAL = re.compile(r"[^\n !#-\[\]-~]")

#: R refuses more than 10,000 characters in a text that has escaped ones.
_LONGEST = 5000


def write(table: ReportsTable) -> bytes:
    """Return an .R file; sourcing it gives the data frame `study`, and functions for it."""
    functions = (files("analysis.study.bundle") / "study.R").read_text(encoding="utf-8")
    names = [column.name for column in table.columns]
    codes = to_text(*codebook_table(table.survey), "csv")
    first = "# source() of this file gives the data frame study; read_study() is for bundles.\n#\n"
    parts = [
        first,
        functions,
        "\nstudy <- .study(\n  .table(text = ",
        _literal("".join(pieces_of_columns([table.cells], names, "csv"))),
        "),\n  .table(text = ",
        _literal(codes),
        "),\n  .table(text = ",
        _literal(table_text(Together, together_rows(table.survey))),
        ')\n)\nattr(study, "title") <- ',
        _literal(table.title),
        "\n",
    ]
    return "".join(parts).encode("ascii")


def _literal(text: str) -> str:
    """Return a text as R's parser reads it in every locale; its lines stay lines."""
    if not _SPECIAL.search(text):
        return _quoted(text)
    starts = range(0, len(text), _LONGEST)
    pieces = ", ".join(_quoted(text[start : start + _LONGEST]) for start in starts)
    return f"paste0({pieces})"


def _quoted(text: str) -> str:
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def _escaped(letter: re.Match[str]) -> str:
    # R has no text with the character 0.
    return f"\\U{{{ord(letter[0]):x}}}" if letter[0] != "\0" else " "
