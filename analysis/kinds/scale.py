"""Points in an order, such as from "never" to "always"."""

import re
from fractions import Fraction
from typing import Any

from analysis.document import ID, Table
from analysis.domain import NO_ANSWER, Scale
from analysis.errors import shown
from analysis.kinds.choice import Choice

_NUMBER = re.compile(r"(0|[1-9]\d{0,5})")


class Likert(Choice):
    """``kind = "scale"`` with ``points``, a list of labels in order.

    The id of a point is its label where all labels are ids, else its place: 1, 2, 3, ... Its score,
    for the mean, is its label where all labels are whole numbers, else its place.
    """

    name = "scale"

    def read(self, table: Table) -> dict[str, Any]:
        points = table.take(
            "points",
            lambda value: isinstance(value, list) and len(value) >= 2,
            "a list of at least 2 labels in order",
        )
        labels = [
            str(label) if type(label) is int else Table({"label": label}, "", table.languages)
            for label in points
        ]
        texts = []
        for place, label in enumerate(labels, 1):
            if isinstance(label, Table):
                label.place = f"{table.place}: point {place}"
                texts.append(label.text("label"))
            else:
                texts.append(label)
        own = all(isinstance(text, str) and ID.fullmatch(text) for text in texts)
        ids = texts if own else [str(place) for place in range(1, len(texts) + 1)]
        for place, one in enumerate(ids):
            if one in ids[:place] or one == NO_ANSWER:
                raise table.error("points", f"labels that differ, {NO_ANSWER} not among them")
        return {
            "options": [{"id": one, "text": text} for one, text in zip(ids, texts, strict=True)]
        }

    def domain(self, question: dict[str, Any]) -> Scale:
        ids = [option["id"] for option in question["options"]]
        numeric = all(_NUMBER.fullmatch(one) for one in ids)
        scores = [Fraction(one) if numeric else Fraction(place) for place, one in enumerate(ids, 1)]
        if len(set(scores)) < 2:
            raise ValueError(f"points must differ, got {shown(ids)}")
        return Scale(tuple(ids + [NO_ANSWER] * question["no_answer"]), tuple(scores))
