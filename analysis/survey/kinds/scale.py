"""Points in an order, such as from "never" to "always"."""

import re
from fractions import Fraction
from typing import Any

from analysis.core.domain import NO_ANSWER, RESERVED, Categories
from analysis.survey.document import ID, Table
from analysis.survey.json_schema import TEXT, Schema
from analysis.survey.kinds.choice import Choice

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,5})", re.ASCII)


class Likert(Choice):
    """``kind = "scale"`` with ``points``, a list of labels in order; ``matrix`` optional.

    The id of a point is its label where all labels are ids, else its place: 1, 2, 3, ... Its score,
    for the mean, is its label where all labels are whole numbers, else its place.
    """

    name = "scale"

    def read(self, table: Table) -> dict[str, Any]:
        points = table.take(
            "points",
            lambda value: isinstance(value, list) and 2 <= len(value) <= 50,
            "a list of 2 to 50 labels in order",
        )
        texts: list[Any] = []
        for place, point in enumerate(points, 1):
            label = str(point) if type(point) is int else point
            part = Table({"label": label}, f"{table.place}: point {place}", table.languages)
            if part.text("label") in texts:
                raise table.error("points", "labels that differ")
            texts.append(label)
        own = all(isinstance(text, str) and ID.fullmatch(text) for text in texts)
        if own and set(texts) & set(RESERVED):
            raise table.error("points", f"other labels than {', '.join(RESERVED)}, or no ids")
        ids = texts if own else [str(place) for place in range(1, len(texts) + 1)]
        options = [{"id": one, "text": text} for one, text in zip(ids, texts, strict=True)]
        matrix = table.text("matrix", default=None)
        return {"options": options} | ({} if matrix is None else {"matrix": matrix})

    def schema(self) -> tuple[Schema, Schema]:
        required, optional = super().schema()
        return required, optional | {"matrix": TEXT}

    def domain(self, question: dict[str, Any]) -> Categories:
        ids = [option["id"] for option in question["options"]]
        texts = [option["text"] for option in question["options"]]
        numeric = all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in texts)
        scores = texts if numeric else range(1, len(ids) + 1)
        return Categories(
            tuple(ids + [NO_ANSWER] * question["no_answer"]), tuple(map(Fraction, scores))
        )
