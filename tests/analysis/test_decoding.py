"""Decoding: its covariance by exact sums, and its promises by simulation with a stated error."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.estimate.decoding import Chances, Decoded, decode, detected, selected_level
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.discoveries import chances_absent, likely
from analysis.estimate.decoding.fit import Spread
from analysis.estimate.decoding.noise import Background, covariance
from analysis.estimate.decoding.solve import Whitener, solve
from analysis.estimate.intervals import normal_intervals

#: k, h and m of a small Bloom filter, and the probabilities of google/rappor's eps_1_1.
CELLS, HASHES, COHORTS = 8, 2, 64
CHANCES = Chances((0.775, 0.225), (0.61, 0.39))


def _law(
    chances: Chances, supported: tuple[bool, ...], repeats: int
) -> dict[tuple[int, ...], float]:
    """Return the exact law of how many of a person's reports count for each cell."""
    cells = len(supported)
    (p1, q1), (p2, q2) = chances.permanent, chances.instant

    def draws(one: tuple[float, float], on: tuple[bool, ...]) -> dict[tuple[bool, ...], float]:
        if chances.one_symbol:
            return {
                tuple(cell == symbol for cell in range(cells)): one[0] if on[symbol] else one[1]
                for symbol in range(cells)
            }
        rates = [one[0] if bit else one[1] for bit in on]
        return {
            bits: float(np.prod([r if bit else 1 - r for r, bit in zip(rates, bits, strict=True)]))
            for bits in product((False, True), repeat=cells)
        }

    law: dict[tuple[int, ...], float] = {}
    for kept, chance in draws((p1, q1), supported).items():
        sums = {(0,) * cells: chance}
        for _ in range(repeats):
            after: dict[tuple[int, ...], float] = {}
            for before, weight in sums.items():
                for bits, one in draws((p2, q2), kept).items():
                    key = tuple(b + bit for b, bit in zip(before, bits, strict=True))
                    after[key] = after.get(key, 0.0) + weight * one
            sums = after
        for key, weight in sums.items():
            law[key] = law.get(key, 0.0) + weight
    return law


@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("one_symbol", [False, True])
def test_covariance_of_tallies_is_that_of_all_outcomes(repeats: int, one_symbol: bool) -> None:
    pairs = ((0.6, 0.2), (0.7, 0.15)) if one_symbol else ((0.8, 0.3), (0.7, 0.25))
    chances = Chances(*pairs, one_symbol, repeats)
    # There are three cells; the values support the first, the last or, as bits, both.
    values = {(True, False, False): 0.5, (False, False, True): 0.3}
    values[(False, True, False) if one_symbol else (True, False, True)] = 0.2
    mean, square = np.zeros(3), np.zeros((3, 3))
    for supported, share in values.items():
        for sums, chance in _law(chances, supported, repeats).items():
            rate = np.array(sums) / repeats
            mean += share * chance * rate
            square += share * chance * np.outer(rate, rate)
    on = np.array(list(values), dtype=float)
    shares = np.array(list(values.values()))
    single, both = shares @ on, (on.T * shares) @ on
    assert mean == pytest.approx(chances.q + (chances.p - chances.q) * single)
    people = 10
    exact = (square - np.outer(mean, mean)) / people / (chances.p - chances.q) ** 2
    found = covariance(single[None], both[None], np.array([people * repeats]), chances)
    assert found[0] == pytest.approx(exact, abs=1e-12)


def test_unknown_strings_hit_cells_like_all_hashes() -> None:
    cells, hashes = 3, 2
    hits = list(product(range(cells), repeat=hashes))
    support = np.array([[cell in one for cell in range(cells)] for one in hits], dtype=float)
    background = Background.of(cells, hashes)
    assert background.mean == pytest.approx(support.mean())
    exact = np.cov(support.T, bias=True)
    assert background.covariance(cells) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("one_symbol", [False, True])
@pytest.mark.parametrize("candidates", [5, 20])
def test_solving_by_candidates_is_the_plain_inverse(one_symbol: bool, candidates: int) -> None:
    rng = np.random.default_rng(1)
    hits = rng.integers(0, 4, (6, candidates, 1 if one_symbol else 2))
    cells = Cells.of(hits, 4)
    single = np.full((6, 4), 0.25)
    noise = covariance(
        single,
        np.full((6, 4, 4), 0.1),
        np.full(6, 500),
        Chances((0.5, 0.5 / 3), one_symbol=one_symbol),
    )
    whitener = Whitener.of(noise, cells.background.covariance(4), 0.01)
    loose = rng.uniform(0.001, 0.1, candidates)
    columns = whitener.white(cells.columns(np.arange(candidates)))
    # Half of the candidates are solved for, too, with the effects of the others elsewhere.
    for fitted in (np.arange(candidates), np.arange(0, candidates, 2)):
        part = columns[:, fitted]
        inverse = np.linalg.inv(np.eye(24) + (part * loose[fitted]) @ part.T)
        solved = solve(cells, whitener, loose, fitted, exact=True)
        assert solved.information == pytest.approx(np.diag(columns.T @ inverse @ columns))
        assert solved.apply(columns[:, 1]) == pytest.approx(inverse @ columns[:, 1])
        assert solved.trace == pytest.approx(np.trace(inverse) - (6 if one_symbol else 0))


def _zipf(values: int) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, values + 1)
    return np.asarray(weights / weights.sum())


def _bits(
    rng: np.random.Generator,
    shares: NDArray[np.float64],
    hits: NDArray[np.int64],
    people: int,
    repeats: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts and totals of people whose values are among the first of `hits`."""
    support = np.zeros((COHORTS, len(shares), CELLS))
    np.put_along_axis(support, hits[:, : len(shares)], 1.0, axis=2)
    of_each = rng.multinomial(people, np.outer(np.full(COHORTS, 1 / COHORTS), shares).ravel())
    each = of_each.reshape(COHORTS, len(shares))
    totals = each.sum(axis=1)
    ones = np.einsum("cv,cvk->ck", each, support).astype(int)
    (p1, q1), (p2, q2) = CHANCES.permanent, CHANCES.instant
    kept = rng.binomial(ones, p1) + rng.binomial(totals[:, None] - ones, q1)
    counts = rng.binomial(kept * repeats, p2)
    counts += rng.binomial((totals[:, None] - kept) * repeats, q2)
    return counts, totals * repeats


def _covered(found: Decoded, truth: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the coverage of all strings, and of the detected ones with their number."""
    held = (found.low <= truth) & (truth <= found.high)
    chosen = found.detected
    return float(held.mean()), float(held[chosen].sum()), float(chosen.sum())


#: 45 of these candidates are present; 600 of them outnumber the 512 cells.
@pytest.mark.more
@pytest.mark.parametrize(
    ("candidates", "draws", "repeats"), [(60, 30, 1), (60, 30, 5), (600, 5, 1)]
)
def test_intervals_cover_over_all_candidates_and_over_the_detected(
    candidates: int, draws: int, repeats: int
) -> None:
    rng = np.random.default_rng([candidates, repeats])
    shares, known = _zipf(50), np.arange(candidates + 5) % 10 != 8
    known[50:] = True
    truth = np.append(shares, np.zeros(candidates - 45))[known]
    held, chosen, found_other = [], np.zeros(2), []
    for _ in range(draws):
        hits = rng.integers(0, CELLS, (COHORTS, candidates + 5, HASHES))
        counts, totals = _bits(rng, shares, hits, 100_000, repeats)
        chances = Chances(CHANCES.permanent, CHANCES.instant, repeats=repeats)
        found = decode(counts, totals, hits[:, known], chances)
        all_of_them, ends, number = _covered(found, truth)
        held.append(all_of_them)
        chosen += ends, number
        other = 1 - truth.sum()
        found_other.append(found.other.low <= other <= found.other.high)
    # 1,800 intervals that cover with probability .95 do so in less than .93 with probability 2e-4;
    # 20 or more of the detected in less than .8 with 3e-3 at most, if they are independent.
    assert np.mean(held) >= 0.93
    assert chosen[1] >= 20
    assert chosen[0] / chosen[1] >= 0.8
    # Of 30, each with probability .95, less than 24 cover with probability 6e-4; of 5, none with
    # 4e-7.
    assert np.sum(found_other) >= (24 if draws == 30 else 1)


def test_repeats_are_counted_as_people() -> None:
    rng = np.random.default_rng(5)
    shares, people, repeats = np.full(40, 1 / 40), 100_000, 20
    hits = rng.integers(0, CELLS, (COHORTS, 40, HASHES))
    pair = CHANCES.permanent, CHANCES.instant
    found = decode(
        *_bits(rng, shares, hits, people, repeats), hits, Chances(*pair, repeats=repeats)
    )
    # Of 40 that cover with probability .95, less than 32 do so with 2e-4, if they are independent.
    assert ((found.low <= shares) & (found.high >= shares)).sum() >= 32
    independent = decode(*_bits(rng, shares, hits, people * repeats), hits, CHANCES)
    assert found.std_error.mean() > 1.25 * independent.std_error.mean()


def test_symbols_of_hashed_krr_are_decoded_past_their_collisions() -> None:
    # There are 256 cohorts of 4 symbols at ε = 1. Without the joint fit, collisions alone would add
    # sum(f^2) / (256 * 3) to a variance of 4 e / (e - 1)^2 / n = 3.7e-6 at n = 1e6.
    rng = np.random.default_rng(6)
    cohorts, g, n = 256, 4, 1_000_000
    near = np.e / (np.e + g - 1)
    far = (1 - near) / (g - 1)
    shares = _zipf(100)
    hits = rng.integers(0, g, (cohorts, 150, 1))
    law = np.full((cohorts, g), far)
    for value, share in enumerate(shares):
        law[np.arange(cohorts), hits[:, value, 0]] += share * (near - far)
    counts = rng.multinomial(n // cohorts, law)
    found = decode(counts, counts.sum(axis=1), hits, Chances((near, far), one_symbol=True))
    truth = np.append(shares, np.zeros(50))
    theory = (4 * np.e / (np.e - 1) ** 2 / n) ** 0.5
    rmse = float(np.sqrt(np.mean((found.estimate - truth) ** 2)))
    # Of 150 squared errors the root mean square is within 17 % with chance .997.
    assert rmse <= 1.17 * 1.1 * theory
    assert rmse < 0.75 * (theory**2 + (shares**2).sum() / (cohorts * (g - 1))) ** 0.5
    assert found.std_error.mean() == pytest.approx(rmse, rel=0.2)


def test_bonferroni_and_benjamini_hochberg_by_hand() -> None:
    p_values = np.array([0.5, 0.01, 0.05, 0.04])
    assert detected(p_values, "fdr", 0.1).tolist() == [False, True, True, True]
    assert detected(p_values, "bonferroni", 0.1).tolist() == [False, True, False, False]
    assert not detected(np.array([0.2, 0.9]), "fdr", 0.1).any()
    with pytest.raises(ValueError, match='correction must be "fdr" or "bonferroni", got "holm"'):
        detected(p_values, "holm", 0.1)


def test_detected_strings_alone_have_intervals_at_their_own_level() -> None:
    rng = np.random.default_rng(12)
    hits = rng.integers(0, CELLS, (COHORTS, 60, HASHES))
    found = decode(*_bits(rng, _zipf(50), hits, 100_000), hits, CHANCES, any_false=0.01)
    assert found.detected_level == selected_level(0.95, int(found.detected.sum()), 60)
    for level, these in ((0.95, ~found.detected), (found.detected_level, found.detected)):
        low, high = normal_intervals(found.estimate[these], found.std_error[these], level)
        assert 0 < len(low) < 60
        assert found.low[these] == pytest.approx(low)
        assert found.high[these] == pytest.approx(high)


def test_level_of_the_detected_is_benjamini_and_yekutielis() -> None:
    assert selected_level(0.95, 10, 100) == pytest.approx(0.995)
    assert selected_level(0.95, 100, 100) == pytest.approx(0.95)


def test_likely_strings_are_those_with_few_false_on_average() -> None:
    p_values, absent = np.array([0.3, 0.01, 0.02, 0.2]), np.array([0.9, 0.01, 0.03, 0.11])
    # (0.01 + 0.03 + 0.11) / 3 is 0.05.
    assert likely(p_values, absent, 0.05).tolist() == [False, True, True, True]
    assert likely(p_values, absent, 0.03).tolist() == [False, True, True, False]
    # The mean of all is 0.2625, and the first is likelier absent than not.
    assert likely(p_values, absent, 0.3).tolist() == [False, True, True, True]
    # If hardly any candidate is absent, even an estimate below 0 is no evidence for a share.
    assert likely(np.array([0.01, 0.7]), np.array([0.0, 0.04]), 0.05).tolist() == [True, False]
    assert not likely(p_values, np.full(4, 0.2), 0.1).any()


@pytest.mark.parametrize(("part", "expected"), [(0.2, 0.15), (0.5, 0.42), (0.9, 0.81), (1.0, 0.92)])
def test_probabilities_to_be_absent_are_near_the_absent_part(part: float, expected: float) -> None:
    # All parts are equally likely beforehand, so the mean is nearer to one half.
    rng = np.random.default_rng(10)
    shares = np.where(np.arange(200) < 200 * part, 0.0, 3e-4)
    found = []
    for _ in range(40):
        chances = chances_absent(shares + rng.normal(0, 1e-4, 200), np.full(200, 1e-4))
        assert chances is not None
        assert ((chances >= 0) & (chances <= 1)).all()
        found.append(chances.mean())
    # An estimate has a standard deviation of at most 0.06, and the mean of 40 one of 0.01.
    assert np.mean(found) == pytest.approx(expected, abs=0.03)


def test_shares_too_small_to_be_seen_count_as_absent_and_few_candidates_are_not_judged() -> None:
    # No share can exceed 0.01 of a standard error on average, so nearly all count as absent.
    chances = chances_absent(np.random.default_rng(1).normal(0.3, 1, 100), np.ones(100))
    assert chances is not None
    assert chances.mean() > 0.98
    assert chances_absent(np.full(49, 9.0), np.ones(49)) is None


@pytest.mark.more
def test_few_of_the_detected_are_false_and_more_are_found_than_without_the_part_absent() -> None:
    rng = np.random.default_rng(11)
    shares = np.append(_zipf(80), np.zeros(20))
    false, more = [], 0
    for _ in range(40):
        hits = rng.integers(0, CELLS, (COHORTS, 100, HASHES))
        found = decode(*_bits(rng, shares, hits, 300_000), hits, CHANCES)
        plain = detected(found.p_value, "fdr", 0.05)
        assert (plain <= found.detected).all()
        assert found.absent is not None
        assert found.absent < 0.6
        more += int(found.detected.sum() - plain.sum())
        false.append((found.detected & (shares == 0)).sum() / max(1, found.detected.sum()))
    # The part of a draw has a standard deviation of about 0.05, and the mean of 40 one of 0.008.
    assert np.mean(false) <= 0.05 + 2 * 0.008
    assert more > 40


def test_distribution_of_shares_keeps_its_mean_and_puts_nulls_at_zero() -> None:
    rng = np.random.default_rng(7)
    truth = np.append(np.full(20, 0.05), np.zeros(180))
    estimate, variance = truth + rng.normal(0, 0.01, 200), np.full(200, 1e-4)
    spread = Spread.between(0.01, float(estimate.max()), None).learn(estimate, variance, 60)
    assert spread.weights.sum() == pytest.approx(1)
    assert spread.weights @ spread.points <= 1 / 200 + 1e-9
    mean, known = spread.posterior(estimate, variance)
    assert (mean[20:] < 0.01).mean() > 0.95
    assert mean[:20].mean() == pytest.approx(0.05, abs=0.01)
    assert (known >= 0).all()


def test_a_cohort_without_reports_is_left_out() -> None:
    rng = np.random.default_rng(8)
    hits = rng.integers(0, CELLS, (COHORTS, 10, HASHES))
    counts, totals = _bits(rng, np.full(10, 0.1), hits, 50_000)
    some = decode(counts, totals, hits, CHANCES)
    empty = np.zeros((1, CELLS), dtype=int)
    more = decode(
        np.vstack([counts, empty]),
        np.append(totals, 0),
        np.concatenate([hits, np.zeros((1, 10, HASHES), dtype=int)]),
        CHANCES,
    )
    assert more.estimate == pytest.approx(some.estimate)


def test_few_reports_are_flagged_and_intervals_stay_possible() -> None:
    rng = np.random.default_rng(9)
    hits = rng.integers(0, CELLS, (COHORTS, 5, HASHES))
    counts, totals = _bits(rng, np.full(5, 0.2), hits, 60)
    found = decode(counts, totals, hits, CHANCES)
    assert found.flags == ("few",)
    assert ((found.low >= 0) & (found.low < found.high) & (found.high <= 1)).all()


@pytest.mark.parametrize(
    ("shape", "hits", "message"),
    [
        ((3, 1), (3, 2, 1), "expected at least 2 cells and 1 candidate, got 1, 2"),
        ((3, 4), (3, 0, 1), "got 4, 0"),
        ((3, 4), (2, 5, 1), "expected totals"),
        ((3, 4), (3, 5, 1), "expected at least one report, got none"),
    ],
)
def test_impossible_reports_are_refused(
    shape: tuple[int, int], hits: tuple[int, int, int], message: str
) -> None:
    nothing = np.zeros(shape, dtype=int)
    with pytest.raises(ValueError, match=message):
        decode(nothing, np.zeros(3, dtype=int), np.zeros(hits, dtype=int), CHANCES)


def test_reports_without_information_are_refused() -> None:
    one = np.ones((1, 2), dtype=int)
    with pytest.raises(ValueError, match="p and q must differ"):
        decode(one, np.array([5]), np.zeros((1, 1, 1), dtype=int), Chances((0.5, 0.5)))
