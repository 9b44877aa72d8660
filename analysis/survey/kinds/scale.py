"""A scale: ordered points, such as from "never" to "always"."""

import re
from fractions import Fraction
from typing import Any

from analysis.core.domain import NO_ANSWER, RESERVED, Categories
from analysis.survey.codes import CODE, check_differ, read_code
from analysis.survey.document import ID, Table
from analysis.survey.json_schema import TEXT, Schema
from analysis.survey.kinds.choice import Choice, ids_of

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,5})", re.ASCII)


class Likert(Choice):
    """``kind = "scale"`` with ``points``, a list of labels in order, and an optional ``matrix``.

    If points have a ``code``, each is a table ``{text = "...", code = 5}`` in place of its label.

    The id of a point is its label if all labels are ids, and otherwise its number 1, 2, 3, .... Its
    score for the mean is its label if all labels are whole numbers, and otherwise its number.
    """

    name = "scale"

    def read(self, table: Table) -> dict[str, Any]:
        points = table.take(
            "points",
            lambda value: isinstance(value, list) and 2 <= len(value) <= 50,
            "a list of 2 to 50 labels in order",
        )
        are_tables = [isinstance(point, dict) and "text" in point for point in points]
        if any(are_tables) and not all(are_tables):
            raise table.error("points", "all labels, or all tables with text")
        key = "text" if are_tables[0] else "label"
        texts: list[Any] = []
        codes: list[dict[str, Any]] = []
        for number, point in enumerate(points, 1):
            data = point if are_tables[0] else {key: point}
            label = str(data[key]) if type(data[key]) is int else data[key]
            place = f"{table.place}: point {number}"
            part = Table(data | {key: label}, place, table.languages)
            if part.text(key) in texts:
                raise table.error("points", "labels that differ")
            texts.append(label)
            codes.append(read_code(part))
            part.finish()
        are_ids = all(isinstance(text, str) and ID.fullmatch(text) for text in texts)
        if are_ids and set(texts) & set(RESERVED):
            raise table.error("points", f"labels other than {', '.join(RESERVED)}")
        options = [
            {"id": text if are_ids else str(number), "text": text, **code}
            for number, (text, code) in enumerate(zip(texts, codes, strict=True), 1)
        ]
        check_differ(table.place, options)
        matrix = table.text("matrix", default=None, may_tell_answers=True)
        return {"options": options} | ({} if matrix is None else {"matrix": matrix})

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        options = question["options"]
        keys = ("text", CODE)
        tables = [{key: option[key] for key in keys if key in option} for option in options]
        has_codes = any(CODE in option for option in options)
        points = tables if has_codes else [option["text"] for option in options]
        return {"points": points} | {key: question[key] for key in ("matrix",) if key in question}

    def schema(self) -> tuple[Schema, Schema]:
        required, _ = super().schema()
        return required, {"matrix": TEXT}

    def domain(self, question: dict[str, Any]) -> Categories:
        texts = [option["text"] for option in question["options"]]
        numeric = all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in texts)
        scores = texts if numeric else range(1, len(texts) + 1)
        ids = (*ids_of(question), *[NO_ANSWER] * question["no_answer"])
        return Categories(ids, tuple(map(Fraction, scores)))
