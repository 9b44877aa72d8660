"""A survey file that does not change freezes to the same version and terms in every release.

`earlier_releases/N/` has survey files as authors had them when release N was current. Its
`frozen.json` has the version and the terms that release N froze each of them to.
"""

import json
from pathlib import Path

import pytest

from analysis.survey.freeze import thaw
from analysis.survey.survey_file import read_survey

FOLDER = Path(__file__).parent / "earlier_releases"
FILES = sorted(FOLDER.glob("*/*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_of_an_earlier_release_freezes_as_it_did_then(file: Path) -> None:
    frozen = json.loads((file.parent / "frozen.json").read_text())
    survey = read_survey(file)
    assert {"version": survey.version, "terms": survey.terms} == frozen[file.name]
    assert thaw(json.loads(json.dumps(survey.to_json())), survey.version).terms == survey.terms


def test_no_file_of_an_earlier_release_is_left_out() -> None:
    for release in FOLDER.iterdir():
        names = {file.name for file in release.glob("*.toml")}
        assert names == set(json.loads((release / "frozen.json").read_text()))
