"""An audit from outside: what the shipped JavaScript draws, with the device's own randomness.

Each test draws `DRAWS` reports of every input. All its comparisons together go wrong by chance
with a probability of at most `CHANCE`: each is made at `CHANCE` over their number (Bonferroni).
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from collector import Collector
from device import Device
from numpy.typing import NDArray
from scipy.stats import beta, chisquare

from analysis.domain import Categories, Numbers
from analysis.encoders import Grid
from analysis.mechanisms import MECHANISMS
from analysis.randomizer import Randomizer

DRAWS, CHANCE = 200_000, 1e-6
#: Tallies, for each value, how often each report was drawn.
_DRAW = """async ([randomizer, values, draws]) => {
  const { randomize, verify } = await import('/client/randomizer.js');
  const { words } = await import('/client/random.js');
  verify(randomizer);
  const stream = words();
  return values.map((value) => {
    const given = typeof value === 'string' ? value.split('/').map(BigInt) : value;
    const tally = {};
    for (let draw = 0; draw < draws; draw += 1) {
      const report = JSON.stringify(randomize(given, randomizer, stream));
      tally[report] = (tally[report] ?? 0) + 1;
    }
    return tally;
  });
}"""


def categories(k: int) -> Categories:
    return Categories(tuple(f"v{value}" for value in range(k)))


#: Coarse enough that every single report is seen often.
_COARSE = Numbers(Fraction(0), Fraction(8), 8, no_answer=True)
RANDOMIZERS: dict[str, Randomizer[Any, Any]] = {
    "krr": MECHANISMS["krr"].compile(categories(3), Fraction(1)),
    "subset": MECHANISMS["subset"].compile(categories(6), Fraction(1, 2)),
    "square-wave": MECHANISMS["square-wave"].compile(_COARSE, Fraction(2)),
}


def values_of(randomizer: Randomizer[Any, Any]) -> list[Any]:
    """Values to draw from: all, or of numbers some on the grid, some between, and no answer."""
    if isinstance(randomizer.encoder, Grid):
        return ["0/1", "1/4", "1/3", "1/2", "9/10", "1/1", None]
    return list(range(randomizer.encoder.inputs))


def exact(randomizer: Randomizer[Any, Any], value: Any) -> dict[str, float]:
    """The probability of each report of a value, encoder and channel together."""
    inputs: dict[int, Fraction] = {}
    if isinstance(value, str):
        point, rest = divmod(Fraction(value) * randomizer.encoder.steps, 1)
        inputs = {int(point): 1 - rest, int(point) + 1: rest}
    else:
        inputs = {randomizer.encoder.encode(value, iter(())): Fraction(1)}
    found: dict[str, Fraction] = {}
    for symbol, weight in inputs.items():
        for report, chance in randomizer.channel.distribution(symbol) if weight else ():
            key = json.dumps(report, separators=(",", ":"))
            found[key] = found.get(key, Fraction(0)) + weight * chance
    assert sum(found.values()) == 1
    return {key: float(chance) for key, chance in found.items()}


def draw(device: Device, collector: Collector, randomizer: Randomizer[Any, Any]) -> Any:
    """What the served modules draw: a tally of reports for each value."""
    page = device.visit(f"{collector.url}/healthz")
    return page.evaluate(_DRAW, [randomizer.to_json(), values_of(randomizer), DRAWS])


def check_distribution(randomizer: Randomizer[Any, Any], tallies: list[dict[str, int]]) -> None:
    """Each value's reports have their exact probabilities (chi-square)."""
    for value, tally in zip(values_of(randomizer), tallies, strict=True):
        expected = exact(randomizer, value)
        assert set(tally) <= set(expected), f"impossible reports for {value}"
        observed = [tally.get(report, 0) for report in expected]
        means = [DRAWS * chance for chance in expected.values()]
        assert min(means) > 1000, "the approximation by chi-square is poor"
        p = chisquare(observed, means, sum_check=False).pvalue
        assert p > CHANCE / len(tallies), f"{value}: p = {p}"


def lowest_epsilon(tallies: list[dict[str, int]]) -> float:
    """A lower bound of ε that the counts prove, by Clopper-Pearson."""
    reports = sorted({report for tally in tallies for report in tally})
    counts: NDArray[np.int64] = np.array(
        [[tally.get(report, 0) for report in reports] for tally in tallies]
    )
    level = CHANCE / (2 * counts.size)
    low = np.where(counts > 0, beta.ppf(level, np.maximum(counts, 1), DRAWS - counts + 1), 0)
    high = np.where(
        counts < DRAWS, beta.ppf(1 - level, counts + 1, np.maximum(DRAWS - counts, 1)), 1
    )
    best = (low.max(axis=0) / high.min(axis=0)).max()
    return math.log(best) if best > 0 else -math.inf


@pytest.mark.parametrize("name", RANDOMIZERS)
def test_shipped_channel_draws_as_stated(device: Device, collector: Collector, name: str) -> None:
    randomizer = RANDOMIZERS[name]
    tallies = draw(device, collector, randomizer)
    check_distribution(randomizer, tallies)
    # No more than stated; and the audit is sharp enough to see most of it.
    assert 0.8 * randomizer.epsilon < lowest_epsilon(tallies) <= randomizer.epsilon


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("krr", "channels/window.js", "const draw = below(total(c), words);",
         "return symbol; const draw = 0;"),
        ("krr", "channels/window.js", "const inside = c.width * c.near;",
         "const inside = Math.floor(c.width * c.near * 1.02);"),
        ("krr", "draw.js", "words.next();", "0;"),
        ("subset", "channels/subset.js", "< c.include;", "<= c.include + c.exclude;"),
        ("subset", "channels/subset.js", "below(left, words) < needed", "needed > 0"),
        ("square-wave", "encoders.js", "bernoulli(place % bottom, bottom, words)", "0"),
        ("square-wave", "channels/window.js", "draw / c.near", "draw / c.near / 1.1"),
    ],
    ids=["identity", "two percent", "no words", "always in", "not uniform", "rounds", "skewed"],
)  # fmt: skip
def test_audit_catches_a_channel_that_draws_otherwise(
    device: Device,
    serve_client: Callable[..., Collector],
    name: str,
    file: str,
    old: str,
    new: str,
) -> None:
    randomizer = RANDOMIZERS[name]
    tallies = draw(device, serve_client((file, old, new)), randomizer)
    with pytest.raises(AssertionError):
        check_distribution(randomizer, tallies)


def test_audit_sees_more_epsilon_than_stated(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    identity = (
        "randomizer.js",
        "return CHANNELS",
        "if (words.next() % 9) return symbol;\n  return CHANNELS",
    )
    randomizer = RANDOMIZERS["krr"]
    tallies = draw(device, serve_client(identity), randomizer)
    assert lowest_epsilon(tallies) > randomizer.epsilon
