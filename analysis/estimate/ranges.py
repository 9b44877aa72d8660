"""The distribution of a number as rows of the table of estimates: shares of ranges, for display."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.core.domain import Estimand
from analysis.estimate.distribution import distribution
from analysis.estimate.distribution.ranges import tells_distribution
from analysis.estimate.estimates import Estimate
from analysis.survey.question import Question


def range_estimates(
    question: Question,
    counts: NDArray[np.int64],
    bins: int,
    rng: Generator,
    confidence_level: float = 0.95,
) -> list[Estimate]:
    """A row for each range, ``[a,b)``; none if it is no number, or only its mean can be told.

    Parameters
    ----------
    question : Question
        Of which survey's version does not matter.
    counts : (1, symbols) array
        Its tally.
    bins, rng, confidence_level
        As of `distribution`.
    """
    randomizer, domain = question.randomizer, question.domain
    if domain.estimand is not Estimand.MEAN or not tells_distribution(randomizer, domain):
        return []
    found = distribution(randomizer, domain, counts, bins, rng, confidence_level=confidence_level)
    return [
        Estimate(
            question=question.id,
            kind=question.spec["kind"],
            term=one.term,
            label=one.term,
            estimate=one.estimate,
            std_error=None,
            conf_low=one.conf_low,
            conf_high=one.conf_high,
            conf_level=confidence_level,
            conf_method=one.conf_method,
            n=randomizer.reports_in(counts),
            n_eff=None,
            epsilon=randomizer.epsilon,
            mechanism=question.mechanism.name,
            flag=one.flag,
        )
        for one in found.rows
    ]
