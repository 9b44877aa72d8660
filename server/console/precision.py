"""How precise the results of a survey are, and will be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.core.domain import Estimand
from analysis.study.planning import half_widths
from analysis.study.verdict import half_width
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.stored_results import StoredWave


@dataclass(frozen=True)
class Precision:
    """The precision of a question: half its widest interval now, planned, and asked directly."""

    text: str
    now: str
    planned: list[str]
    direct: str


def precision(
    survey: Survey, respondents: Sequence[int], wave: StoredWave | None
) -> list[Precision]:
    """Return how precise each question is with the reports that are shown, and will be.

    What it will be is given for each number of `respondents`; if asked directly, for the first.
    """
    widths = {}
    if wave is not None and wave.shown:
        # Half-widths are those of shares and means, so the slow quartiles are not needed.
        rows = wave.estimates(0.95, spread=False)
        for question in survey.questions:
            mine = [row for row in rows if row.question == question.id]
            widths[question.id] = half_width(question, mine)
    plans = [planned(survey, n) for n in respondents]
    return [
        Precision(
            survey.wording(question),
            told(survey, question, widths.get(question.id)),
            [told(survey, question, plan[place][0]) for plan in plans],
            told(survey, question, plans[0][place][1]),
        )
        for place, question in enumerate(survey.questions)
    ]


def told(survey: Survey, question: Question, width: float | None) -> str:
    """Return half of an interval in words: in points, or in a number's unit."""
    if width is None:
        return "–"
    if question.domain.estimand is Estimand.MEAN:
        number = f"{width:,.0f}" if width >= 1000 else f"{width:.3g}"
        return f"± {number} {survey.text(question.spec.get('unit', ''))}".rstrip()
    points = round(100 * min(width, 1))
    if not points and width:
        return "less than ± 1 point"
    return f"± {points} point{'s' * (points != 1)}"


#: Half-widths above these points show little: a share of 30 % could be 15 % or 45 %.
LITTLE = 15


def is_little(question: Question, width: float | None) -> bool:
    """Return whether half of an interval is so wide that the results show little."""
    if width is None:
        return False
    part = width / question.domain.span
    return 100 * part > LITTLE if question.domain.estimand is Estimand.SHARES else part > 0.15


#: A cache of plans, by version and respondents: some questions take tenths of a second.
_KNOWN: dict[tuple[str, int], list[tuple[float, float]]] = {}


def planned(survey: Survey, respondents: int) -> list[tuple[float, float]]:
    """Return for each question what `deniable plan` prints: half-widths, also if asked directly."""
    key = survey.version, respondents
    if key not in _KNOWN:
        if len(_KNOWN) >= 100:
            _KNOWN.clear()
        rng = np.random.default_rng(0)
        _KNOWN[key] = [half_widths(each, respondents, rng=rng) for each in survey.questions]
    return _KNOWN[key]


#: Keys of a question that its precision does not depend on.
_WORDS = ("id", "text", "help", "section", "reason", "image", "matrix", "shows_if", "new_page")
#: A cache of quick answers, by everything that they depend on.
_QUICK: dict[tuple[object, ...], tuple[float, float]] = {}


def quick(question: Question, respondents: int) -> tuple[float, float]:
    """Return half-widths of a question, also if asked directly, while it is being written.

    They are those of `half_widths`, remembered for all questions that are randomized alike.
    """
    spec = {key: value for key, value in question.spec.items() if key not in _WORDS}
    if "options" in spec:
        spec["options"] = len(spec["options"])
    # A question of one draw depends on the others of its table.
    key = (repr(spec), question.randomizer.charge, question.table, respondents)
    if question.table is not None or key not in _QUICK:
        if len(_QUICK) >= 5000:
            _QUICK.clear()
        _QUICK[key] = half_widths(question, respondents, rng=np.random.default_rng(0))
    return _QUICK[key]
