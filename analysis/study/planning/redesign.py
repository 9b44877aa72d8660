"""A question as it would be with another ε, or if it were required."""

from fractions import Fraction

from analysis.core.memory import forever_of
from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.selection import choose, compile_as
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.survey import wishes_of


def is_best(question: Question) -> bool:
    """Whether its mechanism is the one that is chosen where the author names none."""
    epsilon = Fraction(repr(question.spec["epsilon"]))
    if question.mechanism.parameters is not None:
        return False
    wishes, forever = wishes_of(question.spec), forever_of(question.spec)
    return choose(question.domain, epsilon, wishes, forever)[0] is question.mechanism


def with_epsilon(question: Question, epsilon: Fraction, mechanism: Mechanism | None) -> Question:
    """One wave of the question at another ε, by this mechanism, or the best; without a memory.

    A memory changes nothing of what one wave tells (`analysis.mechanisms.two_stages`).

    Raises
    ------
    TooCoarse
        If 32-bit weights cannot serve it so.
    """
    wishes = wishes_of(question.spec)
    if mechanism is None:
        mechanism, randomizer = choose(question.domain, epsilon, wishes)
    else:
        randomizer = mechanism.compile(question.domain, epsilon, wishes)
    return Question(
        question.spec | {"epsilon": float(epsilon), "mechanism": {"name": mechanism.name}},
        randomizer,
    )


def required(question: Question) -> Question:
    """The question without no-answer, by the same mechanism, at the same ε, without a memory."""
    spec = question.spec | {"no_answer": False}
    domain = KINDS[spec["kind"]].domain(spec)
    epsilon = Fraction(repr(spec["epsilon"]))
    return Question(spec, compile_as(question.mechanism, domain, epsilon, wishes_of(spec)))
