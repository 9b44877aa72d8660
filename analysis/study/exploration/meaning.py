"""The meaning of ε and δ for one person: odds, beliefs, and how seldom a report reveals more."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from analysis.core.errors import check_delta
from analysis.privacy.accounting import PrivacyLoss, compose, smallest
from analysis.privacy.meaning import odds, odds_table
from analysis.study.exploration.yes_no import yes_no


@dataclass(frozen=True)
class Meaning:
    """The meaning of one report on a yes-no question.

    `odds` is e^ε, the most by which a report can be likelier under one answer than under the other.
    `yes` and `no` are the probabilities that people with these true answers send "yes". `prior` is
    a belief that somebody's true answer is "yes". It becomes `after_yes` if they send "yes", and
    `after_no` if they send "no". `strongest` is the strongest belief that any report of this ε can
    lead to.
    """

    epsilon: float
    odds: float
    yes: Fraction
    no: Fraction
    prior: float
    after_yes: float
    after_no: float
    strongest: float


def meaning(epsilon: Decimal, prior: float) -> Meaning:
    """Return what one report reveals, from the channel of a yes-no question.

    Parameters
    ----------
    epsilon : Decimal
        The ε of the report, from 0.001 to 20.
    prior : float
        The belief before the report, in 0..1.

    Raises
    ------
    ValueError
        If a number is out of its range.

    By hand: ε = ln 3 has the odds 3, the probabilities 3/4 and 1/4, and moves 1/2 to 3/4 or 1/4.
    """
    (question,) = yes_no(epsilon).questions
    row = odds(question)[0]
    (bound,) = odds_table([float(epsilon)], [prior])
    return Meaning(
        epsilon=float(epsilon),
        odds=bound.odds,
        yes=row.p,
        no=row.q,
        prior=prior,
        after_yes=row.posterior(prior),
        after_no=row.posterior(prior, seen=False),
        strongest=bound.posteriors[0],
    )


def beliefs(epsilon: Decimal, priors: Sequence[float]) -> list[Meaning]:
    """Return `meaning` for each prior belief, for a curve."""
    return [meaning(epsilon, prior) for prior in priors]


@dataclass(frozen=True)
class Told:
    """The totals of ε that some reports of one person reveal together.

    `plain` is the sum of their ε, which always holds. `total` holds with the δ. `beyond` is the
    probability that a person's reports reveal more than `total`. It is above δ.
    """

    reports: int
    delta: float
    plain: float
    total: float
    beyond: float


def told(epsilon: Decimal, reports: int, delta: float) -> Told:
    """Return what `reports` reports of one ε reveal together, by the exact sum of their losses.

    Parameters
    ----------
    epsilon : Decimal
        The pure ε of each report. Nothing else is known of a report, so it counts as a yes-no
        report.
    reports : int
        The number of reports, at least 1.
    delta : float
        The δ of the total, in (0, 1).

    As in the ledger, the total is the sum if the two agree to four digits.

    By hand: two reports of ln 3 have a loss of 2 ln 3 with probability 9/16, and none above. At δ =
    3/8 their total is ln 3, and 9/16 reveal more.
    """
    together = _together(epsilon, reports)
    kinds = [(PrivacyLoss.pure(float(epsilon)), reports)]
    total = smallest(kinds, together.plain, check_delta(delta)).epsilon
    return Told(reports, delta, together.plain.epsilon, total, together.beyond(total))


def deltas(epsilon: Decimal, reports: int, points: int = 41) -> list[tuple[float, float]]:
    """Return pairs of a total ε and the least δ that is proved for it, at rising ε.

    They are evenly spaced up to the sum of all ε, which needs no δ. Pairs with a δ below 1e-15 are
    left out, since it is negligible. Arguments are those of `told`.
    """
    together = _together(epsilon, reports)
    totals = [together.plain.epsilon * part / points for part in range(1, points)]
    found = [(total, together.delta(total)) for total in totals]
    return [(total, delta) for total, delta in found if delta >= 1e-15]


def _together(epsilon: Decimal, reports: int) -> PrivacyLoss:
    return compose([(PrivacyLoss.pure(float(epsilon)), reports)])
