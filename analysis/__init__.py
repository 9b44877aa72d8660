"""What noisy reports can tell: surveys, randomizers, estimates and spent privacy. All pure.

The names below are the public ones; the rest may change with any release.
"""

from analysis.columns import Column, from_matrix
from analysis.columns.of_survey import columns_of
from analysis.crosstab import CannotTell, Crosstab, crosstab
from analysis.errors import AnswersError, DataError, ReportError, SurveyError
from analysis.estimate import Estimate, estimates
from analysis.hypotheses import HypothesisTest, difference, goodness_of_fit, independence
from analysis.ledger import LedgerRow, Spend, ledger
from analysis.mechanisms import MECHANISMS
from analysis.plausibility import Plausibility, plausibility
from analysis.poisoning import shifts
from analysis.randomizer import Randomizer
from analysis.regression import Regression, regress
from analysis.survey import Question, Survey, freeze, thaw
from analysis.survey_file import read_survey
from analysis.trend import Trend, trend

__all__ = [
    "MECHANISMS",
    "AnswersError",
    "CannotTell",
    "Column",
    "Crosstab",
    "DataError",
    "Estimate",
    "HypothesisTest",
    "LedgerRow",
    "Plausibility",
    "Question",
    "Randomizer",
    "Regression",
    "ReportError",
    "Spend",
    "Survey",
    "SurveyError",
    "Trend",
    "columns_of",
    "crosstab",
    "difference",
    "estimates",
    "freeze",
    "from_matrix",
    "goodness_of_fit",
    "independence",
    "ledger",
    "plausibility",
    "read_survey",
    "regress",
    "shifts",
    "thaw",
    "trend",
]
