"""Independent oracles agree: OpenDP, Google's dp-accounting, and the formulas of the papers.

Numbers lie in [-1, 1] here, as in the papers, so a mean's variance is 4 times that of its place.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import get_epsilon_gaussian, get_sigma_gaussian
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld import privacy_loss_mechanism as losses

from analysis import MECHANISMS, Randomizer, estimates, read_survey
from analysis.core.channels.shift import Shift
from analysis.core.domain import Categories, Numbers
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import exp_lower
from analysis.core.gaussian import analytic_sigma
from analysis.core.words import WORD
from analysis.mechanisms.noise import Gaussian, Laplace
from analysis.mechanisms.selection import variance

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)


@pytest.fixture(autouse=True, scope="module")
def _opendp_contrib() -> None:
    # OpenDP requires this call before it builds measurements whose proofs are not yet vetted.
    dp.enable_features("contrib")


def exact(epsilon: float) -> Fraction:
    return Fraction(repr(epsilon))


def categories(k: int) -> Categories:
    return Categories(tuple(f"v{value}" for value in range(k)))


def of_k(mechanism: str, k: int, epsilon: float) -> Randomizer[Any, Any]:
    return MECHANISMS[mechanism].compile(categories(k), exact(epsilon), {})


def numbers(steps: int) -> Numbers:
    return Numbers(Fraction(-1), Fraction(1), steps, no_answer=False)


# Randomized response


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [2, 3, 16, 100])
def test_opendp_gives_randomized_response_our_epsilon(k: int, epsilon: float) -> None:
    randomizer = of_k("krr", k, epsilon)
    window = randomizer.channel
    keep = window.near / window.total
    measured = [dp.m.make_randomized_response(list(range(k)), keep).map(1)]
    if k == 2:
        measured.append(dp.m.make_randomized_response_bool(keep).map(1))
    assert measured == pytest.approx([randomizer.epsilon] * len(measured), rel=0, abs=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [*product((2, 3), EPSILONS), (100, 0.1), (100, 4.0)])
def test_dp_accounting_gives_randomized_response_our_epsilon_and_delta(
    k: int, epsilon: float
) -> None:
    randomizer = of_k("krr", k, epsilon)
    window = randomizer.channel
    # Its parameter is the probability of a fully random report, which may be the true one.
    noise = k * window.far / window.total
    above, below = (
        pld.from_randomized_response(noise, k, pessimistic_estimate=pessimistic)
        for pessimistic in (True, False)
    )
    # Its privacy losses are multiples of 1e-4, rounded up or down.
    assert below.get_epsilon_for_delta(0) <= randomizer.epsilon + 1e-12
    assert randomizer.epsilon <= above.get_epsilon_for_delta(0) < randomizer.epsilon + 2e-4
    for part in (0, 0.5, 0.9):
        limit = exp_lower(exact(epsilon * part))
        delta = float(Randomizer(randomizer.encoder, window, limit).delta)
        low, high = (one.get_delta_for_epsilon(epsilon * part) for one in (below, above))
        assert low - 1e-12 <= delta <= high + 1e-12
        assert high - low < 3e-4


# Laplace


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 8, 64])
def test_opendp_gives_the_laplace_noise_our_epsilon(steps: int, epsilon: float) -> None:
    randomizer = Laplace().noise(steps, exact(epsilon), {})
    domain, metric = dp.atom_domain(T="i32"), dp.absolute_distance(T="i32")
    bound = dp.m.make_laplace(domain, metric, scale=steps / epsilon).map(steps)
    # OpenDP rounds up. Ours is below by the cost of whole weights, which is largest for the
    # smallest.
    assert randomizer.epsilon <= bound
    rarest = min(min(randomizer.channel.weights(x)) for x in range(steps + 1))
    assert randomizer.epsilon >= bound - 4 / rarest


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("steps", [1, 8, 64])
def test_dp_accounting_gives_the_laplace_noise_our_weights(steps: int, epsilon: float) -> None:
    shift = Laplace().draft(steps, epsilon, {})
    noise = losses.DiscreteLaplacePrivacyLoss(epsilon / steps, sensitivity=steps)
    # This is the noise that reaches the border or goes beyond it, and the noise that stays inside.
    chances = [noise.noise_cdf(-steps)]
    chances += np.diff([float(noise.noise_cdf(z)) for z in range(-steps, steps)]).tolist()
    chances += [1 - float(noise.noise_cdf(steps - 1))]
    ours = np.array(shift.noise) / shift.total
    assert ours == pytest.approx(chances, rel=0, abs=2 * steps / WORD)


# Gaussian


def gaussian_shift(steps: int, sigma: float) -> Shift:
    """Discrete Gaussian noise, clamped; the last weight on either side stands for its tail."""
    sizes = np.arange(steps + math.ceil(40 * sigma))
    density = np.exp(-(sizes**2) / (2 * sigma**2))
    half = [*density[:steps], density[steps:].sum()]
    scale = (WORD - 4 * steps) / (half[0] + 2 * sum(half[1:]))
    whole = [max(1, round(scale * weight)) for weight in half]
    return Shift(steps + 1, (*reversed(whole[1:]), *whole))


def rounding(steps: int, epsilon: float) -> float:
    """Return the error of δ from whole weights: each is off by a half, or raised to 1."""
    return 2 * (steps + 1) * (1 + math.exp(epsilon)) / WORD


def shift_delta(shift: Shift, epsilon: float) -> float:
    """Return our exact δ of a shift at an ε."""
    grid = Grid(shift.inputs - 1, shift.inputs)
    return float(Randomizer(grid, shift, exp_lower(exact(epsilon))).delta)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("delta", [1e-7, 1e-6, 1e-3, 0.1])
def test_dp_accounting_gives_the_analytic_gaussian_our_sigma(epsilon: float, delta: float) -> None:
    sigma = analytic_sigma(epsilon, delta)
    assert sigma == pytest.approx(get_sigma_gaussian(epsilon, delta), rel=1e-6)
    assert get_epsilon_gaussian(sigma, delta) == pytest.approx(epsilon, rel=1e-6)
    noise = losses.GaussianPrivacyLoss(sigma)
    assert noise.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)


#: Grids and σ. Clamping at the border changes nothing between the two ends if the likelier part,
#: which extends to steps/2 - ε σ²/steps, does not end before it: if steps² >= 2 ε σ².
SHIFTS = [
    pytest.param(steps, sigma, epsilon, steps**2 >= 2 * epsilon * sigma**2, id=f"{steps}-{sigma}")
    for steps, sigma, epsilon in [
        *((24, 8.0, 1.0), (64, 20.0, 4.0), (64, 64.0, 0.25), (12, 1.5, 8.0), (2, 1.0, 2.0)),
        *((8, 10.0, 1.0), (4, 8.0, 0.5), (64, 60.0, 3.0), (1, 3.0, 0.2), (16, 12.0, 2.0)),
    ]
]


@pytest.mark.parametrize(("steps", "sigma", "epsilon", "unseen"), SHIFTS)
def test_dp_accounting_bounds_delta_of_clamped_gaussian_noise_and_meets_it_where_tails_count(
    steps: int, sigma: float, epsilon: float, unseen: bool
) -> None:
    noise = losses.DiscreteGaussianPrivacyLoss(
        sigma, sensitivity=steps, truncation_bound=math.ceil(40 * sigma) + steps
    )
    unclamped = noise.get_delta_for_epsilon(epsilon)
    clamped = shift_delta(gaussian_shift(steps, sigma), epsilon)
    assert clamped <= unclamped + rounding(steps, epsilon)
    if unseen:
        assert clamped == pytest.approx(unclamped, rel=0, abs=rounding(steps, epsilon))
    else:
        assert clamped < unclamped - 1e-4


@pytest.mark.parametrize(("steps", "sigma", "epsilon", "unseen"), SHIFTS)
def test_opendp_bounds_delta_of_clamped_gaussian_noise(
    steps: int, sigma: float, epsilon: float, unseen: bool
) -> None:
    domain, metric = dp.atom_domain(T="i32"), dp.absolute_distance(T="i32")
    measurement = dp.m.make_gaussian(domain, metric, scale=sigma)
    profile = dp.c.make_zCDP_to_approxDP(measurement).map(steps)
    found = shift_delta(gaussian_shift(steps, sigma), epsilon)
    assert found <= profile.delta(epsilon) + rounding(steps, epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-6), (2.0, 1e-3), (8.0, 0.01)])
@pytest.mark.parametrize("steps", [4, 20, 64])
def test_gaussian_noise_is_discrete_gaussian_and_needs_no_more_of_it_than_unclamped(
    steps: int, epsilon: float, delta: float
) -> None:
    randomizer = Gaussian().noise(steps, exact(epsilon), {"delta": delta})
    noise = randomizer.channel.noise
    # σ follows from one ratio of weights; the others must agree.
    sigma = (2 * math.log(noise[steps] / noise[steps + steps // 2])) ** -0.5 * (steps // 2)
    ours = np.array(noise) / sum(noise)
    redone = np.array(gaussian_shift(steps, sigma).noise) / WORD
    assert ours == pytest.approx(redone, rel=0, abs=1e-6)
    assert sigma <= get_sigma_gaussian(epsilon, delta) * steps * (1 + 1e-6)
    assert randomizer.delta <= exact(delta)


# Numbers: variances of the papers


def variance_at(mechanism: str, steps: int, epsilon: float, number: Fraction) -> float:
    """Return the variance of one report's unbiased score for the number, by the exact channel."""
    domain = numbers(steps)
    randomizer = MECHANISMS[mechanism].compile(domain, exact(epsilon), {})
    (mean,) = MECHANISMS[mechanism].means(randomizer, domain)
    point, rest = divmod((number + 1) / 2 * randomizer.encoder.steps, 1)
    row = np.zeros(randomizer.channel.symbols)
    for x, chance in ((int(point), 1 - rest), (int(point) + 1, rest)):
        if chance:
            row += float(chance) * randomizer.channel.moments(x)[0]
    scores = float(mean.low) + float(mean.width) * np.array(mean.scores, dtype=float)
    assert row @ scores == pytest.approx(float(number), abs=1e-9)
    return float(row @ scores**2) - float(number**2)


def duchi(epsilon: float, x: float) -> float:
    """Duchi, Jordan and Wainwright, JASA 2018; Wang et al., ICDE 2019, section III-A."""
    return ((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2 - x**2


def piecewise(epsilon: float, x: float) -> float:
    """Wang et al., ICDE 2019, lemma 1."""
    root = math.exp(epsilon / 2)
    return x**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)


def hybrid(epsilon: float) -> float:
    """Worst case: Wang et al., ICDE 2019, corollary 1; Duchi's below ε* = 0.61."""
    if epsilon <= 0.61:
        return duchi(epsilon, 0)
    root = math.exp(epsilon / 2)
    return (root + 3) / (3 * root * (root - 1)) + (math.exp(epsilon) + 1) ** 2 / (
        root * (math.exp(epsilon) - 1) ** 2
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("number", [Fraction(-1), Fraction(0), Fraction(1, 3), Fraction(1)])
def test_duchi_has_its_published_variance(epsilon: float, number: Fraction) -> None:
    found = variance_at("duchi", 20, epsilon, number)
    assert found == pytest.approx(duchi(epsilon, float(number)), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("number", [Fraction(-1), Fraction(0), Fraction(1, 3), Fraction(1)])
def test_piecewise_approaches_its_variance_on_fine_grids(epsilon: float, number: Fraction) -> None:
    published = piecewise(epsilon, float(number))
    coarse, fine = (
        abs(variance_at("piecewise", steps, epsilon, number) / published - 1)
        for steps in (16, 1024)
    )
    # A window has a whole number of steps: of 138, at ε = 4, half a step is 0.4 %.
    assert fine < 0.01
    assert fine < coarse


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_piecewise_approaches_its_published_worst_case(epsilon: float) -> None:
    root, domain = math.exp(epsilon / 2), numbers(512)
    randomizer = MECHANISMS["piecewise"].compile(domain, exact(epsilon), {})
    found = 4 * variance(MECHANISMS["piecewise"], randomizer, domain)
    assert found == pytest.approx(4 * root / (3 * (root - 1) ** 2), rel=0.01)


@pytest.mark.parametrize(("epsilon", "limit"), [(0.5, 0.97), (1.0, 0.94), (2.0, 0.84), (4.0, 0.6)])
def test_optimal_is_better_than_the_hybrid_mechanism(epsilon: float, limit: float) -> None:
    randomizer = MECHANISMS["optimal"].compile(numbers(100), exact(epsilon), {})
    found = 4 * variance(MECHANISMS["optimal"], randomizer, numbers(100))
    # The best possible ratios are 0.960, 0.931, 0.831 and 0.580.
    assert found < limit * hybrid(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_square_wave_approaches_its_published_width_and_densities(epsilon: float) -> None:
    # Li et al., SIGMOD 2020, sections 5.2 and 5.3, as printed.
    e, steps = math.exp(epsilon), 1024
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    p, q = e / (2 * b * e + 1), 1 / (2 * b * e + 1)
    window = MECHANISMS["square-wave"].compile(numbers(steps), exact(epsilon), {}).channel
    # This is half a step of the width, and one output more than steps and width have together.
    assert window.width / steps == pytest.approx(2 * b, abs=0.5 / steps)
    assert window.near / window.total * steps == pytest.approx(p, rel=p / steps)
    assert window.far / window.total * steps == pytest.approx(q, rel=p / steps)


# One of k: variances of the papers, of one report at a share f


def olh(e: float, g: int, f: float) -> float:
    """Wang et al., USENIX Security 2017, section 4.3: local hashing to g symbols."""
    spread = (1 - e / (e + g - 1) - 1 / g) / (e / (e + g - 1) - 1 / g)
    return (e - 1 + g) ** 2 / ((e - 1) ** 2 * (g - 1)) + f * spread


def subset(e: float, k: int, f: float) -> float:
    """Ye and Barg, ISIT 2017; p and q by Wang et al. 2016."""
    w = max(1, round(k / (e + 1)))
    p = w * e / (w * e + k - w)
    q = (w * e * (w - 1) + (k - w) * w) / ((k - 1) * (w * e + k - w))
    return q * (1 - q) / (p - q) ** 2 + f * (1 - p - q) / (p - q)


#: By e^ε, the number of symbols and the share; the first three are sections 4.1 and 4.2 there.
PUBLISHED: dict[str, Callable[[float, int, float], float]] = {
    "krr": lambda e, k, f: (e + k - 2) / (e - 1) ** 2 + f * (k - 2) / (e - 1),
    "sue": lambda e, k, f: math.sqrt(e) / (math.sqrt(e) - 1) ** 2,
    "oue": lambda e, k, f: 4 * e / (e - 1) ** 2 + f,
    **{"hashed-krr": olh, "hadamard": olh, "subset": subset},
}


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", [2, 5, 16])
@pytest.mark.parametrize("mechanism", PUBLISHED)
def test_mechanism_has_its_published_variance(mechanism: str, k: int, epsilon: float) -> None:
    randomizer = of_k(mechanism, k, epsilon)
    share = MECHANISMS[mechanism].shares(randomizer, categories(k)).values[0]
    for f in (0.0, 0.05, 0.4):
        # Given who has the value; drawing people adds f(1-f).
        given = PUBLISHED[mechanism](math.exp(epsilon), randomizer.channel.inputs, f)
        assert share.variance(f) == pytest.approx(given + f * (1 - f), rel=1e-6)


# Classic designs: textbook estimators and variances, from 1,000 reports


def warner(rate: float, p: float) -> tuple[float, float]:
    """Warner, JASA 1965, equations 3 and 5."""
    share = (p - 1) / (2 * p - 1) + rate / (2 * p - 1)
    return share, share * (1 - share) + (1 / (16 * (p - 0.5) ** 2) - 0.25)


def forced(rate: float, p_yes: float, p_no: float) -> tuple[float, float]:
    """Fox and Tracy, Randomized Response, 1986; Blair, Imai and Zhou, JASA 2015, section 2.2."""
    share = (rate - p_yes) / (1 - p_yes - p_no)
    return share, rate * (1 - rate) / (1 - p_yes - p_no) ** 2


def unrelated(rate: float, p: float, prevalence: float) -> tuple[float, float]:
    """Greenberg et al., JASA 1969, section 3, for a known share."""
    share = (rate - (1 - p) * prevalence) / p
    return share, rate * (1 - rate) / p**2


def crosswise(rate: float, prevalence: float) -> tuple[float, float]:
    """Yu, Tian and Tang, Metrika 2008, section 3."""
    share = (rate + prevalence - 1) / (2 * prevalence - 1)
    own = prevalence * (1 - prevalence) / (2 * prevalence - 1) ** 2
    return share, share * (1 - share) + own


def two_coin(rate: float) -> tuple[float, float]:
    """Dwork and Roth 2014, section 3.2: rate = 1/4 + share / 2."""
    return 2 * rate - 0.5, 4 * rate * (1 - rate)


@pytest.mark.parametrize(
    ("mechanism", "design", "chances"),
    [
        ('{name = "warner", p = "3/4"}', warner, (0.75,)),
        ('{name = "warner", p = 0.2}', warner, (0.2,)),
        ('{name = "forced", p_yes = "1/6", p_no = "1/6"}', forced, (1 / 6, 1 / 6)),
        ('{name = "forced", p_yes = 0.05, p_no = 0.3}', forced, (0.05, 0.3)),
        ('{name = "unrelated", p = "2/3", prevalence = "1/2"}', unrelated, (2 / 3, 0.5)),
        ('{name = "unrelated", p = 0.7, prevalence = 0.1}', unrelated, (0.7, 0.1)),
        ('{name = "crosswise", prevalence = "1/4"}', crosswise, (0.25,)),
        ('{name = "crosswise", prevalence = "2/3"}', crosswise, (2 / 3,)),
        ('"two-coin"', two_coin, ()),
    ],
)
def test_classic_design_has_its_textbook_estimator_and_variance(
    mechanism: str,
    design: Callable[..., tuple[float, float]],
    chances: tuple[float, ...],
    tmp_path: Path,
) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(
        'title = "Classic"\nid = "classic"\nprivacy.cap = 12.0\n[[questions]]\nid = "asked"\n'
        f'kind = "yes-no"\ntext = "Have you?"\nrequired = true\nmechanism = {mechanism}\n'
    )
    n, yes = 1000, 420
    share, spread = design(yes / n, *chances)
    assert 0 < share < 1
    found = estimates(read_survey(file), {"asked": np.array([[yes, n - yes]])})
    assert [one.term for one in found] == ["yes", "no"]
    assert [one.estimate for one in found] == pytest.approx([share, 1 - share])
    assert [one.std_error for one in found] == pytest.approx([math.sqrt(spread / n)] * 2)
