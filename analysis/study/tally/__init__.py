"""Tallies of separate collectors: counts as a file, and their sum.

A tally is a sum over reports, so the tallies of several collectors add up. A tally's file holds no
report. It names the collectors that it counts, so that no collector is counted twice. Somebody who
answered at two collectors is still counted twice, since nothing that the collectors share could
show that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.core.errors import DataError
from analysis.estimate import Ints
from analysis.study.tally.cells import MOST_REPORTS, cells_of, sizes_json
from analysis.study.tally.statement import Source, Statement

#: The value of "deniable" in a file of a tally.
KIND = "tally-1"


@dataclass(frozen=True)
class Tally(Statement):
    """The counts of one wave of one version.

    Attributes
    ----------
    reports : int
    tallies : mapping
        For each question's id, a (cohorts, symbols) array.
    sizes : mapping, optional
        For questions whose reports count for different numbers of symbols, (symbols + 1,) arrays;
        None if they were not counted.
    """

    reports: int
    tallies: Mapping[str, Ints]
    sizes: Mapping[str, Ints] | None

    def to_json(self) -> dict[str, Any]:
        """Return the tally as the JSON of a file; see `Statement.stated`."""
        content: dict[str, Any] = {"questions": cells_of(self.tallies)}
        if self.sizes is not None:
            content["sizes"] = sizes_json(self.sizes)
        return self.stated(KIND, self.reports, content)


def merged(tallies: Sequence[tuple[str, Tally]]) -> Tally:
    """Return the sum of tallies. Each is given with the name of its file.

    The sum does not depend on their order.

    Raises
    ------
    DataError
        If there are fewer than two tallies, if their version or wave differs, if two of them count
        the same collector, if one names no collector, or if the sum is too large.
    """
    if len(tallies) < 2:
        raise DataError(f"expected two tallies or more to merge, got {len(tallies)}")
    first_name, first = tallies[0]
    counted_by: dict[str, str] = {}
    sources: list[Source] = []
    for name, tally in tallies:
        for what, one, other in (
            ("survey", first.survey.id, tally.survey.id),
            ("version", first.version, tally.version),
            ("wave", first.number, tally.number),
        ):
            if one != other:
                raise DataError(f"{name}: expected {what} {one}, as in {first_name}, got {other}")
        if not tally.sources:
            raise DataError(
                f"{name}: expected the collector that it counts, got none: another of these files "
                "may count the same people"
            )
        own = tally.to_json()["sha256"] if len(tally.sources) == 1 else None
        for source in tally.sources:
            if source.collector in counted_by:
                raise DataError(
                    f"{name}: counts collector {source.collector}, as "
                    f"{counted_by[source.collector]} does: its respondents would count twice; "
                    "merge one file of each collector, the last one that it exported"
                )
            counted_by[source.collector] = name
            sources.append(source if source.sha256 else replace(source, sha256=own))
    every = [tally for _, tally in tallies]
    reports = sum(tally.reports for tally in every)
    if reports > MOST_REPORTS:
        raise DataError(f"expected at most {MOST_REPORTS:,} reports together, got {reports:,}")
    sizes = [tally.sizes for tally in every if tally.sizes is not None]
    return Tally(
        first.survey,
        first.number,
        any(tally.is_open for tally in every),
        sum(tally.simulated for tally in every),
        tuple(sorted(sources, key=lambda source: source.collector)),
        reports,
        _sums([tally.tallies for tally in every]),
        _sums(sizes) if len(sizes) == len(every) else None,
    )


def _sums(counts: Sequence[Mapping[str, Ints]]) -> dict[str, Ints]:
    return {name: np.sum([one[name] for one in counts], axis=0) for name in counts[0]}
