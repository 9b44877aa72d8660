"""The limit of respondents of a design."""

from analysis.core.errors import check_count
from analysis.core.options import MOST_RESPONDENTS


def check_respondents(respondents: int) -> None:
    """Raise `ValueError` unless the number is whole and from 1 to `MOST_RESPONDENTS`."""
    check_count(respondents, "respondents", MOST_RESPONDENTS)
