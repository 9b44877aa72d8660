"""Each respondent's spent ε over all reports that the server stored, and the promised cap.

Each table is a function of accounts and `Totals`. It has a row for each respondent, for each
question, for each pair of both, or for each distinct total.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from analysis.core.options import DELTA
from analysis.privacy.ledger.distribution import TotalRow, by_total
from analysis.privacy.ledger.questions import AnswerRow, QuestionRow, by_both, by_question
from analysis.privacy.ledger.respondents import LedgerRow, by_respondent, ledger
from analysis.privacy.ledger.totals import Account, Spend, Totals, charged_right, in_epsilon

__all__ = [
    "COLUMNS_BY",
    "DELTA",
    "LEDGERS",
    "PERSONAL",
    "Account",
    "AnswerRow",
    "LedgerRow",
    "QuestionRow",
    "Spend",
    "TotalRow",
    "Totals",
    "by_both",
    "by_question",
    "by_respondent",
    "by_total",
    "charged_right",
    "in_epsilon",
    "ledger",
    "ledger_rows",
]

#: The tables that distinguish respondents. In the others, an `Account` can stand for many.
PERSONAL = ("respondent", "both")

#: The tables of the ledger: the class of their rows, and the function that yields the rows.
LEDGERS: dict[str, tuple[type, Callable[[Iterable[Account], Totals], Iterator[Any]]]] = {
    "respondent": (LedgerRow, by_respondent),
    "question": (QuestionRow, by_question),
    "both": (AnswerRow, by_both),
    "total": (TotalRow, by_total),
}

#: The columns of these tables.
COLUMNS_BY = {by: tuple(field.name for field in fields(row)) for by, (row, _) in LEDGERS.items()}


def ledger_rows(rows: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a table's rows as mappings. These are not copies, since there can be a million."""
    return map(vars, rows)
