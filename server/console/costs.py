"""What a draft costs respondents, and how precise it will be, beside its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cached_property

from flask import request
from markupsafe import Markup

from analysis.charts import icon_array
from analysis.core.epsilon import MICRO
from analysis.core.errors import SurveyError
from analysis.privacy.meaning import most_told, odds
from analysis.privacy.one_wave import readable_odds
from analysis.study.planning import warnings
from analysis.survey.check import check
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.console.drafts import the_draft
from server.console.precision import quick, told
from server.editing.draft_file import DraftFile
from server.editing.reading import read_draft
from server.extensions import the_store
from server.remarks import on_page

#: Respondents that a study is thought to have until somebody says how many.
USUAL = 400
MOST = 100_000
#: The steps of the slider that multiplies every ε: each is √2 times the one before.
STEPS = 6


@dataclass(frozen=True)
class Line:
    """A question or note in the list: its ε and the half-width that is expected, in words."""

    name: str
    text: str
    kind: str
    epsilon: str = ""
    width: str = ""


def up(epsilon: float) -> str:
    """Return ε in at most five digits, rounded up, so that no page says less than is spent."""
    exact = Decimal(f"{epsilon:.7g}")
    digits = Decimal(1).scaleb(min(0, exact.adjusted() - 4))
    return f"{exact.quantize(digits, ROUND_CEILING).normalize():f}"


@dataclass(frozen=True)
class Costs:
    """What the list of a draft shows, with so many `respondents`, and every ε so many `times`.

    `step` is the place of the slider that stands for `times`. `problem` says why the ε that it
    shows cannot be.
    """

    survey: Survey
    respondents: int
    step: int
    problem: str = ""

    @property
    def times(self) -> float:
        """How many times as large every ε is as in the file."""
        return round(float(2 ** (self.step / 2)), 2)

    @cached_property
    def lines(self) -> list[Line]:
        """A line for each question and note."""
        asked = {question.id: question for question in self.survey.questions}
        return [
            self._line(entry["id"], self.survey.text(entry["text"]), asked.get(entry["id"]))
            for entry in self.survey.spec["questions"]
        ]

    def _line(self, name: str, text: str, question: Question | None) -> Line:
        if question is None:
            return Line(name, text, "note")
        width = told(self.survey, question, quick(question, self.respondents)[0])
        epsilon = up(question.randomizer.epsilon)
        return Line(name, text, question.spec["kind"], epsilon, width)

    @property
    def total(self) -> str:
        """ε of one wave."""
        return up(self.survey.charge / MICRO)

    @property
    def cap(self) -> str:
        """ε of all waves."""
        return up(self.survey.cap / MICRO)

    @property
    def waves(self) -> int:
        """How many waves the cap is enough for, at most; of fresh draws."""
        return self.survey.cap // max(1, self.survey.charge)

    @property
    def odds(self) -> str:
        """How many times as likely all reports of one wave can be under other answers."""
        return readable_odds(self.survey.charge)

    @cached_property
    def remarks(self) -> list[str]:
        """What `deniable check` says, but for the line that has the version."""
        return on_page(self.survey, check(self.survey))

    def meaning(self, name: str) -> "Meaning | None":
        """Return what a report of a question tells; None for a note."""
        question = next((one for one in self.survey.questions if one.id == name), None)
        return None if question is None else _meaning(self.survey, question)


@dataclass(frozen=True)
class Meaning:
    """What a report of one question tells, in words and in a picture."""

    mechanism: str
    sentence: str
    bound: str
    picture: Markup
    other: Markup
    warnings: tuple[str, ...]


def _meaning(survey: Survey, question: Question) -> Meaning:
    first = odds(question, survey.labels(question))[0]
    return Meaning(
        question.mechanism.name,
        first.sentence,
        most_told(question),
        Markup(icon_array(f"Of 100 people {first.who}: send {first.sends}", first.p)),
        Markup(icon_array(f"Of 100 {first.others}: send {first.sends}", first.q)),
        tuple(warnings(question)),
    )


def asked_costs(survey: Survey, survey_id: str, given: Mapping[str, str] | None = None) -> Costs:
    """Return the costs with the respondents and the ε that an address or a form asks for."""
    values = request.args if given is None else given
    planned = the_store().studies.get(survey_id).planned or USUAL
    n = values.get("respondents", "").strip().replace(",", "")
    respondents = int(n) if n.isascii() and n.isdigit() and 0 < int(n[:9]) <= MOST else planned
    text = values.get("times", "0")
    step = int(text) if text.lstrip("-").isdigit() and abs(int(text[:4])) <= STEPS else 0
    costs = Costs(survey, respondents, step)
    if not step or given is not None:
        return costs
    draft = the_draft(survey_id)
    file = DraftFile(draft.toml)
    file.scale(costs.times)
    try:
        scaled = read_draft(file.toml, the_store().drafts.files(survey_id)).survey
    except SurveyError as error:
        return Costs(survey, respondents, 0, str(error).removeprefix("survey.toml: "))
    return Costs(scaled, respondents, step)
