"""What each respondent has spent: ε over all reports that the server stored, and what was promised.

One table a module, each a function of accounts and `Totals`: a row for each respondent, for each
question, for both, or for each distinct total.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from analysis.privacy.ledger.account import Account, Spend, charged_right, in_epsilon
from analysis.privacy.ledger.answers import AnswerRow, by_both
from analysis.privacy.ledger.distribution import TotalRow, by_total
from analysis.privacy.ledger.questions import QuestionRow, by_question
from analysis.privacy.ledger.respondents import LedgerRow, by_respondent, ledger
from analysis.privacy.ledger.totals import DELTA, Bill, Totals

__all__ = [
    "DELTA",
    "LEDGERS",
    "PERSONAL",
    "Account",
    "AnswerRow",
    "Bill",
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
]

#: The tables that tell respondents apart; of the others an `Account` can stand for many.
PERSONAL = ("respondent", "both")

#: The tables that the ledger can be read as: the class of their rows, and what gives them.
LEDGERS: dict[str, tuple[type, Callable[[Iterable[Account], Totals], Iterator[Any]]]] = {
    "respondent": (LedgerRow, by_respondent),
    "question": (QuestionRow, by_question),
    "both": (AnswerRow, by_both),
    "total": (TotalRow, by_total),
}
