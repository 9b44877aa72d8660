"""The contract of every channel: ratio, probabilities and draws are the stated ones."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from analysis.core.channels import CHANNELS, Channel
from analysis.core.channels.bits import Bits
from analysis.core.channels.joint_bits import JointBits
from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.encoders.categories import Onehot
from analysis.core.encoders.several import Multihot
from analysis.core.errors import ReportError
from analysis.core.packed import pack
from analysis.core.words import WORD, seeded_block

sys.path.insert(0, str(Path(__file__).parent))
import laws

#: Weights so small that all paths of draws can be counted.
SAMPLES: list[Any] = [
    Window(2, 1, 3, 1),
    Window(5, 1, 7, 2),
    Window(6, 3, 5, 2),
    Window(4, 2, 1, 3),
    Subset(4, 1, 3, 1),
    Subset(4, 2, 3, 1),
    Subset(5, 2, 2, 5),
    Subset(3, 2, 1, 1),
    Overlap(4, 2, 1, (1, 3)),
    Overlap(5, 2, 3, (1, 4, 2)),
    Overlap(5, 3, 3, (3, 2, 5)),
    Overlap(3, 1, 2, (1, 2)),
    Bits(1, 1, 1, 2),
    Bits(2, 5, 2, 9),
    Bits(3, 3, 1, 4),
    Shift(2, (1, 2, 1)),
    Shift(3, (1, 3, 5, 3, 1)),
    Shift(4, (7, 1, 1, 2, 1, 1, 3)),
    Table(2, ((5, 1), (1, 5))),
    Table(3, ((1, 2, 3), (3, 2, 1), (2, 2, 2))),
    Table(2, ((1, 2, 3, 4), (4, 4, 1, 1))),
    Table(3, ((3, 1), (1, 3), (2, 2))),
]
#: Laws of questions that are drawn together, whose reports are read like those of channels.
LAWS: list[Any] = [
    JointBits(3, Pattern((2,) * 3, (1,) * 3, (40, 9, 8, 5, 11, 3, 2, 4))),
    SampledSubset(4, 1, 5, 2, Fraction(3, 7)),
    SampledSubset(5, 2, 2, 5, Fraction(1, 3)),
]
#: Weights as large as they may be.
LARGE: list[Any] = [
    Window(1260, 259, 9991925, 1352260),
    Shift(3, (2**30, 2**30, 2**30, 2**29, 2**29)),
    Table(2, ((WORD - 1, 1), (2**31, 2**31))),
]
#: The probability that a sound channel fails a test of its many draws with a random seed.
CHANCE = 1e-6
every_sample = pytest.mark.parametrize("channel", SAMPLES, ids=str)
every_law = pytest.mark.parametrize("channel", [*SAMPLES, *LAWS], ids=str)


def symbols_of(channel: Channel) -> list[Any]:
    """Return every input: symbols, or sets of places."""
    places = range(channel.inputs)
    if not channel.takes_bits:
        return list(places)
    sizes = range(channel.inputs + 1) if channel.ones is None else [channel.ones]
    return [ones for size in sizes for ones in combinations(places, size)]


def test_every_channel_has_samples() -> None:
    assert {sample.name for sample in SAMPLES} == set(CHANNELS)
    for channel in (*SAMPLES, *LAWS, *LARGE):
        channel.check()


@every_law
def test_probabilities_sum_to_one(channel: Channel) -> None:
    for symbol in symbols_of(channel):
        assert sum(chance for _, chance in channel.distribution(symbol)) == 1


def largest_ratio(channel: Channel, symbols: list[Any]) -> Fraction:
    """Return the largest ratio of the probabilities of one report, over all pairs of inputs."""
    rows: list[dict[Any, Fraction]] = [dict(channel.distribution(symbol)) for symbol in symbols]
    columns = [[row[report] for row in rows] for report in rows[0]]
    return max((max(column) / min(column) for column in columns), default=Fraction(1))


@pytest.mark.parametrize(
    "channel", [one for one in SAMPLES if not one.takes_bits or one.ones is not None], ids=str
)
def test_ratio_is_the_largest_of_the_exact_channel(channel: Channel) -> None:
    assert channel.ratio() == largest_ratio(channel, symbols_of(channel))


def codewords(encoder: Any) -> list[Any]:
    """Return every input that an encoder gives."""
    if isinstance(encoder, Onehot):
        return [encoder.encode(value, 0, iter(())) for value in range(encoder.inputs)]
    found = []
    for value in [None, *product((0, 1), repeat=encoder.options + 1)]:
        try:
            found.append(encoder.encode(value, 0, iter(())))
        except ValueError:
            continue
    assert len(set(found)) == len(found)
    return found


ENCODERS: list[Any] = [
    *(Onehot(inputs) for inputs in (2, 3, 5)),
    *(
        Multihot(options, at_most, options + extra)
        for options in (1, 2, 3, 4)
        for at_most in range(1, options + 1)
        for extra in (1, 2)
    ),
]


@pytest.mark.parametrize("encoder", ENCODERS, ids=str)
@pytest.mark.parametrize("weights", [(3, 1, 4), (1, 1, 2), (5, 4, 6), (8, 1, 9), (2, 1, 100)])
def test_ratio_of_bits_is_the_largest_over_all_values(
    encoder: Any, weights: tuple[int, int, int]
) -> None:
    channel = Bits(encoder.inputs, *weights)
    assert channel.ratio(encoder.apart) == largest_ratio(channel, codewords(encoder))


@pytest.mark.parametrize(("options", "at_most"), [(7, 2), (7, 3), (7, 4), (7, 6), (7, 7), (6, 3)])
def test_no_two_sets_differ_by_more_than_apart(options: int, at_most: int) -> None:
    encoder = Multihot(options, at_most, options + 1)
    words = [set(word) for word in codewords(encoder)]
    pairs = {(len(one - other), len(other - one)) for one in words for other in words}
    assert set(encoder.apart) <= pairs
    for raised, lowered in ((3, 2), (9, 1), (2, 100)):
        worst = max(raised**more * lowered**fewer for more, fewer in pairs)
        assert worst == max(raised**more * lowered**fewer for more, fewer in encoder.apart)


def all_draws(
    channel: Channel, symbol: Any, monkeypatch: pytest.MonkeyPatch
) -> dict[Any, Fraction]:
    """Return the exact distribution of `randomize`: every path of draws, with its probability."""
    found: defaultdict[Any, Fraction] = defaultdict(Fraction)
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = paths.pop()
        totals: list[int] = []

        def below(total: int, _: Iterator[int], path: Any = path, totals: Any = totals) -> int:
            totals.append(total)
            return path[len(totals) - 1] if len(totals) <= len(path) else 0

        for module in ("words", f"channels.{channel.name}"):
            monkeypatch.setattr(f"analysis.core.{module}.below", below, raising=module == "words")
        report = channel.randomize(symbol, iter(()))
        key = tuple(report) if isinstance(report, list) else report
        found[key] += Fraction(1, int(np.prod(np.array(totals, dtype=object))))
        for depth in range(len(path), len(totals)):
            zeros = (0,) * (depth - len(path))
            paths += [(*path, *zeros, draw) for draw in range(1, totals[depth])]
    return found


@every_sample
def test_draws_have_exactly_the_stated_probabilities(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for symbol in symbols_of(channel):
        assert all_draws(channel, symbol, monkeypatch) == dict(channel.distribution(symbol))


@every_law
def test_every_report_passes_its_own_check_and_is_tallied(channel: Channel) -> None:
    counts = np.zeros(channel.symbols, dtype=np.int64)
    reports = [laws.sent(report) for report, _ in channel.distribution(symbols_of(channel)[0])]
    for report in reports:
        channel.check_report(report, "reports.q")
        for symbol in laws.counted(channel, report):
            counts[symbol] += 1
    assert channel.reports_in(counts) == len(reports)
    channel.check_report(channel.longest(), "reports.q")


@every_law
def test_moments_are_those_of_the_distribution(channel: Channel) -> None:
    for symbol in symbols_of(channel):
        mean = np.zeros(channel.symbols)
        second = np.zeros((channel.symbols, channel.symbols))
        for report, chance in channel.distribution(symbol):
            counted = np.bincount(
                laws.counted(channel, laws.sent(report)), minlength=channel.symbols
            )
            mean += float(chance) * counted
            second += float(chance) * np.outer(counted, counted)
        stated = channel.moments(symbol)
        np.testing.assert_allclose(stated[0], mean, rtol=1e-12)
        np.testing.assert_allclose(stated[1], second, rtol=1e-12, atol=1e-15)
        low, high = channel.bounds()
        assert (low - 1e-12 <= mean).all()
        assert (mean <= high + 1e-12).all()


def repeated(channel: Channel, symbol: Any, n: int) -> NDArray[Any]:
    """Return the same input many times, in the form that `randomize_many` takes."""
    if not channel.takes_bits:
        return np.full(n, symbol)
    flags = np.isin(np.arange(channel.inputs), symbol)
    return np.repeat(pack(flags[None, :]), n, axis=0)


@pytest.mark.parametrize(
    "channel", [sample for sample in SAMPLES if isinstance(sample, OneSymbol)], ids=str
)
def test_many_draws_take_each_word_as_a_single_draw_does(channel: Any) -> None:
    for symbol in range(channel.inputs):
        row = channel.weights(symbol)
        every = np.arange(sum(row), dtype=np.uint32)
        reports = channel.randomize_many(np.full(len(every), symbol), lambda n, every=every: every)
        assert [channel.randomize(symbol, iter([int(word)])) for word in every] == reports.tolist()
        assert channel.count_many(reports).tolist() == row


@pytest.mark.parametrize("channel", LARGE, ids=lambda channel: channel.name)
def test_many_draws_of_large_weights_are_those_of_single_ones(channel: Any) -> None:
    # Below their total every word is its own draw, also words near its ends.
    ends = [0, 1, channel.total - 1, channel.total // 2, channel.total // 2 - 1]
    words = np.concatenate([np.array(ends), seeded_block("large")(2000).astype(np.int64)])
    words = (words % channel.total).astype(np.uint32)
    for symbol in (0, channel.inputs // 2, channel.inputs - 1):
        many = channel.randomize_many(np.full(len(words), symbol), lambda n: words)
        assert many.tolist() == [channel.randomize(symbol, iter([int(word)])) for word in words]


@pytest.mark.parametrize(
    ("channel", "symbol"),
    [
        *((Bits(3, 3, 1, 4), symbol) for symbol in [(), (0,), (1, 2)]),
        *((Bits(2, 5, 5, 9), symbol) for symbol in [(1,)]),
        *((Bits(3, WORD - 1, 1, WORD), symbol) for symbol in [(0, 2)]),
        *((Subset(5, 2, 2, 5), symbol) for symbol in (0, 3)),
        *((Subset(4, 3, 7, 1), symbol) for symbol in (1,)),
        *((Subset(6, 1, 1, 1), symbol) for symbol in (5,)),
        *((Overlap(5, 2, 3, (1, 4, 2)), symbol) for symbol in [(0, 1), (2, 4)]),
        *((Overlap(5, 3, 3, (3, 2, 5)), symbol) for symbol in [(1, 2, 4)]),
        *((LAWS[0], symbol) for symbol in [(), (0,), (1, 2)]),
        *((law, symbol) for law in LAWS[1:] for symbol in (0, 3)),
    ],
    ids=str,
)
def test_many_packed_draws_have_the_stated_distribution(channel: Channel, symbol: Any) -> None:
    # Pearson's test; a report that is expected fewer than 5 times must be rare in fact.
    n = 100_000
    reports = channel.randomize_many(repeated(channel, symbol, n), seeded_block("chi", str(symbol)))
    rows, counts = np.unique(reports, axis=0, return_counts=True)
    drawn = dict(zip(map(str, laws.wire(channel, rows)), counts.tolist(), strict=True))
    statistic, cells = 0.0, 0
    for report, chance in channel.distribution(symbol):
        expected, count = n * float(chance), drawn.pop(str(laws.sent(report)), 0)
        if expected < 5:
            assert count <= 30
            continue
        statistic += (count - expected) ** 2 / expected
        cells += 1
    assert not drawn
    assert statistic <= chi2.isf(CHANCE, max(1, cells - 1))


@pytest.mark.parametrize(
    ("channel", "symbol"),
    [
        (Bits(64, 3, 1, 4), (0, 63)),
        (Bits(65, 700, 300, 1001), (64,)),
        (Bits(200, 2**31, 954437177, WORD), tuple(range(0, 200, 7))),
        (Subset(64, 20, 3, 1), 63),
        (Subset(65, 64, 1, 1), 64),
        (Subset(66, 33, 3, 1), 0),
        (Subset(70, 60, 1, 3), 3),
        (Subset(200, 50, 1500000001, 1200000007), 128),
        (Overlap(70, 3, 9, (5, 3, 2, 7)), (0, 64, 69)),
        (Window(40, 9, 9, 4), 39),
        (Shift(20, tuple(range(1, 40))), 10),
    ],
    ids=str,
)
def test_many_draws_of_many_symbols_have_the_stated_moments(channel: Channel, symbol: Any) -> None:
    # The counts are normal, so their squared distance from the mean, by their covariance, is χ².
    n = 60_000
    reports = channel.randomize_many(repeated(channel, symbol, n), seeded_block("moments"))
    if isinstance(channel, (Subset, Overlap)):
        assert (np.bitwise_count(reports).sum(axis=1) == channel.size).all()
    mean, second = channel.moments(symbol)
    covariance = (second - np.outer(mean, mean)) * n
    distance = channel.count_many(reports) - n * mean
    rank = np.linalg.matrix_rank(covariance, hermitian=True)
    statistic = distance @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ distance
    assert statistic <= chi2.isf(CHANCE, rank)


@pytest.mark.parametrize(
    "channel", [Bits(70, 3, 1, 4), Subset(70, 9, 3, 1), Overlap(70, 2, 9, (5, 3, 7))], ids=str
)
@pytest.mark.parametrize("n", [0, 1, 2, 777])
def test_many_reports_count_as_the_reports_that_are_sent(channel: Any, n: int) -> None:
    symbol = (3, 69) if channel.takes_bits else 69
    reports = channel.randomize_many(repeated(channel, symbol, n), seeded_block("count"))
    counts: NDArray[np.int64] = np.zeros(channel.symbols, dtype=np.int64)
    for report in laws.wire(channel, reports):
        channel.check_report(report, "reports.q")
        counts[list(laws.counted(channel, report))] += 1
    assert channel.count_many(reports).tolist() == counts.tolist()
    assert channel.reports_in(counts) == n


BAD: list[tuple[Any, Any]] = [
    *((Window(3, 1, 3, 1), bad) for bad in (3, -1, 2**63, True, 1.0, "1", None, [1], {"a": 1})),
    *((Subset(4, 2, 3, 1), bad) for bad in (1, [1], [0, 1, 2], [1, 0], [1, 1], [2, 4], [-1, 2])),
    *((Overlap(4, 2, 1, (1, 3)), bad) for bad in (1, [4], [0, 1], [True], [], None, "0")),
    *((Subset(4, 2, 3, 1), bad) for bad in ([0, True], [0, 1.0], [0, "1"], [], None, "01")),
    # For 3 bits, "4A" has 111, then a fourth bit, then a last bit among those that fill up.
    *((Bits(3, 3, 1, 4), bad) for bad in ("8A", "4B", "", "4", "4AA", "4A==", "4A\n", " 4A", "4é")),
    *((Bits(3, 3, 1, 4), bad) for bad in ("+A", "/A", 224, None, ["4A"], [1, 1, 1], True, b"4A")),
    *((Bits(16, 3, 1, 4), bad) for bad in ("AAB", "AAA=", "AAAA", "AA")),
    *((Shift(3, (1, 3, 5, 3, 1)), bad) for bad in (3, -1, False, "0", None, [0])),
    *((Table(2, ((1, 2, 3), (3, 2, 1))), bad) for bad in (3, -1, True, 0.0, None, "", list[int]())),
]


@pytest.mark.parametrize(("channel", "report"), BAD, ids=str)
def test_a_report_that_the_channel_cannot_make_is_refused(channel: Channel, report: Any) -> None:
    expected = r"^reports.q: expected (.*integers? of .*|\d+ bits as \d+ characters of .*), got "
    with pytest.raises(ReportError, match=expected):
        channel.check_report(report, "reports.q")


def test_bits_are_written_as_base64url_with_the_first_bit_highest() -> None:
    kept = Bits(18, WORD - 1, 1, WORD)
    report = kept.randomize((0, 1, 2, 3, 4, 6, 17), iter([1] * 18))
    # 11111010 00000000 01 and six bits to fill up; by sixes these are 62, 32, 1 and 0.
    assert report == "-gBA"
    assert laws.counted(kept, report) == (0, 1, 2, 3, 4, 6, 17, 18)


@pytest.mark.parametrize(
    "channel",
    [
        Window(1, 1, 3, 1),
        Window(2, 1, 2**32, 1),
        Subset(4, 4, 3, 1),
        Subset(4, 2, 2**32, 1),
        Overlap(4, 4, 1, (1, 3)),
        Overlap(4, 2, 4, (1,)),
        Overlap(4, 2, 1, (1, 3, 1)),
        Overlap(4, 2, 1, (1, 2**32)),
        Bits(3, 1, 2, 4),
        Bits(3, 4, 1, 4),
        Bits(3, 3, 1, 2**32 + 1),
        Shift(1, (1,)),
        Shift(2, (1, 1)),
        Shift(2, (1, 1, 1, 1)),
        Shift(2, (1, 2**32 - 1, 1)),
        Table(1, ((1, 1),)),
        Table(2, ((1, 1),)),
        Table(2, ((1, 1), (1, 2))),
        Table(2, ((1, 1), (2,))),
        Table(2, ((2**32, 1), (1, 2**32))),
    ],
    ids=str,
)
def test_impossible_weights_are_refused(channel: Channel) -> None:
    with pytest.raises(ValueError, match=f"^{channel.name}: "):
        channel.check()


def test_chances_of_a_bit_and_of_an_output_are_exact_shares_of_the_weights() -> None:
    bits, window = Bits(2, 5, 2, 9), Window(6, 3, 5, 2)
    assert (bits.p, bits.q) == (Fraction(5, 9), Fraction(2, 9))
    # There are three outputs of weight 5 in the window and five of weight 2 outside: 25 in all.
    assert (window.p, window.q) == (Fraction(1, 5), Fraction(2, 25))
    assert window.width * window.p + (window.inputs - 1) * window.q == 1
