"""What respondents sent, and how often each symbol came."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.survey.survey import Survey
from server.store.blocks import BLOCK, read_counts
from server.store.database import Database
from server.store.errors import StoreError
from server.store.snapshots import SO_FAR
from server.store.surveys import Surveys

#: A group is small if it has fewer reports (to one version in one wave), or fewer pseudonyms (under
#: the same terms): see `docs/threat-model.md`, "Few respondents".
FEWEST = 20


class Reports:
    """Reports and their tallies, as they are read; `Batches` alone adds to them."""

    def __init__(self, database: Database, surveys: Surveys) -> None:
        self._database, self._surveys = database, surveys

    def tallies(
        self, survey: Survey, wave: int, taken: int | None = None
    ) -> dict[str, NDArray[np.int64]]:
        """Return for each question how many of a wave's reports count for each symbol.

        `taken` is the number of reports of a snapshot, if one is asked for instead of all reports.
        """
        counts = {
            question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
            for question in survey.questions
        }
        self._read_counts("tally", survey, wave, counts, taken)
        return counts

    def per_version(self, survey_id: str) -> dict[str, int]:
        """Return how many reports each version got, over all waves, deleted ones too."""
        counts = Counter[str]()
        for (version, _), n in self.cells(survey_id).items():
            counts[version] += n
        return dict(counts)

    def cells(self, survey_id: str) -> dict[tuple[str, int], int]:
        """Return how many reports each version got in each wave, deleted ones too, if it got any.

        Counted from the tallies of a version's first question: every report answers all of them.
        """
        counts = {}
        sql = "SELECT DISTINCT version, wave FROM tally WHERE survey = ? ORDER BY version, wave"
        for version, wave in self._database.query(sql, survey_id).fetchall():
            survey = self._surveys.stored(survey_id, version)
            first, tallies = survey.questions[0], self.tallies(survey, wave)
            counts[version, wave] = first.randomizer.reports_in(tallies[first.id])
        return counts

    def sizes(
        self, survey: Survey, wave: int, taken: int | None = None
    ) -> dict[str, NDArray[np.int64]]:
        """Return for each question how many of a wave's reports count for 0, 1, 2, ... symbols.

        Questions are left out whose reports all count for equally many; `taken` is as above.
        """
        counts = {
            question.id: np.zeros((1, question.randomizer.channel.symbols + 1), dtype=np.int64)
            for question in survey.questions
            if question.randomizer.channel.size_chances(1) is not None
        }
        self._read_counts("report_size", survey, wave, counts, taken)
        return {question: sizes[0] for question, sizes in counts.items()}

    def _read_counts(
        self,
        table: str,
        survey: Survey,
        wave: int,
        counts: dict[str, NDArray[np.int64]],
        taken: int | None,
    ) -> None:
        """Fill in what `tally` or `report_size` has, or a snapshot of it, by question."""
        source, more, values = table, "", list[Any]()
        if taken is not None:
            source, more, values = "snapshot", " AND taken = ? AND what = ?", [taken, table]
        rows = self._database.query(
            f"SELECT question, cohort, block, counts FROM {source} "
            f"WHERE survey = ? AND version = ? AND wave = ?{more}",
            *(survey.id, survey.version, wave, *values),
        )
        try:
            for question, cohort, block, written in rows:
                read, start = read_counts(written), block * BLOCK
                counts[question][cohort, start : start + len(read)] = read
        except (ValueError, LookupError, TypeError):
            raise StoreError(
                f"{self._database.name}: the table {table} is damaged: its counts of "
                f"{survey.id}, wave {wave}, are not those of the survey's questions"
            ) from None

    def payloads(
        self, survey: Survey, wave: int, in_order: bool = False
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield the reports of a wave, a few thousand at a time, as the database has them.

        Devices drew the ids, and a receipt shows one. So reports that leave the database come
        `in_order` of what they say instead (`reports_text`), which reveals no respondent.
        """
        batches = self._database.stream(
            "SELECT payload FROM report WHERE survey = ? AND version = ? AND wave = ?"
            + " ORDER BY payload" * in_order,
            *(survey.id, survey.version, wave),
        )
        for batch in batches:
            yield msgspec.json.decode(f"[{','.join([payload for (payload,) in batch])}]")

    def simulated(self, survey: Survey, wave: int, taken: int | None = None) -> int:
        """Return how many of a wave's reports were simulated; `taken` is as above."""
        sql = (
            "SELECT coalesce(sum(reports), 0) FROM simulated "
            "WHERE survey = ? AND version = ? AND wave = ? AND taken = ?"
        )
        moment = SO_FAR if taken is None else taken
        key = survey.id, survey.version, wave, moment
        return int(self._database.query(sql, *key).fetchone()[0])

    def all_simulated(self, survey_id: str) -> int:
        """Return how many reports of a survey were simulated, in all waves and versions."""
        sql = "SELECT coalesce(sum(reports), 0) FROM simulated WHERE survey = ? AND taken = ?"
        return int(self._database.query(sql, survey_id, SO_FAR).fetchone()[0])

    def kept(self, survey_id: str, wave: int) -> int:
        """Return how many reports of a wave are kept, of all versions."""
        sql = "SELECT count(*) FROM report WHERE survey = ? AND wave = ?"
        return int(self._database.query(sql, survey_id, wave).fetchone()[0])
