"""What `/explore` answers about precision: how many people, on their own devices or otherwise."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from analysis.charts import Mark, Series, line_chart
from analysis.privacy.accounting import Total, group
from analysis.privacy.meaning import percent_at_most, rounded_up, strongest_posterior
from analysis.study import exploration
from analysis.study.exploration import Needed, Precision
from analysis.survey.batches import SMALLEST_BATCH, SMALLEST_MINIMUM, Steps
from server.plan.parts import Figure, Part, Table

#: The numbers of respondents at which half-widths are drawn.
_RESPONDENTS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
#: The sizes of groups at which half-widths are drawn, in percent of all respondents.
_PARTS = (2, 5, 10, 20, 30, 50, 100)
#: People who share an answer, such as a household.
_SHARERS = (1, 2, 3, 4, 5)
#: A plan of a yes-no question draws nothing at random, but plans take a generator.
_RNG = np.random.default_rng(0)


def precision(epsilon: Decimal, respondents: Decimal, points: Decimal) -> Part:
    """Return how precise this many answers are, and how many are needed."""
    n, width = int(respondents), float(points) / 100
    here = _of_people(epsilon, n)
    needed = _needed(epsilon, width)
    curve = _curve(epsilon)
    listed = sorted({*curve, here}, key=_number)
    return Part(
        [
            f"{n:,} people answer a yes-no question. At ε = {epsilon}, the share of “yes” is known "
            f"to {_points(here.local)}. That is half of a 95 % interval, where it is widest.",
            "If a trusted curator held the true answers, and added noise to the totals alone, it "
            f"would be {_points(here.curator)}. If people were asked directly, it would be "
            f"{_points(here.direct)}.",
            f"For ± {points} points it takes {_people(needed.local)} on their own devices, "
            f"{_people(needed.curator)} with a curator, {_people(needed.direct)} asked directly.",
        ],
        [
            Figure(
                _chart(
                    f"Half-width against respondents, at ε = {epsilon}",
                    "respondents",
                    curve,
                    ("local", "curator", "direct"),
                    [Mark(f"n = {n:,}", x=n), Mark(f"± {points}", y=width)],
                ),
                "Devices randomize; a curator knows all answers, and can lose them.",
            )
        ],
        [
            Table(
                "Half of the 95 % interval, in points",
                ["Respondents", "On devices", "With a curator", "Asked directly"],
                [_row(row) for row in listed],
                strong=[listed.index(here)],
                folded=True,
            )
        ],
    )


def groups(epsilon: Decimal, respondents: Decimal, part: Decimal, points: Decimal) -> Part:
    """Return how precise the answers of a part of all respondents are, and who hides whom."""
    n, width, steps = int(respondents), float(points) / 100, Steps()
    size = exploration.people_in(n, part)
    here = _of_people(epsilon, size)
    least = _needed(epsilon, width).local
    sizes = sorted({exploration.people_in(n, Decimal(one)) for one in _PARTS} | {size})
    curve = [_of_people(epsilon, one) for one in sizes]
    shared = [group(Total(float(epsilon)), people) for people in _SHARERS]
    return Part(
        [
            f"{part} % of {n:,} people are a group of {size:,}. At ε = {epsilon}, the share of "
            f"“yes” in this group is known to {_points(here.local)}. Asked directly, it would be "
            f"{_points(here.direct)}.",
            f"For ± {points} points a group needs {_people(least)}. Which group somebody is in "
            "must be known, by separate links for example. If it is a randomized answer itself, a "
            "group needs several times as many.",
            f"The program shows nothing of fewer than {steps.minimum} reports, and then at least "
            f"{steps.batch} more at a time. A survey can set other numbers, but none below "
            f"{SMALLEST_MINIMUM} and {SMALLEST_BATCH}. Otherwise, whoever looks before and after "
            "one report would see that report.",
            f"People who share an answer hide less. If five people of a household answer alike, "
            f"their reports together reveal ε = {rounded_up(shared[-1].epsilon, 4)} about it.",
        ],
        [
            Figure(
                _chart(
                    f"Half-width in a group against its size, at ε = {epsilon}",
                    "people in the group",
                    curve,
                    ("local", "direct"),
                    [Mark(f"group of {size:,}", x=size), Mark(f"± {points}", y=width)],
                ),
                "A group of a quarter as many people has about twice the half-width.",
            )
        ],
        [
            Table(
                "Half of the 95 % interval in a group, in points",
                ["People in the group", "On devices", "With a curator", "Asked directly"],
                [_row(row) for row in curve],
                strong=[curve.index(here)],
                folded=True,
            ),
            Table(
                "People who share one answer",
                ["People", "ε of their reports together", "A belief of 50 % becomes at most"],
                [
                    [
                        str(people),
                        rounded_up(total.epsilon, 4),
                        percent_at_most(strongest_posterior(0.5, total.epsilon)),
                    ]
                    for people, total in zip(_SHARERS, shared, strict=True)
                ],
                folded=True,
            ),
        ],
    )


#: How curves are named: who randomizes, or that nobody does.
_NAMES = {"local": "devices", "curator": "a curator", "direct": "directly"}


def _chart(
    title: str, x_label: str, curve: Sequence[Precision], kinds: Sequence[str], marks: list[Mark]
) -> str:
    """Return half-widths against numbers of people, a curve for each of these kinds."""
    return line_chart(
        title,
        [
            Series(_NAMES[kind], [(row.respondents, getattr(row, kind)) for row in curve])
            for kind in kinds
        ],
        x_label,
        "half of the 95 % interval",
        log_x=True,
        log_y=True,
        y_unit="%",
        marks=marks,
    )


def _number(row: Precision) -> int:
    return row.respondents


def _row(row: Precision) -> list[str]:
    widths = (row.local, row.curator, row.direct)
    return [f"{row.respondents:,}", *(f"{100 * width:.2f}" for width in widths)]


def _points(width: float) -> str:
    """Return half of an interval in points."""
    return f"± {100 * width:.3g} points"


def _people(number: int | None) -> str:
    return "more than a billion people" if number is None else f"{number:,} people"


@lru_cache(maxsize=64)
def _curve(epsilon: Decimal) -> Sequence[Precision]:
    return [_of_people(epsilon, n) for n in _RESPONDENTS]


@lru_cache(maxsize=256)
def _needed(epsilon: Decimal, width: float) -> Needed:
    return exploration.needed(epsilon, width, rng=_RNG)


@lru_cache(maxsize=1024)
def _of_people(epsilon: Decimal, respondents: int) -> Precision:
    return exploration.precision(epsilon, respondents, rng=_RNG)
