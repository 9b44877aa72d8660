"""The survey, frozen with the randomizers that will run; `survey_file` reads what authors write.

Nothing of a frozen survey changes any more: `version` is the SHA-256 of its RFC 8785 form, so that
respondents, server and analysis can tell that they speak of the same questions and weights.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

import rfc8785

from analysis.core.domain import NO_ANSWER
from analysis.core.epsilon import MICRO
from analysis.core.errors import SurveyError
from analysis.core.memory import NEW_MEMORY, check_frozen, forever_of
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import choose, compile_as
from analysis.survey.digest import NOTE, above
from analysis.survey.kinds import KINDS
from analysis.survey.logic import asked_of, holds
from analysis.survey.question import Question

#: Keys of a question that some mechanisms heed.
WISHES = ("delta", "aim", "prior")

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

    def use_key(self, question: Question) -> tuple[str, ...]:
        """Return what the reports to a question are priced by: its memory, or this version."""
        return (self.version, question.id) if question.memo is None else (question.memo,)

    def charge_after(
        self, answered: Iterable[tuple["Survey", int]], charged: int | None = None
    ) -> int:
        """What one more wave costs a respondent, in millionths of ε, whatever was answered.

        Parameters
        ----------
        answered : iterable of pairs
            Versions of the survey, and how often the respondent has answered each.
        charged : int, optional
            What the respondent was charged for these. Earlier releases charged too little where
            labels had changed (`spent_on`); this wave makes up for it. Nothing is ever refunded.
        """
        before = list(answered)
        if not any(one.memos for one in (self, *(one for one, _ in before))):
            return self.charge
        after, due = spent_on([*before, (self, 1)]), spent_on(before)
        return after - (due if charged is None else min(due, charged))

    @cached_property
    def cap(self) -> int:
        """What a respondent may spend on this survey over all waves, in millionths of ε."""
        return int(Fraction(repr(self.spec["privacy"]["cap"])) * MICRO)

    @cached_property
    def terms(self) -> str:
        """SHA-256 of all that charges, caps and spent ε depend on, in hexadecimal.

        The ledger is keyed by it instead of by the version. Versions that differ only in texts
        have the same terms, so after a corrected typo the ledger does not show who answered before
        it and who after. Versions with the same terms have the same cap, and the same price after
        whatever was answered before: any of them can stand for all.
        """
        whole: dict[str, Any] = {
            "cap": self.cap,
            "questions": [question.terms for question in self.questions],
        }
        return hashlib.sha256(rfc8785.dumps(whole)).hexdigest()

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


@dataclass(frozen=True)
class Use:
    """How many `reports` of a respondent are priced together: those of one memory, or fresh ones.

    Those of a memory are of all versions that share it, fresh ones of one version. `agrees` says
    whether the question meant the same in all of these versions. By the first protocol their labels
    can differ; by later ones another meaning is another memory.
    """

    question: Question
    reports: int
    agrees: bool

    def spent(self, stable: bool = False, trusting: bool = False) -> int:
        """Return what the reports cost, in millionths of ε; arguments as of `spent_on`."""
        return self.question.spent(self.reports, stable, self.agrees or trusting)


def uses(answered: Iterable[tuple[Survey, int]]) -> dict[tuple[str, ...], Use]:
    """Return what all reports of a respondent are priced as, by `Survey.use_key`.

    Parameters
    ----------
    answered : iterable of pairs
        Versions of a survey, and how often the respondent has answered each.
    """
    found: dict[tuple[str, ...], Use] = {}
    for survey, times in answered:
        for question in survey.questions if times else ():
            key = survey.use_key(question)
            known = found.get(key, Use(question, 0, True))
            same = question is known.question or question.meaning == known.question.meaning
            found[key] = Use(question, known.reports + times, known.agrees and same)
    return found


def spent_on(
    answered: Iterable[tuple[Survey, int]], stable: bool = False, trusting: bool = False
) -> int:
    """What a respondent's reports cost together, in millionths of ε.

    The sum over questions and versions; but reports of one memory cost what they do together
    (`Question.spent`), in whichever order they came.

    Parameters
    ----------
    answered : iterable of pairs
        Versions of a survey, and how often the respondent has answered each.
    stable : bool
        Whether all answers are taken for ones that never changed.
    trusting : bool
        Whether versions that share a memory are taken to mean the same. Earlier releases did, so
        that they charged too little for stable questions whose labels changed.
    """
    return sum(use.spent(stable, trusting) for use in uses(answered).values())


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
        if randomizer.stages is not None:
            question |= NEW_MEMORY
        questions.append(Question(question, randomizer, above(spec["questions"], question)))
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
        check_frozen(spec, randomizer.stages is not None)
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
        questions.append(Question(spec, randomizer, above(data["survey"]["questions"], spec)))
    return Survey(data["survey"], version, tuple(questions))


def version_of(data: dict[str, Any]) -> str:
    """SHA-256 of the RFC 8785 form, in hexadecimal; ``client/hashes.js`` computes the same."""
    return hashlib.sha256(rfc8785.dumps(data)).hexdigest()
