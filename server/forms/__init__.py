"""Questionnaires of other tools become survey files.

Each tool has a reader, which finds out what a file asks in our terms; `server.forms.building` makes
the survey file, and accounts for each row of the source.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from analysis.core.csv_json import to_text
from server.forms.change import Row
from server.forms.form import LARGEST, Form, FormError, Imported, Wanted, Written

if TYPE_CHECKING:
    from analysis.survey.survey import Survey

__all__ = [
    "TOOLS",
    "WRITTEN",
    "FormError",
    "Imported",
    "Row",
    "Wanted",
    "Written",
    "read_form",
    "report",
    "write_form",
]

#: Each tool in words, by the name of its reader: a module with `is_ours` and `read`.
TOOLS = {
    "xlsform": "XLSForm (Kobo, ODK, SurveyCTO)",
    "limesurvey": "LimeSurvey (.lss, or a table with tabs)",
    "surveyjs": "SurveyJS (JSON)",
    "qualtrics": "Qualtrics (.qsf)",
    "googleforms": "Google Forms (JSON of its API)",
}

#: The tools for which surveys are written, with the ending and the media type of their files: the
#: reader of each has a module `writing`.
WRITTEN = {
    "xlsform": (".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "surveyjs": (".json", "application/json"),
}


def read_form(
    content: bytes, name: str, tool: str | None = None, wanted: Wanted | None = None
) -> Imported:
    """Return the survey file of a questionnaire, and what became of each of its rows.

    Parameters
    ----------
    content : bytes
        The file, at most `LARGEST` bytes.
    name : str
        Its name, whose ending says what it may be.
    tool : str, optional
        One of `TOOLS`; by default it is found out.
    wanted : Wanted, optional
        Bounds of numbers that lack them, and which questions are wanted; by default all.

    Raises
    ------
    FormError
        If it is no questionnaire of that tool, or of any known tool. Then nothing was imported.
    """
    from server.forms.building import build
    from server.forms.source import Declared

    if len(content) > LARGEST:
        raise FormError(f"{name}: expected at most {LARGEST >> 20} MiB, got more")
    if tool is not None and tool not in TOOLS:
        raise FormError(f"tool: expected one of {', '.join(TOOLS)}, got {tool[:20]!a}")
    for known in [tool] if tool else TOOLS:
        reader = import_module(f"server.forms.{known}")
        is_ours: Callable[[bytes, str], bool] = reader.is_ours
        read: Callable[[bytes, str], Form] = reader.read
        if tool or is_ours(content, name):
            try:
                form = read(content, name)
                form.account(Declared(known))
                return build(form, wanted)
            except RecursionError:
                raise FormError(f"{name}: lists or groups are nested too deeply") from None
            except FormError:
                raise
            except ValueError as error:
                raise FormError(f"{name}: cannot be read: {str(error)[:200]}") from None
    raise FormError(
        f"{name}: expected a questionnaire of {', '.join(TOOLS.values())}, got something else. A "
        "table of answers, as Google Forms exports it, has no questions to import"
    )


def write_form(survey: "Survey", tool: str) -> Written:
    """Return a survey as a questionnaire of one of `WRITTEN`, and what it cannot carry."""
    from server.forms.leaving import Leaving

    write: Callable[[Leaving], Written] = import_module(f"server.forms.{tool}.writing").write
    return write(Leaving(survey))


def report(rows: Sequence[Row]) -> str:
    """Return what became of each row of a source, as CSV."""
    columns = ["row", "name", "type", "outcome", "detail", "weight", "to_see", "id"]
    return to_text([{key: getattr(row, key) for key in columns} for row in rows], columns, "csv")
