"""`deniable check` and `publish`: prepare a survey before it is fielded."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.core.errors import SurveyError
from server.commands import (
    PlaceType,
    database,
    form_of_table,
    print_message,
    print_table,
    record,
    survey_file,
)
from server.store import Place, Store

if TYPE_CHECKING:
    from analysis.survey.survey import Survey


@click.command()
@survey_file
@click.option(
    "--db",
    type=PlaceType(),
    help="Also name the questions that published surveys of this database ask already.",
)
@click.option(
    "--words",
    metavar="TAG",
    help="Print only a table to fill in: the page's words that the file lacks in this language.",
)
@form_of_table
def check(survey_file: Path, db: Place | None, words: str | None, form: str) -> None:
    """Check a survey file; print mechanism and ε of each question.

    The command also prints what the next best mechanism would cost: how many times as many
    respondents it takes for the same variance (below 1 if the author did not name the best).
    """
    from analysis.survey.check import check as check_questions
    from analysis.survey.check import refusals
    from analysis.survey.survey_file import read_survey
    from server.page_texts import to_translate
    from server.remarks import remarks

    survey = read_survey(survey_file)
    if words is not None:
        click.echo("\n".join(to_translate(survey.spec, words)))
        return
    if refused := refusals(survey):
        raise SurveyError(f"{survey_file}: {refused[0]}")
    checks = check_questions(survey)
    rows = [asdict(row) for row in checks]
    columns = [name for name in rows[0] if name not in ("saving", "remark")]
    print_table(rows, columns, form)
    for remark in remarks(survey, checks):
        print_message(remark)
    if db is not None:
        store = Store(db)
        warn_of_asked(store, survey)
        store.close()


@click.command()
@survey_file
@database
@click.option(
    "--new-prices",
    is_flag=True,
    help="Publish it although its format changes prices for people who have answered.",
)
@form_of_table
def publish(survey_file: Path, db: Place, new_prices: bool, form: str) -> None:
    """Freeze a survey and store it; print its version."""
    from analysis.survey.survey_file import read_survey

    survey = read_survey(survey_file)  # first, since a file with an error makes no database
    store = Store(db, create=True)
    survey, new = publish_in(store, survey, new_prices)
    warn_of_cap(survey)
    if not store.surveys.waves(survey.id):
        print_message(
            f"{survey.id}: nobody can answer it yet. The next deniable serve opens it. If a server "
            f"runs already, open it with deniable open {survey.id}"
        )
    store.close()
    row = {"survey": survey.id, "version": survey.version, "new": "yes" if new else "no"}
    print_table([row], row, form)


def publish_in(store: Store, survey: "Survey", new_prices: bool = False) -> "tuple[Survey, bool]":
    """Publish a survey, and say if it replaces another version.

    Return the version that is stored of its file, and whether it is new.
    """
    survey = store.surveys.of_same_file(survey)
    store.surveys.check_new(survey)
    if not new_prices:
        store.surveys.check_prices(survey)  # before anything is logged or said
    record(store, "publish", f"{survey.id} {survey.version}")
    before = store.surveys.versions(survey.id)
    if before and before[0] != survey.version:
        warn_of_few(store, survey.id, before[0])
        last = store.surveys.get(survey.id, before[0])
        if last is not None and last.terms != survey.terms and store.ledger.respondents(survey.id):
            print_message(
                f"{survey.id}: its prices or its cap change, so the ledger separates respondents "
                "who answered before from those who answer from now on"
            )
    new = store.surveys.publish(survey, new_prices=new_prices)
    if before and before[0] != survey.version:
        print_message(
            f"{survey.id}: from now on version {survey.version[:12]} is asked, not "
            f"{before[0][:12]}. The reports of both are never mixed: see --version"
        )
        warn_of_stopped(store, survey)
    if new:
        warn_of_asked(store, survey)
    return survey, new


def warn_of_cap(survey: "Survey") -> None:
    """Say if nobody can answer."""
    from server.remarks import too_low

    if survey.charge > survey.cap:
        print_message(f"{survey.id}: {too_low(survey)}")


def warn_of_asked(store: Store, survey: "Survey") -> None:
    """Name the questions that other surveys of the collector ask already."""
    from server.remarks import asked_already

    for remark in asked_already(survey, store.surveys.others(survey.id)):
        print_message(remark)


def warn_of_stopped(store: Store, survey: "Survey") -> None:
    """Say how many of those who have answered cannot answer another wave.

    The smallest cap of all versions that somebody answered holds.
    """
    from analysis.survey.survey import spent_on

    known = store.surveys.by_terms(survey.id)
    everybody = stopped = 0
    for account in store.ledger.grouped_accounts(survey.id):
        # `deniable audit` names terms that no version has.
        answered = [(known[terms], times) for terms, times in account.times if terms in known]
        cap = min([survey.cap, *(version.cap for version, _ in answered)])
        everybody += account.respondents
        stopped += account.respondents * (spent_on([*answered, (survey, 1)]) > cap)
    if stopped:
        print_message(
            f"{survey.id}: {stopped:,} of {everybody:,} respondents so far cannot answer another "
            "wave, which would exceed the smallest cap that they were promised"
        )


def warn_of_few(store: Store, survey_id: str, version: str = "", but: int | None = None) -> None:
    """Warn of groups of few reports that will stay small, since their wave or version ends.

    Parameters
    ----------
    version : str
        The version that ends; all versions, if empty.
    but : int, optional
        The wave that stays open.
    """
    from server.store.reports import FEWEST

    opened = store.surveys.open_waves(survey_id)
    for (known, wave), n in store.reports.cells(survey_id).items():
        if known.startswith(version) and wave in opened and wave != but and n < FEWEST:
            print_message(
                f"{survey_id}: wave {wave} has {n} reports to version {known[:12]}, fewer than "
                f"{FEWEST}; unless more come, single reports stand out in this group"
            )
