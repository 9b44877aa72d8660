"""What the page of a plan is made of: tables, figures, and the parts that hold them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from analysis.accounting import Total
from analysis.charts import icon_array
from analysis.charts.of_plan import (
    METHODS,
    composition_chart,
    epsilon_chart,
    respondents_charts,
    sample_charts,
)
from analysis.domain import NO_ANSWER
from analysis.epsilon import MICRO
from analysis.meaning import (
    Deployment,
    Odds,
    deployments,
    most_told,
    odds,
    of_100,
    percent,
    rounded_up,
)
from analysis.planning import Point, Sampled
from analysis.planning.totals import WaveTotal
from analysis.survey import Question, Survey, spent_on

#: Beliefs before a report whose change is shown: rare, not so rare, and no idea.
PRIORS = (0.01, 0.1, 0.5)

#: Letters from which on a cell is set as text, in several lines.
_LONG = 40

#: Labels of answers that are named where all are told equally well.
_NAMED = 6

_SAMPLES = (
    "Each dot is the estimate that one simulated survey would print, if the truth were as the line "
    "says; the band is where the interval of a survey without randomization would lie on average."
)

_CAVEATS = (
    "Devices and the server add up ε, and refuse what would pass the cap, by the plain sum; of "
    "questions with a memory, by what all their reports tell together. Smaller totals say how "
    "little was told; they are not more budget.",
    "Totals are about whoever knows which reports are one person's, as the server does.",
)


@dataclass(frozen=True)
class Table:
    """A table with a title, of which the first column names the rows.

    The `strong` rows stand out; a `folded` table is shown if its title is pressed.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    strong: Sequence[int] = ()
    folded: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f'table "{self.title}": rows must have {len(self.columns)} cells, '
                    f"got {len(row)}"
                )

    @property
    def kinds(self) -> list[str]:
        """How each column is set: "number", "word", or "text" where a cell is long."""
        return [
            _kind([cell(row[place]) for row in self.rows]) for place in range(len(self.columns))
        ]

    @classmethod
    def of(
        cls, title: str, columns: Mapping[str, str], rows: Iterable[Any], note: str = ""
    ) -> "Table":
        """One of dataclasses or dictionaries: those of their values that `columns` has titles for.

        Columns in which no row has a value are left out. Values whose keys tell of an epsilon are
        rounded up, so that none is understated; a power is certain only if it is.
        """
        whole = [row if isinstance(row, Mapping) else vars(row) for row in rows]
        kept = [key for key in columns if any(row[key] not in (None, "") for row in whole)]
        cells = [[_shown(key, row[key]) for key in kept] for row in whole]
        return cls(title, [columns[key] for key in kept], cells, note)


@dataclass(frozen=True)
class Figure:
    """An SVG picture, and what is to be seen on it."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Part:
    """What a section shows, in this order: texts, figures, tables. An empty one is left out."""

    texts: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.figures or any(table.rows for table in self.tables))


@dataclass(frozen=True)
class Meaning:
    """What the ε of one question means, on the page."""

    title: str
    epsilon: str
    row: Odds
    count: str
    own: str
    other_count: str
    others: str
    table: Table
    bound: str


def composition(
    rows: Sequence[WaveTotal],
    delta: float,
    cap: float | None = None,
    public: Total | None = None,
) -> Part:
    """The section on waves, with its caveats.

    Parameters
    ----------
    rows : sequence of WaveTotal
        For each number of waves, as `analysis.planning.totals_of_waves` gives them at `delta`.
    delta : float
        At which all totals hold but the plain sum of ε that hold outright.
    cap : float, optional
        What a respondent may spend in total; drawn as a line.
    public : Total, optional
        What one wave tells those who see it mixed.
    """
    if not rows:
        return Part()
    figures = []
    if len(rows) > 1:
        caption = (
            "The lowest curve is what is proved; the others are larger bounds on the same. Those "
            "that are as large as the sum are not drawn."
        )
        figures.append(Figure(composition_chart(rows, cap), caption))
    known = [name for name in METHODS if any(getattr(row, name) is not None for row in rows)]
    cells = [
        [
            row.waves,
            rounded_up(row.charged, 4),
            *("–" if (v := getattr(row, name)) is None else rounded_up(v, 4) for name in known),
            rounded_up(row.epsilon, 4),
            ", ".join(METHODS.get(one, one) for one in row.method.split(";")),
            rounded_up(row.delta),
        ]
        for row in rows
    ]
    names = (METHODS[name] for name in known)
    columns = ["Waves", "Charged", *names, "Shown in ledgers", "by", "with δ ="]
    note = (
        "ε in total of one respondent, all questions, rounded up. Charged: what is compared with "
        f"the cap. All methods but the plain sum hold at δ = {delta:g}; the smallest is what "
        "ledgers show."
    )
    texts = [*_CAVEATS]
    if public is not None and public.method == "shuffle":
        texts.append(
            "Those who see nothing but the mixed reports of one wave, as they are exported, learn "
            f"of each respondent at most ε = {rounded_up(public.epsilon)} at δ = {public.delta:g}, "
            "if all others' devices do what they should. That is the public's view, never the "
            "server's."
        )
    return Part(texts, figures, [Table("Total ε over waves", columns, cells, note)])


def half_widths_part(
    survey: Survey,
    planned: int,
    of_respondents: Sequence[Point],
    of_epsilon: Mapping[str, Sequence[Point]],
) -> Part:
    """The section of half-width charts.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    planned : int
        Respondents.
    of_respondents : sequence of Point
        Of `analysis.planning.curve_of_respondents`, a question after the other.
    of_epsilon : mapping
        By question what `analysis.planning.curve_of_epsilon` gives, of at most six numbers of
        respondents.
    """
    figures = [Figure(one) for one in respondents_charts(survey, of_respondents, planned)]
    for question in survey.questions:
        if of_epsilon.get(question.id):
            unit = survey.text(question.spec.get("unit", ""))
            drawn = epsilon_chart(question, of_epsilon[question.id], unit)
            figures.append(Figure(drawn, survey.text(question.spec["text"])))
    return Part(figures=figures)


def sample_part(survey: Survey, rows: Sequence[Sampled]) -> Part:
    """The section of simulated surveys, from what `analysis.planning.sample_run` gives."""
    drawn = sample_charts(survey, rows)
    figures = [
        Figure(drawn[question.id], survey.text(question.spec["text"]))
        for question in survey.questions
        if question.id in drawn
    ]
    return Part([_SAMPLES] if figures else [], figures)


def meaning_of(survey: Survey, question: Question) -> Meaning:
    """What a question's ε means: the first answer in words and pictures, all in a table."""
    rows = odds(question, survey.labels(question))
    first = rows[0]
    columns = [
        "Answer",
        "Of 100 who gave it",
        "Of 100 others",
        "Times as likely",
        *(f"Belief of {100 * prior:g} %, if seen / not" for prior in PRIORS),
    ]
    cells = []
    for _, found in groupby(rows, lambda row: (row.p, row.q, row.term == NO_ANSWER)):
        same = list(found)
        row, labels = same[0], [one.label for one in same]
        more = len(labels) - _NAMED
        named = "; ".join(labels[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
        cells.append(
            [
                named,
                of_100(row.p),
                of_100(row.q),
                f"{row.likelihood_ratio:.3g}",
                *(
                    f"{percent(row.posterior(prior))} / {percent(row.posterior(prior, seen=False))}"
                    for prior in PRIORS
                ),
            ]
        )
    return Meaning(
        title=survey.text(question.spec["text"]),
        epsilon=rounded_up(question.randomizer.epsilon, 4),
        row=first,
        count=of_100(first.p),
        own=icon_array(f"Of 100 people {first.who}: send {first.sends}", first.p),
        other_count=of_100(first.q),
        others=icon_array(f"Of 100 {first.others}: send {first.sends}", first.q),
        table=Table("What a report that speaks for an answer tells", columns, cells),
        bound=most_told(question),
    )


def who_else(survey: Survey, waves: int) -> Part:
    """The section on deployments, with one wave of the survey, and all, at their places."""
    wave, total = survey.charge / MICRO, spent_on([(survey, waves)]) / MICRO
    spent = {wave: "one wave", **({total: f"{waves} waves"} if waves > 1 else {})}
    own = {
        epsilon: f"ε = {rounded_up(epsilon, 4)}; unit: respondent, all questions, {often}; "
        "model: local"
        for epsilon, often in spent.items()
    }
    local = [row for row in deployments() if row.model == "local" and row.epsilon is not None]
    rows = [(row.epsilon or 0.0, [_name(row), row.spent]) for row in local]
    rows += [(epsilon, ["This survey", text]) for epsilon, text in own.items()]
    rows.sort(key=lambda row: row[0])
    texts = [
        "The same ε of another unit or model is something else: one report is less than a "
        "lifetime, and in the central model somebody holds the true data."
    ]
    columns = ["Deployment", "Spent, on what unit, in which model"]
    strong = [place for place, (epsilon, _) in enumerate(rows) if epsilon in own]
    shown = [row for row in deployments() if row not in local]
    note = (
        "Compiled from the Differential Privacy Deployments Registry (OpenDP and NIST; MIT "
        "license), D. Desfontaines' list of real-world uses of differential privacy, and the "
        "publications."
    )
    return Part(
        texts,
        tables=[
            Table("Local model, by ε", columns, [row for _, row in rows], note, strong),
            Table("Other models", columns, [[_name(row), row.spent] for row in shown], folded=True),
        ],
    )


def _name(row: Deployment) -> str:
    return f"{row.name} ({row.organization}, {row.year})"


def cell(value: Any) -> str:
    """A value of a table as it is read."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown(key: str, value: Any) -> Any:
    if isinstance(value, float) and "epsilon" in key:
        return rounded_up(value, 4)
    return percent(value) if isinstance(value, float) and key == "power" else value


def _kind(cells: Sequence[str]) -> str:
    if any(len(cell) > _LONG for cell in cells):
        return "text"
    return (
        "number" if all(cell in ("–", "") or re.search(r"\d", cell) for cell in cells) else "word"
    )
