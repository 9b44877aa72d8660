"""Conditions of SurveyJS, as far as survey files can have them.

A comparison becomes the answers for which survey-core says that it holds: `contains` with a list
asks for all of the list, letters are compared without their case, and so on.
"""

import re
from collections.abc import Mapping
from itertools import starmap
from typing import Any

from server.forms.conditions import NEVER, TURNED, Parser, Untold, joined, short
from server.forms.form import Asked

_SIGNS = {
    **dict.fromkeys(("=", "==", "equal"), "="),
    **dict.fromkeys(("<>", "!=", "notequal"), "!="),
    **dict.fromkeys((">", "greater"), ">"),
    **dict.fromkeys(("<", "less"), "<"),
    **dict.fromkeys((">=", "greaterorequal"), ">="),
    **dict.fromkeys(("<=", "lessorequal"), "<="),
    **dict.fromkeys(("contains", "contain"), "contains"),
    **dict.fromkeys(("notcontains", "notcontain"), "notcontains"),
    **{sign: sign for sign in ("anyof", "noneof", "allof")},
}
#: Signs that hold where the other one does not, also for a missing answer.
_OPPOSITES = {"!=": "=", "notcontains": "contains", "noneof": "anyof"}
#: Words for a missing answer.
_NOTHING = ("null", "undefined")
#: No value of an option is longer.
_TEXT = r"'(?:[^'\\]|\\.){0,900}'|\"(?:[^\"\\]|\\.){0,900}\""


def condition(text: str, earlier: Mapping[str, Asked]) -> list[Any]:
    """Return the tree of a condition, with names and values of the source.

    `earlier` has the questions before it by the names of their answers in small letters, since the
    case of names does not count either. Raise `Untold` if a part of it cannot be translated.
    """
    return _Parser(text, earlier).tree()


class _Parser(Parser):
    TOKENS = re.compile(
        rf"\s*(?:(?P<name>\{{[^{{}}]+\}})|(?P<text>{_TEXT})"
        r"|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?![\w.]))"
        r"|(?P<mark><>|!=|<=|>=|==|&&|\|\||[=<>()!,\[\]])|(?P<word>[A-Za-z]\w*))"
    )
    OR = ("or", "||")
    AND = ("and", "&&")
    NOT = ("!",)

    def __init__(self, text: str, earlier: Mapping[str, Asked]) -> None:
        self._earlier = earlier
        super().__init__(text)

    def comparison(self) -> list[Any]:
        if self.kind != "name":
            return self._turned()
        is_negated = bool(self.negation)
        if self.token.lower().endswith(".length}"):
            return self._some()
        known, word = self._question(), self.token.lower()
        if word in ("", ")", *self.AND, *self.OR):
            if known.type != "boolean":
                raise Untold(f"{known.name} without a comparison is not understood")
            return _of_one(known, "=", "true")
        if is_negated:
            raise self.untold("a parenthesis behind !")
        sign = self.next().lower()
        if sign in ("notempty", "empty"):
            return ["!=" if sign == "notempty" else "=", known.name, None]
        if sign not in _SIGNS:
            raise Untold(f"{sign} is not understood")
        return _compared(known, _SIGNS[sign], self._value())

    def _turned(self) -> list[Any]:
        """Return a comparison whose value stands first."""
        value, sign = self._value("a question"), _SIGNS.get(self.token.lower(), "")
        if sign not in TURNED:
            raise self.untold("a comparison")
        self.next()
        if self.kind != "name":
            raise self.untold("a question")
        return _compared(self._question(), TURNED[sign], value)

    def _some(self) -> list[Any]:
        """Return whether something is ticked; other numbers of ticks are not understood."""
        known = self._question(".length")
        sign, value = _SIGNS.get(self.next().lower()), self._value("a number")
        if known.kind != "choices" or (sign, value) not in ((">", 0), (">=", 1)):
            raise Untold(f"the number of answers to {known.name} is not understood")
        return ["!=", known.name, None]

    def _question(self, part: str = "") -> Asked:
        name = self.next()[1:-1].strip()
        name = name[: len(name) - len(part)]
        known = self._earlier.get(name.lower())
        if known is None:
            raise Untold(f"{name} is not among the earlier questions")
        return known

    def _value(self, expected: str = "a value") -> Any:
        """Return a text, a number, a list of texts, or None for a missing answer."""
        if self.token == "[":
            return self._list()
        if self.kind not in ("text", "number", "word"):
            raise self.untold(expected)
        kind, token = self.kind, self.next()
        if kind == "number":
            return short(float(token))
        value = re.sub(r"\\(.)", r"\1", token[1:-1]) if kind == "text" else token
        return None if not value.strip() or (kind == "word" and value in _NOTHING) else value

    def _list(self) -> list[Any]:
        found: list[Any] = []
        while not found or self.token == ",":
            self.next()
            if self.token == "[":
                raise self.untold("a value")
            found.append(self._value())
            if found[-1] is None:
                raise Untold("an empty text in a list is not understood")
        self.expect("]")
        return found


def _compared(known: Asked, sign: str, value: Any) -> list[Any]:
    """Return the tree of a comparison of the answer to a question with a value."""
    if value is None:
        if sign not in ("=", "!="):
            raise Untold(f"{sign} cannot compare a missing answer")
        return [sign, known.name, None]
    if sign in _OPPOSITES:
        return ["not", _compared(known, _OPPOSITES[sign], value)]
    if known.kind == "number":
        return _of_number(known, sign, value)
    if known.kind == "choices":
        return _of_several(known, sign, value)
    if not known.options:
        raise Untold(f"conditions on texts, rankings and notes are not possible: {known.name}")
    return _of_one(known, sign, value)


def _of_number(known: Asked, sign: str, value: Any) -> list[Any]:
    if sign == "anyof" and isinstance(value, list):
        return joined("or", [["=", known.name, one] for one in value])
    if isinstance(value, list) or sign in ("contains", "allof", "anyof"):
        raise Untold(f"{sign} is not understood for the number {known.name}")
    return [sign, known.name, value]


def _of_several(known: Asked, sign: str, value: Any) -> list[Any]:
    """Return the tree for a question of which several answers can be ticked."""
    wanted = value if isinstance(value, list) else [value]
    values = [one for one, _ in known.options]
    ticked = [[one for one in values if _equals(one, other)] for other in wanted]
    parts = [joined("or", [["selected", known.name, one] for one in each]) for each in ticked]
    if sign == "anyof":
        return joined("or", parts)
    if sign in ("contains", "allof"):
        return joined("and", parts)
    if sign != "=":
        raise Untold(f"the answers of {known.name} have no order")
    # Both lists are sorted by letters, whose case counts there, and compared one by one.
    exact = sorted({one for each in ticked for one in each})
    pairs = zip(exact, sorted(wanted, key=str), strict=False)
    if not isinstance(value, list) or len(exact) != len(wanted) or not all(starmap(_equals, pairs)):
        return NEVER
    others = [["not", ["selected", known.name, one]] for one in values if one not in exact]
    return ["and", *(["selected", known.name, one] for one in exact), *others]


def _of_one(known: Asked, sign: str, value: Any) -> list[Any]:
    """Return the answers for which a comparison holds; a missing answer is never one of them."""
    holds = {"=": _equals, "contains": _contains, "anyof": _is_of, "allof": _has_all}.get(sign)
    fitting = [
        one
        for one, _ in known.options
        if (holds(one, value) if holds else _in_order(sign, one, value))
    ]
    return joined("or", [["=", known.name, one] for one in fitting])


def _equals(answer: str, value: Any) -> bool:
    """Return whether an answer equals a value: as a number, unless both are texts."""
    if isinstance(value, list):
        return False
    if isinstance(value, str) and _amount(answer) is None:
        return answer.strip().lower() == value.strip().lower()
    first = _number(answer)
    return first is not None and first == _number(str(value))


def _contains(answer: str, value: Any) -> bool:
    """Return whether a text has another in it; of a list, all of it as one text with commas."""
    part = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return part.lower() in answer.lower()


def _is_of(answer: str, value: Any) -> bool:
    if isinstance(value, list):
        return any(_equals(answer, one) for one in value)
    return answer.lower() in str(value).lower()


def _has_all(answer: str, value: Any) -> bool:
    return all(_contains(answer, one) for one in (value if isinstance(value, list) else [value]))


def _in_order(sign: str, answer: str, value: Any) -> bool:
    """Return whether a comparison by size holds: of numbers, or by letters of texts in quotes."""
    if isinstance(value, list):
        raise Untold("a list has no order")
    if sign.endswith("=") and _equals(answer, value):
        return True
    if isinstance(value, str) and _amount(answer) is None:
        return answer > value if sign[0] == ">" else answer < value
    first, second = _number(answer), _number(str(value))
    if first is None or second is None:
        return False
    return first > second if sign[0] == ">" else first < second


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*[+-]?\d{1,15}(\.\d{1,15})?\s*", text, re.A) else None


def _amount(answer: str) -> float | None:
    """Return an answer that is compared as a number: texts such as 03 are not."""
    return None if re.match(r"\s*0\d", answer, re.A) else _number(answer)
