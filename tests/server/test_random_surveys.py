"""Every command ends well on random surveys: with a result, or with a refusal in one sentence.

Each survey has a seed, which the test's name and message have. `--surveys SEED` tries others.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, islice
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np
import pytest
from click.testing import Result
from command_line import run
from limits import computed
from random_surveys import ID, random_survey, write_answers

from analysis.core.domain import NO_ANSWER
from analysis.core.options import FAMILIES
from analysis.estimate.intervals import INTERVALS
from analysis.estimate.rappor_files import RapporParams, map_row
from analysis.privacy.ledger import LEDGERS
from analysis.survey.survey import Survey
from server.cli import COMMANDS
from server.formats import FORMATS
from server.forms import WRITTEN
from server.plan.tables import TABLES

Words = list[object]
_T = TypeVar("_T")
#: Commands that are not about a survey, or run until somebody stops them.
OTHERS = {"copy", "demo", "deploy", "doctor", "prune", "researcher", "serve"}
#: How many of the options and formats each survey draws. With probability 3e-4, all of 20 surveys
#: leave out a given one of the 15 options of `estimate`.
SOME = 5
#: The seeds of surveys that `make test` tries, and how many `make test-more` tries.
FEW, MANY = (6, 13), 20


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Name each survey by its seed."""
    if "seed" in metafunc.fixturenames:
        first = metafunc.config.getoption("surveys")
        more = [seed for seed in range(first, first + MANY) if seed not in FEW]
        seeds = [*FEW, *(pytest.param(seed, marks=pytest.mark.more) for seed in more)]
        metafunc.parametrize("seed", seeds)


def ends_well(result: Result, words: Words) -> None:
    """Fail unless a command succeeded, or refused in one sentence."""
    told = f"deniable {' '.join(map(str, words))}: exit {result.exit_code}\n{result.output}"
    if isinstance(result.exception, SystemExit) or result.exception is None:
        assert result.exit_code in (0, 1), told
        assert "Traceback" not in result.output, told
    else:
        raise AssertionError(told) from result.exception
    if result.exit_code == 0:
        return
    if words[0] == "simulate":
        # It prints what became of the reports, and then why some were refused.
        assert "refused: " in result.stderr or "Error: " in result.stderr, told
        return
    *_, last = result.stderr.splitlines()
    assert last.startswith("Error: "), told
    assert result.stderr.count("Error: ") == 1, told
    assert len(last) > len("Error: expected"), told


def before_fieldwork(folder: Path, survey: Survey, draw: Random) -> Iterator[Words]:
    """Yield the commands on a survey's file, and those that publish and answer it."""
    path = folder / "survey.toml"
    yield ["check", path, "--json"]
    for tool in WRITTEN:
        converted = folder / f"converted.{tool}"
        yield ["convert", path, "--to", tool, "--output", converted]
        yield ["import", converted, "--from", tool]
    for table in _some(TABLES, draw, 3):
        planned: Words = ["plan", path, "--table", table, "--runs", 2]
        planned += ["--respondents", draw.choice([2, 40, 400, 1000]), "--waves", draw.randint(1, 3)]
        if table == "questions" and draw.random() < 0.2:
            planned += ["--half-width", draw.choice([0.02, 0.1, 0.3])]
        yield [*planned, "--format", draw.choice(["csv", "json", "text"])]
    db: Words = ["--db", folder / "deniable.db"]
    yield ["publish", path, *db]
    yield ["open", ID, *db]
    if survey.access != "open":
        yield ["invite", ID, "--count", 2, "--url", "https://survey.example", *db]
    for wave in (1, 2):
        answers: Words = ["--answers", folder / "answers.csv", "--seed", 1, "--wave", wave]
        yield ["simulate", path, *answers, *db]


def after_fieldwork(folder: Path, survey: Survey, draw: Random) -> Iterator[Words]:
    """Yield the commands on the reports of a survey."""
    db: Words = ["--db", folder / "deniable.db"]
    yield ["close", ID, *db]
    some: list[Words] = [["--wave", "all"], ["--fakes", 2], ["--bins", 5], ["--deff"], ["--rank"]]
    some += [["--totals"], ["--population", 900], ["--simultaneous"], ["--batch"]]
    some += [["--constrained", name] for name in ("em", "norm-sub")]
    some += [["--interval", name] for name in INTERVALS]
    for more in [[], *_some(some, draw)]:
        yield ["estimate", ID, *more, *db]
    for by in LEDGERS:
        yield ["ledger", ID, "--by", by, *db]
    for text in ([], ["--methods"], ["--label"]):
        yield ["codebook", ID, *text, *db]
    yield ["plausibility", ID, *db]
    yield ["rank", ID, *db]
    for form in _some(FORMATS, draw):
        yield ["export", ID, "--format", form, "--output", folder / f"reports.{form}", *db]
    yield ["export", ID, "--format", "parquet", "--parts", folder / "parts", *db]
    yield ["recount", folder / "parts", "--output", folder / "recounted.json"]
    tally = folder / "tally.json"
    yield ["tally", "export", ID, "--all-reports", "--output", tally, *db]
    if tally.exists():
        yield ["tally", "merge", tally]
        yield ["estimate", ID, "--tally", tally]
        yield ["plausibility", tally]
        yield ["rank", tally]
    for question in survey.questions:
        terms, is_first = [*question.domain.terms], question is survey.questions[0]
        about = list(_about(question.id, terms, question.domain.no_answer, db))
        yield from about if is_first else _some(about, draw, 2)
    ids = [question.id for question in survey.questions]
    for first, second in islice(combinations(ids, 2), 3):
        yield ["crosstab", ID, first, second, *draw.choice([[], ["--tests"]]), *db]
        yield ["compare", ID, first, "--wave", 1, "--groups", second, *db]
    for family in _some(FAMILIES, draw, 1):
        outcome, *predictors = draw.sample(ids, min(2, len(ids)))
        formula = f"{outcome.replace('-', '_')} ~ {' + '.join(predictors) or 1}"
        yield ["regress", ID, formula, "--family", family, *db]
    bundle = folder / "study.zip"
    yield ["bundle", ID, "--output", bundle, *db]
    if bundle.exists():
        yield ["verify", bundle]
    yield ["audit", "--survey", ID, *db]
    yield ["backup", folder / "backup.db", *db]
    yield ["restore", folder / "backup.db", "--db", folder / "restored.db"]
    yield ["migrate", "--db", folder / "restored.db"]
    yield ["log", *db]


def _some(all_of_them: Iterable[_T], draw: Random, count: int = SOME) -> list[_T]:
    """Draw some, in the order in which they stand."""
    every = list(all_of_them)
    return [
        every[place] for place in sorted(draw.sample(range(len(every)), min(count, len(every))))
    ]


def _about(name: str, terms: list[str], skips: bool, db: Words) -> Iterator[Words]:
    """Yield the commands on one question."""
    yield ["compare", ID, name, *db]
    yield ["compare", ID, name, "--tests", *db]
    yield ["trend", ID, name, *db]
    values = [*terms, *[NO_ANSWER] * (skips and NO_ANSWER not in terms)]
    shares = ",".join(f"{value}=1/{len(values)}" for value in values)
    if values:
        yield ["test", ID, name, "--shares", shares, *db]


def from_elsewhere(folder: Path, draw: Random) -> Iterator[Words]:
    """Yield `analyze` on random answers to a classic design, and `decode` on random reports."""
    rng = np.random.default_rng(draw.getrandbits(32))
    n, p = draw.choice([20, 100, 200]), draw.choice(["3/4", "2/3", "0.1"])
    design = folder / "design.toml"
    design.write_text(
        '[columns.y]\nvalues = ["0", "1"]\n' + f'design = {{name = "warner", p = "{p}"}}\n'
    )
    x, often = rng.normal(size=n), draw.choice([0, 0.2, 0.5, 0.8, 1])
    y = x > np.quantile(x, 1 - often) if draw.random() < 0.5 else rng.random(n) < often
    with (folder / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("y", "x"), *zip(y.astype(int), x, strict=True)])
    for more in [[], ["--constrained", "em"], ["--tests"], ["--rank", "y"], ["--model", "y ~ x"]]:
        yield ["analyze", folder / "data.csv", "--design", design, *more]
    yield ["analyze", "--design", design, "--respondents", n]
    params = RapporParams(k=16, h=2, m=8, p=0.25, q=0.75, f=0.25)
    (folder / "params.csv").write_text("k,h,m,p,q,f\n16,2,8,0.25,0.75,0.25\n")
    with (folder / "counts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([n, *rng.binomial(n, 0.4, 16)] for _ in range(8))
    with (folder / "map.csv").open("w", newline="") as file:
        csv.writer(file).writerows(map_row(value, params) for value in ("a", "b", "c"))
    files = [[f"--{name}", folder / f"{name}.csv"] for name in ("params", "counts", "map")]
    yield ["decode", *[part for file in files for part in file]]


def test_every_command_ends_well_on_a_random_survey(seed: int, tmp_path: Path) -> None:
    draw = Random(seed)
    with computed():
        survey = random_survey(seed, tmp_path / "survey.toml")
    write_answers(survey, seed, draw.choice([1, 30, 60]), tmp_path / "answers.csv")
    print(f"seed {seed}:", json.dumps(survey.spec))
    tried = set()
    for words in chain(
        before_fieldwork(tmp_path, survey, draw),
        after_fieldwork(tmp_path, survey, draw),
        from_elsewhere(tmp_path, draw),
    ):
        tried.add(str(words[0]))
        with computed():
            ends_well(run(*words), words)
    # A survey of one question has nothing to tabulate.
    assert {*COMMANDS} - tried - OTHERS <= {"crosstab", "invite", "test", "verify"}
