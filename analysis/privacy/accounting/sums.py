"""Totals in closed form: basic and advanced composition, groups, and samples.

The smallest total depends on ε and the number of reports: advanced composition is above the plain
sum for few reports or a large ε. So show the minimum.
"""

from collections.abc import Iterable, Sequence
from math import e, exp, expm1, fsum, inf, log, log1p, sqrt, tanh

from analysis.core.errors import check_count, check_delta, check_positive
from analysis.privacy.accounting.convolution import compose
from analysis.privacy.accounting.loss import PrivacyLoss, Total, check_reports


def basic(epsilons: Sequence[float], deltas: Sequence[float] = ()) -> Total:
    """Return the plain sums of the ε and the δ of single reports.

    They also hold if each ε is chosen by what came before. So a cap on such a sum is a privacy
    filter.

    Parameters
    ----------
    epsilons : sequence
        The ε of each report, in (0, ∞); at least one.
    deltas : sequence
        The δ of each report, in (0, 1); or none if all ε are pure.

    Raises
    ------
    ValueError
        If there is no ε, or if the numbers of ε and δ differ.

    References
    ----------
    Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, theorem 3.16. By
    hand: (1, 1e-6) twice is (2, 2e-6).
    """
    if not len(epsilons):
        raise ValueError("epsilons must be at least one, got none")
    if len(deltas) not in (0, len(epsilons)):
        raise ValueError(f"deltas must be none or {len(epsilons)}, got {len(deltas)}")
    return Total(fsum(map(check_positive, epsilons)), fsum(map(check_delta, deltas)))


def advanced(epsilon: float, reports: int, delta: float) -> Total:
    """Return the total of reports of one pure ε by advanced composition, with all proved terms.

    ε sqrt(2 n ln(1/δ)) + n ε (e^ε - 1)

    (Dwork, Rothblum and Vadhan, FOCS 2010, theorem III.3). Without the second term it is not
    proved: 1,000 reports of 0.1 at δ = 1e-5 cost 25.69 here. The first term alone is 15.17, which
    is less than the 17.79 that they do cost (`kov`).
    """
    return advanced_mixed([(epsilon, reports)], delta)


def advanced_mixed(reports: Iterable[tuple[float, int]], delta: float) -> Total:
    """Return the total of reports of several pure ε, fixed in advance, by advanced composition.

    sqrt(2 ln(1/δ) Σ ε²) + Σ ε (e^ε - 1)

    Parameters
    ----------
    reports : pairs
        An ε, and the number of reports that have it; at least one pair.
    delta : float
        The δ of the total, in (0, 1).

    References
    ----------
    Dwork, Rothblum and Vadhan, FOCS 2010, for unequal ε as in Rogers et al., NeurIPS 2016. By hand:
    one report of ln 2 at δ = 1/e has ln 2 (sqrt 2 + 1) = 1.6734.
    """
    checked, squares = _checked(reports)
    drift = fsum(n * epsilon * (expm1(epsilon) if epsilon < 700 else inf) for epsilon, n in checked)
    return Total(sqrt(-2 * log(check_delta(delta)) * squares) + drift, delta, "advanced")


def tanh_form(reports: Iterable[tuple[float, int]], delta: float) -> Total:
    """Return the smallest of three closed forms: the sum, and two with the drift Σ ε tanh(ε/2).

    drift + sqrt(2 ln(e + sqrt(Σ ε²)/δ) Σ ε²)  and  drift + sqrt(2 ln(1/δ) Σ ε²)

    Parameters and errors are those of `advanced_mixed`; the ε are pure.

    References
    ----------
    Kairouz, Oh and Viswanath, IEEE Transactions on Information Theory 2017, theorems 3.4 and 3.5.
    """
    checked, squares = _checked(reports)
    drift = fsum(n * epsilon * tanh(epsilon / 2) for epsilon, n in checked)
    spread = min(log(e + sqrt(squares) / check_delta(delta)), -log(delta))
    plain = fsum(n * epsilon for epsilon, n in checked)
    total = drift + sqrt(2 * spread * squares)
    return Total(total, delta, "advanced") if total < plain else Total(plain)


def kov(epsilon: float, reports: int, delta: float) -> Total:
    """Return the least total of reports about which only their pure ε is known.

    The convolution of binary randomized response reaches it (Kairouz, Oh and Viswanath, theorem
    3.3: equal at its grid of ε, and exact between). For 1,000 reports of 0.1 at δ = 1e-6 it is
    19.3447. Reports of a known channel can cost less (`compose`).
    """
    loss = PrivacyLoss.pure(epsilon)
    return Total(compose([(loss, reports)]).epsilon(delta), delta, "convolution")


def group(total: Total, size: int) -> Total:
    """Return what the reports of `size` people reveal about an answer that they all share.

    A pure ε becomes size ε. A δ becomes δ (e^(size ε) - 1) / (e^ε - 1), not size δ, and at most 1,
    which proves nothing.

    References
    ----------
    Dwork and Roth 2014, theorem 2.2; Vadhan, "The complexity of differential privacy", 2017,
    lemma 2.2. By hand: (ln 2, 0.001) becomes (ln 8, 0.007) for three people.
    """
    check_positive(total.epsilon)
    check_count(size, "size")
    epsilon = size * total.epsilon
    # This is (e^a - 1) / (e^b - 1) without overflow.
    factor = exp(min(700.0, epsilon - total.epsilon)) * expm1(-epsilon) / expm1(-total.epsilon)
    return Total(epsilon, min(1.0, total.delta * factor), f"{total.method};group")


def subsampled(epsilon: float, rate: float) -> float:
    """Return ε of a report of a respondent who was sampled with the probability `rate` in (0, 1].

    It is ln(1 + rate (e^ε - 1)).

    It holds only against those who do not know who was sampled, and only for pure ε. If the report,
    the ledger or the invitation shows that somebody was asked, the ε stays whole; then see `saved`.

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
    """Return the ε that each respondent saves if only `asked` of the questions are asked.

    It is the sum of all ε less the sum of the largest `asked`. The server sees which questions are
    asked, so each answer costs its whole ε, without amplification. By hand: two of the questions of
    1, 2 and 0.5 cost at most 3 of 3.5, and save 0.5.

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


def _checked(reports: Iterable[tuple[float, int]]) -> tuple[list[tuple[float, int]], float]:
    """Return the checked pairs of ε and number, and the sum of the squares of all ε."""
    checked = [(check_positive(epsilon), n) for epsilon, n in check_reports(reports)]
    return checked, fsum(n * epsilon**2 for epsilon, n in checked)
