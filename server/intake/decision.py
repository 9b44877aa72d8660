"""Decide on a batch of submissions: which are stored, what each costs, and what is counted.

`decide` is a pure function of what a store knows. It reads no clock and no database, so that every
store decides alike. `Intake` is the seam behind which a store reads and writes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.privacy.ledger import in_epsilon
from analysis.privacy.ledger.totals import Times
from analysis.survey.batches import Cell, Steps
from analysis.survey.survey import Survey
from server.intake.wire import Refusal, Submission


class Spent(NamedTuple):
    """A respondent's spend in a survey: how often under which terms, and millionths of ε."""

    times: Times
    charged: int


#: The spending of a respondent who has not answered yet.
NOTHING = Spent((), 0)


#: A survey, and a version and a wave of it.
Key = tuple[str, str, int]

#: Stands for the version and the wave in the key of a whole survey, whose totals have neither.
WHOLE = ("", 0)


@dataclass(frozen=True)
class Asked:
    """A survey as it is asked now: the version published last, and its open waves in order.

    `steps` are the largest of all its versions, so that no new version takes back a promise.
    """

    current: Survey
    open_waves: Sequence[int]
    steps: Steps


@dataclass(frozen=True)
class Known:
    """The state before a batch: what a store knows of surveys, ids, pseudonyms and invitations."""

    surveys: Mapping[str, Asked]
    #: The version, wave and payload of each report that is stored, by survey and rid.
    reports: Mapping[tuple[str, bytes], tuple[str, int, str]]
    #: The spending of respondents who answered before, by survey and pseudonym.
    spent: Mapping[tuple[str, bytes], Spent]
    #: For each survey and terms that somebody in `spent` answered, a version with the same prices.
    priced: Mapping[tuple[str, str], Survey]
    #: The survey, wave and key of each invitation that exists and was not used.
    unused: Collection[tuple[str, int, bytes]]
    #: What is shown of each version and wave, and of each survey (`WHOLE`), if it has a report.
    cells: Mapping[Key, Cell]


class Report(NamedTuple):
    """A report to be stored."""

    survey: str
    rid: bytes
    version: str
    wave: int
    payload: str


class Charge(NamedTuple):
    """An addition to a respondent's row of the ledger."""

    survey: str
    respondent: bytes
    terms: str
    submissions: int
    charged: int


class Move(NamedTuple):
    """A change of the number of respondents who have spent the same in a survey."""

    survey: str
    spent: Spent
    respondents: int


class Counts(NamedTuple):
    """An addition to a question's counts in a wave: `counts[i]` at cohort and symbol `i`."""

    survey: str
    version: str
    wave: int
    question: str
    cohorts: NDArray[np.int64]
    symbols: NDArray[np.int64]
    counts: NDArray[np.int64]


class CellChange(NamedTuple):
    """The numbers that are shown of a version in a wave, or of a survey, before and after."""

    key: Key
    before: Cell
    after: Cell


@dataclass(frozen=True)
class Decision:
    """The decision about a batch: a result for each submission, and the rows to write.

    Rows are in the order of their own keys, and cells of counts in that of cohort and symbol. A
    store must write them so: another order could show which report came with which pseudonym.
    """

    #: 201 if the submission is to be stored, 200 if it was stored before, or why it is refused.
    results: list[Refusal | int]
    reports: list[Report]
    charges: list[Charge]
    moves: list[Move]
    tallies: list[Counts]
    #: How many reports count for how many symbols, for questions where that differs.
    sizes: list[Counts]
    #: The survey, wave and key of each invitation that is used up.
    used: list[tuple[str, int, bytes]]
    #: How many of the reports of a version and wave were simulated.
    simulated: list[tuple[Key, int]]
    #: What is shown from now on; snapshots are taken once all counts above are written.
    cells: list[CellChange]


#: Returns the submissions that wait, and at each later call those that came since.
Waiting = Callable[[], Iterable[Submission]]


class Intake(Protocol):
    """The methods of a store for the intake, which a second database must implement.

    The other parts of `server.store.Store` are plain reading and writing. A second store must
    guarantee here what the one with SQLite does:

    - **Atomic**: `write` takes effect completely when `transaction` ends, or not at all if anything
      within it raises.
    - **Isolated**: what `read` returned still holds when `write` takes effect. Transactions of all
      processes run as if one after another. Nothing else ensures that an invitation is used once,
      and that no respondent exceeds the cap. One writer at a time is the simplest way: SQLite
      queues writers for a file lock. With PostgreSQL it can be an advisory lock. Under SERIALIZABLE
      a transaction that fails to serialize must be run again from its `read`.
    - **Durable**: once `transaction` has ended, the rows survive a power failure. Devices delete
      their copy of a report as soon as it is acknowledged.
    - **Without history**: it writes rows in the given order, stores no time or row number with
      them, and later removes what its log and its file reveal of the order of arrival.
    """

    def transaction(self, waiting: Waiting) -> AbstractContextManager[Sequence[Submission]]:
        """Return a transaction of this thread, which is committed at its end, or rolled back.

        It yields the submissions of the batch: all that came before it was the only writer.
        """

    def read(self, submissions: Sequence[Submission]) -> Known:
        """Return what is known of a batch, within a transaction."""

    def write(self, decision: Decision) -> None:
        """Write what was decided, within the transaction in which the batch was read."""


def take_in(
    intake: Intake, waiting: Waiting, today: date, simulated: bool = False
) -> Sequence[Refusal | int]:
    """Store a batch of submissions in one transaction, and return what became of each.

    The submissions have been checked against their versions. `waiting` is called once the
    transaction has begun, so that more can come until then. If they are `simulated`, they are
    counted as such; none of them bears a mark.
    """
    with intake.transaction(waiting) as batch:
        decision = decide(batch, intake.read(batch), today, simulated)
        intake.write(decision)
    return decision.results


def decide(
    submissions: Sequence[Submission], known: Known, today: date, simulated: bool = False
) -> Decision:
    """Return the decision on a batch; each submission counts for those after it."""
    batch = _Batch(known, today)
    results = [batch.take(submission) for submission in submissions]
    tallies, sizes = _counts(batch.taken)
    return Decision(
        results,
        sorted(Report(survey, rid, *row) for (survey, rid), row in batch.stored.items()),
        [Charge(*key, *costs) for key, costs in sorted(batch.charges.items())],
        batch.moves(),
        tallies,
        sizes,
        sorted(batch.used),
        batch.stored_in() if simulated else [],
        batch.cells(),
    )


class _Batch:
    """The state while a batch is decided, and the rows to write so far."""

    def __init__(self, known: Known, today: date) -> None:
        self._known, self._today = known, today
        self._priced = dict(known.priced)
        self._spent = dict(known.spent)
        self.taken: list[Submission] = []
        self.stored: dict[tuple[str, bytes], tuple[str, int, str]] = {}
        self.charges: dict[tuple[str, bytes, str], tuple[int, int]] = {}
        self.used: set[tuple[str, int, bytes]] = set()

    def take(self, submission: Submission) -> Refusal | int:
        """Accept a submission unless a rule is against it; return what becomes of it."""
        survey = submission.survey
        key = survey.id, submission.rid
        row = survey.version, submission.wave, submission.payload
        stored = self._known.reports.get(key) or self.stored.get(key)
        if stored is not None:
            return 200 if stored == row else Refusal("rid-reused", "rid", "a new one", "one in use")
        asked = self._known.surveys[survey.id]
        who = survey.id, submission.respondent
        spent = self._spent.get(who, NOTHING)
        before = [(self._priced[survey.id, terms], n) for terms, n in spent.times]
        refusal = _not_taken_now(submission, asked, self._today)
        if refusal is not None:
            return refusal
        charge = survey.charge_after(before, spent.charged)
        # Each promised cap holds: that of the terms answered, of this version, of the current one.
        versions = (survey, asked.current, *(version for version, _ in before))
        cap = min(version.accepted_cap for version in versions)
        refusal = _overspends(spent.charged, charge, cap) or self._uninvited(submission, asked)
        if refusal is not None:
            return refusal
        self._priced.setdefault((survey.id, survey.terms), survey)
        times = dict(spent.times)
        times[survey.terms] = times.get(survey.terms, 0) + 1
        self._spent[who] = Spent(tuple(sorted(times.items())), spent.charged + charge)
        submissions, charged = self.charges.get((*who, survey.terms), (0, 0))
        self.charges[*who, survey.terms] = submissions + 1, charged + charge
        self.stored[key] = row
        if submission.invitation is not None:
            self.used.add((survey.id, submission.wave, submission.invitation))
        self.taken.append(submission)
        return 201

    def _uninvited(self, submission: Submission, asked: Asked) -> Refusal | None:
        """Return a refusal if a submission needs an invitation and has none that is good."""
        survey, wave, key = submission.survey, submission.wave, submission.invitation
        if survey.access == asked.current.access == "open":
            if key is None:
                return None
            return Refusal("invitation", "token", "none: the survey is open to all", "a token")
        if key is None:
            return Refusal("invitation", "token", "an invitation's token", "none")
        invitation = survey.id, wave, key
        if invitation in self._known.unused and invitation not in self.used:
            return None
        expected = f"an unused invitation to wave {wave}"
        return Refusal("invitation", "token", expected, "a used or unknown one")

    def moves(self) -> list[Move]:
        """Return how many respondents leave and reach each total."""
        changes = Counter[tuple[str, Spent]]()
        for survey_id, respondent in {key[:2] for key in self.charges}:
            who = survey_id, respondent
            if who in self._known.spent:
                changes[survey_id, self._known.spent[who]] -= 1
            changes[survey_id, self._spent[who]] += 1
        return [Move(*group, n) for group, n in sorted(changes.items())]

    def stored_in(self) -> list[tuple[Key, int]]:
        """Return how many reports are stored of each version and wave."""
        more = Counter((sent.survey.id, sent.survey.version, sent.wave) for sent in self.taken)
        return sorted(more.items())

    def cells(self) -> list[CellChange]:
        """Return how the numbers of reports change, and which snapshots are taken."""
        more = Counter[tuple[Key, Steps]]()
        for sent in self.taken:
            survey = sent.survey
            more[(survey.id, survey.version, sent.wave), survey.steps] += 1
            more[(survey.id, *WHOLE), self._known.surveys[survey.id].steps] += 1
        return [
            CellChange(key, before, before.after(n, steps))
            for (key, steps), n in sorted(more.items(), key=lambda item: item[0][0])
            for before in [self._known.cells.get(key, Cell())]
        ]


def _not_taken_now(submission: Submission, asked: Asked, today: date) -> Refusal | None:
    """Return a refusal if a survey takes no such submission now, whoever sends it."""
    if submission.survey.is_over(today) or asked.current.is_over(today):
        return Refusal("over", "survey", "one that has not ended", "one whose last day is over")
    if submission.wave not in asked.open_waves:
        waves = " or ".join(map(str, asked.open_waves)) or "none"
        return Refusal("closed", "wave", f"an open wave: {waves}", str(submission.wave))
    bits = asked.current.proof_of_work
    if submission.work < bits:
        return Refusal("work-required", "work", f"{bits} bits of work", f"{submission.work}", bits)
    return None


def _overspends(spent: int, charge: int, cap: int) -> Refusal | None:
    """Return a refusal if a charge would exceed the cap; all in millionths of ε."""
    if spent + charge <= cap:
        return None
    return Refusal(
        "cap-exceeded",
        "respondent",
        f"at most ε = {in_epsilon(cap).normalize():f} in total",
        f"{in_epsilon(spent).normalize():f} spent and {in_epsilon(charge).normalize():f} more",
    )


def _counts(taken: Sequence[Submission]) -> tuple[list[Counts], list[Counts]]:
    """Return what to add to tallies and to sizes; the reports of a wave are read by columns."""
    of_wave: dict[tuple[str, str, int], list[Submission]] = {}
    for submission in taken:
        wave = submission.survey.id, submission.survey.version, submission.wave
        of_wave.setdefault(wave, []).append(submission)
    tallies, sizes = [], []
    for wave, batch in sorted(of_wave.items(), key=lambda item: item[0]):
        for question in sorted(batch[0].survey.questions, key=lambda question: question.id):
            randomizer = question.randomizer
            reports = randomizer.read_many([sent.reports[question.id] for sent in batch])
            tallies.append(Counts(*wave, question.id, *randomizer.cells_many(reports)))
            if (by_size := randomizer.sizes_many(reports)) is not None:
                symbols = np.flatnonzero(by_size)
                cohorts = np.zeros_like(symbols)
                sizes.append(Counts(*wave, question.id, cohorts, symbols, by_size[symbols]))
    return tallies, sizes
