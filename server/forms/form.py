"""A questionnaire of another tool, as its reader found it: what it asks, and what is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.core.errors import SurveyError

#: What became of a row of the source.
IMPORTED, CHANGED, REFUSED = "imported", "changed", "refused"

#: The most rows, of all sheets and lists together, and the most bytes of a file.
MOST_ROWS, LARGEST = 5_000, 8 << 20


class FormError(SurveyError):
    """A file that is no questionnaire of a tool that is known here; the message says why."""


@dataclass(frozen=True)
class Row:
    """A row of the source in the report: where it stands, and what became of it, and why."""

    row: str
    name: str
    type: str
    outcome: str
    detail: str


@dataclass(frozen=True)
class Condition:
    """When a question is asked: as `server.forms.conditions` describes it, and in the source."""

    tree: list[Any]
    text: str


@dataclass
class Asked:
    """A question or note of the source, in our terms.

    Parameters
    ----------
    row, name, type : str
        Its place in the source, such as ``survey!7``; its name and its type there.
    kind : str
        Our kind, or "note".
    text : str or dict
        Plain, or by language.
    keys : dict
        Our other keys: of its kind, such as ``min`` or ``candidates``, and ``help``, ``section``,
        ``new_page``, ``required``, ``random_order``, ``matrix``, ``namely`` (the value of the
        option) ...; without ``epsilon``, ``options``, ``items`` and ``points``.
    options : list of tuple
        Of choice, choices, rank and scale: the value in the source, and the text; of yes-no, if
        its values are others than yes and no, the two, yes first.
    conditions : list of Condition
        All of these have to hold where it is asked.
    changes : list of str
        What is different from the source, each without a capital and a stop: "an open text, of
        which the frequent answers are found", "the constraint . < 7 is left out".
    """

    row: str
    name: str
    type: str
    kind: str
    text: Any
    keys: dict[str, Any] = field(default_factory=dict)
    options: list[tuple[str, Any]] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def ask_all(self, condition: str, why: object) -> None:
        """Note that a condition of the source is left out, so that more people are asked."""
        given = " ".join(condition.split())
        shown = given if len(given) <= 200 else f"{given[:199]}…"
        self.changes.append(
            f"more people are asked, since the condition {shown} is left out: {why}"
        )


@dataclass
class Form:
    """A questionnaire as it was read: `items` has its questions, and rows that are refused.

    Both stand in the order of the source. `study` has our keys of a survey file that are texts,
    such as ``introduction``; `languages` the tags in which texts are given, if there are several.
    """

    title: Any
    name: str
    items: list[Asked | Row] = field(default_factory=list)
    languages: Sequence[str] = ()
    study: Mapping[str, Any] = field(default_factory=dict)

    def refuse(self, row: str, name: str, kind: str, why: str) -> None:
        """Note that a row of the source is not imported, and why."""
        self.items.append(Row(row, name, kind, REFUSED, why))

    def note(self, row: str, name: str, kind: str, detail: str = "") -> None:
        """Note that a row of the source that asks nothing is in the survey."""
        self.items.append(Row(row, name, kind, IMPORTED, detail))
