"""The page Together says only what is known about a table of two questions."""

from typing import Any

import pytest

from analysis.survey.survey import Survey
from server.console.columns import Names, bars
from server.console.together.crosstabs import independence, telling


def row(estimate: float | None, low: float, high: float, flag: str = "") -> dict[str, Any]:
    """Return a difference between people who eat no meat and people who do."""
    terms = {"quantity": "difference", "first": "no", "second": "soup"}
    ends = {"estimate": estimate, "conf_low": low, "conf_high": high}
    return {**terms, **ends, "flag": flag}


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (row(0.2, 0.1, 0.3), "is 20.0 points more frequent among “No” than among “Yes” (10.0"),
        (row(-0.2, -0.3, -0.1), "is 20.0 points less frequent among “No” than among “Yes” (10.0"),
        (row(1.162, 0.84, 1.0, "out-of-range"), "is 84.0 to 100.0 points more frequent"),
        (row(-3.0, -1.0, -0.02, "few;unreliable"), "is 2.0 to 100.0 points less frequent"),
        (row(0.2, -0.1, 0.3), ""),
    ],
)
def test_a_difference_is_described_as_far_as_it_is_known(
    survey: Survey, difference: dict[str, Any], told: str
) -> None:
    reference = {**difference, "quantity": "row-share", "first": "yes"}
    result = {"names": ["meat", "dish"], "rows": [reference, difference]}
    sentences = telling(result, Names(survey))
    assert len(sentences) == bool(told)
    assert told in "".join(sentences)
    assert "116" not in "".join(sentences)


def test_pictures_show_no_estimate_that_the_table_does_not() -> None:
    rows = [row(0.4, 0.3, 0.5), row(24.239, 0.0, 1.0, "few;unreliable"), row(None, 0.3, 0.5)]
    drawn = bars((("a", one) for one in rows), 0.95)
    assert [(bar.estimate, bar.conf_high) for bar in drawn] == [(0.4, 0.5), (None, 1.0)]


@pytest.mark.parametrize(
    ("p_value", "told"),
    [
        (1.2e-10, "so much in fewer than 1 of 1,000 studies"),
        (0.0121, "so much in at most 13 of 1,000 studies"),
        (0.31, "as much in 31 of 100 studies"),
    ],
)
def test_p_values_are_described_in_numbers_of_studies(p_value: float, told: str) -> None:
    assert independence({"p_value": p_value}).endswith(told)


def test_values_of_a_number_have_few_digits(survey: Survey) -> None:
    names = Names(survey)
    told = [names.value("price", one) for one in ("13.33333333", "7.5", "26666.66667", "no-answer")]
    assert told == ["13.33", "7.5", "26,667", "No answer"]
    assert names.value("meat", "yes") == "Yes"
    # Tables name the mean of a number among its values.
    assert names.value("price", "mean") == "mean"
