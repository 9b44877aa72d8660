"""What questions of LimeSurvey become, type by type."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.form import Asked, Form, PartRow, refused
from server.forms.json_file import amount
from server.forms.limesurvey.relevance import Variable, condition
from server.forms.limesurvey.source import Part, Question

#: Relevance equations that always hold.
NO_CONDITION = ("", "1")
#: The code of the option that a respondent can write.
_OTHER = "-oth-"
#: Types that ask nothing that can be randomized, and why.
_REFUSED = {
    "T": "free prose cannot be randomized: ask a question with options instead",
    "U": "free prose cannot be randomized: ask a question with options instead",
    "|": "files are not collected",
    "*": "nothing is calculated on the device; compute it from the estimates",
    "I": "the page has its own choice of languages",
    ":": "a table of numbers is not asked: ask each row by itself",
    ";": "a table of texts is not asked: ask each row by itself",
}
#: The types, by their letters.
NAMES = {
    "1": "array dual scale", "5": "5 point choice", "A": "array 5 point", "B": "array 10 point",
    "C": "array yes/uncertain/no", "D": "date", "E": "array increase/same/decrease", "F": "array",
    "G": "gender", "H": "array by column", "I": "language switch", "K": "multiple numerical",
    "L": "list (radio)", "M": "multiple choice", "N": "numerical", "O": "list with comment",
    "P": "multiple choice with comments", "Q": "multiple short text", "R": "ranking",
    "S": "short text", "T": "long text", "U": "huge text", "X": "text display", "Y": "yes/no",
    "!": "list (dropdown)", ":": "array (numbers)", ";": "array (texts)", "*": "equation",
    "|": "file upload",
}  # fmt: skip
#: The points of scales whose answers LimeSurvey itself has.
_POINTS = {
    "5": [(str(number), str(number)) for number in range(1, 6)],
    "A": [(str(number), str(number)) for number in range(1, 6)],
    "B": [(str(number), str(number)) for number in range(1, 11)],
    "C": [("Y", "Yes"), ("U", "Uncertain"), ("N", "No")],
    "E": [("I", "Increase"), ("S", "Same"), ("D", "Decrease")],
}


class Kinds:
    """Makes questions of LimeSurvey into items of a form, and knows how equations name them."""

    def __init__(self, form: Form, languages: texts.Languages) -> None:
        self.form = form
        self._languages = languages
        self._variables: dict[str, Variable] = {}

    def fill(self, asked: Asked, question: Question) -> str:
        """Add a question, or those of its rows, to the form; return why that cannot be."""
        if question.type in _REFUSED:
            return _REFUSED[question.type]
        reader = _READERS.get(question.type)
        if reader is None:
            return f"the type {question.type[:20] or '(none)'} is not known here"
        return reader(self, asked, question) or ""

    def tree(self, relevance: str) -> list[Any]:
        """Return the tree of an equation; raise `Untold` if it cannot be translated."""
        return condition(relevance, self._variables)

    def _know(self, question: Question, name: str, part: str = "", ticked: str = "") -> None:
        """Remember which names of equations stand for an answer, or for an option."""
        variable = Variable(name, ticked or None)
        self._variables[f"{question.code}_{part}" if part else question.code] = variable
        if question.address:
            self._variables[question.address + part.replace("_", "#")] = variable

    def _options(self, parts: list[Part], asked: Asked) -> list[tuple[str, Any]]:
        options = []
        for part in parts:
            text, changes = self._languages.text(part.texts)
            asked.changes += [
                replace(change, words=f"of its answer {part.code}: {change.words}")
                for change in changes
            ]
            options.append((part.code, text or self._languages.same(part.code)))
        return options

    def _add_other(self, asked: Asked, question: Question) -> None:
        """Add the option that a respondent can write, and the text that says which."""
        given = texts.plain(question.attributes.get("other_replace_text", ""))[0]
        same = self._languages.same
        written = asked.namely(_OTHER, same("Please specify"), f"{asked.name}-other")
        asked.options.append((_OTHER, same(given or "Other")))
        self.form.put(asked)
        self.form.put(written)

    def _choose(self, asked: Asked, question: Question) -> str:
        asked.kind, asked.options = "choice", self._options(question.answers, asked)
        if question.type == "O":
            asked.lose("the comment beside it is left out")
        return self._finish(asked, question)

    def _tick(self, asked: Asked, question: Question) -> str:
        asked.kind, asked.options = "choices", self._options(question.subquestions, asked)
        if question.type == "P":
            asked.lose("the comments beside its options are left out")
        most = question.attributes.get("max_answers", "")
        if re.fullmatch(r"[1-9]\d{0,3}", most):
            asked.keys["at_most"] = min(int(most), len(asked.options) + question.has_other)
        elif most:
            asked.lose("the most answers, which are calculated, are left out")
        for part in question.subquestions:
            self._know(question, asked.name, part.code, part.code)
            if part.relevance not in NO_CONDITION:
                told = f"the condition {part.relevance[:100]} of the option {part.code} is left out"
                asked.lose(told)
        return self._finish(asked, question)

    def _finish(self, asked: Asked, question: Question) -> str:
        """Add a question with options, in a random order if it has one, and with another answer."""
        if len(asked.options) + question.has_other < 2:
            return "it has fewer than two options"
        if question.attributes.get("random_order", "0") not in ("", "0") or (
            question.attributes.get("answer_order") == "random"
        ):
            asked.keys["random_order"] = True
        if asked.kind == "choice":
            self._know(question, asked.name)
        if question.has_other and asked.kind != "rank":
            self._add_other(asked, question)
        else:
            self.form.put(asked)
        return ""

    def _rank(self, asked: Asked, question: Question) -> str:
        # Until version 6.6 its items were answers, since then they are subquestions.
        asked.kind = "rank"
        if question.attributes.get("max_answers"):
            asked.lose("the most answers are left out: all items are put in order")
        asked.options = self._options(question.answers or question.subquestions, asked)
        return self._finish(asked, question)

    def _decide(self, asked: Asked, question: Question) -> None:
        asked.kind, asked.options = "yes-no", [("Y", "Yes"), ("N", "No")]
        self._know(question, asked.name)
        self.form.put(asked)

    def _tell_gender(self, asked: Asked, question: Question) -> None:
        asked.kind = "choice"
        asked.options = [("F", self._languages.same("Female")), ("M", self._languages.same("Male"))]
        asked.look("its options are LimeSurvey's own, in English")
        self._know(question, asked.name)
        self.form.put(asked)

    def _rate(self, asked: Asked, question: Question) -> None:
        asked.kind, asked.options = "scale", list(_POINTS["5"])
        self._know(question, asked.name)
        self.form.put(asked)

    def _rate_rows(self, asked: Asked, question: Question) -> str:
        """Make a scale of each row of an array, once for each of its scales."""
        scales = (0, 1) if question.type == "1" else (0,)
        rows = [part for part in question.subquestions if part.scale == 0]
        if not rows:
            return "it has no rows"
        self.form.note(
            question.row, asked.name, asked.type, remark="each of its rows is a question"
        )
        for scale in scales:
            over = asked.text
            if len(scales) > 1:
                # Both scales ask the same with other points, so each is a grid of its own.
                given = question.attributes.get(f"dualscale_header{'AB'[scale]}", "")
                header = texts.plain(given)[0] or f"({scale + 1})"
                over = _with(over, header)
            points: list[tuple[str, Any]] = [*_POINTS.get(question.type, ())]
            if question.type in "CE":
                points = [(value, self._languages.same(text)) for value, text in points]
            points = points or self._options(
                [part for part in question.answers if part.scale == scale], asked
            )
            for part in rows:
                suffix = f"-{scale + 1}" if len(scales) > 1 else ""
                row = self._row(asked, part, suffix)
                row.kind, row.options, row.keys["matrix"] = "scale", points, over
                known = f"{part.code}_{scale}" if len(scales) > 1 else part.code
                self._know(question, row.name, known)
                self.form.put(row)
        return ""

    def _row(self, asked: Asked, part: Part, suffix: str = "") -> Asked:
        """Return a row of a question as a question of its own."""
        text, changes = self._languages.text(part.texts)
        name = f"{asked.name}-{part.code}{suffix}"
        row = Asked(part.row, name, asked.type, "", text or self._languages.same(part.code))
        row.changes, row.conditions = [*asked.changes, *changes], [*asked.conditions]
        if part.relevance not in NO_CONDITION:
            row.ask_if(part.relevance, partial(self.tree, part.relevance))
        # Notes on all rows stand at the first row.
        row.keys = {**asked.keys}
        asked.keys.pop("help", None)
        return row

    def _ask_rows(self, asked: Asked, question: Question) -> str:
        """Make a number, or a text, of each field of a question."""
        if not question.subquestions:
            return "it has no rows"
        self.form.note(
            question.row, asked.name, asked.type, remark="each of its fields is a question"
        )
        place, known, lacking = len(self.form.items) - 1, 0, 0
        self.form.headings.append(asked.text)
        for part in question.subquestions:
            row = self._row(asked, part)
            why = (
                self._count_in(row, question)
                if question.type == "K"
                else self._write(row, question)
            )
            if why:
                self.form.refuse(part.row, row.name, row.type, why)
                continue
            known += not row.unbounded
            lacking += bool(row.unbounded)
            self._know(question, row.name, part.code)
            self.form.put(row)
        self.form.headings.pop()
        if lacking and not known:
            rows = [part.row for part in question.subquestions]
            self.form.items[place] = PartRow(question.row, asked.name, asked.type, rows)
        elif not known:
            told = "all its fields are refused"
            self.form.items[place] = refused(question.row, asked.name, asked.type, told)
        return ""

    def _count(self, asked: Asked, question: Question) -> str:
        return self._count_in(asked, question) or self._known(asked, question)

    def _known(self, asked: Asked, question: Question) -> str:
        self._know(question, asked.name)
        self.form.put(asked)
        return ""

    def _count_in(self, asked: Asked, question: Question) -> str:
        """Make a question a number, between the bounds that it has; return why it cannot be one."""
        given = question.attributes
        is_slider = given.get("slider_layout") == "1"
        ends = ("slider_min", "slider_max") if is_slider else ("min_num_value_n", "max_num_value_n")
        low, high = (amount(given.get(key, "")) for key in ends)
        if is_slider:
            low, high = 0 if low is None else low, 100 if high is None else high
        if low is None or high is None:
            if all(given.get(key) for key in ends):
                return "its lowest and highest value are calculated: give it numbers"
            asked.count_without_bounds("give it a minimum and a maximum")
        else:
            asked.kind = "number"
            asked.keys |= {"min": low, "max": high}
        if given.get("num_value_int_only") == "1":
            asked.keys["integer"] = True
        step = amount(given.get("slider_accuracy", "")) if is_slider else None
        asked.keys |= ({"slider": True} if is_slider else {}) | ({"step": step} if step else {})
        return ""

    def _type(self, asked: Asked, question: Question) -> str:
        return self._write(asked, question) or self._known(asked, question)

    def _write(self, asked: Asked, question: Question) -> str:
        if question.attributes.get("numbers_only") == "1":
            return self._count_in(asked, question)
        asked.kind = "text"
        asked.look("it is asked as a text, of which only frequent answers are found")
        return ""

    def _date(self, asked: Asked, question: Question) -> str:
        given = [question.attributes.get(key, "") for key in ("date_min", "date_max")]
        years = [re.match(r"(\d{4})(-|$)", one) for one in given]
        if years[0] is None or years[1] is None:
            return "a date needs its first and last day: give it a minimum and a maximum date"
        asked.kind = "number"
        asked.keys |= {"min": int(years[0][1]), "max": int(years[1][1]), "integer": True}
        asked.look("a date is asked as its year")
        self.form.put(asked)
        return ""

    def _show(self, asked: Asked, question: Question) -> None:
        asked.kind = "note"
        self.form.put(asked)


def _with(text: Any, header: str) -> Any:
    """Return a text with a header behind it, in each language."""
    if isinstance(text, dict):
        return {tag: f"{one} {header}" for tag, one in text.items()}
    return f"{text} {header}"


#: The kind that each type of question becomes.
_READERS: Mapping[str, Callable[[Kinds, Asked, Question], str | None]] = {
    **dict.fromkeys("L!O", Kinds._choose),
    **dict.fromkeys("MP", Kinds._tick),
    **dict.fromkeys("ABCEFH1", Kinds._rate_rows),
    **dict.fromkeys("KQ", Kinds._ask_rows),
    "5": Kinds._rate,
    "Y": Kinds._decide,
    "G": Kinds._tell_gender,
    "N": Kinds._count,
    "S": Kinds._type,
    "D": Kinds._date,
    "R": Kinds._rank,
    "X": Kinds._show,
}
