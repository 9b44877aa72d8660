"""The tables of a survey file from a frozen survey. They freeze to the same version."""

import json
from base64 import b64decode
from collections.abc import Mapping
from datetime import date
from typing import Any

from analysis.core.memory import NEW_MEMORY
from analysis.mechanisms import MECHANISMS
from analysis.survey.codes import put_back
from analysis.survey.digest import NOTE
from analysis.survey.document import Table, exact
from analysis.survey.kinds import KINDS
from analysis.survey.logic import written
from analysis.survey.survey import PILOT, WISHES, Survey
from analysis.survey.survey_file import spec_of

#: The keys that a survey file and a frozen survey write in the same form.
_OF_STUDY = (
    *("format", "title", "id", "languages", "organisation", "minutes", "introduction"),
    *("contact", "consent"),
    *("thanks", "link", "link_text", "access", "proof_of_work"),
)
_OF_ENTRIES = ("id", "kind", "text", "help", "section", "new_page", "namely", "reason")


def survey_tables(survey: Survey, names: bool = False) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the tables of a survey file, in the usual order of authors, and its images.

    Parameters
    ----------
    names : bool
        Whether to name every mechanism. Otherwise only mechanisms with parameters are named.

    Returns
    -------
    tables : dict
        Tables, with lists of tables as `questions` and `together`, and numbers as floats.
    files : dict
        The content of the images that the tables name, by their names.
    """
    spec, files = survey.spec, dict[str, bytes]()
    tables = {key: spec[key] for key in _OF_STUDY if key in spec}
    tables |= {key: date.fromisoformat(spec[key])
               for key in ("closes", "delete_reports_after") if key in spec}  # fmt: skip
    if "logo" in spec:
        tables["logo"] = _filed("logo", spec["logo"], files)
    tables |= {
        key: dict(spec[key]) for key in ("privacy", "results", "page", "words") if key in spec
    }
    drawn = {name for table in spec.get("together", ()) for name in table["questions"]}
    tables["questions"] = [
        _entry(put_back(spec, entry), entry["id"] in drawn, names, files)
        for entry in spec["questions"]
    ]
    if "together" in spec:
        tables["together"] = [dict(table) for table in spec["together"]]
    assert PILOT not in tables
    return tables, files


def check_written(spec: Mapping[str, Any]) -> None:
    """Raise ValueError, or another error, unless a survey file can freeze to this checked form.

    A frozen survey from elsewhere may lack a text, or have a number in place of true. Then `thaw`
    or a table of its results can fail, or take all memory. Images are not checked, since only pages
    show them.
    """
    spec = {key: value for key, value in spec.items() if key not in ("logo", PILOT)}
    spec["questions"] = [
        {key: value for key, value in entry.items() if key != "image"}
        for entry in spec["questions"]
    ]
    tables, _ = survey_tables(Survey(spec, "", ()))
    again = spec_of(Table(exact(tables), "file"))
    for entry, stated in zip(again["questions"], spec["questions"], strict=True):
        added = {key: stated[key] for key in ("mechanism", *NEW_MEMORY) if key in stated}
        entry |= {**added, **entry}
    if json.dumps(again, sort_keys=True) != json.dumps(spec, sort_keys=True):
        raise ValueError("expected what a survey file freezes to, got other keys or values")


def _filed(name: str, image: Mapping[str, Any], files: dict[str, bytes]) -> str:
    """Add an image to `files`, and return the file's name."""
    file = f"{name}.{'png' if image['type'] == 'image/png' else 'jpg'}"
    files[file] = b64decode(image["base64"])
    return file


def _entry(
    entry: Mapping[str, Any], is_drawn_with_others: bool, names: bool, files: dict[str, bytes]
) -> dict[str, Any]:
    """Return the table of a question or note."""
    table = {key: entry[key] for key in _OF_ENTRIES if key in entry}
    if "image" in entry:
        table["image"] = _filed(entry["id"], entry["image"], files)
        table["image_text"] = entry["image"]["text"]
    if "shows_if" in entry and "namely" not in entry:
        table["shows_if"] = written(entry["shows_if"])
    if entry["kind"] == NOTE:
        return table
    table |= KINDS[entry["kind"]].written(dict(entry))
    if entry["required"]:
        table["required"] = True
    if is_drawn_with_others:
        return table
    mechanism = entry["mechanism"]
    if MECHANISMS[mechanism["name"]].parameters is None:
        table["epsilon"] = entry["epsilon"]
    is_named = names or len(mechanism) > 1 or "delta" in entry
    if is_named or MECHANISMS[mechanism["name"]].parameters is not None:
        table["mechanism"] = dict(mechanism) if len(mechanism) > 1 else mechanism["name"]
    more = ("epsilon_forever", "stable", *WISHES)
    return table | {key: entry[key] for key in more if key in entry}
