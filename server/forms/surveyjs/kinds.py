"""What questions of SurveyJS become, type by type."""

from collections.abc import Mapping
from typing import Any

from analysis.core.texts import normalized
from server.forms import texts
from server.forms.change import Change
from server.forms.form import Asked, is_yes_no, phrases, points
from server.forms.json_file import amount, items, table
from server.forms.meaning import told_in

_ONE = ("radiogroup", "dropdown", "buttongroup")
_SEVERAL = ("checkbox", "tagbox")
#: Types to whose options an item such as "other" can be added.
SPECIAL = (*_ONE, *_SEVERAL)
#: The items that SurveyJS adds to options: the switch, the value, and the label's key.
_ADDED = (
    ("showNoneItem", "none", "noneText"),
    ("showRefuseItem", "refused", "refuseText"),
    ("showDontKnowItem", "dontknow", "dontKnowText"),
)
#: Validators whose own keys say what is left out with them.
_TELLING = ("expression", "regex", "text", "numeric", "answercount")
#: What the text of an option is.
_LABEL = "answer's label"
#: The most suggestions of a text, and the longest one that a text can be by default.
_MOST_SUGGESTIONS, _LONGEST = 1000, 32


class Kinds:
    """Gives questions of SurveyJS our kinds, in the languages of their form."""

    def __init__(self, languages: texts.Languages) -> None:
        self.languages = languages
        self._rules: list[Mapping[str, Any]] = []
        #: What is different in the texts that were read, until a row says so.
        self._changes: list[Change] = []

    def fill(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        """Give a question its kind and that kind's keys; return why it cannot have one."""
        self._rules = [*map(table, items(element.get("validators")))]
        why = self._fill(asked, element, kind)
        for rule in self._rules:
            if str(rule.get("type")).removesuffix("validator") not in _TELLING:
                asked.lose(f"the validator {str(rule.get('type'))[:40]} is left out")
        return why

    def _fill(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        if kind in (*_ONE, *_SEVERAL, "imagepicker", "ranking"):
            return self._choose(asked, element, kind)
        if kind == "boolean":
            return self._agree(asked, element)
        if kind == "rating":
            return self._rate(asked, element)
        if kind in ("text", "nouislider", "slider"):
            return self._type(asked, element, kind)
        if kind == "html":
            asked.kind = "note"
            return "" if asked.text != asked.name else "it has no text"
        return f"the type {kind[:40] or '(none)'} is not known here"

    def options(self, given: Any, what: str = _LABEL) -> list[tuple[str, Any]]:
        """Return the values and texts of a list of items; each is a table, or a value alone."""
        found = []
        for item in items(given):
            one = item if isinstance(item, Mapping) else {"value": item}
            # An item can have both in one text.
            value, _, label = plain_value(one.get("value")).partition("|")
            text = self.text(one.get("text"), what) or self.text(label, what)
            if value or text:
                found.append((value or texts.first(text), text or self.same(value)))
        return found

    def excluding(self, given: Any) -> list[str]:
        """Return the values of the options that exclude all others."""
        alone = [one for one in map(table, items(given)) if one.get("isExclusive") is True]
        return [value for value, _ in self.options(alone)]

    def _choose(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        if element.get("choicesByUrl") or element.get("choicesFromQuestion"):
            return "its options come from elsewhere: put them into its choices"
        given = element.get("choices")
        asked.options = self.options(given)
        if kind == "dropdown" and not asked.options:
            low, high, step = (
                amount(element.get(f"choices{end}")) for end in ("Min", "Max", "Step")
            )
            if low is not None and high is not None and low < high:
                asked.count(low, high, "")
                asked.keys["step"] = step or 1
                asked.look("its list of numbers is asked as a number")
                return ""
        several = kind == "imagepicker" and element.get("multiSelect") is True
        asked.kind = "choices" if kind in _SEVERAL or several else "choice"
        asked.kind = "rank" if kind == "ranking" else asked.kind
        added = [*self._added(element)] if kind in SPECIAL else []
        asked.alone = [*(value for value, _ in added), *self.excluding(given)]
        asked.options += added
        order = element.get("choicesOrder")
        if order == "random":
            asked.keys["random_order"] = True
        elif order in ("asc", "desc"):
            asked.lose("the alphabetical order of its options is left out")
        if asked.kind != "choice":
            self._limit(asked, element)
        return ""

    def _added(self, element: Mapping[str, Any]) -> Any:
        """Yield the items that a question adds to its options: none, refused, and dontknow."""
        languages = self.languages.several
        usual = {
            "none": phrases(languages, "question.none"),
            "refused": told_in("refuse", languages),
            "dontknow": told_in("dont-know", languages),
        }
        for switch, value, key in _ADDED:
            label = self.text(element.get(key), _LABEL)
            if is_on(element, switch):
                yield value, label or usual[value]

    def _limit(self, asked: Asked, element: Mapping[str, Any]) -> None:
        """Read how many options can and must be ticked, or ranked."""
        least, most = ([element.get(f"{end}SelectedChoices")] for end in ("min", "max"))
        for rule in self._of_rules("answercount"):
            least.append(rule.get("minCount"))
            most.append(rule.get("maxCount"))
        high = min((one for one in map(amount, most) if one), default=len(asked.options))
        low = max((one for one in map(amount, least) if one), default=0)
        if asked.kind == "choices" and 1 <= high < len(asked.options):
            asked.keys["at_most"] = int(high)
        elif asked.kind == "rank" and (
            is_on(element, "selectToRankEnabled") or high < len(asked.options)
        ):
            asked.lose("that only some of its items are ranked is left out")
        if low > (asked.kind == "choices"):
            asked.lose(f"that at least {low} of them are chosen is left out")

    def _of_rules(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the validators of a type, which then are read."""
        named = [(str(rule.get("type")).removesuffix("validator"), rule) for rule in self._rules]
        self._rules = [rule for one, rule in named if one != kind]
        return [rule for one, rule in named if one == kind]

    def _agree(self, asked: Asked, element: Mapping[str, Any]) -> str:
        """Read a question with a switch; its labels can say anything."""
        asked.kind = "yes-no"
        ends = (
            ("valueTrue", "labelTrue", True, "question.yes"),
            ("valueFalse", "labelFalse", False, "question.no"),
        )
        for key, labelled, usual, own in ends:
            label = self.text(element.get(labelled), _LABEL)
            words = phrases(self.languages.several, own)
            asked.options.append((plain_value(element.get(key, usual)), label or words))
        if not is_yes_no(asked.options, self.languages.several):
            asked.kind = "choice"
        return ""

    def _rate(self, asked: Asked, element: Mapping[str, Any]) -> str:
        rates = self.options(element.get("rateValues"))
        low, high, step, number = (
            element.get(f"rate{key}") for key in ("Min", "Max", "Step", "Count")
        )
        if not rates or element.get("autoGenerate") is True:
            step = 1 if step is None else step
            if type(number) is int and type(step) is int:
                if high is None:
                    low = 1 if low is None else low
                    high = low + (number - 1) * step if type(low) is int else low
                elif low is None and type(high) is int:
                    low = high - (number - 1) * step
            low, high = 1 if low is None else low, 5 if high is None else high
            numbers = all(type(one) is int for one in (low, high, step))
            if not numbers or step < 1 or not 2 <= (high - low) // step + 1 <= 50:
                return "expected 2 to 50 rates that are whole numbers"
            rates = points(low, high, step)
            if element.keys().isdisjoint(("rateMin", "rateMax")) and len(rates) != 5:
                asked.look(f"it has {len(rates)} points; the tool shows 5 without their ends")
        if element.get("rateType") == "smileys":
            asked.look("its faces are numbers, and are asked as numbers")
        asked.kind, asked.options = "scale", rates
        ends = [self.text(element.get(f"{end}RateDescription"), _LABEL) for end in ("min", "max")]
        labels = [str(texts.first(text)) for _, text in (rates[0], rates[-1])]
        asked.explain_ends(dict(zip(labels, ends, strict=True)))
        return ""

    def _type(self, asked: Asked, element: Mapping[str, Any], kind: str) -> str:
        typed = str(element.get("inputType", "text"))
        mask = element.get("maskType", "none")
        is_number = typed in ("number", "range") or mask in ("numeric", "currency")
        is_number |= any(str(rule.get("type")).startswith("numeric") for rule in self._rules)
        if kind != "text" or is_number:
            return self._count(asked, element, kind, typed, mask)
        if typed in ("date", "month", "datetime-local", "week"):
            days = [element.get(end, "") for end in ("min", "max")]
            return asked.count_years(days, "give it min and max")
        if typed != "text":
            return f"an answer of type {typed[:20]} identifies, or cannot be randomized"
        asked.kind = "text"
        if mask != "none":
            asked.lose(f"the mask {mask} of its text is left out")
        self._suggest(asked, element.get("dataList"))
        hint = str(element.get("autocomplete", ""))
        mail = "e-mail" if self._of_rules("email") else ""
        asked.who = mail or ("" if hint in ("off", "on") else hint)
        return ""

    def _suggest(self, asked: Asked, given: Any) -> None:
        """Read the suggestions for a text, in the first language, as what is counted."""
        listed = table(given)
        found = [str(one) for one in items(listed.get("default") or given if listed else given)]
        if not found:
            return
        plain = {normalized(one) for one in found}
        fits = 2 <= len(plain) == len(found) <= _MOST_SUGGESTIONS and "" not in plain
        if fits and max(map(len, found)) <= _LONGEST:
            asked.keys["candidates"] = found
            asked.look("its suggestions are counted each, and other texts together")
        else:
            asked.lose(f"the suggestion {found[0][:40]} and {len(found) - 1} more are left out")

    def _count(
        self, asked: Asked, element: Mapping[str, Any], kind: str, typed: str, mask: Any
    ) -> str:
        """Read a number with its bounds, step and unit."""
        if element.get("sliderType") == "range":
            return "a range has two numbers: ask for each by itself"
        ends = ("rangeMin", "rangeMax") if kind == "nouislider" else ("min", "max")
        masked = table(element.get("maskSettings"))
        rules = self._of_rules("numeric")
        given = [
            [element.get(end), masked.get(key), *(rule.get(f"{key}Value") for rule in rules)]
            for end, key in zip(ends, ("min", "max"), strict=True)
        ]
        lows, highs = ([one for one in map(amount, each) if one is not None] for each in given)
        if kind == "slider":
            lows, highs = lows or [0], highs or [100]
        low, high = max(lows, default=None), min(highs, default=None)
        asked.count(low, high, "give it min and max")
        step = amount(element.get("step", None if kind == "text" else 1))
        if step is not None and step > 0:
            asked.keys |= {"integer": True} if step == 1 else {"step": step}
        if kind != "text" or typed == "range":
            asked.keys["slider"] = True
        self._measure(asked, element, masked, mask)
        labels = self.options(element.get("customLabels"))
        asked.explain_ends(dict(labels))
        return ""

    def _measure(
        self, asked: Asked, element: Mapping[str, Any], masked: Mapping[str, Any], mask: Any
    ) -> None:
        """Read the unit, which stands before or behind the number in a mask or a label."""
        label = str(element.get("labelFormat", "{0}")).partition("{0}")
        around = [label[0].strip(), label[2].strip()]
        around += [str(masked.get(key, "")).strip() for key in ("prefix", "suffix")]
        units = [one for one in dict.fromkeys(around) if one]
        if units:
            asked.keys["unit"] = self.same(units[-1])
        for one in units[:-1]:
            asked.lose(f"“{one}” beside the number is left out")
        if mask == "currency" and not units:
            asked.lose("that it is an amount of money is left out")

    def text(self, value: Any, what: str = "text") -> Any:
        """Return a text, plain or in all languages; None without one."""
        given = value if isinstance(value, Mapping) else {"default": value}
        usual = given.get("default")
        found = {name: given.get(name) for name in self.languages.tags}
        first = next(iter(found))
        if DEFAULT not in found and not is_text(found[first]):
            found[first] = usual
        if DEFAULT in found and not isinstance(value, Mapping):
            found = dict.fromkeys(found, value)
        spoken = {name: str(one) for name, one in found.items() if is_text(one)}
        text, changes = self.languages.text(spoken, what)
        self._changes += changes
        return text

    def changes(self) -> list[Change]:
        """Return what is different in the texts that were read since the last call."""
        found, self._changes = self._changes, []
        return [*dict.fromkeys(found)]

    def same(self, text: str) -> Any:
        """Return a text that is the same in all languages."""
        return self.languages.same(texts.plain(text)[0] or "–")


#: The name of a text that is in English where the form itself is in another language.
DEFAULT = "default"


def is_text(value: Any) -> bool:
    """Return whether a value can be a text."""
    return isinstance(value, str | int | float) and str(value) != ""


def plain_value(value: Any) -> str:
    """Return a value as conditions write it; "" for what can be none."""
    given = str(value) if is_text(value) else ""
    return given.lower() if isinstance(value, bool) else given


def is_on(element: Mapping[str, Any], key: str) -> bool:
    """Return whether a switch is on."""
    return str(element.get(key)).lower() == "true"
