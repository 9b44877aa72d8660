"""What respondents sent, what it cost them, and how often each symbol came.

Within a transaction, rows of a table are written in the order of their own keys: neither the
write-ahead log nor the places within the file tell which report came with which pseudonym, unless
it came alone.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ledger import Spend, in_epsilon
from analysis.survey import Survey
from server.store.surveys import Open, Surveys
from server.wire import Refusal, Submission


@dataclass
class _Batch:
    """What one transaction is about to write, and what it has read so far."""

    reports: dict[tuple[str, bytes], tuple[str, int, str]] = field(default_factory=dict)
    spent: dict[tuple[str, bytes], dict[str, int]] = field(default_factory=dict)
    charges: Counter[tuple[str, bytes, str, int, int]] = field(default_factory=Counter)
    tally: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    current: dict[str, tuple[Open, list[int]]] = field(default_factory=dict)


class Reports(Surveys):
    """Reports, ledger and tallies, each of which only `add` writes."""

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
        pending = _Batch()
        with self._writing() as connection:
            results = [self._add(connection, one, today, pending) for one in batch]
            connection.executemany(
                "INSERT INTO report VALUES (?, ?, ?, ?, ?)",
                sorted((*key, *row) for key, row in pending.reports.items()),
            )
            connection.executemany(
                "INSERT INTO ledger VALUES (?, ?, ?, ?, ?6, ?5 * ?6) ON CONFLICT DO UPDATE SET "
                "submissions = submissions + ?6, charged = charged + ?5 * ?6",
                [(*key, n) for key, n in sorted(pending.charges.items())],
            )
            connection.executemany(
                "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET n = n + ?7",
                [(*key, n) for key, n in sorted(pending.tally.items())],
            )
        return results

    def _add(
        self, connection: Connection, one: Submission, today: date, pending: _Batch
    ) -> Refusal | int:
        survey = one.survey
        row = (survey.version, one.wave, one.payload)
        stored = (
            pending.reports.get((survey.id, one.rid))
            or connection.execute(
                "SELECT version, wave, payload FROM report WHERE survey = ? AND rid = ?",
                (survey.id, one.rid),
            ).fetchone()
        )
        if stored is not None:
            return 200 if stored == row else Refusal("rid-reused", "rid", "a new one", "one in use")
        if survey.id not in pending.current:
            current = self.current(survey.id)
            assert current is not None  # versions are never deleted
            opened = [wave for wave, state in self.waves(survey.id).items() if state == "open"]
            pending.current[survey.id] = (current, opened)
        current, opened = pending.current[survey.id]
        if current.survey.is_over(today) or survey.is_over(today) or one.wave not in opened:
            over = current.survey.is_over(today) or survey.is_over(today)
            now = "none" if over or not opened else " or ".join(map(str, opened))
            return Refusal("closed", "wave", f"an open wave: {now}", str(one.wave))
        person = (survey.id, one.respondent)
        if person not in pending.spent:
            rows = connection.execute(
                "SELECT version, sum(charged) FROM ledger WHERE survey = ? AND respondent = ? "
                "GROUP BY version",
                person,
            )
            pending.spent[person] = dict(rows.fetchall())
        before = pending.spent[person]
        refusal = self._overspends(survey, current.survey, before) or self._redeem(
            connection, one, current.survey
        )
        if refusal is not None:
            return refusal
        pending.reports[survey.id, one.rid] = row
        before[survey.version] = before.get(survey.version, 0) + survey.charge
        pending.charges[*person, survey.version, one.wave, survey.charge] += 1
        pending.tally.update(
            (survey.id, survey.version, one.wave, question, *cell) for question, cell in one.tallied
        )
        return 201

    def _overspends(
        self, survey: Survey, current: Survey, before: dict[str, int]
    ) -> Refusal | None:
        """Every cap that was promised holds: of the versions answered, this one, the current."""
        promised = [self.survey(survey.id, version) for version in before]
        cap = min(one.cap for one in (survey, current, *promised) if one is not None)
        spent = sum(before.values())
        if spent + survey.charge <= cap:
            return None
        return Refusal(
            "cap-exceeded",
            "respondent",
            f"at most ε = {in_epsilon(cap):g} in total",
            f"{in_epsilon(spent):g} spent and {in_epsilon(survey.charge):g} more",
        )

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
        rows = self._connection.execute(
            "SELECT question, cohort, symbol, n FROM tally "
            "WHERE survey = ? AND version = ? AND wave = ?",
            (survey.id, survey.version, wave),
        )
        for question, cohort, symbol, n in rows:
            counts[question][cohort, symbol] = n
        return counts

    def report_counts(self, survey_id: str) -> dict[str, int]:
        """How many reports each version of a survey got, over all waves, deleted ones too."""
        rows = self._connection.execute(
            "SELECT version, sum(submissions) FROM ledger WHERE survey = ? GROUP BY version",
            (survey_id,),
        )
        return dict(rows.fetchall())

    def payloads(self, survey: Survey, wave: int) -> Iterator[dict[str, Any]]:
        """The reports of a wave, in the order of what they say, which tells nothing more."""
        rows = self._connection.execute(
            "SELECT payload FROM report WHERE survey = ? AND version = ? AND wave = ? "
            "ORDER BY payload",
            (survey.id, survey.version, wave),
        )
        return (json.loads(payload) for (payload,) in rows)

    def spends(self, survey_id: str) -> list[Spend]:
        """What each respondent was charged, by version and wave."""
        rows = self._connection.execute(
            "SELECT lower(hex(respondent)), version, wave, submissions, charged FROM ledger "
            "WHERE survey = ?",
            (survey_id,),
        )
        return [Spend(*row) for row in rows]

    def stored(self, survey_id: str, wave: int) -> int:
        """How many reports of a wave are kept, of all versions."""
        (n,) = self._connection.execute(
            "SELECT count(*) FROM report WHERE survey = ? AND wave = ?", (survey_id, wave)
        ).fetchone()
        return int(n)
