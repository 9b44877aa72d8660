"""Shares, means and quantiles of every question, and whether their reports look genuine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from analysis.core.options import EM, INTERVALS_OF_SHARES, NORM_SUB
from analysis.core.table import columns_in
from analysis.study.infinities import without_infinities
from analysis.study.sources import Estimated, Source
from analysis.study.verbs import (
    Answer,
    Misused,
    Progress,
    Sources,
    Table,
    Verb,
    argument,
    flag,
    joined,
    option,
    quiet,
    table_of,
)

if TYPE_CHECKING:
    from analysis.estimate.constrained import Constrained

#: The most people of a population.
MOST_PEOPLE = 10**10


@dataclass(frozen=True)
class Estimates(Verb):
    """Print debiased estimates with intervals; with --wave all, also how they changed."""

    fakes: int | None = option(
        None,
        "Add a column fake_shift: how far this many fake reports could have moved each estimate.",
        int,
        least=1,
    )
    interval: str | None = option(
        None,
        "Kind of interval, for shares of values that a report either supports or not.  "
        f"[{INTERVALS_OF_SHARES[0]}]",
        choices=INTERVALS_OF_SHARES,
    )
    simultaneous: bool = flag("Intervals that hold for all shares of a question together.")
    constrained: str | None = option(
        None,
        "Add a column constrained: shares of at least 0 that sum to 1, for display.",
        choices=(NORM_SUB, EM),
    )
    bins: int | None = option(
        None,
        "Add the smoothed distribution of each number, in about this many ranges, for display.",
        int,
        least=1,
        most=100,
    )
    deff: bool = flag(
        "Add a column deff: the variance as a multiple of that of asking the same people directly."
    )
    rank: bool = flag(
        "Print instead which ranks each answer can have, and whether one is surely first."
    )
    totals: bool = flag(
        "Add totals: how many respondents gave each answer, and the sums of their numbers."
    )
    population: int | None = option(
        None,
        "Add totals for this many people, of whom the respondents are a random sample.",
        int,
        least=1,
        most=MOST_PEOPLE,
        metavar="N",
    )
    margins: str | None = option(
        None,
        "Calibrate to known shares of the population, from a TOML file.",
        Path,
        metavar="FILE",
    )
    tests: bool = flag(
        "Print instead tests of the fit to a design with more equations than unknowns, for a "
        "table from elsewhere."
    )
    any_wave = True

    @property
    def wants_totals(self) -> bool:
        """Whether there are totals."""
        return self.totals or self.population is not None

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        given = [name for name in ("rank", "margins", "tests") if getattr(self, name)]
        if given and (len(given) > 1 or any(getattr(self, name) for name in _OF_TABLE)):
            raise Misused(
                f"--{given[0]} goes only with --wave, --version, --level and --batch: it prints "
                "another table"
            )

    @property
    def needs(self) -> Sequence[str]:
        if self.margins is not None:
            return ("counts", "reports")
        of_counts = self.fakes is not None or self.bins is not None or self.deff
        return ("design",) if self.tests else ("counts",) if of_counts else ("estimates",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        if self.rank:
            return Rank().answer(sources, level)
        if self.margins is not None:
            return self._calibrated(Path(self.margins), sources, level)
        if self.tests:
            return _fit_tests(sources[0])
        return self._estimates(sources, level)

    def _estimates(self, sources: Sources, level: float) -> Answer:
        """Return the estimates of each source, and how they changed from wave to wave."""
        from analysis.estimate.change import changes
        from analysis.estimate.estimates import ESTIMATE_COLUMNS, estimate_rows
        from analysis.estimate.totals import TOTAL_COLUMNS, with_totals

        rows, before, notes = list[dict[str, Any]](), list[Any](), list[str]()
        display: list[Constrained] = []
        no_ranges: dict[str, None] = {}  # why there are no ranges, each reason once
        has_ranges = self.bins is None
        for source in sources:
            origin, later = source.origin, list[Any]()
            simulated_cells = source.simulated_cells
            for part in source.estimated(self, level):
                every = [*part.estimates, *part.ranges, *changes(before, part.estimates, level)]
                later += part.estimates
                no_ranges |= dict.fromkeys(part.no_ranges)
                has_ranges = has_ranges or bool(part.ranges)
                display += part.constrained
                cells = estimate_rows(
                    origin["survey"], origin.get("version"), origin.get("wave"), every
                )
                if self.wants_totals:
                    cells = with_totals(cells, part.totals)
                rows += [row | simulated_cells | more for row, more in self._beside(cells, part)]
                notes += part.notes
            before = later
        if not has_ranges:
            raise ValueError(
                "; ".join(no_ranges)
                or f"{sources[0].origin['survey']}: --bins is for numbers; the survey asks for none"
            )
        columns = [*ESTIMATE_COLUMNS, *sources[0].simulated_cells]
        columns += [name for name, wanted in self._more.items() if wanted]
        columns += TOTAL_COLUMNS * self.wants_totals
        remarks = [] if self.constrained is None else list(_display(display, self.constrained))
        remarks += sources[-1].not_among
        return Answer([Table(rows, columns)], [*notes, *no_ranges], remarks)

    @property
    def _more(self) -> dict[str, bool]:
        """The columns that can be asked for, and whether they are."""
        return {
            "fake_shift": self.fakes is not None,
            "constrained": self.constrained is not None,
            "deff": self.deff,
        }

    def _beside(
        self, rows: Iterable[dict[str, Any]], part: Estimated
    ) -> Iterator[tuple[dict[str, Any], dict[str, float | None]]]:
        """Yield each row, and its cells of the columns that were asked for."""
        more: dict[str, Mapping[tuple[str, str], float | None]] = {
            "fake_shift": part.shifts,
            "constrained": {(each.question, each.term): each.share for each in part.constrained},
            "deff": {(each.question, each.term): each.design_effect for each in part.estimates}
            if self.deff
            else {},
        }
        for row in rows:
            key = row["question"], row["term"]
            yield row, {column: values.get(key) for column, values in more.items()}

    def _calibrated(self, margins: Path, sources: Sources, level: float) -> Answer:
        """Return estimates that are calibrated to known shares, beside those that are not."""
        from analysis.estimate.calibration.margins import read_margins
        from analysis.estimate.estimates import ESTIMATE_COLUMNS
        from analysis.study.calibrated import Uncalibrated

        shares, rows, notes = read_margins(margins), list[dict[str, Any]](), list[str]()
        for source in sources:
            calibrated, notes_of_source = source.calibrated(shares, level)
            simulated_cells = source.simulated_cells
            rows += [row | simulated_cells for row in calibrated]
            notes += [f"{source.prefix}{note}" for note in notes_of_source]
        columns = [*ESTIMATE_COLUMNS, *columns_in(Uncalibrated), *sources[0].simulated_cells]
        return Answer([Table(rows, columns)], notes)


#: The options of the table of estimates.
_OF_TABLE = (
    *("fakes", "interval", "simultaneous", "constrained", "bins", "deff", "totals", "population"),
)


@dataclass(frozen=True)
class Calibrated:
    """Estimates that are calibrated to known shares of the answers to some questions."""

    margins: Mapping[str, Mapping[str, float]]
    stored_as: ClassVar[str] = "calibrated"

    def result(self, source: Source, level: float, progress: Progress) -> dict[str, Any]:
        """Return the rows of the table, and notes, as JSON."""
        rows, notes = source.calibrated(self.margins, level)
        return {"rows": [without_infinities(row) for row in rows], "notes": notes}


@dataclass(frozen=True)
class Plausibility(Verb):
    """Print whether reports look as their channels draw them, or some are fakes."""

    has_level, of_tables = False, False

    @property
    def needs(self) -> Sequence[str]:
        return ("counts",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS

        (source,) = sources
        rows = [asdict(row) for row in source.plausibility()]
        return Answer([Table(rows, PLAUSIBILITY_COLUMNS)], remarks=source.simulated_notes)


@dataclass(frozen=True)
class Rank(Verb):
    """Print which ranks each answer can have, and whether one is surely first."""

    questions: tuple[str, ...] = argument("[QUESTION]...", default=(), many=True)
    any_wave = True

    @property
    def needs(self) -> Sequence[str]:
        return ("estimates",)

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study import ranking

        tables, notes = [], list[str]()
        for source in sources:
            rows, notes_of_source = source.ranks(self.questions, level)
            tables.append(table_of(ranking.Rank, rows, source.origin, source.simulated_cells))
            for question, ranks in groupby(rows, lambda row: row.question):
                notes.append(f"{_named(source, question)}: {ranking.sentence(list(ranks))}")
            notes += notes_of_source
        table = joined(tables)
        if not table.rows:
            raise ValueError(
                "ranks need a question with two answers or more, and reports; got none"
            )
        return Answer([table], notes)


def _named(source: Source, question: str) -> str:
    """Return the words with which a sentence on a question begins."""
    return f"{source.prefix.removesuffix(': ')}, {question}" if source.prefix else question


def _fit_tests(source: Source) -> Answer:
    """Return the tests of the fit to the design."""
    from analysis.study.hypotheses import HypothesisTest

    tables = [
        table_of(HypothesisTest, [test], source.origin | {"question": name}, {})
        for name, test in source.fit_tests()
    ]
    return Answer([joined(tables)])


def _display(shares: "Sequence[Constrained]", method: str) -> Iterator[str]:
    """Yield what constrained shares are good for, and where `method` could not be used."""
    yield (
        "constrained: for display only, biased upward for rare answers; intervals and conclusions "
        "are those of estimate"
    )
    for used, why in (
        (
            NORM_SUB,
            "the tally does not show how often each report came, there are cohorts, or "
            f"{EM} did not converge",
        ),
        (EM, "its estimates are already the most likely shares"),
    ):
        others = sorted({share.question for share in shares if share.method == used != method})
        if others:
            yield f"constrained: {used} instead of {method} for {', '.join(others)}: {why}"
