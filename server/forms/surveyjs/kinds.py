"""What questions of SurveyJS become, type by type."""

import re
from collections.abc import Mapping
from typing import Any

from server.forms import texts
from server.forms.change import Change
from server.forms.form import Asked, is_yes_no, phrases
from server.forms.json_file import amount, items

_RATES = 5


class Kinds:
    """Gives questions of SurveyJS our kinds, in the languages of their form."""

    def __init__(self, languages: texts.Languages) -> None:
        self.languages = languages

    def fill(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        """Give a question its kind and that kind's keys; return why it cannot have one."""
        if kind in (
            "radiogroup",
            "dropdown",
            "buttongroup",
            "checkbox",
            "tagbox",
            "imagepicker",
            "ranking",
        ):
            return self._choose(asked, element, kind)
        if kind == "boolean":
            asked.kind = "yes-no"
            ends = (
                ("valueTrue", "labelTrue", "true", "question.yes"),
                ("valueFalse", "labelFalse", "false", "question.no"),
            )
            asked.options = []
            for key, labelled, usual, own in ends:
                value = element.get(key, usual)
                label, _ = self.text(element.get(labelled))
                words = phrases(self.languages.several, own)
                asked.options.append((_plain(value), label or words))
            if not is_yes_no(asked.options, self.languages.several):
                asked.kind = "choice"
            return ""
        if kind == "rating":
            return self._rate(asked, element)
        if kind in ("text", "nouislider", "slider"):
            return self._type(asked, element, kind)
        if kind == "html":
            asked.kind = "note"
            return "" if asked.text != asked.name else "it has no text"
        return f"the type {kind[:40] or '(none)'} is not known here"

    def _choose(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        if element.get("choicesByUrl") or element.get("choicesFromQuestion"):
            return "its options come from elsewhere: put them into its choices"
        options: dict[str, Any] = {}
        for choice in items(element.get("choices")):
            one = choice if isinstance(choice, Mapping) else {"value": choice}
            value = str(one.get("value", ""))
            text, _ = self.text(one.get("text"))
            options.setdefault(value, text or self.same(value))
        if len([value for value in options if value]) < 2:
            return "it has fewer than two options"
        many = kind in ("checkbox", "tagbox") or (
            kind == "imagepicker" and element.get("multiSelect")
        )
        asked.kind = "rank" if kind == "ranking" else "choices" if many else "choice"
        asked.options = [(value, text) for value, text in options.items() if value]
        if kind == "imagepicker":
            asked.lose("its images are left out")
        if element.get("choicesOrder") == "random":
            asked.keys["random_order"] = True
        most = element.get("maxSelectedChoices")
        if many and type(most) is int and 0 < most <= len(asked.options):
            asked.keys["at_most"] = most
        if is_on(element, "hasNone", "showNoneItem") and not many:
            label, _ = self.text(element.get("noneText"))
            asked.options.append(("none-of-these", label or self.same("None")))
        return ""

    def _rate(self, asked: Asked, element: Mapping[str, Any]) -> str:
        values = items(element.get("rateValues"))
        points: list[tuple[str, Any]] = []
        for one in values:
            value = str(one.get("value", "") if isinstance(one, Mapping) else one)
            text, _ = self.text(one.get("text") if isinstance(one, Mapping) else None)
            points.append((value, text or self.same(value)))
        if not points:
            low, high = (
                element.get("rateMin", 1),
                element.get("rateMax", element.get("rateCount", _RATES)),
            )
            step = element.get("rateStep", 1)
            numbers = all(type(one) is int for one in (low, high, step))
            if not numbers or step < 1 or not 2 <= (high - low) // step + 1 <= 50:
                return "expected 2 to 50 rates that are whole numbers"
            points = [(str(number), str(number)) for number in range(low, high + 1, step)]
        asked.kind, asked.options = "scale", points
        ends = [self.text(element.get(f"{end}RateDescription"))[0] for end in ("min", "max")]
        labels = [str(texts.first(text)) for _, text in (points[0], points[-1])]
        asked.explain_ends(dict(zip(labels, ends, strict=True)))
        return ""

    def _type(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        typed = str(element.get("inputType", "text"))
        if kind == "text" and typed not in ("number", "range"):
            if typed == "text":
                asked.kind = "text"
                asked.lose("it is asked as a text, of which only frequent answers are found")
                return ""
            if typed in ("date", "month", "datetime-local", "week"):
                years = [re.match(r"(\d{4})", str(element.get(end, ""))) for end in ("min", "max")]
                if not all(years):
                    return "a date needs its first and last day: give it min and max"
                asked.kind = "number"
                bounds = {
                    key: int(year[1])
                    for key, year in zip(("min", "max"), years, strict=True)
                    if year
                }
                asked.keys |= {**bounds, "integer": True}
                asked.look("a date is asked as its year")
                return ""
            return f"an answer of type {typed[:20]} identifies, or cannot be randomized"
        ends = ("rangeMin", "rangeMax") if kind == "nouislider" else ("min", "max")
        found = {
            ours: element.get(theirs) for ours, theirs in zip(("min", "max"), ends, strict=True)
        }
        for rule in items(element.get("validators")):
            if isinstance(rule, Mapping) and rule.get("type") in ("numeric", "numericvalidator"):
                found["min"] = rule.get("minValue") if found["min"] is None else found["min"]
                found["max"] = rule.get("maxValue") if found["max"] is None else found["max"]
            elif isinstance(rule, Mapping):
                asked.lose(f"the validator {str(rule.get('type'))[:20]} is left out")
        if kind == "slider":
            usual = {"min": 0, "max": 100}
            found = {key: usual[key] if one is None else one for key, one in found.items()}
        if any(type(one) not in (int, float) for one in found.values()):
            asked.count_without_bounds("give it min and max")
            found = {}
        asked.kind = "number"
        asked.keys |= found
        step = amount(element.get("step"))
        if step is not None and step > 0:
            asked.keys |= {"integer": True} if step == 1 else {"step": step}
        if kind != "text" or typed == "range":
            asked.keys["slider"] = True
        return ""

    def text(self, value: Any) -> tuple[Any, list[Change]]:
        """Return a text, plain or in all languages, and what is different from the source."""
        given = value if isinstance(value, Mapping) else {"default": value}
        first = next(iter(self.languages.tags))
        by_name = {name: given.get(name) for name in self.languages.tags}
        by_name[first] = given.get("default", by_name[first])
        texts_of = {name: "" if one is None else str(one) for name, one in by_name.items()}
        return self.languages.text(texts_of)

    def same(self, text: str) -> Any:
        """Return a text that is the same in all languages."""
        return self.languages.same(texts.plain(text)[0] or "–")


def _plain(value: Any) -> str:
    """Return a value as conditions write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_on(element: Mapping[str, Any], *keys: str) -> bool:
    """Return whether one of some keys is true."""
    return any(element.get(key) is True for key in keys)
