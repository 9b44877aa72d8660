"""Compare mechanisms for several options and orders with published ones.

`python benchmarks/several.py` prints n times the variance of an option's share, or of a pair's
order, from one report; all numbers are exact. Beside the mechanism that `check` chooses stand those
that it does not choose, and the best published figure: PrivSet (Wang et al., INFOCOM 2018) with its
set of the best size, sampling one flag (SMP), k-RR over all sets that may be ticked, and for orders
two probabilities by Kendall's distance over whole orders, with all radii. For six items the figures
come from a search over all weights by that distance, which takes minutes. No question has a
no-answer.

The benchmark takes a second. The exit status is 1 if a published figure is smaller than that of the
chosen mechanism.
"""

import sys
from collections.abc import Iterator
from fractions import Fraction
from math import comb, exp

import numpy as np

from analysis.core.domain import Rankings, Sets
from analysis.core.encoders.groups import orders
from analysis.mechanisms.base import Share
from analysis.mechanisms.selection import candidates

#: Variances of a pair's order among six items, by ε.
KNOWN = {2.0: 5.67, 3.0: 2.49, 4.0: 1.36}
CASES: list[tuple[str, Sets | Rankings, tuple[str, ...]]] = [
    ("10 options, at most 3", Sets(tuple("abcdefghij"), 3, False), ("1", "2", "4")),
    ("10 options, any number", Sets(tuple("abcdefghij"), 10, False), ("1", "2", "4")),
    ("4 options, any number", Sets(tuple("abcd"), 4, False), ("1", "2", "3", "4", "6")),
    ("3 options, any number", Sets(tuple("abc"), 3, False), ("1", "2", "3", "4")),
    ("rank of 4", Rankings(tuple("abcd"), False), ("1", "2", "3", "4")),
    ("rank of 6", Rankings(tuple("abcdef"), False), ("1", "2", "3", "4")),
]


def variance(p: float, q: float, share: float, portion: float = 1.0) -> float:
    """Return the variance of a share if only this part of the reports is about it."""
    if p <= q:
        return float("inf")
    return Share("", Fraction(p), Fraction(q), Fraction(portion)).variance(share)


def published(domain: Sets | Rankings, epsilon: float) -> Iterator[tuple[str, float]]:
    """Return the names of published mechanisms, and their variances."""
    far, share = 1 / exp(epsilon), domain.usual_share
    if isinstance(domain, Sets):
        options, ones = len(domain.options), domain.at_most
        inputs = options + ones
        found = []
        for size in range(1, inputs):
            # A set that contains no flag of the input has e^-ε times the probability of any other
            # set.
            misses = comb(inputs - ones, size)
            hits = {
                j: comb(ones, j) * comb(inputs - ones, size - j)
                for j in range(1, min(ones, size) + 1)
            }
            total = misses * far + sum(hits.values())
            mean = sum(j * cells for j, cells in hits.items()) / total
            found.append(variance(mean / ones, (size - mean) / (inputs - ones), share))
        yield "PrivSet", min(found)
        keep = 1 / (1 + far)
        yield "one flag", variance(keep, 1 - keep, share, 1 / (options + 1))
        if ones == options:
            cells = 2**options
            unit = 1 / (1 + (cells - 1) * far)
            yield (
                "k-RR of sets",
                variance(unit * (1 + (cells / 2 - 1) * far), unit * far * cells / 2, share),
            )
        return
    items = len(domain.mean_terms)
    keep = 1 / (1 + far)
    yield "one pair", variance(keep, 1 - keep, share, 1 / comb(items, 2))
    if items == 6:
        yield from [("by Kendall's distance", KNOWN[epsilon])] if epsilon in KNOWN else []
        return
    flags = np.array(orders(items))
    apart = (flags[:, None] != flags[None]).sum(axis=2)
    targets, found = flags - 0.5, []
    for radius in range(flags.shape[1]):
        chances = np.where(apart <= radius, 1.0, far)
        chances /= chances.sum(axis=1, keepdims=True)
        # Of all unbiased scores, these have the least variance if all orders are equally frequent.
        scores = np.linalg.lstsq(chances, targets, rcond=1e-9)[0]
        if np.abs(chances @ scores - targets).max() < 1e-7:
            found.append(float((chances @ (scores + 0.5) ** 2).mean() - 0.25))
    yield "by Kendall's distance", min(found)


def main() -> bool:
    """Print all cases; return whether nothing published has a smaller variance."""
    good = True
    # The smallest case, and an order.
    for name, domain, epsilons in CASES[3:5] if "--smallest" in sys.argv[1:] else CASES:
        for epsilon in epsilons:
            chosen, *others = candidates(domain, Fraction(epsilon))
            known = dict(published(domain, float(epsilon)))
            good = good and chosen.variance <= min(known.values()) * (1 + 1e-6)
            left = ", ".join(f"{one.mechanism.name} {one.variance:.3f}" for one in others)
            beside = ", ".join(f"{what} {found:.3f}" for what, found in known.items())
            print(
                f"{name:24} ε = {epsilon}: {chosen.mechanism.name:12} {chosen.variance:7.3f}"
                f"   published: {beside}   others here: {left}"
            )
    return good


if __name__ == "__main__":
    sys.exit(not main())
