"""Plans before a survey: what a number of respondents and an ε will show."""

from analysis.study.planning.between import respondents_between
from analysis.study.planning.half_width import HalfWidth, expected
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
from analysis.study.planning.waves import (
    WaveTotal,
    costs_of_waves,
    public_view,
    totals_of_waves,
    warnings,
    waves_to_show,
)

__all__ = [
    "HalfWidth",
    "Plan",
    "Power",
    "Sampled",
    "Split",
    "Tradeoff",
    "WaveTotal",
    "costs_of_waves",
    "epsilon_for",
    "expected",
    "half_widths",
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
    "split_cap",
    "totals_of_waves",
    "tradeoffs",
    "warnings",
    "waves_to_show",
]
