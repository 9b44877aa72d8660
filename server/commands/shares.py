"""How shares are printed: options, and messages, of all commands that estimate them."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from analysis.estimate.constrained import EM, NORM_SUB, Constrained
from analysis.estimate.intervals import INTERVALS
from server.commands import print_message

_INTERVAL = click.option(
    "--interval",
    "method",
    type=click.Choice(list(INTERVALS)),
    default=next(iter(INTERVALS)),
    show_default=True,
    help="Kind of interval, for shares of values that a report either supports or not.",
)
_OPTIONS = (
    click.option(
        "--simultaneous",
        is_flag=True,
        help="Intervals that hold for all shares of a question together.",
    ),
    click.option(
        "--constrained",
        type=click.Choice([NORM_SUB, EM]),
        help="Add a column constrained: shares of at least 0 that sum to 1, for display.",
    ),
)


def share_options(command: Callable[..., Any], interval: bool = True) -> Callable[..., Any]:
    """Add the options `method` (unless not `interval`), `simultaneous` and `constrained`."""
    for option in reversed((_INTERVAL, *_OPTIONS) if interval else _OPTIONS):
        command = option(command)
    return command


def warn_of_constrained(shares: Sequence[Constrained], method: str) -> None:
    """Say what constrained shares are good for, and where `method` could not be used."""
    print_message(
        "constrained: for display only, biased upward for rare answers; intervals and conclusions "
        "are those of estimate"
    )
    for used, why in (
        (
            NORM_SUB,
            "the tally does not show how often each report came, there are cohorts, or "
            f"{EM} did not converge",
        ),
        (EM, "its estimates are already the most likely shares"),
    ):
        others = sorted({share.question for share in shares if share.method == used != method})
        if others:
            print_message(f"constrained: {used} instead of {method} for {', '.join(others)}: {why}")
