"""Asking only some: a secret sample tells less of each; a known one saves what it does not ask."""

from collections.abc import Sequence
from math import exp, expm1, fsum, log, log1p

from analysis.core.errors import check_count, check_positive


def subsampled(epsilon: float, rate: float) -> float:
    """ε of a report by a respondent who was in the sample with this chance, in (0, 1].

    ln(1 + rate (e^ε - 1))

    Only for those who do not know who was sampled, and only of pure ε. If the report, the ledger or
    the invitation shows that someone was asked, it is ε: then see `saved`.

    References
    ----------
    Li, Qardaji and Su, ASIACCS 2012; Balle, Barthe and Gaboardi, NeurIPS 2018, theorem 9. By hand:
    rate 0.01 and ε = 2 give 0.0619; 2 rate ε = 0.04 would be too small.
    """
    check_positive(epsilon)
    if not 0 < rate <= 1:
        raise ValueError(f"rate must be a number above 0 and at most 1, got {rate:g}")
    if epsilon < 500:
        return log1p(rate * expm1(epsilon))
    return epsilon + log(rate + (1 - rate) * exp(-epsilon))


def saved(epsilons: Sequence[float], asked: int) -> float:
    """What each respondent saves, in ε, who is asked only so many of the questions.

    The sum of all less the sum of the dearest that one can be asked. Which ones are asked is seen,
    so each answer costs its whole ε: this is no amplification. By hand: two of the questions 1, 2
    and 0.5 cost at most 3 of 3.5, and save 0.5.

    Raises
    ------
    ValueError
        If there are no questions, or fewer than `asked`.
    """
    if not len(epsilons):
        raise ValueError("epsilons must be at least one, got none")
    if check_count(asked, "asked") > len(epsilons):
        raise ValueError(f"asked must be at most {len(epsilons)}, got {asked}")
    return fsum(sorted(map(check_positive, epsilons))[: len(epsilons) - asked])
