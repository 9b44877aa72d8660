"""What respondents were charged."""

import json
from collections.abc import Iterator
from typing import Any

from analysis.privacy.ledger import Account, Spend
from analysis.privacy.ledger.totals import Times
from server.store.database import Database
from server.store.errors import StoreError


class Ledger:
    """The ledger and its totals, as they are read; `Batches` alone adds to them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def spends(self, survey_id: str) -> list[Spend]:
        """Return what each respondent was charged, by terms."""
        rows = self._database.query(
            "SELECT respondent, terms, submissions, charged FROM ledger WHERE survey = ?", survey_id
        )
        return [Spend(who.hex(), terms.hex(), *rest) for who, terms, *rest in rows]

    def accounts(self, survey_id: str) -> Iterator[Account]:
        """Yield what each respondent was charged in all, in the order of their pseudonyms."""
        # Many respondents have the same, which is parsed once.
        known: dict[str, Times] = {}
        for respondent, parts, charged in self._database.accounts(survey_id):
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
        for answered, charged, respondents in self._database.query(sql, *values):
            try:
                times = tuple((terms, times) for terms, times in json.loads(answered))
            except (ValueError, TypeError):
                damage = f"{self._database.name}: the table respondent_total is damaged"
                raise StoreError(damage) from None
            yield Account("", times, charged, respondents)

    def respondents(self, survey_id: str) -> dict[str, int]:
        """Return how many pseudonyms answered under each set of terms."""
        sql = "SELECT terms, count(*) FROM ledger WHERE survey = ? GROUP BY terms"
        return {terms.hex(): n for terms, n in self._database.query(sql, survey_id)}
