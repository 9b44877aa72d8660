"""Damage files at random, in their bytes or in their structure.

Files of each format are read into one kind of tree: tables, lists, texts and numbers. So the same
few changes of trees damage JSON, TOML, XML, tables, and the members of zips.
"""

import csv
import io
import json
import re
import tomllib
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any
from xml.etree import ElementTree

#: The end of a key, or of a member's name, that a file has a second time; no file has it.
_AGAIN = "\ue00f"
#: A whole number that files have as 1e400.
_HUGE = 10**400


def _json_text(tree: Any) -> bytes:
    text = json.dumps(tree, ensure_ascii=False).replace(_AGAIN, "").replace(str(_HUGE), "1e400")
    return text.encode("utf-8", "surrogatepass")


def _toml_text(tree: Any) -> bytes:
    lines = (f"{_toml_key(key)} = {_toml_value(value)}\n" for key, value in tree.items())
    return "".join(lines).encode("utf-8", "surrogatepass")


def _toml_key(key: str) -> str:
    return json.dumps(key.replace(_AGAIN, ""))


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{_toml_key(key)} = {_toml_value(inner)}" for key, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, date):
        return value.isoformat()
    return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def _xml_tree(data: bytes) -> Any:
    """Return an element as its name, its attributes, its text and its children."""

    def tree(element: ElementTree.Element) -> list[Any]:
        return [element.tag, element.attrib, element.text, [tree(child) for child in element]]

    return tree(ElementTree.fromstring(data.decode("utf-8-sig")))


def _xml_text(tree: Any) -> bytes:
    def element(given: Any) -> ElementTree.Element:
        is_whole = isinstance(given, list) and len(given) == 4
        tag, attributes, text, children = given if is_whole else ["x", {}, given, []]
        made = ElementTree.Element(str(tag) or "x")
        for key, value in attributes.items() if isinstance(attributes, dict) else ():
            made.set(str(key), str(value))
        made.text = None if text is None else str(text)
        made.extend([element(child) for child in children] if isinstance(children, list) else [])
        return made

    text: bytes = ElementTree.tostring(element(tree), "utf-8", xml_declaration=True)
    return text


def _rows(dialect: str) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        return [*csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), dialect)]

    return read


def _table_text(dialect: str) -> Callable[[Any], bytes]:
    def write(tree: Any) -> bytes:
        out = io.StringIO()
        for row in tree:
            csv.writer(out, dialect).writerow(row if isinstance(row, list) else [row])
        return out.getvalue().encode("utf-8", "surrogatepass")

    return write


#: How files of each format become trees, and how trees become files.
FORMATS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    "json": (json.loads, _json_text),
    "toml": (lambda data: tomllib.loads(data.decode()), _toml_text),
    "xml": (_xml_tree, _xml_text),
    "csv": (_rows("excel"), _table_text("excel")),
    "tabs": (_rows("excel-tab"), _table_text("excel-tab")),
}


def unzipped(data: bytes) -> dict[str, bytes]:
    """Return the members of a zip by their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of members, of which two can have the same name."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # a name that comes again
        for name, content in members.items():
            archive.writestr(name.replace(_AGAIN, ""), content)
    return out.getvalue()


_TEXTS = [
    *("", " ", "0", "-1", "1e9", "1e400", "9" * 5000, "nan", "\x00", "\ufeff", "\ud800", "\u2028"),
    *("{", "}", "((((", "not " * 2000, "(" * 5000, "a" * 100_000, "𝔘" * 300, "<b" * 2000, "&#0;"),
    *("{answer.x|", "${x}", "../../etc/passwd", "/etc/passwd", "__proto__", "no-answer", "none"),
    *("=1+1", "' or 1", "a = 'b' and " * 500, "٣", "²", "1/0", "1/3", "2026-13-45", "text", "id"),
]
_ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, 1e-308, float("nan"), float("inf")),
    *(10**12, 2**31, 2**53, 2**63, 2**64, 10**18, 10**30, _HUGE, 10**4200, *_TEXTS),
    *([], {}, [[]], [{}], {"": ""}, [None], {"id": None}, ["a", "a"], [0] * 3000, [{}] * 3000),
]
_NUMBERS = [b"9" * 20, b"1e308", b"-1", b"0", b"1e400", b"9" * 5000, b"1e-400"]


def _deep(value: Any, rng: Random) -> Any:
    """Return a value in a list, table or element of XML, which is in another one, and so on."""
    shape = rng.choice(["list", "table", "element"])
    for _ in range(rng.choice([3, 90, 600, 3000])):
        value = {"list": [value], "table": {"a": value}, "element": ["row", {}, "", [value]]}[shape]
    return value


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return each table or list with each of its keys or positions."""
    places, left = [], [tree]
    while left:
        outer = left.pop()
        for key in outer.keys() if isinstance(outer, dict) else range(len(outer)):
            places.append((outer, key))
            if isinstance(outer[key], dict | list):
                left.append(outer[key])
    return places


def changed_tree(tree: Any, others: Sequence[Any], rng: Random) -> Any:
    """Return a tree with one to four changes, which can bring a part of another tree."""
    tree = deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = _places(tree)
        if not places:
            return tree
        outer, key = rng.choice(places)
        value = outer[key]
        what = rng.choice(["odd", "odd", "odd", "drop", "again", "part", "key", "deep", "more"])
        if what == "odd":
            outer[key] = deepcopy(rng.choice(_ODD))
        elif what == "drop":
            del outer[key]
        elif what == "again" and isinstance(outer, dict):
            outer[f"{key}{_AGAIN}"] = value
        elif what == "again":
            outer[key:key] = [value] * rng.choice([1, 1, 30, 1200])
        elif what == "part":
            source, at = rng.choice(_places(rng.choice(others)))
            outer[key] = deepcopy(source[at])
        elif what == "key" and isinstance(outer, dict):
            outer[str(rng.choice([*(other for _, other in places), "", "a" * 5000]))] = value
            outer.pop(key)
        elif what == "deep":
            outer[key] = _deep(value, rng)
        elif isinstance(value, str):
            outer[key] = value[:50] * rng.choice([2, 300, 20_000])
        elif isinstance(value, int | float):
            outer[key] = rng.choice([-value, value * 10**9, value + 1, value - 1, str(value)])
    return tree


def changed_bytes(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Return a file with one to four changes of its bytes."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice([1, 1, 4, 40, 4000]))
        what = rng.choice(["flip", "drop", "again", "put", "splice", "end", "number"])
        numbers = [*re.finditer(rb"-?\d+(\.\d+)?", data)] if what == "number" else []
        new = data[at:to]
        if what == "flip" and new:
            new = bytes([new[0] ^ 1 << rng.randrange(8)]) + new[1:]
        elif what == "drop":
            new = b""
        elif what == "again":
            new *= rng.choice([2, 4, 300])
        elif what == "put":
            text = rng.choice(_TEXTS).encode("utf-8", "surrogatepass")
            new = rng.choice([text, rng.randbytes(4), b"\xff\xfe"])
        elif what == "splice":
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            new = other[begin : begin + rng.choice([10, 400, 40_000])]
        elif what == "end":
            to = len(data)
            new = b""
        elif numbers:
            at, to = rng.choice(numbers).span()
            new = rng.choice(_NUMBERS)
        data = data[:at] + new + data[to:]
    return data


@dataclass(frozen=True)
class Seeds:
    """Good files of one of `FORMATS`, or zips, which are damaged.

    `seal` makes what a tree states about itself true again, such as a hash; of a zip it makes the
    file of its members.
    """

    format: str
    files: Sequence[bytes]
    seal: Callable[[Any], Any] = lambda tree: tree

    def damaged(self, number: str) -> bytes:
        """Return a damaged file; the same number gives the same file."""
        rng = Random(number)
        data = rng.choice(self.files)
        if rng.random() < 0.2:
            return changed_bytes(data, self.files, rng)
        return self._zip(data, rng) if self.format == "zip" else self._file(data, rng)

    def _file(self, data: bytes, rng: Random) -> bytes:
        read, write = FORMATS[self.format]
        tree = changed_tree(read(data), [read(file) for file in self.files], rng)
        with suppress(Exception):  # a damaged file may have no hash
            tree = self.seal(tree) if rng.random() < 0.9 else tree
        try:
            return write(tree)
        except (RecursionError, ValueError):  # a name that XML cannot have, or a tree too deep
            return changed_bytes(data, self.files, rng)

    def _zip(self, data: bytes, rng: Random) -> bytes:
        members = unzipped(data)
        kinds = {name: name.rpartition(".")[2] for name in members}
        name = rng.choice([name for name, kind in kinds.items() if kind in FORMATS])
        what = rng.choice([*["member"] * 12, "drop", "again", "name", "bomb", "many"])
        if what == "member":
            same = [content for other, content in members.items() if kinds[other] == kinds[name]]
            members[name] = Seeds(kinds[name], same)._file(members[name], rng)
        elif what == "drop":
            del members[name]
        elif what == "again":
            members[f"{name}{_AGAIN}"] = members[name]
        elif what == "name":
            members[rng.choice(["../x", "/etc/x", "x" * 65_000, "a\\b", "."])] = members.pop(name)
        elif what == "bomb":
            members[name] = b"0" * (70 << 20)
        else:
            members |= {f"{number}.xml": b"<a/>" for number in range(rng.choice([50, 3000]))}
        with suppress(Exception):
            if rng.random() < 0.9:
                return bytes(self.seal(members))
        return zipped(members)
