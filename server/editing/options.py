"""The field of a question's options: their ids, texts and order."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.survey.document import ID
from server.editing.draft_file import id_of
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
        for place in range(rows_sent(form, self.path)):
            text = translated(form, f"{self.path}.{place}.text", setting.languages)
            if text is None:
                continue
            first = text if isinstance(text, str) else next(iter(text.values()))
            name = form.get(f"{self.path}.{place}.id") or id_of(first)
            if not ID.fullmatch(name):
                raise self.wrong("an id of a-z, 0-9 and -", name)
            kept = before[place] if place < len(before) else {}
            options.append({**kept, "id": name, "text": text})
        return _in_order(options, form.get("move"), self.path)


def _in_order(options: list[dict[str, Any]], asked: str, path: str) -> list[dict[str, Any]] | None:
    """Return options after one of them was moved or taken away, as the pressed button asked."""
    found = re.fullmatch(rf"{path}:(up|down|remove):(\d{{1,4}})", asked)
    if found and int(found[2]) < len(options):
        place = int(found[2])
        option = options.pop(place)
        if found[1] != "remove":
            options.insert(max(0, place + (1 if found[1] == "down" else -1)), option)
    return options or None
