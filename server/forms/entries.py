"""Tables of a survey file that are made of questions of another tool."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.core.domain import NO_ANSWER, NONE, RESERVED
from analysis.survey.codes import CODE, Code, is_code, typed_code
from analysis.survey.digest import NOTE
from analysis.survey.document import ID
from server.editing.draft_file import free_id, id_of
from server.forms.change import Change, harmless, look, lost
from server.forms.form import Asked, left_out, phrases
from server.forms.meaning import asks_who, in_order, outside
from server.forms.texts import answers_in, first, retold

#: The ε of every question that is imported, until its author chooses another.
PROPOSED = 1.0
#: Ids that options cannot have.
_RESERVED = (*RESERVED, NONE)


@dataclass
class Entry:
    """A question that is imported as `data`; values of its answers in the source have these ids."""

    asked: Asked
    data: dict[str, Any]
    values: Mapping[str, str] = field(default_factory=dict)
    #: Of these values, too, for which respondents leave a scale out.
    outside: Mapping[str, str] = field(default_factory=dict)
    #: Whether whoever leaves the scale out means just the one value of these.
    is_exact: bool = False
    changes: list[Change] = field(default_factory=list)

    #: Whether a condition is left out, so that it is asked of people whom it does not concern.
    is_asked_of_more: bool = False

    def ask_all(self, text: str, why: object) -> None:
        """Leave a condition of the source out, so that more people are asked."""
        self.is_asked_of_more = True
        self.changes.append(left_out(text, why))

    def require_no_more(self) -> None:
        """Let those leave it out whom it does not concern."""
        if self.is_asked_of_more and self.data.pop("required", False):
            self.changes.append(look("it is not required any more, since more people are asked"))


def beside_scale(asked: Asked) -> list[str]:
    """Return the values of a scale's answers that are no points of it, if enough others are."""
    beside = outside(asked.options)
    return beside if len(asked.options) - len(beside) >= 2 else []


def entry_of(asked: Asked, taken: Collection[str], beside: Sequence[str] = ()) -> Entry:
    """Return the table of a question, with ids that a survey file can have.

    The answers of a scale with the values `beside` are no points of it.
    """
    name = free_id(plain_id(asked.name), taken)
    entry = Entry(asked, {"id": name, "kind": asked.kind, "text": asked.text})
    entry.outside = dict.fromkeys(beside, NO_ANSWER)
    if name != asked.name:
        entry.changes.append(harmless(f"its id is {name}"))
    labels: dict[str, Any] = {}
    for value, text in asked.options:
        labels.setdefault(value, text)
    if len(labels) < len(asked.options):
        entry.changes.append(lost("options with the value of an earlier one are left out"))
        asked.options = [*labels.items()]
    none = _without_none(entry)
    if asked.kind in _ANSWERS:
        _ANSWERS[asked.kind](entry)
    entry.values = {**entry.values, **none}
    entry.data |= asked.keys
    if asked.kind == "text" and asked.keys.keys().isdisjoint(("candidates", "namely")):
        told = "it is asked as a text, of which only frequent answers are found"
        entry.changes.append(look(told))
    who = asked.who or (asks_who(asked.text) if asked.kind == "text" else "")
    if who:
        told = f"it seems to ask who somebody is (“{who}”)"
        entry.changes.append(look(f"{told}: leave it out, or ask something else"))
    if any(answers_in(text) for _, text in asked.options):
        entry.changes.append(lost("earlier answers are left out of its options"))
    if any(map(answers_in, asked.headings)):
        entry.changes.append(lost("earlier answers are left out of its heading"))
    entry.data = retold(entry.data)
    _add_codes(entry)
    if asked.kind != NOTE:
        entry.data["epsilon"] = PROPOSED
    return entry


def _without_none(entry: Entry) -> Mapping[str, str]:
    """Take the option out of choices that means "None of these", and return what its value is."""
    asked = entry.asked
    none = asked.none if len(asked.options) > 2 else None  # a question needs two options
    alone = {*asked.alone} if asked.kind == "choices" else set[str]()
    for value, text in asked.options:
        if value in alone and (value, text) != none:
            entry.changes.append(lost(f"that “{first(text)}” excludes all others is left out"))
    if none is None:
        return {}
    value, text = none
    others = [option for option in asked.options if option != none]
    asked.options = others
    if "at_most" in asked.keys:
        asked.keys["at_most"] = min(asked.keys["at_most"], len(others))
    if text != phrases([*text] if isinstance(text, dict) else (), "question.none"):
        entry.data["none"] = text
    change = harmless if value in alone else look
    entry.changes.append(change(f"“{first(text)}” cannot be ticked beside others"))
    return {value: NONE}


def _add_options(entry: Entry, key: str = "options") -> None:
    """Add options, with ids as near to the values of the source as ids can be."""
    values: dict[str, str] = {}
    taken: set[str] = set()
    for value, text in entry.asked.options:
        wanted = plain_id(value if value.strip() else first(text))
        wanted = f"{wanted}-option" if wanted in _RESERVED else wanted
        values[value] = free_id(wanted, taken)
        taken.add(values[value])
    renamed = [f"{value} is {new}" for value, new in values.items() if value != new]
    if renamed:
        more = f" and {len(renamed) - 5} more" if len(renamed) > 5 else ""
        entry.changes.append(harmless(f"ids of options: {', '.join(renamed[:5])}{more}"))
    entry.data[key] = [{"id": values[value], "text": text} for value, text in entry.asked.options]
    entry.values = values


def _add_points(entry: Entry) -> None:
    """Add the points of a scale; those that look alike can only be options."""
    _take_apart(entry)
    points = [text for _, text in entry.asked.options]
    if any(points.count(text) > 1 for text in points):
        entry.data["kind"] = "choice"
        entry.changes.append(look("two of its points have the same label, so it became a choice"))
        entry.asked.keys.pop("matrix", None)
        _add_options(entry)
    else:
        entry.data["points"] = points


def _add_codes(entry: Entry) -> None:
    """Add the values of the source as codes, where they say something that the ids do not.

    A question whose codes would not differ, from each other and from ids, gets none.
    """
    key = next((key for key in ("options", "items", "points") if key in entry.data), "")
    if not key:
        return
    values = [value for value, _ in entry.asked.options]
    given = entry.data[key]
    if key == "points":
        texts = [str(point) for point in given]
        if values in (texts, [str(place) for place, _ in enumerate(given, 1)]):
            return
        given = [{"id": str(place), "text": point} for place, point in enumerate(given, 1)]
    codes: list[Code | None] = [
        typed_code(value) if value != option["id"] or key == "points" else None
        for value, option in zip(values, given, strict=True)
    ]
    codes = [code if is_code(code) else None for code in codes]
    used = {
        str(one["id"] if code is None else code) for code, one in zip(codes, given, strict=True)
    }
    if len(used) < len(given) or not any(code is not None for code in codes):
        return
    for code, option in zip(codes, given, strict=True):
        option |= {} if code is None else {CODE: code}
    if key == "points":
        given = [{name: one[name] for name in ("text", CODE) if name in one} for one in given]
    entry.data[key] = given


def _take_apart(entry: Entry) -> None:
    """Put the points in the order of their codes, and answers that are no points beside them.

    Whoever means such an answer leaves the question out, so it cannot be required.
    """
    asked, beside = entry.asked, entry.outside
    if beside:
        labels = [f"“{first(text)}” ({value})" for value, text in asked.options if value in beside]
        are = "is no point: it means" if len(labels) == 1 else "are no points: they mean"
        was_required = asked.keys.pop("required", False)
        also = ", so it is not required" if was_required else ""
        entry.is_exact = was_required and len(beside) == 1
        entry.changes.append(look(f"{' and '.join(labels)} {are} to give no answer{also}"))
        asked.options = [option for option in asked.options if option[0] not in beside]
    ordered = in_order(asked.options)
    if ordered != asked.options:
        asked.options = ordered
        entry.changes.append(look("its points stand in the order of their codes"))


def _name_both(entry: Entry) -> None:
    """Note which of the values of the source is "yes", and which is "no"."""
    values = [value for value, _ in entry.asked.options] or ["yes", "no"]
    entry.values = dict(zip(values, ("yes", "no"), strict=True))


#: What the kinds do with the options of the source.
_ANSWERS: Mapping[str, Callable[[Entry], None]] = {
    "choice": _add_options,
    "choices": _add_options,
    "rank": lambda entry: _add_options(entry, "items"),
    "scale": _add_points,
    "yes-no": _name_both,
}


def plain_id(name: str) -> str:
    """Return a name of the source as an id: as it is if it is one, otherwise as the editor does."""
    return name if ID.fullmatch(name) else id_of(name, 64)
