"""The contract of every listed mechanism, exactly: ε is at most what was asked, and no bias."""

import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import e
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets, Texts
from analysis.core.encoders.categories import Index
from analysis.core.epsilon import TooCoarse, exp_lower, log_ratio
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mean, Mechanism, Share, spends
from analysis.mechanisms.grid_window import half_width

sys.path.insert(0, str(Path(__file__).parent))
import laws

SCORES = tuple(map(Fraction, (1, 2, 3, 5)))
DOMAINS: list[Domain] = [
    *(Categories(tuple(f"v{value}" for value in range(k))) for k in (2, 3, 7)),
    Categories(("yes", "no", NO_ANSWER)),
    Categories(("1", "2", "3", "5"), SCORES),
    Categories(("1", "2", "3", "5", NO_ANSWER), SCORES),
    *(
        Numbers(Fraction(-1), Fraction(3), steps, skip)
        for steps in (1, 7, 20)
        for skip in (False, True)
    ),
    Sets(("a", "b", "c"), 3, True),
    Sets(("a", "b", "c", "d"), 1, False),
    Sets(("a", "b", "c", "d"), 2, True),
    Rankings(("a", "b"), False),
    Rankings(("a", "b", "c"), True),
    Rankings(("a", "b", "c", "d"), False),
]
PARAMS: dict[str, list[dict[str, Any]]] = {
    "warner": [{"p": "3/4"}, {"p": "0.3"}],
    "forced": [{"p_yes": "1/6", "p_no": "1/6"}, {"p_yes": "0.1", "p_no": "0.25"}],
    "unrelated": [{"p": "2/3", "prevalence": "1/2"}, {"p": "0.7", "prevalence": "0.2"}],
    "crosswise": [{"prevalence": "1/4"}, {"prevalence": "0.6"}],
    "gaussian": [{}, {"delta": 1e-6}, {"delta": 0.01}],
    "optimal": [{}, {"aim": "mean"}],
}
CASES = [
    pytest.param(
        mechanism, domain, Fraction(epsilon), params, id=f"{mechanism.name}-{place}-{epsilon}-{nth}"
    )
    for mechanism in MECHANISMS.values()
    for place, domain in enumerate(DOMAINS)
    if mechanism.fits(domain)
    for nth, params in enumerate(PARAMS.get(mechanism.name, [{}]))
    for epsilon in (("0.1", "1", "2.5", "6") if mechanism.parameters is None else ("1",))
]
every_case = pytest.mark.parametrize(("mechanism", "domain", "epsilon", "params"), CASES)


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=list(MECHANISMS))
@pytest.mark.parametrize("candidates", [("a", "b", "c"), None], ids=["candidates", "open"])
def test_mechanisms_for_texts_leave_shares_and_means_to_the_decoding(
    mechanism: Mechanism, candidates: tuple[str, ...] | None
) -> None:
    domain = Texts(candidates, 8, no_answer=True)
    assert mechanism.fits(domain) == (
        mechanism.name in ("hashed-krr", *["rappor"] * (candidates is not None))
    )
    if mechanism.fits(domain):
        randomizer = mechanism.compile(domain, Fraction(1), {})
        assert mechanism.shares(randomizer, domain).values == ()
        assert mechanism.means(randomizer, domain) == ()


def test_every_mechanism_has_a_case() -> None:
    # RAPPOR serves texts alone, which test_two_stages.py tests.
    tested = set()
    for case in CASES:
        mechanism, *_ = case.values
        assert isinstance(mechanism, Mechanism)
        tested.add(mechanism.name)
    assert tested == MECHANISMS.keys() - {"rappor"}


@every_case
def test_ratio_is_that_of_the_exact_channel_and_at_most_what_was_asked(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: dict[str, Any]
) -> None:
    randomizer = mechanism.compile(domain, epsilon, params)
    inputs = laws.inputs_of(randomizer, domain)
    rows = [dict(randomizer.channel.distribution(symbol)) for symbol in inputs]
    assert all(sum(row.values()) == 1 for row in rows)
    assert all(row.keys() == rows[0].keys() for row in rows)
    columns = [[row[report] for row in rows] for report in rows[0]]
    worst = max(max(column) / min(column) for column in columns)
    assert Randomizer.from_json(randomizer.to_json()) == randomizer
    assert randomizer.encoder.fits(domain)
    if mechanism.parameters is not None:
        assert worst == randomizer.ratio
        return
    assert worst == randomizer.ratio
    assert randomizer.stated_ratio <= exp_lower(epsilon)
    if randomizer.limit is None:
        assert randomizer.stated_ratio == randomizer.ratio
        assert randomizer.delta == 0
        assert randomizer.epsilon == pytest.approx(float(epsilon), rel=1e-3)
    else:
        apart = [
            sum(max(Fraction(0), one[y] - randomizer.limit * other[y]) for y in one)
            for one in rows
            for other in rows
        ]
        assert max(apart) == randomizer.delta <= Fraction(repr(params["delta"]))
        assert log_ratio(randomizer.limit) == pytest.approx(float(epsilon), rel=1e-6)


@every_case
def test_shares_are_exactly_unbiased(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: dict[str, Any]
) -> None:
    randomizer = mechanism.compile(domain, epsilon, params)
    shares = mechanism.shares(randomizer, domain)
    if not shares.values:
        assert mechanism.means(randomizer, domain)
        return
    values = list(laws.values_of(domain))
    counted: dict[Any, Any] = {}
    for value in values:
        law = laws.law(randomizer, value)
        for key in law.keys() - counted.keys():
            counted[key] = shares.count(laws.tally(randomizer, key))
        for place, share in enumerate(shares.values):

            def support(key: Any, place: int = place) -> int:
                return int(counted[key][0][place])

            def trial(key: Any, place: int = place) -> int:
                return int(counted[key][1][place])

            # The expectation of (support / trials - q) / (p - q) is the truth.
            assert laws.expected(law, trial) == share.portion
            wanted = share.q + (share.p - share.q) * laws.truth(domain, value, share.term)
            assert laws.expected(law, support) == share.portion * wanted


@every_case
def test_means_are_exactly_unbiased_also_between_grid_points(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: dict[str, Any]
) -> None:
    randomizer = mechanism.compile(domain, epsilon, params)
    means = mechanism.means(randomizer, domain)
    if domain.prior_lengths:
        assert [mean.term for mean in means][:1] == ["mean"]
    for value in laws.values_of(domain) if means else ():
        law = laws.law(randomizer, value)
        for mean in means:
            there = Fraction(laws.answered(domain, value))
            if (
                mean.term == NO_ANSWER
                or mean.term in getattr(domain, "ids", ())
                or ">" in mean.term
            ):
                there = Fraction(1)  # as a share of all respondents
            truth = laws.truth(domain, value, mean.term)
            assert _expected(randomizer, law, mean.scores) == truth
            assert _expected(randomizer, law, mean.present) == there
            if mean.squares is not None:
                rounding = Fraction(0)
                if isinstance(domain, Numbers) and value is not None:
                    steps = randomizer.encoder.steps
                    part = truth * steps % 1
                    rounding = part * (1 - part) / steps**2
                assert _expected(randomizer, law, mean.squares) == truth**2 + rounding


def _expected(randomizer: Any, law: Any, scores: Sequence[Fraction]) -> Fraction:
    """Return the expected sum of the scores of all symbols that a report counts for."""
    symbols = randomizer.shape[1]

    def score(key: Any) -> Fraction:
        cohort, report = key
        sent = list(report) if isinstance(report, tuple) else report
        return sum(
            (
                scores[cohort * symbols + symbol]
                for symbol in laws.counted(randomizer.channel, sent)
            ),
            Fraction(0),
        )

    return laws.expected(law, score)


@every_case
def test_terms_are_the_values_of_the_question_each_once(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: dict[str, Any]
) -> None:
    randomizer = mechanism.compile(domain, epsilon, params)
    terms = [mean.term for mean in mechanism.means(randomizer, domain)]
    terms += [share.term for share in mechanism.shares(randomizer, domain).values]
    skipped = [NO_ANSWER] * domain.no_answer
    if isinstance(domain, Categories):
        expected = ["mean"] * bool(domain.aims) + list(domain.ids)
    elif isinstance(domain, Numbers):
        expected = ["mean", *skipped]
    elif isinstance(domain, Sets):
        expected = [*domain.options, "none", *skipped]
    else:
        assert isinstance(domain, Rankings)
        expected = [*domain.items, *(f"{a}>{b}" for a, b in domain.flags), *skipped]
    assert terms == expected


@every_case
def test_poisoning_is_the_largest_shift_by_one_report(
    mechanism: Mechanism, domain: Domain, epsilon: Fraction, params: dict[str, Any]
) -> None:
    randomizer = mechanism.compile(domain, epsilon, params)
    law = laws.law(randomizer, next(iter(laws.values_of(domain))))
    shares = mechanism.shares(randomizer, domain)
    counted = [shares.count(laws.tally(randomizer, key)) for key in law]
    for place, share in enumerate(shares.values):
        # A report that is not about a value does not move its share.
        scores = [
            abs((support[place] / trials[place] - share.q) / (share.p - share.q)) / share.portion
            for support, trials in counted
            if trials[place]
        ]
        assert float(max(scores)) <= share.poisoning * (1 + 1e-12)
    for mean in mechanism.means(randomizer, domain):
        moves = [abs(_expected(randomizer, {key: Fraction(1)}, mean.scores)) for key in law]
        assert float(max(moves)) <= mean.poisoning * (1 + 1e-12)


def test_two_values_by_hand() -> None:
    # The answer is kept 3 times in 4, as with two coins: ε = ln 3.
    krr, two_coin = MECHANISMS["krr"], MECHANISMS["two-coin"]
    randomizer = krr.compile(DOMAINS[0], Fraction("1.0986122886681098"), {})
    share = krr.shares(randomizer, DOMAINS[0]).values[0]
    assert float(share.p) == pytest.approx(0.75, abs=1e-9)
    randomizer = two_coin.compile(DOMAINS[0], Fraction(0), {})
    assert randomizer.ratio == 3
    assert two_coin.shares(randomizer, DOMAINS[0]).values[0].p == Fraction(3, 4)


@pytest.mark.parametrize(
    ("name", "params", "ratio"),
    [
        ("warner", {"p": "3/4"}, 3),
        ("warner", {"p": "1/4"}, 3),
        ("two-coin", {}, 3),
        ("forced", {"p_yes": "1/6", "p_no": "1/6"}, 5),
        ("forced", {"p_yes": "1/8", "p_no": "1/4"}, 6),
        ("unrelated", {"p": "2/3", "prevalence": "1/2"}, 5),
        ("crosswise", {"prevalence": "1/4"}, 3),
    ],
)
def test_classic_designs_give_the_epsilon_of_the_textbooks(
    name: str, params: dict[str, Any], ratio: int
) -> None:
    assert MECHANISMS[name].compile(DOMAINS[0], Fraction(0), params).ratio == ratio


@pytest.mark.parametrize("name", ["warner", "two-coin", "forced", "unrelated", "crosswise"])
def test_classic_designs_refuse_a_third_answer(name: str) -> None:
    with pytest.raises(ValueError, match="two answers and required = true, got 3 values, no-ans"):
        MECHANISMS[name].compile(DOMAINS[3], Fraction(0), {})


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("forced", {"p_yes": "1/2", "p_no": "1/2"}, "sum to less than 1, got 1"),
        ("warner", {"p": "1/2"}, "reports must depend on the answer"),
        ("warner", {"p": "1/9999999999"}, "common denominator of at most 2"),
    ],
)
def test_designs_without_information_are_refused(
    name: str, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MECHANISMS[name].compile(DOMAINS[0], Fraction(0), params)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_noise_refuses_questions_that_can_be_skipped(name: str) -> None:
    skips = Numbers(Fraction(0), Fraction(1), 100, True)
    with pytest.raises(ValueError, match="must have required = true and no shows_if"):
        MECHANISMS[name].compile(skips, Fraction(1), {})


@pytest.mark.parametrize("delta", [1e-8, 0.0, 0.02, 1.0])
def test_delta_that_tails_of_32_bits_cannot_show_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match=r"delta must be from 1e-07 to 0\.01"):
        MECHANISMS["gaussian"].compile(
            Numbers(Fraction(0), Fraction(1), 100, False), Fraction(1), {"delta": delta}
        )


def test_weights_too_coarse_for_the_epsilon_are_refused() -> None:
    coarse = Randomizer(Index(4), Window(4, 1, 271, 100))
    assert spends(coarse, Fraction(1)) is coarse
    with pytest.raises(TooCoarse, match="epsilon must be larger for so many values"):
        spends(coarse, Fraction("1.2"))
    with pytest.raises(ValueError, match="must be at most e"):
        spends(coarse, Fraction("0.99"))


def test_half_width_of_the_square_wave() -> None:
    # (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), Li et al. 2020, at ε = 1: 1 / (2 e (e - 2)).
    assert half_width(1.0) == pytest.approx(1 / (2 * e * (e - 2)), rel=1e-12)
    assert half_width(1e-4) == pytest.approx(0.5, rel=1e-3)


def test_exponential_mechanism_spends_the_epsilon_that_the_textbook_factor_wastes() -> None:
    domain = Categories(tuple("12345"), tuple(map(Fraction, range(1, 6))))
    found = MECHANISMS["exponential"].compile(domain, Fraction(1), {})
    row = found.channel.rows[0]
    rate = np.log([one / other for one, other in pairwise(row)])
    assert np.allclose(rate, rate[0], rtol=1e-6)
    # The textbook's rate is ε / (2 Δ), Δ = 4.
    assert rate[0] > 1.4 * (1 / 8)


def test_support_of_hashes_by_transform_is_the_support_counted_one_by_one() -> None:
    mechanism = MECHANISMS["hashed-krr"]
    for k, epsilon in ((7, "0.5"), (30, "2"), (50, "4")):
        domain = Categories(tuple(f"v{value}" for value in range(k)))
        randomizer = mechanism.compile(domain, Fraction(epsilon), {})
        counts = np.random.default_rng(k).integers(0, 50, randomizer.shape)
        found, trials = mechanism.shares(randomizer, domain).count(counts)
        for value in range(k):
            encoded = [
                randomizer.encoder.encode(value, cohort, iter(())) for cohort in range(len(counts))
            ]
            assert found[value] == counts[range(len(counts)), encoded].sum()
        assert set(trials) == {counts.sum()}


def test_a_mean_of_sets_has_the_spread_that_repetition_shows() -> None:
    # If reports count for several symbols, the second moment must be exact, not that of the tally.
    domain = Categories(tuple("123456"), tuple(map(Fraction, range(1, 7))))
    for name in ("subset", "oue"):
        mechanism = MECHANISMS[name]
        randomizer = mechanism.compile(domain, Fraction("0.5"), {})
        (mean,) = mechanism.means(randomizer, domain)
        assert isinstance(mean, Mean)
        assert mean.second is not None
        law = laws.law(randomizer, 2)
        first = _expected(randomizer, law, mean.scores)
        square = laws.expected(
            law, lambda key, m=mean, r=randomizer: _expected(r, {key: Fraction(1)}, m.scores) ** 2
        )
        # This tally is exactly the expected one of a million respondents with the third value.
        counts = sum(
            float(chance * 10**6) * laws.tally(randomizer, key) for key, chance in law.items()
        )
        scores = np.array(mean.scores, dtype=float)
        found = scores @ mean.second(np.rint(counts).astype(np.int64)) @ scores
        assert found == pytest.approx(float(square), rel=1e-4)
        assert first == Fraction(2, 5)


def test_a_share_gives_the_same_for_a_number_and_for_many() -> None:
    share = Share("yes", Fraction(3, 4), Fraction(1, 4), Fraction(1, 2))
    # At one half, a report supports the value with probability 1/2, and half of the reports are
    # about it: (1/4) / (1/2)^2 / (1/2) = 2. At 0 and 1 it is (3/16) / (1/2)^2 / (1/2) = 1.5.
    shares = np.array([0.0, 0.5, 1.0])
    assert share.variance(shares).tolist() == [1.5, 2.0, 1.5]
    assert [share.variance(true) for true in shares.tolist()] == [1.5, 2.0, 1.5]
    # There are 25 reports about the value, whatever part of all reports they are.
    assert share.std_error(0.5, 25) == share.std_error(shares, 25)[1] == pytest.approx(0.2)
    assert share.estimate(10, 25) == share.estimate(np.array([10.0]), 25)[0] == pytest.approx(0.3)
    assert share.support(0.3) == pytest.approx(0.4)
