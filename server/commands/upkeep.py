"""`deniable restore` and `audit`: check a backup, a database and what a server serves."""

import tempfile
from dataclasses import asdict, fields
from pathlib import Path

import click

from server.audit.database import (
    Finding,
    audit_backup,
    audit_database,
    audit_modules,
    open_copy,
    small_groups,
)
from server.audit.website import audit_survey_page, audit_website
from server.clock import today
from server.commands import database, forget_due, form_of_table, print_message, print_table, record
from server.store import Store, StoreError
from server.store.file import beside

_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("source", metavar="BACKUP", type=_file)
@click.option("--keep-open", is_flag=True, help="Leave open the waves that were open in it.")
@database
def restore(source: Path, keep_open: bool, db: Path) -> None:
    """Check a backup, and make a database of this release's schema from it.

    --db must be a new file: nothing is overwritten. Reports that were to be deleted by now are
    deleted from the copy. All waves are closed in it, since they may have been closed after the
    backup was made. The command prints which waves were open, and how to open them again.
    """
    for path in (db, *beside(db)):
        if path.exists():
            raise StoreError(
                f"{path}: expected no such file; move {db.name} and all {db.name}-* away together: "
                "what stands in them would be written over what is restored"
            )
    for path in beside(source):
        if source.is_file() and path.exists() and path.stat().st_size:
            raise StoreError(
                f"{source}: is no backup, but a database in use or of a killed server: {path.name} "
                "has more of it; use deniable backup"
            )
    with tempfile.TemporaryDirectory(dir=db.absolute().parent) as folder:
        store = open_copy(source, Path(folder) / "copy.db")
        try:
            forget_due(store)
            findings = audit_database(store, today())
            wrong = "; ".join(fact.finding for fact in findings if not fact.ok)
        except Exception as error:  # of a file in which anything may stand
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
        f"{db}: restored. What was collected after the backup is not in it: those reports "
        "are lost, the ledger lacks what they cost, and invitations used since can be used again."
    )
    for survey_id, wave in opened:
        then = f"deniable open {survey_id} --wave {wave} --db {db}"
        now = "open" if keep_open else f"closed now. If it was not closed since, open it: {then}"
        print_message(f"{survey_id}: wave {wave} was open in the backup, and is {now}")
    print_message(
        f"accounts, as of the backup: {', '.join(accounts) or 'none'}"
        + "; remove those that you had removed since, and renew passwords that you had renewed"
        * bool(accounts)
    )


@click.command()
@click.option("--backup", "backups", multiple=True, type=_file, help="Look into this backup too.")
@click.option("--url", help="Compare what this server serves with this installation.")
@click.option("--survey", "surveys", multiple=True, help="Look at the page of this survey too.")
@database
@form_of_table
@click.pass_context
def audit(
    context: click.Context,
    backups: tuple[Path, ...],
    url: str | None,
    surveys: tuple[str, ...],
    db: Path,
    form: str,
) -> None:
    """Print what is stored and what is not, whether it is sound, and the hash of each module.

    Exits with 1 if anything is not as it should be. With --url and no database, for somebody else's
    server, the command compares only what is served: every byte and header of the pages of --survey
    (or of https://HOST/s/ID as --url), of /me, and of all that they load. Auditors in several
    places compare the hash of a page as served; on the server, --survey with --db prints the same.
    """
    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    findings: list[Finding] = []
    few: list[str] = []
    if given or not url or db.exists():
        store = Store(db)
        findings += audit_database(store, today())
        for survey_id in surveys:
            current = store.surveys.current(survey_id)
            if current is not None:
                findings.append(audit_survey_page(current.survey, current.to_json(today())))
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
    print_table(rows, [field.name for field in fields(Finding)], form)
    for group in few:
        print_message(f"note: {group}")
    wrong = [fact for fact in findings if not fact.ok]
    for fact in wrong:
        print_message(f"not as it should be: {fact.part}, {fact.subject}: {fact.finding}")
    print_message(f"{len(rows) - len(wrong)} of {len(rows)} findings are as they should be")
    if wrong:
        raise click.exceptions.Exit(1)
