"""`deniable ledger`: what respondents have spent, beside what they were promised."""

from itertools import chain, islice

import click

from analysis.core.errors import check_delta
from analysis.core.options import DELTA, ROWS_OF_LEDGERS
from server.commands import (
    checked_by,
    database,
    form_of_table,
    only_batches,
    print_table,
    survey_id,
)
from server.store import Place, Store

delta_of_totals = click.option(
    "--delta",
    type=float,
    default=DELTA,
    show_default=True,
    callback=checked_by(check_delta),
    help="The δ of totals, for all rules except the plain sum, which needs none.",
)


@click.command()
@survey_id
@click.option(
    "--by",
    type=click.Choice(ROWS_OF_LEDGERS),
    default="respondent",
    show_default=True,
    help="What a row is about; total: each distinct total, with how many spent it.",
)
@delta_of_totals
@only_batches
@database
@form_of_table
def ledger(survey_id: str, by: str, delta: float, batch: bool, db: Place, form: str) -> None:
    """Print what respondents have spent, and what they were promised."""
    from analysis.privacy.ledger import COLUMNS_BY, ledger_rows
    from server.stored_ledger import ledger_of_survey

    rows = ledger_of_survey(Store(db), survey_id, by, delta, batch)
    first = list(islice(rows, 1))
    print_table(ledger_rows(chain(first, rows)), COLUMNS_BY[by], form)
    if not first:
        raise click.ClickException(
            f"ledger of {survey_id}: expected at least one stored report, got none"
        )
