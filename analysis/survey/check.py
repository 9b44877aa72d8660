"""What an author is told of each question before publishing: mechanism, ε, and at what price."""

from dataclasses import dataclass
from fractions import Fraction

from analysis.core.memory import forever_of
from analysis.mechanisms.selection import candidates, poisoning, variance
from analysis.survey.question import Question
from analysis.survey.survey import Survey, wishes_of


@dataclass(frozen=True)
class Check:
    """One question; the columns of the table that `check` prints.

    `odds` is e^ε: a set of reports is at most that many times as likely under one answer as under
    another, plus `delta`. `variance` is what `selection.variance` says of one report. `why` tells
    whether that is the least; `runner_up` the best of the others, with how many times as many
    respondents it would take for the same variance; `saving` is that factor as a number, infinite
    without another. `poisoning` is how many honest people one fake report can weigh in an estimate.
    """

    question: str
    kind: str
    mechanism: str
    epsilon: float
    delta: float
    odds: float
    no_answer: str
    encoder: str
    channel: str
    variance: float
    why: str
    runner_up: str
    saving: float
    poisoning: float


def check(survey: Survey) -> list[Check]:
    """A row for each question of a frozen survey, in its order."""
    return [_check(question) for question in survey.questions]


def _check(question: Question) -> Check:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    wishes = {key: one for key, one in wishes_of(question.spec).items() if key in ("aim", "prior")}
    own = variance(mechanism, randomizer, domain, wishes)
    others = [
        one
        for one in candidates(
            domain, Fraction(repr(question.spec["epsilon"])), wishes, forever_of(question.spec)
        )
        if one.mechanism is not mechanism
    ]
    saving = others[0].variance / own if others else float("inf")
    least = all(own <= one.variance for one in others)
    return Check(
        question=question.id,
        kind=question.spec["kind"],
        mechanism=mechanism.name,
        epsilon=randomizer.epsilon,
        delta=float(randomizer.delta),
        odds=float(randomizer.ratio),
        no_answer="yes" if question.spec["no_answer"] else "no",
        encoder=randomizer.encoder.name,
        channel=randomizer.channel.name,
        variance=own,
        why=f"least variance of {len(others) + 1}" if least else "named by the author",
        runner_up=(f"{others[0].mechanism.name}: {saving:.3g} × the respondents" if others else ""),
        saving=saving,
        poisoning=float(f"{poisoning(mechanism, randomizer, domain):.4g}"),
    )
