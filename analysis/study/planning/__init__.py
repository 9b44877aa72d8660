"""Plans before a survey: what a number of respondents and an ε will show."""

from analysis.study.planning.between import respondents_between
from analysis.study.planning.check import MOST_RESPONDENTS, MOST_WAVES
from analysis.study.planning.curves import EPSILONS, Point, curve_of_epsilon, curve_of_respondents
from analysis.study.planning.half_width import HalfWidth, expected, normal_half_width
from analysis.study.planning.likely_result import LikelyResult, likely_result
from analysis.study.planning.needed import epsilon_for, respondents_for
from analysis.study.planning.power import (
    power_of_change,
    power_of_share,
    respondents_for_change,
    respondents_for_share,
)
from analysis.study.planning.power_table import Power, powers
from analysis.study.planning.questions import Plan, half_widths, plan
from analysis.study.planning.sample import Sampled, sample_run
from analysis.study.planning.split import Split, split_cap
from analysis.study.planning.together import Tradeoff, tradeoffs
from analysis.study.planning.truth import Stated, shares_of_answers, truth_of
from analysis.study.planning.waves import (
    WaveTotal,
    costs_of_waves,
    public_view,
    totals_of_waves,
    warnings,
    waves_to_show,
)

__all__ = [
    "EPSILONS",
    "MOST_RESPONDENTS",
    "MOST_WAVES",
    "HalfWidth",
    "LikelyResult",
    "Plan",
    "Point",
    "Power",
    "Sampled",
    "Split",
    "Stated",
    "Tradeoff",
    "WaveTotal",
    "costs_of_waves",
    "curve_of_epsilon",
    "curve_of_respondents",
    "epsilon_for",
    "expected",
    "half_widths",
    "likely_result",
    "normal_half_width",
    "plan",
    "power_of_change",
    "power_of_share",
    "powers",
    "public_view",
    "respondents_between",
    "respondents_for",
    "respondents_for_change",
    "respondents_for_share",
    "sample_run",
    "shares_of_answers",
    "split_cap",
    "totals_of_waves",
    "tradeoffs",
    "truth_of",
    "warnings",
    "waves_to_show",
]
