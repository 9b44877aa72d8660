"""Changed designs of questions: with another ε, or without no-answer."""

from fractions import Fraction

from analysis.core.memory import forever_of
from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.selection import choose, compile_as
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.survey import wishes_of


def is_best(question: Question) -> bool:
    """Return whether its mechanism is the one that is chosen if the author names none."""
    if question.mechanism.parameters is not None:
        return False
    epsilon = Fraction(repr(question.spec["epsilon"]))
    wishes, forever = wishes_of(question.spec), forever_of(question.spec)
    return choose(question.domain, epsilon, wishes, forever)[0] is question.mechanism


def with_epsilon(question: Question, epsilon: Fraction, mechanism: Mechanism | None) -> Question:
    """Return the question at another ε, with this mechanism or the best, and without a memory.

    With a memory, the law of one wave is the same (`analysis.mechanisms.two_stages`). Raise
    `TooCoarse` if 32-bit weights cannot serve it.
    """
    wishes = wishes_of(question.spec)
    if mechanism is None:
        mechanism, randomizer = choose(question.domain, epsilon, wishes)
    else:
        randomizer = mechanism.compile(question.domain, epsilon, wishes)
    changed = {"epsilon": float(epsilon), "mechanism": {"name": mechanism.name}}
    return Question(question.spec | changed, randomizer)


def required(question: Question) -> Question:
    """Return the question without no-answer or a memory, with the same mechanism and ε."""
    spec = question.spec | {"no_answer": False}
    domain = KINDS[spec["kind"]].domain(spec)
    epsilon = Fraction(repr(spec["epsilon"]))
    return Question(spec, compile_as(question.mechanism, domain, epsilon, wishes_of(spec)))
