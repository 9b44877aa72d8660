"""Check several answers in one draw: limits, laws and unbiased estimates, all by enumeration."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import exp, inf
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from analysis.core.channels.pattern import Pattern
from analysis.core.encoders.categories import Index
from analysis.core.epsilon import exp_lower, micro
from analysis.core.errors import ReportError
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.packed import unpack
from analysis.core.words import LARGEST_TOTAL, WORD, below, below_many, seeded_block, seeded_words
from analysis.mechanisms.joint_design import design
from analysis.mechanisms.joint_goals import Part, contrast_variance
from analysis.mechanisms.together import OneTogether

SAMPLES = {
    "two coins": Pattern((2, 2), (1, 1), (6, 2, 3, 1)),
    "by number": Pattern((2, 2, 2), (1, 1, 1), (27, 27, 9, 1)),
    "mixed sets": Pattern((3, 4), (1, 2), (9, 5, 4, 2)),
    "three kinds": Pattern((2, 3, 4), (1, 1, 2), (40, 9, 7, 5, 8, 4, 3, 2)),
    "four questions": Pattern((2, 2, 3, 3), (1, 1, 1, 2), (50, 20, 9, 3, 1)),
}
every_sample = pytest.mark.parametrize("channel", SAMPLES.values(), ids=SAMPLES.keys())


def rows_of(channel: Pattern) -> list[tuple[int, ...]]:
    return list(product(*(range(k) for k in channel.inputs)))


def laws(channel: Pattern) -> dict[tuple[int, ...], dict[Any, Fraction]]:
    """Return the probability of every report under every row of answers."""
    return {row: dict(channel.distribution(row)) for row in rows_of(channel)}


def worst(
    channel: Pattern, may_differ: Callable[[tuple[int, ...], tuple[int, ...]], bool]
) -> Fraction:
    """Return the largest ratio over all reports, for rows that differ only in these places."""
    law = laws(channel)
    return max(
        law[one][report] / law[other][report]
        for one in law
        for other in law
        if may_differ(one, other)
        for report in law[one]
    )


@every_sample
def test_laws_are_laws(channel: Pattern) -> None:
    channel.check()
    for law in laws(channel).values():
        assert sum(law.values()) == 1
        assert min(law.values()) > 0


@every_sample
def test_stated_limits_are_the_worst_of_all_answers_and_reports(channel: Pattern) -> None:
    assert channel.ratio() == worst(channel, lambda one, other: True)
    d = len(channel.inputs)
    for size in range(1, d + 1):
        for changed in combinations(range(d), size):
            assert channel.ratio(changed) == worst(channel, partial(_differ_in, changed))


def _differ_in(changed: tuple[int, ...], one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    pairs = enumerate(zip(one, other, strict=True))
    return all(part in changed or before == after for part, (before, after) in pairs)


@every_sample
def test_a_part_alone_has_the_law_of_its_subset_whatever_the_others_are(channel: Pattern) -> None:
    for part, k in enumerate(channel.inputs):
        marginal = channel.marginal(part)
        for row in rows_of(channel):
            seen: defaultdict[Any, Fraction] = defaultdict(Fraction)
            for report, chance in channel.distribution(row):
                seen[report[part]] += chance
            assert dict(seen) == dict(marginal.distribution(row[part]))
        assert (marginal.inputs, marginal.size) == (k, channel.sizes[part])


@every_sample
def test_shares_and_products_of_pairs_are_unbiased(channel: Pattern) -> None:
    # The debiased share of value x is (1{x in set} - q) / (p - q); for pairs see `factor`.
    d = len(channel.inputs)
    support = [OneTogether().support(marginal) for marginal in joint_of(channel).marginals]

    def debiased(part: int, members: tuple[int, ...], value: int) -> Fraction:
        p, q = support[part]
        return ((value in members) - q) / (p - q)

    for row in rows_of(channel):
        law = dict(channel.distribution(row))
        for part, k in enumerate(channel.inputs):
            for value in range(k):
                share = sum(c * debiased(part, r[part], value) for r, c in law.items())
                assert share == (row[part] == value)
        for i, j in combinations(range(d), 2):
            factor = channel.factor(i, j)
            for x, y in product(range(channel.inputs[i]), range(channel.inputs[j])):
                even = Fraction(1, channel.inputs[i]), Fraction(1, channel.inputs[j])
                cell = Fraction(0)
                for report, chance in law.items():
                    one, other = debiased(i, report[i], x), debiased(j, report[j], y)
                    both = one * other + (factor - 1) * (one - even[0]) * (other - even[1])
                    cell += chance * both
                assert cell == (row[i] == x and row[j] == y)


@every_sample
def test_draws_have_exactly_the_stated_probabilities(
    channel: Pattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = tuple(k - 1 for k in channel.inputs)
    found: defaultdict[Any, Fraction] = defaultdict(Fraction)
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = paths.pop()
        totals: list[int] = []

        def draw(total: int, _: Iterator[int], path: Any = path, totals: Any = totals) -> int:
            totals.append(total)
            return path[len(totals) - 1] if len(totals) <= len(path) else 0

        monkeypatch.setattr("analysis.core.words.below", draw)
        report = channel.randomize(row, iter(()))
        chance = Fraction(1)
        for total in totals:
            chance /= total
        found[tuple(map(tuple, report))] += chance
        for depth in range(len(path), len(totals)):
            zeros = (0,) * (depth - len(path))
            paths += [(*path, *zeros, value) for value in range(1, totals[depth])]
    assert dict(found) == dict(channel.distribution(row))


@every_sample
def test_many_are_drawn_from_the_same_law(channel: Pattern) -> None:
    n, row = 100_000, tuple(range(len(channel.inputs)))
    row = tuple(value % k for value, k in zip(row, channel.inputs, strict=True))
    drawn = channel.randomize_many(np.tile(row, (n, 1)), seeded_block("pattern", *row))
    flags = [unpack(part, k) for part, k in zip(drawn, channel.inputs, strict=True)]
    codes = [part.astype(np.int64) @ (1 << np.arange(part.shape[1])) for part in flags]
    counts = Counter(zip(*(code.tolist() for code in codes), strict=True))
    law = {
        tuple(sum(1 << member for member in members) for members in report): float(chance)
        for report, chance in channel.distribution(row)
    }
    assert set(counts) <= set(law)
    statistic = sum((counts[r] - n * chance) ** 2 / (n * chance) for r, chance in law.items())
    assert chi2.sf(statistic, len(law) - 1) > 1e-6


def test_totals_beyond_one_word_take_two_words() -> None:
    total = 3 * WORD
    assert below(total, iter([2, 5])) == 2 * WORD + 5
    # The largest multiple of 3 * 2^32 below 2^64 is (2^32 - 1) * 2^32: that pair is drawn again.
    assert below(total, iter([WORD - 1, 0, 0, 7])) == 7
    channel = Pattern((2, 2), (1, 1), (2**52, 2**51, 2**50, 1))
    channel.check()
    n = 100_000
    drawn = channel.randomize_many(np.zeros((n, 2), dtype=np.int64), seeded_block("wide"))
    agrees = (unpack(drawn[0], 2)[:, 0] == 1).mean()
    p = (2**52 + 2**50) / (2**52 + 2**51 + 2**50 + 1)
    assert agrees == pytest.approx(p, abs=5 * (p * (1 - p) / n) ** 0.5)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (Pattern((2, 2), (1,), (1, 1, 1)), "inputs and sizes must be equally many"),
        (Pattern((2,) * 13, (1,) * 13, (1,) * 14), "at most 12, got 13"),
        (Pattern((2, 3), (1, 3), (1, 1, 1)), "sizes must be less than inputs"),
        (Pattern((2, 3), (1, 1), (1, 1, 1, 1, 1)), "weights must be 3 or 4 for 2 parts, got 5"),
        (Pattern((2, 2), (1, 1), (LARGEST_TOTAL, 1, 1)), "weights must sum to at most"),
    ],
)
def test_impossible_numbers_are_refused(channel: Pattern, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        channel.check()


def joint_of(channel: Pattern) -> JointRandomizer:
    return JointRandomizer(tuple(map(Index, channel.inputs)), channel)


@every_sample
def test_randomizer_comes_back_from_json(channel: Pattern) -> None:
    joint = joint_of(channel)
    assert JointRandomizer.from_json(joint.to_json()) == joint
    assert joint.charge == micro(joint.ratio)
    assert joint.each == max(marginal.ratio for marginal in joint.marginals)
    # The sum of what each answer reveals at most is never less than what all reveal together.
    assert sum(marginal.charge for marginal in joint.marginals) >= joint.charge


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratio": ["5", "1"]}, "ratio must be 6/1, got 5/1"),
        ({"each": ["2", "1"]}, "each must be 3/1, got 2/1"),
        ({"encoders": [{"name": "index", "inputs": 2}]}, "channel must take what the encoders"),
        ({"encoders": {}}, "encoders must be a list"),
        ({"more": 1}, "joint randomizer must have"),
        (
            {"channel": {"name": "pattern", "inputs": [2, 2], "sizes": [1, 1], "weights": [6, 2]}},
            "weights must be 3 or 4",
        ),
        (
            {
                "channel": {
                    "name": "pattern",
                    "inputs": [2, 2],
                    "sizes": [1, 1],
                    "weights": [6, 0, 3, 1],
                }
            },
            "weights must be a list of whole numbers",
        ),
    ],
)
def test_randomizer_that_states_less_than_it_spends_is_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        JointRandomizer.from_json(joint_of(SAMPLES["two coins"]).to_json() | change)


def test_reports_of_a_part_are_checked_by_its_law() -> None:
    joint = joint_of(SAMPLES["three kinds"])
    words = seeded_words("reports")
    for _ in range(50):
        reports = joint.randomize([1, 2, 3], words)
        for marginal, report in zip(joint.marginals, reports, strict=True):
            marginal.check_report(report, "reports.x")
    with pytest.raises(ReportError):
        joint.marginals[2].check_report([0], "reports.x")


def contrasts(channel: Pattern) -> list[float]:
    return [
        float(Fraction(m.include, m.include + m.exclude) - Fraction(m.size, m.inputs))
        for m in map(channel.marginal, range(len(channel.inputs)))
    ]


def variances(parts: tuple[Part, ...], channel: Pattern) -> list[float]:
    return [
        float(contrast_variance(np.array(contrast), part.k, size, part.share))
        for part, size, contrast in zip(parts, channel.sizes, contrasts(channel), strict=True)
    ]


COINS = {d: (Part(2, 0.5),) * d for d in (4, 6, 10)}


@pytest.mark.parametrize(
    ("d", "total", "each", "share", "pair"),
    [
        # k-RR over all 16 rows by hand: c = (e^4 - 1) / (e^4 + 15) for each share and each pair.
        (4, "4", "4", 0.422, 1.686),
        (4, "4", "2", 0.514, 3.152),
        (4, "4", "1.5", 0.673, 6.174),
        (4, "4", "1", 1.171, 21.92),
        (6, "4", "1", 1.252, 21.3),
        (6, "4", "4", 0.671, 7.460),
        (10, "4", "0.6", 3.068, 155),
        (10, "4", "0.8", 2.018, 55.7),
        (10, "4", "4", 1.088, 14.10),
        (10, "2", "2", 4.007, 144.2),
    ],
)
def test_designs_of_yes_no_questions_are_as_good_as_the_best_known(
    d: int, total: str, each: str, share: float, pair: float
) -> None:
    found = design(COINS[d], Fraction(total), Fraction(each))
    assert variances(COINS[d], found.channel) == pytest.approx([share] * d, rel=2e-3)
    product_contrast = 4 * found.channel.contrast(0, 1)
    assert 1 / float(product_contrast) ** 2 == pytest.approx(pair, rel=3e-3)
    assert found.variance <= found.bound * (1 + 1e-5)


MIXED = tuple(Part(k, 0.2) for k in (3, 3, 4, 6, 3, 5))


@pytest.mark.parametrize(("each", "saving"), [("1.5", 2.1), ("2", 2.9), ("3", 3.4)])
def test_designs_of_mixed_questions_save_as_much_as_known(each: str, saving: float) -> None:
    found = design(MIXED, Fraction(6), Fraction(each))
    assert 1 / found.variance >= saving - 0.05


@pytest.mark.parametrize("ks", [(2, 2, 2), (3, 5), (2, 4, 7), (12, 30)])
@pytest.mark.parametrize("epsilon", ["0.5", "1.2"])
def test_even_limits_give_back_separate_draws(ks: tuple[int, ...], epsilon: str) -> None:
    parts, each = tuple(Part(k, 1 / k) for k in ks), Fraction(epsilon)
    found = design(parts, each * len(ks), each)
    for part, variance in zip(parts, variances(parts, found.channel), strict=True):
        best = inf
        for size in range(1, part.k):
            agree = size * exp(each) / (size * exp(each) + part.k - size)
            contrast = np.array(agree - size / part.k)
            best = min(best, float(contrast_variance(contrast, part.k, size, part.share)))
        assert variance == pytest.approx(best, rel=1e-5)
    # The pattern's weights are those of independent questions.
    weights, total = found.channel.patterns, sum(found.channel.patterns)
    marginals = [found.channel.marginal(place) for place in range(len(ks))]
    for pattern, weight in enumerate(weights):
        apart = Fraction(1)
        for place, marginal in enumerate(marginals):
            whole = marginal.include + marginal.exclude
            apart *= Fraction(marginal.exclude if pattern >> place & 1 else marginal.include, whole)
        assert weight / total == pytest.approx(float(apart), rel=1e-4)


@pytest.mark.parametrize("aim", ["shares", "pairs"])
@pytest.mark.parametrize(
    ("ks", "total", "each"),
    [
        ((2, 2), "0.001", "0.001"),
        ((2, 6), "2", "2"),
        ((2, 3, 4), "3", "1.5"),
        ((2,) * 12, "8", "2"),
    ],
)
def test_limits_are_met_exactly_and_spent_to_the_last_millionth(
    ks: tuple[int, ...], total: str, each: str, aim: str
) -> None:
    parts = tuple(Part(k, 1 / k) for k in ks)
    channel = design(parts, Fraction(total), Fraction(each), aim).channel
    channel.check()
    assert channel.ratio() <= exp_lower(Fraction(total))
    assert micro(channel.ratio()) == Fraction(total) * 10**6
    for part in range(len(ks)):
        assert channel.ratio([part]) <= exp_lower(Fraction(each))


def test_pairs_are_estimated_better_if_they_are_the_aim() -> None:
    shares, pairs = (
        design(COINS[10], Fraction(2), Fraction(2), aim) for aim in ("shares", "pairs")
    )
    assert float(pairs.channel.contrast(0, 1)) > 1.2 * float(shares.channel.contrast(0, 1))
    assert max(variances(COINS[10], pairs.channel)) > 1.3 * max(
        variances(COINS[10], shares.channel)
    )


def test_somebody_who_knows_all_other_answers_gains_no_more_than_each() -> None:
    """Attack: other answers are known, the belief about one is even, and reports are seen."""
    parts = (Part(2, 0.5), Part(3, 1 / 3), Part(2, 0.5))
    channel = design(parts, Fraction(3), Fraction("1.2")).channel
    most = Fraction(0)
    for row in rows_of(channel):
        for part, k in enumerate(channel.inputs):
            rows = [(*row[:part], value, *row[part + 1 :]) for value in range(k)]
            law = [dict(channel.distribution(other)) for other in rows]
            for report in law[0]:
                chances = [one[report] for one in law]
                most = max(most, max(chances) / min(chances))
    assert most <= exp_lower(Fraction("1.2"))
    assert micro(most) == 1_200_000
    # If the other answers are copies of it, the whole total is revealed; the page says so.
    copies = [dict(channel.distribution(row)) for row in ((0, 0, 0), (1, 1, 1))]
    told = max(copies[0][report] / copies[1][report] for report in copies[0])
    assert micro(told) == 3_000_000


def test_a_law_with_large_weights_can_be_drawn_from_by_itself() -> None:
    marginal = Pattern((3, 2), (1, 1), (2**52, 2**51, 2**50, 1)).marginal(0)
    n = 50_000
    drawn = marginal.randomize_many(np.full(n, 2), seeded_block("alone"))
    p = marginal.include / (marginal.include + marginal.exclude)
    share = unpack(drawn, 3)[:, 2].mean()
    assert share == pytest.approx(p, abs=5 * (p * (1 - p) / n) ** 0.5)
    with pytest.raises(ValueError, match="total must be at most 2\\^32"):
        below_many(WORD + 1, 1, seeded_block("alone"))
