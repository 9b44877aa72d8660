"""Files of SPSS: names of at most 64 bytes, labels of 256, and of 120 for values."""

from analysis.study.report_columns import HOW_TO_USE
from server.formats.statistical import labelled
from server.formats.table import ReportsTable, shortened

#: The bytes of the header that say when a file was made (PSPP developers, System File Format).
_TIME = slice(92, 109)


def write(table: ReportsTable) -> bytes:
    """Return a .sav file, with labels, notes, and reports as nominal variables."""
    names = table.names(64)
    measures = {
        name: "nominal" if column.is_noisy else "scale"
        for name, column in zip(names, table.columns, strict=True)
    }
    content = labelled(
        table,
        names,
        "write_sav",
        longest_label=252,
        longest_value=120,
        file_label=shortened(table.title, 64),
        note=[*_lines(HOW_TO_USE), *_lines(table.title)],
        variable_measure=measures,
    )
    # The same reports give the same file, whenever it is made.
    return content[: _TIME.start] + b"01 Jan 8000:00:00" + content[_TIME.stop :]


def _lines(text: str) -> list[str]:
    """Return a text in lines of at most 80 bytes, the longest that a note can have."""
    lines = [""]
    for word in shortened(text, 4000).split():
        if len(f"{lines[-1]} {word}".encode()) > 80:
            lines.append("")
        lines[-1] = shortened(f"{lines[-1]} {word}", 80)
    return lines
