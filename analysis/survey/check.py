"""The facts about each question for its author before publishing: mechanism, ε, and cost."""

from dataclasses import dataclass
from fractions import Fraction

from analysis.core.domain import Estimand
from analysis.core.epsilon import MICRO
from analysis.core.memory import forever_of
from analysis.mechanisms.selection import Candidate, candidates, poisoning, variance
from analysis.survey.joint_draw import JointDraw
from analysis.survey.question import Question
from analysis.survey.survey import FORMATS, Survey, wishes_of

#: The most letters of a text without candidates that can be published. Nobody writes the same long
#: text as somebody else, so none would be found.
LONGEST_OPEN = 64

#: The reasons for a mechanism that does not have the least variance.
_WHY = ("named by the author", "drawn with others")


@dataclass(frozen=True)
class Check:
    """The facts about one question. Its fields are the columns of the table that `check` prints.

    `odds` is e^ε: the probability of a set of reports under one answer is at most that many times
    its probability under another. `variance` is that of one report, by
    `selection.variance`. `why` says whether it is the least. `runner_up` names the best other
    mechanism, and by what factor it would take more respondents for the same variance. `saving` is
    that factor as a number, infinite if there is no other. One fake report can weigh as much as
    `poisoning` honest people. `steps` is the number of equal steps to which a number is rounded;
    None for other kinds. `remark` is what the author must know about the mechanism's choices; empty
    if nothing.
    """

    question: str
    kind: str
    mechanism: str
    epsilon: float
    odds: float
    no_answer: str
    encoder: str
    channel: str
    variance: float
    why: str
    runner_up: str
    saving: float
    poisoning: float
    steps: int | None
    remark: str


def refusals(survey: Survey) -> list[str]:
    """Return why a survey cannot be published, although its file can be read.

    This holds in new formats alone, and not for what is published already: a wave that runs goes
    on.
    """
    return [
        f'question "{question.id}": longest must be at most {LONGEST_OPEN} without candidates, got '
        f"{question.spec['longest']}: free prose cannot be randomized: ask a question with options "
        "instead"
        for question in survey.questions
        if survey.format > FORMATS[0]
        and question.domain.is_open
        and question.spec["longest"] > LONGEST_OPEN
    ]


def check(survey: Survey) -> list[Check]:
    """Return a row for each question of a frozen survey, in its order."""
    return [_check(question, survey.joint_draw_of(question)) for question in survey.questions]


def _check(question: Question, joint: JointDraw | None) -> Check:
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    spec = question.spec
    asked = wishes_of(spec)
    wishes = {key: value for key, value in asked.items() if key in ("aim", "prior")}
    chosen = variance(mechanism, randomizer, domain, wishes)
    # For a draw of several questions, the alternative is a draw for each, with the same total.
    alone = Fraction(repr(spec["epsilon"])) if joint is None else joint.share_of_each
    if randomizer.limit is not None:
        alone = Fraction(randomizer.charge, MICRO)  # which is more than the stated ε
    fitting = candidates(domain, alone, wishes, forever_of(spec))
    others = [other for other in fitting if other.mechanism is not mechanism]
    saving = others[0].variance / chosen if others else float("inf")
    least = all(chosen <= other.variance for other in others)
    return Check(
        question=question.id,
        kind=spec["kind"],
        mechanism=mechanism.name,
        epsilon=randomizer.epsilon,
        odds=float(randomizer.ratio),
        no_answer="yes" if spec["no_answer"] else "no",
        encoder=randomizer.encoder.name,
        channel=randomizer.channel.name,
        variance=chosen,
        why=f"least variance of {len(others) + 1}" if least else _WHY[joint is not None],
        runner_up=f"{_named(others[0], joint)}: {saving:.3g} × the respondents" if others else "",
        saving=saving,
        poisoning=float(f"{poisoning(mechanism, randomizer, domain):.4g}"),
        steps=randomizer.encoder.steps if domain.estimand is Estimand.MEAN else None,
        remark=mechanism.remark(domain, Fraction(repr(spec["epsilon"])), asked),
    )


def _named(other: Candidate, joint: JointDraw | None) -> str:
    """Return the name of another mechanism, and for a separate draw the ε that it would have."""
    if joint is None:
        return other.mechanism.name
    return f"{other.mechanism.name} alone at {float(joint.share_of_each):.3g}"
