"""What to do where an optional package is missing."""

from importlib.metadata import version


def install_with(extra: str) -> str:
    """Return how the program is installed with one of its extras, such as ``models``.

    By the wheel: a bare name would be looked up on an index, where it may be somebody else's.
    """
    wheel = f"deniable-{version('deniable')}-py3-none-any.whl[{extra}]"
    return f"install the wheel with its extra: pip install './{wheel}'"
