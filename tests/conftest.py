"""Fixtures for tests of all parts: a survey with k = 3, no-answer and shows_if."""

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

# As in the `deniable` command, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

# The time to draw or run an example depends on how busy the machine is.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--order", metavar="SEED", help="shuffle the files, and the tests of each, by this seed"
    )
    parser.addoption(
        "--engine", choices=("chromium", "firefox"), default="chromium", help="the browser to drive"
    )
    parser.addoption(
        "--surveys", metavar="SEED", type=int, default=1, help="the first seed of random surveys"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Files of this folder run benchmarks and build wheels for minutes. At the end, one worker would
    # be left alone with them.
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    seed = config.getoption("order")
    if seed:
        draw = random.Random(seed)
        files = sorted({item.path for item in items})
        draw.shuffle(files)
        draw.shuffle(items)
        items.sort(key=lambda item: files.index(item.path))


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.getoption("order")
    orders = [f"order of tests: --order {seed}"] if seed else []
    return "\n".join([*orders, f"random surveys: --surveys {config.getoption('surveys')}"])


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


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Survey]:
    """Read a survey file with this text."""

    def from_text(text: str) -> Survey:
        path = tmp_path / "survey.toml"
        path.write_text(text)
        return read_survey(path)

    return from_text
