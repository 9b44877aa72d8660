"""The mistakes that people outside the program can make, each told in one sentence."""

from typing import Any

#: Letters of a value that are shown in a message.
_LONGEST = 60


class SurveyError(ValueError):
    """A survey file that its author must correct."""


class AnswersError(ValueError):
    """A table of true answers, to be simulated, that does not fit its survey."""


class ReportError(ValueError):
    """A report that no randomizer of this survey can have made.

    Parameters
    ----------
    field : str
        Where in the request, such as ``reports.team``.
    expected : str
        What would have been accepted there.
    got : str
        What was found, shortened.
    """

    def __init__(self, field: str, expected: str, got: str) -> None:
        super().__init__(f"{field}: expected {expected}, got {got}")
        self.field, self.expected, self.got = field, expected, got


def shown(value: Any) -> str:
    """How a value that was got is written in a message: as TOML and JSON write it, shortened."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, dict):
        text = "a table" if value else "an empty table"
    elif isinstance(value, list):
        text = "[" + ", ".join(shown(item) for item in value[:8]) + (", …]" if value[8:] else "]")
    else:
        text = "null" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
