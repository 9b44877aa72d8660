"""What several reports of one respondent reveal together: totals over questions and waves.

`PrivacyLoss` is the loss of one report, `compose` adds losses, and `smallest` chooses the total to
show. Each ε is in total unless it is said to be of a report. All neighbors are replace-one: two
answers of the same respondent.
"""

from analysis.core.gaussian import analytic_sigma, gaussian_delta, gaussian_epsilon, gaussian_sum
from analysis.privacy.accounting.convolution import compose, smallest
from analysis.privacy.accounting.curves import Composition, composed, composition
from analysis.privacy.accounting.loss import PrivacyLoss, Total
from analysis.privacy.accounting.renyi import from_renyi, from_zcdp, renyi_total, rho, zcdp_total
from analysis.privacy.accounting.shuffling import shuffled, shuffled_delta
from analysis.privacy.accounting.sums import (
    advanced,
    advanced_mixed,
    basic,
    group,
    kov,
    saved,
    subsampled,
    tanh_form,
)

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
