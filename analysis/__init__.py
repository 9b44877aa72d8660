"""Surveys, randomizers, estimates from noisy reports, and spent privacy. All functions are pure.

The names below are the public ones; the rest may change with any release. A module is loaded when
one of its names is first used, so that a command does not wait for modules, or for scipy, without
need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.core.errors import AnswersError, DataError, ReportError, SurveyError
    from analysis.core.randomizer import Randomizer
    from analysis.estimate.calibration import Calibration, Margin
    from analysis.estimate.columns import Column, from_matrix
    from analysis.estimate.columns.data_file import Data, read_data, read_two
    from analysis.estimate.columns.design_file import Designs, read_designs
    from analysis.estimate.columns.differences import Difference, differences
    from analysis.estimate.columns.estimate import column_estimates
    from analysis.estimate.columns.joint_table import JointShare, joint_shares
    from analysis.estimate.columns.measured import IntervalOptions
    from analysis.estimate.columns.of_survey import columns_of
    from analysis.estimate.estimates import Estimate, estimates
    from analysis.estimate.plausibility import Plausibility, plausibility, sizes_of
    from analysis.estimate.poisoning import shifts
    from analysis.estimate.totals import PopulationTotal, totals
    from analysis.mechanisms import MECHANISMS
    from analysis.privacy.accounting import PrivacyLoss, Total, compose, composition, smallest
    from analysis.privacy.central import half_width_of_curator
    from analysis.privacy.ledger import LedgerRow, Spend, ledger
    from analysis.privacy.meaning import (
        comparison,
        deployments,
        likelihood_ratio,
        odds,
        odds_table,
        posterior,
        sentences,
        strongest_posterior,
    )
    from analysis.study.changes import Change, changes_of_shares, difference
    from analysis.study.comparison import (
        Comparison,
        Slope,
        compare_groups,
        compare_waves,
        slopes,
    )
    from analysis.study.crosstab import CannotTell, Crosstab, crosstab
    from analysis.study.design_plan import DesignPlan, Goals, design_plan
    from analysis.study.frames import to_frame
    from analysis.study.hypotheses import HypothesisTest, goodness_of_fit, independence
    from analysis.study.opened_study import Study
    from analysis.study.planning import (
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
    from analysis.study.ranking import Rank, column_ranks, ranks
    from analysis.study.regression import Regression, regress
    from analysis.study.trend import Trend, trend
    from analysis.survey.freeze import freeze, thaw
    from analysis.survey.question import Question
    from analysis.survey.survey import Survey
    from analysis.survey.survey_file import read_survey

#: The public names, by the module that defines them.
_NAMES = {
    "analysis.core.errors": ("AnswersError", "DataError", "ReportError", "SurveyError"),
    "analysis.core.randomizer": ("Randomizer",),
    "analysis.estimate.calibration": ("Calibration", "Margin"),
    "analysis.estimate.columns": ("Column", "from_matrix"),
    "analysis.estimate.columns.differences": ("Difference", "differences"),
    "analysis.estimate.columns.data_file": ("Data", "read_data", "read_two"),
    "analysis.estimate.columns.design_file": ("Designs", "read_designs"),
    "analysis.estimate.columns.estimate": ("column_estimates",),
    "analysis.estimate.columns.joint_table": ("JointShare", "joint_shares"),
    "analysis.estimate.columns.measured": ("IntervalOptions",),
    "analysis.estimate.columns.of_survey": ("columns_of",),
    "analysis.estimate.estimates": ("Estimate", "estimates"),
    "analysis.estimate.plausibility": ("Plausibility", "plausibility", "sizes_of"),
    "analysis.estimate.poisoning": ("shifts",),
    "analysis.estimate.totals": ("PopulationTotal", "totals"),
    "analysis.mechanisms": ("MECHANISMS",),
    "analysis.privacy.accounting": ("PrivacyLoss", "Total", "compose", "composition", "smallest"),
    "analysis.privacy.central": ("half_width_of_curator",),
    "analysis.privacy.ledger": ("LedgerRow", "Spend", "ledger"),
    "analysis.privacy.meaning": (
        "comparison",
        "deployments",
        "likelihood_ratio",
        "odds",
        "odds_table",
        "posterior",
        "sentences",
        "strongest_posterior",
    ),
    "analysis.study.changes": ("Change", "changes_of_shares", "difference"),
    "analysis.study.comparison": (
        "Comparison",
        "Slope",
        "compare_groups",
        "compare_waves",
        "slopes",
    ),
    "analysis.study.crosstab": ("CannotTell", "Crosstab", "crosstab"),
    "analysis.study.design_plan": ("DesignPlan", "Goals", "design_plan"),
    "analysis.study.frames": ("to_frame",),
    "analysis.study.hypotheses": ("HypothesisTest", "goodness_of_fit", "independence"),
    "analysis.study.opened_study": ("Study",),
    "analysis.study.planning": (
        "Plan",
        "epsilon_for",
        "plan",
        "power_of_change",
        "power_of_share",
        "powers",
        "respondents_for",
        "respondents_for_change",
        "respondents_for_share",
        "sample_run",
        "split_cap",
        "totals_of_waves",
    ),
    "analysis.study.ranking": ("Rank", "column_ranks", "ranks"),
    "analysis.study.regression": ("Regression", "regress"),
    "analysis.study.trend": ("Trend", "trend"),
    "analysis.survey.question": ("Question",),
    "analysis.survey.freeze": ("freeze", "thaw"),
    "analysis.survey.survey": ("Survey",),
    "analysis.survey.survey_file": ("read_survey",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "MECHANISMS",
    "AnswersError",
    "Calibration",
    "CannotTell",
    "Change",
    "Column",
    "Comparison",
    "Crosstab",
    "Data",
    "DataError",
    "DesignPlan",
    "Designs",
    "Difference",
    "Estimate",
    "Goals",
    "HypothesisTest",
    "IntervalOptions",
    "JointShare",
    "LedgerRow",
    "Margin",
    "Plan",
    "Plausibility",
    "PopulationTotal",
    "PrivacyLoss",
    "Question",
    "Randomizer",
    "Rank",
    "Regression",
    "ReportError",
    "Slope",
    "Spend",
    "Study",
    "Survey",
    "SurveyError",
    "Total",
    "Trend",
    "changes_of_shares",
    "column_estimates",
    "column_ranks",
    "columns_of",
    "compare_groups",
    "compare_waves",
    "comparison",
    "compose",
    "composition",
    "crosstab",
    "deployments",
    "design_plan",
    "difference",
    "differences",
    "epsilon_for",
    "estimates",
    "freeze",
    "from_matrix",
    "goodness_of_fit",
    "half_width_of_curator",
    "independence",
    "joint_shares",
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
    "ranks",
    "read_data",
    "read_designs",
    "read_survey",
    "read_two",
    "regress",
    "respondents_for",
    "respondents_for_change",
    "respondents_for_share",
    "sample_run",
    "sentences",
    "shifts",
    "sizes_of",
    "slopes",
    "smallest",
    "split_cap",
    "strongest_posterior",
    "thaw",
    "to_frame",
    "totals",
    "totals_of_waves",
    "trend",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
