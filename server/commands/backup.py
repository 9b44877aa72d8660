"""`deniable backup` and `migrate`: copy a database, or bring it to this release's schema."""

from pathlib import Path

import click

from server.commands import database, print_message, record
from server.store import Store
from server.store import migrate as bring_up
from server.store.schema import SCHEMA_VERSION


@click.command()
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@database
def backup(target: Path, db: Path) -> None:
    """Copy the database to a new file, also while the server runs.

    Unlike a copy of the files or a stream of the write-ahead log, it has no history of writes.
    """
    store = Store(db)
    record(store, "backup", target.name)
    store.copy_to(target)
    store.close()
    print_message(f"{target}: {target.stat().st_size:,} bytes")


@click.command()
@database
def migrate(db: Path) -> None:
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
        f"{db}: brought from schema {version} to {SCHEMA_VERSION} and written anew. "
        f"{saved} is the only way back; delete it once all is well"
    )
