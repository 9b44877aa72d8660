"""Find the programs that single tests drive, or fail or skip these tests without them."""

import pytest
from programs import find


def needed(name: str) -> str:
    """Return the path of a program; the test fails without it."""
    return find(name) or pytest.fail(_advice(name))


def optional(name: str) -> str:
    """Return the path of a program for comparisons; the test is skipped without it."""
    return find(name) or pytest.skip(_advice(name))


def _advice(name: str) -> str:
    return f"no {name}; python tests/programs.py {name} installs one"
