"""`deniable backup`, `prune` and `migrate`: copy a database, or bring it to another schema."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from server.backups import abandoned, age, counted, name_of, plan, series, superfluous
from server.clock import now, stamp, today
from server.commands import database, forget_due, print_message, record
from server.store import Place, Store, StoreError
from server.store import migrate as bring_up
from server.store.backups import genuine, write
from server.store.schema import SCHEMA_VERSION


def _counts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how many backups of a series are kept."""
    for name, default, each in (
        ("monthly", 12, "month"),
        ("weekly", 4, "week"),
        ("daily", 7, "day"),
    ):
        command = click.option(
            f"--{name}",
            type=click.IntRange(0, 10_000),
            default=default,
            show_default=True,
            help=f"How many backups to keep that are the last of their {each}.",
        )(command)
    return command


@click.command()
@click.argument(
    "target", metavar="[FILE]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--recipients",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEYS",
    help="Encrypt with age for the public keys in this file; nothing else reaches the disk.",
)
@click.option(
    "--scheduled",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Add a backup to the series in this folder, if a batch has come, and delete old ones.",
)
@click.option(
    "--overdue",
    type=click.IntRange(1, 10_000),
    metavar="DAYS",
    help="With --scheduled: fail if the backup has to wait and the last one is older than this.",
)
@_counts
@database
def backup(
    target: Path | None,
    recipients: Path | None,
    folder: Path | None,
    overdue: int | None,
    db: Place,
    **counts: int,
) -> None:
    """Copy the database to a new file, also while the server runs.

    Unlike a copy of the files or a stream of the write-ahead log, it has no history of writes.

    With --scheduled it is one of a series, and encrypted. Whoever has two backups sees which
    reports came in between. So one is made only if each survey has as many reports as in the last
    one, or a batch more. Otherwise the command says what it waits for, and exits with 0.
    """
    if (target is None) == (folder is None):
        raise click.UsageError("expected either FILE or --scheduled FOLDER")
    if folder is None and overdue is not None:
        raise click.UsageError("--overdue is for --scheduled")
    if recipients is None and folder is not None:
        raise click.UsageError("expected --recipients with --scheduled: such backups are encrypted")
    if recipients is not None:
        age.check(recipients)
    store = Store(db)
    try:
        if folder is not None and recipients is not None:
            target = _add_to_series(store, folder, recipients, overdue, counts)
        elif target is not None:
            _make(target.absolute().parent)
            record(store, "backup", target.name)
            if recipients is None:
                store.copy_to(target)
            else:
                with store.copied_in_memory() as copy:
                    plain = copy.serialize()
                age.encrypt(plain, recipients, target)
    finally:
        store.close()
    if target is not None:
        print_message(f"{target}: {target.stat().st_size:,} bytes")


def _make(folder: Path) -> None:
    """Make a folder for its owner alone, unless it exists."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be made: {error.strerror}") from None


def _add_to_series(
    store: Store, folder: Path, recipients: Path, overdue: int | None, counts: dict[str, int]
) -> Path | None:
    """Make a backup, unless it has to wait, and delete old ones; return its path."""
    stem = store.database.stem
    _make(folder)
    forget_due(store)
    _delete(dict.fromkeys(abandoned(folder, stem, now()), "the command that wrote it was killed"))
    _delete(superfluous(series(folder, stem), today(), counts))
    at, before = stamp().replace(":", ""), store.backups.held()
    first = plan(before, counted(store, store.backups.genuine(), today()), at)
    if first.waiting:
        _wait(store, first.waiting, overdue)
        return None
    record(store, "backup", f"one of the series in {folder.name}")
    with store.copied_in_memory() as copy:
        # Reports may have come since, and are in the copy.
        made = plan(before, counted(store, genuine(copy), today()), at)
        if made.waiting:
            _wait(store, made.waiting, overdue)
            return None
        write(copy, at, made.held)
        target = folder / name_of(stem, at, store.upkeep.last_day(copy))
        plain = copy.serialize()
    # Note the backup before its file has its name: after a crash, the next could differ too little.
    age.encrypt(plain, recipients, target, lambda: store.backups.note(at, made.held))
    if made.replaces is not None:
        why = "the new one differs from it by less than a batch, and no batch will come"
        old = [one.path for one in series(folder, stem) if made.replaces <= one.at < at]
        _delete(dict.fromkeys(old, why))
    _delete(superfluous(series(folder, stem), today(), counts))
    return target


def _wait(store: Store, waiting: list[str], overdue: int | None) -> None:
    """Say what the series waits for; fail if it has waited for more than `overdue` days."""
    last = store.backups.last()
    begun = next((entry.at for entry in store.log.entries()), stamp())  # a survey was published
    message = (
        f"no backup was made: less than a batch of reports has come to {', '.join(waiting)}, and "
        "two backups must differ by whole batches. "
        f"Last backup: {last[:10] if last else 'none so far'}"
    )
    days = (today() - date.fromisoformat((last or begun)[:10])).days
    if overdue is not None and days > overdue:
        raise click.ClickException(f"{message}. That is {days} days, more than {overdue}")
    print_message(message)


def _delete(files: Mapping[Path, str]) -> None:
    """Delete files, and say why."""
    for path, why in files.items():
        path.unlink(missing_ok=True)
        print_message(f"{path}: deleted: {why}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted, and why.")
@click.option(
    "--before",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Also delete all that were made before this day, for example after a survey was deleted.",
)
@_counts
def prune(folder: Path, dry_run: bool, before: datetime | None, **counts: int) -> None:
    """Delete backups of a series that must not, or need not, be kept any longer.

    `deniable backup --scheduled` does the same in its own folder; this command is for the folder to
    which they are copied. It reads only the names of the files, so it needs no key. It lists files
    with other names, such as backups made by hand, and does not delete them.
    """
    if not folder.is_dir():
        raise StoreError(f"{folder}: expected a folder of backups, found none")
    found = series(folder)
    old = superfluous(found, today(), counts)
    if before is not None:
        day = before.date().isoformat()
        old |= {one.path: f"it was made before {day}" for one in found if one.at < day}
    if dry_run:
        for path, why in old.items():
            print_message(f"{path}: would be deleted: {why}")
    else:
        _delete(old)
    for path in sorted({*folder.iterdir()} - {one.path for one in found}):
        print_message(
            f"{path}: does not belong to a series: delete it yourself when its reports are due"
        )
    kept = "would be kept" if dry_run else "are kept"
    print_message(f"{len(found) - len(old)} of {len(found)} backups {kept}")


@click.command()
@database
def migrate(db: Place) -> None:
    """Bring the database of an earlier release to this one's schema, after a backup beside it.

    Stop the server first. Every other command refuses such a database, and does not change it.
    """
    done = bring_up(db)
    if done is None:
        print_message(f"{db}: has this release's schema, {SCHEMA_VERSION}; nothing to do")
        return
    version, saved = done
    store = Store(db)
    record(store, "migrate", f"schema {version} to {SCHEMA_VERSION}")
    store.close()
    print_message(
        f"{db}: was brought from schema {version} to {SCHEMA_VERSION}, and written anew. "
        f"{saved} is the only way back; delete it once everything works"
    )
