"""Files of databases: which SQLite has beside one, their modes, and flushing them to the disk."""

import os
from contextlib import suppress
from pathlib import Path


def beside(path: Path) -> list[Path]:
    """Return the files in which SQLite keeps what it has not yet written into a database."""
    return [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal")]


def touch_private(path: Path) -> None:
    """Make a file for its owner alone, if there is none; SQLite's files beside it get its mode."""
    with suppress(FileExistsError):  # one that exists is not opened: see `server.store.file`
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def flush_to_disk(path: Path) -> None:
    """Wait until the disk has the content of a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
