"""The precision of people's answers if randomized on devices, or if given to a curator."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from numpy.random import Generator

from analysis.core.errors import check_count, check_positive
from analysis.study.exploration.yes_no import yes_no
from analysis.study.planning import expected, plan, respondents_for
from analysis.study.planning.check import or_none
from analysis.study.planning.directly import curator_half_width, direct_half_width
from analysis.study.planning.needed import least

#: The level of intervals.
LEVEL = 0.95
#: The number of reports that finds the share at which intervals are widest, one half for any
#: number.
_USUAL = 1000


@dataclass(frozen=True)
class Precision:
    """Half of a 95 % interval of a yes-no question's share, at the share where it is widest.

    `local` is for devices that randomize their answers. `curator` is for a trusted person who has
    all answers and publishes counts with Laplace noise at the same ε. `direct` is without any
    noise.
    """

    respondents: int
    local: float
    curator: float
    direct: float


@dataclass(frozen=True)
class Needed:
    """The least numbers of respondents for a wanted `half_width`; see `Precision`.

    A number is None if more than a billion respondents are needed.
    """

    half_width: float
    local: int | None
    curator: int | None
    direct: int | None


def precision(epsilon: Decimal, respondents: int, *, rng: Generator) -> Precision:
    """Return the numbers of `plan` for a required yes-no question.

    Parameters
    ----------
    epsilon : Decimal
        The ε of one report, from 0.001 to 20.
    respondents : int
        The number of respondents, at least 1.
    rng : Generator
        An argument of `plan`. Nothing is drawn from it.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    (row,) = plan(yes_no(epsilon), respondents, confidence_level=LEVEL, rng=rng)
    assert row.half_width_curator is not None  # a yes-no question has counts
    return Precision(respondents, row.half_width, row.half_width_curator, row.half_width_direct)


def people_in(respondents: int, percent: Decimal) -> int:
    """Return the number of people of a percentage of all respondents, rounded, and at least 1.

    By hand: 10 % of 2,000 are 200; 1 % of 20 is one.
    """
    return max(1, round(check_count(respondents, "respondents") * percent / 100))


def needed(epsilon: Decimal, half_width: float, *, rng: Generator) -> Needed:
    """Return the least numbers of respondents for a half-width. With one fewer it is exceeded.

    Parameters
    ----------
    epsilon, rng
        See `precision`.
    half_width : float
        The wanted half-width, in (0, 0.5); 0.05 is ± 5 points.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    check_positive(half_width, "half_width")
    (question,) = yes_no(epsilon).questions
    worst = expected(question, _USUAL, LEVEL, rng=rng)

    def direct(n: int) -> float:
        return direct_half_width(question, worst, n, LEVEL)

    def curator(n: int) -> float:
        width = curator_half_width(question, direct(n), n, LEVEL)
        assert width is not None  # a yes-no question has counts
        return width

    return Needed(
        half_width,
        or_none(lambda: respondents_for(question, half_width, LEVEL, rng=rng)),
        _least(curator, half_width),
        _least(direct, half_width),
    )


def _least(width: Callable[[int], float], half_width: float) -> int | None:
    return or_none(lambda: least(lambda n: width(n) / half_width))
