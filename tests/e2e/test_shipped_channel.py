"""An audit from outside of what the shipped JavaScript draws with the device's own randomness.

Distributions of small randomizers are compared with the exact ones, by `DRAWS` reports of each
value. For ε, `GAME` reports of each of two values show how well the values can be distinguished. A
test fails by chance with a probability of at most `CHANCE`. test_vectors.py checks all of this
quickly, exact to the bit.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from audited import GAMES, SMALL, Case
from collector import Collector
from device import Device
from javascript import beside_modules
from numpy.typing import NDArray
from scipy.stats import beta, chisquare, norm

from analysis.core.channels import CHANNELS
from analysis.core.domain import Numbers
from analysis.core.encoders import ENCODERS
from analysis.core.randomizer import Randomizer

DRAWS, CHANCE = 200_000, 1e-6
#: How many reports of each value prove an ε.
GAME = int(os.environ.get("DENIABLE_DRAWS", DRAWS))
#: So many draws show all other laws but one that differs by two percent.
FEWER = DRAWS // 5
pytestmark = pytest.mark.more
#: Defines `reports`. client/random.js gives words, one for each call of `getRandomValues`. Such a
#: call takes a microsecond, so the browser's own is asked for thousands of words at once.
_START = """
  const { randomize, verify } = await import('/client/randomizer.js');
  const { words } = await import('/client/random.js');
  const epsilon = verify(randomizer);
  const source = crypto;
  const block = new Uint32Array(16384);
  let used = 0;
  const getRandomValues = (array) => {
    if (!(array instanceof Uint32Array) || array.length !== 1) throw new Error('not one word');
    used %= block.length;
    if (used === 0) source.getRandomValues(block);
    array[0] = block[used];
    used += 1;
    return array;
  };
  Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues } });
  const stream = words();
  const reports = (value, draws, take) => {
    const given = typeof value === 'string' ? value.split('/').map(BigInt) : value;
    for (let draw = 0; draw < draws; draw += 1) take(randomize(given, randomizer, stream));
  };"""
#: Tallies, for each value, how often each report was drawn.
_DRAW = f"""async ([randomizer, values, draws]) => {{
  {_START}
  return values.map((value) => {{
    const tally = {{}};
    reports(value, draws, (report) => {{
      const key = JSON.stringify(report);
      tally[key] = (tally[key] ?? 0) + 1;
    }});
    return tally;
  }});
}}"""
#: Counts for each value how often an event occurred, and returns the ε that the device computes. Of
#: sets and bits, only `places` count: which of them are members.
_COUNT = f"""async ([randomizer, values, draws, places, event]) => {{
  {_START}
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bit = (text, place) => (digits.indexOf(text[Math.floor(place / 6)]) >> (5 - place % 6)) & 1;
  const seen = (report) => {{
    if (typeof report === 'number') return String(report);
    if (typeof report === 'string') return places.map((place) => bit(report, place)).join('');
    if (Array.isArray(report)) return places.map((place) => +report.includes(place)).join('');
    return `${{report.cohort}}:${{report.report}}`;
  }};
  const wanted = new Set(event);
  const counts = values.map((value) => {{
    let count = 0;
    reports(value, draws, (report) => {{ if (wanted.has(seen(report))) count += 1; }});
    return count;
  }});
  return [epsilon, counts];
}}"""

Part = NDArray[np.float64]


@pytest.mark.parametrize("cases", [SMALL, GAMES], ids=["distributions", "games"])
def test_every_channel_and_encoder_is_audited(cases: dict[str, Case]) -> None:
    parts = [(one.epsilon, one.randomizer) for one in cases.values()]
    assert {found.channel.name for _, found in parts} == set(CHANNELS)
    # Texts and memories of devices are tested in test_memory.py.
    texts = {"digest", "bloom", "prefix"}
    assert {found.encoder.name for _, found in parts} == set(ENCODERS) - texts
    if cases is GAMES:
        asked = {(epsilon, found.channel.name) for epsilon, found in parts}
        assert asked == set(product(("1/2", "1", "2"), CHANNELS))


def some_values(one: Case) -> list[Any]:
    """Return values to draw from: the last, and one in the middle; for numbers, off the grid."""
    middle = one.values[len(one.values) // 2]
    return ["1/3" if isinstance(one.domain, Numbers) else middle, one.values[-1]]


def encode(randomizer: Randomizer[Any, Any], value: Any, cohort: int) -> Any:
    """Return the channel's input for a value that needs no rounding."""
    read = Fraction if isinstance(value, str) else tuple if isinstance(value, list) else None
    return randomizer.encoder.encode(read(value) if read else value, cohort, iter(()))


def exact(randomizer: Randomizer[Any, Any], value: Any) -> dict[str, float]:
    """Return the probability of each report of a value, encoder and channel together."""
    encoder, found = randomizer.encoder, dict[str, Fraction]()
    cohorts = encoder.cohorts or 1
    for cohort in range(cohorts):
        if isinstance(value, str):
            point, rest = divmod(Fraction(value) * encoder.steps, 1)
            inputs = [(int(point), 1 - rest), (int(point) + 1, rest)]
        else:
            inputs = [(encode(randomizer, value, cohort), Fraction(1))]
        for x, weight in inputs:
            for report, chance in randomizer.channel.distribution(x) if weight else ():
                whole = {"cohort": cohort, "report": report} if encoder.cohorts else report
                key = json.dumps(whole, separators=(",", ":"))
                found[key] = found.get(key, Fraction(0)) + weight * chance / cohorts
    assert sum(found.values()) == 1
    return {key: float(chance) for key, chance in found.items()}


def draw(
    device: Device, collector: Collector, one: Case, draws: int = DRAWS
) -> list[dict[str, int]]:
    """Return what the served modules draw: a tally of reports for each value."""
    page = beside_modules(device, collector)
    tallies = page.evaluate(_DRAW, [one.randomizer.to_json(), some_values(one), draws])
    page.close()
    return list(tallies)


def check_distribution(one: Case, tallies: list[dict[str, int]], draws: int = DRAWS) -> None:
    """Check that each value's reports have their exact probabilities (chi-square, Bonferroni)."""
    for value, tally in zip(some_values(one), tallies, strict=True):
        expected = exact(one.randomizer, value)
        assert set(tally) <= set(expected), f"impossible reports for {value}"
        observed = [tally.get(report, 0) for report in expected]
        means = [draws * chance for chance in expected.values()]
        assert min(means) > 200, "the approximation by chi-square is poor"
        p = chisquare(observed, means, sum_check=False).pvalue
        assert p > CHANCE / len(tallies), f"{value}: p = {p}"


@pytest.mark.parametrize("name", SMALL)
def test_shipped_channel_has_the_stated_law(
    device: Device, collector: Collector, name: str
) -> None:
    check_distribution(SMALL[name], draw(device, collector, SMALL[name]))


_TWINS = {
    "identity": ("krr", "channels.js", "const draw = below(window.total(c), words);",
                 "return symbol; const draw = 0;"),
    "two percent": ("krr", "channels.js", "const inside = c.width * c.near;",
                    "const inside = Math.floor(c.width * c.near * 1.02);"),
    "skewed": ("square-wave", "channels.js", "draw / c.near", "draw / c.near / 1.1"),
    "no words": ("krr", "exact.js", "words.next();", "0;"),
    "always in": ("subset", "channels.js", "< c.include;", "<= c.include + c.exclude;"),
    "not uniform": ("subset", "channels.js", "below(count, words) < needed", "needed > 0"),
    "last bit kept": ("sue", "channels.js", "below(c.total, words) <",
                      "(place === 2 ? (isOne(2) ? 0 : c.total) : below(c.total, words)) <"),
    "one word for all bits": ("sue", "channels.js", "below(c.total, words) <",
                              "(place ? words.same : words.same = below(c.total, words)) <"),
    "wraps around": ("laplace", "channels.js",
                     "Math.min(Math.max(report, 0), inputs - 1)", "(report + inputs) % inputs"),
    "off by one": ("laplace", "channels.js", "- (inputs - 1);", "- (inputs - 2);"),
    "another row": ("exponential", "channels.js", "byWeight(c.rows[symbol], words)",
                    "byWeight(c.rows[Math.min(1, symbol)], words)"),
    "rounds": ("square-wave", "optional/numbers.js",
               "bernoulli(place % bottom, bottom, words)", "0"),
    "one option": ("multihot", "encoders.js", "(place) => flags[place]);",
                   "(place) => flags[place]).slice(-1);"),
    "first part": ("pick", "encoders.js", "flagsOf(value, e.parts)[cohort]",
                   "flagsOf(value, e.parts)[0]"),
    "all hits": ("privset", "optional/several.js", "chooser(hits, c.ones, words)",
                 "chooser(c.ones, c.ones, words)"),
    "no pads": ("privset", "optional/several.js",
                "range(e.at_most - places.length).map(pad)", "[]"),
    "first group": ("group", "optional/several.js",
                    "chosenAt(cohort, e.parts", "chosenAt(0, e.parts"),
    "first items": ("suborder", "optional/orders.js",
                    "chosenAt(cohort, items", "chosenAt(0, items"),
    "one digit": ("hadamard", "encoders.js", "range(e.digits)", "range(1)"),
    "other order": ("permutations", "optional/orders.js",
                    "0 : factorial(items - 1 - one)", "0 : 1"),
}  # fmt: skip


@pytest.mark.parametrize("twin", _TWINS)
def test_audit_catches_a_channel_with_another_law(
    device: Device, serve_client: Callable[..., Collector], twin: str
) -> None:
    name, *change = _TWINS[twin]
    draws = DRAWS if twin == "two percent" else FEWER
    tallies = draw(device, serve_client(tuple(change)), SMALL[name], draws)
    with pytest.raises(AssertionError, match=r"impossible reports|p = "):
        check_distribution(SMALL[name], tallies, draws)


def test_every_channel_has_a_twin_with_another_law() -> None:
    games = {
        twin[0] for name, twin in _TWINS.items() if "channels.js" in twin or name == "all hits"
    }
    told = {one.randomizer.channel.name for name, one in GAMES.items() if name.split()[0] in games}
    assert told == set(CHANNELS)


# The largest ε that can be proved by two values and one event


def promises(likelier: Part, other: Part) -> tuple[Part, Part]:
    """Return the ε that `GAME` reports of each value prove, for events of these probabilities.

    First the ε on average, when each probability is at its bound, then the least ε, which is
    missed with a probability of `CHANCE`.
    """
    ratio = np.log(np.maximum(likelier, 1e-9) / other)
    spreads = [np.sqrt((1 - chance) / chance / GAME) for chance in (likelier, other)]
    average = ratio - norm.isf(CHANCE / 2) * sum(spreads)
    return average, average - norm.isf(CHANCE) * np.hypot(*spreads)


def best_event(seen: list[str], one: Part, other: Part) -> tuple[float, float, list[str]]:
    """Return the best event, by Neyman and Pearson: all reports with a ratio above some limit.

    Before it stand the ε that it proves on average, and the least that it proves.
    """
    ranked = np.argsort(-one / other, kind="stable")
    chances = np.cumsum(one[ranked])[:-1], np.cumsum(other[ranked])[:-1]
    average, least = promises(*chances)
    best = int(average.argmax())
    return float(average[best]), float(least[best]), [seen[place] for place in ranked[: best + 1]]


def best_game(case: Case) -> tuple[float, list[Any], list[int], list[str]]:
    """Return the least ε that is proved, and the two values and the event that prove most.

    The event is likelier for the first value.
    """
    randomizer, values = case.randomizer, case.values
    encoder, channel = randomizer.encoder, randomizer.channel
    # These designs treat all of many categories alike, so a few are enough.
    values = values if len(values) <= 24 else [*values[:10], *values[-10:]]
    cohorts = encoder.cohorts or 1
    tables = [[encode(randomizer, one, cohort) for cohort in range(cohorts)] for one in values]
    several = not channel.gives_one_symbol
    if not several:
        seen = [str(symbol) for symbol in range(channel.symbols)]
        if encoder.cohorts:
            seen = [f"{cohort}:{symbol}" for cohort in range(cohorts) for symbol in seen]
        rows = [np.concatenate([channel.moments(x)[0] for x in xs]) / cohorts for xs in tables]
    games = []
    for a, b in permutations(range(len(values)), 2):
        places = list[int]()
        if several:
            one, other = (tables[x][0] for x in (a, b))
            # The places where two inputs differ; for symbols, these symbols themselves.
            places = sorted(set(one) ^ set(other) if channel.takes_bits else {one, other})
            seen = ["".join(map(str, bits)) for bits in product((0, 1), repeat=len(places))]
            likelier, less = (patterns(channel, tables[x][0], places) for x in (a, b))
            # A set of few symbols cannot hold all places.
            seen = [one for one, chance in zip(seen, likelier, strict=True) if chance > 0]
            likelier, less = likelier[likelier > 0], less[less > 0]
        else:
            likelier, less = rows[a], rows[b]
        promise, least, event = best_event(seen, likelier, less)
        games.append((promise, least, [values[a], values[b]], places, event))
    return max(games, key=lambda game: game[0])[1:]


def patterns(channel: Any, x: Any, places: list[int]) -> Part:
    """Return the probabilities of which places a report holds, in the order of `product`."""
    if channel.name == "overlap":
        law: Counter[tuple[bool, ...]] = Counter()
        for members, chance in channel.distribution(x):
            law[tuple(place in members for place in places)] += chance
        held = product((False, True), repeat=len(places))
        return np.array([float(law[pattern]) for pattern in held])
    mean, second = channel.moments(x)
    if channel.takes_bits:
        each = [(1 - mean[place], mean[place]) for place in places]
        return np.array([math.prod(chances) for chances in product(*each)])
    a, b = places
    both = second[a, b]
    return np.array([1 - mean[a] - mean[b] + both, mean[b] - both, mean[a] - both, both])


def play(
    device: Device, collector: Collector, case: Case, drawn: Randomizer[Any, Any] | None = None
) -> tuple[float, float, float]:
    """Return the ε that the device computes of its draws, the least that its reports should prove,
    and the ε that they prove."""
    stated, (least, values, places, event) = case.randomizer, best_game(case)
    page = beside_modules(device, collector)
    given = [(drawn or stated).to_json(), values, GAME, places, event]
    epsilon, (likelier, other) = page.evaluate(_COUNT, given)
    page.close()
    # Clopper and Pearson.
    low = beta.ppf(CHANCE / 2, likelier, GAME - likelier + 1)
    high = beta.ppf(1 - CHANCE / 2, other + 1, GAME - other)
    return epsilon, least, math.log(max(low, 1e-300) / high)


@pytest.mark.parametrize("name", GAMES)
def test_no_more_than_the_stated_epsilon_can_be_proved_and_nearly_all_of_it(
    device: Device, collector: Collector, name: str
) -> None:
    stated = GAMES[name].randomizer
    computed, least, proved = play(device, collector, GAMES[name])
    assert computed == pytest.approx(stated.epsilon, rel=1e-12)
    assert 0.6 * stated.epsilon < least < proved <= stated.epsilon


@pytest.mark.parametrize("name", ["krr of 2", "subset of 5", "sue", "laplace", "exponential"])
def test_audit_proves_more_epsilon_of_a_device_that_spends_a_quarter_more(
    device: Device, collector: Collector, name: str
) -> None:
    wasteful = GAMES[name].spending(Fraction(GAMES[name].epsilon) * Fraction(5, 4))
    *_, proved = play(device, collector, GAMES[name], wasteful)
    assert proved > GAMES[name].randomizer.epsilon


def test_audit_proves_more_epsilon_of_a_device_that_sends_answers(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    honest = "const draw = below(window.total(c), words);"
    leak = f"if (words.next() % 9 === 0) return symbol;\n  {honest}"
    served = serve_client(("channels.js", honest, leak))
    assert play(device, served, GAMES["krr of 2"])[-1] > GAMES["krr of 2"].randomizer.epsilon
