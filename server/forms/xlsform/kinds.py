"""Which of our kinds a question of an XLSForm is, and with which keys."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from server.forms.conditions import short
from server.forms.form import Asked, is_yes_no
from server.forms.json_file import amount
from server.forms.source import Given
from server.forms.xlsform.xpath import bounds, ticks

#: What follows the name of a list where another answer can be typed.
OTHER = re.compile(r"\bor[ _]other\b")


@dataclass
class Kinds:
    """The lists of options of a form, the rows that use each, and the row of the open group."""

    lists: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    used: dict[str, list[str]] = field(default_factory=dict)
    group: Mapping[str, Any] = field(default_factory=dict)

    def fill(self, asked: Asked, row: Given, kind: str, rest: str, languages: Sequence[str]) -> str:
        """Give a question its kind and that kind's keys; return why it cannot have one."""
        one = {"select1", "select_one", "select_one_external", "select"}
        if kind.startswith("select") and "file" in kind:
            return "its options stand in a file of their own: put them into the sheet choices"
        if kind in one or kind in ("select_multiple", "add", "rank", "odk:rank"):
            label = re.sub(r"^(one|multiple|all that apply)?\s*(from )?", "", rest).split(" ")[0]
            multiple = kind == "select_multiple" or rest.startswith(("multiple", "all that"))
            multiple = multiple or kind == "add"
            has_other = OTHER.search(rest) is not None
            many = "rank" if "rank" in kind else "choices" if multiple else "choice"
            return self._choose(asked, row, label, many, has_other, languages)
        if kind in ("integer", "int", "decimal", "range"):
            return self._number(asked, row, kind)
        if kind == "date":
            return self._date(asked, row)
        if kind in ("text", "string"):
            if looks(row, "multiline", "multi-line"):
                return "free prose cannot be randomized: ask a question with options instead"
            asked.kind = "text"
            if "constraint" in row:
                asked.lose(f"the constraint {row['constraint']} is left out")
            return ""
        if kind == "note":
            asked.kind = "note"
            return ""
        if kind in ("acknowledge", "trigger"):
            asked.kind = "note"
            asked.look("it became a note, since everybody has to tick it")
            return ""
        return f"the type {asked.type[:40]} is not known here"

    def _choose(
        self,
        asked: Asked,
        row: Given,
        label: str,
        many: str,
        has_other: bool,
        languages: Sequence[str],
    ) -> str:
        options = self.lists.get(label)
        if not options:
            return f"its list of options {label[:40] or '(no name)'} is not in the sheet choices"
        options = [*options]
        is_searched = any(word.startswith("search(") for word in row.get("appearance", ()))
        if is_searched and len(options) < 2:
            return "its options are searched in a file of its own: put them into the sheet choices"
        self.used.setdefault(label, []).append(asked.row)
        if many != "choice" or has_other:
            asked.kind = many
        elif is_yes_no(options, languages):
            asked.kind = "yes-no"
        elif looks(row, *_ROWS) or looks(self.group, *_ROWS):
            asked.kind = "scale"
        else:
            asked.kind = "choice"
        asked.options = options
        if asked.kind not in ("yes-no", "scale"):
            given = row.get("parameters", {})
            if given.get("randomize", "").lower() in ("true", "yes"):
                asked.keys["random_order"] = True
        if "constraint" in row:
            self._limit(asked, row["constraint"])
        return ""

    def _limit(self, asked: Asked, constraint: str) -> None:
        """Let as many options be ticked as a constraint says, and one of them alone."""
        found = ticks(constraint, [value for value, _ in asked.options])
        if found is None or asked.kind != "choices":
            asked.lose(f"the constraint {constraint} is left out")
            return
        asked.alone = found.alone
        if found.at_least > 1:
            asked.lose(f"that at least {found.at_least} of its options are ticked is left out")
        if found.at_most < len(asked.options) - len(found.alone):
            asked.keys["at_most"] = found.at_most

    def _number(self, asked: Asked, row: Given, kind: str) -> str:
        given = row.get("constraint", "")
        found, beside = bounds(given, kind in ("integer", "int")) if given else ({}, "")
        if kind == "range":
            parameters = row.get("parameters", {})
            usual = {"start": 1, "end": 10, "step": 1}
            low, high, step = (amount(parameters.get(key, one)) for key, one in usual.items())
            if low is None or high is None or step is None:
                return "expected numbers for its start, end and step"
            if beside or found.get("min", low) > low or found.get("max", high) < high:
                asked.lose(f"the constraint {given} is left out")
            found, beside = {"min": low, "max": high}, ""
            asked.keys |= {"slider": True, "step": step}
        low, high = (short(found[key]) if key in found else None for key in ("min", "max"))
        asked.count(low, high, "add a constraint such as . >= 0 and . <= 120")
        beside = given if asked.unbounded else beside
        if beside:
            asked.look(f"only the bounds of the constraint {beside} are kept")
        if kind in ("integer", "int"):
            asked.keys["integer"] = True
        return ""

    def _date(self, asked: Asked, row: Given) -> str:
        days = re.findall(r"\b(?:19|20)\d\d-\d\d-\d\d", row.get("constraint", ""))
        example = ". >= date('1920-01-01') and . <= date('2010-12-31')"
        return asked.count_years(days, f"add a constraint such as {example}")


#: The words by which options look like the points of a scale.
_ROWS = ("likert", "list-nolabel", "table-list")


def looks(row: Mapping[str, Any], *words: str) -> bool:
    """Return whether one of some words is in the appearance of a row."""
    given = row.get("appearance", {})
    return any(word in given and bool(given[word]) for word in words)
