"""Hadamard response: the parity of some digits of the value, under randomized response.

One bit under a public cohort: Cormode, Kulkarni and Srivastava, "Marginal release under local
differential privacy", SIGMOD 2018; Acharya, Sun and Zhang, "Hadamard response", AISTATS 2019, send
the cohort's part of it, too. Rows of the Hadamard matrix are the linear functions over F_2.
Channel: encoder `hash` with g = 2, `window`.
By hand: ε = ln 3 keeps the bit 3 times in 4; any other value is supported 1 time in 2.
"""

from typing import ClassVar

from analysis.domain import Categories
from analysis.mechanisms.hashed_krr import HashedKrr


class Hadamard(HashedKrr):
    """A report of one bit and its cohort; near the best for many values at ε below 1."""

    name: ClassVar[str] = "hadamard"
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def bases(self, k: int) -> list[int]:
        return [2]
