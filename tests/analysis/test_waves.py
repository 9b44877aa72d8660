"""Check what several waves reveal together, by brute force over all histories."""

import sys
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import exp, log, prod
from pathlib import Path

import pytest

from analysis.core.channels.bits import Bits
from analysis.core.channels.window import Window
from analysis.core.waves import EXACT, SEARCHED, constant_ratio, worst_ratio

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))
import histories

STAGES, bit_stages = histories.STAGES, histories.bit_stages
bits_by_force = histories.bits_by_force

WORD = 2**32
ONEHOT = ((1, 1),)


def _windows(forever: float, once: float, inputs: int) -> tuple[Window, Window]:
    """Return two stages: ε `forever` for all waves of a constant answer, `once` for one report.

    L-GRR (Arcolezi et al., arXiv 2111.04636, 2021), with the law of one report solved exactly.
    """
    own, shown = (exp(one) / (exp(one) + inputs - 1) for one in (forever, once))
    other = (1 - own) / (inputs - 1)
    near = (shown - other) / (own - other)
    found = []
    for chance in (own, near):
        far = int(WORD * (1 - chance) / (inputs - 1))
        found.append(Window(inputs, 1, WORD - (inputs - 1) * far, far))
    return found[0], found[1]


def _unary(forever: float, once: float, inputs: int) -> tuple[Bits, Bits]:
    """Return the same for bits: L-OSUE of Arcolezi et al."""
    a, b = exp(once), exp(forever)
    one = int(WORD * (1 - a * b) / (a - b - a * b + 1))
    permanent = Bits(inputs, WORD // 2, int(WORD / (b + 1)), WORD)
    return permanent, Bits(inputs, one, WORD - one, WORD)


def _kept_symbols(
    permanent: Window, instant: Window, reports: tuple[int, ...], history: tuple[int, ...]
) -> Fraction:
    """Return the probability of the reports, summed over each input's kept symbol."""
    symbols = range(permanent.inputs)
    told = instant.weights
    chance = 1
    for given in set(history):
        waves = [wave for wave, one in enumerate(history) if one == given]
        kept = permanent.weights(given)
        chance *= sum(kept[z] * prod(told(z)[reports[wave]] for wave in waves) for z in symbols)
    return Fraction(chance, permanent.total ** len(set(history)) * instant.total ** len(reports))


def _window_by_force(permanent: Window, instant: Window, waves: int) -> Fraction:
    """Return the largest ratio of any reports under any two histories; waves have no order."""
    symbols = range(permanent.inputs)
    largest = Fraction(1)
    for reports in combinations_with_replacement(symbols, waves):
        chances = [
            _kept_symbols(permanent, instant, reports, history)
            for history in product(symbols, repeat=waves)
        ]
        largest = max(largest, max(chances) / min(chances))
    return largest


SMALL = [
    (Window(2, 1, 3, 1), Window(2, 1, 3, 1), 6),
    (Window(2, 1, 5, 4), Window(2, 1, 30, 1), 5),
    (Window(3, 1, 4, 1), Window(3, 1, 3, 2), 5),
    (Window(3, 1, 3, 2), Window(3, 1, 50, 1), 5),
    (Window(4, 1, 7, 1), Window(4, 1, 5, 1), 4),
    (Window(4, 1, 2, 1), Window(4, 1, 2, 1), 4),
    (Window(4, 1, 3, 2), Window(4, 1, 50, 1), 4),
    (Window(5, 1, 3, 1), Window(5, 1, 9, 1), 3),
    (Window(3, 1, 1, 1), Window(3, 1, 2, 1), 3),
]


@pytest.mark.parametrize(("permanent", "instant", "most"), SMALL)
def test_worst_window_is_that_of_all_histories(
    permanent: Window, instant: Window, most: int
) -> None:
    for waves in range(most + 1):
        expected = _window_by_force(permanent, instant, waves)
        assert worst_ratio(permanent, instant, (), waves) == expected


def test_more_waves_than_are_searched_have_a_bound() -> None:
    permanent, instant = Window(3, 1, 4, 1), Window(3, 1, 20, 1)
    exact = _window_by_force(permanent, instant, EXACT + 1)
    assert exact <= worst_ratio(permanent, instant, (), EXACT + 1) < exact**2


@pytest.mark.parametrize(("permanent", "instant", "most"), SMALL)
def test_constant_window_is_that_of_all_reports(
    permanent: Window, instant: Window, most: int
) -> None:
    for waves in range(most + 1):
        expected = max(
            _kept_symbols(permanent, instant, reports, (0,) * waves)
            / _kept_symbols(permanent, instant, reports, (1,) * waves)
            for reports in product(range(permanent.inputs), repeat=waves)
        )
        assert constant_ratio(permanent, instant, (), waves) == expected


@pytest.mark.parametrize("weights", STAGES)
@pytest.mark.parametrize(("k", "ones", "waves"), [(2, 1, 1), (4, 1, 2), (6, 1, 3), (8, 2, 2)])
def test_worst_bits_are_those_of_all_histories_if_there_are_enough_bits(
    weights: tuple[tuple[int, ...], tuple[int, ...]], k: int, ones: int, waves: int
) -> None:
    permanent, instant = bit_stages(weights, k)
    expected = bits_by_force(permanent, instant, list(combinations(range(k), ones)), waves)
    assert worst_ratio(permanent, instant, ((ones, ones),), waves) == expected


@pytest.mark.parametrize(
    ("k", "waves", "weights"),
    [
        *(
            (k, waves, one)
            for k, waves in ((2, 2), (2, 3), (3, 2), (3, 3), (4, 3))
            for one in STAGES
        ),
        # The sum over all histories takes long.
        (2, 4, STAGES[0]),
    ],
)
def test_worst_few_bits_have_a_bound(
    k: int, waves: int, weights: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    permanent, instant = bit_stages(weights, k)
    exact = bits_by_force(permanent, instant, [(place,) for place in range(k)], waves)
    assert exact <= worst_ratio(permanent, instant, ONEHOT, waves) < exact**2


def test_worst_bits_of_inputs_with_few_or_many_ones_have_a_bound() -> None:
    permanent, instant = bit_stages(STAGES[0], 4)
    codewords = [*combinations(range(3), 2), *combinations(range(4), 1)]
    exact = bits_by_force(permanent, instant, codewords, 2, alike=False)
    assert exact <= worst_ratio(permanent, instant, ((2, 1), (1, 2)), 2)


@pytest.mark.parametrize("apart", [((1, 1),), ((2, 2),), ((3, 1), (1, 3))])
def test_one_wave_has_the_ratio_of_both_channels_in_a_row(apart: tuple[tuple[int, int]]) -> None:
    for permanent, instant in [*((one, other) for one, other, _ in SMALL), _windows(2, 1, 17)]:
        expected = permanent.followed_by(instant).ratio()
        assert worst_ratio(permanent, instant, (), 1) == expected
        assert constant_ratio(permanent, instant, (), 1) == expected
    for weights in STAGES:
        first, second = bit_stages(weights, 4)
        expected = first.followed_by(second).ratio(apart)
        assert worst_ratio(first, second, apart, 1) == expected
        assert constant_ratio(first, second, apart, 1) == expected


def test_numbers_of_the_docstring() -> None:
    stages = Window(2, 1, 3, 1), Window(2, 1, 3, 1)
    assert worst_ratio(*stages, (), 1) == Fraction(5, 3)
    assert constant_ratio(*stages, (), 2) == Fraction(7, 3)
    assert worst_ratio(*stages, (), 2) == Fraction(25, 9)


@pytest.mark.parametrize(
    ("stages", "apart", "expected"),
    [
        (_windows(2, 1, 4), (), [1.00, 1.68, 1.92, 1.98, 2.00, 2.00, 2.00]),
        (_windows(2, 0.5, 3), (), [0.50, 0.97, 1.36, 1.63, 1.90, 1.98, 2.00]),
        (_windows(4, 1, 4), (), [1.00, 1.97, 2.81, 3.42, 3.91, 3.99, 4.00]),
        (_windows(4, 0.5, 3), (), [0.50, 1.00, 1.49, 1.96, 2.79, 3.40, 3.90]),
        # RAPPOR with f = 1/2, two hash functions, p = 1/4, q = 3/4.
        (
            (Bits(128, 3, 1, 4), Bits(128, 3, 1, 4)),
            ((2, 2),),
            [2.04, 3.39, 4.02, 4.27, 4.38, 4.39, 4.39],
        ),
    ],
)
def test_constant_answers_cost_what_they_did_before(
    stages: tuple[Window, Window], apart: tuple[tuple[int, int], ...], expected: list[float]
) -> None:
    found = [log(constant_ratio(*stages, apart, waves)) for waves in (1, 2, 3, 4, 6, 8, 12)]
    assert found == pytest.approx(expected, abs=0.006)


def test_changing_answers_cost_what_they_did_before() -> None:
    found = [log(worst_ratio(*_windows(2, 1, 4), (), waves)) for waves in range(1, 5)]
    assert found == pytest.approx([1, 2.196, 3.443, 4.543], abs=0.001)


def test_changing_answers_can_cost_more_than_fresh_reports() -> None:
    for stages, apart in (_windows(2, 1, 4), ()), (_unary(2, 1, 128), ONEHOT):
        once = worst_ratio(*stages, apart, 1)
        assert worst_ratio(*stages, apart, 2) > once**2


def test_changing_answers_can_cost_more_than_the_permanent_channel_each_time() -> None:
    # A precise second stage shows that permanent symbols changed, which one answer alone cannot do.
    for stages, apart in (_windows(2, 1.9, 3), ()), (_unary(2, 1.9, 8), ONEHOT):
        assert worst_ratio(*stages, apart, 2) > stages[0].ratio(apart) ** 2


@pytest.mark.parametrize(
    ("stages", "apart"),
    [
        *((_windows(2, 1, inputs), ()) for inputs in (2, 3, 4, 5, 17)),
        *((_windows(1, 0.95, inputs), ()) for inputs in (2, 3, 5)),
        *((_unary(2, 1, inputs), ONEHOT) for inputs in (2, 4, 32)),
        (_unary(2, 1, 32), ((2, 2),)),
        (_unary(2, 1, 4), ((2, 1), (1, 2))),
    ],
)
def test_waves_only_add_and_a_constant_answer_is_no_worse(
    stages: tuple[Window, Window], apart: tuple[tuple[int, int], ...]
) -> None:
    worst = [worst_ratio(*stages, apart, waves) for waves in range(10)]
    constant = [constant_ratio(*stages, apart, waves) for waves in range(10)]
    assert worst[0] == constant[0] == 1
    assert worst == sorted(worst)
    assert constant == sorted(constant)
    assert all(one >= other for one, other in zip(worst, constant, strict=True))
    assert constant[-1] <= stages[0].ratio(apart)


@pytest.mark.parametrize(
    ("stages", "apart"),
    [(_windows(2, 1, 2), ()), (_windows(2, 1, 40), ()), (_unary(2, 1, 8), ONEHOT)],
    ids=["two", "many", "bits"],
)
def test_bound_of_many_waves_is_at_least_the_search(
    stages: tuple[Window, Window] | tuple[Bits, Bits],
    apart: tuple[tuple[int, int], ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waves = SEARCHED + 2
    bound = worst_ratio(*stages, apart, waves)
    monkeypatch.setattr("analysis.core.waves.SEARCHED", waves)
    worst_ratio.cache_clear()
    assert bound > worst_ratio(*stages, apart, waves) > worst_ratio(*stages, apart, SEARCHED)
    worst_ratio.cache_clear()


def test_hundreds_of_waves_are_served() -> None:
    stages = _windows(2, 1, 4)
    assert worst_ratio(*stages, (), 1000) > 2**999
    assert log(constant_ratio(*stages, (), 1000)) == pytest.approx(2, abs=1e-6)
