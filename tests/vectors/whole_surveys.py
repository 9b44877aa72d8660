"""Samples for vectors of whole devices: surveys with answers, and some to refuse."""

from typing import Any

import samples

#: Encoders, some of which fit some questions of `samples.questions`.
FITTING: list[tuple[str, dict[str, Any]]] = [
    *(("index", {"inputs": inputs}) for inputs in (2, 3, 4)),
    *(("onehot", {"inputs": inputs}) for inputs in (2, 3, 4)),
    ("hash", {"values": 3, "digits": 2, "inputs": 2}),
    ("hash", {"values": 2, "digits": 1, "inputs": 2}),
    *(("grid", {"steps": steps, "inputs": inputs}) for steps, inputs in ((4, 5), (4, 6), (4, 9))),
    *(
        (name, {"options": options, "at_most": most, "inputs": inputs})
        for name, more in (("multihot", 1), ("padded", 0))
        for options, most in ((3, 2), (3, 3), (2, 2))
        for inputs in (options + more + most * (name == "padded") + skips for skips in (0, 1))
    ),
    *(
        ("group", {"parts": parts, "picked": picked, "inputs": 2**picked + skips})
        for parts, picked in ((4, 2), (3, 3), (3, 2), (2, 2))
        for skips in (0, 1)
    ),
    *(("pick", {"parts": parts, "inputs": inputs}) for parts in (3, 4) for inputs in (2, 3)),
    *(("order", {"items": 3, "inputs": inputs}) for inputs in (6, 7)),
    *(("suborder", {"items": 4, "picked": 3, "inputs": inputs}) for inputs in (6, 7)),
    ("digest", {"functions": 4, "inputs": 3}),
    ("bloom", {"functions": 4, "hashes": 2, "inputs": 8}),
    *(
        ("prefix", {"functions": 4, "lengths": lengths, "inputs": 3})
        for lengths in ([2], [3], [1, 4], [1, 8], [7], [9])
    ),
]

_OPTIONS = [{"id": name, "text": name} for name in ("a", "b")]
_QUESTION = {"kind": "choice", "text": "?", "options": _OPTIONS, "epsilon": 1}
_SKIPPED = {"required": False, "no_answer": True, "mechanism": {"name": "krr"}}
_WINDOW = {"name": "window", "inputs": 3, "width": 1, "near": 271, "far": 100}
_FREE = {"encoder": {"name": "index", "inputs": 3}, "channel": _WINDOW, "ratio": ["271", "100"]}
_KEPT = {
    "encoder": {"name": "index", "inputs": 3},
    "permanent": {**_WINDOW, "near": 3, "far": 1},
    "channel": {**_WINDOW, "near": 2, "far": 1},
    **{"ratio": ["4", "3"], "forever": ["3", "1"]},
}
_TWO = {**_FREE, "encoder": {"name": "index", "inputs": 2}, "channel": {**_WINDOW, "inputs": 2}}
_TICKS = {
    "encoder": {"name": "multihot", "options": 2, "at_most": 1, "inputs": 4},
    "channel": {"name": "bits", "inputs": 4, "one": 5, "zero": 4, "total": 9},
    "ratio": ["25", "16"],
}
_LOOSE = {**_FREE, "ratio": ["27", "10"], "delta": ["1", "471"]}
#: A sound survey: three questions, of which the last has a memory.
LIMITED: dict[str, Any] = {
    "survey": {
        "id": "s",
        "title": "S",
        "privacy": {"cap": 9},
        "questions": [
            {"id": "p", **_QUESTION, **_SKIPPED},
            {"id": "q", **_QUESTION, **_SKIPPED, "shows_if": ["=", "p", "a"]},
            {"id": "r", **_QUESTION, **_SKIPPED, "epsilon_forever": 1.1, "memory": 2},
        ],
    },
    "randomizers": {"p": _FREE, "q": _FREE, "r": _KEPT},
}
_Q, _R = "survey/questions/1/", "survey/questions/2/"
#: Changes of `LIMITED`, each with whether the result is sound.
LIMITS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"survey/codes": {"q": {"a": -88, "b": "B 1"}}}, True),
    ({_Q + "epsilon": 0.9970}, True),
    ({_Q + "epsilon": 0.9969}, False),
    ({_Q + "epsilon": -1}, False),
    ({"randomizers/q": _LOOSE}, False),
    ({"randomizers/q": _LOOSE, _Q + "delta": 0.003}, True),
    ({"randomizers/q": _LOOSE, _Q + "delta": 0.002}, False),
    ({_R + "epsilon_forever": 1.0987}, True),
    ({_R + "epsilon_forever": 1.0986}, False),
    ({_R + "epsilon_forever": ...}, False),
    ({_Q + "epsilon_forever": 2}, False),
    ({_R + "memory": ...}, True),
    *(({_R + "memory": memory}, False) for memory in (1, 3, "2")),
    ({_Q + "memory": 2}, False),
    ({_R + "stable": True}, True),
    ({_R + "stable": 1}, False),
    ({_Q + "stable": True}, False),
    ({"randomizers/q": ...}, False),
    ({"randomizers/q": _TWO}, False),
    ({"randomizers/q": _TWO, _Q + "no_answer": False, _Q + "required": True}, False),
    (
        {
            "randomizers/q": _TWO,
            _Q + "no_answer": False,
            _Q + "required": True,
            _Q + "shows_if": ...,
        },
        True,
    ),
    ({"randomizers/q": {**_FREE, "ratio": ["270", "100"]}}, False),
    ({_Q + "kind": "choices", _Q + "at_most": 1, "randomizers/q": _TICKS}, True),
    # Ticking "none" would set two flags, and spend more than ε.
    *(
        (
            {
                _Q + "kind": "choices",
                _Q + "at_most": 1,
                "randomizers/q": _TICKS,
                _Q + "options/0/id": name,
            },
            False,
        )
        for name in ("none", "no-answer", "", "b", 1)
    ),
    ({_Q + "options/0/id": "none"}, True),
    ({_Q + "kind": "date"}, False),
    ({_Q + "shows_if": []}, False),
    ({"randomizers/r": {**_KEPT, "forever": ["2", "1"]}}, False),
    ({"randomizers/r": {**_KEPT, "permanent": {**_WINDOW, "near": 1, "far": 3}}}, False),
]

#: An invitation without its last digit.
TOKEN = "".join(chr(65 + place) for place in range(23))


def longest(most: int) -> list[str]:
    """Return texts before they are normalized, as long as allowed and longer by a code point."""
    return [
        " " * (18 * most + extra) + end for extra in (97, 98, 99) for end in ("ab", "\U0001d41ab")
    ]


def everything() -> dict[str, Any]:
    """Return a survey with every kind of question, some of which are hidden."""
    conditions: dict[str, list[Any]] = {
        "team": ["=", "must", "yes"],
        "heat": ["or", ["<", "income", 500.5], ["=", "must", "no"]],
        "often": ["selected", "where", "home"],
        "tiny": [">=", "income", 1000],
        "best": ["not", ["=", "team", "no-answer"]],
        "drug": ["and", ["!=", "team", "lab"], ["<=", "income", 20]],
    }
    entries: list[dict[str, Any]] = []
    # Ids of digits, which an object would have in another order.
    names = {"often": "20", "order": "3"}
    for question in sorted(samples.questions(), key=lambda one: one["id"] != "must"):
        name = question["id"]
        one = {**question, "id": names.get(name, name)}
        one["mechanism"] = {"name": samples.SERVED[question["kind"]]}
        if name == "word":
            one["mechanism"] = {"name": "hashed-krr"}
        if name in conditions:
            one |= {"shows_if": conditions[name], "no_answer": True, "required": False}
        elif not one["no_answer"]:
            one["required"] = True
        entries.append(one)
    entries.insert(2, {"id": "hello", "kind": "note", "text": "Hello"})
    return {
        **{"id": "every", "title": "Every kind", "privacy": {"cap": 40.5}, "access": "invited"},
        **{"proof_of_work": 5, "questions": entries},
    }


#: Answers to these questions as controls hold them: with questions hidden, and with none.
ANSWERS: list[dict[str, str]] = [
    {
        **{"must": "yes", "team": "office", "income": "10.25", "heat": "-.5", "tiny": "2e-7"},
        **{"where": "lab|home", "all": "home|office|lab", "20": "3", "best": "home|lab|office"},
        **{"3": "office|home|lab", "drug": " SPEED\t", "word": "Éa"},
    },
    {
        **{"must": "no", "team": "lab", "income": "1e3", "heat": "60.25", "tiny": "1.5e-07"},
        **{"where": "none", "all": "none", "20": "no-answer", "best": "lab|office|home"},
        **{"3": "lab|office|home", "drug": "Mdma", "word": "xyz"},
    },
    {
        **{"must": "yes", "team": "", "income": "", "heat": "", "tiny": ""},
        **{"where": "", "all": "lab", "20": "", "best": "", "3": "home|office|lab"},
        **{"drug": "", "word": "Z"},
    },
]
#: Answers to `samples.panel` in three waves.
PANEL_ANSWERS: list[dict[str, str]] = [
    {"born": "o1", "seen": "o1", "glad": "1", "sad": "3", "fresh": "o2"},
    {"born": "o1", "seen": "o2", "glad": "1", "sad": "3", "fresh": "o1"},
    {"born": "o1", "seen": "o2", "glad": "3", "sad": "3", "fresh": "o1"},
]

_PART = {"kind": "choice", "text": "?", "epsilon": 2.5, "required": False, "no_answer": True}
_TOGETHER = {"mechanism": {"name": "together"}}
_INDEX = {"name": "index", "inputs": 3}
_SETS = {"name": "multihot", "options": 2, "at_most": 2, "inputs": 4}
_COUNTED = {"name": "pattern", "inputs": [3, 3], "sizes": [1, 1], "weights": [6, 4, 2]}
#: Two tables, one of which asks each person two of three questions, and a separate question.
TOGETHER: dict[str, Any] = {
    "survey": {
        "id": "tables",
        "title": "Tables",
        "privacy": {"cap": 50},
        "questions": [
            {"id": "alone", **_QUESTION, **_SKIPPED},
            {"id": "d", **_PART, **_TOGETHER, "options": _OPTIONS, "epsilon": 3.7},
            *(
                {"id": name, **_PART, **_TOGETHER, "options": _OPTIONS, **more}
                for name, more in (("a", {}), ("b", {"shows_if": ["=", "a", "a"]}), ("c", {}))
            ),
            {"id": "e", **_PART, **_TOGETHER, "kind": "choices", "at_most": 2}
            | {"options": _OPTIONS, "epsilon": 3.7},
        ],
        "together": [
            {"id": "t1", "questions": ["a", "b", "c"], "epsilon": 3, "epsilon_each": 2.5, "ask": 2},
            {"id": "t2", "questions": ["e", "d"], "epsilon": 5, "epsilon_each": 3.7},
        ],
    },
    "randomizers": {
        "alone": _FREE,
        "t1": {
            "encoders": [_INDEX] * 3,
            "channels": {"0,0": _COUNTED},
            "ratio": ["12", "1"],
            "each": ["6", "1"],
        },
        "t2": {
            "encoders": [_SETS, _INDEX],
            "channel": {
                "name": "pattern",
                "inputs": [2, 2, 2, 2, 3],
                "sizes": [1, 1, 1, 1, 1],
                "weights": [2**51, 2**51, 2**50, 2**49, 2**48, 2**45],
            },
            "ratio": ["128", "1"],
            "each": ["40", "1"],
        },
    },
}
TOGETHER_ANSWERS: list[dict[str, str]] = [
    {"alone": "a", "a": "a", "b": "b", "c": "", "d": "b", "e": "a|b"},
    {"alone": "", "a": "b", "b": "b", "c": "a", "d": "", "e": "none"},
    {"alone": "b", "a": "", "b": "", "c": "b", "d": "a", "e": ""},
]
