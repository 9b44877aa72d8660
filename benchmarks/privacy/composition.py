"""Measure how fast reports are composed, and to which total, beside dp-accounting.

`python benchmarks/privacy/composition.py` takes a minute. The exit status is 1 if 1,000 reports
take more than a hundredth of the time of either method of dp-accounting, in the same run. It is
also 1 if a total lies outside of the range that dp-accounting proves with its losses rounded down
and up.
"""

import sys
from collections.abc import Callable
from functools import partial
from math import exp
from time import perf_counter

from dp_accounting.pld.privacy_loss_distribution import (
    PrivacyLossDistribution,
    from_randomized_response,
)

from analysis.privacy.accounting import PrivacyLoss, compose

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
DELTA = 1e-6
#: Steps of its losses: the usual step, and one that is affordable in a single convolution.
USUAL, FINE = 1e-4, 1e-5
REPORTS, TIMES = 1000, 100
CELLS = [(2, 0.1), (5, 0.1), (2, 1.0)]
#: k, ε and the numbers of reports in a mixed survey of 1,000 reports.
MIXED = [(2, 0.5, 400), (5, 1.0, 300), (4, 2.0, 200), (10, 1.0, 100)]
if SMALLEST:
    REPORTS, CELLS, MIXED = 10, CELLS[:1], [(k, epsilon, 1) for k, epsilon, _ in MIXED]
#: The error of its Fourier transforms.
ROUNDING = 1e-6


def theirs(k: int, epsilon: float, step: float, above: bool = True) -> PrivacyLossDistribution:
    """Return its loss of randomized response, rounded up or down."""
    noise = k / (exp(epsilon) + k - 1)
    return from_randomized_response(
        noise, k, pessimistic_estimate=above, value_discretization_interval=step
    )


def seconds(run: Callable[[], float], rounds: int = 1) -> tuple[float, float]:
    """Return the least time of several rounds, and the result."""
    taken, found = [], 0.0
    for _ in range(rounds):
        begin = perf_counter()
        found = run()
        taken.append(perf_counter() - begin)
    return min(taken), found


def ours(kinds: list[tuple[int, float, int]]) -> float:
    """Return our total, with losses that were not cached."""
    fresh = [(PrivacyLoss.krr(k, epsilon), n) for k, epsilon, n in kinds]
    return compose(fresh).epsilon(DELTA)


def one_by_one(k: int, epsilon: float) -> float:
    one = theirs(k, epsilon, USUAL)
    found = one
    for _ in range(REPORTS - 1):
        found = found.compose(one)
    return float(found.get_epsilon_for_delta(DELTA))


def all_at_once(k: int, epsilon: float, step: float, above: bool = True) -> float:
    found = theirs(k, epsilon, step, above).self_compose(REPORTS)
    return float(found.get_epsilon_for_delta(DELTA))


def mixed(above: bool) -> float:
    """Return its total of `MIXED`, at the usual step."""
    one, *others = (theirs(k, epsilon, USUAL, above).self_compose(n) for k, epsilon, n in MIXED)
    for other in others:
        one = one.compose(other)
    return float(one.get_epsilon_for_delta(DELTA))


def main() -> int:
    failures = []
    print(
        f"{REPORTS} reports at δ = {DELTA:g}: seconds, and ε in total; dp-accounting's losses are"
    )
    print(f"multiples of {USUAL:g}, rounded up, and of {FINE:g} for the bounds.\n")
    print(
        f"{'k':>3}{'ε':>5}  {'ours':>9}{'one by one':>12}{'at once':>9}{'times':>8}"
        f"{'ε ours':>12}{'ε theirs':>11}{'bounds':>24}"
    )
    for k, epsilon in CELLS:
        print(f"k = {k}, ε = {epsilon} ...", file=sys.stderr, flush=True)
        own, total = seconds(partial(ours, [(k, epsilon, REPORTS)]), 20)
        slow, usual = seconds(partial(one_by_one, k, epsilon))
        fast, _ = seconds(partial(all_at_once, k, epsilon, USUAL))
        # With the fine step, long losses would take minutes.
        step = FINE if epsilon * REPORTS < 500 else USUAL
        low, high = (all_at_once(k, epsilon, step, above) for above in (False, True))
        times = min(slow, fast) / own
        print(
            f"{k:>3}{epsilon:>5}  {own:>9.5f}{slow:>12.3f}{fast:>9.3f}{times:>8.0f}"
            f"{total:>12.5f}{usual:>11.5f}  {low:>10.5f} - {high:>9.5f}"
        )
        if times < TIMES:
            failures.append(f"k = {k}, ε = {epsilon}: {times:.0f} times faster, less than {TIMES}")
        if not low * (1 - ROUNDING) <= total <= high * (1 + ROUNDING):
            failures.append(f"k = {k}, ε = {epsilon}: {total} is not in {low} - {high}")

    print("\nMixed, k, ε and reports:", ", ".join(map(str, MIXED)))
    print("mixed ...", file=sys.stderr, flush=True)
    own, total = seconds(lambda: ours(MIXED), 20)
    other, high = seconds(lambda: mixed(above=True))
    low = mixed(above=False)
    print(f"ours {own:.4f} s, ε = {total:.5f}; theirs {other:.3f} s, ε = {low:.5f} - {high:.5f}")
    if not low * (1 - ROUNDING) <= total <= high * (1 + ROUNDING):
        failures.append(f"mixed: {total} is not in {low} - {high}")

    for failure in failures:
        print("MISSED", failure)
    print("" if failures else f"\nMet: at least {TIMES} times faster, to the same totals.")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
