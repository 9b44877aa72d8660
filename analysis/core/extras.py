"""The advice to somebody who lacks an optional package."""

from importlib.metadata import version


def install_with(extra: str) -> str:
    """Return the instruction to install the program with one of its extras, such as ``models``.

    It installs the wheel, since pip would look up a bare name on an index, where it may be somebody
    else's.
    """
    wheel = f"deniable-{version('deniable')}-py3-none-any.whl[{extra}]"
    return f"install the wheel with its extra: pip install './{wheel}'"
