"""One question of a frozen survey: its domain, its randomizer and its cost."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from analysis.core.domain import Domain
from analysis.core.joint_randomizer import Place
from analysis.core.memory import Memory, is_stable, protocol_of
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.together import TOGETHER, together
from analysis.survey.digest import digest_of, first_digest_of
from analysis.survey.kinds import KINDS


@dataclass(frozen=True)
class Question:
    """One question of a frozen survey, with the randomizer of its answers."""

    spec: dict[str, Any]
    randomizer: Randomizer[Any, Any]
    #: The texts above the question in its survey (`analysis.survey.digest.above`).
    surroundings: dict[str, Any] = field(default_factory=lambda: {"notes": []})
    #: Its part of the draw of a ``[[together]]`` table; None if it is drawn alone.
    place: Place | None = None

    @property
    def id(self) -> str:
        """The question's id in the survey, on the wire and in tables."""
        return str(self.spec["id"])

    @property
    def table(self) -> str | None:
        """The id of the table of its draw; None if it is drawn alone."""
        return None if self.place is None else self.place.draw

    @property
    def of_asked(self) -> "Question":
        """The question for those who are asked, so that every report comes from one of them."""
        return replace(self, randomizer=self.randomizer.of_asked)

    @property
    def mechanism_name(self) -> str:
        """The name of its mechanism."""
        return str(self.spec["mechanism"]["name"])

    @property
    def mechanism(self) -> Mechanism:
        """The recipe that compiled the randomizer and debiases its counts."""
        name = self.mechanism_name
        return together(self.domain) if name == TOGETHER else MECHANISMS[name]

    def reports(
        self,
        answers: Mapping[str, str],
        secret: bytes,
        survey_id: str,
        words: Iterator[int],
        wave: int = 1,
    ) -> dict[str, Any]:
        """Return the report on its answer by its id, drawn as on a device with this secret."""
        memory = Memory.of(secret, survey_id, self.id, self.digest)
        return {self.id: self.randomizer.randomize(self.value(answers[self.id]), words, memory)}

    def ratio_of(self, questions: "Iterable[Question]") -> Fraction:
        """Return the largest ratio of a report's probabilities under answers to its draw."""
        return self.randomizer.ratio

    @property
    def lasting_ratio(self) -> Fraction:
        """The largest ratio of its reports' probabilities under two answers.

        If the device remembers draws, it is that of all waves together, if the answer never
        changes; otherwise it is that of one wave.
        """
        return self.randomizer.ratio if self.memo is None else self.randomizer.forever

    @property
    def questions(self) -> "tuple[Question, ...]":
        """The questions of its draw, which is itself if it is drawn alone."""
        return (self,)

    @cached_property
    def domain(self) -> Domain:
        """The domain of the question's answers."""
        return KINDS[self.spec["kind"]].domain(self.spec)

    def value(self, answer: str) -> Any:
        """Return the value of an answer; raise ValueError with what was expected for others."""
        return KINDS[self.spec["kind"]].value(answer, self.spec)

    @property
    def stable(self) -> bool:
        """Return whether the answer cannot change between waves, as the author says.

        If people can skip the question, or are not always asked, no answer is an answer, too, and
        they can change to it and back.
        """
        return is_stable(self.spec) and not self.spec["no_answer"]

    @property
    def protocol(self) -> int:
        """The protocol by which the memory is kept and charged; 1 if none was frozen with it."""
        return protocol_of(self.spec)

    @cached_property
    def digest(self) -> bytes:
        """The digest to which the device's permanent draws belong (`analysis.survey.digest`)."""
        if self.protocol == 1:
            return first_digest_of(self.spec, self.randomizer.to_json())
        return bytes.fromhex(self.meaning)

    @cached_property
    def meaning(self) -> str:
        """The SHA-256 of all that gives an answer its meaning, in hexadecimal.

        Versions can share a memory of the first protocol and have different meanings.
        """
        return digest_of(self.spec, self.randomizer.to_json(), self.surroundings).hex()

    def spent(
        self, reports: int, stable: bool = False, agrees: bool = True, stated: bool = False
    ) -> int:
        """Return the cost of `reports` reports together, in millionths of ε (`Randomizer.spent`).

        Parameters
        ----------
        reports : int
            The number of reports. If the question has a memory, all come from one memory.
        stable : bool
            Whether to assume that the answer never changed, even if it could.
        agrees : bool
            Whether the question had the same meaning in all of them. If not, the same fact can have
            had different inputs, so no answer counts as constant.
        stated : bool
            Whether to charge by the rule that the question was published with. Files of format 1
            charged reports with a δ by the stated ε, and stable answers as if nobody ever skipped
            one. The true cost can be more.
        """
        never_changes = stable or self.stable or (stated and is_stable(self.spec))
        return self.randomizer.spent(reports, never_changes and agrees, self.protocol, stated)

    @property
    def charged_as_stated(self) -> bool:
        """Return whether its format charges it otherwise than by the true cost."""
        return self.randomizer.limit is not None or is_stable(self.spec) != self.stable

    @cached_property
    def memo(self) -> str | None:
        """The key of the question's memory, which versions can share; None without a memory."""
        return None if self.randomizer.stages is None else f"{self.id}:{self.digest.hex()}"

    @property
    def terms(self) -> dict[str, Any]:
        """All that the cost of a report on this question depends on.

        Texts are part of it only if the question has a memory, through its key and its meaning.
        """
        price: dict[str, Any] = {"id": self.id, "randomizer": self.randomizer.to_json()}
        if self.memo is not None:
            price |= {"memo": self.memo, "meaning": self.meaning, "stable": is_stable(self.spec)}
        return price
