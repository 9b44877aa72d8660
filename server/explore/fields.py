"""The numbers that an address of `/explore` can have, and the messages about wrong ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from analysis.core.typed import latin

#: Digits after the point, letters of a value that are read, and letters that a message shows.
_DIGITS, _LONGEST, _SHOWN = 4, 300, 20
#: The most queries of a playground, and what stands for none of them, and for
#: taking the last one back.
MOST_QUERIES, NOTHING, BACK = 40, "none", "back"


class Wrong(ValueError):
    """A field has an impossible value; the message says what was expected."""


@dataclass(frozen=True)
class Field:
    """A number of a section.

    `name` is that in addresses, `stops` are the values of its slider. It is from `least` to `most`,
    and `whole` if it counts something.
    """

    name: str
    label: str
    usual: str
    least: Decimal
    most: Decimal
    stops: tuple[str, ...]
    whole: bool = False
    unit: str = ""

    def read(self, text: str) -> Decimal:
        """Return the number that somebody typed, with a point or a comma.

        Raises
        ------
        Wrong
            If the text is no number, or the number is out of its range.
        """
        given = latin(text.strip())
        plain = given.replace(",", "") if self.whole else given.replace(",", ".")
        number = _decimal(plain) if len(plain) <= _SHOWN else None
        if number is None or not self.least <= number <= self.most or not self._is_fine(number):
            kind = "a whole number" if self.whole else "a number"
            raise Wrong(
                f"{self.label}: expected {kind} from {self.least:,f} to {self.most:,f}, "
                f"got {_shown(text)}"
            )
        return number

    def _is_fine(self, number: Decimal) -> bool:
        places = number.normalize().as_tuple().exponent
        return isinstance(places, int) and -places <= (0 if self.whole else _DIGITS)


def _decimal(text: str) -> Decimal | None:
    """Return a number without sign or exponent; None if the text is no such number."""
    if not text.isascii() or not text.replace(".", "", 1).isdigit():
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _shown(text: str) -> str:
    return ascii(text[:_SHOWN]) + "…" * (len(text) > _SHOWN)


#: Where sliders stop.
_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_PEOPLE = (50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10000, 20000, 50000, 100000)
_POINTS = (1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30)
_ONE_IN = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)


def stops_of(numbers: Iterable[float], least: Decimal, most: Decimal) -> tuple[str, ...]:
    """Return the stops of a slider as they are typed, those within the limits."""
    texts = [f"{number:.10g}" for number in numbers]
    return tuple(text for text in texts if least <= Decimal(text) <= most)


def epsilon(name: str, usual: str, least: str = "0.1", most: str = "10") -> Field:
    """Return the field of an ε of one report."""
    low, high = Decimal(least), Decimal(most)
    return Field(name, "ε of one report", usual, low, high, stops_of(_EPSILONS, low, high))


def people(name: str, usual: str) -> Field:
    """Return the field of a number of respondents."""
    low, high = Decimal(10), Decimal(1_000_000)
    return Field(name, "Respondents", usual, low, high, stops_of(_PEOPLE, low, high), whole=True)


def points(name: str, usual: str) -> Field:
    """Return the field of a wanted half-width."""
    low, high = Decimal(1), Decimal(30)
    return Field(name, "Wanted: ± points", usual, low, high, stops_of(_POINTS, low, high))


def one_in(name: str) -> Field:
    """Return the field of a δ, which is given as "one in N"."""
    low, high = Decimal(10), Decimal(10**12)
    stops = stops_of(_ONE_IN, low, high)
    return Field(name, "δ: one in", "1000000", low, high, stops, whole=True)


def count(
    name: str, label: str, usual: str, least: int, most: int, stops: Iterable[float]
) -> Field:
    """Return the field of a count."""
    low, high = Decimal(least), Decimal(most)
    return Field(name, label, usual, low, high, stops_of(stops, low, high), whole=True)


@dataclass(frozen=True)
class Queries:
    """A field with the ε of several queries, which blanks or semicolons separate."""

    name: str
    label: str
    usual: str
    #: The numbers that a press can add.
    more: tuple[str, ...]

    def read(self, text: str) -> tuple[Decimal, ...]:
        """Return the ε of each query, in order; errors are those of `Field.read`."""
        if text == NOTHING:
            return ()
        parts = text[:_LONGEST].replace(";", " ").replace(", ", " ").split()
        if len(text) > _LONGEST or len(parts) > MOST_QUERIES:
            raise Wrong(f"{self.label}: expected at most {MOST_QUERIES} numbers, got more")
        one = Field(self.name, self.label, "1", Decimal("0.01"), Decimal(10), ())
        return tuple(one.read(part) for part in parts)

    def pressed(self, text: str, press: str) -> str:
        """Return the queries after the press of a button: one more, without the last, or none."""
        queries = [] if text == NOTHING else text.split()
        if press in self.more:
            queries.append(press)
        elif press == BACK:
            queries = queries[:-1]
        elif press == NOTHING:
            queries = []
        return " ".join(queries) or NOTHING


@dataclass(frozen=True)
class Choice:
    """A field with a menu; `options` has the value and the text of each."""

    name: str
    label: str
    usual: str
    options: tuple[tuple[str, str], ...]

    def read(self, text: str) -> str:
        """Return the value that was chosen; raise `Wrong` if it is no option."""
        known = [value for value, _ in self.options]
        if text not in known:
            raise Wrong(f"{self.label}: expected {' or '.join(known)}, got {_shown(text)}")
        return text


AnyField = Field | Queries | Choice
