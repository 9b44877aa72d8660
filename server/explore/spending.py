"""What `/explore` answers about spending ε: one draw, a cap, and what others spend."""

from collections.abc import Sequence
from decimal import Decimal

from analysis.charts import Mark, Series, line_chart, point_chart
from analysis.privacy.meaning import (
    Deployment,
    comparison,
    deployments,
    percent_at_most,
    rounded_up,
)
from analysis.study import exploration
from analysis.study.exploration import Query
from server.explore.fields import Wrong
from server.plan.parts import Figure, Part, Table

#: The δ of the totals that the playground shows beside sums.
_DELTA = 1e-6
#: The choice of all models.
_ALL = "all"


def draws(questions: Decimal, total: Decimal, each: Decimal) -> Part:
    """Return what one draw for several questions saves.

    Raises
    ------
    Wrong
        If the limit of one answer does not fit the total.
    """
    try:
        found = exploration.compare_draws(int(questions), total, each)
    except ValueError as error:
        raise Wrong(str(error)) from None
    n, one = found.questions, found.one
    known = [row for row in found.rows if row.share is not None]
    pairs = [row for row in found.rows if row.pair is not None]
    texts = [
        f"{n} yes-no questions cost ε = {total} together. With a draw for each, one question has "
        f"ε = {rounded_up(found.alone, 4)}. Then it takes {found.separate:,} people to know a "
        "share to ± 5 points.",
        f"One draw for all of them takes {_number(one.share)} people. Its total is the same. "
        f"Somebody who knows all other answers of a person learns at most ε = {each} about the "
        f"last one, instead of {rounded_up(found.alone, 4)}.",
    ]
    if one.share_saving >= 1:
        texts.append(
            f"So one draw needs {one.share_saving:.2g} times fewer people for a share, and "
            f"{one.pair_saving:.2g} times fewer for the share of a pair of answers."
        )
    else:
        texts.append("At this limit, separate draws are the better choice for shares.")
    texts.append(
        "These numbers follow the normal law. Exact numbers, like those above, are a few percent "
        "larger."
    )
    return Part(
        texts,
        [
            Figure(
                line_chart(
                    f"Respondents of one draw for {n} questions, total ε = {total}",
                    [
                        Series("a share", [(row.epsilon_each, row.share) for row in known]),
                        Series("a pair", [(row.epsilon_each, row.pair) for row in pairs]),
                    ],
                    "ε of one answer, for whoever knows the others",
                    "people for ± 5 points",
                    log_x=True,
                    log_y=True,
                    marks=[
                        Mark(f"limit {each}", x=float(each)),
                        Mark("separate", y=found.separate),
                    ],
                ),
                "The line is what separate draws take for a share.",
            )
        ],
        [
            Table(
                "People for ± 5 points, by the limit of one answer",
                ["ε of one answer", "a share", "a pair", "share: times fewer", "pair: times fewer"],
                [
                    [
                        rounded_up(row.epsilon_each, 4),
                        _number(row.share),
                        _number(row.pair),
                        f"{row.share_saving:.3g}",
                        f"{row.pair_saving:.3g}",
                    ]
                    for row in found.rows
                ],
                strong=[found.rows.index(one)],
                folded=True,
            )
        ],
    )


def _number(people: int | None) -> str:
    return "–" if people is None else f"{people:,}"


def budget(cap: Decimal, epsilons: Sequence[Decimal]) -> Part:
    """Return what is left of a cap after each query, until one is refused."""
    queries = exploration.spend_cap(cap, epsilons, _DELTA)
    if not queries:
        return Part([f"Nothing is spent of the cap of ε = {cap}. Ask something."])
    last = queries[-1]
    refused = [place for place, query in enumerate(queries) if not query.is_accepted]
    accepted = len(queries) - len(refused)
    texts = [
        f"{accepted} of {len(queries)} queries were answered. They spent ε = {_plain(last.spent)} "
        f"of {cap}; ε = {_plain(last.left)} is left.",
        "All answers together can move a belief of 50 % to "
        f"{percent_at_most(last.belief)} at most.",
    ]
    if refused:
        first = queries[refused[0]]
        texts.insert(
            1,
            f"Query {refused[0] + 1} asked for ε = {_plain(first.epsilon)}, but only "
            f"{_plain(first.left)} was left. It was refused, and cost nothing. A smaller one can "
            "still fit.",
        )
    left = [(0.0, float(cap)), *((place, float(q.left)) for place, q in enumerate(queries, 1))]
    return Part(
        texts,
        [
            Figure(
                line_chart(
                    f"ε left of a cap of {cap} after each query",
                    [Series("left", left)],
                    "queries",
                    "ε left",
                    marks=[Mark("cap", y=float(cap))],
                ),
                "Where the line stays level, a query was refused.",
            )
        ],
        [
            Table(
                "What each query cost",
                ["Query", "ε", "Answered", "Spent in all", "Left", "Proved of all"],
                [_row(place, query) for place, query in enumerate(queries, 1)],
                "The cap counts the sum. Proved of all is the smallest total that is proved of the "
                f"answered ones together, with a δ of one in {round(1 / _DELTA):,} where it is "
                "smaller than the sum.",
                strong=refused,
            )
        ],
    )


def _row(place: int, query: Query) -> list[str]:
    return [
        str(place),
        _plain(query.epsilon),
        "yes" if query.is_accepted else "refused",
        _plain(query.spent),
        _plain(query.left),
        rounded_up(query.told.epsilon, 4),
    ]


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def spent_elsewhere(epsilon: Decimal, model: str) -> Part:
    """Return what deployments of a model spend, beside an ε."""
    rows = [row for row in deployments() if model in (row.model, _ALL)]
    stated = [row for row in rows if row.epsilon is not None]
    near = comparison(float(epsilon), "local" if model == _ALL else model)
    texts = [
        "An ε means nothing without its unit and its model. One answer is less than a day, and a "
        "day is less than a life. In the local model nobody holds true answers; in the central "
        "model somebody does. Only the same unit in the same model can be compared.",
        f"Beside ε = {epsilon}: {_near('as much or less', near.below)}; "
        f"{_near('more', near.above)}.",
    ]
    return Part(
        texts,
        [
            Figure(
                point_chart(
                    "Published ε, each of its own unit and model",
                    [(row.name, f"{row.model}; {row.unit}", row.epsilon or 0.0) for row in stated],
                    "ε, of each one's own unit",
                    (f"ε = {epsilon}", float(epsilon)),
                ),
                "Below each name stand its model and its unit.",
            )
        ],
        [
            Table(
                "Deployments, with unit, model and source",
                ["Deployment", "Spent", "Unit", "Model", "Source"],
                [
                    [f"{row.name} ({row.organization}, {row.year})", _spent(row), row.unit,
                     row.model, row.source]
                    for row in rows
                ],
                "Compiled from the Differential Privacy Deployments Registry (OpenDP and NIST; MIT "
                "license), D. Desfontaines' list of real-world uses of differential privacy, and "
                "the publications.",
                folded=True,
            )
        ],
    )  # fmt: skip


def _near(what: str, rows: Sequence[Deployment]) -> str:
    if not rows:
        return f"none spends {what}"
    named = ", ".join(f"{row.name} (ε = {row.epsilon:g}; {row.unit})" for row in rows)
    come = "comes" if len(rows) == 1 else "come"
    return f"of those that spend {what}, {named} {come} nearest"


def _spent(row: Deployment) -> str:
    if row.epsilon is None:
        return f"ρ = {row.rho:g}"
    return f"ε = {row.epsilon:g}" + (f", δ = {row.delta:g}" if row.delta else "")
