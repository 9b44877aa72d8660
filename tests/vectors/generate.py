"""Writes the vectors that bind Python to JavaScript: python tests/vectors/generate.py

They are made by the Python reference and read by both languages; `tests/test_vectors.py` makes
them again and compares. A change of a vector is a change of protocol.
"""

import json
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.channels import CHANNELS
from analysis.channels.subset import Subset
from analysis.channels.window import Window
from analysis.domain import Categories, Domain, Numbers
from analysis.encoders import Grid, Index
from analysis.kinds import KINDS
from analysis.logic import holds
from analysis.mechanisms import MECHANISMS, choose
from analysis.randomizer import Randomizer
from analysis.simulate import pseudonym
from analysis.survey import freeze, version_of
from analysis.words import WORD, below, bernoulli, seeded_words

HERE = Path(__file__).parent


class Tape:
    """A stream that remembers which words were taken."""

    def __init__(self, words: Any) -> None:
        self._words, self.taken = iter(words), list[int]()

    def __iter__(self) -> "Tape":
        return self

    def __next__(self) -> int:
        self.taken.append(next(self._words))
        return self.taken[-1]


def edges(channel: Any) -> list[int]:
    """Words at both ends of each interval that decides the first draw, and of those redrawn."""
    if isinstance(channel, Window):
        total, near, far = channel.total, channel.near, channel.far
        inside = channel.width * near
        marks = [near, inside, inside + far, total]
    else:
        total = channel.include + channel.exclude
        marks = [channel.include, total]
    found = {0, WORD - 1, WORD - WORD % total - 1}
    found |= {word for mark in marks for word in (mark - 1, mark)}
    return sorted(word % WORD for word in found)


def channels() -> dict[str, Any]:
    """Each channel's vectors by its name."""
    given: dict[str, list[Any]] = {
        "window": [
            Window(2, 1, 3, 1),
            Window(3, 1, 2474399559, 910280727),
            Window(6, 3, 7, 2),
            Window(1260, 259, 9991925, 1352260),
            Window(5, 2, 1, 4),
        ],
        "subset": [
            Subset(4, 2, 3, 1),
            Subset(6, 1, 1500000001, 1200000007),
            Subset(16, 4, 9, 10),
            Subset(3, 2, 1, 1),
        ],
    }
    broken: dict[str, list[dict[str, Any]]] = {
        "window": [
            {"inputs": 1, "width": 1, "near": 3, "far": 1},
            {"inputs": 2, "width": 0, "near": 3, "far": 1},
            {"inputs": 2, "width": 1, "near": 3, "far": 0},
            {"inputs": 2, "width": 1, "near": WORD, "far": 1},
            {"inputs": 2, "width": 1, "near": 1.5, "far": 1},
            {"inputs": 2, "width": 1, "near": "3", "far": 1},
            {"inputs": 2, "width": 1, "near": 3},
            {"inputs": 2, "width": 1, "near": 3, "far": 1, "more": 1},
        ],
        "subset": [
            {"inputs": 4, "size": 0, "include": 3, "exclude": 1},
            {"inputs": 4, "size": 4, "include": 3, "exclude": 1},
            {"inputs": 4, "size": 2, "include": WORD, "exclude": 1},
            {"inputs": 4, "size": 2, "include": 3, "exclude": -1},
        ],
    }
    result = {}
    for name in CHANNELS:
        cases = []
        for number, channel in enumerate(given[name]):
            draws = []
            for symbol in sorted({0, channel.inputs // 2, channel.inputs - 1}):
                tails = [[word] for word in edges(channel)] + [[], []]
                for place, tail in enumerate(tails):
                    rest = seeded_words(name, number, symbol, place)
                    tape = Tape(chain(tail, rest))
                    report = channel.randomize(symbol, tape)
                    draws.append({"symbol": symbol, "words": tape.taken, "report": report})
            ratio = channel.ratio()
            whole = Randomizer(Index(channel.inputs), channel).to_json()
            cases.append(
                {
                    "channel": whole["channel"],
                    "ratio": [str(ratio.numerator), str(ratio.denominator)],
                    "draws": draws,
                }
            )
        refused = [{"channel": {"name": name, **one}} for one in broken[name]]
        result[name] = {"cases": cases, "refused": refused}
    return result


def encoders() -> dict[str, Any]:
    """Values to inputs, on grid points and between them."""
    cases: list[dict[str, Any]] = [
        {"encoder": {"name": "index", "inputs": 3}, "value": value, "words": [], "symbol": value}
        for value in range(3)
    ]
    for encoder in (Grid(10, 11), Grid(7, 10), Grid(1000, 1260)):
        shown = {"name": "grid", "steps": encoder.steps, "inputs": encoder.inputs}
        for place in ("0", "1", "1/2", "1/3", "123456789/1000000000", "999999999999/1000000000000"):
            for word in (0, WORD // 3, WORD - 1, None):
                rest = seeded_words("grid", place)
                words = rest if word is None else chain([word], rest)
                tape = Tape(words)
                symbol = encoder.encode(Fraction(place), tape)
                value = str(Fraction(place)) if "/" in place else f"{place}/1"
                cases.append(
                    {"encoder": shown, "value": value, "words": tape.taken, "symbol": symbol}
                )
        symbol = encoder.encode(None, iter(()))
        cases.append({"encoder": shown, "value": None, "words": [], "symbol": symbol})
    return {"cases": cases}


def randomizers() -> dict[str, Any]:
    """What mechanisms compile to, its ε, and tampered ones."""
    cases = []
    domains: list[Domain] = [
        Categories(tuple(f"v{value}" for value in range(k))) for k in (2, 3, 6, 20)
    ]
    domains += [Numbers(Fraction(0), Fraction(1), 20, skip) for skip in (False, True)]
    for domain in domains:
        for epsilon in ("0.1", "1", "4"):
            for mechanism in MECHANISMS.values():
                if isinstance(domain, mechanism.domain):
                    one = mechanism.compile(domain, Fraction(epsilon))
                    cases.append({"randomizer": one.to_json(), "epsilon": one.epsilon})
    good = choose(domains[1], Fraction(1))[1].to_json()
    channel, encoder = good["channel"], good["encoder"]
    refused = [
        {**good, "channel": {**channel, "near": channel["near"] - 1}},
        {**good, "ratio": ["1", "1"]},
        {**good, "ratio": [good["ratio"][1], good["ratio"][0]]},
        {**good, "encoder": {**encoder, "inputs": 4}},
        {**good, "encoder": {"name": "shuffle", "inputs": 3}},
        {**good, "channel": {"name": "identity", "inputs": 3}},
        {**good, "channel": {**channel, "name": "toString"}},
    ]
    return {"cases": cases, "refused": [{"randomizer": one} for one in refused]}


def words() -> dict[str, Any]:
    """Draws from words, with those that are drawn again."""
    uniform = []
    for total in (1, 2, 3, 10, 2**31 + 1, WORD - 1, WORD):
        limit = WORD - WORD % total
        for first in sorted({0, total - 1, min(limit, WORD - 1), limit - 1, WORD - 1}):
            tape = Tape([first, 12345, 7])
            uniform.append({"total": total, "result": below(total, tape), "words": tape.taken})
    coins = []
    for chance in ("0/1", "1/2", "1/3", "1/4294967296", "1/10000000000000000000", "9/10"):
        cut = int(Fraction(chance) * WORD)
        for first in (0, max(0, cut - 1), cut, WORD - 1):
            tape = Tape([first, 0, 5, 9])
            result = bernoulli(Fraction(chance), tape)
            coins.append({"chance": chance, "words": tape.taken, "result": result})
    return {"below": uniform, "bernoulli": coins}


def _questions() -> list[dict[str, Any]]:
    options = [{"id": "lab", "text": "Laboratory"}, {"id": "office", "text": "Office"}]
    base = {"text": "?", "epsilon": 1, "required": False, "no_answer": True}
    return [
        {**base, "id": "team", "kind": "choice", "options": options},
        {**base, "id": "must", "kind": "yes-no", "required": True, "no_answer": False}
        | {"options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]},
        {**base, "id": "income", "kind": "number", "min": 0, "max": 10000, "step": 10},
        {**base, "id": "heat", "kind": "number", "min": -40.5, "max": 60.25, "no_answer": False},
        {**base, "id": "tiny", "kind": "number", "min": 1e-07, "max": 3e-07},
    ]


def answers() -> dict[str, Any]:
    """Answers as controls hold them, to values, and what is no answer."""
    texts = [
        *("", "lab", "office", "no-answer", "yes", "no", "Lab", " lab", "0", "0.0", "10000"),
        *("1e3", "1E+3", "+5", ".5", "5.", "1234.5678901234567890123", "-40.5", "60.25", "-.5"),
        *("2e-7", "1.5e-07", "10000.0000001", "-1", "1,5", "NaN", "Infinity", "0x10", "1e", "."),
        *("1_000", "١٢", "1e999", "--1", "1 "),
    ]
    values, refused = [], []
    for question in _questions():
        for text in texts:
            try:
                value = KINDS[question["kind"]].value(text, question)
            except ValueError:
                refused.append({"question": question, "answer": text})
                continue
            if isinstance(value, Fraction):
                value = f"{value.numerator}/{value.denominator}"
            values.append({"question": question, "answer": text, "value": value})
    return {"values": values, "refused": refused}


def logic() -> dict[str, Any]:
    """Conditions with the answers they hold for."""
    trees: list[list[Any]] = [
        ["=", "a", "yes"],
        ["!=", "a", "yes"],
        ["=", "a", "no-answer"],
        ["and", ["=", "a", "yes"], [">", "n", 18]],
        ["or", ["=", "a", "no"], ["<=", "n", 0.5]],
        ["not", ["or", ["<", "n", 5], [">=", "n", 10]]],
        ["=", "n", 5],
        ["!=", "n", 5],
    ]
    given = [
        {"a": a, "n": n}
        for a in ("yes", "no", "no-answer", "")
        for n in ("", "5", "0.5", "19", "1e1")
    ]
    return {
        "cases": [
            {"condition": tree, "answers": one, "holds": holds(tree, one)}
            for tree in trees
            for one in given
        ]
    }


def versions() -> dict[str, Any]:
    """Frozen surveys and their hashes, with text and numbers that canonical JSON must agree on."""
    cases = []
    for title in ("Plain", 'Ünïcode "quotes" \\ \u2028 \U0001f600 <b>&', {"en": "A", "fr": "B"}):
        spec = {"id": "v", "title": title, "privacy": {"cap": 12.5}, "questions": _questions()}
        cases.append(freeze(spec).to_json())
    return {"cases": [{**one, "version": version_of(one)} for one in cases]}


def pseudonyms() -> dict[str, Any]:
    """Respondents' names in a survey, from their device's secret."""
    secrets = ["00" * 32, "0123456789abcdef" * 4]
    return {
        "cases": [
            {"secret": one, "survey": name, "respondent": pseudonym(bytes.fromhex(one), name)}
            for one in secrets
            for name in ("work-2026", "a")
        ]
    }


def everything() -> dict[str, Any]:
    """All vectors by the name of their file."""
    return {
        **channels(),
        "encoders": encoders(),
        "randomizers": randomizers(),
        "words": words(),
        "answers": answers(),
        "logic": logic(),
        "versions": versions(),
        "pseudonyms": pseudonyms(),
    }


if __name__ == "__main__":
    for name, content in everything().items():
        text = json.dumps(content, indent=None, ensure_ascii=True, separators=(",", ":"))
        # A case a line: short enough to read in a diff.
        (HERE / f"{name}.json").write_text(text.replace('},{"', '},\n{"') + "\n")
