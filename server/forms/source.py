"""The parts of another tool's file: each is read, declared as harmless, or named as left out.

A reader gets the content of a file as a `Given`, and takes from it what it understands. What nobody
took stands in the report, unless the tool's file in ``server/forms/declared`` has it. So what a
tool adds tomorrow is named, too.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from server.forms.change import Change, harmless, look, lost
from server.forms.texts import tag_of

#: The most characters of a value that a report repeats.
_SHOWN = 60


class Given(Mapping[str, Any]):
    """A table of the source. Whoever gets a value of it has read it, with all of a list's values.

    A table within it is a `Given`, too, and counts as read by its own values alone. To ask whether
    a key is there, and to go through the keys, reads nothing.

    Parameters
    ----------
    content : mapping
        Values are texts, numbers, lists, tables and None.
    name : str
        The last key on the way here that is no number; a value is declared by it and its own key,
        such as ``choices.text``. What stands behind two colons is a language. A text in several
        languages has the name of a single one.
    """

    def __init__(self, content: Mapping[str, Any], name: str) -> None:
        self.name = name
        self.is_claimed = False
        self._whole = ""
        self._content = {
            key: _wrapped(value, name if key.isdecimal() else key) for key, value in content.items()
        }
        self._unread = dict.fromkeys(key for key, value in self._content.items() if _says(value))
        for key, value in self._content.items():
            if isinstance(value, Given) and value.is_text:
                value._whole = f"{name}.{key}"

    @property
    def is_text(self) -> bool:
        """Whether it is one text in several languages, with the one that is used by default."""
        return "default" in self and all(
            isinstance(text, str) and key in ("default", tag_of(key))
            for key, text in self._content.items()
        )

    def __getitem__(self, key: str) -> Any:
        value = self._content[key]
        self._unread.pop(key, None)
        return value

    def peek(self, key: str) -> Any:
        """Return a value, or None, without having read it."""
        return self._content.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._content

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def repeat(self, first: "Given") -> None:
        """Count the values as read that are the same in another table, where they are read."""
        for key in [*self._unread]:
            is_read = key in first and key not in first._unread
            if is_read and first._content[key] == self._content[key]:
                del self._unread[key]

    def left(self) -> "Iterator[Leaf]":
        """Yield the values that nobody has read, but for those of parts with a row of their own."""
        for key, value in self._content.items():
            name = self._whole or f"{self.name}.{key.partition('::')[0]}"
            if key in self._unread:
                simple = value if isinstance(value, list) else [value]
                yield from (Leaf(name, one) for one in _simple(simple) if _says(one))
            for inner in _parts(value):
                if not inner.is_claimed:
                    yield from inner.left()


@dataclass(frozen=True)
class Leaf:
    """A value that nobody has read, and how it is declared."""

    name: str
    value: Any

    @property
    def key(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def shown(self) -> str:
        """The value as a report has it."""
        text = " ".join(str(self.value).split())
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _wrapped(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return Given(value, name)
    return [_wrapped(one, name) for one in value] if isinstance(value, list) else value


def _parts(value: Any) -> Iterator[Given]:
    """Yield the tables in a value, which may be one, or a list of lists."""
    if isinstance(value, Given):
        yield value
    for one in value if isinstance(value, list) else ():
        yield from _parts(one)


def _simple(values: list[Any]) -> Iterator[Any]:
    """Yield what is neither a list nor a table."""
    for one in values:
        if isinstance(one, list):
            yield from _simple(one)
        elif not isinstance(one, Given):
            yield one


def _says(value: Any) -> bool:
    """Return whether a value can say anything; a table does so by its own values."""
    if isinstance(value, list):
        return any(_says(one) for one in _simple(value))
    return value is not None and not isinstance(value, Given) and bool(str(value).strip())


class Declared:
    """The values of a tool's files that may be left out, or that are left out in better words.

    Parameters
    ----------
    tool : str
        The name of a file in ``server/forms/declared``. Its table `harmless` has reasons, each with
        the keys by the names of their parts; ``key=value`` is harmless with this value alone. The
        names of several parts stand with commas between them.
        `look`, `lost` and `slight` have words by names and keys. Everything else is lost, or to be
        looked at if `unknown` says so, in the words that `usual` has for its part. `refused` has
        types by why they are refused.
    """

    def __init__(self, tool: str) -> None:
        file = resources.files("server.forms") / "declared" / f"{tool}.toml"
        tables = tomllib.loads(file.read_text())
        self._usual = look if tables.get("unknown") == "look" else lost
        self._usual_words = tables.get("usual", {})
        self.refused: dict[str, str] = {
            name: why for why, names in tables.get("refused", {}).items() for name in names
        }
        self.harmless = {
            f"{part}.{key}": reason
            for reason, parts in tables.get("harmless", {}).items()
            for names, keys in parts.items()
            for part in names.split(", ")
            for key in keys
        }
        self._words = {
            f"{part}.{key}": (change, words)
            for word, change in (("look", look), ("lost", lost), ("slight", harmless))
            for names, keys in tables.get(word, {}).items()
            for part in names.split(", ")
            for key, words in keys.items()
        }

    def allows(self, leaf: Leaf) -> bool:
        """Return whether a value may be left out without a word."""
        return leaf.name in self.harmless or f"{leaf.name}={leaf.value}" in self.harmless

    def words(self, name: str) -> str:
        """Return the words that a report has for a value that is left out; "" if it has none."""
        _, words = self._words.get(name, (lost, ""))
        return str(words)

    def changes(self, part: Given) -> tuple[Change, ...]:
        """Return what is left out of a part, a sentence for each name."""
        found: dict[str, list[str]] = {}
        for leaf in part.left():
            if not self.allows(leaf):
                found.setdefault(leaf.name, []).append(leaf.shown)
        return tuple(self._told(name, values) for name, values in found.items())

    def _told(self, name: str, values: list[str]) -> Change:
        change, words = self._words.get(name, (self._usual, ""))
        more = f" and {len(values) - 1} more" if len(values) > 1 else ""
        key = name.removeprefix(f"{name.partition('.')[0]}.")
        value = f"{values[0]}{more}"
        usual = self._usual_words.get(name.partition(".")[0], "{} {}")
        return change(f"{f'{words} {value}' if words else usual.format(key, value)} is left out")

    def going_with(self, part: Given) -> tuple[Change, ...]:
        """Return what nobody has read of a part that is refused, by its keys alone."""
        keys = dict.fromkeys(leaf.key for leaf in part.left() if not self.allows(leaf))
        return (lost(f"with it: {', '.join(keys)}"),) if keys else ()
