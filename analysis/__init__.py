"""What noisy reports can tell: surveys, randomizers, estimates and spent privacy. All pure.

The names below are the public ones; the rest may change with any release.
"""

from analysis.errors import AnswersError, ReportError, SurveyError
from analysis.estimate import Estimate, estimates
from analysis.ledger import LedgerRow, Spend, ledger
from analysis.mechanisms import MECHANISMS
from analysis.plausibility import Plausibility, plausibility
from analysis.poisoning import shifts
from analysis.randomizer import Randomizer
from analysis.survey import Question, Survey, freeze, thaw
from analysis.survey_file import read_survey

__all__ = [
    "MECHANISMS",
    "AnswersError",
    "Estimate",
    "LedgerRow",
    "Plausibility",
    "Question",
    "Randomizer",
    "ReportError",
    "Spend",
    "Survey",
    "SurveyError",
    "estimates",
    "freeze",
    "ledger",
    "plausibility",
    "read_survey",
    "shifts",
    "thaw",
]
