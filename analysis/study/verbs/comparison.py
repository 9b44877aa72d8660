"""Whether shares and means are the same: as stated, in two waves, in groups, or over waves."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from analysis.core.options import INTERVALS_OF_SHARES
from analysis.study.sources import Source
from analysis.study.verbs import (
    Answer,
    Misused,
    Progress,
    Sources,
    Verb,
    argument,
    flag,
    option,
    quiet,
    table_of,
)

if TYPE_CHECKING:
    from analysis.estimate.columns import Column

FORMS = ("csv", "json", "text")


@dataclass(frozen=True)
class Goodness(Verb):
    """Test whether the true shares of a question can be these (goodness of fit).

    For a question with several options, name one: QUESTION.OPTION.
    """

    question: str = argument("QUESTION")
    shares: str = option(
        MISSING,
        "The share of each value, including no-answer, such as yes=0.2,no=4/5.",
        metavar="VALUE=SHARE,..",
    )
    has_level, forms = False, FORMS

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.hypotheses import HypothesisTest, goodness_of_fit

        shares, (source,) = self._shares, sources
        (column,), notes = source.columns_of_means([self.question])
        if source.is_number(column.name):
            raise ValueError(f"{column.name}: expected a question with shares, got a number")
        missing = [value for value in column.values if value not in shares]
        others = [value for value in shares if value not in column.values]
        if missing or others:
            wrong = [f"got none for {', '.join(missing)}"] if missing else []
            wrong += [f"got unknown {', '.join(other[:64] for other in others)}"] if others else []
            raise ValueError(
                f"{column.name}: --shares needs a share for each of {', '.join(column.values)}; "
                + ", ".join(wrong)
            )
        total = float(sum(shares.values()))
        if abs(total - 1) > 1e-6:
            raise ValueError(f"{column.name}: --shares must sum to 1, got {total:.10g}")
        test = goodness_of_fit(column, [float(shares[value]) for value in column.values])
        before = source.origin | {"question": column.name}
        return Answer([table_of(HypothesisTest, [test], before, source.simulated_cells)], notes)

    @property
    def _shares(self) -> dict[str, Fraction]:
        """The shares of ``yes=0.2,no=4/5``, by value."""
        shares: dict[str, Fraction] = {}
        for part in self.shares.split(","):
            value, equals, share = part.rpartition("=")
            try:
                number = Fraction(share.strip())
            except (ValueError, ZeroDivisionError):
                number = Fraction(-1)
            if not equals or not 0 <= number <= 1:
                raise Misused(
                    "expected VALUE=SHARE with a share from 0 to 1, such as yes=0.2,no=0.8, got "
                    f"{part[:64]!a}",
                    "--shares",
                )
            if value.strip() in shares:
                raise Misused(f"got {value.strip()[:64]!a} twice", "--shares")
            shares[value.strip()] = number
        return shares


@dataclass(frozen=True)
class Compare(Verb):
    """Print how shares, or means, differ between two waves, or between groups of another question.

    For a question with several options, name one: QUESTION.OPTION. Of a table from elsewhere, two
    columns with the same values can be compared.
    """

    question: str = argument("QUESTION")
    groups: str | None = option(
        None, "Compare the groups that its answers make instead.", metavar="QUESTION"
    )
    reference: str | None = option(
        None, "The group with which to compare the others.", metavar="VALUE"
    )
    other: str | None = option(
        None,
        "Compare with this column of a table from elsewhere: its shares less those of QUESTION.",
        word="with",
        metavar="COLUMN",
    )
    interval: str | None = option(
        None, "With --with: the kind of interval for shares.", choices=INTERVALS_OF_SHARES
    )
    tests: bool = flag("Print the test of all answers together instead.")
    forms = FORMS
    asks = ("waves", "wave")

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.groups is None and self.reference is not None:
            raise Misused("--reference goes with --groups; for two waves use --waves")
        if self.other is None and self.interval is not None:
            raise Misused("--interval goes with --with")
        if self.other is not None and (self.groups is not None or self.tests):
            raise Misused("--with goes without --groups and --tests")

    @property
    def reads(self) -> str:
        return "two" if self.groups is None and self.other is None else "one"

    @property
    def needs(self) -> Sequence[str]:
        if self.other is not None:
            return ("design",)
        return ("wave",) if self.groups is None else ("reports",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.comparison import Comparison
        from analysis.study.hypotheses import HypothesisTest

        if self.other is not None:
            return self._columns(sources[0], self.other, level)
        compared = _in_waves if self.groups is None else self._in_groups
        where, test, rows, notes = compared(self.question, sources, level)
        simulated_cells = _summed(sources)
        if self.tests and test is None:
            raise ValueError(f"{self.question}: a number has no test of all answers together")
        if self.tests:
            return Answer([table_of(HypothesisTest, [test], where, simulated_cells)], notes)
        if test is not None:
            notes = [*notes, f"all answers together: {test.sentence}"]
        return Answer([table_of(Comparison, rows, where, simulated_cells)], notes)

    def _columns(self, source: Source, other: str, level: float) -> Answer:
        """Return how much two columns of the same values differ."""
        from analysis.estimate.columns.differences import Difference
        from analysis.estimate.columns.measured import IntervalOptions

        options = IntervalOptions(level, self.interval)
        rows = source.differences(self.question, other, options)
        return Answer([table_of(Difference, rows, source.origin, source.simulated_cells)])

    def _in_groups(self, question: str, sources: Sources, level: float) -> Any:
        """Compare a question's answers between the groups that another question's answers make."""
        from analysis.study.comparison import compare_groups
        from analysis.study.hypotheses import independence

        (source,) = sources
        (by, column), notes = source.columns_of_means([str(self.groups), question])
        if source.is_number(by.name):
            raise ValueError(
                f"{by.name}: expected a question whose answers make groups, got a number"
            )
        has_shares = not source.is_number(column.name)
        rows = compare_groups(by, column, self.reference, level, has_shares=has_shares)
        where = source.origin | {"question": column.name, "groups": by.name}
        return where, independence(by, column) if has_shares else None, rows, notes


def _in_waves(question: str, sources: Sources, level: float) -> Any:
    """Compare a question's answers in two waves."""
    from analysis.study.changes import difference
    from analysis.study.comparison import compare_waves

    earlier, later = (source.origin["wave"] for source in sources)
    if earlier == later:
        raise ValueError(f"--waves: expected two different waves, got {later} twice")
    (first, second), notes = _of_waves(sources, question)
    has_shares = not sources[-1].is_number(second.name)
    rows = compare_waves(first, second, (str(earlier), str(later)), level, has_shares=has_shares)
    where = sources[-1].origin | {"wave": f"{earlier},{later}"}
    where |= {"question": second.name, "groups": None}
    return where, difference(first, second) if has_shares else None, rows, notes


@dataclass(frozen=True)
class Trend(Verb):
    """Print whether shares, or a mean, rise or fall over waves.

    For a question with several options, name one: QUESTION.OPTION.
    """

    question: str = argument("QUESTION")
    values: tuple[str, ...] = option(
        (), "Only the share of this value; may be given again.", word="value", many=True
    )
    at: str | None = option(
        None, "Their places in time, such as years.  [their numbers]", metavar="NUMBER,.."
    )
    forms = FORMS
    asks, of_tables = ("waves",), False

    @property
    def reads(self) -> str:
        return "several"

    @property
    def needs(self) -> Sequence[str]:
        return ("wave",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.comparison import Slope, slopes

        numbers = [source.origin["wave"] for source in sources]
        if len(numbers) < 2 or len(set(numbers)) < len(numbers):
            listed = ", ".join(map(str, numbers)) or "none"
            raise ValueError(f"a trend needs at least two waves, each once, got {listed}")
        places = numbers_of("--at", self.at, float) if self.at else [*map(float, numbers)]
        if len(places) != len(numbers):
            raise ValueError(f"--at: expected {len(numbers)} numbers, got {len(places)}")
        columns, notes = _of_waves(sources, self.question)
        has_shares = not sources[-1].is_number(columns[-1].name)
        if self.values and not has_shares:
            raise ValueError(
                f"--value: {self.question} is a number, which has a mean and no shares"
            )
        for value in self.values:
            if value not in columns[-1].values:
                known = ", ".join(columns[-1].values)
                raise ValueError(f"--value: expected one of {known}, got {value[:64]!a}")
        rows = slopes(columns, self.values or None, places, level, has_shares=has_shares)
        where = sources[-1].origin | {"wave": ",".join(map(str, numbers))}
        where |= {"question": columns[0].name}
        return Answer([table_of(Slope, rows, where, _summed(sources))], notes)


def numbers_of(option: str, text: str, kind: type[int] | type[float]) -> list[Any]:
    """Return the numbers of an option's text; ValueError unless all are finite."""
    try:
        numbers = [kind(part) for part in text.split(",")]
        if not all(map(isfinite, numbers)):
            raise ValueError
        return numbers
    except ValueError:
        wanted = "whole numbers" if kind is int else "finite numbers"
        raise ValueError(
            f"{option}: expected {wanted} with commas between, got {text[:64]!a}"
        ) from None


def _of_waves(sources: Sources, question: str) -> "tuple[list[Column], list[str]]":
    """Return the column of a question in each wave, and whether the same people answered."""
    versions = dict.fromkeys(source.origin["version"] for source in sources)
    if len(versions) > 1:
        # A database gives one version, or those that were asked for together.
        got = " and ".join(version[:12] for version in versions)
        raise ValueError(f"{question}: expected waves of one version of the survey, got {got}")
    columns, notes = [], list[str]()
    for source in sources:
        (column,), notes_of_source = source.columns_of_means([question])
        columns.append(column)
        notes += notes_of_source
    for source, column in zip(sources, columns, strict=True):
        if column.n < 2:
            raise ValueError(
                f"{source.prefix}expected two reports or more on {column.name} of version "
                f"{source.origin['version'][:12]}, got {column.n}"
            )
    name = columns[-1].name
    if sources[-1].can_repeat(name):
        notes.append(
            f"{name}: the same people may have answered in these waves, but standard errors assume "
            "different people. They are too large if most people keep their answers, which hides "
            "differences, and too small if most change them"
        )
    return columns, notes


def _summed(sources: Sources) -> dict[str, int]:
    """Return the cell on simulated reports, of all sources together."""
    every = [source.simulated_cells for source in sources]
    return {name: sum(cells[name] for cells in every) for name in every[0]}
