"""R computes from a bundle and from an exported script what the commands print."""

import csv
import io
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bundled import bundled, study
from command_line import run, table
from found import optional
from limits import LONG

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

EXAMPLES = Path(__file__).parents[2] / "examples"
Row = dict[str, str]
#: A survey, a folder with a bundle's files and with reports.R, and the database.
Answered = tuple[Survey, Path, Path]

#: Three questions of which each person is asked two, in one draw; and options of two such draws.
ASKED = """
title = "Asked"
id = "asked"

[privacy]
cap = 20

[[together]]
id = "some"
questions = ["a", "b", "c"]
epsilon = 4
epsilon_each = 2
ask = 2

[[questions]]
id = "a"
kind = "yes-no"
required = true
text = "A?"

[[questions]]
id = "b"
kind = "choice"
required = true
text = "B?"
options = [{id = "x", text = "X"}, {id = "y", text = "Y"}, {id = "z", text = "Z"}]

[[questions]]
id = "c"
kind = "yes-no"
required = true
text = "C?"

[[together]]
id = "options"
questions = ["d", "e"]
epsilon = 4
epsilon_each = 2

[[questions]]
id = "d"
kind = "choices"
required = true
text = "D?"
options = [{id = "p-1", text = "P"}, {id = "q", text = "Q"}]

[[questions]]
id = "e"
kind = "yes-no"
text = "E?"

[[questions]]
id = "below"
kind = "number"
text = "Below?"
min = -5
max = 5
epsilon = 2
"""

HOSTILE = """
title = "\\"); system(\\"touch owned\\") #"
id = "hostile"

[privacy]
cap = 20

[[questions]]
id = "q"
kind = "choice"
text = "=\\"); system(\\"touch owned\\"); (\\"\\\\ \\r\\n`'#{}%s 决 \U0001f600 LONG"
options = [{id = "a", text = "'\\"\\\\"}, {id = "b", text = "=1+1"}]
mechanism = "krr"
epsilon = 1
"""


def _r(folder: Path, program: str, **environment: str) -> list[Row]:
    """Run a program that writes a table to out.csv; return its rows."""
    (folder / "program.R").write_text(program)
    done = subprocess.run(
        [optional("rscript"), "program.R"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"} | environment,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return list(csv.DictReader(io.StringIO((folder / "out.csv").read_text())))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answered]:
    """Return a function that returns a survey, which is answered once, its files and database."""
    made: dict[str, Answered] = {}

    def of(name: str) -> Answered:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            file = EXAMPLES / f"{name}.toml"
            if name in OWN:
                file = folder / "survey.toml"
                file.write_text(OWN[name])
            survey = read_survey(file)
            made[name] = survey, *_both(folder, survey, 400)
        return made[name]

    return of


def _both(tmp_path: Path, survey: Survey, people: int) -> tuple[Path, Path]:
    """Return a folder with a bundle's files and with reports.R, and the database."""
    (tmp_path / survey.id).mkdir()
    database = tmp_path / survey.id / "x.db"
    study(database, survey, people)
    folder = tmp_path / survey.id / "all"
    zipfile.ZipFile(io.BytesIO(bundled(database, survey.id))).extractall(folder)
    words = "--format", "r", "--output", folder / "reports.R"
    assert run("export", survey.id, "--db", database, *words).exit_code == 0
    return folder, database


def _same(row: Row, stated: Row, tolerance: float = 1e-7) -> None:
    for column in ("estimate", "std_error", "conf_low", "conf_high"):
        if stated[column]:
            expected = pytest.approx(float(stated[column]), rel=tolerance, abs=tolerance)
            assert float(row[column]) == expected, (column, row, stated)


ALONE = """
ask <- function(question) tryCatch(share(study, question), error = function(e) NULL)
rows <- do.call(rbind, lapply(unique(attr(study, "codebook")$question), ask))
write.csv(rows, "out.csv", row.names = FALSE)
"""


@pytest.mark.more
@pytest.mark.parametrize("name", ["working-conditions", "one-draw", "well-being", "asked"])
def test_shares_are_those_of_the_estimates(answered: Callable[[str], Answered], name: str) -> None:
    survey, folder, database = answered(name)
    stated = {
        (row["question"], row["term"]): row
        for row in table(run("estimate", survey.id, "--db", database))
    }
    rows = _r(folder, 'source("study.R"); study <- read_study()' + ALONE)
    assert _r(folder, 'source("reports.R")' + ALONE) == rows
    exact = 0
    for row in rows:
        there = stated[row["question"], row["value"]]
        if row["conf_method"] == there["conf_method"]:
            assert row["n"] == there["n"]
            _same(row, there)
            exact += 1
        else:
            # Weights of options that are reported a few at a time are averaged over all reports.
            apart = float(row["estimate"]) - float(there["estimate"])
            assert abs(apart) < 3 * float(there["std_error"]), row
    assert exact >= {"asked": 7, "well-being": 17}.get(name, 9)


SCALES = """
title = "Scales"
id = "scales"

[privacy]
cap = 20

[[questions]]
id = "years"
kind = "scale"
required = true
text = "Years?"
points = [-2, 0, 10]
mechanism = "krr"
epsilon = 2

[[questions]]
id = "words"
kind = "scale"
text = "Words?"
points = ["never", "now-and-then", "often", "always"]
mechanism = "subset"
epsilon = 1

[[questions]]
id = "best"
kind = "scale"
text = "Best for the mean?"
points = ["a b", "c d", "e f", "g h", "i j"]
aim = "mean"
epsilon = 1
"""

#: Surveys that are no examples.
OWN = {"asked": ASKED, "scales": SCALES}

MEANS = """
ask <- function(question) tryCatch(average(study, question), error = function(e) NULL)
rows <- do.call(rbind, lapply(unique(attr(study, "codebook")$question), ask))
write.csv(rows, "out.csv", row.names = FALSE)
"""


@pytest.mark.more
@pytest.mark.parametrize("name", ["scales", "one-draw", "well-being"])
def test_means_of_numbers_and_scales_are_those_of_the_estimates(
    answered: Callable[[str], Answered], name: str
) -> None:
    survey, folder, database = answered(name)
    stated = {
        row["question"]: row
        for row in table(run("estimate", survey.id, "--db", database))
        if row["term"] == "mean"
    }
    rows = _r(folder, 'source("study.R"); study <- read_study()' + MEANS)
    assert _r(folder, 'source("reports.R")' + MEANS) == rows
    assert [row["question"] for row in rows] == [*stated]
    for row in rows:
        there = stated[row["question"]]
        assert row["n"] == there["n"]
        if there["mechanism"] in ("subset", "together"):
            # estimates.csv has the error that follows from the tally.
            assert float(row["estimate"]) == pytest.approx(float(there["estimate"]), rel=1e-7)
            assert float(row["std_error"]) == pytest.approx(float(there["std_error"]), rel=0.15)
        else:
            # Channels that were designed for the mean have whole numbers, which shares and means
            # are solved from apart.
            _same(row, there, 1e-5 if row["question"] == "best" else 1e-7)


BY = """
columns <- c("group", "value", "estimate", "std_error", "conf_low", "conf_high", "n", "flag")
ask <- function(of, question, by) {
  tryCatch(of(study, question, by = by)[columns], error = function(e) NULL)
}
of_pair <- function(question, by) {
  rows <- cbind(ask(difference, question, by), of = "difference")
  among <- cbind(rbind(ask(share, question, by), ask(average, question, by)), of = "group")
  cbind(rbind(rows, among), question = question, by = by)
}
"""


@pytest.mark.more
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        (
            "working-conditions",
            [("harassed", "team"), ("told", "harassed"), ("income", "team")],
        ),
        (
            "one-draw",
            [
                ("harassed", "team"),
                ("believed", "team"),
                ("harassed", "believed"),
                ("years", "harassed"),
            ],
        ),
        ("well-being", [("lonely", "cheerful")]),
        (
            "asked",
            [
                ("a", "b"),
                ("b", "e"),
                ("d.p-1", "e"),
                ("e", "d.p-1"),
                ("d.q", "d.p-1"),
                ("below", "a"),
            ],
        ),
    ],
)
def test_groups_and_differences_are_those_that_compare_and_crosstab_print(
    answered: Callable[[str], Answered], name: str, pairs: list[tuple[str, str]]
) -> None:
    survey, folder, database = answered(name)
    asked = ", ".join(f'of_pair("{question}", "{by}")' for question, by in pairs)
    program = f'{BY}write.csv(rbind({asked}), "out.csv", row.names = FALSE)'
    rows = _r(folder, 'source("study.R"); study <- read_study()' + program)
    assert _r(folder, 'source("reports.R")' + program) == rows
    for question, by in pairs:
        mine = [row for row in rows if (row["question"], row["by"]) == (question, by)]
        _compare_groups(mine, survey, database, question, by)


def _compare_groups(
    rows: list[Row], survey: Survey, database: Path, question: str, by: str
) -> None:
    """Compare what R computes of a question in groups with what the commands print."""
    is_number = question in ("income", "years", "below")
    wanted = {"mean"} if is_number else {"mean", "share"}
    differences = {
        (row["second"], row["term"]): row
        for row in table(run("compare", survey.id, question, "--groups", by, "--db", database))
        if row["quantity"] in wanted
    }
    wanted = {"mean"} if is_number else {"mean", "column-share"}
    among = {
        (row["second"], row["first"]): row
        for row in table(run("crosstab", survey.id, question, by, "--db", database))
        if row["quantity"] in wanted and row["second"] != "mean"
    }
    expected = {"difference": differences, "group": among}
    assert len(rows) == len(differences) + len(among)
    for row in rows:
        there = expected[row["of"]][row["group"], row["value"]]
        # Tables stop looking for the end of an interval at 0.00004 of its quantile.
        _same(row, there, 5e-5)
        assert row["n"] == there["n"]
        assert row["flag"] == "few" * ("few" in there["flag"].split(";"))


@pytest.mark.more
def test_texts_stay_texts_in_every_locale(tmp_path: Path, read: Callable[[str], Survey]) -> None:
    long = "é'\\\\" * 6000
    folder, database = _both(tmp_path, read(HOSTILE.replace("LONG", long)), 150)
    told = 'write.csv(share(study, "q"), "out.csv", row.names = FALSE, fileEncoding = "UTF-8")'
    for begin in ('source("reports.R")', 'source("study.R"); study <- read_study()'):
        for locale in ("C", "C.UTF-8"):
            rows = _r(folder, f"{begin}\n{told}", LC_ALL=locale)
            assert [row["label"] for row in rows] == ["'\"\\", "=1+1", "No answer"]
    assert (folder / "reports.R").read_bytes().isascii()
    assert not list(tmp_path.rglob("owned"))
    rows = table(run("estimate", "hostile", "--db", database))
    for row, there in zip(_r(folder, f"{begin}\n{told}"), rows, strict=True):
        _same(row, there)


@pytest.mark.more
def test_what_r_cannot_compute_is_refused_in_a_sentence(
    tmp_path: Path, read: Callable[[str], Survey]
) -> None:
    folder, _ = _both(tmp_path, read(ASKED), 150)
    calls = {
        'share(study, "zzz")': 'question: expected one of a, b, c, d, e, below, got "zzz"',
        'share(study, "below")': "below: it asks for a number, which has no shares: take average()",
        'average(study, "a")': "a: expected a question that asks for a number or a scale; take",
        'share(study, "a", by = "below")': "by: expected a question with few answers, got below,",
        'share(study, "a", by = "d")': "by: expected one option, such as d.",
        'share(study, "a", by = "a")': "a and a: expected questions that reports tell of together",
        'share(study, "a", level = 95)': "level: expected a number between 0 and 1",
        'share(study[study$debiased_a_yes > 0, ], "a")': "data: expected all rows of the study",
        'difference(study, "a", by = "b", reference = "q")': "reference: expected one of x, y, z",
    }
    asked = ", ".join(f"function() {call}" for call in calls)
    rows = _r(
        folder,
        f'source("study.R"); study <- read_study(); calls <- list({asked})\n'
        "told <- sapply(calls, function(call) tryCatch(format(call()), error = conditionMessage))\n"
        'write.csv(data.frame(told = told), "out.csv", row.names = FALSE)',
    )
    for row, expected in zip(rows, calls.values(), strict=True):
        assert row["told"].startswith(expected)
