"""How many respondents, or how much ε, a wanted half-width takes."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.core.errors import check_positive
from analysis.core.memory import forever_of
from analysis.mechanisms.selection import choose
from analysis.study.planning.check import MOST_RESPONDENTS, OutOfReach, check_respondents
from analysis.study.planning.half_width import expected
from analysis.study.planning.redesign import is_best, with_epsilon
from analysis.survey.question import Question
from analysis.survey.survey import wishes_of

_TOO_MANY = f"half_width takes more than {MOST_RESPONDENTS} respondents: expected a larger one"
#: How near in respondents is near enough if half-widths are averages over drawn tallies.
_DRAWN = 0.002
#: ε of three digits, counted: 900 to each power of ten, the first 1.00.
_DIGITS = 900


def respondents_for(
    question: Question,
    half_width: float,
    confidence_level: float = 0.95,
    truth: Mapping[str, float] | None = None,
    *,
    rng: Generator,
) -> int:
    """Return the least number of respondents with an expected half-width of at most so much.

    Where the half-width is a sum over all counts (`analysis.study.planning.share_width`), it is
    larger with one fewer. With evenly spaced counts that holds within .1 %, with drawn tallies
    within .5 %. Fewer still may do at an ε far below 1, where half-widths are most of what is
    possible: there they rise and fall as counts become whole.

    Parameters
    ----------
    question, confidence_level, truth, rng
        See `expected`; `rng` is left as it was.
    half_width : float
        In the unit of the estimate, above 0.

    Raises
    ------
    ValueError
        If it is no such number, or more than `MOST_RESPONDENTS` would be needed.
    """
    check_positive(half_width, "half_width")

    def width(n: int) -> float:
        return expected(question, n, confidence_level, truth, rng=rng).half_width

    domain = question.domain
    shares = question.mechanism.shares(question.randomizer, domain).values
    exact = bool(shares) and domain.estimand is Estimand.SHARES
    return least(lambda n: width(n) / half_width, 0.0 if exact else _DRAWN)


def least(
    ratio: Callable[[int], float], near: float = 0.0, start: int = 1000, message: str = _TOO_MANY
) -> int:
    """Return an n at which a ratio that falls about as 1/√n is at most 1; not with one fewer.

    `near` is a part of n: with so many fewer, instead of one, the ratio is above 1. `start` is a
    guess of n. Raise `OutOfReach` with `message` if n is more than `MOST_RESPONDENTS`.
    """
    low, high, n = 0, 0, start
    # Each step solves it as if the ratio were C / √n; then both ends are known.
    while not high or high - low > max(1, near * high):
        there = ratio(n)
        low, high = (low, n) if there <= 1 else (n, high)
        # A little further than the guess, so that the other end is found too.
        guess = n * there**2 * (1.001 if there > 1 else 0.999)
        if high and low and high <= 1.2 * low:
            guess = (low + high) / 2
        top = high - 1 if high else 2 * MOST_RESPONDENTS
        n = min(max(round(guess), low + 1), max(top, low + 1))
        if low >= MOST_RESPONDENTS:
            raise OutOfReach(message)
        if not high:
            n = min(n, MOST_RESPONDENTS)
    return high


def epsilon_for(
    question: Question,
    half_width: float,
    respondents: int,
    confidence_level: float = 0.95,
    truth: Mapping[str, float] | None = None,
    *,
    rng: Generator,
) -> Fraction:
    """Return the least ε of a report, of three digits, with at most such an expected half-width.

    A question keeps its mechanism if it has a memory, or the author named the mechanism; else it
    has the best at that ε.

    Parameters
    ----------
    question, confidence_level, truth, rng
        See `expected`; `rng` is left as it was.
    half_width : float
        In the unit of the estimate, above 0.
    respondents : int
        At least 1.

    Raises
    ------
    ValueError
        If no ε is enough that 32-bit weights can serve, or that is below `epsilon_forever`, or if
        the question's mechanism takes no ε.
    """
    check_positive(half_width, "half_width")
    check_respondents(respondents)
    forever = forever_of(question.spec)
    best = forever is None and is_best(question)
    used = question.mechanism
    if used.parameters is not None:
        raise OutOfReach(f"{used.name} takes its epsilon from its own parameters")

    def width(epsilon: Fraction) -> float:
        redesigned = with_epsilon(question, epsilon, used)
        return expected(redesigned, respondents, confidence_level, truth, rng=rng).half_width

    where = f'question "{question.id}"'
    while True:
        epsilon = _least_epsilon(lambda epsilon: width(epsilon) / half_width, where, half_width)
        chosen = used
        if best:
            chosen, _ = choose(question.domain, epsilon, wishes_of(question.spec))
        if chosen is used:
            break
        # Two that are as good as each other must not take turns for ever.
        used, best = chosen, False
    if forever is not None and epsilon >= forever:
        raise OutOfReach(
            f"{where}: half_width {half_width:g} takes epsilon {float(epsilon):g}, which must be "
            f"less than epsilon_forever {float(forever):g}"
        )
    return epsilon


def _least_epsilon(ratio: Callable[[Fraction], float], where: str, half_width: float) -> Fraction:
    """Return the least ε of three digits at which a falling ratio is at most 1."""
    low, high = index_of(SMALLEST) - 1, index_of(LARGEST)
    known: dict[int, float] = {}

    def at(index: int) -> float:
        if index not in known:
            try:
                known[index] = ratio(epsilon_at(index))
            except TooCoarse:
                known[index] = float("inf")
        return known[index]

    if not at(high) <= 1:
        raise OutOfReach(
            f"{where}: half_width must be at least {at(high) * half_width:.3g}, which epsilon "
            f"{float(LARGEST):g} gives, got {half_width:g}"
        )
    # Half-widths fall about as 1/ε: so ends are looked for around 1, and then between them.
    index = index_of(Fraction(1))
    while high - low > 1:
        there = at(index)
        low, high = (low, index) if there <= 1 else (index, high)
        if 0.2 < there < 5 and high - low > 8:
            guess = float(epsilon_at(index)) * there
            near = index_of(Fraction(guess)) + (2 if there > 1 else -2)
            index = near if low < near < high else (low + high) // 2
        else:
            index = (low + high) // 2
    return epsilon_at(high)


def index_of(epsilon: Fraction) -> int:
    """Return the index of the least ε of three digits that is at least so much: 1.00 has 0."""
    power, scaled = 0, epsilon
    while scaled >= 10:
        power, scaled = power + 1, scaled / 10
    while scaled < 1:
        power, scaled = power - 1, scaled * 10
    return power * _DIGITS + -int(-scaled * 100 // 1) - 100


def epsilon_at(index: int) -> Fraction:
    """Return the ε of three digits with an index."""
    power, digits = divmod(index, _DIGITS)
    return Fraction(digits + 100) * Fraction(10) ** (power - 2)
