"""`deniable doctor`: look at a collector in the field, and say what to do."""

from dataclasses import asdict, fields
from functools import partial

import click

from server.clock import today
from server.commands import database, form_of_table, print_message, print_table
from server.doctor import Check
from server.store import Place, StoreError


@click.command()
@click.option(
    "--url", help="Check what is served at this address, such as https://survey.example.org."
)
@click.option(
    "--authority",
    type=click.Path(exists=True, dir_okay=False),
    help="Trust the certificates in this file, too. No page is compared then.",
)
@database
@partial(form_of_table, forms=("text", "csv", "json"))
@click.pass_context
def doctor(
    context: click.Context, url: str | None, authority: str | None, db: Place, form: str
) -> None:
    """Look at the proxy from outside, at the database, and at the machine; say what to do.

    Run it on the server, as the user of the collector, and with --url alone from elsewhere. Exits
    with 1 if anything is not as it should be.
    """
    from server.doctor import machine, outside

    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    checks: list[Check] = []
    if url:
        checks += outside.look(url, authority)
    if db.exists():
        checks += machine.look(db, today())
    elif given or not url:
        raise StoreError(f"{db}: expected a database, or --url alone for somebody else's server")
    rows = [{**asdict(one), "ok": "yes" if one.ok else "no"} for one in checks]
    for row in rows:
        row["advice"] = "" if row["ok"] == "yes" else row["advice"]
    if form == "text":
        for one in checks:
            click.echo(f"{'ok' if one.ok else 'NO':4}{one.part}, {one.subject}: {one.finding}")
            if not one.ok:
                click.echo(f"    what to do: {one.advice}")
    else:
        print_table(rows, [field.name for field in fields(Check)], form)
    wrong = sum(not one.ok for one in checks)
    print_message(f"{len(rows) - wrong} of {len(rows)} are as they should be")
    if wrong:
        raise click.exceptions.Exit(1)
