"""`deniable audit`: check what is stored, and what a server serves."""

from dataclasses import asdict, fields
from pathlib import Path

import click

from server.clock import today
from server.commands import database, form_of_table, print_message, print_table
from server.store import Place, Store, StoreError


@click.command()
@click.option(
    "--backup",
    "backups",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Check this backup, too.",
)
@click.option("--url", help="Compare what this server serves with this installation.")
@click.option("--survey", "surveys", multiple=True, help="Check the page of this survey, too.")
@click.option("--quiet", is_flag=True, help="Print only what is not as it should be.")
@database
@form_of_table
@click.pass_context
def audit(
    context: click.Context,
    backups: tuple[Path, ...],
    url: str | None,
    surveys: tuple[str, ...],
    quiet: bool,
    db: Place,
    form: str,
) -> None:
    """Print what is stored and what is not, whether it is sound, and the hash of each module.

    Exits with 1 if anything is not as it should be. With --url and no database, for somebody else's
    server, the command compares only what is served: every byte and header of the pages of --survey
    (or of https://HOST/s/ID as --url), of /me, and of all that they load. Auditors in several
    places compare the hash of a page as served; on the server, --survey with --db prints the same.
    With --quiet it prints nothing that changes with each report, so a journal can keep the output.
    """
    from server.audit.database import (
        Finding,
        audit_backup,
        audit_database,
        audit_modules,
        small_groups,
    )
    from server.audit.website import audit_survey_page, audit_website

    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    findings: list[Finding] = []
    few: list[str] = []
    if given or not url or db.exists():
        store = Store(db)
        findings += audit_database(store, today())
        for survey_id in surveys:
            current = store.surveys.current(survey_id)
            if current is not None:
                findings += audit_survey_page(current.survey, current.to_json(today()))
            elif not url:
                raise StoreError(f"{db}: no survey {survey_id}")
        few = small_groups(store)
        store.close()
    for backup in backups:
        findings += audit_backup(backup, today())
    findings += audit_modules()
    if url:
        findings += audit_website(url, surveys)
    rows = [{**asdict(fact), "ok": "yes" if fact.ok else "no"} for fact in findings]
    if not quiet:
        print_table(rows, [field.name for field in fields(Finding)], form)
        for group in few:
            print_message(f"note: {group}")
    wrong = [fact for fact in findings if not fact.ok]
    for fact in wrong:
        print_message(f"not as it should be: {fact.part}, {fact.subject}: {fact.finding}")
    if not quiet:
        print_message(f"{len(rows) - len(wrong)} of {len(rows)} findings are as they should be")
    if wrong:
        raise click.exceptions.Exit(1)
