"""Pictures of a hundred people: the filled areas are as large as the counts."""

import re
from fractions import Fraction
from itertools import pairwise

import pytest

from analysis.charts import icon_patterns, small_icon_array


def _cells(path: str) -> float:
    """Return the area of a path of straight lines along the axes, in cells of 16 × 16."""
    corners, x, y = [], 0, 0
    for letter, numbers in re.findall(r"([MHVv])([\d ]+)", path):
        values = [int(one) for one in numbers.split()]
        if letter == "M":
            x, y = values
        elif letter == "H":
            x = values[0]
        else:
            y = values[0] + (y if letter == "v" else 0)
        corners.append((x, y))
    around = pairwise([*corners, corners[0]])
    return abs(sum(a * d - c * b for (a, b), (c, d) in around)) / 2 / 256


@pytest.mark.parametrize(
    ("chance", "count"),
    [
        (Fraction(0), 0),
        (Fraction(1, 1000), 1),
        (Fraction(73, 100), 73),
        (Fraction(1, 10), 10),
        (Fraction(9, 10), 90),
        (Fraction(999, 1000), 99),
        (Fraction(1), 100),
        (0.005, 1),
    ],
)
def test_as_many_cells_are_filled_as_people_do(chance: Fraction, count: int) -> None:
    areas = dict.fromkeys(("did", "did-not"), 0.0)
    for path, name in re.findall(r'<path d="([^"]+)" fill="url\(#([\w-]+)\)"/>', _array(chance)):
        areas[name] += _cells(path)
    assert areas == {"did": count, "did-not": 100 - count}


def _array(chance: Fraction | float) -> str:
    array = small_icon_array(chance)
    assert array.startswith("<svg ")
    assert 'aria-hidden="true"' in array
    assert len(array) < 250
    return array


def test_both_patterns_are_there_once_in_the_color_of_the_text() -> None:
    patterns = icon_patterns()
    assert re.findall(r'<pattern id="([\w-]+)"', patterns) == ["did", "did-not"]
    assert patterns.count("currentColor") == 2
    assert "style" not in patterns


@pytest.mark.parametrize("bad", [-0.1, 1.1, True, float("nan")])
def test_impossible_probabilities_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="chance must be a number from 0 to 1, got "):
        small_icon_array(bad)
