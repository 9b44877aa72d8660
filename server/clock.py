"""The only clock. Nothing that respondents do is stored with a time."""

import time
from datetime import UTC, date, datetime, timedelta


def today() -> date:
    """Return the day, in UTC; surveys close at its end."""
    return datetime.now(UTC).date()


def day_before(seconds: float) -> date:
    """Return which day it was this many seconds ago, in UTC."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).date()


def now() -> float:
    """Return the seconds since 1970, for researchers' sessions and attempts to sign in."""
    return time.time()


def stamp() -> str:
    """Return the date and time, in UTC, for the log of what researchers did."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
