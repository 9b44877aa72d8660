"""Show progress on stderr: a bar on a terminal, otherwise a line now and then."""

import sys
from collections.abc import Callable

import click


class Progress:
    """A context for `total` things; its value is a function of how many were just done."""

    def __init__(self, total: int, label: str = "reports") -> None:
        self._total, self._label, self._done, self._told = total, label, 0, 0
        bar = click.progressbar(length=total, label=label, file=sys.stderr)
        self._bar = bar if sys.stderr.isatty() else None

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
