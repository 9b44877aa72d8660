"""The sources that commands ask: waves of a database, files of counts, or tables from elsewhere.

An argument with a dot or a slash is a file, and any other is a survey's id: nothing is guessed from
what exists.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from analysis.study.sources import Source
from server.commands import database, only_batches, version_of_survey, wave_number
from server.store import Place, Store

_FILE = re.compile(r"[./\\]")
frozen_survey = click.option(
    "--survey",
    "frozen",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The frozen survey as JSON, for a file that does not hold it.",
)
source = click.argument("source", metavar="SURVEY-ID|FILE")


def source_options(
    asks: Sequence[str] = ("wave",), any_wave: bool = False, of_tables: bool = True
) -> list[Callable[..., Any]]:
    """Return the options that say which sources are asked; for the arguments see `Verb`."""
    wave = click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
    if any_wave:
        wave = click.option("--wave", help="A wave's number, or all.  [the highest]")
    waves = click.option("--waves", metavar="WAVE,..", help="Which waves.  [all]")
    if "wave" in asks:
        waves = click.option(
            "--waves", metavar="WAVE,WAVE", help="Which two waves to compare.  [the last two]"
        )
    several = "waves" in asks
    meaning = "Read these files instead of a database, one for each wave; may be given again."
    if not several:
        meaning = "Read this file of tally export, tally merge, recount or bundle instead."
    tally = click.option(
        "--tally",
        "tallies",
        type=click.Path(path_type=Path),
        metavar="FILE",
        multiple=True,
        help=meaning,
    )
    design = click.option(
        "--design",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A TOML file that says how the columns of a table from elsewhere were randomized.",
    )
    asked = [{"wave": wave, "waves": waves}[name] for name in asks]
    return [
        *[design] * of_tables,
        frozen_survey,
        tally,
        *asked,
        version_of_survey,
        only_batches,
        database,
    ]


def given_in(context: click.Context) -> list[str]:
    """Return the names of the options that were given."""
    return [
        name
        for name in context.params
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


@dataclass(frozen=True)
class SourceOptions:
    """What the options of a command say about where its reports are."""

    source: str
    db: Place
    batch: bool = False
    version: str | None = None
    wave: str | int | None = None
    waves: str | None = None
    tallies: Sequence[Path] = ()
    frozen: Path | None = None
    design: Path | None = None

    def sources(self, reads: str, given: Sequence[str]) -> list[Source]:
        """Return the sources, in their order in time.

        Parameters
        ----------
        reads : str
            How many are asked; see `Verb.reads`.
        given : sequence of str
            The names of the options that were given.

        Raises
        ------
        click.UsageError
            If options do not go together.
        ValueError
            If there are not as many waves as the verb is about.
        """
        if self.wave not in (None, "all") and not re.fullmatch("[0-9]{1,7}", f"{self.wave}"):
            raise click.BadParameter(
                f"expected a number or all, got {self.wave}", param_hint="--wave"
            )
        is_file = _FILE.search(self.source) is not None
        if is_file or self.design is not None:
            source = self._of_file(is_file, given)
            if reads != "one":
                raise click.UsageError(
                    "expected the id of a survey, and its database or --tally FILE for each wave, "
                    f"got {source.what}: {self.source}"
                )
            return [source]
        if reads == "two" and self.wave is not None:
            raise click.UsageError("--wave goes with --groups; for two waves use --waves")
        if reads == "one" and self.waves is not None:
            raise click.UsageError("--waves goes without --groups and --with")
        if self.tallies:
            return self._of_tallies(reads, given)
        if self.frozen is not None:
            raise click.UsageError("--survey goes with --tally: a database has its own surveys")
        return self._of_database(reads)

    def _of_file(self, is_file: bool, given: Sequence[str]) -> Source:
        from analysis.study.sources.files import read_survey, read_table, read_wave

        if not is_file:
            raise click.UsageError(
                f"--design goes with a file, whose name has a dot or a slash, got {self.source}"
            )
        of_survey = ["db", "batch", "tallies", "waves"]
        if self.design is not None:
            of_survey += ["wave", "version", "frozen"]
        if wrong := [name for name in of_survey if name in given]:
            name = {"tallies": "tally", "frozen": "survey"}.get(wrong[0], wrong[0])
            raise click.UsageError(
                f"--{name} goes with the id of a survey, got the file {self.source}"
            )
        path = Path(self.source)
        if self.design is not None:
            return read_table(path, self.design)
        return read_wave(path, read_survey(self.frozen), number=self._number, version=self.version)

    @property
    def _number(self) -> int | None:
        return None if self.wave in (None, "all") else int(self.wave)

    def _of_tallies(self, reads: str, given: Sequence[str]) -> list[Source]:
        """Return the waves of files by their numbers."""
        from analysis.study.sources.files import read_survey, read_wave

        for name in ("db", "batch"):
            if name in given:
                raise click.UsageError(f"expected --tally or --{name}, got both")
        if self.waves is not None:
            raise click.UsageError("--waves goes with --db: a file says which wave it counts")
        if reads == "one" and len(self.tallies) > 1:
            raise ValueError(f"expected --tally once, got it {len(self.tallies)} times")
        waves: dict[int, tuple[Path, Source]] = {}
        for file in self.tallies:
            wave = read_wave(
                file,
                read_survey(self.frozen),
                survey_id=self.source,
                number=self._number,
                version=self.version,
            )
            if wave.number in waves:
                raise ValueError(
                    f"{file}: expected a file of each wave, got wave {wave.number} again, as in "
                    f"{waves[wave.number][0]}; deniable tally merge adds up tallies of one wave"
                )
            waves[wave.number] = file, wave
        if reads == "two" and len(waves) != 2:
            raise ValueError(f"--tally: expected two files, of two waves, got {len(waves)}")
        return [wave for _, (_, wave) in sorted(waves.items())]

    def _of_database(self, reads: str) -> list[Source]:
        from server.stored_results import StoredWave

        store = Store(self.db)
        numbers = self._numbers(reads, store)
        return [
            StoredWave(store, self.source, number, self.version, self.batch) for number in numbers
        ]

    def _numbers(self, reads: str, store: Store) -> Sequence[int | None]:
        """Return the numbers of the waves of a database; None stands for the highest."""
        from analysis.study.verbs.comparison import numbers_of
        from server.stored_results import asked_now

        if reads == "one":
            if self.wave == "all":
                return sorted(store.surveys.waves(self.source)) or [None]
            return [self._number]
        if self.waves is not None:
            given = numbers_of("--waves", self.waves, int)
            if reads == "two" and len(given) != 2:
                raise ValueError(f"--waves: expected two waves, such as 1,3, got {len(given)}")
            return given
        asked_now(store, self.source)  # raises Missing if there is no such survey
        every = sorted(store.surveys.waves(self.source))
        if reads == "two" and len(every) < 2:
            raise ValueError(
                f"expected two waves to compare, got {len(every)}; --groups compares groups in a "
                "wave"
            )
        return every[-2:] if reads == "two" else every
