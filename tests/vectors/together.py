"""Vectors of several answers in one draw: see `generate.py`."""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_pattern import SampledPattern
from analysis.core.encoders.categories import Index
from analysis.core.encoders.several import Multihot
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.memory import Memory
from analysis.core.part_json import written
from analysis.core.words import WORD, below, seeded_bytes, seeded_words
from analysis.survey.joint_draw import sampled


def _noted(words: Iterator[int], taken: list[int]) -> Iterator[int]:
    for word in words:
        taken.append(word)
        yield word


def _error(joint: dict[str, Any], samples: tuple[tuple[int, ...], ...] = ()) -> str:
    try:
        JointRandomizer.from_json(joint, samples)
    except ValueError as refusal:
        return str(refusal)
    raise AssertionError("it is not refused")


def _of_one_each(channel: Pattern) -> JointRandomizer:
    return JointRandomizer(tuple(map(Index, channel.inputs)), channel)


def _values(encoder: Any) -> list[Any]:
    """Return every value of an encoder, in an order of its own."""
    if len(encoder.part_inputs) == 1:
        return list(range(encoder.inputs))
    sets = [
        flags for flags in product((0, 1), repeat=encoder.options) if sum(flags) <= encoder.at_most
    ]
    skipped = [None] * (encoder.inputs - encoder.options - 1)
    return [*((*flags, int(not any(flags))) for flags in sets), *skipped]


def together() -> dict[str, Any]:
    """Return several answers in one draw: randomizers with their draws, and some to refuse."""
    channels = [
        Pattern((2, 2), (1, 1), (6, 2, 3, 1)),
        Pattern((2, 2, 2), (1, 1, 1), (27, 27, 9, 1)),
        Pattern((2, 3, 4), (1, 1, 2), (40, 9, 7, 5, 8, 4, 3, 2)),
        Pattern((2, 5, 3, 3), (1, 2, 1, 2), (2**52, 2**51, 2**40, 2**33, 3)),
    ]
    several = [
        # Two options, none and no answer, beside a question of three; and three options alone.
        JointRandomizer(
            (Multihot(2, 2, 4), Index(3)),
            Pattern((2, 2, 2, 2, 3), (1, 1, 1, 1, 2), (90, *range(30, 0, -1), 2)),
        ),
        JointRandomizer((Multihot(3, 2, 4),), Pattern((2,) * 4, (1,) * 4, (40, 25, 9, 4, 2))),
    ]
    cases = []
    for number, whole in enumerate([*map(_of_one_each, channels), *several]):
        draws = []
        for first in range(12):
            taken: list[int] = []
            words = _noted(seeded_words("together", number, first), taken)
            values = [
                every[(first + part) % len(every)]
                for part, every in enumerate(map(_values, whole.encoders))
            ]
            draws.append(
                {"values": values, "reports": whole.randomize(values, words), "words": taken}
            )
        each = max(marginal.epsilon for marginal in whole.marginals)
        cases.append({"joint": whole.to_json(), "epsilons": [whole.epsilon, each], "draws": draws})
    good = _of_one_each(channels[0]).to_json()
    numbers = good["channel"]
    broken = [
        good | {"ratio": ["5", "1"]},
        good | {"each": ["5", "2"]},
        good | {"encoders": good["encoders"][:1]},
        good | {"encoders": [{"name": "onehot", "inputs": 2}, good["encoders"][1]]},
        good | {"encoders": [{"name": "index", "inputs": 3}, good["encoders"][1]]},
        good | {"encoders": [{"name": "multihot", "options": 2, "at_most": 2, "inputs": 3}]},
        good | {"encoders": [{"name": "multihot", "options": 1, "at_most": 2, "inputs": 2}]},
        # What two parts of one answer reveal together is not what each reveals.
        several[1].to_json() | {"each": written(several[1].channel.ratio([0])).split("/")},
        good | {"channel": numbers | {"weights": [6, 2, 3, 0]}},
        good | {"channel": numbers | {"weights": [6, 2, 3, 1, 1]}},
        good | {"channel": numbers | {"weights": [2**53 - 1, 2, 3, 1]}},
        good | {"channel": numbers | {"sizes": [1, 2]}},
        good | {"channel": numbers | {"sizes": [1]}},
        good | {"channel": numbers | {"inputs": [1, 2]}},
        good | {"channel": numbers | {"name": "subset"}},
    ]
    refused: list[dict[str, Any]] = [{"joint": one, "error": _error(one)} for one in broken]
    refused += [
        {"joint": one, "samples": _THREE, "error": _error(one, _THREE)}
        for one in _broken_of_some(several[1])
    ]
    refused.append({"joint": good, "samples": ((0,), (1,)), "error": _error(good, ((0,), (1,)))})
    asked = {"joint": _SOME.to_json(), "draws": _draws_of_some(), "samples": _samples()}
    return {"cases": cases, "refused": refused, "below": _wide_draws(), "asked": asked}


#: Five questions, of which the first three and the last two are alike; each person is asked three.
_THREE = tuple(combinations(range(5), 3))
_LAWS = {
    3: Pattern((4, 4, 4), (2, 2, 2), (27, 27, 9, 1)),
    2: Pattern((4, 4, 2), (2, 2, 1), (40, 9, 9, 4, 8, 4, 3, 2)),
    1: Pattern((4, 2, 2), (2, 1, 1), (30, 9, 7, 4, 7, 4, 3, 2)),
}
_SOME = JointRandomizer(
    (Index(4),) * 3 + (Index(2),) * 2,
    SampledPattern(_THREE, tuple(_LAWS[sum(place < 3 for place in one)] for one in _THREE)),
)


def _broken_of_some(options: JointRandomizer) -> list[dict[str, Any]]:
    """Return channels that do not fit the questions, wrong numbers of them, and wrong ratios."""
    some, whole = _SOME.to_json(), options.to_json()
    channels = some["channels"]
    first, *others = sorted(channels)
    mixed = JointRandomizer((Index(4),) * 5, _LAWS[3]).to_json()
    return [
        mixed,
        some | {"encoders": [{"name": "index", "inputs": 3}, *some["encoders"][1:]]},
        some | {"encoders": some["encoders"][::-1]},
        some | {"channels": {key: channels[key] for key in others}},
        some | {"channels": channels | {"1,2,3": channels[first]}},
        some | {"channels": channels | {first: channels[others[0]]}},
        some | {"channels": channels | {first: channels[first] | {"weights": [27, 27, 9, 2, 1]}}},
        some | {"channels": [channels[key] for key in channels]},
        some | {"ratio": ["26", "1"]},
        some | {"each": ["3", "1"]},
        whole | {"encoders": whole["encoders"] * 5},
        {"channels": {"0,0,0": whole["channel"]}, **_of(whole, 5)},
    ]


def _of(joint: dict[str, Any], times: int) -> dict[str, Any]:
    """Return a draw's JSON without its channel, with its encoders this many times."""
    others = {name: joint[name] for name in ("ratio", "each")}
    return {**others, "encoders": joint["encoders"] * times}


def _draws_of_some() -> list[dict[str, Any]]:
    draws = []
    for first, asked in enumerate(combinations(range(5), 3)):
        taken: list[int] = []
        words = _noted(seeded_words("asked", first), taken)
        inputs = [encoder.inputs for encoder in _SOME.encoders]
        values = [(first + at) % inputs[at] if at in asked else None for at in range(5)]
        reports = _SOME.randomize(values, words, asked)
        draws.append({"values": values, "asked": asked, "reports": reports, "words": taken})
    return draws


def _samples() -> list[dict[str, Any]]:
    """Return the questions that devices are asked, by their secrets, in some waves."""
    ids = ["a", "b", "c", "d", "e"]
    found = []
    for conditions in (
        {},
        {"b": ["=", "a", "yes"], "e": ["or", ["=", "b", "no"], ["=", "z", "x"]]},
    ):
        questions = [
            {"id": name, **({"shows_if": conditions[name]} if name in conditions else {})}
            for name in ids
        ]
        for ask in (2, 3, 4):
            table = {"id": "t", "questions": ids, "ask": ask}
            every = sampled(table, questions)
            drawn = []
            for number in range(4):
                secret, wave = seeded_bytes(32, "asked", number), 1 + 5 * number
                words = Memory.of(secret, "s", "t", bytes(32)).words("asked", wave)
                asked = every[below(len(every), words)]
                unasked = [name for place, name in enumerate(ids) if place not in asked]
                drawn.append({"secret": secret.hex(), "wave": wave, "unasked": unasked})
            case = {"survey": "s", "questions": questions, "table": table}
            found.append({**case, "every": every, "drawn": drawn})
    return found


def _wide_draws() -> list[dict[str, Any]]:
    """Return draws of integers below more than 2^32, which take two words each."""
    draws = []
    for total, first, second in product((WORD + 1, 3 * WORD, 2**53 - 1), *[(0, 5, WORD - 1)] * 2):
        taken: list[int] = []
        result = below(total, _noted(iter([first, second, 9, 11]), taken))
        draws.append({"total": total, "result": result, "words": taken})
    return draws
