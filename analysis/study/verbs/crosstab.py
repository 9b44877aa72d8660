"""How the answers to several questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from analysis.study.infinities import without_infinities
from analysis.study.sources import Source, Together
from analysis.study.verbs import (
    Answer,
    Progress,
    Sources,
    Verb,
    argument,
    flag,
    quiet,
    table_of,
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
    stored_as: ClassVar[str] = "crosstab"

    @property
    def needs(self) -> Sequence[str]:
        return ("reports",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.crosstab.crossed import Crossed
        from analysis.study.crosstab.row import Row
        from analysis.study.hypotheses import HypothesisTest

        (source,) = sources
        names = [name for name in (self.first, self.second, *self.others) if name is not None]
        together = source.together(names)
        if len(names) != 2:
            return self._combinations(source, together, level)
        crossed = Crossed(together, level)
        first, second = crossed.names
        before = source.origin | source.simulated_cells
        before |= {"first_question": first, "second_question": second}
        if self.tests:
            table = table_of(HypothesisTest, [crossed.test], before, {})
            return Answer([table], together.notes)
        sentence = [crossed.test.sentence] if crossed.has_test else []
        table = table_of(Row, crossed.rows, before, {})
        return Answer([table], [*together.notes, *sentence])

    def result(self, source: Source, level: float, progress: Progress) -> dict[str, Any]:
        """Return the rows of the table, the test of independence, and notes, as JSON."""
        from analysis.study.crosstab.crossed import Crossed

        together = source.together([self.first, str(self.second)])
        crossed = Crossed(together, level)
        progress(0.5)
        return {
            "names": crossed.names,
            "rows": [without_infinities(asdict(row)) for row in crossed.rows],
            "test": asdict(crossed.test),
            "notes": list(together.notes),
        }

    def _combinations(self, source: Source, together: Together, level: float) -> Answer:
        """Return the shares of all combinations of the values of other than two columns."""
        from analysis.estimate.columns.joint_table import JointShare, joint_shares
        from analysis.study.crosstab.crossed import columns_in

        if together.numbers:
            raise ValueError(
                f"{min(together.numbers)}: expected a question with shares, got a number, whose "
                "values are points to which it was rounded; a table of two has its means"
            )
        columns = columns_in(together)
        if self.tests:
            raise ValueError(f"tests of a table need two columns, got {len(columns)}")
        rows = joint_shares([*columns], level, together.weights)
        table = table_of(JointShare, rows, source.origin, source.simulated_cells)
        return Answer([table], together.notes)
