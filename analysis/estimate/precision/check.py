"""The limit of respondents of a design."""

from analysis.core.errors import check_count

#: The most respondents of a plan.
MOST_RESPONDENTS = 10**9


def check_respondents(respondents: int) -> None:
    """Raise `ValueError` unless the number is whole and from 1 to `MOST_RESPONDENTS`."""
    check_count(respondents, "respondents", MOST_RESPONDENTS)
