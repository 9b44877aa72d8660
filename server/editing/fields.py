"""Fields of forms: how a key of a survey file is shown, and what is read from the form.

Each kind of field is drawn by the macro of its `widget` in ``templates/fields.html``.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from werkzeug.datastructures import MultiDict

from analysis.core.typed import latin
from analysis.mechanisms import MECHANISMS
from server.cldr import tag_named
from server.editing.conditions import Chosen, Earlier, chosen_anew, joined, shown

#: Names of files that a draft can name, codes of languages, and numbers that can be typed.
FILE_NAME = r"[\w-][\w .()-]{0,99}"
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
DECIMAL = re.compile(r"[+-]?(\d{1,15}(\.\d{1,15})?|\.\d{1,15})", re.ASCII)


@dataclass(frozen=True)
class Setting:
    """The facts about a survey that its fields need.

    `earlier` has what conditions can ask, by the id of each question before this; `condition`
    is the tree of this one's. `choices` are what fields such as the mechanism can choose from.
    """

    languages: Sequence[str] = ()
    earlier: Mapping[str, Earlier] = field(default_factory=dict)
    condition: Sequence[Any] | None = None
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Ids of options that something else in the draft names; None once data may have them.
    named: Collection[str] | None = None

    def asks(self, choice: str) -> str:
        """Return the id of the question that a choice of a condition is about; "" for none."""
        return next((name for name, one in self.earlier.items() if one.has(choice)), "")


@dataclass
class Form:
    """A form that was sent: values by their names, and files by the names of their fields."""

    values: MultiDict[str, str]
    files: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    #: Files that fields took over, to be stored with the draft.
    taken: dict[str, bytes] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return a value without spaces around it, its lines ended as in files; "" if missing."""
        return self.values.get(name, "").replace("\r\n", "\n").strip()


@dataclass(frozen=True)
class Field:
    """A key of the file at a path such as ``privacy.cap``, with its label and some help."""

    path: str
    label: str
    help: str = ""
    widget: ClassVar[str] = "line"

    def value(self, data: Mapping[str, Any]) -> Any:
        """Return what stands at the path; None if nothing does."""
        found: Any = data
        for key in self.path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def shown(self, data: Mapping[str, Any], setting: Setting) -> Any:
        """Return what the field's macro shows."""
        return "" if self.value(data) is None else self.value(data)

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        """Return the new value; None if the key is to be left out.

        Raises
        ------
        ValueError
            If the typed text is no such value; the message says what was expected.
        """
        return form.get(self.path) or None

    def wrong(self, expected: str, got: str) -> ValueError:
        """Return the error that something else was expected in this field."""
        return ValueError(f"{self.label}: expected {expected}, got {got[:40]!a}")


@dataclass(frozen=True)
class Text(Field):
    """A text in every language of the survey, of one line or more."""

    lines: int = 1
    widget: ClassVar[str] = "texts"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> list[tuple[str, str]]:
        return in_languages(self.value(data), setting.languages)

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        return translated(form, self.path, setting.languages)


@dataclass(frozen=True)
class Number(Field):
    """A number, as it is written; with `slider`, a slider beside it shows its effect."""

    slider: bool = False
    widget: ClassVar[str] = "number"

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        given = latin(form.get(self.path))
        if not given:
            return None
        if not DECIMAL.fullmatch(given):
            raise self.wrong("a number such as 12 or 0.5", given)
        return float(given) if "." in given else int(given)

    def shown(self, data: Mapping[str, Any], setting: Setting) -> str:
        value = self.value(data)
        if value is None or isinstance(value, str):
            return value or ""
        return f"{Decimal(str(value)).normalize():f}"


@dataclass(frozen=True)
class Tick(Field):
    """A box that is ticked for true."""

    widget: ClassVar[str] = "tick"

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        return True if form.get(self.path) else None


@dataclass(frozen=True)
class Untick(Tick):
    """A box that is ticked for false, where true is the default."""

    def shown(self, data: Mapping[str, Any], setting: Setting) -> bool:
        return self.value(data) is False

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        return False if form.get(self.path) else None


@dataclass(frozen=True)
class Pick(Field):
    """One of some words; the first is the default, and left out."""

    options: Mapping[str, str] = field(default_factory=dict)
    widget: ClassVar[str] = "pick"

    def choices(self, setting: Setting) -> Mapping[str, str]:
        """Return what can be picked, with its labels."""
        return self.options or setting.choices.get(self.path, {})

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        given, known = form.get(self.path), list(self.choices(setting))
        if given and given not in known:
            raise self.wrong(f"one of {', '.join(known)}", given)
        before = self.value(data)
        return given if given and (given != known[0] or given == before) else None


@dataclass(frozen=True)
class Day(Field):
    """A day."""

    widget: ClassVar[str] = "day"

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        given = form.get(self.path)
        try:
            return date.fromisoformat(given) if given else None
        except ValueError:
            raise self.wrong("a day such as 2026-12-31", given) from None


@dataclass(frozen=True)
class Languages(Field):
    """Languages by their names or codes, with commas between them, or spaces between codes."""

    def shown(self, data: Mapping[str, Any], setting: Setting) -> str:
        return ", ".join(map(str, self.value(data) or ()))

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        codes: list[str] = []
        for given in form.get(self.path).split(","):
            known = tag_named(given)
            codes += [known] if known else given.split()
        for code in codes:
            if not LANGUAGE.fullmatch(code):
                raise self.wrong("names such as German, or codes such as en, es or pt-BR", code)
        return list(dict.fromkeys(codes)) or None


@dataclass(frozen=True)
class Ticks(Field):
    """Any number of choices, each with a box to tick."""

    widget: ClassVar[str] = "ticks"

    def choices(self, setting: Setting) -> Mapping[str, str]:
        """Return what can be ticked, with its labels."""
        return setting.choices.get(self.path, {})

    def shown(self, data: Mapping[str, Any], setting: Setting) -> list[str]:
        return list(self.value(data) or ())

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        given = form.values.getlist(self.path)
        return [one for one in self.choices(setting) if one in given] or None


@dataclass(frozen=True)
class Lines(Field):
    """Labels, one in each line; lines at the same place in several languages are one label."""

    help: str = "One in each line."
    whole_numbers: bool = False
    widget: ClassVar[str] = "lines"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> list[tuple[str, str]]:
        value = self.value(data)
        if isinstance(value, str):  # the name of a file
            return [(tag, "" if at else value) for at, tag in enumerate(setting.languages or [""])]
        rows = [in_languages(one, setting.languages) for one in value or ()]
        columns = [dict(row) for row in rows]
        if all(len(set(column.values()) - {""}) <= 1 for column in columns):
            first = (setting.languages or [""])[0]
            columns = [{first: column[first]} for column in columns]
        tags = setting.languages or [""]
        return [(tag, "\n".join(c.get(tag, "") for c in columns).rstrip()) for tag in tags]

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        tags = list(setting.languages) or [""]
        names = [f"{self.path}.{tag}" if tag else self.path for tag in tags]
        texts = [form.get(name).split("\n") if form.get(name) else [] for name in names]
        if not any(texts):
            return None
        if len(tags) > 1 and any(texts[1:]):
            counts = [len(text) for text in texts if text]
            if len(set(counts)) > 1:
                told = ", ".join(f"{len(t)} in {tag}" for tag, t in zip(tags, texts, strict=True))
                raise ValueError(
                    f"{self.label}: expected as many lines in each language, got {told}"
                )
            rows = [
                {tag: text[at].strip() for tag, text in zip(tags, texts, strict=True) if text}
                for at in range(max(counts))
            ]
            return [row if len(row) > 1 else next(iter(row.values())) for row in rows]
        lines = [line.strip() for line in texts[0] if line.strip()]
        if self.whole_numbers and all(re.fullmatch(r"-?(0|[1-9]\d{0,5})", one) for one in lines):
            before = self.value(data)
            written = [int(line) for line in lines]
            return before if before == lines else written
        return lines


@dataclass(frozen=True)
class Condition(Field):
    """A condition: rows that are chosen, and one that can be added."""

    widget: ClassVar[str] = "condition"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> Chosen:
        found = shown(setting.condition)
        return Chosen(found.join, [*found.rows, ("", "")], found.written)

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        written = form.get(f"{self.path}.written")
        if written:
            return written
        rows = []
        before = shown(setting.condition)
        for place in range(rows_sent(form, self.path)):
            stored = before.rows[place][0] if place < len(before.rows) else ""
            path = f"{self.path}.{place}"
            choice, number = form.get(f"{path}.choice"), latin(form.get(f"{path}.number"))
            asked = form.get(f"{path}.question")
            # Without a menu of questions nothing but the choice is sent.
            if f"{path}.question" in form.values and asked != setting.asks(stored):
                choice, number = chosen_anew(setting.earlier.get(asked), choice, number)
            is_number = not choice.endswith(("'", ")"))
            if choice and is_number and not DECIMAL.fullmatch(number):
                raise self.wrong("a number to compare with", number)
            if choice:
                rows.append((choice, number if is_number else ""))
        join = "or" if form.get(f"{self.path}.join") == "or" else "and"
        new = joined(join, rows)
        if list(before.rows) == rows and (before.join == join or len(rows) < 2):
            return self.value(data)  # as it was written, with its spaces
        return new or None


@dataclass(frozen=True)
class Mechanism(Pick):
    """The mechanism, with the parameters that classic designs have, and the options of others."""

    widget: ClassVar[str] = "mechanism"
    parameters: ClassVar[Sequence[str]] = ("p", "p_yes", "p_no", "prevalence")
    numbers: ClassVar[Sequence[str]] = ("steps",)

    def groups(self, setting: Setting) -> dict[str, list[str]]:
        """Return the keys of the mechanisms that can be chosen here, under what they are called."""
        chosen = [MECHANISMS[name] for name in self.choices(setting) if name in MECHANISMS]
        known = {key for one in chosen for key in (*(one.parameters or ()), *one.options)}
        chances = [key for key in self.parameters if key in known]
        grid = [key for key in self.numbers if key in known]
        named = {"Chances of classic designs": chances, "Grid of mechanisms that add noise": grid}
        return {called: keys for called, keys in named.items() if keys}

    def shown(self, data: Mapping[str, Any], setting: Setting) -> dict[str, str]:
        value = self.value(data) or ""
        return {"name": value} if isinstance(value, str) else {k: str(v) for k, v in value.items()}

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        name = super().read(form, {}, setting)
        typed = {key: form.get(f"{self.path}.{key}") for key in (*self.parameters, *self.numbers)}
        given: dict[str, Any] = {key: text for key, text in typed.items() if text}
        for key in given.keys() & set(self.numbers):
            number = latin(typed[key])
            given[key] = int(number) if re.fullmatch("[0-9]{1,9}", number) else typed[key]
        return {"name": name, **given} if name and given else name


@dataclass(frozen=True)
class Image(Field):
    """The name of an image, which is uploaded."""

    widget: ClassVar[str] = "image"

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        if form.get(f"{self.path}.remove"):
            return None
        name, content = form.files.get(self.path, ("", b""))
        if not name:
            return self.value(data)
        if not re.fullmatch(FILE_NAME, name):
            raise self.wrong("a file whose name is of letters, digits, spaces, . and -", name)
        form.taken[name] = content
        return name


def in_languages(value: Any, languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return a text for each language; a plain one stands in the first."""
    if isinstance(value, Mapping):
        return [(tag, str(value.get(tag, ""))) for tag in languages or list(value)]
    text = "" if value is None else str(value)
    return [(tag, "" if at else text) for at, tag in enumerate(languages or [""])]


def translated(form: Form, name: str, languages: Sequence[str]) -> Any:
    """Return a text as the file has it: plain if it is given in the first language alone."""
    if not languages:
        return form.get(name) or None
    texts = {tag: text for tag in languages if (text := form.get(f"{name}.{tag}"))}
    return texts.get(languages[0]) if set(texts) <= {languages[0]} else texts


def rows_sent(form: Form, path: str) -> int:
    """Return how many rows of a field were sent."""
    places = [name.split(".")[1] for name in form.values if name.startswith(f"{path}.")]
    return max(
        (int(place) + 1 for place in places if place.isdigit() and len(place) < 6), default=0
    )
