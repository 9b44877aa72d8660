"""`deniable restore` and `audit`: whether a backup, a database and a server are sound."""

import shutil
import tempfile
from dataclasses import asdict, fields
from pathlib import Path

import click

from server.audit.database import Finding, of_backup, of_database, of_modules, small_groups
from server.audit.website import of_server, of_survey
from server.clock import today
from server.commands import database, forget_due, form_of_table, print_table, record
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
            store = Store(copy, upgrade=True)
        except StoreError as error:
            raise StoreError(str(error).replace(str(copy), str(source))) from None
        try:
            forget_due(store)
            findings = of_database(store, today())
            wrong = "; ".join(one.finding for one in findings if not one.ok)
        except Exception as error:  # of a file in which anything may stand
            wrong = f"it cannot be read: {type(error).__name__}"
        if wrong:
            raise StoreError(f"{source}: is damaged: {' '.join(wrong.split())}")
        record(store, "restore", source.name)
        opened = {
            survey: waves for survey in store.surveys.ids() if (waves := _opened(store, survey))
        }
        if not keep_open:
            for survey in opened:
                store.surveys.close_waves(survey)
        accounts = [f"{one.name} ({one.role})" for one in store.researchers.all()]
        store.copy_to(db)
        store.close()
    click.echo(
        f"{db}: restored. What was collected after the backup is not in it: those reports "
        "are lost, the ledger lacks what they cost, and invitations used since can be used again.",
        err=True,
    )
    for survey, waves in opened.items():
        for wave in waves:
            click.echo(
                f"{survey}: wave {wave} was open in the backup, and is "
                + ("open" if keep_open else "closed now. If it was not closed since, open it: ")
                + f"deniable open {survey} --wave {wave} --db {db}" * (not keep_open),
                err=True,
            )
    click.echo(
        f"accounts, as of the backup: {', '.join(accounts) or 'none'}"
        + "; remove those that you had removed since, and renew passwords that you had renewed"
        * bool(accounts),
        err=True,
    )


def _opened(store: Store, survey_id: str) -> list[int]:
    return [wave for wave, state in store.surveys.waves(survey_id).items() if state == "open"]


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
        findings += of_database(store, today())
        for survey_id in surveys:
            current = store.surveys.current(survey_id)
            if current is not None:
                findings.append(of_survey(current.survey, current.to_json(today())))
            elif not url:
                raise StoreError(f"{db}: no survey {survey_id}")
        few = small_groups(store)
        store.close()
    for one in backups:
        findings += of_backup(one, today())
    findings += of_modules()
    if url:
        findings += of_server(url, surveys)
    rows = [{**asdict(one), "ok": "yes" if one.ok else "no"} for one in findings]
    print_table(rows, [field.name for field in fields(Finding)], form)
    for group in few:
        click.echo(f"note: {group}", err=True)
    wrong = [one for one in findings if not one.ok]
    for bad in wrong:
        click.echo(f"not as it should be: {bad.part}, {bad.subject}: {bad.finding}", err=True)
    click.echo(f"{len(rows) - len(wrong)} of {len(rows)} findings are as they should be", err=True)
    if wrong:
        raise click.exceptions.Exit(1)
