"""A number between bounds that the survey states."""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from analysis.core.domain import Numbers
from analysis.survey.document import Table, plain
from analysis.survey.json_schema import POSITIVE, TEXT, TRUE, Schema

#: The form of a number in a form control or a CSV cell. ``client/kinds.js`` has it, too.
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_LONGEST = 400


class Number:
    """``kind = "number"`` with ``min`` and ``max``; ``step``, ``integer``, ``unit``, ``slider``.

    Without a ``step``, any decimal may be typed, and the resolution is a thousandth of the range.
    """

    name = "number"

    def read(self, table: Table) -> dict[str, Any]:
        low = table.number("min")
        high = table.number("max", f"a number greater than min ({low})", lambda high: high > low)
        frozen: dict[str, Any] = {"min": plain(low), "max": plain(high)}
        integer = table.flag("integer")
        if integer:
            for key, bound in (("min", low), ("max", high)):
                if bound != bound.to_integral_value():
                    raise table.error(key, "a whole number, since integer = true")
        step = table.number(
            "step",
            "a number greater than 0 that divides max - min",
            lambda step: step > 0 and (Fraction(high) - Fraction(low)) % Fraction(step) == 0,
            default=Decimal(integer),
        )
        if integer and step != step.to_integral_value():
            raise table.error("step", "a whole number, since integer = true")
        if step:
            frozen["step"] = plain(step)
        unit = table.text("unit", default=None)
        if unit is not None:
            frozen["unit"] = unit
        if table.flag("slider"):
            frozen["slider"] = True
        return frozen

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        keys = ("min", "max", "step", "unit", "slider")
        return {key: question[key] for key in keys if key in question}

    def schema(self) -> tuple[Schema, Schema]:
        number = {"type": "number"}
        return {"min": number, "max": number}, {"step": POSITIVE, "unit": TEXT, "slider": TRUE}

    def domain(self, question: dict[str, Any]) -> Numbers:
        low, high = _exact(question["min"]), _exact(question["max"])
        steps = (high - low) / _exact(question["step"]) if "step" in question else 1000
        return Numbers(low, high, int(steps), question["no_answer"])

    def value(self, answer: str, question: dict[str, Any]) -> Fraction | None:
        """Return the position of a number in its range, in 0..1; None for no answer."""
        low, high = _exact(question["min"]), _exact(question["max"])
        if answer == "" and question["no_answer"]:
            return None
        if len(answer) <= _LONGEST and _DECIMAL.fullmatch(answer):
            position = (Fraction(answer) - low) / (high - low)
            if 0 <= position <= 1:
                return position
        empty = ", or empty" * question["no_answer"]
        raise ValueError(f"a number from {question['min']} to {question['max']}{empty}")

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        return {}

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        return ("mean",)

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        """Return the number at a position of a power law with this mean. Most are near one end."""
        low, high = float(question["min"]), float(question["max"])
        middle = (shares["mean"] - low) / (high - low)
        if not 0 < middle < 1:
            raise ValueError(
                f"expected a mean between {low:g} and {high:g}, got {shares['mean']:g}"
            )
        # For a uniform u, u to the power (1 - m) / m has the mean m. A mean above one half is taken
        # from the other end.
        near = min(middle, 1 - middle)
        part = place ** ((1 - near) / near)
        return self.made_up(min(part if middle < 0.5 else 1 - part, 1 - 1e-9), question)

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        low, high = Decimal(repr(question["min"])), Decimal(repr(question["max"]))
        step = Decimal(repr(question["step"])) if "step" in question else (high - low) / 1000
        return f"{low + step * int(Decimal(place) * ((high - low) / step + 1)):f}"


def _exact(number: int | float) -> Fraction:
    """Return a number as written: its shortest decimal, which JavaScript's String gives, too."""
    return Fraction(repr(number))
