"""What became of a row of the source, and what somebody has to do about its differences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

#: The outcomes of a row of the source.
IMPORTED, CHANGED, REFUSED = "imported", "changed", "refused"
#: Something is lost, or other people are asked; somebody has to look whether it is right; and
#: nobody has to.
LOST, LOOK, HARMLESS = "lost", "look", "harmless"
WEIGHTS = (LOST, LOOK, HARMLESS)


@dataclass(frozen=True)
class Change:
    """A difference from the source, in words without a capital letter and a period."""

    weight: str
    words: str


def lost(words: str) -> Change:
    """Return that a part of the source is lost, or that other people are asked."""
    return Change(LOST, words)


def look(words: str) -> Change:
    """Return a decision of the import that may be wrong for this study."""
    return Change(LOOK, words)


def harmless(words: str) -> Change:
    """Return a difference that means nothing to anybody."""
    return Change(HARMLESS, words)


def weight_of(changes: Iterable[Change]) -> str:
    """Return the largest weight of the differences; "" if there are none."""
    there = {change.weight for change in changes}
    return next((weight for weight in WEIGHTS if weight in there), "")


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return each change once, the weighty ones first."""
    return tuple(sorted(dict.fromkeys(changes), key=lambda one: WEIGHTS.index(one.weight)))


@dataclass(frozen=True)
class Row:
    """A row of the source in the report: where it stands, what became of it, and its changes.

    `id` is that of the question or note that it became. `remark` says more, and changes nothing.
    """

    row: str
    name: str
    type: str
    outcome: str
    changes: tuple[Change, ...] = ()
    id: str = ""
    remark: str = ""

    @property
    def detail(self) -> str:
        """What is different, the weighty things first, in words."""
        return "; ".join(filter(None, [*(one.words for one in self.changes), self.remark]))

    @property
    def to_see(self) -> str:
        """The part of the detail at which somebody has to look."""
        return "; ".join(one.words for one in self.changes if one.weight != HARMLESS)

    @property
    def weight(self) -> str:
        """The largest weight of its changes; "" without any."""
        return weight_of(self.changes)

    def with_changes(self, more: Sequence[Change]) -> "Row":
        """Return the row with more changes; what is refused stays so."""
        changes = in_order([*self.changes, *more])
        outcome = self.outcome if self.outcome == REFUSED else outcome_of(changes)
        return replace(self, outcome=outcome, changes=changes)


def outcome_of(changes: Sequence[Change]) -> str:
    """Return the outcome of what is in the survey; a harmless difference does not count."""
    return IMPORTED if weight_of(changes) in ("", HARMLESS) else CHANGED


def refused(row: str, name: str, kind: str, why: str, *more: Change) -> Row:
    """Return a row that is not imported, and why."""
    return Row(row, name, kind, REFUSED, (lost(why), *more))
