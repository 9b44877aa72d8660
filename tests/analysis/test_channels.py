"""Contract of every channel: its ratio, its probabilities and its draws are the stated ones."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import analysis.channels.subset
import analysis.channels.window
from analysis.channels import CHANNELS, Channel
from analysis.channels.subset import Subset
from analysis.channels.window import Window
from analysis.errors import ReportError

SAMPLES: list[Any] = [
    Window(2, 1, 3, 1),
    Window(5, 1, 7, 2),
    Window(6, 3, 5, 2),
    Window(4, 2, 1, 3),
    Subset(4, 1, 3, 1),
    Subset(4, 2, 3, 1),
    Subset(5, 2, 2, 5),
    Subset(3, 2, 1, 1),
]
MODULES: dict[str, ModuleType] = {
    "window": analysis.channels.window,
    "subset": analysis.channels.subset,
}


def test_every_channel_has_samples_here() -> None:
    assert {sample.name for sample in SAMPLES} == set(CHANNELS) == set(MODULES)


@pytest.mark.parametrize("channel", SAMPLES, ids=str)
def test_probabilities_sum_to_one(channel: Channel) -> None:
    for symbol in range(channel.inputs):
        assert sum(chance for _, chance in channel.distribution(symbol)) == 1


@pytest.mark.parametrize("channel", SAMPLES, ids=str)
def test_ratio_is_the_largest_of_the_exact_channel(channel: Channel) -> None:
    rows = [dict(channel.distribution(symbol)) for symbol in range(channel.inputs)]
    largest = max(one[report] / other[report] for one in rows for other in rows for report in one)
    assert channel.ratio() == largest


def _all_draws(channel: Channel, symbol: int, monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    """The exact distribution of what `randomize` does: every path of draws, with its chance."""
    found: Counter[Any] = Counter()
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = paths.pop()
        totals: list[int] = []

        def below(total: int, _: Iterator[int], path: Any = path, totals: Any = totals) -> int:
            totals.append(total)
            return path[len(totals) - 1] if len(totals) <= len(path) else 0

        monkeypatch.setattr(MODULES[channel.name], "below", below)
        report = channel.randomize(symbol, iter(()))
        key = tuple(report) if isinstance(report, list) else report
        found[key] += Fraction(1, int(np.prod(np.array(totals, dtype=object))))
        for depth in range(len(path), len(totals)):
            zeros = (0,) * (depth - len(path))
            paths += [(*path, *zeros, draw) for draw in range(1, totals[depth])]
    return found


@pytest.mark.parametrize("channel", SAMPLES, ids=str)
def test_draws_have_exactly_the_stated_probabilities(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for symbol in range(channel.inputs):
        assert _all_draws(channel, symbol, monkeypatch) == dict(channel.distribution(symbol))


@pytest.mark.parametrize("channel", SAMPLES, ids=str)
def test_every_report_passes_its_own_check_and_is_tallied(channel: Channel) -> None:
    counts = np.zeros(channel.symbols, dtype=np.int64)
    reports = [report for report, _ in channel.distribution(0)]
    for report in reports:
        sent = list(report) if isinstance(report, tuple) else report
        channel.check_report(sent, "reports.q")
        for symbol in channel.tallied(sent):
            counts[symbol] += 1
    assert channel.reports_in(counts) == len(reports)
    channel.check_report(channel.longest(), "reports.q")


BAD: list[tuple[Any, Any]] = [
    *((Window(3, 1, 3, 1), bad) for bad in (3, -1, 2**63, True, 1.0, "1", None, [1], {"a": 1})),
    *((Subset(4, 2, 3, 1), bad) for bad in (1, [1], [0, 1, 2], [1, 0], [1, 1], [2, 4], [-1, 2])),
    *((Subset(4, 2, 3, 1), bad) for bad in ([0, True], [0, 1.0], [0, "1"], [], None, "01")),
]


@pytest.mark.parametrize(("channel", "report"), BAD, ids=str)
def test_a_report_that_the_channel_cannot_make_is_refused(channel: Channel, report: Any) -> None:
    with pytest.raises(ReportError, match=r"^reports.q: expected .*integers?.* got "):
        channel.check_report(report, "reports.q")


@pytest.mark.parametrize(
    "channel",
    [
        Window(1, 1, 3, 1),
        Window(2, 0, 3, 1),
        Window(2, 1, 3, 0),
        Window(2, 1, 2**32, 1),
        Subset(4, 4, 3, 1),
        Subset(4, 0, 3, 1),
        Subset(4, 2, 2**32, 1),
        Subset(4, 2, 0, 1),
    ],
    ids=str,
)
def test_weights_that_are_no_channel_are_refused(channel: Channel) -> None:
    with pytest.raises(ValueError, match=channel.name):
        channel.check()
