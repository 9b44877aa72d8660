"""How far along: a bar on a terminal, else a line now and then; on stderr."""

import sys
from collections.abc import Callable

import click


class Progress:
    """A context whose value is to be called with the number of things just done.

    Parameters
    ----------
    total : int
        How many there are.
    label : str
        What they are.
    """

    def __init__(self, total: int, label: str = "reports") -> None:
        self._total, self._label, self._done, self._told = total, label, 0, 0
        self._bar = (
            click.progressbar(length=total, label=label, file=sys.stderr)
            if sys.stderr.isatty()
            else None
        )

    def __enter__(self) -> Callable[[int], None]:
        if self._bar is not None:
            self._bar.__enter__()
        return self._tick

    def _tick(self, n: int) -> None:
        self._done += n
        if self._bar is not None:
            self._bar.update(n)
        elif self._done >= self._total or self._done >= self._told + self._total / 5:
            self._told = self._done
            click.echo(f"{self._done:,} of {self._total:,} {self._label}", err=True)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
