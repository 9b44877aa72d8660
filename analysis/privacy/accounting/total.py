"""A proved total, and what it is for a group: ε, the δ that goes with it, and how it was proved."""

from dataclasses import dataclass
from math import exp, expm1

from analysis.core.errors import check_count, check_positive


@dataclass(frozen=True)
class Total:
    """Of several reports of one respondent together: (`epsilon`, `delta`)-DP, replace-one.

    `method` names the theorem: ``sum``, ``memory``, ``advanced``, ``convolution``, ``renyi``,
    ``zcdp``; several joined by ``;``.
    """

    epsilon: float
    delta: float
    method: str


def group(total: Total, size: int) -> Total:
    """What the reports of so many people tell of an answer that all of them share.

    Pure: size ε. With δ: size ε and δ (e^(size ε) - 1) / (e^ε - 1), not size δ; at most 1, which
    proves nothing.

    References
    ----------
    Dwork and Roth 2014, theorem 2.2; Vadhan, "The complexity of differential privacy", 2017,
    lemma 2.2. By hand: (ln 2, 0.001) and three people: (ln 8, 0.007).
    """
    check_positive(total.epsilon)
    check_count(size, "size")
    top = size * total.epsilon
    # (e^a - 1) / (e^b - 1) without overflow.
    factor = exp(min(700.0, top - total.epsilon)) * expm1(-top) / expm1(-total.epsilon)
    return Total(top, min(1.0, total.delta * factor), f"{total.method};group")
