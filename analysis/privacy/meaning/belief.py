"""How far a report moves what somebody believes of an answer: Bayes' rule on the actual channel.

    P[answer | report] = prior P[report | answer] / sum over all answers of the same
    by ε alone: at most  prior e^ε / (1 + prior (e^ε - 1))

By hand: ε = ln 3 moves one half to at most 3/4; ε = 5 moves it to 99.3 %. Why that and not a word
such as "strong" for an ε: Nanayakkara et al., "What are the chances?", USENIX Security 2023.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analysis.core.errors import check_positive, shown
from analysis.privacy.meaning.numerals import check_chance
from analysis.survey.question import Question

#: Beliefs before a report whose change is shown: rare, not so rare, and no idea.
PRIORS = (0.01, 0.1, 0.5)


def chance(question: Question, report: Any, answer: str) -> float:
    """The probability of one wave's report under an answer; the draw of a cohort included.

    Parameters
    ----------
    question : Question
        Of a frozen survey.
    report
        As on the wire.
    answer : str
        As in a CSV cell; the empty one is no answer.

    Raises
    ------
    ReportError
        If the randomizer cannot make this report.
    ValueError
        If it is no answer to this question.
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
    """How many times as likely a report is under one answer as under another; at most e^ε.

    Of a question with δ it can be more, and for reports whose chance is far above δ. Parameters and
    errors as for `chance`.
    """
    return _divided(chance(question, report, one), chance(question, report, other))


def posterior(question: Question, report: Any, prior: Mapping[str, float]) -> dict[str, float]:
    """What is to be believed of one respondent's answer once one report of theirs is seen.

    Parameters
    ----------
    question, report
        As for `chance`.
    prior : mapping
        Probabilities of answers, which sum to 1. A single one of a question with a list of answers
        leaves the rest to all others evenly.

    Returns
    -------
    dict
        The probability of each answer; they sum to 1.

    Raises
    ------
    ReportError
        If the randomizer cannot make this report.
    ValueError
        If an answer is none, or probabilities are outside 0..1 or do not sum to 1.
    """
    whole = _whole(question, prior)
    joint = {answer: p * chance(question, report, answer) for answer, p in whole.items()}
    total = sum(joint.values())
    return {answer: _divided(part, total) for answer, part in joint.items()}


def strongest_posterior(prior: float, epsilon: float) -> float:
    """The most that any report can make of a belief: prior e^ε / (1 + prior (e^ε - 1)).

    Parameters
    ----------
    prior : float
        The probability that an answer is true, in 0..1, before the report.
    epsilon : float
        Of the report, or of several together, above 0. Where it goes with a δ this is no bound: a
        report can make more of a belief, and with a chance above δ. Then take the ln of the largest
        ratio of a report's chances.

    Raises
    ------
    ValueError
        If `prior` is outside 0..1, or `epsilon` no finite number above 0.
    """
    return _updated(check_chance(prior, "prior"), 1.0, math.exp(-check_positive(epsilon)))


@dataclass(frozen=True)
class OddsRow:
    """One ε: `odds`, which is e^ε (infinite beyond all floats), and the strongest posterior of each
    of the priors asked for.
    """

    epsilon: float
    odds: float
    posteriors: tuple[float, ...]


def odds_table(epsilons: Sequence[float], priors: Sequence[float] = PRIORS) -> tuple[OddsRow, ...]:
    """A row for each ε: what it makes of beliefs at most; parameters as `strongest_posterior`."""
    return tuple(
        OddsRow(
            epsilon,
            math.exp(epsilon) if epsilon < 709 else math.inf,
            tuple(strongest_posterior(prior, epsilon) for prior in priors),
        )
        for epsilon in epsilons
    )


def updated(prior: float, own: Fraction, other: Fraction) -> float:
    """A belief after an event that has the chance `own` if it is true, else `other`."""
    return _updated(check_chance(prior, "prior"), float(own), float(other))


def _updated(prior: Fraction, own: float, other: float) -> float:
    if prior in (0, 1):
        return float(prior)  # no evidence moves it, however improbable the event
    for_it, against = float(prior) * own, float(1 - prior) * other
    return _divided(for_it, for_it + against)


def _divided(part: float, whole: float) -> float:
    if whole == 0:
        raise ValueError("report is too improbable under these answers to calculate with")
    return part / whole


def _value(question: Question, answer: str) -> Any:
    try:
        return question.value(answer)
    except ValueError as error:
        raise ValueError(f"{question.id}: expected {error}, got {shown(answer)}") from None


def _whole(question: Question, prior: Mapping[str, float]) -> dict[str, float]:
    """The prior with what it leaves to the other answers, if it names one alone."""
    for answer, p in prior.items():
        check_chance(p, f"prior of {shown(answer)}")
    total = math.fsum(prior.values())
    if len(prior) == 1 and total < 1 and question.domain.alternatives:
        (answer,) = prior
        place = _value(question, answer)
        names = question.domain.alternatives
        others = [name for name in names if name != names[place]]
        return {**prior, **dict.fromkeys(others, (1 - total) / len(others))}
    if abs(total - 1) > 1e-9:
        raise ValueError(f"prior must sum to 1 over the answers, got {total:g}")
    return dict(prior)
