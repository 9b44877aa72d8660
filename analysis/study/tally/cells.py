"""Counts as JSON: the shape of each question's tally, and each cell in which there are reports."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from analysis.core.errors import shown
from analysis.estimate import Ints
from analysis.survey.survey import Survey

#: No count is larger: more people than there are. Sums over a million symbols still fit 64 bits.
MOST_REPORTS = 2**40
#: A tally of more cells than this would not fit a common machine's memory.
_MOST_CELLS = 2**28


def cells_of(tallies: Mapping[str, Ints]) -> dict[str, Any]:
    """Return tallies as JSON: the shape of each, and [cohort, symbol, count] where it is not 0."""
    return {
        name: {
            "shape": list(counts.shape),
            "cells": [
                [*place, int(counts[tuple(place)])] for place in np.argwhere(counts).tolist()
            ],
        }
        for name, counts in tallies.items()
    }


def read_cells(survey: Survey, data: Any) -> dict[str, Ints]:
    """Return the tallies that `cells_of` wrote.

    Raises
    ------
    ValueError
        If they are not of the survey's questions, or no reports can have them: of the wrong shape,
        outside of it, not above 0, stated twice, or such that a channel cannot make them.
    """
    _check_names(survey, data, "a tally of each question, and no other")
    tallies = {}
    for question in survey.questions:
        shape, given = question.randomizer.shape, data[question.id]
        if prod(shape) > _MOST_CELLS:
            raise ValueError(f"{question.id}: expected at most {_MOST_CELLS:,} cells, got {shape}")
        if not isinstance(given, dict) or set(given) != {"shape", "cells"}:
            raise ValueError(f"{question.id}: expected shape and cells, got {shown(given)}")
        if given["shape"] != list(shape):
            raise ValueError(
                f"{question.id}: expected the shape {list(shape)}, got {shown(given['shape'])}"
            )
        counts = np.zeros(shape, dtype=np.int64)
        for cell, count in _counted(question.id, given["cells"], shape):
            counts[cell] = count
        if not question.randomizer.channel.is_tally(counts):
            raise ValueError(
                f"{question.id}: expected counts that reports of its channel, "
                f"{question.randomizer.channel.name}, can have, got others"
            )
        tallies[question.id] = counts
    return tallies


def sizes_json(sizes: Mapping[str, Ints]) -> dict[str, Any]:
    """Return as JSON how many reports count for so many symbols: [symbols, reports]."""
    return {
        name: [[size, int(counts[size])] for size in np.flatnonzero(counts).tolist()]
        for name, counts in sizes.items()
    }


def read_sizes(survey: Survey, data: Any, tallies: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return what `sizes_json` wrote; raise ValueError unless it goes with the tallies."""
    sized = [
        question
        for question in survey.questions
        if question.randomizer.channel.size_chances(1) is not None
    ]
    names = {question.id for question in sized}
    if not isinstance(data, dict) or set(data) != names:
        listed = ", ".join(sorted(names)) or "none"
        raise ValueError(f"expected the sizes of reports on {listed}, got {shown(data)}")
    sizes = {}
    for question in sized:
        longest = question.randomizer.channel.symbols + 1
        counts = np.zeros(longest, dtype=np.int64)
        for cell, count in _counted(question.id, data[question.id], (longest,)):
            counts[cell] = count
        tally = tallies[question.id]
        reports, counted = question.randomizer.reports_in(tally), int(tally.sum())
        if int(counts.sum()) != reports or int(counts @ np.arange(longest)) != counted:
            raise ValueError(
                f"{question.id}: expected sizes of {reports:,} reports that count {counted:,} "
                "times together, as its tally says, got others"
            )
        sizes[question.id] = counts
    return sizes


def _check_names(survey: Survey, data: Any, expected: str) -> None:
    names = {question.id for question in survey.questions}
    if not isinstance(data, dict) or set(data) != names:
        raise ValueError(f"expected {expected}, {', '.join(sorted(names))}, got {shown(data)}")


def _counted(name: str, cells: Any, shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """Return places and counts of lists of both; raise ValueError at the first that cannot be."""
    if not isinstance(cells, list):
        raise ValueError(f"{name}: expected a list of cells, got {shown(cells)}")
    found: dict[tuple[int, ...], int] = {}
    for cell in cells:
        if (
            not isinstance(cell, list)
            or len(cell) != len(shape) + 1
            or not all(type(number) is int for number in cell)
            or not all(0 <= at < size for at, size in zip(cell[:-1], shape, strict=True))
            or not 0 < cell[-1] <= MOST_REPORTS
        ):
            raise ValueError(
                f"{name}: expected whole numbers, a place within {list(shape)} and a count from 1 "
                f"to {MOST_REPORTS:,}, got cell {shown(cell)}"
            )
        if tuple(cell[:-1]) in found:
            raise ValueError(f"{name}: expected each cell once, got {shown(cell[:-1])} again")
        found[tuple(cell[:-1])] = cell[-1]
    return list(found.items())
