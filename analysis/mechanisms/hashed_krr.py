"""k-RR of a hash: the value's symbol among g, by a public function that depends on the cohort.

This is local hashing (Wang et al., USENIX Security 2017, section 4.3) with a linear family over the
prime field F_g. Two values collide in exactly 1/g of the cohorts, so estimates are exactly
unbiased. Texts are hashed by a keyed family of SHA-256, whose collisions are not even; see
`analysis.estimate.decoding`. Channel: encoder `hash` (`digest` or `prefix` for texts), `window` of
width 1 over g symbols with near/far = e^ε. g has the least variance.
By hand: g = 3 and ε = ln 4 keep the symbol 4 times in 6, and support any other value 1 time in 3.
"""

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import scipy

from analysis.core.channels.window import Window
from analysis.core.domain import Categories, Estimand, Texts
from analysis.core.encoders.categories import Hash, is_prime
from analysis.core.encoders.text import Digest, Prefix
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.types import Integers
from analysis.mechanisms.base import NO_SHARES, Params, Share, Shares, spends
from analysis.mechanisms.one_of_k import OneOfK, window_of

#: The number of hash functions of texts, one for each cohort. With this many, and candidates fitted
#: together, the error of collisions is small compared with the noise.
FUNCTIONS = 256
#: Longer texts are not found. Each two letters more would cost all texts precision.
LONGEST_FOUND = 14
#: The most symbols, which is the best number for ε up to 4.8. Beyond, more symbols would be
#: slightly more precise, but the memory of decoding grows with their square.
MOST_SYMBOLS = 128
#: The most cells of a tally, one for each cohort and symbol, that can be kept and transformed.
MOST_CELLS = 2**20


class HashedKrr(OneOfK):
    """A mechanism for texts, and for values whose list would be too long for a report."""

    name: ClassVar[str] = "hashed-krr"
    called: ClassVar[str] = "randomized response of a public hash of the answer"
    cites: ClassVar[tuple[str, ...]] = ("wang2017",)
    serves: ClassVar[tuple[type, ...]] = (Categories, Texts)

    def compile(
        self, domain: Categories | Texts, epsilon: Fraction, params: Params
    ) -> Randomizer[Any, Window]:
        if domain.estimand is Estimand.TEXTS:
            return _of_texts(domain, epsilon)
        k = len(domain.ids)
        fitting = [g for g in self.bases(k) if g ** (digits_of(k, g) + 1) <= MOST_CELLS]
        if not fitting:
            raise ValueError(f"{self.name}: values must be at most {MOST_CELLS // 2}, got {k}")
        symbols = min(fitting, key=lambda g: _variance(g, k, float(exp_lower(epsilon))))
        encoder = Hash(k, digits_of(k, symbols), symbols)
        return spends(Randomizer(encoder, window_of(symbols, epsilon)), epsilon)

    def bases(self, k: int) -> list[int]:
        """Return the possible numbers of symbols: primes up to the first that is at least k."""
        primes = [2]
        while primes[-1] < min(k, MOST_CELLS**0.5):
            primes.append(next(n for n in range(primes[-1] + 1, 2 * primes[-1] + 1) if is_prime(n)))
        return primes

    def shares(self, randomizer: Randomizer[Any, Window], domain: Categories | Texts) -> Shares:
        if domain.estimand is Estimand.TEXTS:
            return NO_SHARES
        return super().shares(randomizer, domain)

    def support(self, randomizer: Randomizer[Hash, Window]) -> tuple[Fraction, Fraction]:
        window = randomizer.channel
        return window.p, Fraction(1, window.inputs)

    def cells(self, randomizer: Randomizer[Hash, Window], value: int) -> list[int]:
        encoder = randomizer.encoder
        cohorts = np.arange(encoder.cohorts)
        # A hash draws no words.
        values = np.full(len(cohorts), value)
        symbols = encoder.encode_many(values, cohorts, lambda n: np.empty(n, dtype=np.uint32))
        return [int(cell) for cell in cohorts * encoder.inputs + symbols]

    def supports(self, randomizer: Randomizer[Hash, Window], counts: Integers) -> Integers:
        """Return the support counts, by a Fourier transform over F_g of symbol and cohort's digits.

        A report (c, s) supports v if s = <c, v>. Let w = e^(2πi/g). That indicator is the mean over
        j of w^(j (s - <c, v>)). So the support of v is the mean of the transform at (j, j v).
        """
        g, digits = randomizer.encoder.inputs, randomizer.encoder.digits
        # The last axis of a cohort's number is its lowest digit.
        cells = counts.reshape(*[g] * digits, g)
        spectrum = scipy.fft.fftn(cells).reshape(-1, g)
        values = np.arange(randomizer.encoder.values)
        total = np.zeros(len(values))
        for factor in range(g):
            left, frequency = values, np.zeros(len(values), dtype=np.int64)
            for digit in range(digits):
                frequency += left % g * factor % g * g**digit
                left = left // g
            # The transform has w^-(c k) for the cohort, so that of the symbol is taken at -j.
            total += spectrum[frequency, -factor % g].real
        return np.rint(total / g).astype(np.int64)


def _of_texts(domain: Texts, epsilon: Fraction) -> Randomizer[Any, Window]:
    symbols = min(MOST_SYMBOLS, max(2, round(float(exp_lower(epsilon)) + 1)))
    if domain.candidates is None:
        encoder: Digest | Prefix = Prefix(FUNCTIONS // 2, lengths_to(domain.longest), symbols)
    else:
        encoder = Digest(FUNCTIONS, symbols)
    return spends(Randomizer(encoder, window_of(symbols, epsilon)), epsilon)


def lengths_to(longest: int) -> tuple[int, ...]:
    """Return the lengths of beginnings that are asked for. At the last, texts are whole.

    The last length gives the shares. In simulations, steps of two letters found the most texts of
    three to fourteen letters.
    """
    steps = [length for length in range(2, LONGEST_FOUND + 1, 2) if length < longest]
    return (*steps, *[longest] * (longest <= LONGEST_FOUND), longest + 1)


def digits_of(k: int, base: int) -> int:
    """Return the number of digits of the numbers 0..k-1."""
    digits = 1
    while base**digits < k:
        digits += 1
    return digits


def _variance(symbols: int, k: int, ratio: float) -> float:
    """Return the variance of a share of 1/k from one report of a hash with `symbols` symbols."""
    p = Fraction(ratio) / (Fraction(ratio) + symbols - 1)
    return Share("", p, Fraction(1, symbols)).variance(1 / k)


class Hadamard(HashedKrr):
    """Hadamard response: the parity of some digits of the value, under randomized response.

    A report is one bit of a public cohort (Cormode, Kulkarni and Srivastava, "Marginal release
    under local differential privacy", SIGMOD 2018). Acharya, Sun and Zhang, "Hadamard response",
    AISTATS 2019, send the cohort's part, too. Rows of the Hadamard matrix are the linear functions
    over F_2. Channel: encoder `hash` with g = 2, `window`.
    By hand: ε = ln 3 keeps the bit 3 times in 4. Any other value is supported 1 time in 2.

    A report is one bit and its cohort. It is nearly optimal for many values at ε below 1.
    """

    name: ClassVar[str] = "hadamard"
    called: ClassVar[str] = "Hadamard response"
    cites: ClassVar[tuple[str, ...]] = ("acharya2019",)
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def bases(self, k: int) -> list[int]:
        return [2]
