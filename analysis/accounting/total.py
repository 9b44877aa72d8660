"""A proved total: ε, the δ that goes with it, and how it was proved."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Total:
    """Of several reports of one respondent together: (`epsilon`, `delta`)-DP, replace-one.

    `method` names the theorem: ``sum``, ``memory``, ``advanced``, ``convolution``, ``renyi``,
    ``zcdp``; several joined by ``;``.
    """

    epsilon: float
    delta: float
    method: str
