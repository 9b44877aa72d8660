"""Run processes that race, forked from one that has imported everything."""

import multiprocessing
from collections.abc import Sequence
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess

from limits import LONG


def racing() -> ForkServerContext:
    """Return what starts processes, forked from one that imported everything and opened nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["server.intake.requests", "analysis.survey.survey_file"])
    return context


def run_all(processes: Sequence[BaseProcess]) -> None:
    """Start them all, and wait for each; one that hangs is killed."""
    for one in processes:
        one.start()
    for one in processes:
        one.join(LONG)
        if one.is_alive():
            one.kill()
