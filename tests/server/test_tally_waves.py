"""Commands print from tallies of one or several waves what they print from the database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from command_line import refused, run
from every_mechanism import survey_of_all

from analysis.estimate.columns.of_survey import column_names
from analysis.survey.question import Question
from analysis.survey.simulate import made_up_answers, payloads, simulated_token
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.intake.invitations import ISSUER
from server.store import Store
from server.stored_results import StoredWave

WAVES = (1, 2, 3)
#: A grid of more points takes seconds each time.
MOST_POINTS = 100
SURVEY = """
title = "Work"
id = "work"
access = "ACCESS"
organisation = "Us"

[privacy]
cap = 60.0

[[questions]]
id = "harassed"
kind = "yes-no"
text = "?"
mechanism = "krr"
epsilon = 4.0

[[questions]]
id = "team"
kind = "choice"
text = "?"
options = [{id = "lab", text = "Lab"}, {id = "office", text = "Office"}, {id = "x", text = "X"}]
mechanism = "hashed-krr"
epsilon = 3.0

[[questions]]
id = "pay"
kind = "number"
text = "?"
min = 0
max = 20
mechanism = "duchi"
epsilon = 4.0

[[questions]]
id = "tools"
kind = "choices"
text = "?"
options = [{id = "saw", text = "Saw"}, {id = "axe", text = "Axe"}]
mechanism = "pick"
epsilon = 3.0

[[questions]]
id = "bits"
kind = "choice"
text = "?"
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
mechanism = "oue"
epsilon = 3.0
"""


def _collected(database: Path, survey: Survey, people: int) -> list[Path]:
    """Fill three waves of a database, and return the files of their tallies."""
    store = Store(database, create=True)
    store.surveys.publish(survey)
    for wave in WAVES:
        store.surveys.open_wave(survey.id, wave)
        seed = wave if survey.access == "open" else 1  # a panel's people answer in each wave
        if survey.access != "open" and wave == 1:
            tokens = [simulated_token(survey, row, seed) for row in range(people)]
            store.invitations.add(survey.id, wave, map(ISSUER.key, tokens))
        answers = made_up_answers(survey, people, np.random.default_rng(wave))
        to_store(store, survey.id, payloads(survey, answers, wave, seed), lambda _: None)
        store.surveys.close_waves(survey.id)
    store.close()
    files = [database.with_name(f"{wave}.json") for wave in WAVES]
    for wave, file in zip(WAVES, files, strict=True):
        words = "tally", "export", survey.id, "--db", database, "--wave", wave, "--output", file
        assert run(*words).exit_code == 0
    return files


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> tuple[Survey, Path, list[Path]]:
    """Return a survey, its database of three waves, and the tallies of these."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "work.toml").write_text(SURVEY.replace("ACCESS", "open"))
    survey = read_survey(folder / "work.toml")
    return survey, folder / "x.db", _collected(folder / "x.db", survey, 250)


def _given(files: list[Path]) -> list[Any]:
    return [word for file in files for word in ("--tally", file)]


def _commands(column: str, values: list[str]) -> dict[str, tuple[list[Any], list[int]]]:
    """Return the commands for a column, and their waves."""
    shares = ",".join([f"{value}={1 / len(values)!r}" for value in values])
    return {
        "test": ([column, "--shares", shares], [2]),
        "compare": ([column, "--level", 0.9], [1, 3]),
        "compare --tests": ([column, "--tests"], [2, 3]),
        "trend": ([column, "--at", "2020,2021,2023"], [1, 2, 3]),
    }


def _both(
    survey: Survey, database: Path, files: list[Path], command: str, words: list[Any], on: list[int]
) -> tuple[Result, Result]:
    """Return what a command prints from a database, and from tallies in another order."""
    name, *more = command.split()
    of_waves = ["--wave", on[0]] if len(on) == 1 else ["--waves", ",".join(map(str, on))]
    stored = run(name, survey.id, *words, *more, "--db", database, *of_waves)
    chosen = [files[wave - 1] for wave in reversed(on)]
    return stored, run(name, survey.id, *words, *more, *_given(chosen))


def _compare(
    survey: Survey, database: Path, files: list[Path], in_turn: bool = False
) -> tuple[list[str], list[str]]:
    """Compare all commands on all columns, or if `in_turn` one command on each.

    Return the columns for which tallies were enough, or not.
    """
    told: list[str] = []
    untold: list[str] = []
    asked: list[tuple[Question, str]] = [
        (question, name) for question in survey.questions for name in column_names(question)
    ]
    with_db = StoredWave(Store(database), survey.id, 2)
    for question, name in asked:
        channel = question.randomizer.channel
        if channel.gives_one_symbol and channel.inputs > MOST_POINTS:
            continue
        try:
            (column,), _ = with_db.columns([name])
        except ValueError:
            continue  # free texts are not columns
        known = all(channel.report_of(symbol) is not None for symbol in range(channel.symbols))
        (told if known else untold).append(name)
        commands = list(_commands(name, list(column.values)).items())
        turn = len(told) + len(untold)
        for command, (words, on) in [commands[turn % len(commands)]] if in_turn else commands:
            stored, counted = _both(survey, database, files, command, words, on)
            if known or stored.exit_code:
                assert counted.exit_code == stored.exit_code, counted.output
            else:
                assert counted.exit_code == 1
                assert "count for one symbol each" in counted.stderr
                assert counted.stderr.count("\n") == 1
            if known:
                assert counted.stdout == stored.stdout
                assert counted.stderr == stored.stderr
    return told, untold


def test_tallies_give_the_results_of_the_database(work: tuple[Survey, Path, list[Path]]) -> None:
    told, untold = _compare(*work)
    assert told == ["harassed", "team", "pay", "tools.saw", "tools.axe", "tools.none"]
    assert untold == ["bits"]


@pytest.mark.more
def test_tallies_give_the_results_of_the_database_under_each_mechanism(
    tmp_path: Path, read: Callable[[str], Survey]
) -> None:
    survey = survey_of_all(read)
    files = _collected(tmp_path / "x.db", survey, 120)
    told, untold = _compare(survey, tmp_path / "x.db", files, in_turn=True)
    assert len(told) > 20
    assert {"long-set", "several.x", "a", "q12"} <= set(untold)


def test_codebooks_and_sections_on_methods_are_those_of_the_database(
    work: tuple[Survey, Path, list[Path]],
) -> None:
    survey, database, files = work
    for more in ([], ["--methods"], ["--methods", "--population", 9000], ["--label"]):
        stored = run("codebook", survey.id, *more, "--db", database, "--wave", 2)
        counted = run("codebook", survey.id, *more, "--tally", files[1])
        assert stored.exit_code == counted.exit_code == 0, counted.output
        assert counted.stdout == stored.stdout


def test_a_tally_does_not_say_how_many_were_invited(tmp_path: Path) -> None:
    (tmp_path / "work.toml").write_text(SURVEY.replace("ACCESS", "panel"))
    survey = read_survey(tmp_path / "work.toml")
    files = _collected(tmp_path / "x.db", survey, 60)
    words = "codebook", survey.id, "--tally", files[0]
    assert run(*words).exit_code == 0
    assert "how many people were invited" in refused(*words, "--methods")
    # The same people may have answered; the database says so, too.
    stored = run("trend", survey.id, "harassed", "--db", tmp_path / "x.db")
    counted = run("trend", survey.id, "harassed", *_given(files))
    assert "the same people may have answered" in counted.stderr
    assert (counted.stdout, counted.stderr) == (stored.stdout, stored.stderr)


def test_groups_are_compared_by_pairs_of_reports(
    work: tuple[Survey, Path, list[Path]], tmp_path: Path
) -> None:
    survey, database, files = work
    parts, pairs = tmp_path / "parts", tmp_path / "pairs.json"
    words = "export", survey.id, "--db", database, "--wave", 2, "--format", "parquet"
    assert run(*words, "--parts", parts).exit_code == 0
    asked: list[Any]
    for asked in (["pay", "--groups", "harassed"], ["bits", "--groups", "team", "--tests"]):
        pairs.unlink(missing_ok=True)
        counting = "recount", parts, "--pairs", asked[0], asked[2], "--output", pairs
        assert run(*counting).exit_code == 0
        stored = run("compare", survey.id, *asked, "--db", database, "--wave", 2)
        counted = run("compare", survey.id, *asked, "--tally", pairs)
        assert stored.exit_code == counted.exit_code == 0, counted.output
        assert (counted.stdout, counted.stderr) == (stored.stdout, stored.stderr)
    groups = "compare", survey.id, "bits", "--groups", "team"
    assert "got a tally" in refused(*groups, "--tally", files[0])
    assert "got it 2 times" in refused(*groups, "--tally", pairs, "--tally", pairs)


def test_files_that_do_not_fit_are_refused(
    work: tuple[Survey, Path, list[Path]], tmp_path: Path
) -> None:
    survey, database, files = work
    for command in ("compare", "trend"):
        words = command, survey.id, "harassed"
        assert "got wave 1 again" in refused(*words, *_given([files[0], files[1], files[0]]))
        assert "expected survey" in refused(command, "other", "harassed", *_given(files[:2]))
        assert "expected version abc" in refused(*words, *_given(files[:2]), "--version", "abc")
        assert run(*words, *_given(files[:2]), "--waves", "1,2").exit_code == 2
        assert run(*words, *_given(files[:2]), "--db", database).exit_code == 2
        assert run(*words, "--survey", files[0]).exit_code == 2
        assert "cannot be read" in refused(*words, "--tally", tmp_path / "none.json")
        assert "expected one of" in refused(command, survey.id, "none", *_given(files[:2]))
    assert "expected two files" in refused("compare", survey.id, "harassed", *_given(files))
    assert "expected two files" in refused("compare", survey.id, "harassed", *_given(files[:1]))
    assert "at least two waves" in refused("trend", survey.id, "harassed", *_given(files[:1]))
    shares = "test", survey.id, "harassed", "--shares", "yes=0.5,no=0.4,no-answer=0.1"
    assert run(*shares, "--tally", files[0]).exit_code == 0
    assert "expected wave 2" in refused(*shares, "--tally", files[0], "--wave", 2)
    assert run(*shares, "--tally", files[0], "--batch").exit_code == 2
