"""The survey, frozen with its randomizers. `survey_file` reads the author's file.

A frozen survey never changes. `version` is the SHA-256 of its RFC 8785 form, so that respondents,
server and analysis can check that they use the same questions and weights.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

import rfc8785

from analysis.core.domain import NO_ANSWER
from analysis.core.epsilon import MICRO, millionths
from analysis.survey.batches import PUBLIC, Steps, steps_of
from analysis.survey.digest import NOTE
from analysis.survey.joint_draw import JointDraw
from analysis.survey.kinds import KINDS
from analysis.survey.logic import asked_of, holds
from analysis.survey.piping import without_answers
from analysis.survey.question import Question

#: The formats of survey files. A default, or a rule, that changes takes effect in a new format
#: alone: a file that does not change must freeze to the same version and terms in every release.
FORMATS = (1, 2)

#: The key of a survey that is a pilot. No survey file has it.
PILOT = "pilot"

#: The keys of a question that only some mechanisms use.
WISHES = ("delta", "aim", "prior")

#: The options of the page that are true or missing in a frozen survey's ``page``. It may also have
#: an ``example``, the id of a question, and an ``exit``, an address or `BLANK`.
PAGE = ("comprehension", "resume", "kiosk", "random_order")
#: Where "Exit this page" leads if it is not a web address: a blank page.
BLANK = "about:blank"

#: The people who may answer: everybody, people invited to a wave, or the same people in each wave.
ACCESS = ("open", "invited", "panel")

#: The hardest proof of work, in bits. It takes about ten seconds in a laptop's browser (100,000
#: hashes a second in Chromium), and more on a phone.
MOST_WORK = 20

#: The longest request that carries a respondent's reports, in bytes.
LONGEST_REQUEST = 64 * 1024

#: Versions of a survey, and how often a respondent has answered each.
Answered = Iterable[tuple["Survey", int]]


@dataclass(frozen=True)
class Survey:
    """A frozen survey: `spec` as published, with notes, its hash `version`, and `questions`."""

    spec: dict[str, Any]
    version: str
    questions: tuple[Question, ...]
    #: The draws of the ``[[together]]`` tables.
    joint: tuple[JointDraw, ...] = ()

    @property
    def id(self) -> str:
        """The survey's id, which all its versions share."""
        return str(self.spec["id"])

    @property
    def format(self) -> int:
        """The format of the file that it was published from, one of `FORMATS`."""
        return int(self.spec.get("format", FORMATS[0]))

    @cached_property
    def charge(self) -> int:
        """The cost of a respondent's first wave, in millionths of ε: the sum over all draws."""
        return sum(draw.randomizer.charge for draw in self.draws)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of a wave's reports under two rows of answers."""
        return math.prod((draw.randomizer.ratio for draw in self.draws), start=Fraction(1))

    @cached_property
    def draws(self) -> tuple[Question | JointDraw, ...]:
        """The draws, each of which has one cost: single questions, and ``[[together]]`` tables."""
        together = {question.id: joint for joint in self.joint for question in joint.questions}
        drawn = [together.get(question.id, question) for question in self.questions]
        return tuple({draw.id: draw for draw in drawn}.values())

    @cached_property
    def memos(self) -> dict[str, Question]:
        """The questions with a memory, by its key."""
        return {q.memo: q for q in self.questions if q.memo is not None}

    def use_key(self, draw: Question | JointDraw) -> tuple[str, ...]:
        """Return the key of reports that are charged together: a memory's, or this version's."""
        return (self.version, draw.id) if draw.memo is None else (draw.memo,)

    @cached_property
    def charged_as_stated(self) -> bool:
        """Whether some draw is charged by the rule of its format, and not by its true cost."""
        return any(draw.charged_as_stated for draw in self.draws)

    def charge_after(self, answered: Answered, charged: int | None = None) -> int:
        """Return the cost of one more wave for a respondent, in millionths of ε, for any answers.

        `charged` is the respondent's charge so far. Earlier releases charged too little if labels
        had changed (`spent_on`). This wave charges the difference. Nothing is ever refunded.

        A version of format 1 keeps the rule that it was published with, since devices have drawn
        reports by that rule, and none may be lost. A version of another format charges the
        difference to the true cost, too (`charged_as_stated`).
        """
        before = list(answered)
        if not any(survey.memos or survey.charged_as_stated for survey, _ in [(self, 1), *before]):
            return self.charge
        after, due = (
            spent_on(all_waves, stated=self.format == FORMATS[0])
            for all_waves in ([*before, (self, 1)], before)
        )
        return after - (due if charged is None else min(due, charged))

    @cached_property
    def cap(self) -> int:
        """The most that a respondent may spend over all waves, in millionths of ε, rounded down."""
        return millionths(self._cap)

    @cached_property
    def accepted_cap(self) -> int:
        """The most for which reports are accepted, in millionths of ε.

        It is `cap`, unless a file of format 1 has a cap of more than six decimals. Devices of
        earlier releases rounded such a cap up if it was within a thousandth of a millionth of the
        next millionth, in floats, and drew reports by that.
        """
        # This is twice what devices added, since they multiplied in floats.
        return millionths(self._cap + 2 * Fraction(1, 1000 * MICRO))

    @property
    def _cap(self) -> Fraction:
        return Fraction(repr(self.spec["privacy"]["cap"]))

    @cached_property
    def terms(self) -> str:
        """The SHA-256 of all that charges, caps and spent ε depend on, in hexadecimal.

        It is the key of the ledger instead of the version. Versions that differ only in texts have
        the same terms, so that the ledger does not show who answered before a typo was corrected,
        and who after. Versions with the same terms have the same cap, and the same cost after the
        same answers, so that any of them can stand for all.
        """
        return version_of({"cap": self.cap, "questions": [draw.terms for draw in self.draws]})

    @cached_property
    def _canonical(self) -> bytes:
        return rfc8785.dumps(self.spec)

    def is_of(self, spec: dict[str, Any]) -> bool:
        """Return whether this is the checked form of a survey file, whatever its randomizers."""
        return self._canonical == rfc8785.dumps(spec)

    @property
    def access(self) -> str:
        """The people who may answer: one of `ACCESS`."""
        return str(self.spec.get("access", "open"))

    @cached_property
    def steps(self) -> Steps:
        """The least number of reports whose results are shown, and the size of later batches."""
        return steps_of(self.spec)

    @property
    def public(self) -> tuple[str, ...]:
        """The questions whose results everybody may see once the survey is closed."""
        return tuple(self.spec.get("results", {}).get(PUBLIC, ()))

    @property
    def is_pilot(self) -> bool:
        """Return whether it is a copy for a trial, in which people make up their answers."""
        return bool(self.spec.get(PILOT))

    @property
    def proof_of_work(self) -> int:
        """The number of leading zero bits that a device must find; 0 for none."""
        return int(self.spec.get("proof_of_work", 0))

    @cached_property
    def closes(self) -> date | None:
        """The last day on which reports are taken."""
        return self._day("closes")

    @cached_property
    def delete_reports_after(self) -> date | None:
        """The last day on which reports may be kept. Tallies stay."""
        return self._day("delete_reports_after")

    def is_over(self, today: date) -> bool:
        """Return whether it takes no more reports, as it is closed or reports may be deleted."""
        return any(day and today > day for day in (self.closes, self.delete_reports_after))

    def _day(self, key: str) -> date | None:
        return date.fromisoformat(self.spec[key]) if key in self.spec else None

    def shown(self, answers: dict[str, str]) -> dict[str, str]:
        """Return the answers that count. Answers to questions hidden by `shows_if` become empty."""
        counted: dict[str, str] = {}
        for question in self.questions:
            condition = question.spec.get("shows_if")
            visible = condition is None or holds(condition, counted)
            counted[question.id] = answers[question.id] if visible else ""
        return counted

    def telling(self, question: Question) -> tuple[Question, ...]:
        """Return the questions whose reports reveal something about this answer. Their ε adds up.

        These are the question itself, and all questions that depend on one of them by `shows_if`.
        """
        telling = {question.id}
        for other in self.questions:
            condition = other.spec.get("shows_if")
            if condition is not None and asked_of(condition) & telling:
                telling.add(other.id)
        return tuple(other for other in self.questions if other.id in telling)

    def joint_draw_of(self, question: Question) -> JointDraw | None:
        """Return the draw that a question shares with others; None if it is drawn alone."""
        return next((draw for draw in self.joint if draw.id == question.table), None)

    def to_json(self) -> dict[str, Any]:
        """Return the content whose hash is `version`: ``{"survey": ..., "randomizers": ...}``."""
        randomizers = {draw.id: draw.randomizer.to_json() for draw in self.draws}
        return {"survey": self.spec, "randomizers": randomizers}

    def reason_of(self, question: Question) -> Any:
        """Return the author's reason for the ε of a question or of its table; None without one."""
        joint = self.joint_draw_of(question)
        reason = question.spec.get("reason")
        return joint.spec.get("reason") if reason is None and joint is not None else reason

    def text(self, text: Any) -> str:
        """Return a text in the survey's first language, without earlier answers."""
        first = text[self.spec["languages"][0]] if isinstance(text, dict) else text
        return without_answers(str(first))

    def wording(self, question: Question) -> str:
        """Return a question's text in the first language, after its matrix's text if it has one."""
        texts = (question.spec[key] for key in ("matrix", "text") if key in question.spec)
        return " – ".join(map(self.text, texts))

    def labels(self, question: Question) -> dict[str, str]:
        """Return the text of each value of a question, and of no-answer, by their terms.

        The pairs of a ranking have the texts of both items.
        """
        skipped = "No answer, or hidden" if "shows_if" in question.spec else "No answer"
        labels = KINDS[question.spec["kind"]].labels(question.spec)
        texts = {term: self.text(text) for term, text in labels.items()}
        domain = question.domain
        pairs = {term: domain.label(term, texts) for term in domain.terms if term not in texts}
        return {NO_ANSWER: skipped, **pairs, **texts}


@dataclass(frozen=True)
class Use:
    """The `reports` of a respondent that are charged together: those of a memory, or fresh ones.

    Reports of a memory come from all versions that share it, and fresh ones from one version.
    `agrees` says whether the question had the same meaning in all of these versions. By the first
    protocol their labels can differ. By later protocols another meaning has another memory.
    """

    draw: Question | JointDraw
    reports: int
    agrees: bool

    def spent(self, stable: bool = False, trusting: bool = False, stated: bool = False) -> int:
        """Return the cost of the reports, in millionths of ε; arguments are those of `spent_on`."""
        return self.draw.spent(self.reports, stable, self.agrees or trusting, stated)


def uses(answered: Answered) -> dict[tuple[str, ...], Use]:
    """Return all reports of a respondent by `Survey.use_key`, in groups with one cost."""
    by_key: dict[tuple[str, ...], Use] = {}
    for survey, times in answered:
        for draw in survey.draws if times else ():
            key = survey.use_key(draw)
            before = by_key.get(key, Use(draw, 0, True))
            same = draw is before.draw or draw.meaning == before.draw.meaning
            by_key[key] = Use(draw, before.reports + times, before.agrees and same)
    return by_key


def spent_on(
    answered: Answered, stable: bool = False, trusting: bool = False, stated: bool = False
) -> int:
    """Return the cost of a respondent's reports together, in millionths of ε.

    It is a sum over draws and versions, but the reports of a memory have one cost together
    (`Question.spent`), whatever their order was.

    Parameters
    ----------
    stable : bool
        Whether to assume that no answer ever changed.
    trusting : bool
        Whether to assume that versions that share a memory have the same meaning. Earlier releases
        did so, and charged too little for stable questions whose labels changed.
    stated : bool
        Whether to charge by the rules that versions were published with (`Question.spent`).
    """
    return sum(use.spent(stable, trusting, stated) for use in uses(answered).values())


def asked_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a survey that are questions, without notes."""
    return [entry for entry in spec["questions"] if entry["kind"] != NOTE]


def wishes_of(question: dict[str, Any]) -> dict[str, Any]:
    """Return the author's parameters of a mechanism, and the keys of `WISHES`."""
    mechanism = question.get("mechanism", {})
    parameters = {key: value for key, value in mechanism.items() if key != "name"}
    return parameters | {key: question[key] for key in WISHES if key in question}


def version_of(data: dict[str, Any]) -> str:
    """Return the SHA-256 of the RFC 8785 form in hexadecimal, like ``client/hashes.js``."""
    return hashlib.sha256(rfc8785.dumps(data)).hexdigest()
