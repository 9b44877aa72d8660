"""Mechanisms: named recipes that compile to a randomizer, and debias its reports."""

from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.classic import Crosswise, Forced, TwoCoin, Unrelated, Warner
from analysis.mechanisms.grid_window import Duchi, Piecewise, SquareWave
from analysis.mechanisms.hashed_krr import Hadamard, HashedKrr
from analysis.mechanisms.inverted_table import Exponential, Optimal
from analysis.mechanisms.noise import Gaussian, Laplace
from analysis.mechanisms.one_of_k import Krr, OptimizedUnary, SubsetSelection, SymmetricUnary
from analysis.mechanisms.one_of_texts import Rappor
from analysis.mechanisms.several import AllBits, Permutations, PickOne
from analysis.mechanisms.several_at_once import GroupOfItems, GroupOfOptions, PrivSet

#: If several mechanisms are equally good, the first is chosen.
_ALL: tuple[Mechanism, ...] = (
    Krr(),
    SubsetSelection(),
    OptimizedUnary(),
    SymmetricUnary(),
    HashedKrr(),
    Hadamard(),
    Warner(),
    TwoCoin(),
    Forced(),
    Unrelated(),
    Crosswise(),
    Optimal(),
    Exponential(),
    SquareWave(),
    Piecewise(),
    Duchi(),
    Laplace(),
    Gaussian(),
    PickOne(),
    AllBits(),
    Permutations(),
    PrivSet(),
    GroupOfOptions(),
    GroupOfItems(),
    Rappor(),
)

#: Every mechanism by its name in the survey file.
MECHANISMS: dict[str, Mechanism] = {mechanism.name: mechanism for mechanism in _ALL}
