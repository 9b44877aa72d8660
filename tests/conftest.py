"""What tests of all parts share: a survey with k = 3, no-answer and shows_if."""

from pathlib import Path

import pytest

from analysis.survey import Survey
from analysis.survey_file import read_survey

SURVEY = """
title = "Canteen"
id = "canteen"

[privacy]
cap = 12.0

[[questions]]
id = "meat"
kind = "yes-no"
text = "Do you eat meat?"
epsilon = 1.0

[[questions]]
id = "dish"
kind = "choice"
text = "Which dish do you like best?"
options = [
  {id = "soup", text = "Soup"}, {id = "stew", text = "Stew"}, {id = "roast", text = "Roast"}]
shows_if = "meat = 'yes'"
epsilon = 1.5

[[questions]]
id = "price"
kind = "number"
text = "What would you pay?"
min = 0
max = 20
step = 0.5
unit = "EUR"
epsilon = 1.5
"""


@pytest.fixture(scope="session")
def survey_text() -> str:
    return SURVEY


@pytest.fixture
def survey_file(tmp_path: Path, survey_text: str) -> Path:
    path = tmp_path / "canteen.toml"
    path.write_text(survey_text)
    return path


@pytest.fixture
def survey(survey_file: Path) -> Survey:
    return read_survey(survey_file)
