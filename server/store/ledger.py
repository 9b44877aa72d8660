"""What respondents were charged."""

import json
from collections.abc import Iterator
from typing import Any

from analysis.privacy.ledger import Account, Spend
from analysis.privacy.ledger.totals import Times
from server.store.file import File
from server.store.locks import StoreError

#: What `Ledger.accounts` reads: a row for each respondent, since SQLite adds up faster than Python.
ACCOUNTS = (
    "SELECT lower(hex(respondent)), json_group_array(json_array(lower(hex(terms)), submissions)), "
    "sum(charged) FROM ledger WHERE survey = ? GROUP BY respondent ORDER BY respondent"
)


class Ledger:
    """The ledger and its totals, as they are read; `Batches` alone adds to them."""

    def __init__(self, file: File) -> None:
        self._file = file

    def spends(self, survey_id: str) -> list[Spend]:
        """Return what each respondent was charged, by terms."""
        rows = self._file.query(
            "SELECT lower(hex(respondent)), lower(hex(terms)), submissions, charged FROM ledger "
            "WHERE survey = ?",
            survey_id,
        )
        return [Spend(*row) for row in rows]

    def accounts(self, survey_id: str) -> Iterator[Account]:
        """Yield what each respondent was charged in all, in the order of their pseudonyms."""
        # Many respondents have the same, which is parsed once.
        known: dict[str, Times] = {}
        for respondent, parts, charged in self._file.query(ACCOUNTS, survey_id):
            if parts not in known:
                known[parts] = tuple(sorted((terms, times) for terms, times in json.loads(parts)))
            yield Account(respondent, known[parts], charged)

    def grouped_accounts(self, survey_id: str, taken: int | None = None) -> Iterator[Account]:
        """Yield an account for each group of respondents who answered and were charged the same.

        `taken` is the number of reports of a snapshot, if one is asked for instead of all reports.
        """
        sql = "SELECT answered, charged, respondents FROM respondent_total WHERE survey = ?"
        values: list[Any] = [survey_id]
        if taken is not None:
            sql = sql.replace("respondent_total", "total_snapshot") + " AND taken = ?"
            values.append(taken)
        for answered, charged, respondents in self._file.query(sql, *values):
            try:
                times = tuple((terms, times) for terms, times in json.loads(answered))
            except (ValueError, TypeError):
                damage = f"{self._file.path}: the table respondent_total is damaged"
                raise StoreError(damage) from None
            yield Account("", times, charged, respondents)

    def respondents(self, survey_id: str) -> dict[str, int]:
        """Return how many pseudonyms answered under each set of terms."""
        sql = "SELECT lower(hex(terms)), count(*) FROM ledger WHERE survey = ? GROUP BY terms"
        return dict(self._file.query(sql, survey_id).fetchall())
