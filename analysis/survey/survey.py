"""The survey, frozen with the randomizers that will run; `survey_file` reads what authors write.

A frozen survey never changes: `version` is the SHA-256 of its RFC 8785 form, so that respondents,
server and analysis can check that they mean the same questions and weights.
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

#: Keys of a question that only some mechanisms heed.
WISHES = ("delta", "aim", "prior")

#: What the page may do beside asking; each is true, or missing, in a frozen survey's ``page``.
PAGE = ("comprehension", "resume", "kiosk")

#: Who may answer: everybody, people invited to a wave, or the same invited people in each wave.
ACCESS = ("open", "invited", "panel")

#: The hardest proof of work, in bits: some ten seconds in a laptop's browser (100,000 hashes a
#: second in Chromium), more on a phone.
MOST_WORK = 20

#: The longest request that carries a respondent's reports, in bytes.
LONGEST_REQUEST = 64 * 1024

#: Versions of a survey, and how often a respondent has answered each.
Answered = Iterable[tuple["Survey", int]]


@dataclass(frozen=True)
class Survey:
    """A frozen survey: `spec` as published, with its notes, `version`, its hash, and questions."""

    spec: dict[str, Any]
    version: str
    questions: tuple[Question, ...]

    @property
    def id(self) -> str:
        """The survey's id, the same for all its versions."""
        return str(self.spec["id"])

    @cached_property
    def charge(self) -> int:
        """What the first wave costs a respondent, in millionths of ε: the sum over questions."""
        return sum(question.randomizer.charge for question in self.questions)

    @cached_property
    def memos(self) -> dict[str, Question]:
        """The questions with a memory, by its key."""
        return {q.memo: q for q in self.questions if q.memo is not None}

    def use_key(self, question: Question) -> tuple[str, ...]:
        """Return the key of the reports that are priced together: a memory's, or this version's."""
        return (self.version, question.id) if question.memo is None else (question.memo,)

    def charge_after(self, answered: Answered, charged: int | None = None) -> int:
        """Return what one more wave costs a respondent, in millionths of ε, whatever was answered.

        `charged` is what the respondent was charged so far. Earlier releases charged too little
        where labels had changed (`spent_on`); this wave makes up for it. Nothing is ever refunded.
        """
        before = list(answered)
        if not any(survey.memos for survey, _ in [(self, 1), *before]):
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

        The ledger is keyed by it instead of by the version. Versions that differ only in texts have
        the same terms, so the ledger does not show who answered before a typo was corrected, and
        who after. Versions with the same terms have the same cap, and the same price after the same
        answers: any of them can stand for all.
        """
        return version_of({"cap": self.cap, "questions": [q.terms for q in self.questions]})

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
        """The last day on which reports may be kept; tallies stay."""
        return self._day("delete_reports_after")

    def is_over(self, today: date) -> bool:
        """Return whether no report is taken any more, since it closed or reports may be deleted."""
        return any(day and today > day for day in (self.closes, self.delete_reports_after))

    def _day(self, key: str) -> date | None:
        return date.fromisoformat(self.spec[key]) if key in self.spec else None

    def shown(self, answers: dict[str, str]) -> dict[str, str]:
        """Return the answers that count: those of questions that `shows_if` hides become empty."""
        counted: dict[str, str] = {}
        for question in self.questions:
            condition = question.spec.get("shows_if")
            visible = condition is None or holds(condition, counted)
            counted[question.id] = answers[question.id] if visible else ""
        return counted

    def telling(self, question: Question) -> tuple[Question, ...]:
        """Return the questions whose reports tell about this one's answer; their ε adds up.

        These are the question itself, and those that `shows_if` makes depend on one of them.
        """
        telling = {question.id}
        for other in self.questions:
            condition = other.spec.get("shows_if")
            if condition is not None and asked_of(condition) & telling:
                telling.add(other.id)
        return tuple(other for other in self.questions if other.id in telling)

    def to_json(self) -> dict[str, Any]:
        """Return what `version` is the hash of: ``{"survey": ..., "randomizers": ...}``."""
        randomizers = {q.id: q.randomizer.to_json() for q in self.questions}
        return {"survey": self.spec, "randomizers": randomizers}

    def text(self, text: Any) -> str:
        """Return a text in the survey's first language, if it has several."""
        return str(text[self.spec["languages"][0]] if isinstance(text, dict) else text)

    def wording(self, question: Question) -> str:
        """Return what is asked, in the first language; before a matrix' row, the matrix' text."""
        texts = (question.spec[key] for key in ("matrix", "text") if key in question.spec)
        return " – ".join(map(self.text, texts))

    def labels(self, question: Question) -> dict[str, str]:
        """Return the text of each value of a question, and of no-answer, by their terms."""
        skipped = "No answer, or not asked" if "shows_if" in question.spec else "No answer"
        labels = KINDS[question.spec["kind"]].labels(question.spec)
        return {NO_ANSWER: skipped, **{term: self.text(text) for term, text in labels.items()}}


@dataclass(frozen=True)
class Use:
    """The `reports` of a respondent that are priced together: those of one memory, or fresh ones.

    Reports of a memory come from all versions that share it, fresh ones from one version. `agrees`
    says whether the question meant the same in all of these versions. By the first protocol their
    labels can differ; by later ones another meaning is another memory.
    """

    question: Question
    reports: int
    agrees: bool

    def spent(self, stable: bool = False, trusting: bool = False) -> int:
        """Return what the reports cost, in millionths of ε, with the arguments of `spent_on`."""
        return self.question.spent(self.reports, stable, self.agrees or trusting)


def uses(answered: Answered) -> dict[tuple[str, ...], Use]:
    """Return all reports of a respondent as they are priced together, by `Survey.use_key`."""
    by_key: dict[tuple[str, ...], Use] = {}
    for survey, times in answered:
        for question in survey.questions if times else ():
            key = survey.use_key(question)
            before = by_key.get(key, Use(question, 0, True))
            same = question is before.question or question.meaning == before.question.meaning
            by_key[key] = Use(question, before.reports + times, before.agrees and same)
    return by_key


def spent_on(answered: Answered, stable: bool = False, trusting: bool = False) -> int:
    """Return what a respondent's reports cost together, in millionths of ε.

    It is a sum over questions and versions, but reports of one memory have one price together
    (`Question.spent`), in whichever order they came.

    Parameters
    ----------
    stable : bool
        Whether to assume that no answer ever changed.
    trusting : bool
        Whether to assume that versions that share a memory mean the same. Earlier releases did, and
        charged too little for stable questions whose labels changed.
    """
    return sum(use.spent(stable, trusting) for use in uses(answered).values())


def freeze(spec: dict[str, Any], place: str = "survey") -> Survey:
    """Choose the mechanisms of a checked survey, compile them, and return it with its version."""
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
    # The rest of a request takes less than 512 bytes.
    longest = len(json.dumps({q.id: q.randomizer.longest() for q in questions}))
    if longest > LONGEST_REQUEST - 512:
        raise SurveyError(
            f"{place}: questions must give reports of at most {LONGEST_REQUEST} bytes together, "
            f"got {longest}; ask fewer questions or offer fewer options"
        )
    survey = Survey(spec, "", tuple(questions))
    return replace(survey, version=version_of(survey.to_json()))


def asked_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a survey that are questions: all but notes."""
    return [entry for entry in spec["questions"] if entry["kind"] != NOTE]


def wishes_of(question: dict[str, Any]) -> dict[str, Any]:
    """Return what the author asked of a mechanism, beside ε: its parameters, and `WISHES`."""
    mechanism = question.get("mechanism", {})
    parameters = {key: value for key, value in mechanism.items() if key != "name"}
    return parameters | {key: question[key] for key in WISHES if key in question}


def thaw(data: dict[str, Any], version: str) -> Survey:
    """Return the survey that `Survey.to_json` gave, after checking all that can be checked.

    Raises
    ------
    ValueError
        If the version is not its hash, or a randomizer is unsound or spends more ε than asked.
    """
    survey, randomizers = data["survey"], data["randomizers"]
    if version_of(data) != version:
        raise ValueError(f"survey {survey['id']}: stored form is not version {version}")
    if set(randomizers) != {spec["id"] for spec in asked_in(survey)}:
        raise ValueError(
            f"survey {survey['id']}: every question must have a randomizer, and no note"
        )
    questions = []
    for spec in asked_in(survey):
        randomizer = Randomizer.from_json(randomizers[spec["id"]])
        randomizer.check_epsilon(Fraction(repr(spec["epsilon"])))
        randomizer.check_forever(forever_of(spec))
        check_frozen(spec, randomizer.stages is not None)
        mechanism = MECHANISMS.get(spec["mechanism"]["name"])
        if mechanism is None or ("shows_if" in spec and not spec["no_answer"]):
            raise ValueError(
                f"question {spec['id']}: a hidden answer must have a value, a mechanism a name"
            )
        if randomizer.delta > Fraction(repr(spec.get("delta", 0))):
            raise ValueError(f"question {spec['id']}: its delta is more than was asked for")
        domain = KINDS[spec["kind"]].domain(spec)
        if not randomizer.encoder.fits(domain):
            raise ValueError(f"question {spec['id']}: its encoder does not fit its answers")
        if not mechanism.fits(domain):
            raise ValueError(f"question {spec['id']}: its mechanism does not fit its answers")
        questions.append(Question(spec, randomizer, above(survey["questions"], spec)))
    return Survey(survey, version, tuple(questions))


def version_of(data: dict[str, Any]) -> str:
    """Return SHA-256 of the RFC 8785 form, in hexadecimal, as ``client/hashes.js`` computes it."""
    return hashlib.sha256(rfc8785.dumps(data)).hexdigest()
