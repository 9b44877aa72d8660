"""Check what channels say about probabilities of counts: extremes, and numbers of symbols."""

import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.window import Window
from analysis.core.encoders.categories import Index

sys.path.insert(0, str(Path(__file__).parent.parent / "vectors"))
sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases
import samples

#: In a window of this width, some outputs belong to every input.
WIDE = [(Index(one), Window(one, width, 5, 2)) for one, width in ((3, 3), (3, 5), (2, 1))]
SMALL = {
    f"{part[1].name}-{place}": part
    for place, part in enumerate([*samples.SAMPLES, *WIDE])
    if part[1].inputs <= 16
}
FEW = {name: part for name, part in SMALL.items() if part[1].symbols <= 10}


@pytest.mark.parametrize(("encoder", "channel"), SMALL.values(), ids=SMALL)
def test_bounds_are_the_extremes_of_all_inputs(encoder: Any, channel: Any) -> None:
    inputs = range(channel.inputs)
    given = [(), *combinations(inputs, 1), tuple(inputs)] if encoder.gives_bits else list(inputs)
    if channel.ones is not None:
        given = list(combinations(inputs, channel.ones))
    means = np.array([channel.moments(one)[0] for one in given])
    least, most = channel.bounds()
    assert least == pytest.approx(means.min(axis=0), rel=1e-12)
    assert most == pytest.approx(means.max(axis=0), rel=1e-12)


@pytest.mark.parametrize(("encoder", "channel"), FEW.values(), ids=FEW)
def test_sizes_of_reports_have_the_stated_law(encoder: Any, channel: Any) -> None:
    for ones in range(1, channel.inputs + 1) if channel.ones is None else [channel.ones]:
        found: Counter[int] = Counter()
        for report, chance in channel.distribution(tuple(range(ones)) if encoder.gives_bits else 0):
            found[len(laws.counted(channel, report))] += chance
        law = channel.size_chances(ones)
        if law is None:
            assert len(found) == 1
        else:
            exact = [float(found[size]) for size in range(channel.symbols + 1)]
            assert law == pytest.approx(exact, rel=1e-12)


@cases.every_case
def test_inputs_of_bits_have_from_one_to_the_stated_number_of_ones(
    mechanism: str, question: dict[str, Any]
) -> None:
    (asked,) = cases.survey_of(mechanism, question).questions
    encoder = asked.randomizer.encoder
    if encoder.gives_bits:
        found = {len(one) for one in laws.inputs_of(asked.randomizer, asked.domain)}
        most = max(max(pair) for pair in encoder.apart)
        assert found == ({encoder.ones} if encoder.ones else set(range(1, most + 1)))
