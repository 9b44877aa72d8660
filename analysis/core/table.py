"""Tables: rows of one class, whose fields say once what each column means.

A column's type and meaning are those of its field, ``Annotated[type, "Meaning."]``. The description
of a bundle, Croissant and OpenAPI are made from them.
"""

from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

#: The columns that several tables share.
QuestionId = Annotated[str, "Id of the question."]
QuestionKind = Annotated[str, "Kind of the question."]
Term = Annotated[str, "Value, no-answer, mean, variance, q25, median or q75."]
ValueLabel = Annotated[str, "Text of the value, in the survey's first language."]
ReportEpsilon = Annotated[float, "ε of one report."]
MechanismName = Annotated[str, "Name of the mechanism."]
PromiseOrValue = Annotated[str, "The promise; in the codebook, the id of the value."]
ChanceIfTrue = Annotated[
    float | None, "Probability that a report supports the value if it is true."
]
ChanceIfOther = Annotated[
    float | None, "Probability that a report supports the value if another is true."
]
Cohort = Annotated[int, "Cohort; 0 if there are none."]
Symbol = Annotated[int, "Symbol that a report counts for."]


@dataclass(frozen=True)
class Origin:
    """The columns with which the tables of a survey begin: where their numbers come from."""

    survey: Annotated[str, "Id of the survey."]
    version: Annotated[str, "SHA-256 of the frozen survey."]
    wave: Annotated[int, "Number of the wave."]


@dataclass(frozen=True)
class Simulated:
    """The column with which they end."""

    simulated: Annotated[int, "Number of the wave's reports that were simulated."]


def columns_in(*kinds: type) -> dict[str, tuple[Any, str]]:
    """Return the type and the meaning of each column of tables of some classes, in order.

    The meaning is empty if the class does not state it.
    """
    hints = [hint for kind in kinds for hint in get_type_hints(kind, include_extras=True).items()]
    return {
        name: (get_args(hint)[0], get_args(hint)[1])
        if get_origin(hint) is Annotated
        else (hint, "")
        for name, hint in hints
    }
