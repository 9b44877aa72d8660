"""Files of Stata: names of at most 32 letters, labels of 80 bytes, and of 32,000 for values."""

from server.formats.statistical import labelled
from server.formats.table import ReportsTable, Unwritable, shortened

#: One letter less than Stata takes: ReadStat names the labels of values after their variable, and
#: takes 31.
_LONGEST_NAME = 31
#: The most columns of Stata/SE; Stata/MP takes more.
_MOST_COLUMNS = 32_767

#: What stands before the time of 17 letters at which a file was made (Stata, help dta).
_TIME = b"<timestamp>\x11"


def write(table: ReportsTable) -> bytes:
    """Return a .dta file of Stata 14 or later, with labels of variables and values."""
    if len(table.columns) > _MOST_COLUMNS:
        raise Unwritable(
            f"dta: expected at most {_MOST_COLUMNS:,} columns, got {len(table.columns):,}"
        )
    used = "noisy_* are noise; mean of debiased_* = share, se = sd/sqrt(n)"
    content = labelled(
        table,
        table.names(_LONGEST_NAME),
        "write_dta",
        longest_label=80,
        longest_value=32_000,
        file_label=shortened(used, 80),
    )
    # The same reports give the same file, whenever it is made.
    before, mark, after = content.partition(_TIME)
    return before + mark + b"01 Jan 1980 00:00" + after[17:]
