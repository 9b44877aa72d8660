"""Two published LDP libraries behind one interface, and what their mechanisms cost in variance.

pure-ldp 1.2.0 (Maddock) and multi-freq-ldpy 0.2.5 (Arcolezi), as they are: their client is called
once for each respondent, their server aggregates and estimates the whole domain. Nothing of ours is
imported, so that a comparison compares two programs. Needs `pip install '.[bench]'`.

    for peer in PEERS:
        shares = peer.estimate(peer.randomize(values, k, epsilon), k, epsilon)

ε is per report. Mechanisms bear our names where we have one:

    krr         GRR, direct encoding               hashed-krr  OLH, g = round(e^ε) + 1
    sue, oue    unary encoding                     flh         OLH over 500 shared seeds
    subset      SS, w = round(k / (e^ε + 1))       hadamard    Hadamard response
    the, she    Laplace histogram, with a threshold (THE) and summed (SHE)
"""

import random
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, exp, floor, log2
from typing import Any

import numpy as np
import xxhash
from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE
from numba import njit
from numpy.typing import NDArray
from pure_ldp import frequency_oracles as pure
from scipy.optimize import fminbound

Floats = NDArray[np.float64]

SEEDS = 500  # FLH has no default; this number is our choice


@dataclass(frozen=True)
class Peer:
    """One mechanism of one library.

    `randomize(values, k, epsilon)` gives a report for each of the (n,) integers `0 <= value < k`.
    `estimate(reports, k, epsilon)` gives (k,) shares. Where `raw` they are the unbiased ones, which
    may lie outside [0, 1]; else the library has clipped them at 0 and scaled them to sum 1, and
    offers no way around it.
    """

    name: str
    mechanism: str
    randomize: Callable[[NDArray[np.int64], int, float], list[Any]]
    estimate: Callable[[list[Any], int, float], Floats]
    raw: bool


# ---- pure-ldp

_OLH: dict[str, Any] = {"use_olh": True}
_FLH: dict[str, Any] = {"use_olh": True, "k": SEEDS}  # k is not the domain's size there


def _pure(mechanism: str, client: Callable[..., Any], server: Callable[..., Any]) -> Peer:
    """`client` and `server` take (epsilon, k, index_mapper=) and build the library's objects."""

    def randomize(values: NDArray[np.int64], k: int, epsilon: float) -> list[Any]:
        # Values count from 1 in this library unless told otherwise.
        privatise = client(float(epsilon), k, index_mapper=int).privatise
        with _quiet():
            return [privatise(value) for value in values.tolist()]

    def estimate(reports: list[Any], k: int, epsilon: float) -> Floats:
        oracle = server(float(epsilon), k, index_mapper=int)
        with _quiet():
            oracle.aggregate_all(reports)
            counts = oracle.estimate_all(range(k), suppress_warnings=True, normalization=0)
        return np.asarray(np.asarray(counts) / oracle.n)

    return Peer("pure-ldp", mechanism, randomize, estimate, raw=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence FLH's warning for small n, which no option stops, and HR's for bounds of floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@lru_cache(maxsize=64)
def _hadamard_server(epsilon: float, k: int) -> Any:
    # Its estimate raises IndexError if ε > 1, k > 128 and k fills all blocks, as ε = 2 and k = 252
    # do.
    return pure.HadamardResponseServer(epsilon, k, index_mapper=int)


def _hadamard_client(epsilon: float, k: int, index_mapper: Any) -> Any:
    # For ε > 1 the server draws a permutation of the domain, which its clients must be given.
    hash_funcs = _hadamard_server(epsilon, k).get_hash_funcs()
    return pure.HadamardResponseClient(epsilon, k, hash_funcs, index_mapper=index_mapper)


def _empty_hadamard_server(epsilon: float, k: int, index_mapper: Any) -> Any:
    _hadamard_server(epsilon, k).reset()  # forgets the reports, but keeps the permutation
    return _hadamard_server(epsilon, k)


# ---- multi-freq-ldpy


def _multi(mechanism: str, client: Callable[..., Any], server: Callable[..., Any]) -> Peer:
    """`client` takes (value, k, epsilon), `server` (reports, k, epsilon); both are functions."""

    def randomize(values: NDArray[np.int64], k: int, epsilon: float) -> list[Any]:
        epsilon = float(epsilon)  # an int would make numba compile once more
        return [client(value, k, epsilon) for value in values.tolist()]

    def estimate(reports: list[Any], k: int, epsilon: float) -> Floats:
        return np.asarray(server(reports, k, float(epsilon)))

    return Peer("multi-freq-ldpy", mechanism, randomize, estimate, raw=False)


def _unary_server(reports: list[Any], k: int, epsilon: float, optimal: bool) -> Floats:
    # This one takes no k.
    return np.asarray(UE.UE_Aggregator_MI(reports, epsilon, optimal))


PEERS: list[Peer] = [
    _pure("krr", pure.DEClient, pure.DEServer),
    _pure("sue", pure.UEClient, pure.UEServer),
    _pure("oue", partial(pure.UEClient, use_oue=True), partial(pure.UEServer, use_oue=True)),
    _pure("hashed-krr", partial(pure.LHClient, **_OLH), partial(pure.LHServer, **_OLH)),
    _pure("flh", partial(pure.FastLHClient, **_FLH), partial(pure.FastLHServer, **_FLH)),
    _pure("hadamard", _hadamard_client, _empty_hadamard_server),
    _pure("the", pure.HEClient, partial(pure.HEServer, use_the=True)),  # overwrites its reports
    _pure("she", pure.HEClient, pure.HEServer),
    _multi("krr", GRR.GRR_Client, GRR.GRR_Aggregator_MI),
    _multi("sue", partial(UE.UE_Client, optimal=False), partial(_unary_server, optimal=False)),
    _multi("oue", partial(UE.UE_Client, optimal=True), partial(_unary_server, optimal=True)),
    _multi("hashed-krr", LH.LH_Client, LH.LH_Aggregator_MI),
    _multi("subset", SS.SS_Client, SS.SS_Aggregator_MI),
    _multi("the", HE.HE_Client, HE.HE_Aggregator_MI),
    _multi("she", HE.HE_Client, partial(HE.HE_Aggregator_MI, use_thresh=False)),
]


@njit  # type: ignore[untyped-decorator]  # numba has no annotations
def _seed_numba(seed: int) -> None:
    np.random.seed(seed)


def warm_up(seed: int, mechanisms: Container[str]) -> None:
    """Compile all that numba compiles for these mechanisms, by one report of each of their peers.

    Then seed the generators.
    """
    for peer in PEERS:
        if peer.mechanism not in mechanisms:
            continue
        peer.estimate(peer.randomize(np.array([1]), 4, 1.0), 4, 1.0)
    _hadamard_server.cache_clear()
    random.seed(seed)
    np.random.seed(seed)
    _seed_numba(seed)


# ---- variance


def variance(mechanism: str, k: int, epsilon: float, shares: Floats) -> float:
    """Return n times the variance of one share's unbiased estimate, averaged over the domain.

    The (k,) true `shares` are fixed, as in a census: only the mechanism is random. It is that of
    the unbiased estimate also for multi-freq-ldpy, whose clipped one has less variance and a bias.
    By hand: krr, k = 2, ε = ln 3 has p = 3/4, q = 1/4, thus (3/16) / (1/4) = 0.75.

    References
    ----------
    Wang et al., USENIX Security 2017, section 3 ("pure" protocols), with the term in the share;
    Acharya, Sun and Zhang, AISTATS 2019, for the Hadamard response.
    """
    e = exp(epsilon)
    if mechanism == "hadamard":
        return _hadamard(k, epsilon)
    if mechanism == "she":
        return 8 / epsilon**2  # Laplace of scale 2 / ε
    if mechanism == "flh":
        support, p, q = _pool_support(k, epsilon)
        return float(((support * (1 - support)) @ shares).mean() / (p - q) ** 2)
    g, theta = round(e) + 1, _threshold(epsilon)
    w = max(1, round(k / (e + 1)))
    own = w * e / (w * e + k - w)
    p, q = {  # the probabilities that a report supports its own value, and another one
        "krr": (e / (e + k - 1), 1 / (e + k - 1)),
        "sue": (exp(epsilon / 2) / (exp(epsilon / 2) + 1), 1 / (exp(epsilon / 2) + 1)),
        "oue": (1 / 2, 1 / (e + 1)),
        "hashed-krr": (e / (e + g - 1), 1 / g),
        "subset": (own, (w - own) / (k - 1)),
        "the": (1 - exp(epsilon / 2 * (theta - 1)) / 2, exp(-epsilon / 2 * theta) / 2),
    }[mechanism]
    return q * (1 - q) / (p - q) ** 2 + float(np.mean(shares)) * (1 - p - q) / (p - q)


def variances(k: int, epsilon: float, shares: Floats) -> dict[tuple[str, str], float]:
    """Return the `variance` of each of `PEERS`, by (name, mechanism)."""
    return {(p.name, p.mechanism): variance(p.mechanism, k, epsilon, shares) for p in PEERS}


def pool_error(k: int, epsilon: float, shares: Floats) -> float:
    """Return the mean squared bias of "flh": its seeds are 0..499, so more reports do not help.

    The mean squared error of one share among n reports is `variance("flh", ...) / n` plus this.
    """
    support, p, q = _pool_support(k, epsilon)
    return float(np.mean(((support @ shares - q) / (p - q) - shares) ** 2))


def _hadamard(k: int, epsilon: float) -> float:
    """Blocks of b outputs, each for b - 1 values that are drawn by a random permutation.

    A report estimates ±c/(e^ε - 1) if it fell into the value's block, which a respondent from this
    block does with probability (e^ε + 1)/c, another one with 2/c. One block up to ε = 1, later a
    power of two, also if some stay unused.
    """
    e = exp(epsilon)
    blocks: int = 1 if epsilon <= 1 else 2 ** floor(log2(min(2 * k, e)))
    room: int = 2 ** ceil(log2(k / blocks + 1)) - 1
    sizes = [room] * (k // room) + [k % room]
    own = sum(size**2 for size in sizes) / k**2  # the mean share of a value's block
    c = 2 * blocks - 1 + e
    return c * (2 + own * (e - 1)) / (e - 1) ** 2 - 1 / k


def _threshold(epsilon: float) -> float:
    def loss(theta: float) -> float:
        high = exp(epsilon * theta / 2)
        return (2 * high - 1) / (1 + exp(epsilon * (theta - 1 / 2)) - 2 * high) ** 2

    return round(float(fminbound(loss, 0.5, 1)), 4)  # pure-ldp rounds so


@lru_cache(maxsize=64)
def _pool_support(k: int, epsilon: float) -> tuple[Floats, float, float]:
    """Return (k, k) probabilities that a report of the column supports the row's value.

    Then p, q.
    """
    e = exp(epsilon)
    g = round(e) + 1
    p, q = e / (e + g - 1), 1 / g
    hashes = np.array(
        [[xxhash.xxh32(str(v), seed=s).intdigest() % g for v in range(k)] for s in range(SEEDS)]
    )
    alike = sum((hashes == symbol).T.astype(float) @ (hashes == symbol) for symbol in range(g))
    return (1 + alike / SEEDS * (e - 1)) / (e + g - 1), p, q
