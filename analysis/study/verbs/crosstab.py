"""How the answers to several questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis.study.sources import Source
from analysis.study.verbs import (
    Answer,
    Progress,
    Sources,
    Verb,
    argument,
    flag,
    quiet,
    rows_of,
)


@dataclass(frozen=True)
class Crosstab(Verb):
    """Print how the answers to two questions go together.

    For a question with several options, name one: QUESTION.OPTION. Of one question, or of three or
    more, only the shares of all combinations are printed.
    """

    first: str = argument("QUESTION")
    second: str | None = argument("[QUESTION]", default=None)
    others: tuple[str, ...] = argument("[QUESTION]...", many=True, default=())
    tests: bool = flag("Print the test of independence instead.")

    @property
    def needs(self) -> Sequence[str]:
        return ("reports",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.crosstab.crossed import cross
        from analysis.study.crosstab.row import Row
        from analysis.study.hypotheses import HypothesisTest

        source = sources[0]
        if self.second is None or self.others:
            return self._combinations(source, level)
        found = cross(source, self.first, self.second, level)
        before = source.place | source.made_up
        before |= {"first_question": found.first.name, "second_question": found.second.name}
        if self.tests:
            return Answer([rows_of(HypothesisTest, [found.test], before, None)], found.notes)
        notes = [*found.notes]
        if found.has_test:
            notes.append(found.test.sentence)
        return Answer([rows_of(Row, found.rows, before, None)], notes)

    def result(self, source: Source, level: float, progress: Progress) -> dict[str, Any]:
        """Return the rows of the table, the test of independence, and notes, as JSON."""
        from analysis.study.crosstab.crossed import cross
        from analysis.study.infinities import without_infinities

        found = cross(source, self.first, str(self.second), level)
        progress(0.5)
        return {
            "names": [found.first.name, found.second.name],
            "rows": [without_infinities(asdict(row)) for row in found.rows],
            "test": asdict(found.test),
            "notes": list(found.notes),
        }

    def _combinations(self, source: Source, level: float) -> Answer:
        from analysis.estimate.columns.joint_table import JointShare, joint_shares
        from analysis.study.crosstab.crossed import check_different, columns_in

        names = [name for name in (self.first, self.second, *self.others) if name is not None]
        check_different(names)
        found = source.together(names)
        if found.numbers:
            raise ValueError(
                f"{min(found.numbers)}: expected a question with shares, got a number, whose "
                "values are points to which it was rounded; a table of two has its means"
            )
        columns = columns_in(found)
        if self.tests:
            raise ValueError(f"tests of a table need two columns, got {len(columns)}")
        rows = joint_shares(columns, level, found.weights)
        return Answer([rows_of(JointShare, rows, source.place, source.made_up)], found.notes)
