"""The tally of a stored wave, which `deniable tally export` writes."""

import re
import secrets
from collections.abc import Callable

from analysis.study.tally import Tally
from analysis.study.tally.statement import Source
from server.store import Store
from server.stored_results import POOLED, Missing, StoredWave, Withheld

#: The words of the log for a database that got its random id, and for counts that left it.
_COLLECTOR, _TALLY = "collector", "tally"

#: Adds a line of the log: what was done, and to what.
Record = Callable[[str, str], None]


def collector_of(store: Store, record: Record) -> str:
    """Return the random id of a database; draw it, and note it in the log, at the first call.

    The log is never shortened, so the id stays. A copy of the database has the same one, unless it
    was made before.
    """
    for _ in range(2):
        for entry in store.log.entries():
            if entry.what == _COLLECTOR:
                return entry.subject
        # If two are drawn at once, the first one holds.
        record(_COLLECTOR, secrets.token_hex(16))
    raise AssertionError("the line that was added to the log is not there")


def tally_of(
    store: Store, stored: StoredWave, record: Record, *, all_reports: bool = False
) -> Tally:
    """Return the tally of a wave, after noting in the log how many reports it counts.

    Two tallies of one wave show what the reports in between say. So a later one must have the same
    reports, or at least a batch more, unless `all_reports`.

    Raises
    ------
    Missing
        If several versions were asked for together.
    Withheld
        If the wave was asked in batches and none is shown yet, or if fewer reports than a batch
        came since a tally that was exported before.
    """
    if stored.asked_version == POOLED:
        raise Missing("version: expected one, since a tally is of one frozen survey, got pooled")
    survey, n = stored.survey, stored.n
    cell = f"{survey.id} {survey.version}, wave {stored.number}"
    collector = collector_of(store, record)
    if not all_reports and not survey.is_pilot:
        before = _counted_before(store, cell)
        near = [m for m in before if 0 < abs(n - m) < survey.steps.batch]
        if near:
            raise Withheld(
                f"wave {stored.number}: a tally of {near[-1]:,} reports was exported before. "
                f"Beside one of {n:,} it would show what {abs(n - near[-1]):,} people reported, "
                f"but the survey promised at least {survey.steps.batch:,}. Wait for more, or use "
                "--all-reports if nobody has the other tally"
            )
    record(_TALLY, f"{cell}, {n} reports")
    return Tally(
        *(survey, stored.number, stored.is_open, stored.simulated, (Source(collector, n),)),
        *(n, stored.tallies, stored.sizes),
    )


def _counted_before(store: Store, cell: str) -> list[int]:
    """Return how many reports the tallies had that were exported before, in their order."""
    form = re.compile(re.escape(cell) + r", ([0-9]+) reports")
    found = (form.fullmatch(each.subject) for each in store.log.entries() if each.what == _TALLY)
    return [int(match[1]) for match in found if match]
