"""What the page Together, its downloads and the description of the API know of a verb."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from markupsafe import Markup

from analysis.core.table import Simulated
from analysis.survey.json_schema import Schema
from analysis.survey.survey import Survey
from server.console.blueprint import View
from server.console.columns import Names
from server.store.work import Job
from server.work.computing import Computed, Computing

#: The pattern of a column's name, for parameters.
COLUMN = "^[a-z0-9.-]{0,129}$"


@dataclass(frozen=True)
class Download:
    """A table of a result that can be downloaded.

    Attributes
    ----------
    name : str
        The beginning of its address.
    rows : str
        Its key in the result.
    about : str
        What it has, in a few words.
    schema : str
        The name of its rows in the description of the API.
    kinds : sequence of type
        The classes whose fields are its columns, in order. They are followed by how many of the
        reports were simulated.
    """

    name: str
    rows: str
    about: str
    schema: str
    kinds: Sequence[type]

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [field.name for kind in (*self.kinds, Simulated) for field in fields(kind)]


class Offered(ABC):
    """A verb as the page Together offers it.

    Attributes
    ----------
    verb : type
        The verb, whose name is that of the work.
    field : str
        The field that only its form and its addresses have.
    parameters : sequence of Schema
        The fields of its addresses, as the description of the API has them.
    downloads : sequence of Download
        The tables of its result.
    """

    verb: type[Computed]
    field: str
    parameters: Sequence[Schema]
    downloads: Sequence[Download]

    @property
    def template(self) -> str:
        """The template of its result."""
        return f"together/{self.verb.stored_as}.html"

    @property
    def form_template(self) -> str:
        """The template of its form."""
        return f"together/{self.verb.stored_as}-form.html"

    @abstractmethod
    def ask(self, view: View) -> Computed:
        """Return the verb that the address or form asks for; errors are those of `wrong`."""

    def asked(self, view: View) -> Computing:
        """Return the work that the address or form asks for."""
        wave = view.wave
        where = wave.survey.id, wave.asked_version, wave.number, wave.shown
        return Computing(*where, view.level, self.ask(view))

    @abstractmethod
    def fields(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the address that asks for the same as some work."""

    @abstractmethod
    def title(self, asked: Mapping[str, Any], names: Names) -> str:
        """Return what it is about, in the words of the survey."""

    def form(self, survey: Survey) -> dict[str, Any]:
        """Return the values that the template of its form shows, by their names there."""
        return {}

    @abstractmethod
    def values(self, job: Job, names: Names) -> dict[str, Any]:
        """Return the values that its template shows of a result, by their names there."""

    @abstractmethod
    def pictures(self, job: Job, names: Names) -> list[tuple[str, Markup]]:
        """Return the pictures of a result, each with its title."""
