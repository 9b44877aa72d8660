"""Pictures are well-formed, have no style or script, and have words for everything drawn."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from analysis.charts import (
    Bar,
    Mark,
    Series,
    bar_of,
    chart,
    dot_plot,
    icon_array,
    line_chart,
    point_chart,
)
from analysis.charts.picture import COLORS, FONT, WIDTH, Axis, numbers
from analysis.estimate.estimates import Estimate

HOSTILE = 'Meat & "more" <script>alert(1)</script>'

LINES = [
    Series("sum", [(wave, 5.0 * wave) for wave in range(1, 7)]),
    Series("advanced <b>", [(wave, 9 * wave**0.5) for wave in range(1, 7)]),
    Series("Rényi", [(1, None), (2, 6.0), (3, None), (4, 15.0), (5, 19.9), (6, 24.0)]),
    Series("convolution", [(wave, 4.1 * wave**0.9) for wave in range(1, 7)]),
    Series("zCDP", [(wave, 4.0 * wave**0.9) for wave in range(1, 7)]),
]


def estimate(middle: float | None, n_eff: float | None) -> Estimate:
    return Estimate(
        question="q",
        kind="choice",
        term="t",
        label="a",
        estimate=middle,
        std_error=0.1,
        conf_low=0.25,
        conf_high=0.7,
        conf_level=0.95,
        conf_method="m",
        n=100,
        n_eff=n_eff,
        epsilon=1.0,
        mechanism="krr",
        flag="",
    )


VALUES = [0.3 + 0.002 * math.sin(place) * place for place in range(90)]

BARS = [
    Bar(HOSTILE, 0.5, 0.25, 1.2, 0.95),
    Bar("b", None, 0, 1, 0.95),
    Bar("c", -0.2, 0.0, 0.1, 0.95, (0.0, 0.05)),
]

DRAWN: dict[str, Callable[[str], str]] = {
    "lines": lambda title: line_chart(
        title, LINES, "waves", "ε", marks=[Mark(HOSTILE, y=12), Mark("now", x=3.0)]
    ),
    "logarithmic lines": lambda title: line_chart(
        title,
        [Series(HOSTILE, [(n, n**-0.5) for n in (100, 1000, 20000)])],
        "n",
        "half-width",
        log_x=True,
        log_y=True,
        y_unit="%",
        marks=[Mark("n = 1,500", x=1500)],
    ),
    "dots": lambda title: dot_plot(title, VALUES, 0.3, (0.28, 0.32), HOSTILE, "%"),
    "estimates": lambda title: chart(title, BARS, 0, 1, "%"),
    "dots of estimates": lambda title: chart(title, BARS, 0, 1, "people", dots=True),
    "people": lambda title: icon_array(title, Fraction(73, 100)),
}
every_picture = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


@every_picture
def test_a_picture_is_described_and_has_no_style_or_script(draw: Callable[[str], str]) -> None:
    picture = draw(HOSTILE)
    root = ET.fromstring(picture)
    assert root.attrib["role"] == "img"
    title, description, *rest = root
    assert (_tag(title), _tag(description)) == ("title", "desc")
    assert title.text == HOSTILE
    assert description.text
    allowed = {"line", "text", "path", "circle", "rect"}
    assert {_tag(element) for element in rest} <= allowed
    for element in root.iter():
        names = {name.lower() for name in element.attrib}
        assert not names & {"style", "class", "href", "id"}
        assert not any(name.startswith("on") for name in names)
        assert "url(" not in " ".join(element.attrib.values())
    assert "nan" not in picture.replace("nance", "")
    assert "inf" not in picture


@every_picture
def test_texts_are_of_12_pixels_on_a_phone(draw: Callable[[str], str]) -> None:
    root = ET.fromstring(draw("t"))
    width, height = _size(root)
    # A page of 360 pixels leaves 328 to a picture; no text is smaller than the picture's own size.
    assert FONT * 328 / WIDTH >= 12
    assert width <= WIDTH
    for element in root.iter():
        assert "font-size" not in element.attrib or element is root
        if _tag(element) == "text":
            assert 0 <= _place(element.attrib["x"]) <= width
            assert 0 < float(element.attrib["y"]) <= height


@every_picture
def test_all_is_drawn_within_the_picture(draw: Callable[[str], str]) -> None:
    root = ET.fromstring(draw("t"))
    width, height = _size(root)
    for element in root.iter():
        for name, limit in {
            "x1": width,
            "x2": width,
            "cx": width,
            "y1": height,
            "cy": height,
        }.items():
            assert 0 <= _place(element.attrib.get(name, "0")) <= limit


def test_the_even_odds_are_within_the_interval_and_sampling_within_both() -> None:
    bar = bar_of(estimate(0.5, 25.0), 0, 1)
    assert bar.at(0.025) == pytest.approx(0.25)
    assert bar.at(0.975) == pytest.approx(0.7)
    # Half of it, by the tables of the normal law: .6745 of 1.96 standard errors.
    assert bar.at(0.75) == pytest.approx(0.5 + 0.2 * 0.6745 / 1.96, abs=1e-4)
    # 25 people asked directly are as precise as these 100, and asking all would give half the
    # error.
    assert bar.direct == pytest.approx((0.5 - 1.96 * 0.05, 0.5 + 1.96 * 0.05), abs=1e-4)
    assert bar_of(estimate(0.5, None), 0, 1).direct is None
    assert bar_of(estimate(None, 25.0), 0, 1).direct is None


def test_each_dot_is_a_twentieth() -> None:
    root = ET.fromstring(chart("t", BARS[:1], 0, 1, dots=True))
    assert sum(_tag(one) == "circle" for one in root.iter()) == 20


def _size(root: ET.Element) -> tuple[float, float]:
    """Return the width and height; the width of a fluid picture is 100 percent."""
    if "viewBox" not in root.attrib:
        assert root.attrib["width"] == "100%"
        return 100.0, float(root.attrib["height"])
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    return width, height


def _place(value: str) -> float:
    return float(value.removesuffix("%"))


def _contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2."""

    def luminance(color: str) -> float:
        parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#161b22"])
@pytest.mark.parametrize("color", COLORS)
def test_colors_are_seen_on_white_and_in_the_dark(color: str, page: str) -> None:
    assert _contrast(color, page) >= 3


def _end_labels(picture: str) -> dict[str, tuple[float, float]]:
    texts = [element for element in ET.fromstring(picture).iter() if _tag(element) == "text"]
    names = [one for one in texts if one.attrib["text-anchor"] == "start"]
    return {
        str(one.text): (float(one.attrib["x"]), float(one.attrib["y"])) for one in names if one.text
    }


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 30.0])
def test_names_at_the_ends_do_not_overlap(spread: float) -> None:
    series = [Series(f"series {place}", [(1, 1.0), (2, 50 + spread * place)]) for place in range(6)]
    labels = _end_labels(line_chart("t", series, "x", "y", marks=[Mark("cap", y=50.0)]))
    heights = sorted(y for name, (_, y) in labels.items() if name.startswith(("series", "cap")))
    assert len(heights) == 7
    gaps = [after - before for before, after in pairwise(heights)]
    assert min(gaps) >= FONT + 1.9


def test_names_stand_in_the_order_of_the_curves_ends() -> None:
    labels = _end_labels(DRAWN["lines"]("t"))
    order = sorted((y, name) for name, (_, y) in labels.items())
    found = [name for _, name in order if name in {"sum", "Rényi", "convolution", "zCDP"}]
    # The ends are: sum 30, Rényi 24, convolution 20.6, zCDP 20.1.
    assert found == ["sum", "Rényi", "convolution", "zCDP"]


def test_curves_are_distinguished_by_dashes() -> None:
    paths = [one for one in ET.fromstring(DRAWN["lines"]("t")).iter() if _tag(one) == "path"]
    dashes = {one.attrib["stroke"]: one.attrib.get("stroke-dasharray", "") for one in paths}
    assert len(set(dashes.values())) == len(dashes) == len(LINES)


def test_no_line_is_drawn_where_nothing_is_known() -> None:
    picture = line_chart("t", [LINES[2]], "x", "y")
    paths = [one.attrib["d"] for one in ET.fromstring(picture).iter() if _tag(one) == "path"]
    assert [path.count("L") for path in paths] == [1, 2]
    assert "2: 6, 4: 15, 5: 19.9, 6: 24" in picture


def test_a_curve_that_is_alone_needs_no_name_and_fills_the_picture() -> None:
    points = [(1_000.0, 0.5), (32_000.0, 0.1)]
    ends = {}
    for name in ("", "a question"):
        root = ET.fromstring(line_chart("t", [Series(name, points)], "x", "y", log_x=True))
        path = next(one.attrib["d"] for one in root.iter() if _tag(one) == "path")
        ends[name] = float(path.rsplit("L")[-1].split()[0])
        told = next(str(one.text) for one in root.iter() if _tag(one) == "desc")
        assert told == f"{name}: " * bool(name) + "1,000: 0.5, 32k: 0.1"
    assert ends["a question"] + 50 < ends[""] < WIDTH


def test_thousands_are_short_in_all_numbers_of_an_axis_or_in_none() -> None:
    assert numbers([1_000, 2_000, 5_000]) == ["1,000", "2,000", "5,000"]
    assert numbers([500, 1_000, 20_000, 3e6]) == ["500", "1k", "20k", "3M"]
    assert numbers([0.05, 0.5], "%") == ["5 %", "50 %"]


def test_a_logarithmic_axis_makes_ratios_equally_long() -> None:
    axis = Axis.around([1.0, 100.0], 0, 200, log=True)
    assert axis(10) == pytest.approx(100)
    assert axis.ticks == pytest.approx([1, 3, 10, 30, 100])
    assert Axis.around([1.0, 9.0], 0, 80, zero=True)(0) == 0


def test_whole_values_have_whole_ticks() -> None:
    assert Axis.around([1.0, 2.0], 0, 1, tight=True).ticks == [1, 2]
    assert Axis.around([1.0, 12.0], 0, 1, tight=True).ticks == [2, 4, 6, 8, 10, 12]


@pytest.mark.parametrize(("low", "high"), [(1e-6, 1e6), (0.011, 0.012), (3, 3.5), (0, 1e-9)])
@pytest.mark.parametrize("log", [False, True])
def test_an_axis_has_from_two_to_eight_ticks_within_it(low: float, high: float, log: bool) -> None:
    axis = Axis.around([low or 1e-12, high], 0, 1, log=log)
    assert 2 <= len(axis.ticks) <= 8
    assert all(axis.low * 0.998 <= tick <= axis.high * 1.002 for tick in axis.ticks)


@pytest.mark.parametrize(
    ("series", "log", "message"),
    [
        ([], False, "series must be 1 to 6, got 0"),
        ([Series("a", [(1, 1.0)])] * 7, False, "series must be 1 to 6, got 7"),
        ([Series("a", [(1, None)])], False, 'series "a" must have a point'),
        ([Series("a", [(1, math.nan)])], False, "axis must have finite numbers, got nan"),
        ([Series("a", [(math.inf, 1.0)])], False, "axis must have finite numbers, got inf"),
        ([Series("a", [(0, 1.0)])], True, "axis must have numbers above 0, got 0"),
    ],
)
def test_curves_that_cannot_be_drawn_are_refused(series: Any, log: bool, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        line_chart("t", series, "x", "y", log_x=log)


@pytest.mark.parametrize(("place", "got"), [({}, "neither"), ({"x": 1.0, "y": 2.0}, "both")])
def test_a_mark_has_one_place(place: dict[str, float], got: str) -> None:
    with pytest.raises(ValueError, match=f'mark "m" must have an x or a y, got {got}'):
        Mark("m", **place)


def test_marks_are_lines_across_or_upright() -> None:
    series = [Series("a", [(1, 2.0), (3, 4.0)])]
    picture = line_chart("t", series, "x", "y", marks=[Mark("cap", y=3.0), Mark("now", x=2.0)])
    assert "cap: 3; now: 2</desc>" in picture
    lines = [one.attrib for one in ET.fromstring(picture).iter() if _tag(one) == "line"]
    bold = [one for one in lines if one["stroke-opacity"] == "0.9"]
    assert [one["y1"] == one["y2"] for one in bold] == [True, False]
    assert [one["x1"] == one["x2"] for one in bold] == [False, True]


def test_intervals_and_estimates_stand_at_their_values() -> None:
    root = ET.fromstring(DRAWN["estimates"]("t"))
    outer = [one.attrib for one in root.iter() if one.attrib.get("fill-opacity") == "0.35"]
    dots = [one.attrib for one in root.iter() if _tag(one) == "circle"]

    def at(value: float) -> float:
        # The axis goes from the least estimate, -.2, to 1, between 4 and 96 percent of the width.
        return 4 + 92 * (min(value, 1) + 0.2) / 1.2

    ends = [(bar.conf_low, bar.conf_high) for bar in BARS]
    for drawn, (low, high) in zip(outer, ends, strict=True):
        assert _place(drawn["x"]) == pytest.approx(at(low), abs=0.01)
        assert _place(drawn["width"]) == pytest.approx(at(high) - at(low), abs=0.01)
    assert [_place(dot["cx"]) for dot in dots] == pytest.approx([at(0.5), at(-0.2)], abs=0.01)
    assert "cannot be estimated, 0.0 % to 100.0 %" in DRAWN["estimates"]("t")


@pytest.mark.parametrize(("n", "dots"), [(1, 1), (90, 90), (100, 100), (101, 100), (5000, 100)])
def test_dots_are_estimates_or_hundredths_of_them(n: int, dots: int) -> None:
    values = [math.sin(place) for place in range(n)]
    picture = dot_plot("t", values, 0.0, (-0.1, 0.1), "x")
    # The legend has one more.
    assert picture.count("<circle") == dots + 1
    assert ("1 in 100" in picture) is (n > 100)
    assert f"{n} estimates from" in picture


def test_the_truth_and_the_plain_interval_stand_where_they_should() -> None:
    root = ET.fromstring(dot_plot("t", [0.0, 1.0], 0.5, (0.25, 0.75), "x"))
    band = next(one for one in root.iter() if _tag(one) == "rect")
    left, width = float(band.attrib["x"]), float(band.attrib["width"])
    truth = next(
        float(one.attrib["x1"])
        for one in root.iter()
        if _tag(one) == "line" and one.attrib["x1"] == one.attrib["x2"]
    )
    assert truth == pytest.approx(left + width / 2)
    # Half of an axis from 0 to 1.
    assert width == pytest.approx((WIDTH - 36) / 2)


def test_equal_estimates_are_stacked_in_the_picture() -> None:
    root = ET.fromstring(dot_plot("t", [2.0] * 100, 2.0, (2.0, 2.0), "x"))
    heights = [float(one.attrib["cy"]) for one in root.iter() if _tag(one) == "circle"]
    assert min(heights) > 0


@pytest.mark.parametrize(
    ("values", "truth", "plain", "message"),
    [
        ([], 0, (0, 1), "values must be at least one"),
        ([math.nan], 0, (0, 1), "finite numbers, got nan"),
        ([1], math.inf, (0, 1), "finite numbers, got inf"),
        ([1], 0, (1, 0), "plain must be a low and a high end, got 1 and 0"),
        ([1], 0, (math.nan, 0), "plain must be"),
    ],
)
def test_dots_that_cannot_be_drawn_are_refused(
    values: Any, truth: Any, plain: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        dot_plot("t", values, truth, plain, "x")


@pytest.mark.parametrize(
    ("chance", "filled"),
    [(0, 0), (1, 100), (Fraction(3, 4), 75), (0.731, 73), (1e-6, 1), (1 - 1e-6, 99), (0.995, 99)],
)
def test_as_many_people_are_filled_as_the_sentence_says(chance: Any, filled: int) -> None:
    picture = icon_array("t", chance)
    assert f"{filled} of 100 people are filled" in picture
    paths = [one for one in ET.fromstring(picture).iter() if _tag(one) == "path"]
    # Each person has two outlines.
    people = {one.attrib["fill"]: one.attrib["d"].count("M") // 2 for one in paths}
    assert people.pop("none", 0) == 100 - filled
    assert sum(people.values()) == filled


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, True])
def test_impossible_probabilities_make_no_picture_of_people(bad: Any) -> None:
    with pytest.raises(ValueError, match="chance must be a number from 0 to 1"):
        icon_array("t", bad)


def test_long_names_of_points_break_into_lines_of_their_own() -> None:
    name = "2020 Census Demographic and Housing Characteristics, person tables"
    note = "local randomizer; user-day metric report, of every metric together"
    drawn = point_chart("t", [(name, note, 2.0), ("b", "c", 8.0)], "x", ("mark", 4.0))
    texts = re.findall(r'<text x="0.0" y="([\d.]+)"[^>]*>([^<]+)', drawn)
    assert " ".join(words for _, words in texts) == f"{name} {note} b c"
    heights = [float(y) for y, _ in texts]
    assert all(below - above > FONT for above, below in pairwise(heights))
