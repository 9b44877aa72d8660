"""The fields of a question's options and points: their ids, texts, codes and order."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.survey.codes import CODE, typed_code
from analysis.survey.document import ID
from server.editing.draft_file import free_id, id_of
from server.editing.fields import (
    Field,
    Form,
    Lines,
    Setting,
    in_languages,
    rows_sent,
    translated,
)


@dataclass(frozen=True)
class Options(Field):
    """Options with ids and texts; an empty row adds one, and an emptied text takes one away.

    If an option has a code, all have a field for it.
    """

    widget: ClassVar[str] = "options"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> list[Any]:
        options = [
            (
                option.get("id", ""),
                in_languages(option.get("text"), setting.languages),
                str(option.get(CODE, "")),
            )
            for option in self.value(data) or ()
        ]
        return [*options, ("", in_languages(None, setting.languages), "")]

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        options: list[dict[str, Any]] = []
        before = self.value(data) or ()
        places = range(rows_sent(form, self.path))
        taken = {form.get(f"{self.path}.{place}.id") for place in places}
        for place in places:
            text = translated(form, f"{self.path}.{place}.text", setting.languages)
            if text is None:
                continue
            first = text if isinstance(text, str) else next(iter(text.values()))
            name = form.get(f"{self.path}.{place}.id")
            kept = before[place] if place < len(before) else {}
            if not name or _follows(kept, name, first, setting):
                name = free_id(id_of(first), taken)
                taken.add(name)
            if not ID.fullmatch(name):
                raise self.wrong("an id of a-z, 0-9 and -", name)
            option = {**kept, "id": name, "text": text}
            if f"{self.path}.{place}.{CODE}" in form.values:
                option = _with_code(option, typed_code(form.get(f"{self.path}.{place}.{CODE}")))
            options.append(option)
        return _in_order(options, form.get("move"), self.path)


@dataclass(frozen=True)
class Points(Lines):
    """The labels of a scale, one in each line; if points have codes, another field has these."""

    widget: ClassVar[str] = "points"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> Any:
        points = self.value(data) or ()
        texts = super().shown({self.path: [*map(_label, points)]}, setting)
        return {"texts": texts, "codes": "\n".join(map(_code, points)).rstrip()}

    def read(self, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
        before = self.value(data) or ()
        labels = [*map(_label, before)]
        found = super().read(form, {self.path: labels}, setting)
        known = [*map(_code, before)]
        written = "\n".join(known).rstrip()
        # Empty lines at the beginning are codes that are missing.
        typed = form.values.get(f"{self.path}.{CODE}", written).replace("\r\n", "\n").rstrip()
        if found is None or not typed:
            return found
        codes = typed.split("\n")
        if typed == written and len(found) != len(before):
            # Codes stay with their labels, also where a point was put between others.
            by_label = dict(zip(map(str, labels), known, strict=True))
            codes = [by_label.get(str(label), "") for label in found]
        if len(codes) > len(found):
            raise self.wrong(f"at most {len(found)} codes", str(len(codes)))
        codes += [""] * (len(found) - len(codes))
        points = [_with_code({"text": label}, typed_code(code))
                  for label, code in zip(found, codes, strict=True)]  # fmt: skip
        return points if any(CODE in point for point in points) else found


def _label(point: Any) -> Any:
    """Return the label of a point, with or without a code."""
    return point.get("text", point) if isinstance(point, Mapping) else point


def _code(point: Any) -> str:
    """Return the code of a point as it is typed; "" if it has none."""
    return str(point.get(CODE, "")) if isinstance(point, Mapping) else ""


def _with_code(option: dict[str, Any], code: int | str | None) -> dict[str, Any]:
    """Return an option with another code, or with none."""
    bare = {key: value for key, value in option.items() if key != CODE}
    return bare if code is None else {**bare, CODE: code}


def _follows(kept: Mapping[str, Any], name: str, text: str, setting: Setting) -> bool:
    """Return whether an option's id is to be made of its new text, as it was of the old one.

    It stays if somebody typed it, if something in the draft names it, or if data may have it.
    """
    if name != kept.get("id") or setting.named is None or name in setting.named:
        return False
    before = id_of(next((one for _, one in in_languages(kept["text"], setting.languages)), ""))
    is_made = re.fullmatch(rf"{re.escape(before)}(-\d+)?", name) is not None
    return is_made and id_of(text) != before


def _in_order(options: list[dict[str, Any]], asked: str, path: str) -> list[dict[str, Any]] | None:
    """Return options after one of them was moved or taken away, as the pressed button asked."""
    found = re.fullmatch(rf"{re.escape(path)}:(up|down|remove):(\d{{1,4}})", asked)
    if found and int(found[2]) < len(options):
        place = int(found[2])
        option = options.pop(place)
        if found[1] != "remove":
            options.insert(max(0, place + (1 if found[1] == "down" else -1)), option)
    return options or None
