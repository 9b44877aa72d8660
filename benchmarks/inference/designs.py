"""Measure how often 95 % intervals hold for designs of two samples or with unknown probabilities.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/designs.py`. Samples are simulated; the Monte
Carlo error of a coverage of .95 is .007, and .011 for the question with an anchor.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.latent import fitted
from analysis.estimate.columns.latent_column import LatentColumn
from analysis.estimate.columns.latent_design import LatentDesign
from analysis.estimate.columns.measured import IntervalOptions

Floats = NDArray[np.float64]

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
TIMES, TIMES_OF_ANCHOR = (1, 1) if SMALLEST else (1000, 400)
_HEAD = '[columns.y]\nvalues = ["no", "yes"]\n'
_DESIGNS = {
    "unrelated": 'sample = "s"\ndesign = {name = "unrelated", p = {A = 0.7, B = 0.3}, '
    'prevalence = "unknown"}\n',
    "lie-detector": 'sample = "s"\ndesign = {name = "lie-detector", p = {A = 0.2, B = 0.8}}\n',
    "cheater-detection": 'sample = "s"\n'
    'design = {name = "cheater-detection", p_yes = {A = 0.25, B = 0.75}}\n',
    "extended crosswise": 'sample = "s"\n'
    'design = {name = "crosswise", prevalence = {A = 0.25, B = 0.75}}\n',
}
_ANCHOR = """
design = {name = "crosswise-anchor", prevalence = 0.2, anchor = "a", anchor_prevalence = 0.2}
"""
#: Shares of no and yes (and of cheaters), then the unknown probabilities.
_TRUTHS: dict[str, list[tuple[float, ...]]] = {
    "unrelated": [(0.8, 0.2, 0.35), (0.95, 0.05, 0.35), (1.0, 0.0, 0.35), (0.8, 0.2, 0.02)],
    "lie-detector": [(0.8, 0.2, 0.75), (0.95, 0.05, 0.75), (0.8, 0.2, 1.0), (1.0, 0.0, 0.75)],
    "cheater-detection": [(0.65, 0.15, 0.2), (0.85, 0.15, 0.0), (0.95, 0.0, 0.05)],
    "extended crosswise": [(0.7, 0.3), (0.95, 0.05), (1.0, 0.0)],
}


def design(text: str) -> LatentDesign:
    """Return the design of a column "y" that a file's text describes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "design.toml"
        path.write_text(_HEAD + text)
        found = read_designs(path).columns["y"]
    assert isinstance(found, LatentDesign)
    return found


def coverage(name: str, truth: Sequence[float], n: int) -> Floats:
    """Return how often the interval of each parameter holds, with n respondents in each sample."""
    law, there = design(_DESIGNS[name]).law, np.array(truth)
    rng, chances = np.random.default_rng([n, len(name)]), law.chances(there).reshape(2, 2)
    held = np.zeros(law.size, dtype=np.float64)
    for _ in range(TIMES):
        counts = np.concatenate([rng.multinomial(n, row) for row in chances]).astype(np.float64)
        found = fitted(law, counts)
        rows = zip(np.eye(law.size), truth, strict=True)
        held += np.array([found.allows(row, at, 0.95) for row, at in rows])
    return np.asarray(held / TIMES)


def coverage_with_anchor(truth: Sequence[float], n: int) -> Floats:
    """Return the same for the crosswise model with an anchor, with n respondents."""
    found, rng = design(_ANCHOR), np.random.default_rng(n)
    held = np.zeros(3, dtype=np.float64)
    for _ in range(TIMES_OF_ANCHOR):
        true, attentive = rng.random(n) < truth[1], rng.random(n) < truth[2]
        birthday, lot = rng.random((2, n)) < 0.2, rng.random((2, n)) < 0.5
        own = np.where(attentive, true == birthday[0], lot[0])
        other = np.where(attentive, ~birthday[1], lot[1])
        cells = np.column_stack([own, 2 + other]).astype(np.int64)
        column = LatentColumn(
            *("y", found.values, found.unknowns, found.law, cells, None, found.mechanism)
        )
        rows = column.estimates(IntervalOptions(), None)
        pairs = zip(rows, truth, strict=True)
        held += np.array([row.conf_low <= at <= row.conf_high for row, at in pairs])
    return np.asarray(held / TIMES_OF_ANCHOR)


def main() -> None:
    """Print a table of coverage."""
    print(f"95 % intervals of no, yes and what is unknown hold; {TIMES} samples, n in each half")
    for name, truths in _TRUTHS.items():
        for truth in truths:
            for n in (50, 300):
                held = ", ".join(f"{x:.3f}" for x in coverage(name, truth, n))
                print(f"{name:20} {truth!s:20} n = {n:3}: {held}", flush=True)
    for truth in ((0.75, 0.25, 0.85), (1.0, 0.0, 0.85), (0.75, 0.25, 1.0)):
        for n in (100, 1000):
            held = ", ".join(f"{x:.3f}" for x in coverage_with_anchor(truth, n))
            print(f"{'crosswise-anchor':20} {truth!s:20} n = {n:4}: {held}", flush=True)


if __name__ == "__main__":
    main()
