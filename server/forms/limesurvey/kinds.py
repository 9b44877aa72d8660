"""What questions of LimeSurvey become, type by type."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.form import Asked, Condition, Form, PartRow
from server.forms.json_file import amount
from server.forms.limesurvey.relevance import Variable, condition
from server.forms.limesurvey.source import Part, Question, whole
from server.forms.limesurvey.types import POINTS, REFUSED, unused
from server.forms.meaning import told_in

#: Relevance equations that always hold.
NO_CONDITION = ("", "1")
#: The code of the option that a respondent can write.
_OTHER = "-oth-"


class Kinds:
    """Makes questions of LimeSurvey into items of a form, and knows how equations name them."""

    def __init__(self, form: Form, languages: texts.Languages, has_scores: bool) -> None:
        self.form = form
        self._languages = languages
        self._has_scores = has_scores
        self._variables: dict[str, Variable] = {}

    def fill(self, asked: Asked, question: Question) -> str:
        """Add a question, or those of its rows, to the form; return why that cannot be."""
        for key in unused(question, self._has_scores):
            for part in (question.attributes, *question.answers):
                part.texts(key)
        if question.get("relevance") == "0":
            return "its relevance is 0, so nobody is asked it"
        if question.type in REFUSED:
            return REFUSED[question.type]
        if question.attribute("location_mapservice") not in ("", "0"):
            return "places are not collected"
        reader = _READERS.get(question.type)
        if reader is not None:
            return reader(self, asked, question)
        single = _SINGLE.get(question.type)
        if single is None:
            return f"the type {question.type[:20] or '(none)'} is not known here"
        why = single(self, asked, question)
        if not why:
            self._know(question, asked)
            self.form.put(asked)
        return why

    def tree(self, relevance: str, held: Sequence[Condition] = ()) -> list[Any]:
        """Return the tree of an equation; raise `Untold` if it cannot be translated."""
        return condition(relevance, self._variables, held)

    def _know(self, question: Question, asked: Asked, part: str = "", ticked: str = "") -> None:
        """Remember which names of equations stand for an answer, or for an option."""
        variable = Variable(asked, ticked or None)
        self._variables[f"{question.code}_{part}" if part else question.code] = variable
        if question.address:
            self._variables[question.address + part.replace("_", "#")] = variable

    def _text_of(self, question: Question, key: str, asked: Asked, what: str) -> Any:
        """Return an attribute that is a text, in all languages; None without one."""
        given = {tag: text for tag, text in question.attributes.texts(key).items() if text}
        if len(given) == 1:
            given = dict.fromkeys(self._languages.tags, *given.values())
        text, changes = self._languages.text(given, what)
        asked.changes += changes
        return text

    def _options(self, parts: list[Part], asked: Asked) -> list[tuple[str, Any]]:
        options = []
        for part in parts:
            text, changes = part.said
            asked.changes += [
                replace(change, words=f"of its answer {part.code}: {change.words}")
                for change in changes
            ]
            options.append((part.code, text))
        return options

    def _add_other(self, asked: Asked, question: Question) -> None:
        """Add the option that a respondent can write, and the text that says which."""
        given = self._text_of(question, "other_replace_text", asked, "option “other”")
        places = {"beginning": 0}
        if question.attribute("other_position") == "specific":
            codes = [code for code, _ in asked.options]
            after = question.attribute("other_position_code")
            places = {"specific": codes.index(after) + 1} if after in codes else {}
        self._know(question, asked, "other", _OTHER)
        self.form.put(asked)
        place = places.get(question.attribute("other_position"))
        self.form.add_other(asked, given, _OTHER, place)

    def _choose(self, asked: Asked, question: Question) -> str:
        asked.kind, asked.options = "choice", self._options(question.answers, asked)
        if question.type == "O":
            asked.lose("the comment beside it is left out")
        return self._finish(asked, question)

    def _tick(self, asked: Asked, question: Question) -> str:
        asked.kind, asked.options = "choices", self._options(question.subquestions, asked)
        if question.type == "P":
            asked.lose("the comments beside its options are left out")
        most = question.attribute("max_answers")
        if re.fullmatch(r"[1-9]\d{0,3}", most):
            asked.keys["at_most"] = min(int(most), len(asked.options) + question.has_other)
        elif most:
            asked.lose("the most answers, which are calculated, are left out")
        for part in question.subquestions:
            self._know(question, asked, part.code, part.code)
            relevance = part.get("relevance")
            if relevance not in NO_CONDITION:
                told = f"the condition {relevance[:100]} of the option {part.code} is left out"
                asked.lose(told)
        asked.alone = re.split(r"[;,\s]+", question.attribute("exclude_all_others"))
        return self._finish(asked, question)

    def _finish(self, asked: Asked, question: Question) -> str:
        """Add a question with options, in a random order if it has one, and with another answer."""
        orders = [question.attribute(key) for key in ("answer_order", "subquestion_order")]
        if question.is_on("random_order") or "random" in orders:
            asked.keys["random_order"] = True
        if question.is_on("alphasort") or "alphabetical" in orders:
            asked.look("that its options are sorted by the alphabet is left out")
        if asked.kind == "choice":
            self._know(question, asked)
        if question.has_other and asked.kind != "rank":
            self._add_other(asked, question)
        else:
            self.form.put(asked)
        return ""

    def _rank(self, asked: Asked, question: Question) -> str:
        # Until version 6.6 its items were answers, since then they are subquestions.
        asked.kind = "rank"
        asked.options = self._options(question.answers or question.subquestions, asked)
        for key in ("max_answers", "max_subquestions"):
            most = question.attribute(key)
            if most and whole(most) < len(asked.options):
                asked.lose(f"that at most {most[:60]} items are put in order is left out")
        return self._finish(asked, question)

    def _decide(self, asked: Asked, _: Question) -> str:
        asked.kind, asked.options = "yes-no", [("Y", "Yes"), ("N", "No")]
        return ""

    def _tell_gender(self, asked: Asked, _: Question) -> str:
        asked.kind = "choice"
        asked.options = [("F", self._word("female")), ("M", self._word("male"))]
        asked.look("its options are LimeSurvey's own, in other words")
        return ""

    def _word(self, key: str) -> Any:
        return told_in(key, self._languages.several)

    def _rate(self, asked: Asked, _: Question) -> str:
        asked.kind, asked.options = "scale", list(POINTS["5"])
        return ""

    def _rate_rows(self, asked: Asked, question: Question) -> str:
        """Make a scale of each row of an array, once for each of its scales."""
        scales = (0, 1) if question.type == "1" else (0,)
        rows = [part for part in question.subquestions if part.scale == 0]
        if not rows:
            return "it has no rows"
        if question.type in "CE" and self._languages.several:
            asked.look("its points are LimeSurvey's own, in other words")
        self._be_asked_by(rows, asked)
        is_grid = len(rows) > 1
        for scale in scales:
            over = asked.text
            if len(scales) > 1:
                # Both scales ask the same with other points, so each is a grid of its own.
                header = self._text_of(question, f"dualscale_header{'AB'[scale]}", asked, "header")
                over = texts.combined("{} {}".format, over, header or f"({scale + 1})")
            points: list[tuple[str, Any]] = [*POINTS.get(question.type, ())]
            if question.type in "CE":
                points = [(value, self._word(word)) for value, word in points]
            points = points or self._options(
                [part for part in question.answers if part.scale == scale], asked
            )
            for part in rows:
                suffix = f"-{scale + 1}" if len(scales) > 1 else ""
                row = self._row(asked, part, question, suffix)
                row.kind, row.options = "scale", points
                row.keys |= {"matrix": over} if is_grid else {}
                both = _parts(row.text, "|")
                if len(both) > 1:
                    row.text = texts.combined("{} – {}".format, both[0], both[-1])
                    row.look("its text has the words at both of its ends")
                known = f"{part.code}_{scale}" if len(scales) > 1 else part.code
                self._know(question, row, known)
                self.form.put(row, None if is_grid else asked.text)
        return ""

    def _row(self, asked: Asked, part: Part, question: Question, suffix: str = "") -> Asked:
        """Return a row of a question as a question of its own."""
        text, changes = part.said
        name = f"{asked.name}-{part.code}{suffix}"
        row = Asked(part.row, name, asked.type, "", text)
        row.changes, row.conditions = [*asked.changes, *changes], [*asked.conditions]
        relevance = part.get("relevance")
        if relevance not in NO_CONDITION:
            row.ask_if(relevance, partial(self.tree, relevance, asked.conditions))
        self._filter(row, part, question)
        # Notes on all rows stand at the first row.
        row.keys = {**asked.keys}
        asked.keys.pop("help", None)
        return row

    def _filter(self, row: Asked, part: Part, question: Question) -> None:
        """Ask a row only if the option with its code is ticked in another question, or is not."""
        for key, sign in (("array_filter", "=="), ("array_filter_exclude", "!=")):
            other = question.attribute(key)
            variable = self._variables.get(f"{other}_{part.code}")
            is_known = any(name.startswith(f"{other}_") for name in self._variables)
            # Rows with other codes than its options are always shown.
            if other and not (is_known and variable is None):
                relevance = f'{other}_{part.code}.NAOK {sign} "Y"'
                row.ask_if(relevance, partial(self.tree, relevance))

    def _ask_rows(self, asked: Asked, question: Question) -> str:
        """Make a number, or a text, of each field of a question."""
        if not question.subquestions:
            return "it has no rows"
        self._be_asked_by(question.subquestions, asked)
        for part in question.subquestions:
            row = self._row(asked, part, question)
            ends: list[Any] = []
            if question.type == "K" and question.is_on("slider_layout"):
                row.text, *ends = _parts(row.text, question.attribute("slider_separator") or "|")
            read = self._count if question.type == "K" else self._write
            why = read(row, question)
            if why:
                self.form.refuse(part.row, row.name, row.type, why)
                continue
            if ends and "min" in row.keys:
                row.explain_ends(dict(zip((row.keys["min"], row.keys["max"]), ends, strict=False)))
            self._know(question, row, part.code)
            self.form.put(row, asked.text)
        return ""

    def _be_asked_by(self, rows: Sequence[Part], asked: Asked) -> None:
        """Note that each row of a question is a question of its own."""
        places = [part.row for part in rows]
        self.form.items.append(PartRow(asked.row, asked.name, asked.type, places))

    def _count(self, asked: Asked, question: Question) -> str:
        """Make a question a number, between the bounds that it has; return why it cannot be one."""
        is_slider = question.type == "K" and question.is_on("slider_layout")
        ends = ("slider_min", "slider_max") if is_slider else ("min_num_value_n", "max_num_value_n")
        given = [question.attribute(key) for key in ends]
        low, high = map(amount, given)
        if is_slider:
            low, high = 0 if low is None else low, 100 if high is None else high
        if all(given) and None in (low, high):
            return "its lowest and highest value are calculated: give it numbers"
        asked.count(low, high, "give it a minimum and a maximum")
        if question.is_on("num_value_int_only"):
            asked.keys["integer"] = True
        if is_slider:
            # The tool's own step is 1.
            step = amount(question.attribute("slider_accuracy")) or 1
            asked.keys |= {"slider": True, "step": step}
        self._measure(asked, question)
        return ""

    def _measure(self, asked: Asked, question: Question) -> None:
        """Make the words behind the field of a number its unit, or else those before it."""
        before, behind = (
            self._text_of(question, key, asked, "unit") for key in ("prefix", "suffix")
        )
        if behind or before:
            asked.keys["unit"] = behind or before
        if before:
            told = f"the words before its field, “{texts.first(before)}”,"
            more = f" are left out; behind it stand “{texts.first(behind)}”" if behind else ""
            asked.look(told + (more or " become its unit, which stands behind it"))

    def _write(self, asked: Asked, question: Question) -> str:
        if question.is_on("numbers_only"):
            return self._count(asked, question)
        asked.kind = "text"
        return ""

    def _date(self, asked: Asked, question: Question) -> str:
        days = [question.attribute(key) for key in ("date_min", "date_max")]
        return asked.count_years(days, "give it a minimum and a maximum date")

    def _show(self, asked: Asked, _: Question) -> str:
        asked.kind = "note"
        return ""


def _parts(text: Any, mark: str) -> list[Any]:
    """Return the parts between marks that a text has in all its languages, without empty ones."""
    if not isinstance(text, dict):
        return [part.strip() for part in text.split(mark) if part.strip()] or [text]
    found = {tag: _parts(one, mark) for tag, one in text.items()}
    number = min(map(len, found.values()))
    return [{tag: parts[at] for tag, parts in found.items()} for at in range(number)]


_Reader = Callable[[Kinds, Asked, Question], str]
#: The readers of questions that become one question or several, and of those that become one.
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys("L!O", Kinds._choose),
    **dict.fromkeys("MP", Kinds._tick),
    **dict.fromkeys("ABCEFH1", Kinds._rate_rows),
    **dict.fromkeys("KQ", Kinds._ask_rows),
    "R": Kinds._rank,
}
_SINGLE: Mapping[str, _Reader] = {
    "5": Kinds._rate,
    "Y": Kinds._decide,
    "G": Kinds._tell_gender,
    "N": Kinds._count,
    "S": Kinds._write,
    "D": Kinds._date,
    "X": Kinds._show,
}
