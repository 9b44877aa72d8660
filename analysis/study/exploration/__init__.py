"""The meaning, cost and precision of ε and δ, for a yes-no question that nobody has written yet.

Each function takes a few numbers, and calls the functions of plans, tables and ledgers.
"""

from analysis.study.exploration.budget import Query, spend_cap
from analysis.study.exploration.draws import compare_draws
from analysis.study.exploration.meaning import beliefs, deltas, meaning, told
from analysis.study.exploration.precision import (
    Needed,
    Precision,
    needed,
    people_in,
    precision,
)
from analysis.study.exploration.yes_no import yes_no

__all__ = [
    "Needed",
    "Precision",
    "Query",
    "beliefs",
    "compare_draws",
    "deltas",
    "meaning",
    "needed",
    "people_in",
    "precision",
    "spend_cap",
    "told",
    "yes_no",
]
