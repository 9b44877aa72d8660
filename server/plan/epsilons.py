"""Sections of a plan about ε: its meaning, its total over waves, and other deployments'."""

from collections.abc import Sequence
from itertools import groupby

from analysis.charts import icon_array
from analysis.core.domain import NO_ANSWER
from analysis.core.epsilon import MICRO, micro
from analysis.privacy.accounting import Total
from analysis.privacy.meaning import (
    PRIORS,
    Deployment,
    deployments,
    most_told,
    odds,
    of_100,
    percent,
    percent_at_most,
    rounded_up,
    strongest_posterior,
)
from analysis.study.planning import WaveTotal, public_view
from analysis.survey.joint_draw import JointDraw
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on
from server.plan import tables
from server.plan.parts import Figure, Meaning, Part, Table
from server.plan.pictures import METHODS, composition_chart, telling_methods
from server.plan.tables import Asked

#: How many answers are named where reports support all of them equally well.
_NAMED = 6

_MEANING = (
    "A report is drawn by chance, so it is not the answer. A report reveals little about one "
    "person if people with another answer send the same report nearly as often. The tables show "
    "what becomes of a belief that somebody has a given answer, once a report that speaks for it "
    "is seen, and once another report is seen."
)

_CAVEATS = (
    "Devices and the server add up ε as the plain sum, and refuse a report that would exceed the "
    "cap. For questions with a memory they count what all their reports reveal together. Smaller "
    "totals say how little was revealed; they give no more budget.",
    "Totals are about somebody who knows which reports come from one person, as the server does.",
)


def meaning(asked: Asked) -> Part:
    """Return the section on what one report of each question reveals."""
    survey = asked.survey
    meanings = [_meaning_of(survey, question, asked.waves) for question in survey.questions]
    return Part([_MEANING], meanings=meanings)


def totals(asked: Asked) -> Part:
    """Return the section on what waves reveal together, and what the public sees of one."""
    public = public_view(asked.survey, asked.respondents, asked.delta)
    return composition(tables.totals(asked), asked.delta, asked.survey.cap / MICRO, public)


def composition(
    rows: Sequence[WaveTotal],
    delta: float,
    cap: float | None = None,
    public: Total | None = None,
) -> Part:
    """Return the totals of waves, with their caveats.

    Parameters
    ----------
    rows : sequence of WaveTotal
        What `analysis.study.planning.totals_of_waves` gives at `delta`.
    delta : float
        The δ at which all totals hold, except plain sums, which need none.
    cap : float, optional
        What a respondent may spend in total; drawn as a line.
    public : Total, optional
        What the first wave reveals to those who see only its mixed reports; shown if it is less.
    """
    if not rows:
        return Part()
    known = telling_methods(rows)
    figures = []
    if len(rows) > 1:
        caption = "All curves are proved bounds on the same total; the lowest is the best."
        if len(known) == 1:
            caption = "No method proves a smaller total than this."
        figures.append(Figure(composition_chart(rows, cap), caption))
    cells = [
        [
            row.waves,
            rounded_up(row.charged, 4),
            *("–" if (v := getattr(row, name)) is None else rounded_up(v, 4) for name in known),
            rounded_up(row.epsilon, 4),
            ", ".join(METHODS.get(name, name) for name in row.method.split(";")),
            rounded_up(row.delta),
        ]
        for row in rows
    ]
    names = (METHODS[name] for name in known)
    columns = ["Waves", "Charged", *names, "Shown in ledgers", "by", "with δ ="]
    note = (
        "The total ε of one respondent over all questions, rounded up. “Charged” is compared with "
        f"the cap. All methods except the plain sum hold at δ = {delta:g}. Those that give about "
        "the same as another one everywhere are left out. Ledgers show the smallest total, at the "
        "δ beside it."
    )
    texts = [*_CAVEATS]
    if public is not None and public.method == "shuffle" and public.epsilon < rows[0].epsilon:
        texts.append(
            "Somebody who sees only the mixed reports of one wave, as they are exported, learns at "
            f"most ε = {rounded_up(public.epsilon)} at δ = {public.delta:g} about each respondent, "
            "if all other devices do what they should. That is the public's view, never the "
            "server's."
        )
    return Part(texts, figures, [Table("Total ε over waves", columns, cells, note)])


def deployed(asked: Asked) -> Part:
    """Return the section that ranks one wave and all waves of the survey among deployments."""
    survey, waves = asked.survey, asked.waves
    spends = {spent_on([(survey, n)]) / MICRO: _spent(survey, n) for n in (1, waves)}
    local = [row for row in deployments() if row.model == "local" and row.epsilon is not None]
    rows = [(row.epsilon or 0.0, [_name(row), row.spent]) for row in local]
    rows += [(epsilon, ["This survey", text]) for epsilon, text in spends.items()]
    rows.sort(key=lambda row: row[0])
    texts = [
        "The same ε means something else in another unit or model: one report is less than a "
        "lifetime, and in the central model somebody holds the true data."
    ]
    columns = ["Deployment", "Spent, on what unit, in which model"]
    strong = [number for number, (epsilon, _) in enumerate(rows) if epsilon in spends]
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


def _spent(survey: Survey, waves: int) -> str:
    """Return what a respondent spends, in the words of `Deployment.spent`."""
    epsilon = spent_on([(survey, waves)]) / MICRO
    often = "one wave" if waves == 1 else f"{waves} waves"
    return f"ε = {rounded_up(epsilon, 4)}; unit: respondent, all questions, {often}; model: local"


def _name(row: Deployment) -> str:
    return f"{row.name} ({row.organization}, {row.year})"


def together(survey: Survey, question: Question, waves: int) -> str:
    """Return what all reports that depend on an answer reveal together; "" if there is only one."""
    told = survey.telling(question)
    if waves == 1 and len(told) == 1:
        return ""
    spent = sum(_spent_on(draw, told, waves) for draw in survey.draws) / MICRO
    others = ", ".join(other.id for other in told if other is not question)
    also = f", and on {others} (shown only after some of its answers)," if others else ""
    often = "in one wave" if waves == 1 else f"in {waves} waves"
    return (
        f" All reports on it {often}{also} together have ε = {rounded_up(spent, 4)}, "
        "which moves a belief of 50 % to "
        f"{percent_at_most(strongest_posterior(0.5, spent))} at most."
    )


def _spent_on(draw: Question | JointDraw, told: Sequence[Question], waves: int) -> int:
    """Return what a draw reveals about some questions in these waves, in millionths of ε."""
    ids = {question.id for question in told}
    part = [question for question in draw.questions if question.id in ids]
    if len(part) == len(draw.questions):
        return draw.spent(waves)
    return waves * micro(draw.ratio_of(part)) if part else 0


def _meaning_of(survey: Survey, question: Question, waves: int) -> Meaning:
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
    for _, group in groupby(rows, lambda row: (row.p, row.q, row.term == NO_ANSWER)):
        row, *others = group
        labels = [row.label, *(other.label for other in others)]
        more = len(labels) - _NAMED
        named = "; ".join(labels[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
        cells.append(
            [
                named,
                of_100(row.p),
                of_100(row.q),
                rounded_up(row.likelihood_ratio),
                *(
                    f"{percent(row.posterior(prior))} / {percent(row.posterior(prior, seen=False))}"
                    for prior in PRIORS
                ),
            ]
        )
    return Meaning(
        title=survey.wording(question),
        epsilon=rounded_up(question.randomizer.epsilon, 4),
        row=first,
        count=of_100(first.p),
        picture=icon_array(f"Of 100 people {first.who}: send {first.sends}", first.p),
        other_count=of_100(first.q),
        other_picture=icon_array(f"Of 100 {first.others}: send {first.sends}", first.q),
        table=Table("What a report that speaks for an answer reveals", columns, cells),
        bound=most_told(question) + together(survey, question, waves),
    )
