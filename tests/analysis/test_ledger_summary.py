"""A ledger in a few numbers, computed by hand for two respondents and for one."""

from decimal import Decimal

from analysis.privacy.ledger import TotalRow
from analysis.privacy.ledger.distribution import spent


def row(epsilon: str, respondents: int, method: str, delta: float, charged: str) -> TotalRow:
    cap = Decimal(10)
    return TotalRow(
        epsilon_sum=Decimal(9),
        epsilon=Decimal(epsilon),
        epsilon_if_constant=Decimal(epsilon) / 2,
        delta=delta,
        method=method,
        cap=cap,
        remaining=cap - Decimal(charged),
        above_cap="yes" if Decimal(charged) > cap else "no",
        respondents=respondents,
        share=0.5,
        cumulative_share=0.5,
    )


def test_a_ledger_in_a_few_numbers() -> None:
    summary = spent([row("1", 2, "sum", 0.0, "1"), row("3", 1, "memory;convolution", 1e-6, "4")])
    assert summary is not None
    assert (summary.respondents, summary.least, summary.most) == (3, Decimal(1), Decimal(3))
    # (1 + 1 + 3) / 3 = 1.66666..., rounded up.
    assert summary.mean == Decimal("1.6667")
    assert (summary.most_charged, summary.most_if_constant) == (Decimal(4), Decimal("1.5"))
    assert (summary.delta, summary.convolved, summary.remembers) == (1e-6, 1, True)
    assert summary.above_cap == 0


def test_respondents_above_the_cap_are_counted() -> None:
    summary = spent([row("1", 2, "sum", 0.0, "1"), row("11", 3, "sum", 0.0, "11")])
    assert summary is not None
    assert summary.above_cap == 3


def test_the_mean_is_never_above_the_most() -> None:
    summary = spent([row("0.889029", 2, "sum", 0.0, "1")])
    assert summary is not None
    assert summary.mean == summary.most == Decimal("0.889029")


def test_nobody_has_spent_nothing() -> None:
    assert spent([]) is None
    summary = spent([row("1", 2, "sum", 0.0, "1")])
    assert summary is not None
    assert (summary.convolved, summary.remembers) == (0, False)
