"""The demonstration: answers, person by person, through the randomizers and a real server.

The answers are those of 6,366 women to a survey by the magazine Redbook in 1974, as analyzed in
Ray C. Fair, "A Theory of Extramarital Affairs", Journal of Political Economy 86 (1978), 45-61, and
carried by statsmodels as its dataset `fair` ("included with permission of the author"). Without
that package, this many people are made up.
"""

import importlib
import secrets
import signal
import subprocess
import sys
import tempfile
from itertools import chain, combinations
from math import ceil
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import click
import numpy as np

from analysis.core.extras import install_with
from analysis.estimate.number import LABELS, QUARTILES
from analysis.study.crosstab import crosstab
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.deliver import Client, Unreachable, refused, to_url
from server.progress import Progress
from server.store import Store
from server.stored_results import StoredWave

SURVEY_FILE = Path(__file__).parent / "redbook-1974.toml"
#: The same survey, three of whose answers go into one draw at the same total.
ONE_DRAW = Path(__file__).parent / "redbook-1974-one-draw.toml"

_RELIGIOUS = {1: "not", 2: "mildly", 3: "fairly", 4: "strongly"}
_MARRIAGE = {1: "very-poor", 2: "poor", 3: "fair", 4: "good", 5: "very-good"}

_LINE = "{:<10} {:<10} {:>8} {:>9}   {:<17} {}"
_BESIDE = "{:<44} {:>9} {:>9}   {}"


#: The number of made-up respondents if the real answers are missing: as many as there were.
_MADE_UP = 6366


def answers() -> list[dict[str, str]] | None:
    """Return each respondent's true answers, as their form would hold them.

    None if the package that carries them is not installed.
    """
    try:
        dataset: Any = importlib.import_module("statsmodels.datasets.fair")
    except ImportError:
        return None
    columns = ("affairs", "religious", "rate_marriage", "yrs_married")
    return [
        {
            "affair": "yes" if affairs > 0 else "no",
            "religious": _RELIGIOUS[int(religious)] if affairs > 0 else "",
            "marriage": _MARRIAGE[int(marriage)],
            "years": f"{years:g}",
        }
        for affairs, religious, marriage, years in zip(
            *(dataset.load_pandas().data[column] for column in columns), strict=True
        )
    ]


def truth(rows: list[dict[str, str]], question: str, term: str) -> float:
    """Return the true value of an estimated quantity."""
    given = [row[question] for row in rows]
    if term == "mean":
        return fmean(map(float, given))
    if term == "variance":
        return pvariance(map(float, given))
    if term in QUARTILES:
        return sorted(map(float, given))[ceil(QUARTILES[term] * len(given)) - 1]
    return sum((answer or "no-answer") == term for answer in given) / len(given)


def run() -> None:
    """Serve the survey, replay the answers over HTTP, compare, and on a terminal keep serving."""
    survey, rows = read_survey(SURVEY_FILE), answers()
    if rows is not None:
        click.echo(
            f"{len(rows):,} real people answered this in 1974; here their answers are replayed."
        )
    else:
        rows = made_up_answers(survey, _MADE_UP, np.random.default_rng())
        click.echo(f"{len(rows):,} people are made up here, and answer a survey of 1974.")
        click.echo(f"To replay the answers of the real ones, {install_with('demo')}")
    with tempfile.TemporaryDirectory() as folder:
        files = [str(SURVEY_FILE), str(ONE_DRAW)]
        command = [sys.executable, "-m", "server.cli", "serve", *files, "--port", "0"]
        database = Path(folder) / "demo.db"
        server = subprocess.Popen(
            [*command, "--db", str(database)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the demo, which then stops the server
        )
        # If the demo is stopped from outside, it still stops the server and deletes the database.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            url, token = _addresses(server)
            click.echo(f"A server runs at {url}. Each person's device randomizes, then sends:")
            _replay(url, survey, rows)
            # Pages and downloads are a batch behind until a survey is closed.
            store = Store(database)
            store.surveys.close_waves(survey.id)
            _compare(Client(url, token), survey, rows)
            together = read_survey(ONE_DRAW)
            (draw,) = together.joint
            total, each = draw.spec["epsilon"], draw.spec["epsilon_each"]
            click.echo(
                f"\nNow the same people answer once more, with {len(draw.questions)} of the "
                f"answers in one draw. Its total is ε = {total:g}, as before;\nsomebody who knows "
                f"the others learns at most ε = {each:g} about one of them."
            )
            _replay(url, together, rows)
            _set_beside(store, survey, together)
            if sys.stdout.isatty() and sys.stdin.isatty():
                store.surveys.open_wave(survey.id)
                _stay(url, token, survey)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _replay(url: str, survey: Survey, rows: list[dict[str, str]]) -> None:
    """Send each person's randomized answers."""
    with Progress(len(rows), "reports stored") as tick:
        outcomes = to_url(url, survey.id, payloads(survey, rows, 1, secrets.randbits(128)), tick)
    for why, n in refused(outcomes):
        raise Unreachable(f"{url}: {n} reports were refused: {why}")


def _addresses(server: "subprocess.Popen[str]") -> tuple[str, str]:
    """Return the server's address and research token, once it has printed both."""
    assert server.stdout is not None
    url = ""
    for line in server.stdout:
        name, _, value = line.strip().rpartition(" ")
        if name == "deniable serves on":
            url = value
        if name == "research token:":
            return url, value
    raise Unreachable("the demo's server did not start")


def _compare(client: Client, survey: Survey, rows: list[dict[str, str]]) -> None:
    _, estimates = client.request("GET", f"/api/surveys/{survey.id}/estimates.json")
    click.echo("\nWhat the server can estimate, beside the truth that only this demo knows:\n")
    click.echo(_LINE.format("question", "answer", "truth", "estimate", "95 % interval", "holds it"))
    held = 0
    for row in estimates:
        true = truth(rows, row["question"], row["term"])
        holds = row["conf_low"] <= true <= row["conf_high"]
        held += holds
        shown = "{:.2f}" if row["term"] in ("mean", *LABELS) else "{:.1%}"
        numbers = (true, row["estimate"], row["conf_low"], row["conf_high"])
        true_cell, estimate, low, high = map(shown.format, numbers)
        cells = (true_cell, estimate, f"{low} to {high}", "yes" if holds else "no")
        click.echo(_LINE.format(row["question"], row["term"], *cells))
    click.echo(f"\n{held} of {len(estimates)} intervals hold the truth; 95 % ones should mostly.")
    spent = client.request("GET", f"/api/surveys/{survey.id}/ledger.json")[1]
    totals = {row["epsilon"] for row in spent}
    parts = " + ".join(f"{question.spec['epsilon']:g}" for question in survey.questions)
    click.echo(
        f"Each of the {len(spent):,} respondents spent ε = {', '.join(map(str, sorted(totals)))} "
        f"({parts}, a question each)."
    )


def _set_beside(store: Store, survey: Survey, together: Survey) -> None:
    """Print how wide intervals are by separate draws and by one, on average, of each kind."""
    waves = [StoredWave(store, each.id) for each in (survey, together)]
    (draw,) = together.joint
    names = [question.id for question in draw.questions]
    widths: dict[str, list[float]] = {}
    for wave in waves:
        shares = [row for row in wave.estimates(0.95) if row.question in names]
        for name in names:
            of_one = [row.conf_high - row.conf_low for row in shares if row.question == name]
            widths.setdefault(f"a share of {name}", []).append(fmean(of_one) / 2)
        columns, _ = wave.columns(names)
        for one, other in combinations(columns, 2):
            cells = chain(*crosstab(one, other).intervals)
            half = fmean(cell.high - cell.low for cell in cells) / 2
            widths.setdefault(f"a share of {one.name} and {other.name} together", []).append(half)
    click.echo("\nHalf of a 95 % interval, on average, and how many respondents one draw saves:\n")
    click.echo(_BESIDE.format("", "separate", "one draw", "fewer respondents"))
    for name, (apart, one_draw) in widths.items():
        fewer = f"{(apart / one_draw) ** 2:.1f} times"
        click.echo(_BESIDE.format(name, f"± {apart:.1%}", f"± {one_draw:.1%}", fewer))


def _stay(url: str, token: str, survey: Survey) -> None:
    click.echo(f"\nAnswer it yourself:  {url}/s/{survey.id}")
    click.echo(f"See the results:     {url}/results/{survey.id}  (any name, password {token})")
    click.echo("Ctrl-C stops the server and deletes its database.")
    try:
        signal.pause()
    except KeyboardInterrupt:
        click.echo()
