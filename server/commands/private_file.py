"""Write tables of links or passwords to a file that only its owner can read."""

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from analysis.core.csv_json import to_text
from server.commands import print_message, print_table
from server.store.disk import flush_to_disk

output_file = click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write to this new file, which only its owner can read.  [print]",
)


def hand_out(
    rows: Sequence[Mapping[str, Any]],
    columns: Iterable[str],
    form: str,
    output: Path | None,
    store: Callable[[], None],
) -> None:
    """Store the hashes of secrets, and write or print the secrets.

    The file gets its name only once it is complete and `store` has returned. A full disk is noticed
    before anything is stored. If the program is stopped in between, the secrets are in a file
    beside it, whose name begins with that of the output and ends in ``.part``.

    Parameters
    ----------
    rows, columns, form
        The table with the secrets, as `to_text` takes it.
    output : Path, optional
        The file to write; without it the table is printed.
    store : callable
        Stores the hashes, or raises.

    Raises
    ------
    ClickException
        If the file exists or cannot be written; then nothing is stored. Also if another program
        made a file of this name in the meantime; then the message says where the secrets are.
    """
    if output is None:
        store()
        print_table(rows, columns, form)
        _warn_of_readers()
        return
    if os.path.lexists(output):
        raise click.ClickException(f"{output}: expected a new file, got one that exists")
    try:
        part = _write_beside(output, to_text(rows, columns, form))
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror}") from None
    try:
        store()
    except BaseException:
        part.unlink()
        raise
    try:
        # Unlike renaming, this replaces no file that has come in the meantime.
        os.link(part, output)
    except OSError as error:
        raise click.ClickException(
            f"{output}: cannot be made: {error.strerror}; its whole content is in {part}"
        ) from None
    part.unlink()
    flush_to_disk(output.parent)
    print_message(f"rows written to {output}: {len(rows)}; only its owner can read it")


def _write_beside(output: Path, text: str) -> Path:
    """Write a text to a new private file beside the output, and flush it to the disk."""
    # Its mode is 0600 from the beginning, and nobody can guess its name.
    descriptor, name = tempfile.mkstemp(".part", f"{output.name}.", output.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        flush_to_disk(output.parent)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _warn_of_readers() -> None:
    """Warn if the shell redirected the output to a file that others can read."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & 0o077:
        print_message(
            "other users of this machine can read the file that this was printed to; use --output"
        )
