"""`deniable decode`: decode reports of google/rappor from its files."""

from math import isfinite
from pathlib import Path

import click
import numpy as np

from analysis.estimate.decoding import ALPHA, Decoded, decode
from analysis.estimate.rappor_files import RapporFileError, read_counts, read_map, read_params
from server.commands import form_of_table, level_of_intervals, print_message, print_table

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(name="decode")
@click.option("--params", type=_FILE, required=True, help="Its k,h,m,p,q,f.")
@click.option("--counts", type=_FILE, required=True, help="Reports and bits, a line a cohort.")
@click.option("--map", "candidates", type=_FILE, required=True, help="Candidates and their cells.")
@click.option(
    "--correction",
    type=click.Choice(["fdr", "bonferroni"]),
    default="fdr",
    show_default=True,
    help="Of the detected, few are false; or most likely none.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=ALPHA,
    show_default=True,
    help="How few of them, on average; or how likely one is.",
)
@click.option(
    "--reports-per-person",
    "repeats",
    type=click.FloatRange(1),
    default=1.0,
    show_default=True,
    help="Reports of one answer that a person sent, with the same remembered noise.",
)
@level_of_intervals
@click.option(
    "--detected",
    "only",
    is_flag=True,
    help="Only the detected, with intervals that allow for their having been picked.",
)
@form_of_table
def decode_(
    params: Path,
    counts: Path,
    candidates: Path,
    correction: str,
    alpha: float,
    repeats: float,
    level: float,
    only: bool,
    form: str,
) -> None:
    """Print which strings reports of google/rappor hold, and how often."""
    if not (isfinite(alpha) and isfinite(repeats)):
        raise click.UsageError("expected finite numbers for --alpha and --reports-per-person")
    try:
        rappor = read_params(params)
        totals, bits = read_counts(counts, rappor)
        strings, hits = read_map(candidates, rappor)
    except RapporFileError as error:
        raise click.ClickException(str(error)) from None
    decoded = decode(bits, totals, hits, rappor.chances(repeats), correction, alpha, level)
    low, high = decoded.low, decoded.high
    if only:
        low, high = decoded.detected_low, decoded.detected_high
    n, percent = decoded.reports, f"{100 * level:g}"
    numbers = {
        "estimate": n * decoded.estimate,
        "std_error": n * decoded.std_error,
        "proportion": decoded.estimate,
        "prop_std_error": decoded.std_error,
        f"prop_low_{percent}": low,
        f"prop_high_{percent}": high,
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
    _summarize(decoded, correction, alpha)


def _summarize(decoded: Decoded, correction: str, alpha: float) -> None:
    """Print what the table does not say."""
    promise = (
        f"about {100 * alpha:g} % of them or fewer are false, on average (Benjamini-Hochberg)"
        if correction == "fdr"
        else f"that any is false has a chance of at most {100 * alpha:g} % (Bonferroni)"
    )
    detected = f"{int(decoded.detected.sum())} of {len(decoded.detected)} strings detected"
    print_message(f"{detected}; {promise}")
    other = decoded.other
    print_message(
        f"strings that are not in the map: {100 * other.estimate:.3g} % of people, "
        f"{100 * decoded.confidence_level:g} % interval {100 * other.low:.3g} to "
        f"{100 * other.high:.3g} %"
    )
    if "few" in decoded.flags:
        print_message("too few people for intervals to be relied on")
