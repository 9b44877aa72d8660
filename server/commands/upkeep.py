"""`deniable backup`, `restore` and `audit`: keeping a database, and looking into it."""

import shutil
import tempfile
from dataclasses import asdict, fields
from pathlib import Path

import click

from server.audit import Finding, of_backup, of_database, of_modules, of_server
from server.clock import today
from server.commands import database, form_of_table, print_table, record
from server.store import Store, StoreError
from server.store.file import beside

_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("target", metavar="FILE", type=_file)
@database
def backup(target: Path, db: Path) -> None:
    """Copy the database to a new file, also while the server runs.

    Unlike a copy of the files or a stream of the write-ahead log, it has no history of writes.
    """
    store = Store(db)
    record(store, "backup", target.name)
    store.copy_to(target)
    store.close()
    click.echo(f"{target}: {target.stat().st_size:,} bytes", err=True)


@click.command()
@click.argument("source", metavar="BACKUP", type=_file)
@database
def restore(source: Path, db: Path) -> None:
    """Make a database of a backup, checked, and brought to this release's schema.

    --db must be a new file: nothing is overwritten.
    """
    for one in (db, *beside(db)):
        if one.exists():
            raise StoreError(
                f"{one}: expected no such file; move {db.name} and all {db.name}-* away together: "
                "what stands in them would be written over what is restored"
            )
    if not source.is_file():
        raise StoreError(f"{source}: no such backup")
    for one in beside(source):
        if one.exists() and one.stat().st_size:
            raise StoreError(
                f"{source}: is no backup, but a database in use or of a killed server: {one.name} "
                "has more of it; use deniable backup"
            )
    with tempfile.TemporaryDirectory(dir=db.absolute().parent) as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(source, copy)
        try:
            store = Store(copy)
        except StoreError as error:
            raise StoreError(str(error).replace(str(copy), str(source))) from None
        try:
            findings = of_database(store, today())
            wrong = "; ".join(one.finding for one in findings if not one.ok)
        except Exception as error:  # of a file in which anything may stand
            wrong = f"it cannot be read: {type(error).__name__}"
        if wrong:
            raise StoreError(f"{source}: is damaged: {' '.join(wrong.split())}")
        record(store, "restore", source.name)
        store.copy_to(db)
        store.close()
    click.echo(
        f"{db}: restored. What was collected after the backup is not in it: those reports "
        "are lost, the ledger lacks what they cost, and invitations used since can be used again.",
        err=True,
    )


@click.command()
@click.option("--backup", "backups", multiple=True, type=_file, help="Look into this backup too.")
@click.option("--url", help="Compare what a running server serves with this installation.")
@database
@form_of_table
@click.pass_context
def audit(
    context: click.Context, backups: tuple[Path, ...], url: str | None, db: Path, form: str
) -> None:
    """Print what is stored and what is not, whether it is sound, and the hash of each module.

    Exits with 1 if anything is not as it should be. With --url and no database, as of somebody
    else's server, only what is served is looked at.
    """
    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    findings: list[Finding] = []
    if given or not url or db.exists():
        store = Store(db)
        findings += of_database(store, today())
        store.close()
    for one in backups:
        findings += of_backup(one, today())
    findings += of_modules()
    if url:
        findings += of_server(url)
    rows = [{**asdict(one), "ok": "yes" if one.ok else "no"} for one in findings]
    print_table(rows, [field.name for field in fields(Finding)], form)
    wrong = [one for one in findings if not one.ok]
    for bad in wrong:
        click.echo(f"not as it should be: {bad.part}, {bad.subject}: {bad.finding}", err=True)
    click.echo(f"{len(rows) - len(wrong)} of {len(rows)} findings are as they should be", err=True)
    if wrong:
        raise click.exceptions.Exit(1)
