"""Compare our speed with two published libraries: `python benchmarks/speed.py [--quick]`.

The benchmark makes and aggregates a million reports at ε = 1, in seconds of the process's CPU, and
takes the best of several repetitions after a warm-up. The libraries call a client for each
respondent. If this would take too long, they get fewer reports, their seconds are scaled up in
proportion, and the number is marked with *. The exit status is 1 if a goal below is missed.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import PEERS, Peer, warm_up

from analysis.core.domain import Categories
from analysis.mechanisms import MECHANISMS

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
EPSILON = 1
SIZES = (16,) if SMALLEST else (16, 128, 1024)
NAMES = ("krr", "subset", "oue", "sue", "hashed-krr", "hadamard")[: 1 if SMALLEST else None]
MILLION = 1_000_000

#: How many times as fast as a library we must be to aggregate a million reports, and to make them.
AGGREGATE = {"krr": 30, "subset": 30, "oue": 10, "sue": 10, "hashed-krr": 30, "hadamard": 30}
RANDOMIZE = 1
#: The most seconds for a million reports, in any mechanism.
LARGEST_MEMORY = 200e6

#: Seconds that one library's mechanism may take for one k, and bits of unary encodings that it may
#: keep: each takes at least a byte there.
_BUDGET, _BITS = 8.0, 1e8


@dataclass(frozen=True)
class Cell:
    """Seconds for `wanted` reports, perhaps scaled from fewer, and the bytes that they take."""

    randomize: float
    aggregate: float
    nbytes: float
    scaled: bool


def best(action: Callable[[], Any], repetitions: int, budget: float = 1e9) -> tuple[float, Any]:
    """Return the least seconds of CPU that `action` took, and its result; it runs at least once."""
    least, spent, result = float("inf"), 0.0, None
    for _ in range(repetitions):
        result = None  # two results at once would need the memory of both
        start = process_time()
        result = action()
        took = process_time() - start
        least, spent = min(least, took), spent + took
        if spent + took > budget:
            break
    return least, result


def measure_ours(name: str, k: int, values: NDArray[np.int64]) -> Cell:
    mechanism, domain = MECHANISMS[name], Categories(tuple(map(str, range(k))))
    randomizer = mechanism.compile(domain, Fraction(EPSILON), {})
    shares = mechanism.shares(randomizer, domain)
    p = np.array([float(share.p) for share in shares.values])
    q = np.array([float(share.q) for share in shares.values])
    generator = np.random.Generator(np.random.PCG64(k))

    def block(n: int) -> NDArray[np.uint32]:
        words = generator.integers(0, 2**64, size=(n + 1) // 2, dtype=np.uint64)
        return words.view(np.uint32)[:n]

    def estimate() -> NDArray[np.float64]:
        count, trials = shares.count(randomizer.tally_many(reports))
        return np.asarray((count / trials - q) / (p - q))

    randomizer.randomize_many(values[:1000], block)
    randomize, reports = best(lambda: randomizer.randomize_many(values, block), 5, 5.0)
    aggregate, _ = best(estimate, 9)
    return Cell(randomize, aggregate, reports.nbytes, scaled=False)


def measure_peer(peer: Peer, k: int, values: NDArray[np.int64]) -> Cell:
    n = _affordable(peer, k, values)
    part = values[:n]
    randomize, reports = best(lambda: peer.randomize(part, k, EPSILON), 3, _BUDGET / 2)
    nbytes = sum(map(_size, reports[:1000])) / len(reports[:1000])
    aggregate, _ = best(lambda: peer.estimate(reports, k, EPSILON), 5, _BUDGET / 2)
    scale = len(values) / n
    return Cell(randomize * scale, aggregate * scale, nbytes * len(values), n < len(values))


def _affordable(peer: Peer, k: int, values: NDArray[np.int64]) -> int:
    """Return how many reports stay within the budget; measuring this also warms up."""

    def took(n: int) -> float:
        start = process_time()
        peer.estimate(peer.randomize(values[:n], k, EPSILON), k, EPSILON)
        return process_time() - start

    took(100)
    few, more = took(400), took(2000)
    each = max((more - few) / 1600, 1e-7)
    unary = peer.mechanism in ("oue", "sue", "subset")
    return int(min(len(values), _BUDGET / each, _BITS / k if unary else len(values)))


def _size(report: Any) -> int:
    """Return the bytes of one report of a list, with its place in the list."""
    if isinstance(report, np.ndarray):  # whose data may be another object's
        return 8 + max(sys.getsizeof(report), sys.getsizeof(report[:0]) + report.nbytes)
    inner = sum(map(sys.getsizeof, report)) if isinstance(report, tuple | list) else 0
    return 8 + sys.getsizeof(report) + inner


def measured(n: int) -> Iterator[tuple[int, str, Cell, dict[str, Cell]]]:
    """Yield the measurements of our mechanisms and of libraries, for each k and mechanism."""
    random = np.random.Generator(np.random.PCG64(0))
    for k in SIZES:
        values = random.integers(0, k, n)
        for name in NAMES:
            own = measure_ours(name, k, values)
            found = {}
            for peer in PEERS:
                if peer.mechanism == name:
                    print(f"k = {k}: {peer.name} {name} ...\033[K", end="\r", file=sys.stderr)
                    found[peer.name] = measure_peer(peer, k, values)
            yield k, name, own, found


def rate(n: int, seconds: float) -> str:
    """Return reports a second, to three digits."""
    each = n / seconds
    return f"{each / 1e6:.3g} M" if each >= 1e6 else f"{each / 1e3:.3g} k"


def line(n: int, k: int, name: str, who: str, cell: Cell, own: Cell) -> str:
    star, times = "*" if cell.scaled else " ", cell is not own
    faster = [f"{cell.randomize / own.randomize:.0f}x", f"{cell.aggregate / own.aggregate:.0f}x"]
    return (
        f"{k:>5} {name:<11}{who:<16}"
        f"{rate(n, cell.randomize):>8}{star}{faster[0] if times else '':>7}"
        f"{cell.aggregate * 1e3:>11.1f}{star}{faster[1] if times else '':>8}"
        f"{cell.nbytes / 1e6:>9.0f}"
    )


def failures(n: int, k: int, name: str, own: Cell, others: dict[str, Cell]) -> list[str]:
    """Return a sentence for each goal that a row of measurements misses."""
    found = []
    if own.nbytes / n * MILLION > LARGEST_MEMORY:
        found.append(f"k = {k} {name}: a million reports take {own.nbytes / n:.0f} MB")
    for who, cell in others.items():
        pairs = [
            ("make", cell.randomize / own.randomize, RANDOMIZE),
            ("aggregate", cell.aggregate / own.aggregate, AGGREGATE[name]),
        ]
        found += [
            f"k = {k} {name}: to {what} reports {ratio:.3g} times as fast as {who}, goal {goal}"
            for what, ratio, goal in pairs
            if ratio < goal
        ]
    return found


def main() -> int:
    # Goals are for a million reports; with fewer, the costs that do not depend on the number weigh
    # more.
    quick = "--quick" in sys.argv[1:]
    n = 2000 if SMALLEST else MILLION // 10 if quick else MILLION
    warm_up(0, NAMES)
    print(f"{n:,} reports at ε = {EPSILON}; x: ours is so many times as fast.")
    print("* scaled from fewer reports; memory of the libraries is from their first 1,000.\n")
    print(f"{'k':>5} {'':27}{'randomize':>9}{'':7}{'aggregate and':>15}{'':6}{'memory':>8}")
    print(f"{'':>5} {'':27}{'reports/s':>9}{'':7}{'estimate, ms':>15}{'':6}{'MB':>8}")
    missed = []
    for k, name, own, others in measured(n):
        print(line(n, k, name, "ours", own, own) + "\033[K" * sys.stdout.isatty(), flush=True)
        for who, cell in others.items():
            print(line(n, k, name, who, cell, own), flush=True)
        missed += failures(n, k, name, own, others)
    print("\033[K", end="", file=sys.stderr)
    print("\n" + ("\n".join(missed) if missed else "All goals are reached."))
    return bool(missed) and not (quick or SMALLEST)


if __name__ == "__main__":
    sys.exit(main())
