"""What respondents sent, what it cost them, and how often each symbol came.

Within a transaction, rows of a table are written in the order of their own keys (an invitation is
marked where it stands): neither the write-ahead log nor the places within the file tell which
report came with which pseudonym, unless it came alone.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from sqlite3 import Connection
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.ledger import Account, Spend, in_epsilon
from analysis.ledger.account import Times
from analysis.survey import Survey
from server.store.locks import StoreError
from server.store.schema import BLOCK, answered_as, read_counts, written_counts
from server.store.surveys import Surveys
from server.wire import Refusal, Submission

#: What `Reports.accounts` reads: a row for each respondent, as SQLite adds up faster.
ACCOUNTS = (
    "SELECT lower(hex(respondent)), json_group_array(json_array(lower(hex(terms)), submissions)), "
    "sum(charged) FROM ledger WHERE survey = ? GROUP BY respondent ORDER BY respondent"
)

#: Reports that are read at once: enough for numpy to be fast, and only a few megabytes.
AT_ONCE = 4096


@dataclass
class _Batch:
    """What one transaction has read, and what it is about to write."""

    #: Version, wave and payload by survey and rid.
    reports: dict[tuple[str, bytes], tuple[str, int, str]] = field(default_factory=dict)
    #: How often each pseudonym answered, by terms; and what it was charged.
    answered: dict[tuple[str, bytes], Counter[str]] = field(default_factory=dict)
    spent: Counter[tuple[str, bytes]] = field(default_factory=Counter)
    #: The row of `respondent_total` that counts each pseudonym, before this transaction.
    counted: dict[tuple[str, bytes], tuple[str, int]] = field(default_factory=dict)
    current: dict[str, Survey] = field(default_factory=dict)
    #: The open waves of each survey, and the versions that have ended, or whose survey has.
    opened: dict[str, list[int]] = field(default_factory=dict)
    over: set[tuple[str, str]] = field(default_factory=set)
    #: What is stored, and what each was charged for.
    taken: list[tuple[Submission, int]] = field(default_factory=list)


class Reports(Surveys):
    """Reports, ledger and tallies, which only `add` adds to."""

    def add(self, batch: Iterable[Submission], today: date) -> list[Refusal | int]:
        """Store submissions in one transaction: reports, invitations, ledger and tallies.

        Parameters
        ----------
        batch : iterable of Submission
            Checked against their versions; read once the transaction has begun.
        today : date
            Which day it is.

        Returns
        -------
        list
            For each, 201 if stored, 200 if it was stored before, or why it is refused.
        """
        with self._writing(endless=True) as connection:
            submissions = list(batch)
            pending = self._read(connection, submissions, today)
            results = [self._take(connection, one, pending) for one in submissions]
            _write(connection, pending)
        return results

    def _read(self, connection: Connection, submissions: list[Submission], today: date) -> _Batch:
        """What must be known of a batch. In few statements: each lets other threads run first."""
        pending = _Batch()
        of_survey: dict[str, list[Submission]] = {}
        for one in submissions:
            of_survey.setdefault(one.survey.id, []).append(one)
        for survey_id, own in of_survey.items():
            places = ",".join("?" * len(own))
            for rid, *row in connection.execute(
                "SELECT rid, version, wave, payload FROM report "
                f"WHERE survey = ? AND rid IN ({places})",
                (survey_id, *(one.rid for one in own)),
            ):
                pending.reports[survey_id, rid] = tuple(row)
            for respondent, terms, times, charged in connection.execute(
                "SELECT respondent, lower(hex(terms)), submissions, charged FROM ledger "
                f"WHERE survey = ? AND respondent IN ({places})",
                (survey_id, *(one.respondent for one in own)),
            ):
                who = survey_id, respondent
                pending.answered.setdefault(who, Counter())[terms] = times
                pending.spent[who] += charged
            for who, times in pending.answered.items():
                pending.counted[who] = answered_as(times), pending.spent[who]
            current = self.current(survey_id)
            assert current is not None  # surveys are never deleted
            pending.current[survey_id] = current.survey
            waves = self.waves(survey_id)
            pending.opened[survey_id] = [wave for wave, state in waves.items() if state == "open"]
            for one in own:
                if one.survey.is_over(today) or current.survey.is_over(today):
                    pending.over.add((survey_id, one.survey.version))
        return pending

    def _take(self, connection: Connection, one: Submission, pending: _Batch) -> Refusal | int:
        """Decide on one submission, in the light of those before it."""
        survey = one.survey
        row = (survey.version, one.wave, one.payload)
        stored = pending.reports.get((survey.id, one.rid))
        if stored is not None:
            return 200 if stored == row else Refusal("rid-reused", "rid", "a new one", "one in use")
        current, opened = pending.current[survey.id], pending.opened[survey.id]
        if (survey.id, survey.version) in pending.over:
            return Refusal("over", "survey", "one that has not ended", "one whose last day is over")
        if one.wave not in opened:
            now = " or ".join(map(str, opened)) or "none"
            return Refusal("closed", "wave", f"an open wave: {now}", str(one.wave))
        bits = current.proof_of_work
        if one.work < bits:
            return Refusal("work-required", "work", f"{bits} bits of work", f"{one.work}", bits)
        who = survey.id, one.respondent
        answered = pending.answered.setdefault(who, Counter())
        before = [(self._of_terms(survey.id, terms), n) for terms, n in answered.items()]
        charge = survey.charge_after(before, pending.spent[who])
        # Every cap that was promised holds: of the terms answered, of this version, of the current.
        cap = min(promised.cap for promised in (survey, current, *(one for one, _ in before)))
        refusal = _overspends(pending.spent[who], charge, cap)
        refusal = refusal or self._redeem(connection, one, current)
        if refusal is not None:
            return refusal
        pending.reports[survey.id, one.rid] = row
        answered[survey.terms] += 1
        pending.spent[who] += charge
        pending.taken.append((one, charge))
        return 201

    def _redeem(self, connection: Connection, one: Submission, current: Survey) -> Refusal | None:
        """Mark an invitation as used, if one is asked for; the one update that can win a race."""
        if one.survey.access == current.access == "open":
            if one.invitation is None:
                return None
            return Refusal("invitation", "token", "none: the survey is open to all", "a token")
        if one.invitation is None:
            return Refusal("invitation", "token", "that of an invitation", "none")
        won = connection.execute(
            "UPDATE invitation SET used = 1 "
            "WHERE survey = ? AND wave = ? AND token_hash = ? AND used = 0",
            (one.survey.id, one.wave, one.invitation),
        ).rowcount
        if won:
            return None
        return Refusal(
            "invitation",
            "token",
            f"an unused invitation to wave {one.wave}",
            "a used or unknown one",
        )

    def tallies(self, survey: Survey, wave: int) -> dict[str, NDArray[np.int64]]:
        """For each question, how many of a wave's reports count for each symbol."""
        counts = {
            question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
            for question in survey.questions
        }
        self._read_counts("tally", survey, wave, counts)
        return counts

    def report_counts(self, survey_id: str) -> dict[str, int]:
        """How many reports each version of a survey got, over all waves, deleted ones too."""
        found = Counter[str]()
        for (version, _), n in self.cells(survey_id).items():
            found[version] += n
        return dict(found)

    def cells(self, survey_id: str) -> dict[tuple[str, int], int]:
        """Return how many reports each version got in each wave, deleted ones too, if it got any.

        Counted from the tallies of a version's first question: every report answers all of them.
        """
        found = {}
        for version, wave in self._connection.execute(
            "SELECT DISTINCT version, wave FROM tally WHERE survey = ? ORDER BY version, wave",
            (survey_id,),
        ).fetchall():
            survey = self._version(survey_id, version)
            first, tallies = survey.questions[0], self.tallies(survey, wave)
            found[version, wave] = first.randomizer.reports_in(tallies[first.id])
        return found

    def respondents(self, survey_id: str) -> dict[str, int]:
        """Return how many pseudonyms answered under each set of terms."""
        rows = self._connection.execute(
            "SELECT lower(hex(terms)), count(*) FROM ledger WHERE survey = ? GROUP BY terms",
            (survey_id,),
        )
        return dict(rows.fetchall())

    def sizes(self, survey: Survey, wave: int) -> dict[str, NDArray[np.int64]]:
        """For each question whose reports can count for different numbers of symbols: how many
        of a wave's reports count for 0, 1, 2, ... symbols.
        """
        counts = {
            question.id: np.zeros((1, question.randomizer.channel.symbols + 1), dtype=np.int64)
            for question in survey.questions
            if question.randomizer.channel.size_chances(1) is not None
        }
        self._read_counts("report_size", survey, wave, counts)
        return {question: own[0] for question, own in counts.items()}

    def _read_counts(
        self, table: str, survey: Survey, wave: int, counts: dict[str, NDArray[np.int64]]
    ) -> None:
        """Fill in what `tally` or `report_size` has, by question."""
        rows = self._connection.execute(
            f"SELECT question, cohort, block, counts FROM {table} "
            "WHERE survey = ? AND version = ? AND wave = ?",
            (survey.id, survey.version, wave),
        )
        try:
            for question, cohort, block, written in rows:
                found, start = read_counts(written), block * BLOCK
                counts[question][cohort, start : start + len(found)] = found
        except (ValueError, LookupError, TypeError):
            raise StoreError(
                f"{self.path}: the table {table} is damaged: its counts of {survey.id}, wave "
                f"{wave}, are not those of the survey's questions"
            ) from None

    def payloads(
        self, survey: Survey, wave: int, in_order: bool = False
    ) -> Iterator[list[dict[str, Any]]]:
        """The reports of a wave, a few thousand at a time, in the order of their ids.

        Devices drew these. Whoever is to get the reports gets them `in_order` of what they say,
        which tells nothing more: a respondent who showed their receipt could else be found.
        """
        rows = self._connection.execute(
            "SELECT payload FROM report WHERE survey = ? AND version = ? AND wave = ?"
            + " ORDER BY payload" * in_order,
            (survey.id, survey.version, wave),
        )
        while some := rows.fetchmany(AT_ONCE):
            yield msgspec.json.decode(f"[{','.join([payload for (payload,) in some])}]")

    def spends(self, survey_id: str) -> list[Spend]:
        """What each respondent was charged, by terms."""
        rows = self._connection.execute(
            "SELECT lower(hex(respondent)), lower(hex(terms)), submissions, charged FROM ledger "
            "WHERE survey = ?",
            (survey_id,),
        )
        return [Spend(*row) for row in rows]

    def accounts(self, survey_id: str) -> Iterator[Account]:
        """What each respondent was charged in all, in the order of their pseudonyms."""
        # Most have answered equally often.
        known: dict[str, Times] = {}
        for respondent, parts, charged in self._connection.execute(ACCOUNTS, (survey_id,)):
            if parts not in known:
                known[parts] = tuple(sorted((terms, times) for terms, times in json.loads(parts)))
            yield Account(respondent, known[parts], charged)

    def grouped_accounts(self, survey_id: str) -> Iterator[Account]:
        """One account for each group of respondents who answered and were charged the same."""
        rows = self._connection.execute(
            "SELECT answered, charged, respondents FROM respondent_total WHERE survey = ?",
            (survey_id,),
        )
        for answered, charged, respondents in rows:
            try:
                times = tuple((terms, times) for terms, times in json.loads(answered))
            except (ValueError, TypeError):
                raise StoreError(f"{self.path}: the table respondent_total is damaged") from None
            yield Account("", times, charged, respondents)

    def stored(self, survey_id: str, wave: int) -> int:
        """How many reports of a wave are kept, of all versions."""
        (n,) = self._connection.execute(
            "SELECT count(*) FROM report WHERE survey = ? AND wave = ?", (survey_id, wave)
        ).fetchone()
        return int(n)


def _overspends(spent: int, charge: int, cap: int) -> Refusal | None:
    """Why another wave is refused to a respondent, if it is; all in millionths of ε."""
    if spent + charge <= cap:
        return None
    return Refusal(
        "cap-exceeded",
        "respondent",
        f"at most ε = {in_epsilon(cap):g} in total",
        f"{in_epsilon(spent):g} spent and {in_epsilon(charge):g} more",
    )


def _write(connection: Connection, batch: _Batch) -> None:
    """Each table in the order of its own keys."""
    taken = batch.taken
    connection.executemany(
        "INSERT INTO report VALUES (?, ?, ?, ?, ?)",
        sorted(
            (one.survey.id, one.rid, one.survey.version, one.wave, one.payload) for one, _ in taken
        ),
    )
    times, charges = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for one, charge in taken:
        key = one.survey.id, one.respondent, bytes.fromhex(one.survey.terms)
        times[key] += 1
        charges[key] += charge
    connection.executemany(
        "INSERT INTO ledger VALUES (?, ?, ?, ?4, ?5) ON CONFLICT DO UPDATE SET "
        "submissions = submissions + ?4, charged = charged + ?5",
        [(*key, n, charges[key]) for key, n in sorted(times.items())],
    )
    _write_totals(connection, batch)
    for table, blocks in _blocks(taken).items():
        connection.executemany(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?7) "
            "ON CONFLICT DO UPDATE SET counts = added_counts(counts, ?7)",
            sorted(blocks),
        )


def _write_totals(connection: Connection, batch: _Batch) -> None:
    """Count whoever answered in the row of their new total, and no longer in that of the old."""
    changes = Counter[tuple[str, str, int]]()
    for who in {(one.survey.id, one.respondent) for one, _ in batch.taken}:
        if who in batch.counted:
            changes[who[0], *batch.counted[who]] -= 1
        changes[who[0], answered_as(batch.answered[who]), batch.spent[who]] += 1
    connection.executemany(
        "INSERT INTO respondent_total VALUES (?, ?, ?, ?4) "
        "ON CONFLICT DO UPDATE SET respondents = respondents + ?4",
        [(*key, n) for key, n in sorted(changes.items())],
    )
    connection.executemany(
        "DELETE FROM respondent_total "
        "WHERE survey = ? AND answered = ? AND charged = ? AND respondents = 0",
        sorted(changes),
    )


def _blocks(taken: list[tuple[Submission, int]]) -> dict[str, list[tuple[Any, ...]]]:
    """What to add to rows of `tally` and `report_size`; a wave's reports are read by columns."""
    of_wave: dict[tuple[str, str, int], list[Submission]] = {}
    for one, _ in taken:
        of_wave.setdefault((one.survey.id, one.survey.version, one.wave), []).append(one)
    found: dict[str, list[tuple[Any, ...]]] = {"tally": [], "report_size": []}
    for where, own in of_wave.items():
        for question in own[0].survey.questions:
            randomizer, place = question.randomizer, (*where, question.id)
            reports = randomizer.read_many([one.reports[question.id] for one in own])
            found["tally"] += _rows(place, *randomizer.cells_many(reports))
            sizes = randomizer.sizes_many(reports)
            if sizes is not None:
                symbols = np.flatnonzero(sizes)
                found["report_size"] += _rows(
                    place, np.zeros_like(symbols), symbols, sizes[symbols]
                )
    return found


def _rows(
    place: tuple[Any, ...],
    cohorts: NDArray[np.int64],
    symbols: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Iterator[tuple[Any, ...]]:
    """Counts of symbols as blocks; cohorts and symbols are in order."""
    blocks, places = np.divmod(symbols, BLOCK)
    begins = np.flatnonzero(np.diff(cohorts, prepend=-1) | np.diff(blocks, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(counts)]):
        own = slice(begin, end)
        written = written_counts(places[own], counts[own])
        yield *place, int(cohorts[begin]), int(blocks[begin]), written
