"""Versions of a survey that can be pooled, since they differ only in their words.

Their reports went through the same randomizers, so their counts add up. Nothing more is needed for
corrected typing errors in a question's text. If the labels of answers changed, somebody who knows
both versions has to declare that they mean the same.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from analysis.survey.digest import WITHOUT_MEANING
from analysis.survey.question import Question
from analysis.survey.survey import Survey, version_of

#: The keys of a question that are words around it, and those that are labels of its answers.
_WORDS, _LABELS = ("text", "help", "matrix"), ("options", "unit")

#: Declarations that changed labels mean the same: a question, and both hashes of labels
#: (`labels_of`).
Declared = Collection[tuple[str, str, str]]


@dataclass(frozen=True)
class Relabelled:
    """A question whose labels differ between two versions, with the hashes of both."""

    question: str
    before: str
    after: str


def labels_of(question: Question) -> str:
    """Return the SHA-256 of the labels of a question's answers, in hexadecimal."""
    return version_of({key: question.spec[key] for key in _LABELS if key in question.spec})


def poolable(survey: Survey, other: Survey) -> bool:
    """Return whether two versions ask the same questions through the same randomizers.

    Words may differ: texts of questions, and labels of answers, which `relabelled` lists.
    """
    return _fixed(survey) == _fixed(other)


def relabelled(survey: Survey, other: Survey, declared: Declared = ()) -> list[Relabelled]:
    """Return the questions of two poolable versions whose labels differ and are not `declared`.

    Declarations are symmetric and transitive.
    """
    found = []
    for question, before in zip(survey.questions, other.questions, strict=True):
        labels = labels_of(before), labels_of(question)
        pairs = [(one, same) for name, one, same in declared if name == question.id]
        if labels[1] not in _reached(labels[0], pairs):
            found.append(Relabelled(question.id, *labels))
    return found


def reworded(survey: Survey, other: Survey) -> list[str]:
    """Return the ids of questions of two poolable versions whose texts or labels differ."""
    return [
        question.id
        for question, before in zip(survey.questions, other.questions, strict=True)
        if any(question.spec.get(key) != before.spec.get(key) for key in (*_WORDS, *_LABELS))
    ]


def _reached(start: str, pairs: Collection[tuple[str, str]]) -> set[str]:
    """Return all labels that are declared to mean the same as those at the start."""
    reached, fresh = {start}, {start}
    while fresh:
        fresh = {end for pair in pairs if fresh & {*pair} for end in pair} - reached
        reached |= fresh
    return reached


def _fixed(survey: Survey) -> list[object]:
    """Return all that must be equal in versions that are pooled."""
    drawn = [(draw.id, draw.randomizer.to_json()) for draw in survey.draws]
    return [*_questions(survey), *drawn]


def _questions(survey: Survey) -> Iterator[object]:
    for question in survey.questions:
        spec = question.spec
        fixed = {key: spec[key] for key in spec if key not in (*WITHOUT_MEANING, *_WORDS, *_LABELS)}
        ids = [option["id"] for option in spec.get("options", [])]
        yield fixed, ids
