"""Surveys, their versions and waves."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.survey.batches import Cell, Steps
from analysis.survey.check import refusals
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey
from server.intake.decision import WHOLE, CellChange, Key
from server.intake.wire import PROTOCOL
from server.store.database import Database
from server.store.errors import StoreError
from server.store.snapshots import read_cells, write_cells


@dataclass(frozen=True)
class Open:
    """A survey as respondents meet it now."""

    survey: Survey
    wave: int
    state: str
    #: Earlier versions whose reports cost more than they stated. Devices may have answered them.
    earlier: tuple[Survey, ...] = ()

    def state_on(self, today: date) -> str:
        """Return whether reports are taken on a day: "open" or "closed"."""
        return "closed" if self.survey.is_over(today) else self.state

    def to_json(self, today: date) -> dict[str, Any]:
        """Return what a device needs to answer on a day: all of it public."""
        return described(self.survey, self.wave, self.state_on(today), self.earlier)


def described(
    survey: Survey, wave: int, state: str, earlier: Sequence[Survey] = ()
) -> dict[str, Any]:
    """Return what the API and the page say about a survey; all of it is public."""
    beside = {"protocol": PROTOCOL, "version": survey.version, "wave": wave, "state": state}
    before = {"earlier": [version.to_json() for version in earlier]} if earlier else {}
    return beside | survey.to_json() | before


def largest(versions: Sequence[Survey]) -> Steps:
    """Return the largest steps of some versions of a survey."""
    return Steps(
        max(version.steps.batch for version in versions),
        max(version.steps.minimum for version in versions),
        all(version.steps.open for version in versions),
    )


#: How many versions of surveys a process keeps in memory.
_IN_MEMORY = 64


class Surveys:
    """Surveys, their versions, and the waves in which they are asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str], Survey] = {}
        self._priced: dict[tuple[str, str], Survey] = {}
        self._opened: set[str] = set()

    def of_same_file(self, survey: Survey) -> Survey:
        """Return the stored version of the same file; the survey itself, if there is none.

        Some channels are designed in floats. On another processor, or with another release of
        numpy, a design has other weights that are as good, and a file that was not changed would
        be another version. The version that is current goes on; then the same weights are
        preferred, and then what was published last.
        """
        sql = "SELECT version, spec FROM survey WHERE id = ? ORDER BY place DESC"
        stored = self._database.query(sql, survey.id).fetchall()
        same = [version for version, frozen in stored if survey.is_of(json.loads(frozen)["survey"])]
        if not same:
            return survey
        is_current = same[0] == stored[0][0]
        if survey.version in same and not is_current:
            return survey
        return self.stored(survey.id, same[0])

    def repriced(self, survey: Survey) -> list[str]:
        """Return the ids of draws whose price another format changes for people who have answered.

        There are none if people have answered at the prices of this survey, or if the version that
        is current has the same format.
        """
        versions = self.every(survey.id)
        if not versions or versions[0].format == survey.format:
            return []
        sql = "SELECT DISTINCT answered FROM respondent_total WHERE survey = ?"
        totals = self._database.query(sql, survey.id)
        answered = {terms for (times,) in totals for terms, _ in json.loads(times)}
        if survey.terms in answered:
            return []
        priced = [version for version in versions if version.terms in answered]
        priced += [survey] * bool(priced)
        return sorted({draw.id for one in priced for draw in one.draws if draw.charged_as_stated})

    def others(self, survey_id: str) -> Iterator[dict[str, Any]]:
        """Yield the frozen texts of all other surveys' versions, without trials, in order."""
        sql = (
            "SELECT spec FROM survey WHERE id <> ? "
            "AND id NOT IN (SELECT survey FROM study WHERE trial = 1) ORDER BY id, place"
        )
        for (frozen,) in self._database.query(sql, survey_id):
            yield json.loads(frozen)["survey"]

    def check_prices(self, survey: Survey) -> None:
        """Raise StoreError if another format changes prices for people who answered."""
        changed = self.repriced(survey)
        if changed:
            raise StoreError(
                f"{survey.id}: expected the prices at which people have answered, got format = "
                f"{survey.format}, which changes those of {', '.join(changed)}. What they spent "
                "counts against the cap at the new prices. Leave the format as it was, or confirm "
                "the new prices (deniable publish --new-prices)"
            )

    def check_new(self, survey: Survey) -> None:
        """Raise StoreError if the survey cannot be published, and is not published already."""
        refused = refusals(survey)
        if refused and survey.version not in self.versions(survey.id):
            raise StoreError(f"{survey.id}: {refused[0]}")

    def publish(self, survey: Survey, is_trial: bool = False, new_prices: bool = False) -> bool:
        """Store a frozen survey as the last published of its id; return whether it was new.

        Raises
        ------
        StoreError
            If there is a trial copy or a pilot with this id, and this survey is neither, or vice
            versa: reports of one kind must never count as those of the other. If another format
            changes prices for people who answered, unless `new_prices` says that this is wanted. If
            it asks for free prose, and is not published already.
        """
        if not (is_trial or survey.is_pilot):
            self.check_new(survey)
        if not new_prices:
            self.check_prices(survey)
        before = self.current(survey.id)
        if before is not None and before.survey.is_pilot != survey.is_pilot:
            kinds = ("a pilot, whose answers are made up", "a survey of its own")
            expected, got = kinds if before.survey.is_pilot else kinds[::-1]
            raise StoreError(f"{survey.id}: expected {expected}, got {got}")
        with self._database.writing() as connection:
            self._check_trial(survey.id, is_trial)
            known = connection.execute(
                "SELECT place FROM survey WHERE id = ? AND version = ?", (survey.id, survey.version)
            ).fetchone()
            (last,) = connection.execute(
                "SELECT coalesce(max(place), 0) FROM survey WHERE id = ?", (survey.id,)
            ).fetchone()
            if known is None or known[0] != last:
                connection.execute(
                    "INSERT INTO survey VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (id, version) DO UPDATE SET place = excluded.place",
                    (survey.id, survey.version, last + 1, json.dumps(survey.to_json())),
                )
        return known is None

    def open_wave(
        self,
        survey_id: str,
        wave: int | None = None,
        alone: bool = False,
        is_trial: bool = False,
    ) -> int:
        """Open a wave, by default the highest, otherwise 1, and return its number.

        If `alone`, close the others. A panel's invitations are copied into a new wave. A wave of a
        trial is never seen by respondents.

        Raises
        ------
        StoreError
            If the survey was deleted; or if it is a trial but `is_trial` is not set, or vice versa.
        """
        current = self.current(survey_id)
        with self._database.writing() as connection:
            self._check_trial(survey_id, is_trial)
            sql = "SELECT 1 FROM study WHERE survey = ? AND state = 'deleted'"
            if connection.execute(sql, (survey_id,)).fetchone():
                raise StoreError(f"{survey_id}: was deleted, and cannot be opened again")
            if wave is None:
                (wave,) = connection.execute(
                    "SELECT coalesce(max(wave), 1) FROM wave WHERE survey = ?", (survey_id,)
                ).fetchone()
            if alone:
                connection.execute("UPDATE wave SET state = 'closed' WHERE survey = ?", [survey_id])
            connection.execute(
                "INSERT INTO wave VALUES (?, ?, 'open') "
                "ON CONFLICT (survey, wave) DO UPDATE SET state = 'open'",
                (survey_id, wave),
            )
            write_cells(connection, self._settled(survey_id))
            connection.execute(
                "UPDATE cell SET settled = 0 WHERE survey = ? AND wave IN (?, ?)",
                (survey_id, wave, WHOLE[1]),
            )
            if current is not None and current.survey.access == "panel":
                connection.execute(
                    "INSERT INTO invitation SELECT DISTINCT survey, ?2, token_hash, 0 "
                    "FROM invitation WHERE survey = ?1 AND wave < ?2 ON CONFLICT DO NOTHING",
                    (survey_id, wave),
                )
        assert wave is not None
        return wave

    def close_waves(self, survey_id: str, wave: int | None = None) -> list[int]:
        """Close one wave, by default all; return those that were open."""
        with self._database.writing() as connection:
            closed = connection.execute(
                "UPDATE wave SET state = 'closed' WHERE survey = ?1 AND state = 'open' "
                "AND wave = coalesce(?2, wave) RETURNING wave",
                (survey_id, wave),
            ).fetchall()
            write_cells(connection, self._settled(survey_id))
        return sorted(number for (number,) in closed)

    def ids(self) -> list[str]:
        """Return the ids of all surveys."""
        return [
            row[0] for row in self._database.query("SELECT DISTINCT id FROM survey ORDER BY id")
        ]

    def versions(self, survey_id: str) -> list[str]:
        """Return the versions of a survey, the last published first."""
        if "\0" in survey_id:
            return []  # which PostgreSQL refuses in a text
        sql = "SELECT version FROM survey WHERE id = ? ORDER BY place DESC"
        return [row[0] for row in self._database.query(sql, survey_id)]

    def every(self, survey_id: str) -> list[Survey]:
        """Return all versions of a survey, the last published first."""
        return [self.stored(survey_id, version) for version in self.versions(survey_id)]

    def cells(self, survey_id: str) -> dict[Key, Cell]:
        """Return what is shown of each version and wave that has a report, and of all (`WHOLE`)."""
        return read_cells(self._database.connection, survey_id)

    def steps(self, survey_id: str) -> Steps:
        """Return the steps by which results of all versions are shown: the largest of each."""
        return largest(self.every(survey_id))

    def settle(self, survey_id: str, today: date) -> None:
        """Show all reports of waves that take no more of them, if they are a batch more."""
        if self._settled(survey_id, today):  # checked before the lock is taken
            with self._database.writing() as connection:
                write_cells(connection, self._settled(survey_id, today))

    def _settled(self, survey_id: str, today: date | None = None) -> list[CellChange]:
        """Return the changes once all reports of waves that take no more of them are shown."""
        versions = {survey.version: survey for survey in self.every(survey_id)}
        if not versions:
            return []
        is_over = today is not None and next(iter(versions.values())).is_over(today)
        opened = () if is_over else self.open_waves(survey_id)
        changes = []
        for key, cell in self.cells(survey_id).items():
            _, version, wave = key
            if (version, wave) == WHOLE:
                after = cell if opened else cell.closed(largest([*versions.values()]))
            else:
                survey = versions[version]
                takes = wave in opened and not (today is not None and survey.is_over(today))
                after = cell if takes else cell.closed(survey.steps)
            if after != cell:
                changes.append(CellChange(key, cell, after))
        return changes

    def has(self, survey_id: str) -> bool:
        """Return whether there is such a survey; surveys are never deleted."""
        known = {known_id for known_id, _ in list(self._known)}
        return survey_id in known or bool(self.versions(survey_id))

    def was_opened(self, survey_id: str) -> bool:
        """Return whether the survey exists, is no trial, and a wave of it was ever opened.

        All other surveys are hidden from respondents. Waves are never deleted, and a survey never
        becomes a trial, so True stays True.
        """
        is_known = survey_id in self._opened
        if not is_known and self.has(survey_id) and self.waves(survey_id):
            is_known = not self._is_trial(survey_id)
            self._opened |= {survey_id} if is_known else set()
        return is_known

    def _check_trial(self, survey_id: str, is_trial: bool) -> None:
        if self._is_trial(survey_id) != is_trial:
            got = "a trial copy, which made-up respondents alone answer"
            raise StoreError(
                f"{survey_id}: expected a survey for respondents, got {got}"
                if not is_trial
                else f"{survey_id}: expected {got}, got a survey for respondents"
            )

    def _is_trial(self, survey_id: str) -> bool:
        """Return whether a survey is a copy for made-up respondents; it always stays one."""
        sql = "SELECT 1 FROM study WHERE survey = ? AND trial = 1"
        return self._database.query(sql, survey_id).fetchone() is not None

    def get(self, survey_id: str, version: str) -> Survey | None:
        """Return a version of a survey, its randomizers checked again; None if there is none.

        A version never changes, so once read it is kept: every report asks for one.
        """
        known = self._known.get((survey_id, version))
        if known is not None:
            return known
        sql = "SELECT spec FROM survey WHERE id = ? AND version = ?"
        row = self._database.query(sql, survey_id, version).fetchone()
        if row is None:
            return None
        if len(self._known) >= _IN_MEMORY:
            self._known.clear()
        survey = thaw(json.loads(row[0]), version)
        if survey.id != survey_id:
            raise ValueError(f"survey {survey_id}: expected its stored form, got {survey.id}'s")
        self._known[survey_id, version] = survey
        return survey

    def stored(self, survey_id: str, version: str) -> Survey:
        """Return a version that is known to be stored: none is ever deleted."""
        survey = self.get(survey_id, version)
        assert survey is not None
        return survey

    def by_terms(self, survey_id: str) -> dict[str, Survey]:
        """Return the version last published with each set of terms, the newest first."""
        surveys: dict[str, Survey] = {}
        for version in self.versions(survey_id):
            survey = self.stored(survey_id, version)
            surveys.setdefault(survey.terms, survey)
        return surveys

    def with_terms(self, survey_id: str, terms: str) -> Survey:
        """Return a version with these terms, which have been answered; any of them will do."""
        if (survey_id, terms) not in self._priced:
            if len(self._priced) >= _IN_MEMORY:
                self._priced.clear()
            self._priced[survey_id, terms] = self.by_terms(survey_id)[terms]
        return self._priced[survey_id, terms]

    def current(self, survey_id: str) -> Open | None:
        """Return what respondents are asked now: last version, highest open wave, state."""
        versions = self.versions(survey_id)
        if not versions:
            return None
        opened = self.open_waves(survey_id)
        wave = max(opened or self.waves(survey_id) or [1])
        before = (self.stored(survey_id, version) for version in versions[1:])
        earlier = tuple(version for version in before if version.charged_as_stated)
        state = "open" if opened else "closed"
        return Open(self.stored(survey_id, versions[0]), wave, state, earlier)

    def all_current(self) -> list[Open]:
        """Return what respondents are asked now in each survey."""
        return [current for survey_id in self.ids() if (current := self.current(survey_id))]

    def visible(self, survey_id: str) -> Open | None:
        """Return what respondents are asked now; None if the survey is hidden or unknown."""
        return self.current(survey_id) if self.was_opened(survey_id) else None

    def answerable_waves(self, today: date) -> set[tuple[str, int]]:
        """Return the survey and number of each wave that takes reports on a day."""
        return {
            (current.survey.id, wave)
            for current in self.all_current()
            if current.state_on(today) == "open"
            for wave in self.open_waves(current.survey.id)
        }

    def open_waves(self, survey_id: str) -> list[int]:
        """Return the numbers of the open waves, in order."""
        return [wave for wave, state in self.waves(survey_id).items() if state == "open"]

    def waves(self, survey_id: str) -> dict[int, str]:
        """Return the state of each wave, in their order."""
        sql = "SELECT wave, state FROM wave WHERE survey = ? ORDER BY wave"
        return dict(self._database.query(sql, survey_id).fetchall())
