"""`deniable restore`: check a backup, and make a database from it."""

import tempfile
from pathlib import Path

import click

from server.backups import age
from server.clock import today
from server.commands import database, forget_due, print_message, record
from server.store import Place, StoreError
from server.store.disk import beside


@click.command()
@click.argument("source", metavar="BACKUP", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--keep-open", is_flag=True, help="Leave open the waves that were open in it.")
@click.option(
    "--identity",
    metavar="KEY",
    help="The private key's file, for a backup encrypted with age; - reads the key from stdin.",
)
@database
def restore(source: Path, keep_open: bool, identity: str | None, db: Place) -> None:
    """Check a backup, and make a database of this release's schema from it.

    --db must be a new file, or a PostgreSQL database without tables: nothing is overwritten.
    Reports whose last day has passed are deleted from the copy. All waves are closed in it, since
    they may have been closed after the backup was made. The command prints which waves were open,
    and how to open them again.
    """
    from server.audit.database import audit_database, open_copy

    if not isinstance(db, Path):
        if db.exists():
            raise StoreError(f"{db}: expected a database without tables of deniable")
    else:
        _refuse_files(db)
    for path in beside(source):
        if source.is_file() and path.exists() and path.stat().st_size:
            raise StoreError(
                f"{source}: expected a backup, got a database that is in use, or whose server was "
                f"killed: {path.name} holds a part of it; use deniable backup"
            )
    with (
        tempfile.TemporaryDirectory(dir=db.absolute().parent) as folder,
        age.readable(source, identity, Path(folder)) as plain,
    ):
        try:
            store = open_copy(plain, Path(folder) / "copy.db")
        except StoreError as error:
            raise StoreError(str(error).replace(str(plain), str(source))) from None
        try:
            forget_due(store)
            findings = audit_database(store, today())
            wrong = "; ".join(fact.finding for fact in findings if not fact.ok)
        except Exception as error:  # from a file that may hold anything
            wrong = f"it cannot be read: {type(error).__name__}"
        if wrong:
            raise StoreError(f"{source}: is damaged: {' '.join(wrong.split())}")
        record(store, "restore", source.name)
        opened = [
            (survey_id, wave)
            for survey_id in store.surveys.ids()
            for wave in store.surveys.open_waves(survey_id)
        ]
        if not keep_open:
            for survey_id, wave in opened:
                store.surveys.close_waves(survey_id, wave)
        accounts = [f"{account.name} ({account.role})" for account in store.researchers.all()]
        store.copy_to(db)
        store.close()
    print_message(
        f"{db}: restored. Reports that came after the backup are lost, the ledger lacks what they "
        "cost, and invitations that were used since can be used again."
    )
    for survey_id, wave in opened:
        then = f"deniable open {survey_id} --wave {wave} --db {db}"
        now = "open" if keep_open else f"closed now. If nobody closed it since, open it: {then}"
        print_message(f"{survey_id}: wave {wave} was open in the backup, and is {now}")
    print_message(
        f"accounts, as of the backup: {', '.join(accounts) or 'none'}"
        + "; remove accounts that you had removed since, and renew passwords that you had renewed"
        * bool(accounts)
    )


def _refuse_files(db: Path) -> None:
    """Refuse a database's file that exists, and those beside it."""
    for path in (db, *beside(db)):
        if path.exists():
            raise StoreError(
                f"{path}: already exists; move {db.name} and all {db.name}-* away together: their "
                "content would overwrite the restored database"
            )
