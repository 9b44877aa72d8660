"""Exact laws: what a randomizer reports for each value of a domain, as sums of fractions."""

import string
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels import Channel
from analysis.core.channels.set_reports import SetReports
from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets
from analysis.core.randomizer import Randomizer

#: The digits of base64url.
BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
#: For each (cohort, report), its probability.
Law = dict[tuple[int, Any], Fraction]


def values_of(domain: Domain) -> Iterator[Any]:
    """Return every value of a domain; numbers on no grid are left out: see `law`."""
    if isinstance(domain, Categories):
        yield from range(len(domain.ids))
        return
    if isinstance(domain, Sets):
        for ticked in product((0, 1), repeat=len(domain.options)):
            if sum(ticked) <= domain.at_most:
                yield (*ticked, int(not any(ticked)))
    elif isinstance(domain, Rankings):
        for order in permutations(range(len(domain.items))):
            pairs = [(a, b) for a in range(len(order)) for b in range(a + 1, len(order))]
            yield tuple(int(order.index(a) < order.index(b)) for a, b in pairs)
    else:
        yield from (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(5, 7), Fraction(1))
    if domain.no_answer:
        yield None


@lru_cache(maxsize=4096)
def _channel_law(channel: Any, symbol: Any) -> tuple[tuple[Any, Fraction], ...]:
    return tuple(channel.distribution(symbol))


def law(randomizer: Randomizer[Any, Any], value: Any) -> Law:
    """Return the exact law of the report of a value, cohort and rounding included."""
    encoder, cohorts = randomizer.encoder, randomizer.encoder.cohorts or 1
    found: Law = {}
    for cohort in range(cohorts):
        for symbol, weight in _inputs(encoder, value, cohort):
            for report, chance in _channel_law(randomizer.channel, symbol):
                key = cohort, report
                found[key] = found.get(key, Fraction(0)) + weight * chance / cohorts
    return found


def _inputs(encoder: Any, value: Any, cohort: int) -> list[tuple[Any, Fraction]]:
    if encoder.name != "grid" or value is None:
        return [(encoder.encode(value, cohort, iter(())), Fraction(1))]
    low, part = divmod(value * encoder.steps, 1)
    return [(int(low), 1 - part)] + [(int(low) + 1, part)] * (part > 0)


def inputs_of(randomizer: Randomizer[Any, Any], domain: Domain) -> list[Any]:
    """Return every input that the channel can get."""
    if isinstance(domain, Numbers):
        points: list[Any] = list(range(randomizer.encoder.steps + 1))
        return points + [randomizer.channel.inputs - 1] * domain.no_answer
    cohorts = range(randomizer.encoder.cohorts or 1)
    return sorted(
        {randomizer.encoder.encode(v, c, iter(())) for v in values_of(domain) for c in cohorts}
    )


def counted(channel: Any, report: Any) -> tuple[int, ...]:
    """Return the symbols that a report counts for, read from its text by the protocol alone."""
    if isinstance(report, int):
        return (report,)
    if not isinstance(report, str):
        # An empty set means that the person was not asked, which is the last symbol.
        return tuple(report) or (channel.inputs,)
    digits = "".join(f"{BASE64.index(character):06b}" for character in report)
    return (*(place for place, digit in enumerate(digits) if digit == "1"), channel.inputs)


def tally(randomizer: Randomizer[Any, Any], key: tuple[int, Any]) -> NDArray[np.int64]:
    """Return the tally of one report."""
    cohort, report = key
    counts = np.zeros(randomizer.shape, dtype=np.int64)
    for symbol in counted(randomizer.channel, sent(report)):
        counts[cohort, symbol] += 1
    return counts


def expected(law: Law, score: Any) -> Fraction:
    """Return the expectation of a score of (cohort, report)."""
    return sum((chance * score(key) for key, chance in law.items()), Fraction(0))


def truth(domain: Domain, value: Any, term: str) -> Fraction:
    """Return a quantity of one respondent: an indicator, a place in 0..1, or a rank's place."""
    if term == NO_ANSWER and not isinstance(domain, Categories):
        return Fraction(value is None)
    if isinstance(domain, Categories) and domain.aims and term == "mean":
        if value >= len(domain.scores):
            return Fraction(0)
        low, high = min(domain.scores), max(domain.scores)
        score: Fraction = domain.scores[value]
        return (score - low) / (high - low)
    if isinstance(domain, Categories):
        return Fraction(domain.ids[value] == term)
    if value is None:
        return Fraction(0)
    if isinstance(domain, Numbers):
        return Fraction(value)
    if isinstance(domain, Sets):
        return Fraction(value[domain.flags.index(term)])
    assert isinstance(domain, Rankings)
    pairs = dict(zip(domain.flags, value, strict=True))
    if ">" in term:
        first, second = term.split(">")
        return Fraction(pairs[first, second])
    ahead = sum(flag if b == term else 1 - flag for (a, b), flag in pairs.items() if term in (a, b))
    return Fraction(ahead, len(domain.items) - 1)


def answered(domain: Domain, value: Any) -> bool:
    """Return whether a value is an answer."""
    if isinstance(domain, Categories):
        return bool(domain.ids[value] != NO_ANSWER)
    return value is not None


def sent(report: Any) -> Any:
    """Return a report as it is sent: sets are lists."""
    return list(report) if isinstance(report, tuple) else report


def wire(channel: Channel, packed: NDArray[np.uint64]) -> list[Any]:
    """Return packed reports as devices send them, each made with plain Python."""
    found: list[Any] = []
    for row in packed.tolist():
        flags = [row[place // 64] >> place % 64 & 1 for place in range(channel.inputs)]
        if isinstance(channel, SetReports):
            found.append([place for place, flag in enumerate(flags) if flag])
            continue
        text = "".join(map(str, flags))
        text = text.ljust(-(-len(text) // 8) * 8, "0")
        text = text.ljust(-(-len(text) // 6) * 6, "0")
        found.append("".join(BASE64[int(text[i : i + 6], 2)] for i in range(0, len(text), 6)))
    return found
