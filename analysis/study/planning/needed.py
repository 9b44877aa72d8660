"""The respondents, or the ε, that a wanted half-width takes."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.core.errors import check_positive
from analysis.core.memory import forever_of
from analysis.core.options import MOST_RESPONDENTS
from analysis.estimate.precision.check import check_respondents
from analysis.mechanisms.selection import choose
from analysis.study.planning.check import OutOfReach
from analysis.study.planning.half_width import expected
from analysis.study.planning.redesign import is_best, with_epsilon
from analysis.survey.question import Question
from analysis.survey.survey import wishes_of

_TOO_MANY = f"half_width takes more than {MOST_RESPONDENTS} respondents: expected a larger one"
#: The relative precision of respondents if half-widths are averages over drawn tallies.
_DRAWN = 0.002
#: The number of ε of three digits for each power of ten, from 1.00 on.
_DIGITS = 900
#: The number of guesses of respondents, before the range is halved instead. Mostly six are enough.
_GUESSES = 40


def respondents_for(
    question: Question,
    half_width: float,
    confidence_level: float = 0.95,
    truth: Mapping[str, float] | None = None,
    *,
    rng: Generator,
) -> int:
    """Return the least number of respondents with at most this expected half-width.

    If the half-width is a sum over all counts (`analysis.study.planning.share_width`), one
    respondent fewer has a larger half-width. With evenly spaced counts that is right within .1 %,
    and with drawn tallies within .5 %. Fewer may be enough at an ε far below 1, where half-widths
    are a large part of the range, and rise and fall as counts become whole.

    Parameters
    ----------
    question, confidence_level, truth, rng
        See `expected`. The state of `rng` is not changed.
    half_width : float
        The wanted half-width, in the unit of the estimate, above 0.

    Raises
    ------
    ValueError
        If `half_width` is not above 0, or if more than `MOST_RESPONDENTS` are needed.
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
    """Return an n at which a ratio that falls about as 1/√n is at most 1, while it is not at n - 1.

    With `near`, the ratio exceeds 1 at n less this fraction of n, rather than at n - 1. `start` is
    a guess of n. Raise `OutOfReach` with `message` if n is more than `MOST_RESPONDENTS`.
    """
    low, high, n, turn = 0, 0, start, 0
    # Each step assumes that the ratio is C / √n, until both ends are known.
    while not high or high - low > max(1, near * high):
        there, turn = ratio(n), turn + 1
        low, high = (low, n) if there <= 1 else (n, high)
        # This goes slightly beyond the guess, so that the other end is found, too.
        guess = n * there**2 * (1.001 if there > 1 else 0.999)
        if turn > _GUESSES:
            # The ratio does not fall so, and guesses could advance by a thousandth for ever.
            guess = (low + high) / 2 if high else 2.0 * n
        elif high and low and high <= 1.2 * low:
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
    """Return the least ε of a report, in three digits, with at most this expected half-width.

    A question keeps its mechanism if it has a memory, or if the author named the mechanism.
    Otherwise it has the best mechanism at that ε.

    Parameters
    ----------
    question, confidence_level, truth, rng
        See `expected`. The state of `rng` is not changed.
    half_width : float
        The wanted half-width, in the unit of the estimate, above 0.
    respondents : int
        The number of respondents, at least 1.

    Raises
    ------
    ValueError
        If no ε is enough that 32-bit weights can serve and that is below `epsilon_forever`, or if
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
    epsilon = _least_epsilon(lambda epsilon: width(epsilon) / half_width, where, half_width)
    chosen = choose(question.domain, epsilon, wishes_of(question.spec))[0] if best else used
    if chosen is not used:
        # This is done once, since two mechanisms that are equally good could alternate forever.
        used = chosen
        epsilon = _least_epsilon(lambda epsilon: width(epsilon) / half_width, where, half_width)
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
    # Half-widths fall about as 1/ε. So the search finds ends around 1, and then goes between them.
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
    """Return the index of the least ε of three digits that is not smaller; that of 1.00 is 0."""
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
