"""The one clock. What respondents do is nowhere kept with a time."""

import time
from datetime import UTC, date, datetime, timedelta


def today() -> date:
    """The day, in UTC; surveys close at its end."""
    return datetime.now(UTC).date()


def day_before(seconds: float) -> date:
    """The day that it was so many seconds ago, in UTC."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).date()


def now() -> float:
    """Seconds since 1970, for researchers' sessions and attempts to log in."""
    return time.time()


def stamp() -> str:
    """The second, in UTC, for the log of what researchers did."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
