"""What several reports of one respondent tell together: totals over questions and waves.

`PrivacyLoss` is that of one report, `compose` adds losses, `smallest` chooses the total to show;
closed forms stand in a file each. All ε are in total where not said to be of a report, and all
relations are replace-one: two answers of the same respondent.
"""

from analysis.core.gaussian import (
    analytic_sigma,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sum,
)
from analysis.privacy.accounting.convolution import compose, smallest
from analysis.privacy.accounting.curves import Composition, composed, composition
from analysis.privacy.accounting.loss import PrivacyLoss
from analysis.privacy.accounting.renyi import from_renyi, from_zcdp, renyi_total, rho, zcdp_total
from analysis.privacy.accounting.sampling import saved, subsampled
from analysis.privacy.accounting.shuffling import shuffled, shuffled_delta
from analysis.privacy.accounting.sums import advanced, advanced_mixed, basic, kov, tanh_form
from analysis.privacy.accounting.total import Total, group

__all__ = [
    "Composition",
    "PrivacyLoss",
    "Total",
    "advanced",
    "advanced_mixed",
    "analytic_sigma",
    "basic",
    "compose",
    "composed",
    "composition",
    "from_renyi",
    "from_zcdp",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sum",
    "group",
    "kov",
    "renyi_total",
    "rho",
    "saved",
    "shuffled",
    "shuffled_delta",
    "smallest",
    "subsampled",
    "tanh_form",
    "zcdp_total",
]
