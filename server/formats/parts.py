"""The reports of a wave as a folder of Parquet files, for engines that read many files at once.

Parts are made one after the other, so that memory does not grow with the reports. Rows are sorted
by what reports say, through all parts: the place of a row reveals what it says, and nothing else.
So a part is no sample of the reports.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from hashlib import file_digest
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from analysis.study.report_columns import report_columns
from analysis.study.tally.statement import Source, Statement
from server.formats import check_needs
from server.formats.parquet import arrow_table, schema_of
from server.formats.table import ReportsTable, Unwritable
from server.store.disk import flush_to_disk
from server.stored_results import POOLED, Missing, StoredWave

#: What stands in a manifest under "deniable", and the manifest's name.
KIND, MANIFEST = "parts-1", "manifest.json"
#: The most rows of a part; an engine reads this many at once in a few megabytes.
ROWS = 2**20
#: The number of portions of reports in a row group.
_PORTIONS = 16


def write_parts(stored: StoredWave, folder: Path, collector: str, rows: int = ROWS) -> int:
    """Write the reports of a wave into a new folder, and return how many there are.

    The folder gets its name once all of it is on the disk, its manifest too. Until then its name
    begins with a dot, and an error removes it.

    Raises
    ------
    Unwritable
        If a package is missing, there is such a folder, or it cannot be written.
    Missing, Withheld
        If several versions were asked for together, or the reports are deleted, or not shown yet.
    """
    check_needs("parquet")
    if stored.asked_version == POOLED:
        raise Missing("version: expected one, since parts are of one frozen survey, got pooled")
    payloads = stored.payloads()
    if os.path.lexists(folder):
        raise Unwritable(f"{folder}: expected a new folder, got one that exists")
    made = folder.parent / f".{folder.name}-{secrets.token_hex(4)}"
    try:
        made.mkdir(0o700)
        try:
            parts = list(_written(stored, payloads, made, rows))
            _finish(stored, made, parts, collector)
            made.rename(folder)
            flush_to_disk(folder.parent)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror}") from None
    return sum(part["rows"] for part in parts)


def _written(
    stored: StoredWave, payloads: Iterator[list[dict[str, Any]]], folder: Path, rows: int
) -> Iterator[dict[str, Any]]:
    """Write the parts, and yield what the manifest says of each."""
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = report_columns(stored.survey)
    simulated, is_open = stored.simulated, stored.is_open

    def table_of(some: list[dict[str, Any]]) -> ReportsTable:
        return ReportsTable.of(
            *(stored.survey, stored.number, stored.version, columns, some, simulated, is_open)
        )

    schema = schema_of(table_of([]))
    groups = _groups(payloads, rows)
    group: list[list[dict[str, Any]]] = next(groups, [])
    for number in count():
        path, left = folder / f"part-{number:06}.parquet", rows
        with parquet.ParquetWriter(path, schema) as writer:
            while group and left:
                tables = [arrow_table(table_of(some), schema) for some in group]
                writer.write_table(pyarrow.concat_tables(tables))
                left -= sum(map(len, group))
                group = next(groups, [])
        flush_to_disk(path)
        with path.open("rb") as file:
            digest = file_digest(file, "sha256")
        yield {
            "name": path.name,
            "rows": rows - left,
            "bytes": path.stat().st_size,
            "sha256": digest.hexdigest(),
        }
        if not group:
            return


def _groups(
    payloads: Iterator[list[dict[str, Any]]], rows: int
) -> Iterator[list[list[dict[str, Any]]]]:
    """Yield the portions of each row group: none extends beyond the end of a part."""
    left = rows
    waiting: list[dict[str, Any]] = []
    while waiting := waiting or next(payloads, []):
        group: list[list[dict[str, Any]]] = []
        while len(group) < _PORTIONS and left and (waiting := waiting or next(payloads, [])):
            some, waiting = waiting[:left], waiting[left:]
            left -= len(some)
            group.append(some)
        left = left or rows
        yield group


def _finish(stored: StoredWave, folder: Path, parts: list[dict[str, Any]], collector: str) -> None:
    """Write the manifest, which makes the folder whole."""
    reports = sum(part["rows"] for part in parts)
    stated = Statement(
        *(stored.survey, stored.number, stored.is_open, min(stored.simulated, reports)),
        (Source(collector, reports),),
    )
    manifest = stated.stated(KIND, reports, {"parts": parts})
    path = folder / MANIFEST
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    flush_to_disk(path)
    flush_to_disk(folder)
