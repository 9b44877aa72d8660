"""Tallies of collectors that never meet: counts as a file, and their sum.

A tally is a sum over reports, so those of several collectors add up. A file of it holds no report.
It names the collectors that it counts, so that none is counted twice; who answered at two of them
is counted twice all the same, since only what collectors share could tell.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import rfc8785

from analysis.core.errors import DataError
from analysis.estimate import Ints
from analysis.study.tally.cells import MOST_REPORTS, cells_of, sizes_json
from analysis.survey.survey import Survey

#: What stands in a file of a tally under "deniable".
KIND = "tally-1"


@dataclass(frozen=True)
class Source:
    """A collector whose reports are counted: its random id, how many, and its file's hash.

    The hash is None in the collector's own file, whose content it is of.
    """

    collector: str
    reports: int
    sha256: str | None = None


@dataclass(frozen=True)
class Tally:
    """The counts of one wave of one version.

    Attributes
    ----------
    survey : Survey
        The frozen version that was asked.
    number : int
        The wave.
    reports : int
    simulated : int
        How many of the reports were simulated.
    is_open : bool
        Whether reports still came when they were counted.
    tallies : mapping
        For each question's id a (cohorts, symbols) array.
    sizes : mapping
        For questions whose reports count for different numbers of symbols, (symbols + 1,) arrays.
        It may lack them, and then `has_sizes` is False.
    sources : tuple of Source
        The collectors, by their ids in order; none if nobody knows.
    """

    survey: Survey
    number: int
    reports: int
    simulated: int
    is_open: bool
    tallies: Mapping[str, Ints]
    sizes: Mapping[str, Ints]
    has_sizes: bool
    sources: tuple[Source, ...]

    @property
    def version(self) -> str:
        return self.survey.version

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with the SHA-256 of the RFC 8785 form of all else."""
        content = {
            "deniable": KIND,
            "survey_id": self.survey.id,
            "version": self.version,
            "wave": self.number,
            "open": self.is_open,
            "reports": self.reports,
            "simulated": self.simulated,
            "sources": sources_json(self.sources),
            "questions": cells_of(self.tallies),
        }
        if self.has_sizes:
            content["sizes"] = sizes_json(self.sizes)
        content["survey"] = self.survey.to_json()
        return content | {"sha256": hash_of(content)}


def sources_json(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return collectors as JSON."""
    members = [
        {"collector": one.collector, "reports": one.reports, "sha256": one.sha256}
        for one in sources
    ]
    return [{k: v for k, v in each.items() if v is not None} for each in members]


def hash_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the RFC 8785 form of all members but `sha256` itself."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return sha256(rfc8785.dumps(rest)).hexdigest()


def merged(tallies: Sequence[tuple[str, Tally]]) -> Tally:
    """Return the sum of tallies, each given with the name of its file.

    It does not depend on their order.

    Raises
    ------
    DataError
        If there are fewer than two, they are not of one version and wave, a collector is counted by
        two of them or not named, or the sum is too large.
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
                f"{name}: expected the collector that it counts, got none: nobody can know whether "
                "another of these files counts the same people"
            )
        own = tally.to_json()["sha256"] if len(tally.sources) == 1 else None
        for source in tally.sources:
            if source.collector in counted_by:
                raise DataError(
                    f"{name}: counts collector {source.collector}, as "
                    f"{counted_by[source.collector]} does: its respondents would count twice; "
                    "merge one file of each collector, the last that it exported"
                )
            counted_by[source.collector] = name
            sources.append(source if source.sha256 else replace(source, sha256=own))
    every = [tally for _, tally in tallies]
    reports = sum(tally.reports for tally in every)
    if reports > MOST_REPORTS:
        raise DataError(f"expected at most {MOST_REPORTS:,} reports together, got {reports:,}")
    has_sizes = all(tally.has_sizes for tally in every)
    return Tally(
        first.survey,
        first.number,
        reports,
        sum(tally.simulated for tally in every),
        any(tally.is_open for tally in every),
        _sums([tally.tallies for tally in every]),
        _sums([tally.sizes for tally in every]) if has_sizes else {},
        has_sizes,
        tuple(sorted(sources, key=lambda source: source.collector)),
    )


def _sums(counts: Sequence[Mapping[str, Ints]]) -> dict[str, Ints]:
    return {name: np.sum([one[name] for one in counts], axis=0) for name in counts[0]}


def check_sources(sources: Sequence[Source], reports: int) -> None:
    """Raise ValueError if a collector is there twice, or they have another number of reports."""
    twice = [name for name, n in Counter(one.collector for one in sources).items() if n > 1]
    if twice:
        raise ValueError(f"sources: expected each collector once, got {twice[0]} again")
    together = sum(source.reports for source in sources)
    if sources and together != reports:
        raise ValueError(f"sources: expected {reports:,} reports together, got {together:,}")
