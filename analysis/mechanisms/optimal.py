"""The channel that is designed for the question: by linear programming, and by convex programming.

For a number: the least worst-case variance of the mean among all unbiased channels on a grid; below
Laplace, Duchi, Piecewise and Hybrid at every ε (`analysis/mechanisms/number_design.py` has the
program and its sources). For a scale: the least variance of what `aim` says. Channel: `table`, with
encoder `grid` or `index`.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from analysis.core.channels.table import Table
from analysis.core.domain import Categories, Domain, Estimand, Numbers
from analysis.core.encoders.categories import Index
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.mechanisms.base import NO_SHARES, Mean, Mechanism, Params, Shares, spends
from analysis.mechanisms.decoded import no_answer_share, number_mean, scale_means
from analysis.mechanisms.number_design import number_table
from analysis.mechanisms.scale_design import scale_table


class Optimal(Mechanism):
    """The mechanism that is usually chosen for a number."""

    name: ClassVar[str] = "optimal"
    serves: ClassVar[tuple[type, ...]] = (Numbers, Categories)
    heeds: ClassVar[tuple[str, ...]] = ("aim", "prior")

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and domain.prior_lengths != range(0)

    def compile(
        self, domain: Numbers | Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Any, Table]:
        prior = tuple(params["prior"]) if "prior" in params else None
        return spends(_compiled(domain, epsilon, params.get("aim"), prior), epsilon)

    def shares(self, randomizer: Randomizer[Any, Table], domain: Numbers | Categories) -> Shares:
        if domain.estimand is Estimand.MEAN:
            return no_answer_share(randomizer, domain)
        return NO_SHARES

    def means(
        self, randomizer: Randomizer[Any, Table], domain: Numbers | Categories
    ) -> tuple[Mean, ...]:
        if domain.estimand is Estimand.MEAN:
            return number_mean(randomizer, domain)
        return scale_means(randomizer, domain)


@lru_cache(maxsize=128)
def _compiled(
    domain: Numbers | Categories,
    epsilon: Fraction,
    aim: str | None,
    prior: tuple[float, ...] | None,
) -> Randomizer[Any, Table]:
    bound = exp_lower(epsilon)
    if domain.estimand is Estimand.MEAN:
        rows = number_table(domain.steps, bound, domain.no_answer, prior)
        steps = len(rows) - 1 - domain.no_answer
        return Randomizer(Grid(steps, len(rows)), Table(len(rows), rows))
    scores = [float(score) for score in domain.scores]
    rows = scale_table(len(scores), bound, aim or "shares", scores, domain.no_answer, prior)
    return Randomizer(Index(len(rows)), Table(len(rows), rows))
