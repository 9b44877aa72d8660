"""Tables: rows of one class, whose fields say once what each column means.

A column's type and meaning are those of its field, ``Annotated[type, "Meaning."]``. The description
of a bundle, Croissant and OpenAPI are made from them.
"""

from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Place:
    """The columns with which the tables of a survey begin: where their numbers come from."""

    survey: Annotated[str, "Id of the survey."]
    version: Annotated[str, "SHA-256 of the frozen survey."]
    wave: Annotated[int, "Number of the wave."]


@dataclass(frozen=True)
class MadeUp:
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
