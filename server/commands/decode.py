"""`deniable decode`: the files of google/rappor, its reports decoded anew."""

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
        asked = read_params(params)
        totals, bits = read_counts(counts, asked)
        strings, hits = read_map(candidates, asked)
    except RapporFileError as error:
        raise click.ClickException(str(error)) from None
    found = decode(bits, totals, hits, asked.chances(repeats), correction, alpha, level)
    low, high = (found.detected_low, found.detected_high) if only else (found.low, found.high)
    percent = f"{100 * level:g}"
    n = found.reports
    order = np.argsort(-found.estimate, kind="stable")
    rows = [
        {
            "string": strings[one],
            "estimate": float(n * found.estimate[one]),
            "std_error": float(n * found.std_error[one]),
            "proportion": float(found.estimate[one]),
            "prop_std_error": float(found.std_error[one]),
            f"prop_low_{percent}": float(low[one]),
            f"prop_high_{percent}": float(high[one]),
            "p_value": float(found.p_value[one]),
            "detected": "yes" if found.detected[one] else "no",
        }
        for one in order
        if found.detected[one] or not only
    ]
    columns = ("string", "estimate", "std_error", "proportion", "prop_std_error")
    ends = (f"prop_low_{percent}", f"prop_high_{percent}")
    print_table(rows, (*columns, *ends, "p_value", "detected"), form)
    _tell(found, correction, alpha)


def _tell(found: Decoded, correction: str, alpha: float) -> None:
    """What the table does not hold."""
    promise = (
        f"about {100 * alpha:g} % of them or fewer are false, on average (Benjamini-Hochberg)"
        if correction == "fdr"
        else f"that any is false has a chance of at most {100 * alpha:g} % (Bonferroni)"
    )
    several = f"{int(found.detected.sum())} of {len(found.detected)} strings detected"
    print_message(f"{several}; {promise}")
    other = found.other
    print_message(
        f"strings that are not in the map: {100 * other.estimate:.3g} % of people, "
        f"{100 * found.confidence_level:g} % interval {100 * other.low:.3g} to "
        f"{100 * other.high:.3g} %"
    )
    if "few" in found.flags:
        print_message("too few people for intervals to be relied on")
