"""Several questions of a frozen survey that are drawn together: with their limits and price."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analysis.core.encoders.categories import Index
from analysis.core.epsilon import micro
from analysis.core.joint_randomizer import JointRandomizer
from analysis.mechanisms.joint_design import Design, design, savings
from analysis.mechanisms.joint_program import AIMS, Part
from analysis.mechanisms.one_of_k import TOGETHER
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question


@dataclass(frozen=True)
class JointDraw:
    """One ``[[together]]`` table of a frozen survey, and its questions in the table's order.

    The ledger prices it as it does a question that is drawn alone.
    """

    spec: dict[str, Any]
    randomizer: JointRandomizer
    questions: tuple[Question, ...]

    #: Every wave is drawn anew: the device remembers nothing, and every report costs as much.
    memo = None
    stable = False
    mechanism = TOGETHER

    @property
    def id(self) -> str:
        """The table's id, which no question has."""
        return str(self.spec["id"])

    @property
    def savings(self) -> tuple[float, float]:
        """How many times as many respondents separate draws of the same total would need.

        The first is for shares, the second for pairs of answers: see `joint_design.savings`.
        """
        return savings(self.randomizer.channel, limits_of(self.spec)[0])

    @property
    def share_of_each(self) -> Fraction:
        """The ε that each question would have if all were drawn one by one at the same total."""
        return Fraction(repr(self.spec["epsilon"])) / len(self.questions)

    @property
    def meaning(self) -> str:
        """What its answers mean is of no importance to its price."""
        return self.id

    @property
    def terms(self) -> dict[str, Any]:
        """Everything that the price of its reports depends on."""
        return {"id": self.id, "randomizer": self.randomizer.to_json()}

    def spent(self, reports: int, stable: bool = False, agrees: bool = True) -> int:
        """Return what so many reports cost together, in millionths of ε: their sum."""
        return reports * self.randomizer.charge

    def reports(
        self, answers: Mapping[str, str], secret: bytes, survey_id: str, words: Iterator[int]
    ) -> dict[str, Any]:
        """Return the reports on its answers, by the ids of its questions, as a device draws them.

        Nothing follows from the device's secret: nothing is remembered.
        """
        values = [question.value(answers[question.id]) for question in self.questions]
        reports = self.randomizer.randomize(values, words)
        return dict(zip((question.id for question in self.questions), reports, strict=True))

    def charge_of(self, questions: Iterable[Question]) -> int:
        """Return what one report tells of some of its questions at most, in millionths of ε.

        It is what somebody learns who knows the answers to all others.
        """
        ids = {question.id for question in questions}
        parts = [part for part, question in enumerate(self.questions) if question.id in ids]
        return micro(self.randomizer.channel.ratio(parts)) if parts else 0


def compile_together(spec: dict[str, Any], questions: Iterable[dict[str, Any]]) -> JointRandomizer:
    """Return the randomizer of a ``[[together]]`` table of a checked survey.

    Raises
    ------
    ValueError
        If there is no design within its limits.
    """
    channel = compiled(spec, questions).channel
    return JointRandomizer(tuple(map(Index, channel.inputs)), channel)


def compiled(spec: dict[str, Any], questions: Iterable[dict[str, Any]]) -> Design:
    """Return the design of a ``[[together]]`` table, for even shares of all answers."""
    return design(parts_of(questions), *limits_of(spec), spec.get("aim", AIMS[0]))


def parts_of(questions: Iterable[dict[str, Any]]) -> tuple[Part, ...]:
    """Return what a design must know of questions, for even shares of all answers."""
    domains = [KINDS[question["kind"]].domain(question) for question in questions]
    return tuple(Part(len(domain.alternatives), 1 / len(domain.alternatives)) for domain in domains)


def limits_of(spec: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Return the ε of all answers together, and of one for somebody who knows the others."""
    return Fraction(repr(spec["epsilon"])), Fraction(repr(spec["epsilon_each"]))
