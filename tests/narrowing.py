"""Assert what a test knows about a value and its type does not say, within an expression."""

from typing import TypeVar

T = TypeVar("T")


def not_none(value: T | None) -> T:
    """Return the value; AssertionError if it is None."""
    assert value is not None
    return value


def instance(value: object, kind: type[T]) -> T:
    """Return the value; AssertionError unless it is an instance of this class."""
    assert isinstance(value, kind), f"expected {kind.__name__}, got {value!r}"
    return value
