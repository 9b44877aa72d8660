"""What respondents have spent on stored surveys, as researchers ask for it."""

from collections.abc import Iterator
from typing import Any

from analysis.privacy.ledger import DELTA, LEDGERS, PERSONAL, Totals
from analysis.survey.batches import Cell
from server.clock import today
from server.intake.decision import WHOLE, Key
from server.store import Store
from server.store.surveys import Open
from server.stored_results import Withheld, asked_now


def ledger_of_survey(
    store: Store,
    survey_id: str,
    by: str = "respondent",
    delta: float = DELTA,
    batch: bool = False,
) -> Iterator[Any]:
    """Return what respondents have spent on a survey: the rows of one of `LEDGERS`, at `delta`.

    Parameters
    ----------
    batch : bool
        Whether to return only what pages show: whole batches, from a minimum of reports on.

    Raises
    ------
    Missing
        If there is no such survey.
    Withheld
        If `batch`, and too few reports came; or if rows are of single respondents, and more
        reports may still come.
    ValueError
        If `delta` is not between 0 and 1.
    """
    current = asked_now(store, survey_id)
    totals = Totals(store.surveys.by_terms(survey_id), current.survey.cap, delta)
    _, rows = LEDGERS[by]
    taken = _taken_of_ledger(store, current, by in PERSONAL) if batch else None
    if by in PERSONAL:
        return rows(store.ledger.accounts(survey_id), totals)
    return rows(store.ledger.grouped_accounts(survey_id, taken), totals)


def _taken_of_ledger(store: Store, current: Open, is_personal: bool) -> int:
    """Return the number of reports of the ledger's snapshot; raise Withheld if it is not shown."""
    survey_id, steps = current.survey.id, store.surveys.steps(current.survey.id)
    cell = store.surveys.cells(survey_id).get((survey_id, *WHOLE), Cell())
    if cell.shown < steps.minimum:
        raise Withheld(
            f"What respondents have spent is shown from {steps.minimum:,} reports on, and then "
            f"at least {steps.batch:,} more at a time."
        )
    cells = store.surveys.cells(survey_id)
    apart = cell.shown - sum(_shown(one, store, key) for key, one in cells.items())
    if 0 < abs(apart) < steps.minimum:
        raise Withheld(
            "What respondents have spent is not shown yet: beside the counts of each version and "
            f"wave, it would reveal something about fewer than {steps.minimum:,} others."
        )
    if is_personal and (current.state_on(today()) == "open" or not cell.settled):
        raise Withheld(
            "What single respondents have spent waits for the survey to be closed, and for at "
            f"least {steps.batch:,} reports since it was closed before."
        )
    return cell.shown


def _shown(cell: Cell, store: Store, key: Key) -> int:
    """Return how many reports of a version and wave pages show; 0 for the cell of all of them."""
    survey_id, version, wave = key
    if (version, wave) == WHOLE:
        return 0
    steps = store.surveys.stored(survey_id, version).steps
    return cell.shown if cell.shown >= steps.minimum else 0
