"""`deniable decode`: decode reports of google/rappor from its files."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.core.options import FALSE_DISCOVERIES
from server.commands import form_of_table, level_of_intervals, print_message, print_table

if TYPE_CHECKING:
    from analysis.estimate.decoding import Decoded

_LEVEL = click.FloatRange(0, 1, min_open=True, max_open=True)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(name="decode")
@click.option("--params", type=_FILE, required=True, help="The file of k,h,m,p,q,f.")
@click.option(
    "--counts",
    type=_FILE,
    required=True,
    help="Counts of reports and bits, a line for each cohort.",
)
@click.option("--map", "candidates", type=_FILE, required=True, help="Candidates and their cells.")
@click.option(
    "--false-discoveries",
    type=_LEVEL,
    default=FALSE_DISCOVERIES,
    show_default=True,
    help="The part of the detected strings that may be false, on average.",
)
@click.option(
    "--any-false",
    type=_LEVEL,
    help="Stricter: the probability that any detected string is false.",
)
@click.option(
    "--reports-per-person",
    "repeats",
    type=click.FloatRange(1),
    default=1.0,
    show_default=True,
    help="How many reports each person sent about one answer, with the same remembered noise.",
)
@level_of_intervals
@click.option(
    "--detected",
    "only",
    is_flag=True,
    help="Print only the detected strings.",
)
@form_of_table
def decode_(
    params: Path,
    counts: Path,
    candidates: Path,
    false_discoveries: float,
    any_false: float | None,
    repeats: float,
    level: float,
    only: bool,
    form: str,
) -> None:
    """Estimate how often strings occur in reports of google/rappor."""
    import numpy as np

    from analysis.estimate.decoding import decode
    from analysis.estimate.rappor_files import RapporFileError, read_counts, read_map, read_params

    if not all(map(isfinite, (false_discoveries, any_false or 0.0, repeats))):
        raise click.UsageError(
            "expected finite numbers for --false-discoveries, --any-false and --reports-per-person"
        )
    try:
        rappor = read_params(params)
        totals, bits = read_counts(counts, rappor)
        strings, hits = read_map(candidates, rappor)
    except RapporFileError as error:
        raise click.ClickException(str(error)) from None
    chances = rappor.chances(repeats)
    decoded = decode(bits, totals, hits, chances, false_discoveries, any_false, level)
    n, percent = decoded.reports, f"{100 * level:g}"
    numbers = {
        "estimate": n * decoded.estimate,
        "std_error": n * decoded.std_error,
        "proportion": decoded.estimate,
        "prop_std_error": decoded.std_error,
        f"prop_low_{percent}": decoded.low,
        f"prop_high_{percent}": decoded.high,
        "p_value": decoded.p_value,
    }
    rows = [
        {
            "string": strings[candidate],
            **{name: float(values[candidate]) for name, values in numbers.items()},
            "detected": "yes" if decoded.detected[candidate] else "no",
        }
        for candidate in np.argsort(-decoded.estimate, kind="stable")
        if decoded.detected[candidate] or not only
    ]
    print_table(rows, ("string", *numbers, "detected"), form)
    _summarize(decoded, false_discoveries, any_false)


def _summarize(decoded: "Decoded", false_discoveries: float, any_false: float | None) -> None:
    """Print what the table does not say."""
    if any_false is not None:
        promise = f"the probability that any is false is at most {100 * any_false:g} % (Bonferroni)"
    else:
        rule = "Benjamini-Hochberg"
        if decoded.absent is not None:
            rule += f" or Sun-Cai, {100 * decoded.absent:.0f} % of all being absent"
        promise = f"on average about {100 * false_discoveries:g} % of them are false ({rule})"
    detected = int(decoded.detected.sum())
    print_message(f"{detected} of {len(decoded.detected)} strings detected; {promise}")
    level = f"{100 * decoded.confidence_level:g} %"
    if detected:
        print_message(
            f"on average {level} of the intervals of the detected strings cover the truth: each "
            f"one misses it in {100 * (1 - decoded.detected_level):.3g} % (Benjamini-Yekutieli)"
        )
    other = decoded.other
    print_message(
        f"strings that are not in the map: {100 * other.estimate:.3g} % of people, "
        f"{level} interval {100 * other.low:.3g} to {100 * other.high:.3g} %"
    )
    if "few" in decoded.flags:
        print_message("there are too few people to rely on the intervals")
