"""Vectors of several answers in one draw: see `generate.py`."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from analysis.core.channels.pattern import Pattern
from analysis.core.encoders.categories import Index
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.words import WORD, below, seeded_words


def _noted(words: Iterator[int], taken: list[int]) -> Iterator[int]:
    for word in words:
        taken.append(word)
        yield word


def _error(joint: dict[str, Any]) -> str:
    try:
        JointRandomizer.from_json(joint)
    except ValueError as refusal:
        return str(refusal)
    raise AssertionError("it is not refused")


def together() -> dict[str, Any]:
    """Several answers in one draw: randomizers with what they draw, and such as are refused."""
    channels = [
        Pattern((2, 2), (1, 1), (6, 2, 3, 1)),
        Pattern((2, 2, 2), (1, 1, 1), (27, 27, 9, 1)),
        Pattern((2, 3, 4), (1, 1, 2), (40, 9, 7, 5, 8, 4, 3, 2)),
        Pattern((2, 5, 3, 3), (1, 2, 1, 2), (2**52, 2**51, 2**40, 2**33, 3)),
    ]
    cases = []
    for number, channel in enumerate(channels):
        whole = JointRandomizer(tuple(map(Index, channel.inputs)), channel)
        draws = []
        for first in range(12):
            taken: list[int] = []
            words = _noted(seeded_words("together", number, first), taken)
            values = [(first + part) % k for part, k in enumerate(channel.inputs)]
            draws.append(
                {"values": values, "reports": whole.randomize(values, words), "words": taken}
            )
        each = max(marginal.epsilon for marginal in whole.marginals)
        cases.append({"joint": whole.to_json(), "epsilons": [whole.epsilon, each], "draws": draws})
    good = JointRandomizer(tuple(map(Index, (2, 2))), channels[0]).to_json()
    numbers = good["channel"]
    broken = [
        good | {"ratio": ["5", "1"]},
        good | {"each": ["5", "2"]},
        good | {"encoders": good["encoders"][:1]},
        good | {"encoders": [{"name": "onehot", "inputs": 2}, good["encoders"][1]]},
        good | {"encoders": [{"name": "index", "inputs": 3}, good["encoders"][1]]},
        good | {"channel": numbers | {"weights": [6, 2, 3, 0]}},
        good | {"channel": numbers | {"weights": [6, 2, 3, 1, 1]}},
        good | {"channel": numbers | {"weights": [2**53 - 1, 2, 3, 1]}},
        good | {"channel": numbers | {"sizes": [1, 2]}},
        good | {"channel": numbers | {"sizes": [1]}},
        good | {"channel": numbers | {"inputs": [1, 2]}},
        good | {"channel": numbers | {"name": "subset"}},
    ]
    refused = [{"joint": one, "error": _error(one)} for one in broken]
    return {"cases": cases, "refused": refused, "below": _wide_draws()}


def _wide_draws() -> list[dict[str, Any]]:
    """Draws of integers below more than 2^32, which take two words each."""
    draws = []
    for total, first, second in product((WORD + 1, 3 * WORD, 2**53 - 1), *[(0, 5, WORD - 1)] * 2):
        taken: list[int] = []
        result = below(total, _noted(iter([first, second, 9, 11]), taken))
        draws.append({"total": total, "result": result, "words": taken})
    return draws
