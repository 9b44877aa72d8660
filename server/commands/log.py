"""`deniable log`: what researchers did."""

from dataclasses import asdict, fields

import click

from server.commands import database, form_of_table, print_table
from server.store import Place, Store, StoreError
from server.store.log import Entry


@click.command()
@database
@form_of_table
def log(db: Place, form: str) -> None:
    """Print what researchers did: each line's hash covers the one before it.

    A changed line shows. A log that was rewritten from some line on shows only to somebody who
    noted a later hash.
    """
    store = Store(db)
    print_table(map(asdict, store.log.entries()), [field.name for field in fields(Entry)], form)
    if not store.log.is_whole():
        raise StoreError("log: expected each hash to follow from the line before, got another")
