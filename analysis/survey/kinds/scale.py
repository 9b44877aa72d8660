"""A scale: ordered points, such as from "never" to "always"."""

import re
from fractions import Fraction
from typing import Any

from analysis.core.domain import NO_ANSWER, RESERVED, Categories
from analysis.survey.document import ID, Table
from analysis.survey.json_schema import TEXT, Schema
from analysis.survey.kinds.choice import Choice, ids_of

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,5})", re.ASCII)


class Likert(Choice):
    """``kind = "scale"`` with ``points``, a list of labels in order, and an optional ``matrix``.

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
        texts: list[Any] = []
        for number, point in enumerate(points, 1):
            label = str(point) if type(point) is int else point
            part = Table({"label": label}, f"{table.place}: point {number}", table.languages)
            if part.text("label") in texts:
                raise table.error("points", "labels that differ")
            texts.append(label)
        are_ids = all(isinstance(text, str) and ID.fullmatch(text) for text in texts)
        if are_ids and set(texts) & set(RESERVED):
            raise table.error("points", f"labels other than {', '.join(RESERVED)}")
        options = [
            {"id": text if are_ids else str(number), "text": text}
            for number, text in enumerate(texts, 1)
        ]
        matrix = table.text("matrix", default=None, may_tell_answers=True)
        return {"options": options} | ({} if matrix is None else {"matrix": matrix})

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        points = {"points": [option["text"] for option in question["options"]]}
        return points | {key: question[key] for key in ("matrix",) if key in question}

    def schema(self) -> tuple[Schema, Schema]:
        required, _ = super().schema()
        return required, {"matrix": TEXT}

    def domain(self, question: dict[str, Any]) -> Categories:
        texts = [option["text"] for option in question["options"]]
        numeric = all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in texts)
        scores = texts if numeric else range(1, len(texts) + 1)
        ids = (*ids_of(question), *[NO_ANSWER] * question["no_answer"])
        return Categories(ids, tuple(map(Fraction, scores)))
