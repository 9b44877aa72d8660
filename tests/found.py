"""The programs that single tests drive: what becomes of a test without its program."""

import pytest
from programs import find


def needed(name: str) -> str:
    """The path of a program; the test fails without it."""
    return find(name) or pytest.fail(_advice(name))


def optional(name: str) -> str:
    """The path of a program with which results are compared; the test is skipped without it."""
    return find(name) or pytest.skip(_advice(name))


def _advice(name: str) -> str:
    return f"no {name}; python tests/programs.py {name} installs one"
