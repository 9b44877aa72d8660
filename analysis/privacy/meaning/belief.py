"""How far a report moves a belief about an answer, by Bayes' rule on the actual channel.

    P[answer | report] = prior P[report | answer] / sum of this product over all answers
    at most, by ε alone:  prior e^ε / (1 + prior (e^ε - 1))

By hand: ε = ln 3 moves one half to at most 3/4, and ε = 5 moves it to at most 99.3 %. Nanayakkara
et al., "What are the chances?", USENIX Security 2023, give reasons to show this rather than a word
such as "strong" for an ε.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analysis.core.errors import check_positive, shown
from analysis.privacy.meaning.numerals import check_chance
from analysis.survey.question import Question

#: The beliefs before a report whose change is shown: two low ones, and an even one.
PRIORS = (0.01, 0.1, 0.5)


def chance(question: Question, report: Any, answer: str) -> float:
    """Return the probability of one wave's report under an answer, including that of its cohort.

    Parameters
    ----------
    question : Question
        A question of a frozen survey.
    report
        The report as it is sent.
    answer : str
        The answer as in a CSV cell. An empty text is no answer.

    Raises
    ------
    ReportError
        If the randomizer cannot make this report.
    ValueError
        If `answer` is not an answer to this question.
    """
    randomizer = question.randomizer
    randomizer.check_report(report, "report")
    read = randomizer.read_many([report])
    inputs = randomizer.encoder.chances(_value(question, answer), int(read.cohorts[0]))
    symbols, shares = zip(*inputs, strict=True)
    (logs,) = randomizer.channel.log_chances(read.drawn, symbols)
    whole = sum(float(part) * math.exp(log) for part, log in zip(shares, logs, strict=True))
    return whole / (randomizer.encoder.cohorts or 1)


def likelihood_ratio(question: Question, report: Any, one: str, other: str) -> float:
    """Return how many times as likely a report is under one answer as under another.

    It is at most e^ε. For a question with a δ it can be more, even for reports whose probability is
    far above δ. Parameters and errors are those of `chance`.
    """
    return _divided(chance(question, report, one), chance(question, report, other))


def posterior(question: Question, report: Any, prior: Mapping[str, float]) -> dict[str, float]:
    """Return the posterior probabilities of a respondent's answers, given one of their reports.

    Parameters
    ----------
    question, report
        As for `chance`.
    prior : mapping
        Probabilities of answers, which sum to 1. If a question has a list of answers and the prior
        names only one, the others share the rest evenly.

    Returns
    -------
    dict
        The probability of each answer. They sum to 1.

    Raises
    ------
    ReportError
        If the randomizer cannot make this report.
    ValueError
        If an answer is unknown, or if probabilities are outside 0..1 or do not sum to 1.
    """
    whole = _whole(question, prior)
    joint = {answer: p * chance(question, report, answer) for answer, p in whole.items()}
    total = sum(joint.values())
    return {answer: _divided(part, total) for answer, part in joint.items()}


def strongest_posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that any report can lead to.

    It is prior e^ε / (1 + prior (e^ε - 1)).

    Parameters
    ----------
    prior : float
        The probability that an answer is true, in 0..1, before the report.
    epsilon : float
        The ε of the report, or of several together, above 0. With a δ the result is not a bound: a
        report can lead to a stronger belief, with a probability above δ. Then take the ln of the
        largest ratio of a report's probabilities.

    Raises
    ------
    ValueError
        If `prior` is outside 0..1, or if `epsilon` is not a finite number above 0.
    """
    return updated(prior, 1.0, math.exp(-check_positive(epsilon)))


@dataclass(frozen=True)
class OddsRow:
    """One ε, its `odds` e^ε (infinite if too large), and the strongest posterior of each prior."""

    epsilon: float
    odds: float
    posteriors: tuple[float, ...]


def odds_table(epsilons: Sequence[float], priors: Sequence[float] = PRIORS) -> tuple[OddsRow, ...]:
    """Return a row for each ε, with the `strongest_posterior` of each prior."""
    return tuple(
        OddsRow(
            epsilon,
            math.exp(epsilon) if epsilon < 709 else math.inf,
            tuple(strongest_posterior(prior, epsilon) for prior in priors),
        )
        for epsilon in epsilons
    )


def updated(prior: float, if_true: Fraction | float, if_false: Fraction | float) -> float:
    """Return a belief after an event with these probabilities if it is true, and if it is false."""
    exact = check_chance(prior, "prior")
    if exact in (0, 1):
        return float(exact)  # no evidence moves it, however improbable the event
    joint = float(exact) * float(if_true)
    return _divided(joint, joint + float(1 - exact) * float(if_false))


def _divided(part: float, whole: float) -> float:
    """Return a quotient of probabilities; raise ValueError if they are too small for floats."""
    if whole == 0:
        raise ValueError("report is too improbable under these answers to calculate with")
    return part / whole


def _value(question: Question, answer: str) -> Any:
    """Return the value of an answer; raise ValueError with the question's id if it is unknown."""
    try:
        return question.value(answer)
    except ValueError as error:
        raise ValueError(f"{question.id}: expected {error}, got {shown(answer)}") from None


def _whole(question: Question, prior: Mapping[str, float]) -> dict[str, float]:
    """Return the prior, with probabilities of all other answers if it names a single one."""
    for answer, p in prior.items():
        check_chance(p, f"prior of {shown(answer)}")
    total = math.fsum(prior.values())
    if len(prior) == 1 and total < 1 and question.domain.alternatives:
        (answer,) = prior
        names = question.domain.alternatives
        named = names[_value(question, answer)]
        others = [name for name in names if name != named]
        return {**prior, **dict.fromkeys(others, (1 - total) / len(others))}
    if abs(total - 1) > 1e-9:
        raise ValueError(f"prior must sum to 1 over the answers, got {total:g}")
    return dict(prior)
