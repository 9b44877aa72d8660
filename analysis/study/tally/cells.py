"""Counts as JSON: the shape of each question's tally, and its cells that have reports."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from analysis.core.errors import shown
from analysis.estimate import Ints
from analysis.survey.survey import Survey

#: The largest count, which exceeds the number of people on earth. Sums over a million symbols still
#: fit into 64 bits.
MOST_REPORTS = 2**40
#: The most cells of a tally. More would not fit into the memory of a common machine.
_MOST_CELLS = 2**28


def cells_of(tallies: Mapping[str, Ints]) -> dict[str, Any]:
    """Return tallies as JSON: the shape of each, and [cohort, symbol, count] for counts above 0."""
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
        If they are not of the survey's questions, or if no reports can have these counts: if a
        shape is wrong, a cell is outside of it or stated twice, a count is not above 0, or the
        channel cannot make the counts.
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
    """Return the numbers of reports by the number of symbols that they count for, as JSON."""
    return {
        name: [[size, int(counts[size])] for size in np.flatnonzero(counts).tolist()]
        for name, counts in sizes.items()
    }


def read_sizes(survey: Survey, data: Any, tallies: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return the numbers that `sizes_json` wrote; raise ValueError unless they fit the tallies."""
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
    """Return the positions and counts of cells; raise ValueError at the first impossible cell."""
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
                f"{name}: expected whole numbers, a cell within {list(shape)} and a count from 1 "
                f"to {MOST_REPORTS:,}, got cell {shown(cell)}"
            )
        if tuple(cell[:-1]) in found:
            raise ValueError(f"{name}: expected each cell once, got {shown(cell[:-1])} again")
        found[tuple(cell[:-1])] = cell[-1]
    return list(found.items())
