"""Samples for the vectors: channels, encoders, randomizers, questions; sound and unsound."""

from fractions import Fraction
from typing import Any

from analysis.core.channels.bits import Bits
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets, Texts
from analysis.core.encoders.categories import Hash, Index, Onehot
from analysis.core.encoders.grid import Grid
from analysis.core.encoders.groups import Group, Order, Suborder
from analysis.core.encoders.several import Multihot, Padded, Pick
from analysis.core.encoders.text import Bloom, Digest, Prefix
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD

#: Each channel's samples; for bits, with the encoder before it.
SAMPLES: list[tuple[Any, Any]] = [
    *((Index(channel.inputs), channel) for channel in (
        Window(2, 1, 3, 1),
        Window(3, 1, 2474399559, 910280727),
        Window(6, 3, 7, 2),
        Window(1260, 259, 9991925, 1352260),
        Window(5, 2, 1, 4),
        Subset(4, 2, 3, 1),
        Subset(6, 1, 1500000001, 1200000007),
        Subset(16, 4, 9, 10),
        Subset(3, 2, 1, 1),
        Shift(2, (1, 2, 1)),
        Shift(3, (1, 3, 5, 3, 1)),
        Shift(3, (2**31, 1, 7, 1, 2)),
        Shift(5, (2**26, 2**27, 2**28, 2**29, 2**31, 2**29, 2**28, 2**27, 2**26 + 2**27)),
        Table(2, ((5, 1), (1, 5))),
        Table(3, ((1, 2, 3), (3, 2, 1), (2, 2, 2))),
        Table(2, ((2**31, 1, 3, 2**30), (1, 2**31, 2**30, 3))),
        Table(4, ((2**32 - 1, 1), (1, 2**32 - 1), (2**31, 2**31), (2**31 - 1, 2**31 + 1))),
    )),
    (Onehot(2), Bits(2, 1, 1, 2)),
    (Onehot(3), Bits(3, 3, 1, 4)),
    (Onehot(9), Bits(9, 2**31, 954437177, WORD)),
    (Multihot(3, 2, 5), Bits(5, 700, 300, 1001)),
    (Multihot(3, 3, 4), Bits(4, 5, 2, 6)),
    (Multihot(16, 5, 17), Bits(17, 2**31 - 1, 2**30, 2**31 + 1)),
    (Padded(2, 2, 4), Overlap(4, 2, 1, (1, 3))),
    (Padded(3, 2, 6), Overlap(6, 2, 3, (4, 9, 5))),
    (Padded(3, 3, 6), Overlap(6, 3, 4, (1, 7, 2))),
    (Padded(4, 1, 6), Overlap(6, 1, 2, (2**31, 2**30))),
    (Padded(10, 3, 13), Overlap(13, 3, 2, (1650000000, 2000000000, 644967295))),
]  # fmt: skip

#: A sound channel of each name, with changes that make it unsound.
BROKEN: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "window": (
        (Index(2), Window(2, 1, 3, 1)),
        [
            {"inputs": 1},
            {"width": 0},
            {"far": 0},
            {"near": WORD},
            {"near": 2**52, "width": 2**52},
            {"near": 1.5},
            {"near": "3"},
            {"near": True},
            {"near": None},
            {"near": [3]},
            {"near": 2**53},
            {"near": ...},
            {"more": 1},
            {"inputs": 3},
        ],
    ),
    "subset": (
        (Index(4), Subset(4, 2, 3, 1)),
        [
            {"size": 0},
            {"size": 4},
            {"include": WORD},
            {"include": 2**53 - 1, "exclude": 2**53 - 1},
            {"exclude": -1},
            {"exclude": ...},
        ],
    ),
    "overlap": (
        (Padded(3, 2, 6), Overlap(6, 2, 3, (4, 9, 5))),
        [
            {"weights": []},
            {"weights": [4, 9]},
            {"weights": [4, 9, 5, 1]},
            {"weights": [4, 0, 5]},
            {"weights": [4, WORD, 5]},
            {"weights": [2**53 - 1] * 3},
            {"weights": [4, 9.5, 5]},
            {"weights": 4},
            {"size": 0},
            {"size": 6},
            {"size": 2**53 - 1},
            {"ones": 0},
            {"ones": 1, "weights": [4, 9]},
            {"ones": 3, "weights": [4, 9, 5, 1]},
            {"ones": 6, "weights": [1]},
            {"ones": ...},
            {"inputs": 5},
            {"inputs": 1025},
        ],
    ),
    "bits": (
        (Onehot(3), Bits(3, 3, 1, 4)),
        [
            {"zero": 0},
            {"zero": 4},
            {"one": 4},
            {"total": 3},
            {"total": WORD + 1},
            {"inputs": 4},
            {"one": [3]},
            {"apart": 1},
            {"total": ...},
        ],
    ),
    "shift": (
        (Index(3), Shift(3, (1, 3, 5, 3, 1))),
        [
            {"noise": []},
            {"noise": [1, 3, 5, 3]},
            {"noise": [1, 3, 5, 3, 1, 1]},
            {"noise": [0, 3, 5, 3, 1]},
            {"noise": [1, 3, 5, 3, 1.5]},
            {"noise": [1, 3, [5], 3, 1]},
            {"noise": [1, 3, WORD - 7, 3, 1]},
            {"noise": [2**53 - 1] * 5},
            {"noise": 5},
            {"noise": {"0": 1}},
            {"inputs": 2},
            {"inputs": 1, "noise": [1]},
        ],
    ),
    "table": (
        (Index(2), Table(2, ((5, 1), (1, 5)))),
        [
            {"rows": []},
            {"rows": [[], []]},
            {"rows": [[5, 1]]},
            {"rows": [[5, 1], [1, 5], [3, 3]]},
            {"rows": [[5, 1], [1, 4]]},
            {"rows": [[5, 1], [1, 2, 3]]},
            {"rows": [[5, 1], [6, 0]]},
            {"rows": [[5, 1], [6]]},
            {"rows": [[5, 1], 6]},
            {"rows": [[WORD, 1], [1, WORD]]},
            {"rows": [[2**53 - 1, 2**53 - 1], [2**53 - 1, 2**53 - 2]]},
            {"rows": "5115"},
            {"inputs": 3, "rows": [[5, 1], [1, 5], [3, 3]]},
        ],
    ),
}

PLACES = ("0/1", "1/1", "1/2", "1/3", "123456789/1000000000", "999999999999/1000000000000")
#: Encoders with values that they have and that they do not have.
ENCODED: list[tuple[Any, list[Any], list[Any]]] = [
    (Index(3), [0, 1, 2], [3, -1, "1", None, [1], "NaN", 1.5, True, 2**53]),
    (Onehot(4), [0, 3], [4, -1, "yes", None, [0], "NaN", {"a": 1, "b": 2}, {}]),
    (Hash(20, 3, 3), [0, 1, 5, 19], [20, None, "NaN"]),
    (Hash(2, 32, 2), [0, 1], [2]),
    (Hash(60000, 2, 65521), [0, 1, 59999], [60000]),
    (Grid(10, 11), [*PLACES], [None, "3/2", "-1/2", "2/1", 0.5, "NaN", "yes", [1, 2], True]),
    (Grid(7, 10), [*PLACES, None], ["8/7"]),
    (Grid(1000, 1260), [*PLACES, None], []),
    (
        Multihot(3, 2, 4),
        [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]],
        [
            *(None, 1, "NaN", [], [1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0]),
            *([1, 0, 0, 2], [1, 0, 0, "0"], [True, 0, 0, 0], [1, None, 0, 0], [1, [0], 0, {}]),
        ],
    ),
    (Multihot(12, 12, 14), [[1] * 12 + [0], [0] * 12 + [1], None], [[1] * 13, [0] * 13]),
    (
        Padded(3, 2, 5),
        [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]],
        [None, 1, [], [1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0], [1, 0, 0, 2]],
    ),
    (Padded(5, 4, 10), [[1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0], [0] * 5 + [1], None], [[1] * 6]),
    (Padded(4, 1, 6), [[0, 1, 0, 0, 0], None], [[1, 1, 0, 0, 0]]),
    (Group(4, 2, 4), [[1, 0, 0, 1], [0, 1, 1, 0]], [None, [1, 0, 0], [1, 0, 0, 2], "x" * 100]),
    (Group(5, 3, 9), [[1, 0, 0, 1, 0], [0, 0, 0, 0, 1], None], [[1, 0, 0, 1]]),
    (Group(3, 3, 9), [[1, 0, 1, 0], [0, 0, 0, 1], None], [[1, 0, 1]]),
    (Group(51, 3, 8), [[1, 0, 0] * 17, [0] * 50 + [1]], [None]),
    (Suborder(4, 3, 6), [[0] * 6, [1] * 6, [1, 1, 0, 1, 0, 0]], [None, [1] * 5, [0, 1, 0] * 2]),
    (Suborder(6, 4, 25), [[0] * 15, [1] * 15, None], [[2] * 15]),
    (Pick(4, 2), [[1, 0, 0, 1]], [None, [1, 0, 0], [1, 0, 0, 2], "x" * 100]),
    (Pick(3, 3), [[1, 0, 0], None], [[]]),
    (Order(2, 2), [[0], [1]], [None, [], [2]]),
    (Order(3, 7), [[0, 0, 0], [1, 1, 0], [1, 1, 1], None], [[0, 1, 0], [1, 0, 1], [1]]),
    (Order(5, 120), [[1] * 10, [1, 1, 0, 1, 1, 0, 0, 0, 0, 1]], [[1] * 3 + [0] + [1] * 6]),
    (Digest(256, 5), ["", "a", "größe 😀", None], [3, [1], True]),
    (Digest(1, 65536), ["a"], []),
    (Bloom(64, 2, 32), ["a", "b", None], [1]),
    (Bloom(3, 16, 40), ["a"], []),
    (Prefix(8, (1, 3, 9), 7), ["a", "ab", "abcd", "😀😀😀😀", "abcdefghi", None], [0]),
    (Order(8, 40320), [[1] * 28, [0] * 28], [[1] * 6 + [0] + [1] * 21, [1] * 27]),
]

#: Impossible encoders.
UNSOUND: list[tuple[str, dict[str, Any]]] = [
    *(("index", {"inputs": one}) for one in (1, 0, -3, 1.5, "3", None, [3], 2**53)),
    *(("onehot", one) for one in ({"inputs": 1}, {}, {"inputs": 3, "outputs": 3})),
    *(("hash", {"values": 9, "digits": 2, "inputs": one}) for one in (1, 4, 9, 65537, 65519 * 3)),
    *(("hash", {"values": 9, "digits": one, "inputs": 3}) for one in (1, 21, 33, 2**52)),
    ("hash", {"values": 1, "digits": 2, "inputs": 3}),
    ("hash", {"values": 9, "inputs": 3}),
    *(("grid", {"steps": one, "inputs": 3}) for one in (0, 3, 4)),
    ("multihot", {"options": 2, "at_most": 3, "inputs": 3}),
    ("multihot", {"options": 2, "at_most": 1, "inputs": 2}),
    ("multihot", {"options": 2, "at_most": 1, "inputs": 5}),
    ("multihot", {"options": 401, "at_most": 401, "inputs": 402}),
    ("multihot", {"options": 2**53 - 1, "at_most": 2**53 - 1, "inputs": 3}),
    *(("padded", {"options": 4, "at_most": 2, "inputs": one}) for one in (5, 8)),
    ("padded", {"options": 4, "at_most": 5, "inputs": 9}),
    *(("group", {"parts": 4, "picked": 2, "inputs": one}) for one in (3, 6)),
    *(("group", {"parts": 4, "picked": one, "inputs": 2**one}) for one in (1, 5)),
    ("group", {"parts": 9, "picked": 9, "inputs": 512}),
    ("group", {"parts": 60, "picked": 5, "inputs": 32}),
    ("group", {"parts": 2**53 - 1, "picked": 8, "inputs": 256}),
    *(("suborder", {"items": 4, "picked": 3, "inputs": one}) for one in (5, 8)),
    *(("suborder", {"items": 4, "picked": one, "inputs": 2}) for one in (2, 4)),
    ("suborder", {"items": 8, "picked": 6, "inputs": 720}),
    ("suborder", {"items": 60, "picked": 4, "inputs": 24}),
    *(("pick", {"parts": 4, "inputs": one}) for one in (1, 4)),
    *(("order", {"items": one, "inputs": 3}) for one in (1, 3, 9)),
    *(("order", {"items": 3, "inputs": one}) for one in (5, 8)),
    *(("digest", {"functions": 4, "inputs": one}) for one in (1, 65537)),
    ("digest", {"functions": 2**20 + 1, "inputs": 3}),
    *(("bloom", {"functions": 4, "hashes": one, "inputs": 8}) for one in (0, 5, 17)),
    ("bloom", {"functions": 2**19, "hashes": 3, "inputs": 8}),
    *(("prefix", {"functions": 4, "lengths": one, "inputs": 3}) for one in ([], [2, 2], [3, 1], 2)),
    ("prefix", {"functions": 2**19, "lengths": [1, 2, 3], "inputs": 3}),
]

DOMAINS: list[tuple[Domain, list[Any]]] = [
    *((Categories(tuple(f"v{value}" for value in range(k))), [0, k - 1]) for k in (2, 3, 6, 20)),
    (Categories(("1", "2", "3", "4", NO_ANSWER), tuple(map(Fraction, range(1, 5)))), [1, 4]),
    (Numbers(Fraction(0), Fraction(1), 10, False), ["1/3", "1/1"]),
    (Numbers(Fraction(0), Fraction(1), 20, True), ["1/3", None]),
    (Sets(("a", "b", "c"), 3, False), [[1, 0, 1, 0], [0, 0, 0, 1]]),
    (Sets(("a", "b", "c", "d", "e"), 2, True), [[0, 1, 0, 0, 1, 0], None]),
    (Rankings(("a", "b", "c"), True), [[1, 0, 0], None]),
    (Rankings(("a", "b", "c", "d"), False), [[0, 1, 1, 1, 1, 0]]),
]
#: Wishes for a memory, and for texts.
REMEMBERED: list[tuple[Domain, list[Any]]] = [
    (Categories(("a", "b", NO_ANSWER)), [0, 2]),
    (Categories(tuple(f"v{value}" for value in range(40))), [0, 1, 39]),
    (Numbers(Fraction(0), Fraction(1), 20, True), ["1/3", "1/2", "1/1", None]),
    (Sets(("a", "b", "c"), 2, True), [[1, 0, 1, 0], None]),
    (Rankings(("a", "b", "c"), False), [[1, 0, 0]]),
]
TEXTS: list[tuple[Domain, list[Any]]] = [
    (Texts(("a", "b"), 12, True), ["a", "größe", None]),
    (Texts(None, 12, True), ["a", "abc def ghij", None]),
]
#: Texts as they are typed.
SPELLED = [
    *(
        "",
        " ",
        "a",
        " A\tb \n c ",
        "STRASSE",
        "Straße",
        "STRAẞE",
        "ΣΊΣΥΦΟΣ",
        "ﬁn",
        "Ångström",
        "İ",
        "ıI",
    ),
    *("e\u0301", "é", "１２", "\u00a0x\u00a0", "ꭰᎠ", "😀", "ǆ", "no-answer"),
    # This character is new in Unicode 14.
    *("\u2c2f", "\ua7f2"),
]
PARAMETERS = {"p": "0.7", "prevalence": "0.2", "p_yes": "0.1", "p_no": "0.25"}


def changed(part: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return JSON with other members, without those that are changed to an ellipsis."""
    return {key: one for key, one in {**part, **changes}.items() if one is not ...}


def tampered() -> list[Any]:
    """Return randomizers that must be refused."""
    good = Randomizer(Index(3), Window(3, 1, 271, 100)).to_json()
    encoder, channel = good["encoder"], good["channel"]
    noise = Randomizer(Index(3), Shift(3, (1, 3, 5, 3, 1)), Fraction(2)).to_json()
    hashed = Randomizer(Hash(5, 2, 3), Window(3, 1, 271, 100)).to_json()
    sets = Randomizer(Index(4), Subset(4, 2, 3, 1)).to_json()
    bits = Randomizer(Onehot(3), Bits(3, 3, 1, 4)).to_json()
    many = Randomizer(Multihot(3, 2, 4), Bits(4, 3, 1, 4)).to_json()
    names = ("shuffle", "toString", "__proto__", "Index", None, 5, ["index"], ...)
    pairs: tuple[Any, ...] = (
        *(["1", "1"], ["100", "271"], ["-271", "-100"], ["271", "0"], ["0", "0"], ["0", "1"]),
        *(["271"], ["271", "100", "1"], [271, 100], ["", ""], ["2.71", "1"], ["1e3", "1"]),
        *(["0x10", "1"], ["٢٧١", "1"], [" 271", "100"], ["271\n", "100"], ["+271", "100"]),
        *(["9" * 4001, "1"], ["9" * 4000, "1"], "271/100", 2.71, None, {"top": 271}, []),
    )
    others: tuple[Any, ...] = (None, "index", 3, [])
    return [
        *({**good, "ratio": pair} for pair in pairs),
        *(changed(good, {key: ...}) for key in ("encoder", "channel", "ratio")),
        *({**good, "note": one} for one in (1, None)),
        *(None, 3, [], "good", {}, [good]),
        *({**good, "encoder": changed(encoder, {"name": name})} for name in names),
        *({**good, "channel": changed(channel, {"name": name})} for name in names),
        *({**good, key: one} for key in ("encoder", "channel") for one in others),
        {**good, "channel": {**channel, "near": 270}},
        {**good, "encoder": {**encoder, "inputs": 4}},
        {**good, "encoder": bits["encoder"]},
        {**good, "channel": bits["channel"]},
        {**bits, "encoder": many["encoder"]},
        {**bits, "ratio": many["ratio"]},
        {**many, "ratio": bits["ratio"]},
        *({**good, "delta": pair} for pair in (["1", "2"], None, ["-1", "2"], ["0", "0"], [])),
        *({**one, "delta": ["0", "1"]} for one in (hashed, sets, bits)),
        *({**noise, "delta": pair} for pair in (["0", "1"], ["1", "1000000"], None, [0, 1])),
        changed(noise, {"delta": ...}),
        {**noise, "ratio": ["1", "2"]},
        {**noise, "ratio": ["4", "8"], "delta": ["1", "2"]},
        {**noise, "ratio": ["0", "1"], "delta": ["1", "1"]},
        {**noise, "ratio": ["3", "1"]},
    ]


def questions() -> list[dict[str, Any]]:
    options = [{"id": "lab", "text": "Laboratory"}, {"id": "office", "text": "Office"}]
    base = {"text": "?", "epsilon": 1, "required": False, "no_answer": True}
    three = [*options, {"id": "home", "text": "At home"}]
    return [
        {**base, "id": "team", "kind": "choice", "options": options},
        {**base, "id": "must", "kind": "yes-no", "required": True, "no_answer": False}
        | {"options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]},
        {**base, "id": "income", "kind": "number", "min": 0, "max": 10000, "step": 10},
        {**base, "id": "heat", "kind": "number", "min": -40.5, "max": 60.25, "no_answer": False},
        {**base, "id": "tiny", "kind": "number", "min": 1e-07, "max": 3e-07},
        {**base, "id": "where", "kind": "choices", "options": three, "at_most": 2},
        {**base, "id": "all", "kind": "choices", "options": three, "at_most": 3}
        | {"no_answer": False},
        {**base, "id": "often", "kind": "scale"}
        | {"options": [{"id": str(one), "text": str(one)} for one in (1, 2, 3)]},
        {**base, "id": "best", "kind": "rank", "options": three},
        {**base, "id": "order", "kind": "rank", "options": three, "no_answer": False},
        {**base, "id": "drug", "kind": "text", "longest": 8, "candidates": ["Mdma", "Speed"]},
        {**base, "id": "word", "kind": "text", "longest": 3, "no_answer": False}
        | {"required": True},
    ]


#: A mechanism for each kind of question.
SERVED = {
    **{"yes-no": "krr", "choice": "oue", "choices": "multihot"},
    **{"scale": "subset", "number": "square-wave", "rank": "pick", "text": "hashed-krr"},
}
#: Typed texts for a number, and chosen ids; some are not answers.
NUMBERS = [
    *("0", "0.0", "10000", "1e3", "1E+3", "+5", ".5", "5.", "1234.5678901234567890123"),
    *("-40.5", "60.25", "-.5", "2e-7", "1.5e-07", "10000.0000001", "-1", "1,5", "NaN"),
    *("Infinity", "0x10", "1e", ".", "1_000", "١٢", "1e999", "--1", "1 "),
]
NAMES = [
    *("lab", "office", "yes", "no", "Lab", " lab", "1", "4", "none", "lab|office", "|", "lab|"),
    *("office|lab", "lab|lab", "lab|none", "lab|no-answer", "none|none", "lab|office|home"),
    *("home|lab|office", "office|home|lab", "lab|office|office", "lab|office|home|home"),
]


def panel(*labels: str) -> dict[str, Any]:
    """Return a survey with memories, in which everything that `LABELS` names can change."""
    here, there, heading, note, helps = labels
    kept = {"epsilon": 1, "epsilon_forever": 2, "required": True, "no_answer": False}
    options = [{"id": "o1", "text": here}, {"id": "o2", "text": {"en": there, "fr": f"{there} !"}}]
    points = [{"id": str(one), "text": str(one)} for one in (1, 2, 3)]
    row = {**kept, "kind": "scale", "options": points, "matrix": "How often?"}
    entries = [
        {"id": "born", "kind": "choice", "text": "Where?", "options": options, "stable": True}
        | {**kept, "mechanism": {"name": "krr"}},
        {"id": "hello", "kind": "note", "text": note, "section": heading, "new_page": True},
        {"id": "seen", "kind": "choice", "text": "Where?", "options": options, "section": heading}
        | {**kept, "mechanism": {"name": "oue"}, "help": "Any place."},
        {**row, "id": "glad", "text": "Glad?", "help": helps, "mechanism": {"name": "krr"}},
        {**row, "id": "sad", "text": "Sad?", "stable": True, "mechanism": {"name": "sue"}},
        {"id": "fresh", "kind": "choice", "text": "Well?", "options": options, "epsilon": 0.5}
        | {"required": True, "no_answer": False, "mechanism": {"name": "krr"}},
    ]
    return {"id": "panel", "title": "P", "privacy": {"cap": 50}, "questions": entries}
