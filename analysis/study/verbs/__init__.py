"""What can be asked of a source: each verb is a frozen dataclass whose fields are its options.

Commands make their options from these fields, and the console's work the keys of what it stores.
The modules of verbs import neither numpy nor scipy, since a command's help needs only the fields.
So a verb imports its mathematics where it answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any, ClassVar

from analysis.study.infinities import without_infinities
from analysis.study.sources import Source

#: What a verb is asked of: each has what the verb needs.
Sources = Sequence[Source]
#: Called with the part that is done, in [0, 1].
Progress = Callable[[float], None]


def quiet(_: float) -> None:
    """Show no progress."""


class Misused(ValueError):
    """Options that do not go together, or an option whose value is in no possible form.

    `option` is the name of the one whose value is wrong; empty if several do not go together.
    """

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(message)
        self.option = option


@dataclass(frozen=True)
class Option:
    """How a field of a verb is asked for.

    Attributes
    ----------
    help : str
        A sentence for the command's help.
    word : str
        The option's name if it is not the field's.
    metavar : str, optional
        What stands for the value in the help.
    choices : sequence of str
        All possible values; empty if any text of the field's type is possible.
    least, most : int, optional
        The limits of a number.
    kind : type
        The type of one value: ``bool`` for a flag.
    many : bool
        Whether it can be given several times.
    is_argument : bool
        Whether it is a word without an option.
    """

    help: str
    word: str = ""
    metavar: str | None = None
    choices: Sequence[str] = ()
    least: int | None = None
    most: int | None = None
    kind: type = str
    many: bool = False
    is_argument: bool = False


def option(default: Any, help_: str, kind: type = str, **how: Any) -> Any:
    """Return the field of an option; it must be given if its default is `MISSING`."""
    return field(default=default, metadata={"option": Option(help_, kind=kind, **how)})


def flag(help_: str, word: str = "") -> Any:
    """Return the field of an option that is given or not."""
    return option(False, help_, bool, word=word)


def argument(metavar: str, default: Any = MISSING, many: bool = False) -> Any:
    """Return the field of a word without an option, or with `many` of all other words."""
    about = Option("", metavar=metavar, many=many, is_argument=True)
    return field(default=default, metadata={"option": about})


def choice(choices: Sequence[str], help_: str, word: str = "") -> Any:
    """Return the field of an option that is one of several words, by default the first."""
    return option(choices[0], help_, choices=choices, word=word)


@dataclass(frozen=True)
class Table:
    """Rows in the form that other programs read, and their columns in order."""

    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]


@dataclass(frozen=True)
class Answer:
    """What a verb found.

    Attributes
    ----------
    tables : sequence of Table
        The table that was asked for, and others that belong below it.
    notes, remarks : sequence of str
        Sentences that a reader needs before the tables, and after them.
    whole : dict, optional
        Everything as one JSON object, where tables do not hold all.
    """

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    whole: dict[str, Any] | None = None


class Verb(ABC):
    """Something to be asked of sources. The docstring of a subclass is the help of its command."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    #: Whether it has intervals, and thus a confidence level.
    has_level: ClassVar[bool] = True
    #: The forms in which its tables are printed.
    forms: ClassVar[Sequence[str]] = ("csv", "json")
    #: Whether an answer can take a minute, so that a bar should show how far it has come.
    is_long: ClassVar[bool] = False
    #: The options that name the waves it can be asked about: ``wave``, ``waves`` or both.
    #: `any_wave` says that ``wave`` can be "all".
    asks: ClassVar[Sequence[str]] = ("wave",)
    any_wave: ClassVar[bool] = False
    #: Whether it can be asked about a table from elsewhere.
    of_tables: ClassVar[bool] = True

    @property
    def reads(self) -> str:
        """How many waves it is about: ``one``, ``two`` or ``several``."""
        return "one"

    @property
    def needs(self) -> Sequence[str]:
        """What its source must have, by the words of `analysis.study.sources`."""
        return ()

    @abstractmethod
    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        """Return what it finds.

        Parameters
        ----------
        sources : sequence of Source
            As many as it `reads`, in their order in time.
        level : float
            The confidence level of intervals, in (0, 1).
        progress : function, optional
            Called with the part that is done.

        Raises
        ------
        ValueError
            If the sources cannot answer this; `DataError` if they lack what the verb needs.
        """


def table_of(
    kind: type, rows: Sequence[Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Table:
    """Return the table of some results of one class, with the same cells before and after each."""
    columns = [*before, *(column.name for column in fields(kind)), *after]
    return Table([{**before, **without_infinities(asdict(row)), **after} for row in rows], columns)


def joined(tables: Sequence[Table]) -> Table:
    """Return the rows of one or more tables with the same columns."""
    return Table([row for table in tables for row in table.rows], tables[0].columns)
