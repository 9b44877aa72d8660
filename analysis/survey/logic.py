"""Conditions of ``shows_if``, which are read here. ``client/logic.js`` decides them on the device.

    condition  = and_term ("or" and_term)*          and_term = factor ("and" factor)*
    factor     = "not" "(" condition ")" | "(" condition ")" | comparison
    comparison = id ("=" | "!=") 'value' | id ("=" | "!=" | "<" | "<=" | ">" | ">=") number
               | "selected" "(" id "," 'value' ")"

The frozen survey holds the syntax tree as lists that begin with the operator, so that the browser
has nothing to parse: ``["or", ["=", "harassed", "yes"], ["=", "team", "lab"]]``. "selected" becomes
"=" for a question with one answer, and is an operator of its own for a question with several.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from analysis.core.domain import NO_ANSWER, Domain

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*')|(?P<number>[+-]?\d{1,15}(?:\.\d{1,15})?(?![\w.]))|(?P<word>[a-z0-9][a-z0-9-]*)"
    r"|(?P<mark>!=|<=|>=|[=<>(),]))"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: The most nested parentheses, more than anybody writes, so that no file can exhaust the stack.
_DEEPEST = 50


def parse_condition(text: str, domains: Mapping[str, Domain | None]) -> list[Any]:
    """Return the syntax tree of a condition on earlier questions.

    Parameters
    ----------
    text : str
        The condition as written.
    domains : mapping
        The domains of the questions that the condition may refer to, by id; None for a note.

    Raises
    ------
    ValueError
        If it does not follow the grammar, or if it names an unknown question or value.
    """
    parser = _Parser(text, domains)
    tree = parser.condition()
    if parser.token:
        raise parser.error("and, or, or the end")
    return tree


def holds(tree: list[Any], answers: Mapping[str, str]) -> bool:
    """Return whether a condition holds. A hidden or skipped question has the answer ''."""
    first, *rest = tree
    if first == "not":
        return not holds(rest[0], answers)
    if first in ("and", "or"):
        results = (holds(part, answers) for part in rest)
        return all(results) if first == "and" else any(results)
    question, value = rest
    if first == "!=":
        return not holds(["=", question, value], answers)
    answer = answers.get(question, "")
    if first == "selected":
        return value in (answer or NO_ANSWER).split("|")
    if isinstance(value, str):
        return (answer or NO_ANSWER) == value
    return answer != "" and _COMPARE[first](float(answer), value)


def asked_of(tree: list[Any]) -> set[str]:
    """Return the ids of the questions that a condition refers to."""
    if not tree:
        return set()
    first, *rest = tree
    if first in ("and", "or", "not"):
        return set().union(*map(asked_of, rest))
    return {rest[0]}


def written(tree: list[Any]) -> str:
    """Return a condition as an author would write it, so that it is parsed to the same tree."""
    first, *rest = tree
    if first == "not":
        return f"not ({written(rest[0])})"
    if first in ("and", "or"):
        parts = (
            f"({written(part)})" if part[0] in ("and", "or") else written(part) for part in rest
        )
        return f" {first} ".join(parts)
    question, value = rest
    shown = f"'{value}'" if isinstance(value, str) else str(value)
    if first == "selected":
        return f"selected({question}, {shown})"
    return f"{question} {first} {shown}"


class _Parser:
    """A recursive-descent parser, with a method for each rule; `token` is the next, of `kind`."""

    def __init__(self, text: str, domains: Mapping[str, Domain | None]) -> None:
        self._text, self._domains = text, domains
        self._at = self._depth = 0
        self.kind, self.token = "", ""
        self._next()

    def error(self, expected: str) -> ValueError:
        """Return the error that something else was expected in place of the next token."""
        return ValueError(f"expected {expected}, got {self.token or 'the end'}")

    def _next(self) -> str:
        """Return the token, and read the next one."""
        before = self.token
        match = _TOKEN.match(self._text, self._at)
        if match:
            self._at = match.end()
            self.kind, self.token = str(match.lastgroup), match[str(match.lastgroup)]
        else:
            self.kind, self.token = "end", self._text[self._at :].strip()[:1]
            if self.token:
                raise self.error("an id, 'text', number, operator or parenthesis")
        return before

    def _expect(self, token: str) -> None:
        if self.token != token:
            raise self.error(token)
        self._next()

    def condition(self) -> list[Any]:
        return self._joined("or", lambda: self._joined("and", self._factor))

    def _joined(self, word: str, part: Callable[[], list[Any]]) -> list[Any]:
        parts = [part()]
        while self.token == word:
            self._next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else [word, *parts]

    def _factor(self) -> list[Any]:
        if self.token == "not":
            self._next()
            return ["not", self._bracket()]
        return self._bracket() if self.token == "(" else self._comparison()

    def _bracket(self) -> list[Any]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"expected at most {_DEEPEST} nested parentheses, got more")
        self._expect("(")
        tree = self.condition()
        self._expect(")")
        self._depth -= 1
        return tree

    def _question(self) -> tuple[str, Domain]:
        """Return the id of an earlier question, and its domain."""
        if self.kind != "word":
            raise self.error("the id of a question")
        if self.token not in self._domains:
            known = ", ".join(name for name, domain in self._domains.items() if domain is not None)
            known = known or "there is none, since this is the first"
            raise self.error(f"the id of an earlier question ({known})")
        domain = self._domains[self.token]
        if domain is None:
            raise ValueError(f"expected a question, got {self.token}: a note has no answer")
        return self._next(), domain

    def _comparison(self) -> list[Any]:
        if self.token == "selected":
            self._next()
            self._expect("(")
            question, domain = self._question()
            self._expect(",")
            tree = [domain.asked_by, question, self._value(question, domain)]
            self._expect(")")
            return tree
        question, domain = self._question()
        if self.token not in (*_COMPARE, "!="):
            raise self.error("one of = != < <= > >=")
        if domain.asked_by == "selected":
            raise ValueError(f"expected selected({question}, '...'), got {question} {self.token}")
        if domain.picks and self.token not in ("=", "!="):
            raise self.error(f"= or != (the values of {question} have no order)")
        return [self._next(), question, self._value(question, domain)]

    def _value(self, question: str, domain: Domain) -> Any:
        """Return the value with which an answer to a question is compared."""
        if domain.unasked:
            raise ValueError(
                f"expected a question other than {question}, which is {domain.unasked}"
            )
        if domain.picks:
            if self.kind != "text" or self.token[1:-1] not in domain.picks:
                raise self.error("one of " + ", ".join(f"'{name}'" for name in domain.picks))
            return self._next()[1:-1]
        if self.kind != "number":
            raise self.error("a number")
        number = float(self._next())
        return int(number) if number.is_integer() else number
