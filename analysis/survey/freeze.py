"""Freeze a checked survey into the form that everybody answers, and thaw its stored form.

Mechanisms are chosen and compiled once. Thawing checks all that can be checked: the hash, the
randomizers, and the stated limits.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from analysis.core.channels.pattern import MOST_PARTS
from analysis.core.errors import SurveyError
from analysis.core.joint_randomizer import JointRandomizer, Marginal, Place
from analysis.core.memory import NEW_MEMORY, check_frozen, forever_of
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.joint_goals import AIMS
from analysis.mechanisms.selection import choose, compile_as
from analysis.mechanisms.together import TOGETHER
from analysis.survey.digest import above
from analysis.survey.document import ID
from analysis.survey.joint_draw import JointDraw, compile_together, limits_of, sampled
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.survey import (
    FORMATS,
    LONGEST_REQUEST,
    Survey,
    asked_in,
    version_of,
    wishes_of,
)


def freeze(spec: dict[str, Any], place: str = "survey") -> Survey:
    """Choose the mechanisms of a checked survey, compile them, and return it with its version."""
    drawn: dict[str, JointRandomizer] = {}
    asked, questions = asked_in(spec), []
    by_id = {question["id"]: question for question in asked}
    randomizers: dict[str, Randomizer[Any, Any]] = {}
    places: dict[str, Place] = {}
    for table in spec.get("together", []):
        try:
            joint = compile_together(table, [by_id[name] for name in table["questions"]])
        except ValueError as error:
            raise SurveyError(f'{place}: together "{table["id"]}": {error}') from None
        drawn[table["id"]] = joint
        randomizers |= dict(zip(table["questions"], joint.marginals, strict=True))
        places |= _places(table, joint)
    for question in asked:
        if question["id"] in randomizers:
            questions.append(
                Question(
                    question,
                    randomizers[question["id"]],
                    above(spec["questions"], question),
                    places[question["id"]],
                )
            )
            continue
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
            told = SurveyError(f'{place}: question "{question["id"]}": {error}')
            raise told.of(question["id"]) from None
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
    survey = Survey(spec, "", tuple(questions), _joined(spec, drawn, questions))
    return replace(survey, version=version_of(survey.to_json()))


def _joined(
    spec: dict[str, Any], drawn: dict[str, JointRandomizer], questions: Sequence[Question]
) -> tuple[JointDraw, ...]:
    """Return the ``[[together]]`` tables of a survey with their randomizers and questions."""
    by_id = {question.id: question for question in questions}
    return tuple(
        JointDraw(table, drawn[table["id"]], tuple(by_id[name] for name in table["questions"]))
        for table in spec.get("together", [])
    )


def thaw(data: dict[str, Any], version: str) -> Survey:
    """Return the survey that `Survey.to_json` wrote, after checking all that can be checked.

    Raises
    ------
    ValueError
        If the version is not its hash, or if a randomizer is unsound or spends more ε than asked.
    """
    survey, randomizers = data["survey"], data["randomizers"]
    if version_of(data) != version:
        raise ValueError(f"survey {survey['id']}: the stored form does not have version {version}")
    file_format = survey.get("format", FORMATS[0])
    if type(file_format) is not int or file_format not in FORMATS:
        known = ", ".join(map(str, FORMATS))
        raise ValueError(
            f"survey {survey['id']}: format must be one of {known}, got {file_format!r}"
        )
    drawn, marginals = _thawed_together(survey, randomizers)
    alone = [spec["id"] for spec in asked_in(survey) if spec["id"] not in marginals]
    if set(randomizers) != {*alone, *drawn}:
        raise ValueError(
            f"survey {survey['id']}: every question must have a randomizer, its own or its "
            "table's, and notes must have none"
        )
    places: dict[str, Place] = {}
    for table in survey.get("together", []):
        places |= _places(table, drawn[table["id"]])
    questions = []
    for spec in asked_in(survey):
        if spec["id"] in marginals:
            law, domain = marginals[spec["id"]], KINDS[spec["kind"]].domain(spec)
            if ("shows_if" in spec and not spec["no_answer"]) or not law.encoder.fits(domain):
                raise ValueError(f"question {spec['id']}: its draw does not fit its answers")
            surroundings = above(survey["questions"], spec)
            questions.append(Question(spec, law, surroundings, places[spec["id"]]))
            continue
        randomizer = Randomizer.from_json(randomizers[spec["id"]])
        randomizer.check_epsilon(Fraction(repr(spec["epsilon"])))
        randomizer.check_forever(forever_of(spec))
        check_frozen(spec, randomizer.stages is not None)
        mechanism = MECHANISMS.get(spec["mechanism"]["name"])
        if mechanism is None or ("shows_if" in spec and not spec["no_answer"]):
            raise ValueError(
                f"question {spec['id']}: its mechanism must be known, and no_answer must be true "
                "if it has shows_if"
            )
        if randomizer.delta > Fraction(repr(spec.get("delta", 0))):
            raise ValueError(f"question {spec['id']}: its delta is more than was asked for")
        domain = KINDS[spec["kind"]].domain(spec)
        if not randomizer.encoder.fits(domain):
            raise ValueError(f"question {spec['id']}: its encoder does not fit its answers")
        if not mechanism.fits(domain):
            raise ValueError(f"question {spec['id']}: its mechanism does not fit its answers")
        question = Question(spec, randomizer, above(survey["questions"], spec))
        if file_format > 1 and question.charged_as_stated:
            raise ValueError(
                f"question {spec['id']}: delta, and stable without required, need format 1"
            )
        questions.append(question)
    return Survey(survey, version, tuple(questions), _joined(survey, drawn, questions))


def _thawed_together(
    survey: dict[str, Any], randomizers: dict[str, Any]
) -> tuple[dict[str, JointRandomizer], dict[str, Marginal]]:
    """Return the checked randomizer of each ``[[together]]`` table, and the law of each question.

    Raises
    ------
    ValueError
        If a randomizer is unsound or spends more than its table states, or if a question is missing
        or named twice.
    """
    drawn: dict[str, JointRandomizer] = {}
    marginals: dict[str, Marginal] = {}
    specs = {spec["id"]: spec for spec in asked_in(survey)}
    _check_tables(survey.get("together", []))
    for table in survey.get("together", []):
        names, place = table["questions"], f"together {table['id']}"
        if table["id"] in drawn or table["id"] in {entry["id"] for entry in survey["questions"]}:
            raise ValueError(
                f"{place}: its id must differ from those of all questions, notes and other tables"
            )
        if len(set(names)) != len(names) or any(n not in specs or n in marginals for n in names):
            raise ValueError(f"{place}: each question must be in the survey, and in one table only")
        try:
            samples = sampled(table, [specs[name] for name in names])
            if "ask" in table and not samples:
                raise ValueError(
                    "each question must be in a set of questions that are asked together"
                )
            joint = JointRandomizer.from_json(randomizers.get(table["id"], {}), samples)
            joint.check_limits(*limits_of(table))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        if len(joint.encoders) != len(names):
            raise ValueError(f"{place}: its randomizer must have an encoder for each question")
        for name, marginal in zip(names, joint.marginals, strict=True):
            stated = specs[name]
            check_frozen(stated, False)
            if stated["epsilon"] != table["epsilon_each"] or "epsilon_forever" in stated:
                raise ValueError(f"question {name}: its epsilon must be the table's epsilon_each")
            if stated["mechanism"] != {"name": TOGETHER}:
                raise ValueError(f"question {name}: its mechanism must be {TOGETHER}")
            marginals[name] = marginal
        drawn[table["id"]] = joint
    return drawn, marginals


def _places(table: dict[str, Any], joint: JointRandomizer) -> dict[str, Place]:
    """Return each question's part of a table's draw, or its first part if it has several."""
    return {
        name: Place(table["id"], joint.channel, parts.start)
        for name, parts in zip(table["questions"], joint.parts, strict=True)
    }


def _check_tables(tables: Any) -> None:
    """Raise ValueError unless ``together`` is a list of tables with all keys, and no others."""
    needed = {"id", "questions", "epsilon", "epsilon_each"}
    for table in tables if isinstance(tables, list) else [tables]:
        keys = set(table) if isinstance(table, dict) else set()
        if not (keys >= needed and keys <= {*needed, "aim", "ask", "reason"}):
            raise ValueError(f"together must be a list of tables of {', '.join(sorted(needed))}")
        total, each = table["epsilon"], table["epsilon_each"]
        names = table["questions"]
        if not (isinstance(table["id"], str) and ID.fullmatch(table["id"])):
            raise ValueError("together: id must be an id of a-z, 0-9 and -, at most 64 long")
        if not (isinstance(names, list) and 2 <= len(names) <= MOST_PARTS):
            raise ValueError(
                f"together {table['id']}: it must have from 2 to {MOST_PARTS} questions"
            )
        if not all(type(limit) in (int, float) for limit in (total, each)) or not each <= total:
            raise ValueError(f"together {table['id']}: epsilon_each must be at most epsilon")
        if "ask" in table and not (type(table["ask"]) is int and 2 <= table["ask"] < len(names)):
            raise ValueError(
                f"together {table['id']}: ask must be a whole number from 2 to one less than the "
                "number of questions"
            )
        if table.get("aim", AIMS[0]) not in AIMS:
            raise ValueError(f"together {table['id']}: aim must be one of {', '.join(AIMS)}")


def _tables(spec: dict[str, Any]) -> dict[str, str]:
    """Return the id of the ``[[together]]`` table of each question that is in one."""
    return {name: table["id"] for table in spec.get("together", []) for name in table["questions"]}
