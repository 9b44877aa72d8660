"""`deniable copy`: move to another kind of database."""

from functools import partial

import click

from server.commands import PlaceType, print_message, record
from server.store import Place, Store, StoreError


@click.command()
@click.argument("source", metavar="FROM", type=PlaceType())
@click.argument("target", metavar="TO", type=PlaceType())
def copy(source: Place, target: Place) -> None:
    """Copy a database into PostgreSQL, or from there into a file: all of it, or nothing.

    FROM and TO are files, or addresses such as postgresql://USER@HOST/DATABASE. No server may run
    on FROM, and TO must be new. Then collect into only one of the two: neither knows what
    respondents spend in the other. Accounts are copied; sessions and research tokens are not.
    """
    from server.stored_tally import collector_of

    if target.exists():
        raise StoreError(f"{target}: expected a new database, got one that exists")
    store = Store(source)
    try:
        with store.database.unserved():
            record(store, "copy", str(target))
            # Both get the same id, so that nobody merges their tallies.
            collector_of(store, partial(record, store))
            store.copy_to(target)
    finally:
        store.close()
    copied = Store(target)
    reports = sum(
        sum(copied.reports.per_version(survey_id).values()) for survey_id in copied.surveys.ids()
    )
    copied.close()
    print_message(
        f"{target}: copied, with {reports:,} reports. Collect there or in {source}, not in both; "
        "delete the other once all is well"
    )
