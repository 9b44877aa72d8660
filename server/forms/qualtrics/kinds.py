"""What questions of Qualtrics become, type by type."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import Change
from server.forms.form import Asked, Form, is_yes_no
from server.forms.json_file import amount, items, table
from server.forms.qualtrics.logic import condition

_PROSE = "free prose cannot be randomized: ask a question with options instead"
#: Types and selectors that ask nothing that can be randomized, and why.
_REFUSED = {
    "FileUpload": "files are not collected", "Signature": "signatures are not collected",
    "Draw": "drawings are not collected", "HotSpot": "places on an image are not asked",
    "HeatMap": "places on an image are not asked", "Timing": "times are not collected",
    "Captcha": "proof_of_work keeps programs away", "Meta": "nothing is collected about the device",
    "SBS": "a table of several questions is not asked: ask each column by itself",
    "DD": "a list that depends on another is not asked: ask each level by itself",
    "CS": "numbers that add up to a sum are not asked: ask each by itself",
    "PGR": "sorting into groups is not asked: ask for each item which group it is",
    "HL": "marking a text is not asked", "MaxDiff": "best and worst are not asked: use a ranking",
    "TreeTesting": "a tree test is not asked", "VideoResponse": "nothing is recorded",
    "ML": _PROSE, "ESTB": _PROSE, "PW": "passwords are not collected",
}  # fmt: skip


class Kinds:
    """Makes questions of Qualtrics into items of a form, and knows how logic names them.

    `names` has the names of all questions, by their ids.
    """

    def __init__(self, form: Form, languages: texts.Languages, names: Mapping[str, str]) -> None:
        self.form = form
        self._languages = languages
        self._names = names
        self._values: dict[str, dict[str, str]] = {}

    def fill(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Add a question, or those of its rows, to the form; return why that cannot be."""
        kind, selector = (str(question.get(key, "")) for key in ("QuestionType", "Selector"))
        if kind in _REFUSED or selector in _REFUSED:
            return _REFUSED.get(kind) or _REFUSED[selector]
        reader = _READERS.get(kind)
        if reader is None:
            return f"the type {kind[:40] or '(none)'} is not known here"
        return reader(self, asked, question)

    def tree(self, logic: Any) -> list[Any]:
        """Return the tree of logic; raise `Untold` if it cannot be translated."""
        return condition(logic, self._names, self._values)

    def wording(
        self, question: Mapping[str, Any], part: Callable[[Mapping[str, Any]], Any]
    ) -> tuple[Any, list[Change]]:
        """Return a part of a question in all languages, and what is different from the source."""
        others = table(question.get("Language"))
        given = {}
        for number, code in enumerate(self._languages.tags):
            text = part(table(others.get(code)) if number else question)
            given[code] = text if isinstance(text, str) else ""
        return self._languages.text(given)

    def _choices(
        self, asked: Asked, question: Mapping[str, Any], key: str = "Choices"
    ) -> list[tuple[str, str, Any, bool]]:
        """Return the choices in their order: id, value, text, and whether one can write there."""
        choices = question.get(key)
        if isinstance(choices, list):
            choices = {str(at): one for at, one in enumerate(choices, 1)}
        choices = {str(at): table(one) for at, one in table(choices).items()}
        order = items(question.get("ChoiceOrder" if key == "Choices" else "AnswerOrder"))
        keys = [*dict.fromkeys(str(one) for one in order if str(one) in choices)] or [*choices]
        recoded = table(question.get("RecodeValues")) if key == "Choices" else {}
        values = [str(recoded.get(one, one)) for one in keys]
        found = []
        for one, value in zip(keys, values if len(set(values)) == len(keys) else keys, strict=True):
            text, changes = self.wording(question, partial(_display, key, one))
            if text is None and isinstance(choices[one].get("Display"), str):
                # For example, an image has no text.
                asked.lose(f"the label of its option {one} has no text")
                text = self._languages.same(one)
            asked.changes += [change for change in changes if change not in asked.changes]
            found.append(
                (one, value, text or self._languages.same(one), bool(choices[one].get("TextEntry")))
            )
        return found

    def _choose(self, asked: Asked, question: Mapping[str, Any]) -> str:
        selector = str(question.get("Selector", ""))
        if selector == "NPS":
            asked.kind = "scale"
            asked.options = [(str(number), str(number)) for number in range(11)]
            self.form.put(asked)
            return ""
        choices = self._choices(asked, question)
        if len(choices) < 2:
            return "it has fewer than two options"
        many = selector.startswith("MA") or selector == "MSB"
        self._values[asked.row] = {key: value for key, value, _, _ in choices}
        asked.options = [(value, text) for _, value, text, _ in choices]
        if not many and is_yes_no(asked.options, self._languages.several):
            asked.kind = "yes-no"
        else:
            asked.kind = "choices" if many else "choice"
            if table(question.get("Randomization")).get("Type") == "All":
                asked.keys["random_order"] = True
        most = str(settings_of(question).get("MaxChoices") or "")
        if many and re.fullmatch(r"[1-9]\d{0,3}", most, re.ASCII):
            asked.keys["at_most"] = min(int(most), len(choices))
        self.form.put(asked)
        typed = [(value, text) for _, value, text, can_type in choices if can_type]
        if len(typed) == 1 and asked.kind != "yes-no":
            option, label = typed[0]
            self.form.put(asked.namely(option, label, f"{asked.name}-{option}"))
        elif typed:
            names = ", ".join(texts.first(text) for _, text in typed)[:100]
            asked.lose(f"what is written beside {names} is left out")
        given = table(question.get("Choices")).values()
        if any("DisplayLogic" in table(choice) for choice in given):
            asked.lose("the conditions of its options are left out")
        if any("ExclusiveAnswer" in table(choice) for choice in given):
            asked.lose("the exclusive option is left out")
        return ""

    def _rank(self, asked: Asked, question: Mapping[str, Any]) -> str:
        choices = self._choices(asked, question)
        asked.kind, asked.options = "rank", [(value, text) for _, value, text, _ in choices]
        if len(choices) < 2:
            return "it has fewer than two items"
        self.form.put(asked)
        return ""

    def _show(self, asked: Asked, question: Mapping[str, Any]) -> str:
        if asked.text == asked.name:
            return "it has no text"
        asked.kind = "note"
        if question.get("Selector") == "GRB":
            asked.lose("its image is left out")
        self.form.put(asked)
        return ""

    def _slide(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Make a number of each slider, or a scale of each row of stars."""
        given = table(question.get("Configuration"))
        keys: dict[str, Any] = {}
        low, high = (amount(given.get(key)) for key in ("CSSliderMin", "CSSliderMax"))
        if question.get("Selector") == "STAR":
            stars = amount(given.get("StarCount")) or 5
            if not 2 <= stars <= 50:
                return "expected 2 to 50 stars"
            kind = "scale"
            options = [(str(one), str(one)) for one in range(1, int(stars) + 1)]
        elif low is None or high is None:
            asked.count_without_bounds("give the slider both")
            kind, keys, options = "number", {"slider": True}, []
        else:
            kind, options = "number", []
            keys = {"min": low, "max": high, "slider": True}
        return self._ask_rows(asked, question, kind, options, keys)

    def _ask_rows(
        self,
        asked: Asked,
        question: Mapping[str, Any],
        kind: str,
        options: Sequence[tuple[str, Any]],
        keys: Mapping[str, Any],
    ) -> str:
        """Ask each choice of a question as a question of its own, below its text."""
        choices = self._choices(asked, question)
        if len(choices) < 2:
            asked.kind, asked.options = kind, [*options]
            asked.keys |= keys
            label = choices[0][2] if choices else ""
            if label and texts.first(label) not in (texts.first(asked.text), choices[0][0]):
                asked.keys.setdefault("help", label)
            self.form.put(asked)
            return ""
        self.form.note(asked.row, asked.name, asked.type, remark="each of its rows is a question")
        for number, (key, _, text, _) in enumerate(choices):
            row = Asked(f"{asked.row}.{key}", f"{asked.name}-{key}", asked.type, kind, text)
            row.keys, row.unbounded = {**asked.keys, **keys}, asked.unbounded
            is_grid = kind == "scale"
            if is_grid:
                row.keys["matrix"] = asked.text
            row.options, row.conditions = [*options], [*asked.conditions]
            row.changes = [*asked.changes] if number == 0 else []
            self.form.headings.append(None if is_grid else asked.text)
            self.form.put(row)
            self.form.headings.pop()
        return ""

    def _type(self, asked: Asked, question: Mapping[str, Any]) -> str:
        settings = settings_of(question)
        content = str(settings.get("ContentType") or "")
        if content == "ValidNumber":
            bounds = table(settings.get("ValidNumber"))
            low, high = (amount(bounds.get(key)) for key in ("Min", "Max"))
            if low is None or high is None:
                asked.count_without_bounds("give its validation both")
                return self._ask_rows(asked, question, "number", [], {})
            return self._ask_rows(asked, question, "number", [], {"min": low, "max": high})
        if content not in ("", "ValidTextOnly"):
            return (
                f"an answer of type {content.removeprefix('Valid')[:20]} identifies, or is no text"
            )
        asked.look("it is asked as a text, of which only frequent answers are found")
        return self._ask_rows(asked, question, "text", [], {})

    def _read_matrix(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Make a scale, or a choice of several, of each row of a matrix."""
        shape = (str(question.get("Selector")), str(question.get("SubSelector") or ""))
        kind = _MATRICES.get(shape)
        if kind is None:
            return "a table of this kind is not asked: ask each row by itself"
        answers = self._choices(asked, question, "Answers")
        if len(answers) < 2:
            return "it has fewer than two columns"
        options = [(value, text) for _, value, text, _ in answers]
        return self._ask_rows(asked, question, kind, options, {})


#: The kinds that matrices become, by selector and subselector.
_MATRICES = {
    ("Likert", "SingleAnswer"): "scale",
    ("Likert", "DL"): "scale",
    ("Likert", "DND"): "scale",
    ("Likert", ""): "scale",
    ("Bipolar", ""): "scale",
    ("Likert", "MultipleAnswer"): "choices",
}
_READERS: Mapping[str, Callable[[Kinds, Asked, Mapping[str, Any]], str]] = {
    "MC": Kinds._choose,
    "TE": Kinds._type,
    "Slider": Kinds._slide,
    "RO": Kinds._rank,
    "Matrix": Kinds._read_matrix,
    "DB": Kinds._show,
}


def _display(key: str, choice: str, question: Mapping[str, Any]) -> Any:
    """Return the text of a choice, in the language of this table."""
    return table(table(question.get(key)).get(choice)).get("Display")


def settings_of(question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a question's validation."""
    return table(table(question.get("Validation")).get("Settings"))
