"""Several questions of a frozen survey that are drawn together, with their limits and cost."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_pattern import SampledPattern
from analysis.core.errors import ReportError
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.memory import Memory
from analysis.core.words import below
from analysis.mechanisms.joint_design import design, sampled_design, savings, share_variances
from analysis.mechanisms.joint_goals import AIMS, Part
from analysis.mechanisms.together import TOGETHER, together
from analysis.survey.kinds import KINDS
from analysis.survey.logic import asked_of
from analysis.survey.question import Question


@dataclass(frozen=True)
class JointDraw:
    """One ``[[together]]`` table of a frozen survey, and its questions in the table's order.

    The ledger charges it like a question that is drawn alone.
    """

    spec: dict[str, Any]
    randomizer: JointRandomizer
    questions: tuple[Question, ...]

    #: Every wave is drawn anew, so there is no memory, and every report costs the same.
    memo = None
    stable = False
    charged_as_stated = False
    mechanism_name = TOGETHER

    @property
    def id(self) -> str:
        """The table's id, which no question has."""
        return str(self.spec["id"])

    @property
    def asks(self) -> int:
        """The number of its questions that each person is asked."""
        return self.randomizer.asks

    @property
    def samples(self) -> tuple[tuple[int, ...], ...]:
        """The sets of questions that one person can be asked, as positions in order."""
        return self.randomizer.samples

    def asked_of(self, memory: Memory, wave: int) -> tuple[int, ...] | None:
        """Return the questions that a device is asked in a wave; None if all are asked.

        They are drawn from the device's secret, before anything is answered.
        """
        if not self.randomizer.asks_some:
            return None
        return self.samples[below(len(self.samples), memory.words("asked", wave))]

    @property
    def savings(self) -> tuple[float, float]:
        """The factors by which separate draws of the same total would need more respondents.

        The first is for shares, the second for pairs of answers; see `joint_design.savings`.
        """
        parts, total = parts_of(question.spec for question in self.questions), self.spec["epsilon"]
        own = self.randomizer.parts
        times = Counter(
            (law, tuple(parts[part] for place in sample for part in own[place]))
            for sample, law in zip(self.samples, self.randomizer.laws, strict=True)
        )
        every = np.array([savings(law, asked, Fraction(repr(total))) for law, asked in times])
        # If reports say nothing about pairs, they save nothing.
        with np.errstate(divide="ignore"):
            shares, pairs = 1 / np.average(1 / every, axis=0, weights=list(times.values()))
        return float(shares), float(pairs)

    @cached_property
    def times_if_all_asked(self) -> float | None:
        """The factor of respondents, for shares, if everybody were asked every question.

        The limits are the same. It is one over a mean over questions. It is None if all are asked,
        or if there is no such draw.
        """
        if not self.randomizer.asks_some:
            return None
        specs = [question.spec for question in self.questions]
        parts = parts_of(specs)
        try:
            whole = design(parts, *limits_of(self.spec), self.spec.get("aim", AIMS[0])).channel
        except ValueError:
            return None
        every = share_variances(whole, parts)
        some = share_variances(self.randomizer.channel, parts)
        asked = np.array([float(portion) for portion in self.randomizer.portions])
        return float(1 / np.mean(some / asked / every))

    @property
    def share_of_each(self) -> Fraction:
        """The ε that each question would have if all had separate draws with the same total."""
        return Fraction(repr(self.spec["epsilon"])) / len(self.questions)

    @property
    def meaning(self) -> str:
        """Return the id, since the cost does not depend on the meaning of the answers."""
        return self.id

    @property
    def terms(self) -> dict[str, Any]:
        """All that the cost of its reports depends on."""
        return {"id": self.id, "randomizer": self.randomizer.to_json()}

    def spent(
        self, reports: int, stable: bool = False, agrees: bool = True, stated: bool = False
    ) -> int:
        """Return the cost of `reports` reports together, in millionths of ε, which is their sum."""
        return reports * self.randomizer.charge

    def reports(
        self,
        answers: Mapping[str, str],
        secret: bytes,
        survey_id: str,
        words: Iterator[int],
        wave: int = 1,
    ) -> dict[str, Any]:
        """Return the reports on its answers by the ids of its questions, drawn as on a device.

        The device's secret only determines the questions that are asked. There is no memory.
        """
        asked = self.asked_of(Memory.of(secret, survey_id, self.id, bytes(32)), wave)
        values = [
            question.value(answers[question.id]) if asked is None or place in asked else None
            for place, question in enumerate(self.questions)
        ]
        reports = self.randomizer.randomize(values, words, asked)
        return dict(zip((question.id for question in self.questions), reports, strict=True))

    def check_asked(self, reports: Mapping[str, Any]) -> None:
        """Raise ReportError unless the reports are on questions that are asked together.

        Preconditions: each report is one that its question can have.
        """
        if not self.randomizer.asks_some:
            return
        asked = tuple(place for place, q in enumerate(self.questions) if reports[q.id])
        if asked not in self.samples:
            raise ReportError(
                f"reports.{self.questions[0].id}",
                f'reports on {self.asks} of {len(self.questions)} questions of "{self.id}" that '
                "are asked together, and empty ones on the others",
                f"reports on {len(asked)}",
            )

    def ratio_of(self, questions: Iterable[Question]) -> Fraction:
        """Return the largest ratio of one report's probabilities under answers to some questions.

        It is the limit against somebody who knows the answers to all other questions.
        """
        ids = {question.id for question in questions}
        places = [place for place, question in enumerate(self.questions) if question.id in ids]
        return self.randomizer.ratio_of(places) if places else Fraction(1)


def compile_together(spec: dict[str, Any], questions: Iterable[dict[str, Any]]) -> JointRandomizer:
    """Return the randomizer of a ``[[together]]`` table of a checked survey.

    Raises
    ------
    ValueError
        If there is no design within the limits.
    """
    asked = list(questions)
    domains = [KINDS[question["kind"]].domain(question) for question in asked]
    parts, aim = parts_of(asked), spec.get("aim", AIMS[0])
    encoders = tuple(together(domain).encoder(domain) for domain in domains)
    channel: Pattern | SampledPattern
    if samples := sampled(spec, asked):
        channel = sampled_design(parts, samples, *limits_of(spec), aim)
    else:
        channel = design(parts, *limits_of(spec), aim).channel
    return JointRandomizer(encoders, channel)


def sampled(
    spec: dict[str, Any], questions: Sequence[dict[str, Any]]
) -> tuple[tuple[int, ...], ...]:
    """Return all sets of ``ask`` questions of a table that can be asked together, in order.

    A person who is asked a question is also asked those on whose answers it depends. The result is
    empty if all questions are asked.
    """
    if "ask" not in spec:
        return ()
    places = {question["id"]: place for place, question in enumerate(questions)}
    needed = [
        {places[name] for name in asked_of(question.get("shows_if", [])) if name in places}
        for question in questions
    ]
    every = combinations(range(len(questions)), spec["ask"])
    return tuple(
        chosen for chosen in every if all(needed[place] <= set(chosen) for place in chosen)
    )


def parts_of(questions: Iterable[dict[str, Any]]) -> tuple[Part, ...]:
    """Return the parts of questions for a design, which assumes equally common answers.

    For options, the share is that at which variances of their mechanisms are compared.
    """
    parts: list[Part] = []
    for question in questions:
        domain: Any = KINDS[question["kind"]].domain(question)
        if len(domain.parts) == 1:
            parts += [Part(k, 1 / k) for k in domain.parts]
        else:
            own = question["id"], domain
            parts += [Part(k, domain.usual_share, *own) for k in domain.parts]
    return tuple(parts)


def limits_of(spec: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Return the ε of all answers together, and of one answer against those who know the others."""
    return Fraction(repr(spec["epsilon"])), Fraction(repr(spec["epsilon_each"]))
