"""What a draft costs respondents, and how precise it will be, beside its questions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import ceil

from flask import request
from markupsafe import Markup

from analysis.charts import icon_array
from analysis.core.epsilon import MICRO
from analysis.core.typed import latin
from analysis.privacy.meaning import most_told, odds
from analysis.privacy.one_wave import readable_odds
from analysis.study.planning import warnings
from analysis.survey.check import check
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.console.precision import is_little, quick, told
from server.console.typed import whole_number
from server.editing.draft_file import DraftFile
from server.editing.reading import Reading, read_draft
from server.editing.spending import divided, up, wave_total, waves_total, waves_within
from server.extensions import the_store
from server.plain_words import how, term
from server.remarks import on_page

#: The assumed number of respondents, until somebody states it.
USUAL = 400
MOST = 100_000
#: The form of a total that can be typed, and the largest one.
TOTAL, MOST_TOTAL = re.compile(r"\d{1,6}(\.\d{1,4})?", re.ASCII), 20_000
#: The most waves that can be planned here.
MOST_WAVES = 100


@dataclass(frozen=True)
class Line:
    """A line of the list: a question, a note, or what one draw for several questions spends.

    `epsilon` and the half-width that is expected are in words. `draw` names the draw that a
    question goes into with others: then its ε is in the line of that draw, of the kind "draw".
    `is_little` says that results as precise as this show little.
    """

    name: str
    text: str
    kind: str
    epsilon: str = ""
    width: str = ""
    draw: str = ""
    is_little: bool = False


@dataclass(frozen=True)
class Costs:
    """The costs of a draft with this many `respondents` and `waves`.

    Its values of ε may be those that somebody tries out; `stored` is what one wave costs in the
    file. `problem` says why a total that was asked for is impossible.
    """

    reading: Reading
    respondents: int
    waves: int
    stored: Decimal
    problem: str = ""

    @property
    def survey(self) -> Survey:
        """The survey that costs this."""
        return self.reading.survey

    @cached_property
    def lines(self) -> list[Line]:
        """A line for each question and note, and for each draw behind the last of its questions."""
        asked = {question.id: question for question in self.survey.questions}
        draws = {
            joint.id: f" {chr(65 + place)}" if len(self.survey.joint) > 1 else ""
            for place, joint in enumerate(self.survey.joint)
        }
        last = {
            max(joint.questions, key=self.survey.questions.index).id: joint
            for joint in self.survey.joint
        }
        lines = []
        for entry in self.survey.spec["questions"]:
            name, text = entry["id"], self.survey.text(entry["text"])
            lines.append(self._line(name, text, asked.get(name), draws))
            if name in last:
                joint = last[name]
                told = f"One draw{draws[joint.id]} for {len(joint.questions)} questions"
                epsilon = up(joint.randomizer.charge / MICRO)
                lines.append(Line(joint.id, told, "draw", epsilon, draw=joint.id))
        return lines

    def _line(
        self, name: str, text: str, question: Question | None, draws: Mapping[str, str]
    ) -> Line:
        if question is None:
            return Line(name, text, "note")
        half = quick(question, self.respondents)[0]
        width, little = told(self.survey, question, half), is_little(question, half)
        kind = question.spec["kind"]
        if question.table is not None:
            place = f"in draw{draws[question.table]}"
            return Line(name, text, kind, place, width, question.table, little)
        return Line(name, text, kind, up(question.randomizer.charge / MICRO), width, "", little)

    @property
    def total(self) -> str:
        """ε of one wave."""
        return f"{wave_total(self.survey):f}"

    @property
    def most(self) -> int:
        """The end of the slider of the total."""
        return max(10, 2 * ceil(self.stored))

    @property
    def all_waves(self) -> Decimal:
        """ε of all waves that are planned."""
        return waves_total(self.survey, self.waves)

    @property
    def cap(self) -> str:
        """The limit of all waves, as the file states it; not below one wave if that is allowed."""
        cap = self.reading.cap
        if self.reading.low_cap is None:
            cap = max(Decimal(up(cap)), wave_total(self.survey))
        return f"{cap.normalize():f}"

    @property
    def allowed(self) -> int:
        """The number of waves that the limit allows, whatever people answer."""
        return 0 if self.reading.low_cap else waves_within(self.survey, self.survey.cap)

    @property
    def odds(self) -> str:
        """The largest ratio of the probabilities of a wave's reports under two rows of answers."""
        return readable_odds(self.survey.ratio)

    @cached_property
    def remarks(self) -> list[str]:
        """The messages of `deniable check`, without the line that has the version."""
        return on_page(self.survey, check(self.survey))

    def meaning(self, name: str) -> "Meaning | None":
        """Return what a report of a question reveals; None for a note."""
        question = next((one for one in self.survey.questions if one.id == name), None)
        return None if question is None else _meaning(self.survey, question)


@dataclass(frozen=True)
class Meaning:
    """The meaning of one question's report, in words and in a picture."""

    how: str
    term: str
    sentence: str
    bound: str
    picture: Markup
    other: Markup
    warnings: tuple[str, ...]


def _meaning(survey: Survey, question: Question) -> Meaning:
    first = odds(question, survey.labels(question))[0]
    return Meaning(
        how(question),
        term(question),
        first.sentence,
        most_told(question),
        Markup(icon_array(f"Of 100 people {first.who}: send {first.sends}", first.p)),
        Markup(icon_array(f"Of 100 {first.others}: send {first.sends}", first.q)),
        tuple(warnings(question)),
    )


def asked_costs(
    reading: Reading,
    survey_id: str,
    open_file: Callable[[], DraftFile],
    given: Mapping[str, str] | None = None,
) -> Costs:
    """Return the costs with the respondents, waves and total that an address or a form asks for.

    Only a total opens the file, which is then changed to that total unless it is impossible.
    """
    values = request.args if given is None else given
    planned = the_store().studies.get(survey_id).planned or USUAL
    respondents = _number(values, "respondents", MOST) or planned
    stored = wave_total(reading.survey)
    # An author who states a limit plans as many waves as it allows, until they say how many.
    allowed = 0 if reading.low_cap else waves_within(reading.survey, reading.survey.cap)
    usual = allowed if 0 < allowed <= MOST_WAVES else 1
    waves = _number(values, "waves", MOST_WAVES) or usual
    costs = Costs(reading, respondents, waves, stored)
    text = values.get("total", "").strip()
    if not text or text == f"{stored:f}":
        return costs
    file = open_file()
    try:
        _spend(file, reading.survey, text)
        tried = read_draft(file.toml, the_store().drafts.files(survey_id))
    except ValueError as error:
        told = str(error).removeprefix("survey.toml: ")
        return replace(costs, problem=told)
    return replace(costs, reading=tried)


def _number(values: Mapping[str, str], name: str, most: int) -> int | None:
    number = whole_number(values.get(name, ""))
    return number if number and number <= most else None


def _spend(file: DraftFile, survey: Survey, text: str) -> None:
    """Write into a file the ε with which one wave costs the total that somebody typed."""
    text = latin(text)
    if not TOTAL.fullmatch(text) or not 0 < Decimal(text) <= MOST_TOTAL:
        raise ValueError(f"Total: expected a number such as 4 or 0.5, got {text[:20]!a}")
    stated = file.epsilons()
    fixed = sum(
        (
            Decimal(up(draw.randomizer.charge / MICRO))
            for draw in survey.draws
            if not {f"question/{draw.id}", f"together/{draw.id}"} & {*stated}
        ),
        Decimal(0),
    )
    if not stated or Decimal(text) <= fixed:
        raise ValueError(
            f"Total: expected more than ε = {fixed:f}, which designs with probabilities of their "
            f"own spend, got {text}"
        )
    file.spend(divided(Decimal(text) - fixed, stated))
