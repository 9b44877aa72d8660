"""Probabilities that depend on unknowns, such as "2/3 + 1/3 * q", as exact sums of products."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

#: The longest text of a probability, far longer than anybody needs.
_LONGEST = 200
_TOKEN = re.compile(
    r"\s*(?:(\d{1,18}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?|\.\d{1,400})|([A-Za-z_]\w*)|([-+*/()]))"
)
#: The form of an unknown probability's name.
NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of unknowns. No unknown appears twice in a product.

    `terms` has the coefficient of each product by the set of its unknowns. No coefficient is 0.
    """

    terms: Mapping[frozenset[str], Fraction]

    @classmethod
    def constant(cls, number: Fraction) -> "Polynomial":
        """Return the polynomial that is this number."""
        return cls({frozenset(): number} if number else {})

    @classmethod
    def unknown(cls, name: str) -> "Polynomial":
        """Return the polynomial that is this unknown."""
        return cls({frozenset([name]): Fraction(1)})

    @property
    def number(self) -> Fraction | None:
        """Its value; None if it depends on an unknown."""
        if any(self.terms):
            return None
        return self.terms.get(frozenset(), Fraction(0))

    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for names, factor in other.terms.items():
            terms[names] = terms.get(names, Fraction(0)) + factor
        return Polynomial({names: factor for names, factor in terms.items() if factor})

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        result = Polynomial({})
        for (names, factor), (others, more) in product(self.terms.items(), other.terms.items()):
            if twice := names & others:
                raise ValueError(f"an unknown at most once in a product, got {min(twice)} twice")
            result += Polynomial({names | others: factor * more})
        return result

    def at(self, values: Mapping[str, int]) -> Fraction:
        """Return its value if each unknown is 0 or 1."""
        parts = (
            factor for names, factor in self.terms.items() if all(values[name] for name in names)
        )
        return sum(parts, Fraction(0))


def parsed(text: str, known: Mapping[str, Polynomial]) -> Polynomial:
    """Return the polynomial of a text of numbers and names with ``+ - * /`` and brackets.

    Parameters
    ----------
    text : str
        Examples are ``1 - t`` and ``7/10 + 3/10 * q``. Only numbers can be divisors.
    known : mapping
        The polynomial of each name.

    Raises
    ------
    ValueError
        If the text is something else. The message says what was expected, and what was there.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"at most {_LONGEST} letters, got {len(text)}")
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"numbers, names of unknowns, + - * / and brackets, got {text!r}")
        tokens.append(match[match.lastindex or 0])
        at = match.end()
    tokens.append("")
    reader = _Reader(tokens, known)
    result = reader.sum()
    if reader.next:
        raise ValueError(f"a whole sum of products, got {reader.next!r} in {text!r}")
    return result


class _Reader:
    """A reader of tokens. The last token is empty."""

    def __init__(self, tokens: list[str], known: Mapping[str, Polynomial]) -> None:
        self._tokens, self._known = tokens[::-1], known

    @property
    def next(self) -> str:
        return self._tokens[-1]

    def sum(self) -> Polynomial:
        minus = Polynomial.constant(Fraction(-1))
        negative = self.next == "-" and bool(self._tokens.pop())
        total = self._product()
        if negative:
            total = minus * total
        while self.next in ("+", "-"):
            sign = self._tokens.pop()
            part = self._product()
            total += part if sign == "+" else minus * part
        return total

    def _product(self) -> Polynomial:
        result = self._factor()
        while self.next in ("*", "/"):
            if self._tokens.pop() == "*":
                result *= self._factor()
                continue
            divisor = self._factor().number
            if not divisor:
                raise ValueError("a number other than 0 after /, got another divisor")
            result *= Polynomial.constant(1 / divisor)
        return result

    def _factor(self) -> Polynomial:
        token = self._tokens.pop() if self.next else ""
        if token == "(":
            result = self.sum()
            if self.next != ")":
                raise ValueError("a bracket ) for each (, got fewer")
            self._tokens.pop()
            return result
        if token and (token[0].isdigit() or token[0] == "."):
            return Polynomial.constant(Fraction(token))
        if token in self._known:
            return self._known[token]
        names = f"one of {', '.join(self._known)}" if self._known else "a number"
        raise ValueError(f"a number or the name of an unknown ({names}), got {token or 'nothing'}")


def corners(unknowns: Iterable[str]) -> list[dict[str, int]]:
    """Return all ways in which each unknown is 0 or 1; the last unknown changes fastest."""
    names = list(unknowns)
    return [dict(zip(names, bits, strict=True)) for bits in product((0, 1), repeat=len(names))]
