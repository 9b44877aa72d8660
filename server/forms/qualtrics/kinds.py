"""What questions of Qualtrics become, type by type."""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import harmless
from server.forms.form import MOST_OPTIONS, Asked, Form, PartRow, is_yes_no, points
from server.forms.json_file import amount, table
from server.forms.qualtrics.choices import (
    Choice,
    Wording,
    excluding,
    is_on,
    lose_conditions,
    lose_typed,
    set_order,
)
from server.forms.qualtrics.logic import Answers, condition, contradiction, words
from server.forms.source import Declared

#: Why types, selectors and steps of the flow are not imported.
REFUSED = Declared("qualtrics").refused
#: The kinds that matrices become, by selector and subselector.
_MATRICES = {
    ("Likert", "SingleAnswer"): "scale",
    ("Likert", "DL"): "scale",
    ("Likert", "DND"): "scale",
    ("Likert", ""): "scale",
    ("Bipolar", ""): "scale",
    ("Likert", "MultipleAnswer"): "choices",
}


class Kinds:
    """Makes questions of Qualtrics into items of a form, and knows how logic names them."""

    def __init__(self, form: Form, wording: Wording, names: Mapping[str, str]) -> None:
        self.form = form
        self.wording = wording
        self.answers = Answers(names)

    def fill(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Add a question, or those of its rows, to the form; return why that cannot be."""
        kind, selector = (str(question.get(key, "")) for key in ("QuestionType", "Selector"))
        if kind in REFUSED or selector in REFUSED:
            return REFUSED.get(kind) or REFUSED[selector]
        reader = _READERS.get(kind)
        if reader is None:
            return f"the type {kind[:40] or '(none)'} is not known here"
        return reader(self, asked, question)

    def tree(self, logic: Any) -> list[Any]:
        """Return the tree of logic; raise `Untold` if it cannot be translated."""
        return condition(logic, self.answers)

    def ask_if(self, asked: Asked, part: Mapping[str, Any]) -> None:
        """Ask a question only under the conditions of it, or of its row."""
        for key in ("DisplayLogic", "InPageDisplayLogic"):
            if part.get(key):
                asked.ask_if(words(part[key]), partial(self.tree, part[key]))
                both = contradiction(part[key])
                if both:
                    asked.look(f"its condition names two answers: {both}")

    def _choose(self, asked: Asked, question: Mapping[str, Any]) -> str:
        selector = str(question.get("Selector", ""))
        choices = self.wording.choices(asked, question)
        if selector == "NPS":
            asked.kind = "scale"
            asked.options = points(0, 10)
            asked.explain_ends(self._ends(asked, question, 0, 10))
            self.form.put(asked)
            return ""
        many = selector.startswith("MA") or selector == "MSB"
        if not many and not selector.startswith(("SA", "DL", "SB")):
            return f"a choice of the type {selector[:40] or '(none)'} is not known here"
        if not choices:
            return "it has no options"  # but for those that it carries forward
        self.answers.values[asked.row] = {one.key: one.value for one in choices}
        asked.options = [(one.value, one.text) for one in choices]
        asked.kind = "choices" if many else "choice"
        if not many and is_yes_no(asked.options, self.wording.languages.several):
            asked.kind = "yes-no"
        typed = [one for one in choices if one.can_type]
        has_field = len(typed) == 1 and asked.kind != "yes-no"
        stays = {typed[0].key} if has_field else set[str]()
        if many:
            asked.alone = excluding(choices)
            none = asked.none
            stays |= {one.key for one in choices if (one.value, one.text) == none}
            self._limit(asked, question, len(choices))
        set_order(asked, question, "options", None if asked.kind == "yes-no" else stays)
        self.form.put(asked)
        if has_field:
            option, label = typed[0].value, typed[0].text
            self.form.put(asked.namely(option, label, f"{asked.name}-{option}"))
        else:
            lose_typed(asked, choices)
        lose_conditions(asked, choices)
        return ""

    def _limit(self, asked: Asked, question: Mapping[str, Any], number: int) -> None:
        """Set how many options can be ticked, and note how many have to be."""
        settings = settings_of(question)
        least, most = (str(settings.get(key) or "") for key in ("MinChoices", "MaxChoices"))
        if re.fullmatch(r"[1-9]\d{0,3}", most, re.ASCII):
            asked.keys["at_most"] = min(int(most), number)
        if least not in ("", "0", "1"):  # whoever answers at all ticks one
            asked.lose(f"at least {least[:10]} of its options had to be ticked")

    def _rank(self, asked: Asked, question: Mapping[str, Any]) -> str:
        choices = self.wording.choices(asked, question)
        asked.kind, asked.options = "rank", [(one.value, one.text) for one in choices]
        set_order(asked, question, "items", ())
        lose_typed(asked, choices)
        lose_conditions(asked, choices)
        self.form.put(asked)
        return ""

    def _show(self, asked: Asked, question: Mapping[str, Any]) -> str:
        if asked.text == asked.name:
            return "it has no text"
        asked.kind = "note"
        image, shown = question.get("Graphics"), question.get("GraphicsDescription")
        if image:
            asked.lose(f"its image, {shown or image}, is left out")
        self.form.put(asked)
        return ""

    def _slide(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Make a number of each slider, or a scale of each row of stars."""
        given = table(question.get("Configuration"))
        # A slider that once had stars still has these.
        stars, sort = amount(given.get("StarCount")) or 5, given.get("StarType")
        if question.get("Selector") == "STAR":
            if not 2 <= stars <= 50:
                return "expected 2 to 50 stars"
            if sort not in (None, "discrete"):
                asked.look("parts of stars cannot be chosen")
            ends = self._ends(asked, question, 1, int(stars))
            return self._ask_rows(asked, question, "scale", points(1, int(stars)), {}, ends)
        if is_on(given.get("NotApplicable")):
            asked.keys.pop("required", None)
            asked.look("“not applicable” means to give no answer, so it is not required")
        starts = table(given.get("SliderStartPositions"))
        places = [starts[one] for one in starts if one.isdecimal()]
        if places and is_on(given.get("CustomStart")):
            asked.changes.append(harmless("the handle of its slider starts elsewhere"))
        low, high = (amount(given.get(key)) for key in ("CSSliderMin", "CSSliderMax"))
        keys: dict[str, Any] = {"slider": True, **_whole(given, low, high)}
        asked.count(low, high, "give the slider both")
        if low is None or high is None:
            return self._ask_rows(asked, question, "number", [], keys)
        lines = amount(given.get("GridLines"))
        if is_on(given.get("SnapToGrid")) and lines and lines > 0:
            step = amount((high - low) / lines) or 0
            if Fraction(str(step)) * Fraction(lines) == Fraction(str(high)) - Fraction(str(low)):
                keys |= {"step": step}
                keys.pop("integer", None)
            else:
                asked.look(f"its steps, of which there are {lines}, are left out")
        ends = self._ends(asked, question, low, high)
        return self._ask_rows(asked, question, "number", [], keys, ends)

    def _ends(
        self, asked: Asked, question: Mapping[str, Any], low: float, high: float
    ) -> dict[str, Any]:
        """Return the labels along a scale by its points."""
        labels = self.wording.labels(asked, question)
        parts = max(len(labels) - 1, 1)
        return {f"{low + (high - low) * at / parts:.10g}": one for at, one in enumerate(labels)}

    def _type(self, asked: Asked, question: Mapping[str, Any]) -> str:
        settings = settings_of(question)
        content = str(settings.get("ContentType") or "")
        if content == "ValidNumber":
            bounds = table(settings.get("ValidNumber"))
            low, high = (amount(bounds.get(key)) for key in ("Min", "Max"))
            asked.count(low, high, "give its validation both")
            return self._ask_rows(asked, question, "number", [], _whole(bounds, low, high))
        if content not in ("", "ValidTextOnly"):
            return (
                f"an answer of type {content.removeprefix('Valid')[:20]} identifies, or is no text"
            )
        return self._ask_rows(asked, question, "text", [], {})

    def _read_matrix(self, asked: Asked, question: Mapping[str, Any]) -> str:
        """Make a scale, or a choice of several, of each row of a matrix."""
        shape = (str(question.get("Selector")), str(question.get("SubSelector") or ""))
        kind = _MATRICES.get(shape)
        if kind is None:
            return "a table of this kind is not asked: ask each row by itself"
        answers = self.wording.choices(asked, question, "Answers")
        if len(answers) > MOST_OPTIONS:
            return f"it has more than {MOST_OPTIONS:,} columns"
        lose_typed(asked, answers)
        lose_conditions(asked, answers)
        if kind == "choices":
            self._limit(asked, question, len(answers))
            asked.alone = excluding(answers)
        self.answers.values[asked.row] = {one.key: one.value for one in answers}
        options = [(one.value, one.text) for one in answers]
        is_bipolar = shape[0] == "Bipolar"
        return self._ask_rows(asked, question, kind, options, {}, is_bipolar=is_bipolar)

    def _ask_rows(
        self,
        asked: Asked,
        question: Mapping[str, Any],
        kind: str,
        options: Sequence[tuple[str, Any]],
        keys: Mapping[str, Any],
        ends: Mapping[str, Any] | None = None,
        is_bipolar: bool = False,
    ) -> str:
        """Ask each choice of a question as a question of its own, below its text.

        Parameters
        ----------
        ends : mapping, optional
            The labels of points by the points.
        is_bipolar : bool
            Whether the text of a row has the labels of both ends, with a colon between them.
        """
        asked.keys |= keys
        asked.kind, asked.options = kind, [*options]
        rows = self.wording.choices(asked, question)
        if not rows and kind in ("scale", "choices") and "Answers" in question:
            return "it has no rows"
        if len(rows) > MOST_OPTIONS:
            return f"it has more than {MOST_OPTIONS:,} rows"
        set_order(asked, question, "rows")
        if len(rows) < 2:
            self._ask_row(asked, rows, ends, is_bipolar)
            return ""
        names = {one.key: f"{asked.name}-{one.key}" for one in rows}
        self.answers.rows[asked.row] = names
        places = [f"{asked.row}.{one.key}" for one in rows]
        part = PartRow(asked.row, asked.name, asked.type, places, changes=(*asked.changes,))
        self.form.items.append(part)
        is_grid = kind == "scale"
        for choice, place in zip(rows, places, strict=True):
            row = Asked(place, names[choice.key], asked.type, kind, choice.text)
            self.form.claim(place, choice.part)
            row.keys, row.unbounded, row.alone = {**asked.keys}, asked.unbounded, asked.alone
            if is_grid:
                row.keys["matrix"] = asked.text
            row.options, row.conditions = [*options], [*asked.conditions]
            if not is_grid or place == places[0]:
                # Of a grid, the help is above all rows.
                row.explain_ends(ends or {})
            if is_bipolar:
                row.text = _retold(choice.text, lambda left, right: f"{left} – {right}")
            self.ask_if(row, choice.part)
            lose_typed(row, [choice])
            self.form.put(row, None if is_grid else asked.text)
        return ""

    def _ask_row(
        self, asked: Asked, rows: Sequence[Choice], ends: Mapping[str, Any] | None, is_bipolar: bool
    ) -> None:
        """Ask a question that has no other row than itself, with the row's text as its help."""
        for row in rows:
            self.ask_if(asked, row.part)
            lose_typed(asked, rows)
            self.answers.rows[asked.row] = {row.key: asked.name}
            if is_bipolar and ":" in row.label:
                left = _retold(row.text, lambda left, _: left)
                right = _retold(row.text, lambda _, right: right)
                labels = [texts.first(text) for _, text in asked.options]
                ends = dict(zip(labels[:1] + labels[-1:], (left, right), strict=False))
            elif row.label not in (texts.first(asked.text), row.key):
                asked.keys.setdefault("help", row.text)
        asked.explain_ends(ends or {})
        self.form.put(asked)


_READERS: Mapping[str, Callable[[Kinds, Asked, Mapping[str, Any]], str]] = {
    "MC": Kinds._choose,
    "TE": Kinds._type,
    "Slider": Kinds._slide,
    "RO": Kinds._rank,
    "Matrix": Kinds._read_matrix,
    "DB": Kinds._show,
}


def _whole(given: Mapping[str, Any], *bounds: float | None) -> dict[str, Any]:
    """Return that numbers between these bounds are whole, if they have no decimals."""
    is_whole = str(given.get("NumDecimals")) == "0" and not any(
        isinstance(bound, float) for bound in bounds
    )
    return {"integer": True} if is_whole else {}


def _retold(text: Any, told: Callable[[str, str], str]) -> Any:
    """Return a text whose parts before and behind its colon are told otherwise, by language."""

    def both(one: str) -> str:
        left, colon, right = one.partition(":")
        return told(left.strip(), right.strip()) if colon else one

    return texts.combined(both, text)


def settings_of(question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a question's validation that count for its type of validation."""
    settings = table(table(question.get("Validation")).get("Settings"))
    kind = str(settings.get("Type") or "")
    ignored = _OF_NO_USE.get(kind, ())
    for key in ignored:
        settings.get(key)
    return {key: settings[key] for key in settings if key in _USED and key not in ignored}


#: The keys of a validation that questions have, and those that say nothing by its type.
_USED = ("ContentType", "ValidNumber", "MinChoices", "MaxChoices")
_OF_NO_USE = {
    "None": (*_USED, "MinChars", "TotalChars"),
    "ContentType": ("MinChars", "TotalChars", "MinChoices", "MaxChoices"),
    "CustomValidation": ("MinChars", "TotalChars"),
}
