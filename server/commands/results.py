"""`deniable estimate`, `plausibility` and `export`: the reports, and estimates from them."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis.estimate.calibration.margins import read_margins
from analysis.estimate.change import changes
from analysis.estimate.constrained import Constrained, constrained_shares
from analysis.estimate.estimates import (
    ESTIMATE_COLUMNS,
    Estimate,
    estimate_rows,
    range_estimates,
    without_ranges,
)
from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS, UNLIKE
from analysis.estimate.totals import TOTAL_COLUMNS, totals, with_totals
from analysis.study.counted import CountedWave
from analysis.study.ranking import RANK_COLUMNS, ranks, sentence
from analysis.study.report_columns import HOW_TO_USE
from server.commands import (
    database,
    form_of_table,
    level_of_intervals,
    only_batches,
    print_message,
    print_pieces,
    print_table,
    record,
    refusals,
    survey_id,
    totals_options,
    version_of_survey,
    wave_of_survey,
    write_new,
)
from server.commands.shares import share_options, warn_of_constrained
from server.commands.tally import check_tally, counted_wave, tallied, tally_options
from server.formats import FORMATS, written
from server.formats.parts import write_parts
from server.store import Place, Store, StoreError
from server.stored_calibration import CALIBRATED_COLUMNS, calibrated_rows
from server.stored_results import StoredWave
from server.stored_tally import collector_of


@click.command()
@survey_id
@click.option("--wave", default=None, help="A wave's number, or all.  [the highest]")
@version_of_survey
@level_of_intervals
@click.option(
    "--fakes",
    type=click.IntRange(1),
    help="Add a column fake_shift: how far this many fake reports could have moved each estimate.",
)
@share_options
@click.option(
    "--bins",
    type=click.IntRange(1, 100),
    help="Add the smoothed distribution of each number, in about this many ranges, for display.",
)
@click.option(
    "--deff",
    is_flag=True,
    help="Add a column deff: the variance as a multiple of that of asking the same people "
    "directly.",
)
@click.option(
    "--rank",
    is_flag=True,
    help="Print instead which ranks each answer can have, and whether one is surely first.",
)
@totals_options
@click.option(
    "--margins",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Calibrate to known shares of the population, from a TOML file.",
)
@tally_options
@only_batches
@database
@form_of_table
@click.pass_context
def estimate(
    context: click.Context,
    survey_id: str,
    wave: str | None,
    version: str | None,
    level: float,
    fakes: int | None,
    method: str,
    simultaneous: bool,
    bins: int | None,
    constrained: str | None,
    deff: bool,
    rank: bool,
    wants_totals: bool,
    population: int | None,
    margins: Path | None,
    tally: Path | None,
    frozen: Path | None,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print debiased estimates with intervals; with --wave all, also how they changed."""
    if wave not in (None, "all") and not re.fullmatch("[0-9]{1,7}", wave):
        raise click.BadParameter(f"expected a number or all, got {wave}", param_hint="--wave")
    wants_totals = wants_totals or population is not None
    if margins is not None or rank:
        others = simultaneous or wants_totals or deff or constrained or fakes or bins
        if others or method != "clopper-pearson" or (rank and margins is not None):
            raise click.UsageError(
                f"{'--rank' if rank else '--margins'} goes only with --wave, --version, --level "
                f"and --batch: {'ranks' if rank else 'calibrated estimates'} have intervals of "
                "their own"
            )
    check_tally(context, tally, frozen)
    stored_waves: list[StoredWave] = []
    if tally is not None:
        if margins is not None:
            raise click.UsageError("--margins goes with --db: calibration needs the reports")
        waves: Sequence[CountedWave] = [tallied(tally, survey_id, frozen, wave, version)]
        of_versions = {}
    else:
        store = Store(db)
        numbers = [None if wave is None else int(wave)] if wave != "all" else []
        every = numbers or list(store.surveys.waves(survey_id)) or [None]
        waves = stored_waves = [StoredWave(store, survey_id, n, version, batch) for n in every]
        of_versions = store.reports.per_version(survey_id)
    if rank:
        _print_ranks(waves, level, form)
    elif margins is not None:
        _print_calibrated(stored_waves, read_margins(margins), level, form)
    else:
        printed = _print_estimates(
            waves,
            level,
            form,
            method=method,
            simultaneous=simultaneous,
            bins=bins,
            constrained=constrained,
            fakes=fakes,
            deff=deff,
            wants_totals=wants_totals,
            population=population,
        )
        for other, n in of_versions.items():
            if other not in printed:
                print_message(f"{n} reports under --version {other[:12]} are not among these")


def _print_estimates(
    waves: Sequence[CountedWave],
    level: float,
    form: str,
    *,
    method: str,
    simultaneous: bool,
    bins: int | None,
    constrained: str | None,
    fakes: int | None,
    deff: bool,
    wants_totals: bool,
    population: int | None,
) -> set[str]:
    """Print estimates, and how they changed from wave to wave; return the versions printed."""
    rows: list[dict[str, Any]] = []
    before: list[Estimate] = []
    display: list[Constrained] = []
    untold: dict[str, None] = {}  # why there are no ranges, each reason once
    told = bins is None
    for stored in waves:
        estimates = stored.estimates(level, method, simultaneous)
        ranges: list[Estimate] = []
        rng = np.random.default_rng(0)  # a fixed seed: each run prints the same
        if bins is not None:
            for question in stored.survey.questions:
                tally = stored.tallies[question.id]
                ranges += range_estimates(question, tally, bins, rng, level)
            untold |= dict.fromkeys(without_ranges(stored.survey.questions))
        told = told or bool(ranges)
        every = [*estimates, *ranges, *changes(before, estimates, level)]
        before = estimates
        assumed, moved = stored.shifts(fakes)
        shares: list[Constrained] = []
        if constrained is not None:
            shares = constrained_shares(stored.survey, stored.tallies, estimates, constrained)
        display += shares
        more: dict[str, Mapping[tuple[str, str], float | None]] = {
            "fake_shift": moved,
            "constrained": {(share.question, share.term): share.share for share in shares},
            "deff": {(row.question, row.term): row.design_effect for row in estimates},
        }
        printed = estimate_rows(stored.survey.id, stored.version, stored.number, every)
        if wants_totals:
            with refusals():
                printed = with_totals(
                    printed, totals(stored.survey, stored.tallies, estimates, population)
                )
        simulated = stored.simulated
        for row in printed:
            key = row["question"], row["term"]
            values = {column: found.get(key) for column, found in more.items()}
            rows.append(row | values | {"simulated": simulated})
        _warn(stored, estimates, assumed, moved)
    asked = {"fake_shift": fakes is not None, "constrained": constrained is not None, "deff": deff}
    if not told:
        raise StoreError(
            "; ".join(untold)
            or f"{waves[0].survey.id}: --bins is for numbers; the survey asks for none"
        )
    for why in untold:
        print_message(why)
    columns = (*ESTIMATE_COLUMNS, "simulated", *(name for name, wanted in asked.items() if wanted))
    columns += TOTAL_COLUMNS * wants_totals
    print_table(rows, columns, form)
    if constrained is not None:
        warn_of_constrained(display, constrained)
    return {row["version"] for row in rows}


def _print_ranks(waves: Sequence[CountedWave], level: float, form: str) -> None:
    """Print the ranks of the answers to each question, and in words which of them is first."""
    rows: list[dict[str, Any]] = []
    for stored in waves:
        found = ranks(stored.survey, stored.tallies, level)
        where = {"survey": stored.survey.id, "version": stored.version, "wave": stored.number}
        rows += [where | asdict(row) | {"simulated": stored.simulated} for row in found]
        for question, its in groupby(found, lambda row: row.question):
            print_message(f"wave {stored.number}, {question}: {sentence(list(its))}")
        _warn_of_simulated(stored)
    if not rows:
        raise StoreError("--rank needs a question with two answers or more, and reports; got none")
    print_table(rows, (*RANK_COLUMNS, "simulated"), form)


def _warn_of_simulated(stored: CountedWave) -> None:
    """Say how many reports of a wave were simulated, if any were."""
    if told := stored.simulated_sentence:
        print_message(f"wave {stored.number}: {told}")


def _print_calibrated(
    waves: Sequence[StoredWave],
    shares: Mapping[str, Mapping[str, float]],
    level: float,
    form: str,
) -> None:
    """Print estimates that are calibrated to known shares, beside those that are not."""
    rows: list[dict[str, Any]] = []
    for stored in waves:
        with refusals():
            found, notes = calibrated_rows(stored, shares, level)
        simulated = stored.simulated
        rows += [row | {"simulated": simulated} for row in found]
        for note in notes:
            print_message(f"wave {stored.number}: {note}")
    print_table(rows, (*CALIBRATED_COLUMNS, "simulated"), form)


def _warn(
    stored: CountedWave, estimates: list[Estimate], fakes: int, moved: dict[tuple[str, str], float]
) -> None:
    """Say how far fakes could have moved these estimates, and whether reports look like fakes."""
    _warn_of_simulated(stored)
    if moved:
        worst: dict[str, float] = {}
        for row in estimates:
            shift = moved.get((row.question, row.term), 0.0)
            if row.std_error and shift / row.std_error > worst.get(row.question, 0.0):
                worst[row.question] = shift / row.std_error
        most = ", ".join(f"{name} {errors:.2g}" for name, errors in worst.items())
        print_message(
            f"wave {stored.number}: if {fakes} of the {stored.n} reports were fakes, "
            f"estimates could be off by this many standard errors: {most}"
        )
    for check in stored.plausibility():
        if check.looks == UNLIKE:
            print_message(
                f"wave {stored.number}: reports of {check.question} do not look as its channel "
                f"draws them ({check.check}, p = {check.p_value:.1g}): some are fakes, or come "
                "from another program"
            )


@click.command()
@survey_id
@wave_of_survey
@version_of_survey
@tally_options
@only_batches
@database
@form_of_table
@click.pass_context
def plausibility(
    context: click.Context,
    survey_id: str,
    wave: int | None,
    version: str | None,
    tally: Path | None,
    frozen: Path | None,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print whether reports look as their channels draw them, or some are fakes."""
    counted = counted_wave(
        context, survey_id, wave, version, tally=tally, frozen=frozen, batch=batch, db=db
    )
    print_table(map(asdict, counted.plausibility()), PLAUSIBILITY_COLUMNS, form)
    _warn_of_simulated(counted)


@click.command()
@survey_id
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this new file.  [print]",
)
@click.option(
    "--parts",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write files of Parquet into this new folder instead, a million reports in each.",
)
@wave_of_survey
@version_of_survey
@only_batches
@database
@partial(form_of_table, forms=tuple(FORMATS))
def export(
    survey_id: str,
    output: Path | None,
    parts: Path | None,
    wave: int | None,
    version: str | None,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print the randomized reports, a row for each respondent, sorted by what they say.

    They have no ids, no pseudonyms and no order of arrival. sav (SPSS), dta (Stata), xlsx and
    parquet have labels, and need --output or a pipe; r is a script that R runs, with labels and
    functions; ddi describes the columns as XML.
    """
    if parts is not None and (output is not None or form != "parquet"):
        raise click.UsageError("--parts goes with --format parquet, and without --output")
    if parts is None and output is None and not FORMATS[form].is_text and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not text for a terminal: name a file with --output")
    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    noted = partial(record, store)
    if parts is None:
        content = written(stored, form)
    _warn_of_simulated(stored)
    if stored.is_open:
        print_message(
            f"wave {stored.number} is open, and another export would show which reports came in "
            "between: close it before you give an export away"
        )
    noted("export", f"{survey_id} {stored.version}, wave {stored.number}")
    if parts is not None:
        n = write_parts(stored, parts, collector_of(store, noted))
        print_message(f"written to {parts}: {n:,} reports; {HOW_TO_USE}")
        return
    if output is None:
        print_pieces(content)
        return
    write_new(output, b"".join(content))
    print_message(f"written to {output}; {HOW_TO_USE}")
