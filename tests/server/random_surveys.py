"""Random surveys that can be published, each fixed by its seed, and their respondents' answers."""

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import tomlkit

from analysis.core.errors import SurveyError
from analysis.mechanisms import MECHANISMS
from analysis.survey.kinds import KINDS
from analysis.survey.simulate import made_up_answers
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

Entry = dict[str, Any]

ID = "random"
#: The attempts to draw one more question that the survey may have.
_ATTEMPTS = 30
#: Classic designs, whose ε follows from their parameters.
_CLASSIC: list[Entry] = [
    {"name": "warner", "p": "3/4"},
    {"name": "two-coin"},
    {"name": "forced", "p_yes": "1/6", "p_no": "1/4"},
    {"name": "unrelated", "p": "2/3", "prevalence": "1/2"},
    {"name": "crosswise", "prevalence": "1/4"},
]
#: Keys that a question of a common draw cannot have.
_ALONE = ("epsilon", "epsilon_forever", "stable", "mechanism", "aim", "prior", "delta")


class Drawer:
    """Draws the parts of one survey."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.languages = self.random.choice([[], [], ["en"], ["de", "en"], ["ar", "sw", "fr"]])

    def maybe(self, chance: float) -> bool:
        """Return whether something with this probability happens."""
        return self.random.random() < chance

    def text(self, text: str) -> Any:
        """Return a text, or one for each language."""
        if self.languages and self.maybe(0.5):
            return {tag: f"{text} ({tag})" for tag in self.languages}
        return text

    def epsilon(self) -> float:
        """Return an ε that is often small, usual or large."""
        if self.maybe(0.6):
            return self.random.choice([0.5, 1, 1, 2, 3, 3])
        if self.maybe(0.5):
            return self.random.choice([0.001, 0.1, 6, 12, 20])
        return round(self.random.uniform(0.02, 6), 3)

    def named(self, k: int) -> list[Entry]:
        """Return k options."""
        return [{"id": f"v{place}", "text": self.text(f"Option {place}")} for place in range(k)]

    def survey(self) -> Entry:
        """Return a survey without questions."""
        survey: Entry = {"title": self.text("Random"), "id": ID}
        if self.languages:
            survey["languages"] = self.languages
        if self.maybe(0.3):
            survey["access"] = self.random.choice(["invited", "panel"])
        if self.maybe(0.3):
            survey["results"] = {"batch": 10, "minimum": 20}
        survey["questions"] = []
        return survey

    def question(self, place: int, earlier: list[Entry]) -> Entry:
        """Return a question that may be impossible."""
        kind = self.random.choice([*KINDS, "scale", "choice"])
        question: Entry = {"id": f"q{place}", "kind": kind, "text": self.text(f"Question {place}?")}
        question |= getattr(self, "_" + kind.replace("-", "_"))()
        question["epsilon"] = self.epsilon()
        if self.maybe(0.5):
            question["required"] = True
        if self.maybe(0.3):
            forever = question["epsilon"] * self.random.uniform(1.05, 4)
            question["epsilon_forever"] = round(forever, 3)
            if self.maybe(0.4):
                question["stable"] = True
        if earlier and self.maybe(0.25):
            question["shows_if"] = self._condition(self.random.choice(earlier))
        if self.maybe(0.4):
            self._name(question)
        return question

    def _name(self, question: Entry) -> None:
        """Name a mechanism, which need not fit."""
        if question["kind"] == "yes-no" and self.maybe(0.4):
            question["mechanism"] = self.random.choice(_CLASSIC)
            question["required"] = True
            del question["epsilon"]
            return
        question["mechanism"] = name = self.random.choice(list(MECHANISMS))
        if name == "gaussian" and self.maybe(0.5):
            question["delta"] = 0.001
        if name in ("gaussian", "laplace") and self.maybe(0.3):
            question["mechanism"] = {"name": name, "steps": self.random.randint(1, 20)}

    def _yes_no(self) -> Entry:
        return {}

    def _choice(self) -> Entry:
        return {"options": self.named(self.random.choice([2, 3, 3, 4, 5, 7, 13, 40]))}

    def _choices(self) -> Entry:
        k = self.random.choice([2, 3, 4, 6, 12])
        return {"options": self.named(k), "at_most": self.random.randint(1, k)}

    def _scale(self) -> Entry:
        k = self.random.choice([2, 2, 3, 5, 7, 7, 9, 11])
        numbered = self.maybe(0.5)
        step = self.random.choice([1, 1, 3])
        scale: Entry = {
            "points": [step * place if numbered else f"Point {place}" for place in range(k)]
        }
        if self.maybe(0.7):
            scale["aim"] = self.random.choice(["mean", "mean", "mean", "cumulative", "shares"])
        if self.maybe(0.2):
            scale["prior"] = [self.random.randint(1, 9) for _ in range(k)]
        return scale

    def _number(self) -> Entry:
        low = self.random.choice([0, 0, -5, 1])
        number: Entry = {"min": low, "max": low + self.random.choice([1, 2, 10, 60, 1000])}
        if self.maybe(0.6):
            number["step"] = self.random.choice([1, 0.5])
        if self.maybe(0.2):
            number["prior"] = [self.random.randint(0, 9) + (place == 0) for place in range(5)]
        return number

    def _rank(self) -> Entry:
        return {"items": self.named(self.random.choice([2, 3, 4, 5, 8]))}

    def _text(self) -> Entry:
        if self.maybe(0.5):
            return {"candidates": [f"word {place}" for place in range(self.random.randint(2, 9))]}
        return {"longest": self.random.choice([3, 8, 32])}

    def _condition(self, question: Entry) -> str:
        if question["kind"] == "number":
            return f"{question['id']} >= {question['min']}"
        if question["kind"] == "choices":
            return f"selected({question['id']}, '{question['options'][0]['id']}')"
        values = [option["id"] for option in question.get("options", [])] or ["yes", "1"]
        return f"{question['id']} {self.random.choice(['=', '!='])} '{values[0]}'"

    def together(self, questions: list[Entry]) -> tuple[list[Entry], Entry] | None:
        """Return questions some of which are drawn together, and the table that says so."""
        # Draws for many values take long to design.
        able = [question["id"] for question in questions if _parts(question) <= 5]
        if len(able) < 2:
            return None
        chosen = able[: self.random.randint(2, min(3, len(able)))]
        stripped = [
            {k: v for k, v in question.items() if k not in _ALONE}
            if question["id"] in chosen
            else question
            for question in questions
        ]
        total = self.random.choice([0.5, 1, 2, 3, 6])
        each = round(total * self.random.uniform(1 / len(chosen), 1) + 0.001, 3)
        table: Entry = {"id": "of-some", "questions": chosen, "epsilon": total}
        table["epsilon_each"] = min(each, total)
        if len(chosen) > 2 and self.maybe(0.4):
            table["ask"] = 2
        if self.maybe(0.5):
            table["aim"] = self.random.choice(["shares", "pairs", "both"])
        return stripped, table


def _parts(question: Entry) -> float:
    """Return how large a question makes a common draw; infinity if it can be in none."""
    kind = question["kind"]
    if kind == "yes-no":
        return 2
    if kind == "choices":
        return 2 * len(question["options"])
    answers = question.get("options" if kind == "choice" else "points", [])
    return len(answers) if kind in ("choice", "scale") else float("inf")


def _legal(path: Path, survey: Entry) -> Survey | None:
    """Return a survey that is written to a file; None if it is refused, in one sentence."""
    path.write_text(tomlkit.dumps(survey))
    refusal = ""
    try:
        return read_survey(path)
    except SurveyError as error:
        refusal = str(error)
    assert refusal
    assert "\n" not in refusal
    return None


def random_survey(seed: int, path: Path) -> Survey:
    """Return a random legal survey, and write its file."""
    drawer = Drawer(seed)
    survey = drawer.survey()
    wanted = drawer.random.choice([1, 1, 2, 3, 4, 5])
    for _ in range(_ATTEMPTS * wanted):
        place = len(survey["questions"])
        if place == wanted:
            break
        question = drawer.question(place, survey["questions"])
        more = survey | {"questions": [*survey["questions"], question]}
        survey = more if _legal(path, more) else survey
    if drawer.maybe(0.3) and (drawn := drawer.together(survey["questions"])):
        more = survey | {"questions": drawn[0], "together": [drawn[1]]}
        survey = more if _legal(path, more) else survey
    if drawer.maybe(0.6):
        # Mostly a cap allows some waves, and rarely none.
        more = survey | {"privacy": {"cap": drawer.random.choice([1.0, 3.5, 12.0, 60.0])}}
        survey = more if _legal(path, more) else survey
    legal = _legal(path, survey)
    assert legal is not None, json.dumps(survey)
    return legal


def write_answers(survey: Survey, seed: int, people: int, path: Path) -> None:
    """Write a table of the answers of made-up people."""
    rows = made_up_answers(survey, people, np.random.default_rng(seed))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [question.id for question in survey.questions])
        writer.writeheader()
        writer.writerows(rows)
