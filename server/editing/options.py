"""The field of a question's options: their ids, texts and order."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.survey.document import ID
from server.editing.draft_file import free_id, id_of
from server.editing.fields import Field, Form, Setting, in_languages, rows_sent, translated


@dataclass(frozen=True)
class Options(Field):
    """Options with ids and texts; an empty row adds one, and an emptied text takes one away."""

    widget: ClassVar[str] = "options"

    def shown(self, data: Mapping[str, Any], setting: Setting) -> list[Any]:
        options = [
            (option.get("id", ""), in_languages(option.get("text"), setting.languages))
            for option in self.value(data) or ()
        ]
        return [*options, ("", in_languages(None, setting.languages))]

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
            options.append({**kept, "id": name, "text": text})
        return _in_order(options, form.get("move"), self.path)


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
