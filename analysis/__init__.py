"""What noisy reports can tell: surveys, randomizers, estimates and spent privacy. All pure.

The names below are the public ones; the rest may change with any release.
"""

from analysis.accounting import PrivacyLoss, Total, compose, composition, smallest
from analysis.columns import Column, from_matrix
from analysis.columns.of_survey import columns_of
from analysis.crosstab import CannotTell, Crosstab, crosstab
from analysis.errors import AnswersError, DataError, ReportError, SurveyError
from analysis.estimate import Estimate, estimates
from analysis.hypotheses import HypothesisTest, difference, goodness_of_fit, independence
from analysis.ledger import LedgerRow, Spend, ledger
from analysis.meaning import (
    comparison,
    deployments,
    likelihood_ratio,
    odds,
    odds_table,
    posterior,
    sentences,
    strongest_posterior,
)
from analysis.mechanisms import MECHANISMS
from analysis.planning import (
    Plan,
    epsilon_for,
    plan,
    power_of_change,
    power_of_share,
    powers,
    respondents_for,
    respondents_for_change,
    respondents_for_share,
    sample_run,
    split_cap,
    totals_of_waves,
)
from analysis.plausibility import Plausibility, plausibility, sizes_of
from analysis.poisoning import shifts
from analysis.question import Question
from analysis.randomizer import Randomizer
from analysis.regression import Regression, regress
from analysis.survey import Survey, freeze, thaw
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
    "Plan",
    "Plausibility",
    "PrivacyLoss",
    "Question",
    "Randomizer",
    "Regression",
    "ReportError",
    "Spend",
    "Survey",
    "SurveyError",
    "Total",
    "Trend",
    "columns_of",
    "comparison",
    "compose",
    "composition",
    "crosstab",
    "deployments",
    "difference",
    "epsilon_for",
    "estimates",
    "freeze",
    "from_matrix",
    "goodness_of_fit",
    "independence",
    "ledger",
    "likelihood_ratio",
    "odds",
    "odds_table",
    "plan",
    "plausibility",
    "posterior",
    "power_of_change",
    "power_of_share",
    "powers",
    "read_survey",
    "regress",
    "respondents_for",
    "respondents_for_change",
    "respondents_for_share",
    "sample_run",
    "sentences",
    "shifts",
    "sizes_of",
    "smallest",
    "split_cap",
    "strongest_posterior",
    "thaw",
    "totals_of_waves",
    "trend",
]
