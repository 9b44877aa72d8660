"""The page names suitable batches and minimums for the planned number of respondents."""

from pathlib import Path

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from test_access import HTTPS

from analysis.survey.batches import Steps
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.console.publishing import steps_for
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]


@pytest.fixture
def survey() -> Survey:
    return read_survey(Path(__file__).parents[2] / "examples" / "working-conditions.toml")


@pytest.mark.parametrize(
    ("planned", "batch", "minimum", "moves"),
    [
        (30, (10, 10), (20, 20), 0),
        (100, (10, 12), (20, 25), 1),
        (400, (20, 50), (40, 100), 7),
        (1000, (50, 125), (100, 250), 19),
        (20_000, (50, 2500), (100, 5000), 399),
    ],
)
def test_suitable_steps_can_be_set_and_leave_some_moves(
    survey: Survey, planned: int, batch: tuple[int, int], minimum: tuple[int, int], moves: int
) -> None:
    good = steps_for(survey, planned)
    assert (good.batch, good.minimum, good.moves) == (batch, minimum, moves)
    assert batch[0] <= minimum[0]
    if planned >= 400:
        assert batch[0] <= Steps().batch <= batch[1]
        assert minimum[0] <= Steps().minimum <= minimum[1]


def test_the_page_says_what_is_suitable_and_where_it_is_set(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("ada")
    store.studies.plan("idea", 2000)
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert '<details id="steps">' in page
    assert (
        "Good values for 2,000 respondents are steps of 50 to 250, shown from 100 to 500 reports"
        in page
    )
    store.studies.plan("idea", 200)
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert '<details id="steps" open>' in page
    assert (
        "steps of 10 to 25 (yours are larger), shown from 20 to 50 reports on (yours is higher)"
        in page
    )
