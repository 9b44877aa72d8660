"""The waves that `compare` and `trend` use, from a database or from files of tallies."""

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import click

from analysis.core.errors import DataError
from analysis.study.counted import CountedWave
from server.commands.tally import check_tally, frozen_survey, tallied
from server.store import Place, Store
from server.stored_results import StoredWave


def tallies_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that can take a file of a tally of each wave instead."""
    return click.option(
        "--tally",
        "tallies",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read these files instead of a database, one for each wave; may be given again.",
    )(frozen_survey(command))


def waves_of(
    context: click.Context,
    survey_id: str,
    version: str | None,
    *,
    waves: str | None,
    only_two: bool = False,
    tallies: Sequence[Path],
    frozen: Path | None,
    batch: bool,
    db: Place,
) -> list[CountedWave]:
    """Return the waves of files of tallies, if any is named, otherwise of a database.

    `waves` are the numbers that were given as text, None for all of the database, or the last two
    if `only_two`. Those of files are in their order in time.

    Raises
    ------
    ValueError
        If a text is no number, or if `only_two` and there are not two waves.
    """
    check_tally(context, next(iter(tallies), None), frozen)
    if tallies:
        if waves is not None:
            raise click.UsageError("--waves goes with --db: a file says which wave it counts")
        found = _of_files(tallies, survey_id, version, frozen)
        if only_two and len(found) != 2:
            raise ValueError(f"--tally: expected two files, of two waves, got {len(found)}")
        return found
    store = Store(db)
    if waves is not None:
        numbers = numbers_of("--waves", waves, int)
        if only_two and len(numbers) != 2:
            raise ValueError(f"--waves: expected two waves, such as 1,3, got {len(numbers)}")
    else:
        StoredWave(store, survey_id)  # raises Missing if there is no such survey
        numbers = sorted(store.surveys.waves(survey_id))
        if only_two and len(numbers) < 2:
            raise ValueError(
                f"expected two waves to compare, got {len(numbers)}; --groups compares groups in a "
                "wave"
            )
        numbers = numbers[-2:] if only_two else numbers
    return [StoredWave(store, survey_id, number, version, batch) for number in numbers]


def numbers_of(option: str, text: str, kind: type[int] | type[float]) -> list[Any]:
    """Return the numbers of an option's text; ValueError unless all are finite."""
    try:
        numbers = [kind(part) for part in text.split(",")]
        if not all(map(isfinite, numbers)):
            raise ValueError
        return numbers
    except ValueError:
        wanted = "whole numbers" if kind is int else "finite numbers"
        raise ValueError(
            f"{option}: expected {wanted} with commas between, got {text[:64]!a}"
        ) from None


def _of_files(
    files: Sequence[Path], survey_id: str, version: str | None, frozen: Path | None
) -> list[CountedWave]:
    """Return the waves of files of tallies by their numbers; DataError if one is there twice."""
    waves: dict[int, tuple[Path, CountedWave]] = {}
    for file in files:
        found = tallied(file, survey_id, frozen, None, version)
        if found.number in waves:
            raise DataError(
                f"{file}: expected a file of each wave, got wave {found.number} again, as in "
                f"{waves[found.number][0]}; deniable tally merge adds up tallies of one wave"
            )
        waves[found.number] = file, found
    return [found for _, (_, found) in sorted(waves.items())]
