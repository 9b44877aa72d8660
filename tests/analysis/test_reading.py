"""Reports are read by columns as they were sent, the inverse of drawing many at once."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.channels import Channel
from analysis.core.channels.bits import Bits
from analysis.core.channels.subset import Subset
from analysis.core.reports import Reports
from analysis.core.words import seeded_block, seeded_words

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases
import test_channels as channels


@channels.every_law
def test_reports_are_read_as_they_were_sent(channel: Channel) -> None:
    symbols = channels.symbols_of(channel)
    laws_of = [dict(channel.distribution(symbol)) for symbol in symbols]
    reports = list(laws_of[0])
    read = channel.read_many([laws.sent(report) for report in reports])
    counted: dict[int, set[int]] = {place: set() for place in range(len(reports))}
    for place, symbol in zip(*(part.tolist() for part in channel.entries(read)), strict=True):
        counted[place].add(symbol)
    own = [set(laws.counted(channel, laws.sent(report))) for report in reports]
    assert list(counted.values()) == own
    sizes = channel.sizes_many(read)
    assert (sizes is None) == (channel.size_chances(1) is None)
    assert sizes is None or sizes.tolist() == [len(one) for one in own]
    logs = channel.log_chances(read, symbols)
    exact = [[float(law[report]) for law in laws_of] for report in reports]
    np.testing.assert_allclose(np.exp(logs), exact, rtol=1e-12)
    single = [one for one in symbols if not channel.takes_bits or len(one) == 1]
    places = [one[0] if channel.takes_bits else one for one in single]
    held = channel.holds_many(read, single)
    assert held.tolist() == [[place in one for place in places] for one in own]


@pytest.mark.parametrize(
    "channel", [one for one in channels.SAMPLES if one.gives_one_symbol], ids=str
)
def test_the_table_of_a_channel_is_its_distribution(channel: Any) -> None:
    exact = [
        [float(dict(channel.distribution(symbol))[report]) for report in range(channel.symbols)]
        for symbol in range(channel.inputs)
    ]
    np.testing.assert_allclose(channel.chances(), exact, rtol=1e-15)


@channels.every_law
def test_a_tally_shows_which_reports_came_if_each_counts_for_one_symbol(channel: Any) -> None:
    reports = [
        laws.sent(report) for report, _ in channel.distribution(channels.symbols_of(channel)[0])
    ]
    counted = [list(laws.counted(channel, report)) for report in reports]
    one_symbol = all(len(symbols) == 1 for symbols in counted)
    known = {symbol: channel.report_of(symbol) for symbol in range(channel.symbols)}
    if one_symbol:
        assert known == {symbol: r for (symbol,), r in zip(counted, reports, strict=True)}
    else:
        assert None in known.values()
        for symbol, report in known.items():
            assert report is None or counted[reports.index(report)] == [symbol]


@pytest.mark.parametrize(
    "channel", [*(Bits(n, 3, 1, 4) for n in range(1, 80)), Bits(4096, 3, 1, 4), Subset(70, 9, 3, 1)]
)
def test_drawn_reports_are_read_back_after_sending(channel: Any) -> None:
    symbol = (0,) if channel.takes_bits else 0
    reports = channel.randomize_many(channels.repeated(channel, symbol, 20), seeded_block("read"))
    texts = laws.wire(channel, reports)
    for report in texts:
        channel.check_report(report, "reports.q")
    np.testing.assert_array_equal(channel.read_many(texts), reports)
    assert channel.read_many([]).shape == (0, reports.shape[1])


@cases.every_case
def test_columns_of_reports_add_up_to_what_single_reports_count_for(
    mechanism: str, question: dict[str, Any]
) -> None:
    (asked,) = cases.survey_of(mechanism, question).questions
    randomizer = asked.randomizer
    assert hash(randomizer) == hash(replace(randomizer))  # caches keep what it makes
    words = seeded_words("columns", mechanism, repr(question))
    values = list(laws.values_of(asked.domain))
    sent = [randomizer.randomize(values[row % len(values)], words) for row in range(60)]
    expected = np.zeros(randomizer.shape, dtype=np.int64)
    for report in sent:
        of_cohort = isinstance(report, dict)
        drawn = report["report"] if of_cohort else report
        for symbol in laws.counted(randomizer.channel, drawn):
            expected[report["cohort"] if of_cohort else 0, symbol] += 1
    read = randomizer.read_many(sent)
    np.testing.assert_array_equal(randomizer.tally_many(read), expected)
    cohorts, symbols, counts = randomizer.cells_many(read)
    assert counts.tolist() == expected[cohorts, symbols].tolist()
    assert int(counts.sum()) == int(expected.sum())
    halves = [randomizer.read_many(sent[:30]), randomizer.read_many(sent[30:])]
    joined = randomizer.joined(halves)
    np.testing.assert_array_equal(joined.drawn, read.drawn)
    np.testing.assert_array_equal(joined.cohorts, read.cohorts)
    kinds, codes = read.distinct()
    again: Reports = kinds.of(codes)
    np.testing.assert_array_equal(again.drawn, read.drawn)
    np.testing.assert_array_equal(again.cohorts, read.cohorts)
    assert len(kinds.cohorts) == len({repr(report) for report in sent})


@pytest.mark.parametrize("options", [1, 2])
def test_reports_of_few_cohorts_are_counted_in_their_own(options: int) -> None:
    question = {"kind": "choices", "options": cases.options(options), "no_answer": True}
    asked = cases.asked("pick", question | {"at_most": options})
    randomizer, words = asked.randomizer, seeded_words("cohorts")
    assert randomizer.shape[0] == options + 1
    values = list(laws.values_of(asked.domain))
    read = randomizer.read_many(
        [randomizer.randomize(values[row % len(values)], words) for row in range(40)]
    )
    cohorts, symbols, counts = randomizer.cells_many(read)
    tally = np.zeros(randomizer.shape, dtype=np.int64)
    tally[cohorts, symbols] = counts
    np.testing.assert_array_equal(tally, randomizer.tally_many(read))
    assert (tally.sum(axis=1) == np.bincount(read.cohorts)).all()


@pytest.mark.parametrize("cohorts", [256, 257])
def test_as_many_cohorts_are_drawn_as_there_are(cohorts: int) -> None:
    question = {"kind": "text", "longest": 8, "no_answer": False, "candidates": ["a", "b"]}
    asked = cases.asked("hashed-krr", question)
    encoder = replace(asked.randomizer.encoder, functions=cohorts)
    randomizer = replace(asked.randomizer, encoder=encoder)
    read = randomizer.randomize_many(np.array(["a"] * 9000), seeded_block("many", str(cohorts)))
    # The probability that one of them is drawn nowhere is below 257 (1 - 1/257)^9000 = 1.5e-13.
    assert set(read.cohorts.tolist()) == set(range(cohorts))
