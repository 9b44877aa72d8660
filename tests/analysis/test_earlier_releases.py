"""A survey file that does not change freezes to the same form and prices in every release.

`earlier_releases/N/` has survey files as authors had them when release N was current. Its
`frozen.json` has what release N froze each of them to: the SHA-256 of the checked survey and of
each randomizer, the cap, and the charges, in millionths of ε.

Channels that are designed in floats have other weights on another processor, and so other versions
and terms. These are compared for files without such a channel. A server keeps the version of a file
that it knows (`tests/server/test_same_file.py`).
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from analysis.survey.freeze import thaw
from analysis.survey.survey_file import read_survey
from analysis.survey.written import check_written

FOLDER = Path(__file__).parent / "earlier_releases"
FILES = sorted(FOLDER.glob("*/*.toml"))


def hash_of(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_of_an_earlier_release_freezes_as_it_did_then(file: Path) -> None:
    frozen = json.loads((file.parent / "frozen.json").read_text())[file.name]
    survey = read_survey(file)
    data = survey.to_json()
    designed = {joint.id for joint in survey.joint} | {
        question.id
        for question in survey.questions
        if question.spec["mechanism"]["name"] == "optimal"
    }
    hashes = {
        name: hash_of(randomizer)
        for name, randomizer in data["randomizers"].items()
        if name not in designed
    }
    assert (hash_of(data["survey"]), hashes) == (frozen["survey"], frozen["randomizers"])
    charges = {draw.id: draw.randomizer.charge for draw in survey.draws}
    assert (survey.cap, charges.keys()) == (frozen["cap"], frozen["charges"].keys())
    for name, charge in charges.items():
        # Whole weights spend up to 4e-7 less than a design may.
        assert abs(charge - frozen["charges"][name]) <= (name in designed)
    assert bool(designed) != ("version" in frozen)
    if not designed:
        assert (survey.version, survey.terms) == (frozen["version"], frozen["terms"])
    check_written(data["survey"])
    assert thaw(json.loads(json.dumps(data)), survey.version).terms == survey.terms


def test_no_file_of_an_earlier_release_is_left_out() -> None:
    for release in FOLDER.iterdir():
        names = {file.name for file in release.glob("*.toml")}
        assert names == set(json.loads((release / "frozen.json").read_text()))
