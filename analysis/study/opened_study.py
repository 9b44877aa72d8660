"""A study that a statistician opens: tables, columns and models of one wave."""

import re
import urllib.request
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from analysis.core.errors import DataError
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import column_names, has_columns, variable
from analysis.estimate.estimates import Estimate, estimates
from analysis.study.bundle import LARGEST, BundledStudy
from analysis.study.crosstab import Crosstab, crosstab
from analysis.study.frames import to_frame
from analysis.study.regression import Regression, regress
from analysis.study.shown import Results, draw_estimates
from analysis.study.sources import REPORTS, check_has
from analysis.study.sources.bundled import wave_of_bundle
from analysis.study.sources.counted import CountedWave
from analysis.study.sources.files import bundle_in, check_asked
from analysis.survey.files import open_file
from analysis.survey.survey import Survey

#: The first bytes of a database of SQLite.
_SQLITE = b"SQLite format 3\0"
#: How an address of PostgreSQL begins, or its parameters in another form. Either can hold a
#: password, so no message repeats it.
_POSTGRESQL = re.compile(r"postgres(ql)?(\+\w+)?:|(\w+ *= *\S+ +)*password *=", re.IGNORECASE)
#: The entry points that read databases. This package reads none itself, so a reader registers here.
_READERS = "deniable.studies"
#: The seconds that a server may pause while it sends a bundle.
_PATIENCE = 60


def _of_database(
    place: str, shown: str, survey: str | None, wave: int | None, version: str | None
) -> BundledStudy:
    """Return a study in a database, at a place that messages show as `shown`."""
    readers = entry_points(group=_READERS, name="database")
    if not readers:
        raise DataError(
            f"{shown}: expected a bundle, got a database, for which no reader is installed: "
            f"write a bundle with deniable bundle ID --db {shown} --output FILE.zip"
        )
    read = next(iter(readers)).load()
    content: BundledStudy = read(place, survey, wave, version, _LEVEL)
    return content


#: The level of intervals of a study from a database.
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Study:
    """One wave of one version of a survey.

    Attributes
    ----------
    content : BundledStudy
        The content of a bundle: tallies, reports, and facts about the fieldwork.
    """

    content: BundledStudy

    @classmethod
    def open(
        cls,
        source: str | Path,
        survey: str | None = None,
        wave: int | None = None,
        version: str | None = None,
    ) -> "Study":
        """Open a bundle, with the checks of ``deniable verify``, or a server's database.

        A warning says if the programs of a bundle are unknown to this release.

        Parameters
        ----------
        source : str or Path
            The file that ``deniable bundle ID --output FILE.zip`` wrote; an address (http or https)
            from which anybody can get it; or the database of a server, from which all stored
            reports are read at one moment, as by commands, and of which no row is changed: an
            SQLite file, or ``postgresql://USER@HOST/DATABASE``, for which psycopg must be
            installed.
        survey : str, optional
            The survey's id. It is needed if a database has several surveys.
        wave : int, optional
            The wave's number. By default, the highest wave of a database.
        version : str, optional
            The first digits of the version's hash. By default, the last published version of a
            database.

        Raises
        ------
        DataError
            If the source cannot be read, if a check of it fails, or if it is of another survey,
            wave or version.
        """
        if not isinstance(source, str | Path):
            raise TypeError(f"expected a file or an address, got {type(source).__name__}")
        name = str(source)
        if _POSTGRESQL.match(name):
            return cls(_of_database(name, "ADDRESS", survey, wave, version))
        try:
            if name.startswith(("https://", "http://")):
                with urllib.request.urlopen(name, timeout=_PATIENCE) as answer:
                    data = answer.read(LARGEST + 1)
            else:
                with open_file(Path(source)) as file:
                    data = file.read(len(_SQLITE))
                    data += b"" if data == _SQLITE else file.read(LARGEST + 1)
                if data == _SQLITE:
                    # The file is closed by now. Closing it later would release SQLite's locks on
                    # it.
                    return cls(_of_database(name, name, survey, wave, version))
        except DataError:
            raise
        except (OSError, ValueError) as error:
            raise DataError(f"{name}: cannot be read: {error}") from None
        if data.startswith(_SQLITE):
            raise DataError(f"{name}: expected a bundle at an address, got a database")
        content, verified = bundle_in(name, data)
        if not verified.knows_programs:
            told = f"its programs are unknown to this release, and {verified.release} wrote it"
            warnings.warn(f"{name}: {told}: run none of them", stacklevel=2)
        check_asked(name, content.survey, content.wave, survey, wave, version)
        return cls(content)

    @property
    def survey(self) -> Survey:
        """The frozen survey that was asked."""
        return self.content.survey

    @property
    def n(self) -> int:
        """The number of counted reports."""
        return self.content.fieldwork.reports

    def __repr__(self) -> str:
        return f"<Study {self.survey.id}, wave {self.content.wave}, {self.n:,} reports>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.estimates()._repr_html_()}"

    @property
    def names(self) -> list[str]:
        """The names of all columns that can be crossed or modeled."""
        questions = filter(has_columns, self.survey.questions)
        return [name for question in questions for name in column_names(question)]

    def estimates(self, confidence_level: float | None = None, **options: Any) -> Results[Estimate]:
        """Return every share, mean and quantile with its interval.

        Parameters
        ----------
        confidence_level : float, optional
            The level, in (0, 1). By default, that of the bundle.
        options
            `method`, `simultaneous` and `spread` of `analysis.estimates`.
        """
        level = self.content.conf_level if confidence_level is None else confidence_level
        rows = estimates(self.survey, self.content.tallies, level, **options)
        return Results(rows, partial(draw_estimates, self.survey))

    def to_frame(self) -> Any:
        """Return the estimates as a DataFrame."""
        return to_frame(self.estimates())

    @cached_property
    def _wave(self) -> CountedWave:
        return wave_of_bundle(self.content)

    def columns(self, names: Sequence[str]) -> list[Column]:
        """Return columns of the respondents who were asked all of them.

        Parameters
        ----------
        names : sequence of str
            Some of `names`. In a name, `_` can stand for `-` and `.`, as in formulas.

        Raises
        ------
        ValueError
            If there is no such column, or if its question's answers make no columns.
        DataError
            If the bundle has no reports.
        """
        check_has(self._wave, [REPORTS])
        return self._wave.columns(names)[0]

    def crosstab(self, first: str, second: str, confidence_level: float | None = None) -> Crosstab:
        """Return the table of two columns, given by their names; see `analysis.crosstab`."""
        level = self.content.conf_level if confidence_level is None else confidence_level
        if variable(first) == variable(second):
            raise ValueError(f"expected two columns, got {first} twice")
        one, other = self.columns([first, second])
        return crosstab(one, other, level)

    def regress(self, formula: str, **options: Any) -> Regression:
        """Return a model of the respondents' answers.

        Parameters
        ----------
        formula : str
            An example is ``"harassed ~ team"``. In names, `_` stands for `-` and `.`. A formula is
            a program, so do not run one from a stranger.
        options
            Those of `analysis.regress`.
        """
        options.setdefault("confidence_level", self.content.conf_level)
        check_has(self._wave, [REPORTS])
        modelled = self._wave.modelled(formula, (), robust=False)
        return regress(modelled.formula, modelled.columns, **options)
