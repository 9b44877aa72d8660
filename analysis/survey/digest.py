"""The digest of a question: of its randomizer, and of all that gives an answer its meaning.

A permanent draw belongs to a digest. Equal answers of versions with the same digest are the same
fact and the same input, so they share their permanent draws. If labels, units or headings change,
the same input is another fact. If both had the same digest, an author who rotates the labels would
see a constant fact through every permanent draw.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import rfc8785

from analysis.core.memory import is_stable

#: The kind of an entry that is shown and not asked. It has no randomizer, and no report names it.
NOTE = "note"

#: The keys of a question that do not change its answers' meaning: its display, its cost and its
#: analysis. All others are in the digest, including new keys. The section is in it as a heading.
WITHOUT_MEANING = (
    *("new_page", "section", "slider", "epsilon", "epsilon_forever", "mechanism", "memory"),
    *("aim", "prior", "letters", "reason", "random_order"),
)

#: The keys of a note that say nothing about the questions below it.
_OF_NOTES = ("id", "kind", "new_page", "section")

#: The keys of a question on which its answers' inputs depend, by the first protocol.
_MAPPING = ("kind", "no_answer", "options", "at_most", "min", "max", "longest")


def above(entries: Sequence[dict[str, Any]], question: dict[str, Any]) -> dict[str, Any]:
    """Return the texts above a question of a survey that can change its meaning.

    Returns
    -------
    dict
        ``section``: the question's heading, if there is one. ``notes``: the notes between that
        heading and the question. ``help``: that of a matrix's first row, for its other rows.
    """
    surroundings: dict[str, Any] = {"notes": []}
    for entry in entries:
        if entry.get("section", surroundings.get("section")) != surroundings.get("section"):
            surroundings = {"section": entry["section"], "notes": []}
        if entry["id"] == question["id"]:
            break
        if entry["kind"] == NOTE:
            note = {key: value for key, value in entry.items() if key not in _OF_NOTES}
            surroundings["notes"].append(note)
    for first, *rows in groups_of(entries):
        if "help" in first and question["id"] in [row["id"] for row in rows]:
            surroundings["help"] = first["help"]
    return surroundings


def digest_of(
    spec: dict[str, Any], randomizer: dict[str, Any], surroundings: dict[str, Any]
) -> bytes:
    """Return the SHA-256 of a frozen question without the keys of `WITHOUT_MEANING`.

    Parameters
    ----------
    spec
        The frozen question.
    randomizer
        Its randomizer, as JSON.
    surroundings
        As `above` returns them.
    """
    asked = {key: value for key, value in spec.items() if key not in WITHOUT_MEANING}
    return _sha256({"memory": 2, "randomizer": randomizer, "asked": asked, "above": surroundings})


def first_digest_of(spec: dict[str, Any], randomizer: dict[str, Any]) -> bytes:
    """Return the digest by the first protocol, which has the ids of options without labels."""
    stable = is_stable(spec)
    asked = {key: spec[key] for key in _MAPPING if key in spec}
    if "options" in asked:
        asked["options"] = [option["id"] for option in asked["options"]]
    if stable:
        asked |= {key: spec[key] for key in ("text", "matrix") if key in spec}
    return _sha256({"randomizer": randomizer, "stable": stable, "asked": asked})


def groups_of(entries: Iterable[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    """Return groups of entries: the rows of each matrix together, and each other entry alone."""
    groups: list[Sequence[dict[str, Any]]] = []
    for matrix, group in groupby(entries, key=lambda entry: entry.get("matrix")):
        rows = list(group)
        groups += [rows] if matrix is not None else [[entry] for entry in rows]
    return groups


def _sha256(whole: dict[str, Any]) -> bytes:
    return hashlib.sha256(rfc8785.dumps(whole)).digest()
