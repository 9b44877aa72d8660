"""The table of reports as files of other programs, with labels that say what is noise.

Whoever opens such a file sees columns before any documentation. So reports are named and labelled
as noisy, and beside them stand the weights whose means are the estimates.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from analysis.core.csv_json import pieces_of_columns
from analysis.core.extras import install_with

if TYPE_CHECKING:
    from server.stored_results import StoredWave


@dataclass(frozen=True)
class Format:
    """A format: what its files are called, and what writes them.

    Attributes
    ----------
    title : str
        What people call it.
    suffix, media : str
        The end of a file's name, and the media type.
    module : str
        The module of this package whose function `write` makes a file of a `ReportsTable`; empty
        for those that are written row by row.
    needs : tuple of str
        Packages that the extra `formats` brings.
    is_text : bool
        Whether it can be printed.
    """

    title: str
    suffix: str
    media: str
    module: str = ""
    needs: tuple[str, ...] = ()
    is_text: bool = False


_PARQUET = "application/vnd.apache.parquet"
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS = {
    "csv": Format("CSV", "csv", "text/csv", is_text=True),
    "json": Format("JSON", "json", "application/json", is_text=True),
    "xlsx": Format("Excel", "xlsx", _EXCEL, "excel"),
    "sav": Format("SPSS", "sav", "application/x-spss-sav", "spss", ("pandas", "pyreadstat")),
    "dta": Format("Stata", "dta", "application/x-stata-dta", "stata", ("pandas", "pyreadstat")),
    "parquet": Format("Parquet", "parquet", _PARQUET, "parquet", ("pyarrow",)),
    "r": Format("R", "R", "text/x-r", "r", is_text=True),
    "ddi": Format("DDI-Codebook", "xml", "application/xml", "ddi", is_text=True),
}


def written(stored: "StoredWave", form: str) -> Iterator[bytes]:
    """Return the content, in pieces, of a file of a wave's reports, as one of `FORMATS`.

    Raises
    ------
    Unwritable
        If a package is missing, or the table is too large for the format.
    Missing, Withheld
        If the reports are deleted, or not shown yet.
    """
    from analysis.study.report_columns import report_columns
    from server.formats.table import ReportsTable

    chosen = FORMATS[form]
    if not chosen.module:
        columns, parts = stored.reports()
        return (piece.encode() for piece in pieces_of_columns(parts, columns, form))
    check_needs(form)
    table = ReportsTable.of(
        stored.survey,
        stored.number,
        stored.version,
        report_columns(stored.survey),
        list(chain.from_iterable(stored.payloads())),
        stored.simulated,
        stored.is_open,
    )
    write: Callable[[ReportsTable], bytes]
    write = import_module(f"server.formats.{chosen.module}").write
    return iter([write(table)])


def check_needs(form: str) -> None:
    """Raise Unwritable unless the packages of a format are installed."""
    chosen = FORMATS[form]
    for package in chosen.needs:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            from server.formats.table import Unwritable

            raise Unwritable(
                f"files of {chosen.title} need {package}: {install_with('formats')} ({error})"
            ) from None


def can_be_written() -> list[tuple[str, Format]]:
    """Return the formats whose packages are installed."""

    return [(form, each) for form, each in FORMATS.items() if all(map(find_spec, each.needs))]
