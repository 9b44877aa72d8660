"""Verbs: one command for waves, tallies, bundles and tables from elsewhere, with the same words."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from command_line import refused, run, table

from analysis.core.options import (
    ENGINES_OF_RECOUNTS,
    INTERVALS_OF_SHARES,
    ROWS_OF_LEDGERS,
    TABLES_OF_PLANS,
)
from analysis.estimate.intervals import INTERVALS
from analysis.privacy.ledger import LEDGERS
from analysis.study.verbs import Option, Verb
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.cli import COMMANDS
from server.deliver import to_store
from server.plan.tables import TABLES
from server.recount.engines import ENGINES
from server.store import Store

ELSEWHERE = Path(__file__).parents[2] / "examples/elsewhere"
#: What `analyze` is asked about each table, beside its estimates: every mode, and every option.
ASKED = {
    "dice": [
        "--table joined",
        "--table joined --table age",
        "--table joined --table town --tests --json",
        "--table joined --table town --table age",
        "--rank joined --rank town --level 0.9",
        "--model 'joined ~ age + town' --interval wald",
        "--model 'joined ~ age' --effects --random town",
        "--model 'age ~ joined' --family linear --errors sandwich --json",
        "--model 'joined ~ town' --penalty log-f --no-answer category",
        "--constrained em --simultaneous --interval wilson",
    ],
    "direct": ["--difference asked thrown", "--difference asked work --interval wilson"],
    "extended-crosswise": ["--tests"],
    "scrambled": ["--totals --population 5000", "--rank region", "--constrained em"],
}


def _elsewhere() -> Iterator[str]:
    for path in sorted(ELSEWHERE.glob("*.toml")):
        files = f"{path.with_suffix('.csv')} --design {path}"
        for words in ("", *ASKED.get(path.stem, ())):
            yield f"{files} {words}"


@pytest.mark.parametrize("words", [*_elsewhere()], ids=lambda words: words.rpartition("/")[2])
def test_analyze_prints_what_the_command_prints_that_it_names(words: str) -> None:
    older = run("analyze", *shlex.split(words))
    assert older.exit_code == 0, older.output
    *told, named = older.stderr.splitlines()
    program, *newer = shlex.split(named.removeprefix("analyze is an older name for: "))
    assert program == "deniable"
    result = run(*newer)
    assert result.exit_code == 0, result.output
    assert result.stdout == older.stdout
    assert result.stderr.splitlines() == told


@pytest.fixture(scope="module", params=["closed", "open"])
def folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, survey_text: str
) -> Path:
    """Return a folder with a wave of 600 people as each kind of source."""
    folder = tmp_path_factory.mktemp("verbs")
    (folder / "canteen.toml").write_text(survey_text)
    survey = read_survey(folder / "canteen.toml")
    store = Store(folder / "canteen.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    _answer(store, survey)
    if request.param == "closed":
        store.surveys.close_waves(survey.id)
    store.close()
    database = "--db", folder / "canteen.db"
    bundle = "bundle", survey.id, *database, "--output"
    for words in (
        ("tally", "export", survey.id, "--output", folder / "tally.json", *database),
        (*bundle, folder / "study.zip"),
        (*bundle, folder / "counts.zip", "--without-reports"),
        ("export", survey.id, "--format", "parquet", "--parts", folder / "parts", *database),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.output
    pairs = "--pairs", "meat", "dish", "--output", folder / "pairs.json"
    assert run("recount", folder / "parts", *pairs).exit_code == 0
    return folder


def _answer(store: Store, survey: Survey) -> None:
    people = [{"meat": "yes", "dish": "roast", "price": "12"}] * 200
    people += [{"meat": "no", "dish": "soup", "price": "8"}] * 400
    to_store(store, survey.id, payloads(survey, people, 1, seed=2), lambda _: None)


#: Files with the counts of every question.
COUNTED = ("tally.json", "study.zip", "counts.zip")


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("estimate {} --totals --fakes 5", COUNTED),
        ("rank {}", COUNTED),
        ("plausibility {}", ("tally.json", "study.zip")),
        ("test {} meat --shares yes=1/3,no=1/2,no-answer=1/6", COUNTED),
        ("codebook {} --methods", COUNTED),
        ("crosstab {} meat dish", ("pairs.json", "study.zip")),
        ("compare {} meat --groups dish", ("pairs.json", "study.zip")),
        ("regress {} 'meat ~ dish'", ("study.zip",)),
        ("crosstab {} meat", ("pairs.json", "study.zip")),
    ],
)
def test_a_file_answers_as_its_database_does(
    folder: Path, words: str, files: tuple[str, ...]
) -> None:
    stored = run(*shlex.split(words.format("canteen")), "--db", folder / "canteen.db")
    assert stored.exit_code == 0, stored.output
    for file in files:
        answer = run(*shlex.split(words.format(folder / file)))
        assert (answer.stdout, answer.stderr) == (stored.stdout, stored.stderr), file


def test_what_would_lie_is_refused(folder: Path, survey_text: str) -> None:
    # Two tallies of waves in which a question had other words.
    other = folder / "other.toml"
    other.write_text(survey_text.replace("Do you eat meat?", "Do you eat no meat?"))
    store = Store(folder / "other.db", create=True)
    survey, people = read_survey(other), [{"meat": "no", "dish": "soup", "price": "8"}] * 9
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id, 2)
    to_store(store, survey.id, payloads(survey, people, 2, seed=3), lambda _: None)
    store.close()
    second = folder / "other.json"
    exported = "tally", "export", survey.id, "--all-reports", "--output", second
    if not second.exists():
        assert run(*exported, "--db", folder / "other.db").exit_code == 0
    tallies = "--tally", folder / "tally.json", "--tally", second
    for command in ("compare", "trend"):
        assert "of one version of the survey" in refused(command, survey.id, "meat", *tallies)
    # The values of a number are points to which it was rounded, and no answers.
    assert "price: expected a question with shares" in refused(
        "crosstab", folder / "study.zip", "price", "meat", "dish"
    )
    # A file that is none of ours, one file where two waves are compared, and two tables at once.
    (folder / "x.csv").write_text("a,b\n")
    assert "a table needs --design" in refused("estimate", folder / "x.csv")
    for words in (
        ("compare", folder / "study.zip", "meat"),
        ("regress", folder / "study.zip", "meat ~ dish", "--predicted", "--effects"),
    ):
        assert run(*words).exit_code == 2


def test_a_verb_refuses_a_source_that_lacks_what_it_needs_in_one_sentence(folder: Path) -> None:
    tally, pairs = folder / "tally.json", folder / "pairs.json"
    dice = [ELSEWHERE / "dice.csv", "--design", ELSEWHERE / "dice.toml"]
    reports = "(of a database, a bundle, or recount --pairs), got a tally"
    counts = "on every question, got counts of rows of reports"
    for words, told in (
        (["crosstab", tally, "meat", "dish"], reports),
        (["regress", tally, "meat ~ dish"], reports),
        (["estimate", pairs], counts),
        (["plausibility", pairs], counts),
        (["compare", *dice[:1], "joined", *dice[1:], "--groups", "nothing"], 'no column "nothing"'),
        (["compare", tally, "meat", "--with", "dish"], "with its --design, got a tally"),
        (["estimate", *dice, "--deff"], "every question, got a table from elsewhere"),
    ):
        assert told in refused(*words)


def test_a_word_with_a_dot_or_a_slash_is_a_file_and_any_other_an_id(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("canteen").write_bytes(Path("tally.json").read_bytes())
    named = table(run("estimate", "./canteen"))
    assert named == table(run("estimate", "canteen", "--tally", "canteen"))
    for words, told in (
        (("estimate", "canteen", "--design", "x.toml"), "--design goes with a file"),
        (("estimate", "./canteen", "--db", "canteen.db"), "--db goes with the id of a survey"),
        (("rank", "x.csv", "--design", "x.toml", "--wave", "1"), "--wave goes with the id"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert told in result.stderr
    assert "expected wave 2, got 1" in refused("estimate", "./canteen", "--wave", "2")


def _commands() -> list[type[Verb]]:
    return [each for kind in Verb.__subclasses__() for each in (kind, *kind.__subclasses__())]


def test_each_field_of_a_verb_is_an_option_with_a_sentence() -> None:
    for verb in _commands():
        for field in fields(verb):
            about: Option = field.metadata["option"]
            assert about.is_argument or ". " in f"{about.help} ", field
            assert about.is_argument or field.default is not MISSING or about.metavar


def test_options_offer_what_there_is() -> None:
    assert tuple(INTERVALS) == INTERVALS_OF_SHARES
    assert tuple(LEDGERS) == ROWS_OF_LEDGERS
    assert tuple(TABLES) == TABLES_OF_PLANS
    assert tuple(ENGINES) == ENGINES_OF_RECOUNTS


def test_no_help_needs_numpy_scipy_or_flask() -> None:
    program = (
        "import sys, click; from click.testing import CliRunner; from server.cli import main\n"
        "def ask(command, *words):\n"
        "    assert CliRunner().invoke(main, [*words, '--help']).exit_code == 0, words\n"
        "    print(*words, *{'numpy', 'scipy', 'flask'} & {*sys.modules})\n"
        "    for name in getattr(command, 'list_commands', lambda _: ())(click.Context(command)):\n"
        "        ask(command.get_command(click.Context(command), name), *words, name)\n"
        "ask(main)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    asked = {*done.stdout.splitlines()}
    assert asked >= {"", *COMMANDS, "tally export", "researcher add"}
    assert not [words for words in asked if re.search("numpy|scipy|flask", words)]
