"""What the machine does with the collector's memory, files, limits and logs."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from server.backups import counted
from server.doctor import Check, logs
from server.doctor.logs import option, running
from server.health import ROOM
from server.store import Place, Store
from server.store.disk import beside

#: Open files that a worker should be allowed: 4,096 connections, and its own.
_FILES = 4608
#: Days after which another backup should have been made, if a batch has come.
_OVERDUE = 14


def look(db: Place, today: date, root: Path = Path("/")) -> Iterator[Check]:
    """Yield what is seen on the machine of a database, whose system files are under `root`."""
    if isinstance(db, Path):
        yield from _modes(db)
        yield _disk(db)
    store = Store(db)
    try:
        for setting in store.database.settings():
            yield Check("database", *setting[:4])
        yield Check(
            "database",
            "deletions",
            "reports that were promised to be deleted are still there"
            if store.upkeep.is_overdue(today)
            else "nothing is overdue",
            not store.upkeep.is_overdue(today),
            "start the server, or run deniable close SURVEY-ID; then delete them in backups, too",
        )
        yield _backups(store, today)
    finally:
        store.database.leave()
    if isinstance(db, Path):
        yield from _servers(db, root)
    yield _swap(root)
    yield _core_dumps(root)
    yield from logs.look(root)


def _modes(db: Path) -> Iterator[Check]:
    folder = db.absolute().parent
    wanted = [path for path in (db, *beside(db)) if path.exists()]
    open_ = [path.name for path in wanted if path.stat().st_mode & 0o077]
    yield Check(
        "database",
        "file modes",
        f"others can read {', '.join(open_)}" if open_ else "only its owner can read it",
        not open_,
        f"chmod 0600 {' '.join(open_)}",
    )
    loose = folder.stat().st_mode & 0o022
    yield Check(
        "database",
        "folder",
        f"others can write to {folder}" if loose else "others cannot write to it",
        not loose,
        f"chmod 0700 {folder}",
    )
    owners = {path.stat().st_uid for path in wanted}
    yield Check(
        "database",
        "owner",
        "all files belong to one user" if len(owners) == 1 else "the files belong to several users",
        len(owners) == 1,
        f"chown all {db.name}* to the user that the server runs as; run commands as that user",
    )


def _backups(store: Store, today: date) -> Check:
    last, held = store.backups.last(), store.backups.held()
    there = counted(store, store.backups.genuine(), today)
    # Fewer new reports wait for a batch. If there are none, no backup is missing.
    batch = any(
        count.reports >= count.batch + (held[key].reports if key in held else 0)
        for key, count in there.items()
    )
    old = last is None or (today - date.fromisoformat(last[:10])).days > _OVERDUE
    return Check(
        "database",
        "backups",
        f"the last backup of a series was made on {last[:10]}"
        if last
        else "no backup of a series was made",
        not (batch and old),
        "let a timer run deniable backup --scheduled (see docs/operations.md), or find out why it "
        "fails",
    )


def _disk(db: Path) -> Check:
    free = shutil.disk_usage(db.absolute().parent).free
    needed = ROOM + 2 * db.stat().st_size
    return Check(
        "machine",
        "disk",
        f"{free // 2**20:,} MiB are free, {needed // 2**20:,} are needed",
        free >= needed,
        "make room: the file is written anew when a wave closes, and a backup is as large as it",
    )


def _servers(db: Path, root: Path) -> Iterator[Check]:
    found = [number for number, words in running(root) if _serves(root, number, words, db)]
    yield Check(
        "machine",
        "servers",
        f"{len(found)} serve this database here"
        if found
        else "none serves this database here, as far as this user can see",
        len(found) <= 1,
        f"stop the servers that should not run: processes {' '.join(map(str, found))}",
    )
    for number in found:
        limits = ""
        with suppress(OSError):
            limits = (root / f"proc/{number}/limits").read_text()
        for subject, name, wanted in (
            ("open files", "Max open files", _FILES),
            ("core", "Max core file size", 0),
        ):
            line = re.search(rf"^{name}\s+(\S+)\s+(\S+)", limits, re.M)
            if line is None:
                continue
            soft, hard = (float("inf") if one == "unlimited" else int(one) for one in line.groups())
            good = hard >= wanted if wanted else soft == 0
            yield Check(
                "machine",
                f"{subject} of process {number}",
                f"a limit of {line[2] if wanted else line[1]}",
                good,
                f"LimitNOFILE=65536 in its unit: at least {_FILES}" if wanted else "LimitCORE=0",
            )


def _serves(root: Path, number: int, words: Sequence[str], db: Path) -> bool:
    """Return whether a server's words name this database, also from within a container."""
    named = option(words, "--db") or "deniable.db"
    process = root / f"proc/{number}"
    path = process / "root" / named[1:] if named.startswith("/") else process / "cwd" / named
    with suppress(OSError):
        return path.samefile(db)
    return False


def _swap(root: Path) -> Check:
    lines = []
    with suppress(OSError):
        lines = (root / "proc/swaps").read_text().splitlines()[1:]
    open_ = [name for name in (line.split()[0] for line in lines) if not _is_safe(root, name)]
    return Check(
        "machine",
        "swap",
        f"{', '.join(open_)} may keep requests on the disk"
        if open_
        else "there is none without encryption",
        not open_,
        "switch it off or encrypt it; set MemorySwapMax=0 in the units of the collector and proxy",
    )


def _is_safe(root: Path, name: str) -> bool:
    """Return whether a place of swap is in memory, or encrypted by the device mapper."""
    device = os.path.basename(os.path.realpath(root / name.lstrip("/")))
    with suppress(OSError):
        return (root / f"sys/block/{device}/dm/uuid").read_text().startswith("CRYPT-")
    return device.startswith("zram")


def _core_dumps(root: Path) -> Check:
    pattern = ""
    with suppress(OSError):
        pattern = (root / "proc/sys/kernel/core_pattern").read_text().strip()
    # A program gets the dump whatever the limit is; systemd's program keeps none if it is 0.
    kept = pattern.startswith("|") and "systemd-coredump" not in pattern
    return Check(
        "machine",
        "core dumps",
        f"a program gets them: {pattern}" if kept else "each process limits its own",
        not kept,
        "set sysctl kernel.core_pattern=core, and LimitCORE=0 in the units",
    )
