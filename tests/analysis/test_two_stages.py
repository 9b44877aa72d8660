"""Check randomizers with a memory: law of one wave, costs of all waves, and kept draws."""

import hashlib
import hmac
import re
from fractions import Fraction
from itertools import count
from math import log
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.bits import Bits
from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets, Texts
from analysis.core.epsilon import exp_lower
from analysis.core.memory import Memory
from analysis.core.randomizer import Randomizer
from analysis.core.words import seeded_block, seeded_words
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import candidates, compile_as, compiled
from analysis.mechanisms.two_stages import can_remember

DOMAINS: list[Domain] = [
    Categories(("yes", "no")),
    Categories(("a", "b", "c", "d", NO_ANSWER)),
    Categories(tuple(f"v{value}" for value in range(40))),
    Numbers(Fraction(0), Fraction(1), 20, True),
    Sets(("a", "b", "c"), 2, True),
    Rankings(("a", "b", "c"), False),
    Texts(("a", "b"), 9, True),
    Texts(None, 9, True),
]
#: ε of one wave, and of all waves.
ASKED = [("1", "2"), ("0.5", "4"), ("2", "2.1"), ("3", "8"), ("0.1", "12")]
CASES = [
    pytest.param(name, domain, Fraction(once), Fraction(forever), id=f"{name}-{place}-{once}")
    for name, mechanism in MECHANISMS.items()
    for place, domain in enumerate(DOMAINS)
    if mechanism.parameters is None and mechanism.fits(domain)
    if name
    in ("krr", "oue", "sue", "hashed-krr", "hadamard", "pick", "multihot", "duchi", "rappor")
    for once, forever in ASKED
]
every_case = pytest.mark.parametrize(("name", "domain", "once", "forever"), CASES)
DIGEST = bytes(32)


def remembering(
    name: str, domain: Domain, once: Fraction, forever: Fraction
) -> Randomizer[Any, Any]:
    return compiled(MECHANISMS[name], domain, once, {}, forever)


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("group", Sets(tuple("abcd"), 4, True)),
        ("suborder", Rankings(tuple("abcde"), False)),
        ("privset", Sets(tuple("abcd"), 2, True)),
    ],
)
def test_mechanisms_that_could_identify_a_device_have_no_memory(name: str, domain: Domain) -> None:
    with pytest.raises(ValueError, match=f"{name} can have no memory"):
        remembering(name, domain, Fraction(2), Fraction(4))
    found = candidates(domain, Fraction(2), {}, Fraction(4))
    assert found[0].mechanism.name in ("pick", "multihot")


@every_case
def test_one_wave_has_the_law_without_a_memory(
    name: str, domain: Domain, once: Fraction, forever: Fraction
) -> None:
    fresh = MECHANISMS[name].compile(domain, once, {})
    kept = remembering(name, domain, once, forever)
    assert kept.encoder == fresh.encoder
    assert kept.epsilon == pytest.approx(float(once), rel=1e-5)
    least = np.array([fresh.channel.bounds()[0], kept.channel.bounds()[0]])
    most = np.array([fresh.channel.bounds()[1], kept.channel.bounds()[1]])
    assert least[0] == pytest.approx(least[1], rel=1e-4)
    assert most[0] == pytest.approx(most[1], rel=1e-4)


@every_case
def test_ratios_of_one_and_of_all_waves_are_at_most_what_was_asked(
    name: str, domain: Domain, once: Fraction, forever: Fraction
) -> None:
    kept = remembering(name, domain, once, forever)
    assert kept.stages is not None
    permanent, instant = kept.stages
    assert kept.ratio <= exp_lower(once)
    assert exp_lower(forever * Fraction(999, 1000)) < kept.forever <= exp_lower(forever)
    assert Randomizer.from_json(kept.to_json()) == kept
    kept.check_forever(forever)
    with pytest.raises(ValueError, match="over all waves must be at most"):
        kept.check_forever(forever - Fraction(1, 100))
    if isinstance(permanent, Bits):
        # A bit by itself is kept, and then flipped or not.
        for weight, whole in (
            (permanent.one, kept.channel.one),
            (permanent.zero, kept.channel.zero),
        ):
            chance = Fraction(weight, permanent.total)
            told = chance * instant.one + (1 - chance) * instant.zero
            assert told / instant.total == Fraction(whole, kept.channel.total)
        return
    rows = np.array([permanent.weights(x) for x in range(permanent.inputs)], dtype=object)
    told = rows @ np.array([instant.weights(x) for x in range(instant.inputs)], dtype=object)
    for x in range(permanent.inputs):
        exact = [Fraction(int(weight), permanent.total * instant.total) for weight in told[x]]
        assert exact == [chance for _, chance in kept.channel.distribution(x)]
    assert max(Fraction(max(column), min(column)) for column in told.T.tolist()) == kept.ratio


@every_case
def test_later_waves_cost_more_unless_the_answer_is_a_fact(
    name: str, domain: Domain, once: Fraction, forever: Fraction
) -> None:
    kept = remembering(name, domain, once, forever)
    assert kept.spent(0) == kept.spent(0, stable=True) == 0
    assert kept.spent(1) == kept.spent(1, stable=True) == kept.charge
    costs = [kept.spent(waves) for waves in range(6)]
    facts = [kept.spent(waves, stable=True) for waves in range(6)]
    assert costs == sorted(costs)
    assert all(fact <= cost for fact, cost in zip(facts, costs, strict=True))
    assert facts[-1] <= float(forever) * 1e6 + 1


def test_even_one_answer_can_cost_more_than_fresh_draws_would() -> None:
    # Reports that agree point to the kept symbol: with 40 symbols, 2 waves of ε 0.5 cost 0.55 each.
    kept = remembering("krr", DOMAINS[2], Fraction(1, 2), Fraction(4))
    assert kept.spent(2, stable=True) > 2.1 * kept.charge


@pytest.mark.parametrize(("once", "forever"), [("0.001", "15.5"), ("0.001", "20"), ("0.1", "20")])
def test_memories_that_32_bits_cannot_serve_are_refused(once: str, forever: str) -> None:
    message = f"epsilon_forever must be nearer to epsilon {once} for oue and weights of 32"
    with pytest.raises(ValueError, match=re.escape(message)):
        compile_as(MECHANISMS["oue"], DOMAINS[1], Fraction(once), {}, Fraction(forever))


def test_published_calibration_spends_less_than_asked() -> None:
    # The published e^ε1 = (p1 p2 + q1 q2) / (p1 q2 + q1 p2) ignores the k - 2 other symbols: asked
    # for ε 1 and 2 it gives .90, .70 and .17 with 4, 10 and 100 symbols.
    for k, delivered in ((4, 0.90), (10, 0.70), (100, 0.17)):
        e1, e2 = np.exp(1), np.exp(2)
        p1 = e2 / (e2 + k - 1)
        q1 = (1 - p1) / (k - 1)
        # This is solved for p2 with q2 = (1 - p2) / (k - 1).
        p2 = (e1 * p1 - q1) / (e1 * p1 - q1 + (k - 1) * (p1 - e1 * q1))
        q2 = (1 - p2) / (k - 1)
        assert (p1 * p2 + q1 * q2) / (p1 * q2 + q1 * p2) == pytest.approx(e1)
        true = p1 * p2 + (k - 1) * q1 * q2, p1 * q2 + q1 * p2 + (k - 2) * q1 * q2
        assert log(true[0] / true[1]) == pytest.approx(delivered, abs=0.005)
        ours = remembering("krr", Categories(tuple(map(str, range(k)))), Fraction(1), Fraction(2))
        assert ours.epsilon == pytest.approx(1, abs=1e-6)


def test_the_best_mechanism_that_can_have_a_memory_is_chosen() -> None:
    for domain in DOMAINS:
        found = candidates(domain, Fraction(1), {}, Fraction(2))
        assert found
        assert all(candidate.randomizer.stages for candidate in found)
    assert not can_remember(MECHANISMS["subset"].compile(DOMAINS[2], Fraction(1), {}))
    with pytest.raises(
        ValueError, match="epsilon_forever must be left out: subset can have no memory"
    ):
        compiled(MECHANISMS["subset"], DOMAINS[2], Fraction(1), {}, Fraction(2))


def memory(secret: bytes = b"s" * 32, question: str = "q", digest: bytes = DIGEST) -> Memory:
    return Memory.of(secret, "survey", question, digest)


def test_words_are_those_of_the_protocol() -> None:
    parts = [b"deniable-memory-1", b"survey", b"q", DIGEST, b"permanent"]
    parts += [(7).to_bytes(4, "big"), (300).to_bytes(4, "big")]
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    blocks = (
        hmac.new(b"s" * 32, message + block.to_bytes(4, "big"), hashlib.sha256).digest()
        for block in count()
    )
    drawn = memory().words("permanent", 7, 300)
    for _ in range(3):
        block = next(blocks)
        for start in range(0, 32, 4):
            assert next(drawn) == int.from_bytes(block[start : start + 4], "big")


def test_draws_for_different_purposes_have_different_words() -> None:
    streams = [
        memory().words("permanent", 0, 1),
        memory().words("permanent", 1, 0),
        memory().words("cohort", 0, 1),
        memory(b"t" * 32).words("permanent", 0, 1),
        memory(question="r").words("permanent", 0, 1),
        memory(digest=b"d" * 32).words("permanent", 0, 1),
        Memory.of(b"s" * 32, "surveyq", "", DIGEST).words("permanent", 0, 1),
    ]
    assert len({tuple(next(stream) for _ in range(4)) for stream in streams}) == len(streams)


@pytest.mark.parametrize("name", ["krr", "sue", "hashed-krr"])
def test_equal_answers_have_equal_kept_draws_and_fresh_reports(name: str) -> None:
    kept = remembering(name, DOMAINS[2], Fraction(1), Fraction(2))
    assert kept.stages is not None
    symbol = kept.encoder.encode(5, 0, iter(()))
    drawn = {
        kept.stages[0].remember(symbol, lambda x: memory().words("permanent", 0, x))
        for _ in range(20)
    }
    assert len(drawn) == 1
    reports = [kept.randomize(5, seeded_words("wave", wave), memory()) for wave in range(60)]
    assert len({str(report) for report in reports}) > 1
    if kept.encoder.cohorts:
        assert len({report["cohort"] for report in reports}) == 1


def test_kept_symbols_over_devices_have_the_permanent_law() -> None:
    kept = remembering("krr", DOMAINS[1], Fraction(1), Fraction(2))
    assert kept.stages is not None
    permanent, n = kept.stages[0], 4000
    counts = np.zeros(5)
    for device in range(n):
        own = memory(device.to_bytes(32, "big"))
        counts[permanent.remember(3, lambda x, own=own: own.words("permanent", 0, x))] += 1
    expected = n * np.array(permanent.weights(3)) / permanent.total
    # Chi-square with 4 degrees of freedom exceeds 33 once in a million.
    assert ((counts - expected) ** 2 / expected).sum() < 33


def test_a_kept_bit_depends_on_that_bit_of_the_input_alone() -> None:
    bits = Bits(40, 3, 1, 4)
    one = bits.remember((3, 7), lambda x: memory().words("permanent", 0, x))
    other = bits.remember((7, 9), lambda x: memory().words("permanent", 0, x))
    assert set(one) ^ set(other) <= {3, 9}
    alone = {bits.remember((x,), lambda y: memory().words("permanent", 0, y)) for x in range(40)}
    assert len(alone) > 5


def test_rounding_of_a_number_is_kept() -> None:
    kept = remembering("duchi", DOMAINS[3], Fraction(1), Fraction(2))
    encoder = kept.encoder
    for place in (Fraction(1, 3), Fraction(4, 5)):
        rounded = {encoder.encode(place, 0, memory().words("rounding")) for _ in range(9)}
        assert len(rounded) == 1


@pytest.mark.parametrize("name", ["krr", "oue"])
def test_many_reports_of_one_wave_are_drawn_as_single_ones(name: str) -> None:
    kept = remembering(name, DOMAINS[1], Fraction(1), Fraction(2))
    n = 20_000
    tally = kept.tally_many(kept.randomize_many(np.full(n, 2), seeded_block("many", name)))[0]
    mean, _ = kept.channel.moments(kept.encoder.encode(2, 0, iter(())))
    # This allows five standard deviations for each of at most six counts: wrong once in 300,000
    # runs.
    assert np.abs(tally - n * mean).max() < 5 * (n / 4) ** 0.5
