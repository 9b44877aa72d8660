"""The times when results are shown: from a minimum of reports on, and then in batches.

Somebody who sees results before and after one report sees that report. So an open survey shows a
snapshot, which was taken when a batch of reports was complete. It shows the snapshot before the
last, so that closing adds at least a batch, too. Raw reports carry no number of a batch.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from analysis.survey.document import Table

#: The smallest batch, and the smallest number of reports that is shown, of any survey.
SMALLEST_BATCH, SMALLEST_MINIMUM = 10, 20

#: The key of the questions whose results are public.
PUBLIC = "public"

#: A batch has at least one in this many reports. More batches would be work and show nothing new.
_SHARE = 100


@dataclass(frozen=True)
class Steps:
    """The steps of results: from `minimum` reports on, and then at least `batch` more at a time.

    Nothing is shown while a wave is open if `open` is false. Somebody who fills a batch with
    reports of their own, except for one, sees that one.
    """

    batch: int = 50
    minimum: int = 100
    open: bool = True

    @property
    def told(self) -> str:
        """When results are shown, for the end of a sentence."""
        if not self.open:
            return f"once the wave is closed, if at least {self.minimum:,} reports came"
        return f"from {self.minimum:,} reports on, then at least {self.batch:,} more at a time"


class Cell(NamedTuple):
    """The numbers of reports of one version in one wave: all, and those of two snapshots.

    `shown` is the snapshot that is shown, and `next` is the one after it. Both are numbers of
    reports. `settled` says that the wave was closed when all reports were shown, and was not opened
    since. Then single reports, which carry no number of a batch, may be shown. If the wave is
    opened again, that takes another batch, since otherwise it would reveal whether any reports
    came.
    """

    n: int = 0
    shown: int = 0
    next: int = 0
    settled: bool = False

    def after(self, more: int, steps: Steps) -> "Cell":
        """Return the cell with `more` reports added. A snapshot is taken if a batch is complete."""
        n = self.n + more
        if not steps.open or n < self.next + max(steps.batch, self.next // _SHARE):
            return self._replace(n=n)
        return self._replace(n=n, shown=self.next, next=n)

    def closed(self, steps: Steps) -> "Cell":
        """Return the cell after its wave is closed. All reports are shown if they complete a batch.

        A wave that was opened again, and closed after a few reports, shows the same as before.
        """
        if self.n < self.shown + steps.batch:
            return self
        return Cell(self.n, self.n, self.n, settled=True)

    def opened(self) -> "Cell":
        """Return the cell after its wave is opened again."""
        return self._replace(settled=False)


def read_results(table: Table, questions: Collection[str]) -> dict[str, Any]:
    """Return the content of `[results]` in its frozen form, which is empty for the defaults.

    `questions` are the ids of the survey's questions. The results of some can be public.

    Raises
    ------
    SurveyError
        If a number is too small, if the minimum is less than a batch, or if a question is unknown.
    """
    part = table.part("results")
    public = part.take(
        PUBLIC,
        lambda value: (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(name, str) and name in questions for name in value)
            and len(set(value)) == len(value)
        ),
        f"a list of different questions, of {', '.join(questions)}",
        default=None,
    )
    given: dict[str, Any] = {
        name: _read_number(part, name, least)
        for name, least in (("batch", SMALLEST_BATCH), ("minimum", SMALLEST_MINIMUM))
        if part.peek(name) is not None
    }
    if part.peek("open") is not None and not part.flag("open"):
        given["open"] = False
    part.finish()
    steps = replace(Steps(), **given)
    if steps.minimum < steps.batch:
        raise part.error("minimum", f"a whole number of at least {steps.batch}, a batch")
    return given if public is None else {**given, PUBLIC: public}


def _read_number(part: Table, name: str, least: int) -> int:
    number: int = part.take(
        name,
        lambda value: type(value) is int and least <= value <= 1_000_000,
        f"a whole number from {least} to 1,000,000",
    )
    return number


def steps_of(spec: Mapping[str, Any]) -> Steps:
    """Return the steps in which the results of a frozen survey are shown."""
    given = spec.get("results", {})
    return replace(Steps(), **{key: given[key] for key in given if key != PUBLIC})
