"""The survey, frozen with the randomizers that will run; `survey_file` reads what authors write.

Nothing of a frozen survey changes any more: `version` is the SHA-256 of its RFC 8785 form, so that
respondents, server and analysis can tell that they speak of the same questions and weights.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

import rfc8785

from analysis.domain import NO_ANSWER, Domain
from analysis.epsilon import MICRO
from analysis.errors import SurveyError
from analysis.kinds import KINDS
from analysis.logic import asked_of, holds
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mechanism
from analysis.randomizer import Randomizer
from analysis.selection import choose, compile_as

#: Keys of a question that some mechanisms heed.
WISHES = ("delta", "aim", "prior")

#: Keys of a question that its answers' inputs depend on.
MAPPING = ("kind", "no_answer", "options", "at_most", "min", "max", "longest")

#: The kind of an entry that is shown and not asked: it has no randomizer, and no report names it.
NOTE = "note"

#: What the page may do beside asking: each is true or left out of a frozen survey's ``page``.
PAGE = ("comprehension", "resume", "kiosk")

#: Who may answer: everybody; who has an invitation to a wave; the same invited people each wave.
ACCESS = ("open", "invited", "panel")

#: The hardest proof of work, in bits: some ten seconds of a laptop's browser (100,000 hashes a
#: second in Chromium), more of a phone's.
MOST_WORK = 20

#: The longest request that carries a respondent's reports, in bytes.
LONGEST_REQUEST = 64 * 1024


@dataclass(frozen=True)
class Question:
    """One question of a frozen survey, with the randomizer that its answers go through."""

    spec: dict[str, Any]
    randomizer: Randomizer[Any, Any]

    @property
    def id(self) -> str:
        """Its id in the survey, on the wire and in tables."""
        return str(self.spec["id"])

    @property
    def mechanism(self) -> Mechanism:
        """The recipe that compiled the randomizer, and that debiases its counts."""
        return MECHANISMS[self.spec["mechanism"]["name"]]

    @cached_property
    def domain(self) -> Domain:
        """What it can be answered with."""
        return KINDS[self.spec["kind"]].domain(self.spec)

    def value(self, answer: str) -> Any:
        """The value of an answer; ValueError, saying what was expected, if it is none."""
        return KINDS[self.spec["kind"]].value(answer, self.spec)

    @property
    def stable(self) -> bool:
        """Whether its answer is taken for one that cannot change between waves."""
        return bool(self.spec.get("stable", False))

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the compiled randomizer, and of what makes an answer one of its inputs.

        So equal answers of versions that share a memory are equal inputs; of stable questions, also
        the wording is, since another fact may differ.
        """
        asked = {key: self.spec[key] for key in MAPPING if key in self.spec}
        if "options" in asked:
            asked["options"] = [option["id"] for option in asked["options"]]
        if self.stable:
            asked |= {key: self.spec[key] for key in ("text", "matrix") if key in self.spec}
        whole: dict[str, Any] = {
            "randomizer": self.randomizer.to_json(),
            "stable": self.stable,
            "asked": asked,
        }
        return hashlib.sha256(rfc8785.dumps(whole)).digest()

    @cached_property
    def memo(self) -> str | None:
        """What versions have in common that share what the device remembers; None if nothing."""
        return None if self.randomizer.stages is None else f"{self.id}:{self.digest.hex()}"


@dataclass(frozen=True)
class Survey:
    """A frozen survey: `spec` as published, `version` its hash, questions in their order.

    Notes are in `spec` alone.
    """

    spec: dict[str, Any]
    version: str
    questions: tuple[Question, ...]

    @property
    def id(self) -> str:
        """The survey's id, the same for all its versions."""
        return str(self.spec["id"])

    @cached_property
    def charge(self) -> int:
        """What the first wave costs a respondent, in millionths of ε: the sum of all questions."""
        return sum(question.randomizer.charge for question in self.questions)

    @cached_property
    def memos(self) -> dict[str, Question]:
        """The questions that the device has a memory for, by what they share it with."""
        return {one.memo: one for one in self.questions if one.memo is not None}

    def charge_after(self, answered: Iterable[tuple["Survey", int]]) -> int:
        """What one more wave costs a respondent, in millionths of ε, whatever was answered.

        Parameters
        ----------
        answered : iterable of pairs
            Versions of the survey, and how often the respondent has answered each.
        """
        if not self.memos:
            return self.charge
        before = list(answered)
        return spent_on([*before, (self, 1)]) - spent_on(before)

    @cached_property
    def cap(self) -> int:
        """What a respondent may spend on this survey over all waves, in millionths of ε."""
        return int(Fraction(repr(self.spec["privacy"]["cap"])) * MICRO)

    @property
    def access(self) -> str:
        """Who may answer: one of `ACCESS`."""
        return str(self.spec.get("access", "open"))

    @property
    def proof_of_work(self) -> int:
        """How many leading zero bits a device must find; 0 for none."""
        return int(self.spec.get("proof_of_work", 0))

    @cached_property
    def closes(self) -> date | None:
        """The last day on which reports are taken."""
        return self._day("closes")

    @cached_property
    def delete_reports_after(self) -> date | None:
        """The last day on which the reports may be kept; tallies stay."""
        return self._day("delete_reports_after")

    def is_over(self, today: date) -> bool:
        """Whether no report is taken any more: by then they may even be deleted."""
        return any(day and today > day for day in (self.closes, self.delete_reports_after))

    def _day(self, key: str) -> date | None:
        return date.fromisoformat(self.spec[key]) if key in self.spec else None

    def shown(self, answers: dict[str, str]) -> dict[str, str]:
        """The answers that count: those of questions that `shows_if` hides become no answer."""
        kept: dict[str, str] = {}
        for question in self.questions:
            condition = question.spec.get("shows_if")
            visible = condition is None or holds(condition, kept)
            kept[question.id] = answers[question.id] if visible else ""
        return kept

    def telling(self, question: Question) -> tuple[Question, ...]:
        """The questions whose reports tell about this one's answer; their ε adds up.

        Itself, and those that are asked because of its answer, or of the answers of these.
        """
        found = {question.id}
        for other in self.questions:
            condition = other.spec.get("shows_if")
            if condition is not None and asked_of(condition) & found:
                found.add(other.id)
        return tuple(one for one in self.questions if one.id in found)

    def to_json(self) -> dict[str, Any]:
        """What `version` is the hash of: ``{"survey": ..., "randomizers": ...}``."""
        return {
            "survey": self.spec,
            "randomizers": {q.id: q.randomizer.to_json() for q in self.questions},
        }

    def text(self, text: Any) -> str:
        """One string of a text that may have several languages: the first language's."""
        return str(text[self.spec["languages"][0]] if isinstance(text, dict) else text)

    def wording(self, question: Question) -> str:
        """What is asked, in the first language; of a row of a matrix, with the matrix' text."""
        texts = (question.spec[key] for key in ("matrix", "text") if key in question.spec)
        return " – ".join(map(self.text, texts))

    def labels(self, question: Question) -> dict[str, str]:
        """The text of each value of a question, and of no-answer, by their terms."""
        skipped = "No answer, or not asked" if "shows_if" in question.spec else "No answer"
        own = KINDS[question.spec["kind"]].labels(question.spec)
        return {NO_ANSWER: skipped, **{term: self.text(text) for term, text in own.items()}}


def spent_on(answered: Iterable[tuple[Survey, int]], stable: bool = False) -> int:
    """What a respondent's reports cost together, in millionths of ε.

    The sum over questions and versions; but reports of one memory cost what they do together
    (`Randomizer.spent`), in whichever order they came.

    Parameters
    ----------
    answered : iterable of pairs
        Versions of a survey, and how often the respondent has answered each.
    stable : bool
        Whether all answers are taken for ones that never changed.
    """
    total, shared = 0, Counter[str]()
    questions: dict[str, Question] = {}
    for survey, times in answered:
        total += times * sum(one.randomizer.charge for one in survey.questions if not one.memo)
        for memo, question in survey.memos.items():
            shared[memo] += times
            questions[memo] = question
    for memo, times in shared.items():
        question = questions[memo]
        total += question.randomizer.spent(times, stable or question.stable)
    return total


def freeze(spec: dict[str, Any], place: str = "survey") -> Survey:
    """Resolve the mechanisms of a checked survey, compile them, and fix its version."""
    questions = []
    for question in asked_in(spec):
        domain = KINDS[question["kind"]].domain(question)
        epsilon = Fraction(repr(question["epsilon"]))
        wishes, forever = wishes_of(question), forever_of(question)
        try:
            if "mechanism" in question:
                mechanism = MECHANISMS[question["mechanism"]["name"]]
                randomizer = compile_as(mechanism, domain, epsilon, wishes, forever)
            else:
                mechanism, randomizer = choose(domain, epsilon, wishes, forever)
                question["mechanism"] = {"name": mechanism.name}
        except ValueError as error:
            raise SurveyError(f'{place}: question "{question["id"]}": {error}') from None
        questions.append(Question(question, randomizer))
    unnamed = Survey(spec, "", tuple(questions))
    survey = replace(unnamed, version=version_of(unnamed.to_json()))
    # The rest of a request takes less than 512 bytes.
    longest = {q.id: q.randomizer.longest() for q in questions}
    if len(json.dumps(longest)) > LONGEST_REQUEST - 512:
        raise SurveyError(
            f"{place}: questions must give reports of at most {LONGEST_REQUEST} bytes together, "
            f"got {len(json.dumps(longest))}; ask fewer questions or offer fewer options"
        )
    return survey


def asked_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a survey that are questions: all but notes."""
    return [entry for entry in spec["questions"] if entry["kind"] != NOTE]


def groups_of(entries: Iterable[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    """The entries, in groups of what stands together: rows of a matrix; every other one alone."""
    groups: list[Sequence[dict[str, Any]]] = []
    for matrix, rows in groupby(entries, key=lambda entry: entry.get("matrix")):
        together = list(rows)
        groups += [together] if matrix is not None else [[entry] for entry in together]
    return groups


def forever_of(question: dict[str, Any]) -> Fraction | None:
    """ε that a question's reports of all waves may tell of one answer; None without a memory."""
    return Fraction(repr(question["epsilon_forever"])) if "epsilon_forever" in question else None


def wishes_of(question: dict[str, Any]) -> dict[str, Any]:
    """What the author asked of a question's mechanism, beside ε: its parameters, other keys."""
    parameters = {key: one for key, one in question.get("mechanism", {}).items() if key != "name"}
    return parameters | {key: question[key] for key in WISHES if key in question}


def thaw(data: dict[str, Any], version: str) -> Survey:
    """Read back what `Survey.to_json` gave, and check all that can be checked.

    Raises
    ------
    ValueError
        If the version is not its hash, or a randomizer is unsound or spends more ε than asked.
    """
    if version_of(data) != version:
        raise ValueError(f"survey {data['survey']['id']}: stored form is not version {version}")
    asked = asked_in(data["survey"])
    if set(data["randomizers"]) != {spec["id"] for spec in asked}:
        raise ValueError(
            f"survey {data['survey']['id']}: every question must have a randomizer, and no note"
        )
    questions = []
    for spec in asked:
        randomizer = Randomizer.from_json(data["randomizers"][spec["id"]])
        randomizer.check_epsilon(Fraction(repr(spec["epsilon"])))
        randomizer.check_forever(forever_of(spec))
        stable = spec.get("stable", False)
        if type(stable) is not bool or (stable and not randomizer.stages):
            raise ValueError(f"question {spec['id']}: stable must be about a memory")
        if spec["mechanism"]["name"] not in MECHANISMS or (
            "shows_if" in spec and not spec["no_answer"]
        ):
            raise ValueError(
                f"question {spec['id']}: a hidden answer must have a value, a mechanism a name"
            )
        if randomizer.delta > Fraction(repr(spec.get("delta", 0))):
            raise ValueError(f"question {spec['id']}: its delta is more than was asked for")
        domain = KINDS[spec["kind"]].domain(spec)
        if not randomizer.encoder.fits(domain):
            raise ValueError(f"question {spec['id']}: its encoder does not fit its answers")
        if not MECHANISMS[spec["mechanism"]["name"]].fits(domain):
            raise ValueError(f"question {spec['id']}: its mechanism does not fit its answers")
        questions.append(Question(spec, randomizer))
    return Survey(data["survey"], version, tuple(questions))


def version_of(data: dict[str, Any]) -> str:
    """SHA-256 of the RFC 8785 form, in hexadecimal; ``client/hashes.js`` computes the same."""
    return hashlib.sha256(rfc8785.dumps(data)).hexdigest()
