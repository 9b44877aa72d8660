"""Merged files of tallies give what one database gives, and bad files are refused."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import refused, run
from every_mechanism import survey_of_all

from analysis.core.channels.bits import Bits
from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.channels.subset import Subset
from analysis.core.channels.window import Window
from analysis.core.errors import DataError
from analysis.study.tally.reading import read_tally
from analysis.study.tally.statement import hash_of
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
COLLECTORS = 10


def _collected(path: Path, survey: Survey, sent: list[dict[str, Any]], close: bool = True) -> Path:
    store = Store(path, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    to_store(store, survey.id, iter(sent), lambda _: None)
    if close:
        store.surveys.close_waves(survey.id)
    store.close()
    return path


def _sent(survey: Survey, people: int) -> list[dict[str, Any]]:
    answers = made_up_answers(survey, people, np.random.default_rng(3))
    return list(payloads(survey, answers, 1, seed=3))


def _exported(database: Path, survey_id: str, *more: object) -> Path:
    file = database.with_suffix(".json")
    file.unlink(missing_ok=True)
    words = "tally", "export", survey_id, "--db", database, "--output", file
    result = run(*words, *more)
    assert result.exit_code == 0, result.output
    return file


@pytest.fixture
def two(tmp_path: Path, survey: Survey) -> list[Path]:
    """Return the tallies of two collectors of one closed survey."""
    sent = _sent(survey, 300)
    databases = [
        _collected(tmp_path / f"{name}.db", survey, sent[start::2])
        for start, name in enumerate("ab")
    ]
    return [_exported(database, survey.id) for database in databases]


def _compare(tmp_path: Path, survey: Survey, people: int, collectors: int = COLLECTORS) -> None:
    """Compare results of one database with those of several databases that divide its people."""
    sent = _sent(survey, people)
    whole = _collected(tmp_path / "whole.db", survey, sent)
    files = []
    for place in range(collectors):
        own = _collected(tmp_path / f"{place}.db", survey, sent[place::collectors])
        files.append(_exported(own, survey.id))
    merged = tmp_path / "merged.json"
    merged.write_text(run("tally", "merge", *files).stdout)
    for command in (["estimate"], ["estimate", "--rank"], ["plausibility"]):
        one = run(*command, survey.id, "--db", whole)
        assert one.exit_code == 0, one.output
        several = run(*command, survey.id, "--tally", merged)
        assert (several.stdout, several.stderr) == (one.stdout, one.stderr)
    # In any order, and a part at a time, the sum is the same to the byte.
    random.Random(1).shuffle(files)
    parts = [tmp_path / "first", tmp_path / "last"]
    for part, some in zip(parts, (files[:-2], files[-2:]), strict=True):
        part.write_text(run("tally", "merge", *some).stdout)
    assert run("tally", "merge", *parts).stdout == merged.read_text()


def test_ten_collectors_give_the_results_of_one(tmp_path: Path, survey: Survey) -> None:
    _compare(tmp_path, survey, 400)


def test_ten_collectors_of_one_draw_give_the_results_of_one(tmp_path: Path) -> None:
    _compare(tmp_path, read_survey(EXAMPLES / "one-draw.toml"), 400)


@pytest.mark.more
def test_four_collectors_give_the_results_of_one_under_each_mechanism(
    tmp_path: Path, read: Callable[[str], Survey]
) -> None:
    _compare(tmp_path, survey_of_all(read), 200, collectors=4)


def test_nobody_is_counted_twice_if_that_can_be_known(tmp_path: Path, two: list[Path]) -> None:
    one, other = two
    assert "would count twice" in refused("tally", "merge", one, one)
    again = tmp_path / "again.json"
    again.write_bytes(one.read_bytes())
    assert "would count twice" in refused("tally", "merge", one, other, again)
    merged = tmp_path / "merged.json"
    assert run("tally", "merge", one, other, "--output", merged).exit_code == 0
    assert "would count twice" in refused("tally", "merge", merged, other)
    assert "would count twice" in refused("tally", "merge", merged, merged)
    later = _exported(one.with_suffix(".db"), "canteen", "--all-reports")
    assert "would count twice" in refused("tally", "merge", merged, later)
    assert "two tallies or more" in refused("tally", "merge", one)
    data = json.loads(other.read_text())
    data["sources"] = []
    again.write_text(json.dumps(data | {"sha256": hash_of(data)}))
    assert "expected the collector" in refused("tally", "merge", one, again)


def test_other_versions_and_waves_are_not_added(
    tmp_path: Path, two: list[Path], survey_text: str, read: Callable[[str], Survey]
) -> None:
    other = read(survey_text.replace("Do you eat meat?", "Do you like meat?"))
    file = _exported(_collected(tmp_path / "c.db", other, _sent(other, 100)), "canteen")
    assert "expected version" in refused("tally", "merge", two[0], file)
    data = json.loads(two[1].read_text()) | {"wave": 2}
    file.write_text(json.dumps(data | {"sha256": hash_of(data)}))
    assert "expected wave 1" in refused("tally", "merge", two[0], file)
    asked = ("estimate", "canteen", "--tally", two[0])
    assert "expected wave 2" in refused(*asked, "--wave", 2)
    assert "expected version abc" in refused(*asked, "--version", "abc")
    assert "expected survey other" in refused("estimate", "other", "--tally", two[0])
    assert run(*asked, "--wave", "all").exit_code == run(*asked, "--wave", 1).exit_code == 0
    assert "the reports of each respondent" in refused(*asked, "--margins", "x.toml")
    for more in (["--db", "x.db"], ["--batch"]):
        assert run(*asked, *more).exit_code == 2
    assert run("estimate", "canteen", "--survey", "x.json").exit_code == 2


def test_two_tallies_of_an_open_wave_differ_by_a_batch(tmp_path: Path, survey: Survey) -> None:
    sent = _sent(survey, 250)
    database = _collected(tmp_path / "x.db", survey, sent[:170], close=False)
    words = "tally", "export", "canteen", "--db", database
    first = run(*words)
    assert "is open: a later tally" in first.stderr
    assert run(*words).stdout == first.stdout
    _collected(database, survey, sent[170:190], close=False)
    assert "what 20 people reported" in refused(*words)
    assert json.loads(run(*words, "--all-reports").stdout)["reports"] == 190
    # A batch is 50, and pages are one batch behind.
    _collected(database, survey, sent[190:], close=False)
    assert json.loads(run(*words).stdout)["reports"] == 250
    assert "is open" not in run(*words, "--batch", "--all-reports").stderr
    subjects = run("log", "--db", database).stdout.splitlines()
    assert sum(",collector," in line for line in subjects) == 1


def test_a_small_tally_says_so_and_a_pooled_one_is_refused(tmp_path: Path, survey: Survey) -> None:
    database = _collected(tmp_path / "x.db", survey, _sent(survey, 30))
    words = "tally", "export", "canteen", "--db", database
    assert "results from 100 reports on, and these are 30" in run(*words).stderr
    assert "stay withheld" in refused(*words, "--batch")
    assert "of one frozen survey" in refused(*words, "--version", "pooled")


def test_a_tally_identifies_nobody(two: list[Path]) -> None:
    data = json.loads(two[0].read_text())
    assert set(data) == {
        *("deniable", "survey_id", "version", "wave", "open", "reports", "simulated", "sources"),
        *("questions", "sizes", "survey", "sha256"),
    }
    assert set(data["sources"][0]) == {"collector", "reports"}
    with Store(two[0].with_suffix(".db")).copied_in_memory() as connection:
        secrets = [
            cell
            for table, column in (("report", "rid"), ("ledger", "respondent"))
            for (cell,) in connection.execute(f"SELECT {column} FROM {table}")
        ]
    assert len(secrets) == 300
    assert not [one for one in secrets if one.hex() in two[0].read_text()]


def test_the_survey_can_be_in_a_file_of_its_own(tmp_path: Path, two: list[Path]) -> None:
    data = json.loads(two[0].read_text())
    frozen, tally = tmp_path / "survey.json", tmp_path / "tally.json"
    frozen.write_text(json.dumps(data.pop("survey") | {"protocol": "deniable-1"}))
    tally.write_text(json.dumps(data | {"sha256": hash_of(data)}))
    words = "estimate", "canteen", "--tally", tally
    told = run(*words, "--survey", frozen)
    assert told.stdout == run("estimate", "canteen", "--tally", two[0]).stdout
    assert "name its file: --survey" in refused(*words)
    merged = run("tally", "merge", tally, two[1], "--survey", frozen)
    assert merged.stdout == run("tally", "merge", *two).stdout
    frozen.write_text("{}")
    assert "expected a frozen survey" in refused(*words, "--survey", frozen)


def _changed(data: dict[str, Any], *path: Any, to: Any) -> bytes:
    """Return the file with one value changed, with the hash that it has then."""
    data = copy.deepcopy(data)
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    with suppress(ValueError):  # such numbers have no canonical form
        data["sha256"] = hash_of(data)
    return json.dumps(data).encode()


@pytest.mark.more
def test_counts_that_no_reports_give_are_refused(
    tmp_path: Path, read: Callable[[str], Survey]
) -> None:
    survey = survey_of_all(read, only=(0, 5, 12, 18))
    file = _exported(_collected(tmp_path / "x.db", survey, _sent(survey, 120)), survey.id)
    data = json.loads(file.read_text())
    assert read_tally("x", file.read_bytes()).reports == 120

    def refusal(*path: Any, to: Any) -> str:
        with pytest.raises(DataError) as error:
            read_tally("x.json", _changed(data, *path, to=to))
        assert str(error.value).startswith("x.json: ")
        assert "\n" not in str(error.value)
        return str(error.value)

    value: Any
    for value in (-1, 0, 10**30, 2**63, 1.0, True, None, "1", [], float("nan"), float("inf")):
        for name in ("q0", "long-set", "several"):
            told = refusal("questions", name, "cells", 0, -1, to=value)
            assert f"questions: {name}: " in told or "hashed" in told or "expected numbers" in told
    for question in survey.questions:
        name, (cohorts, symbols) = question.id, question.randomizer.shape
        if name not in ("q5", "q12", "q18", "long-set", "bloom", "several", "a"):
            continue
        cells = data["questions"][name]["cells"]
        at = "questions", name, "cells"
        cell: Any
        for cell in ([cohorts, 0, 1], [0, symbols, 1], [-1, 0, 1], [0, 0], [0, 0, 1, 1], "x", {}):
            assert "got cell" in refusal(*at, to=[*cells, cell])
        assert "got" in refusal(*at, to=cells + cells[:1])
        # One report more, or fewer, in one cell; and one of everybody in a cell too many times.
        for place in range(min(len(cells), 4)):
            for more in (1, -1) if cells[place][-1] > 1 else (1,):
                # A single bit can be set in one report more; then the sizes contradict it.
                assert name in refusal(*at, place, -1, to=cells[place][-1] + more)
        assert "shape" in refusal("questions", name, "shape", to=[symbols, cohorts, 1])
        assert "expected a tally of each" in refusal(
            "questions", to={key: value for key, value in data["questions"].items() if key != name}
        )
    counts = {
        name: sum(cell[-1] for cell in each["cells"]) for name, each in data["questions"].items()
    }
    # One member of a set of nine is in more reports than there are, with the right sum.
    members = [[0, place, 120] for place in range(8)]
    assert "expected counts that reports of its channel" in refusal(
        "questions",
        "long-set",
        "cells",
        to=[[0, 24, counts["long-set"] - 8 * 119]] + [[0, place, 119] for place in range(8)],
    )
    assert read_tally(
        "x", _changed(data, "questions", "long-set", "cells", to=[*members, [0, 24, 120]])
    )
    # One bit has more ones than there are reports.
    cells = [cell for cell in data["questions"]["q12"]["cells"] if cell[1] != 0]
    assert "expected counts that reports of its channel" in refusal(
        "questions", "q12", "cells", to=[*cells, [0, 0, 121]]
    )
    # Each person is asked two of three questions: as many reports are from people who were asked.
    cells = data["questions"]["a"]["cells"]
    asked = (counts["a"] - cells[-1][-1]) // 2
    assert cells[-1][:2] == [0, 7]
    assert 0 < asked < 120
    for count in (0, 120):
        some = [[0, place, count] for place in range(2) if count]
        rest = [[0, 7, 120 - count]] if count < 120 else []
        assert "people who were asked" in refusal("questions", "a", "cells", to=some + rest)
    sizes = data["sizes"]["q12"]
    for value in ([*sizes, sizes[0]], sizes[1:], [[0, 120]], [[1, 120]], [[9, 1]], {}, 1):
        assert "sizes" in refusal("sizes", "q12", to=value)
    for name in set(data) - {"sizes", "survey", "sha256"}:
        for wrong in (-1, 10**30, 0.5, None, "x", [1], [{"collector": "x"}]):
            refusal(name, to=wrong)
    assert "expected that of the survey" in refusal("survey", "survey", "title", to="Other")


@pytest.mark.parametrize(
    ("channel", "counts", "possible"),
    [
        (Window(3, 1, 3, 1), [[5, 0, 1]], True),
        (Subset(4, 2, 3, 1), [[2, 2, 0, 0], [1, 1, 1, 1]], True),
        (Subset(4, 2, 3, 1), [[2, 2, 0, 0], [1, 1, 1, 0]], False),
        (Subset(4, 2, 3, 1), [[3, 1, 0, 0]], False),
        (Bits(2, 3, 1, 4), [[3, 0, 3], [1, 1, 1]], True),
        (Bits(2, 3, 1, 4), [[0, 0, 0], [1, 2, 1]], False),
        (SampledSubset(3, 2, 3, 1, Fraction(1, 2)), [[2, 1, 1, 9]], True),
        (SampledSubset(3, 2, 3, 1, Fraction(1, 2)), [[3, 1, 0, 9]], False),
    ],
)
def test_channels_know_which_counts_some_reports_have(
    channel: Any, counts: list[list[int]], possible: bool
) -> None:
    assert channel.is_tally(np.array(counts)) is possible


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "Expecting property name"),
        (b"{\xff", "utf-8"),
        (b'{"a":' * 100_000, "recursion"),
        (b'{"a": 1, "a": 1}', 'each member of an object once, got "a"'),
        (b'{"deniable": "tally-1", "x": NaN}', "expected numbers, got NaN"),
        (b'{"deniable": "tally-1", "x": -Infinity}', "expected numbers, got -Infinity"),
        (b'{"deniable": "tally-2"}', 'expected an object with "deniable": "tally-1"'),
        (b'{"deniable": "tally-1"}', "open: expected this member, got none"),
        (b'{"deniable": "tally-1", "reports": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"deniable": "\\ud800"}', "expected an object"),
    ],
    ids=lambda value: None if isinstance(value, str) else value[:12],
)
def test_other_files_than_tallies_are_refused_in_a_sentence(
    tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    assert told in refused("tally", "merge", file, file)
    assert told in refused("estimate", "canteen", "--tally", file)


def test_a_changed_byte_is_found(tmp_path: Path, two: list[Path]) -> None:
    text = two[0].read_text()
    two[0].write_text(text.replace('"open": false', '"open": true'))
    assert "the file was changed" in refused("tally", "merge", *two)
    for missing in (tmp_path / "none.json", tmp_path):
        assert "cannot be read" in refused("tally", "merge", missing, two[1])


def test_a_frozen_survey_that_no_file_freezes_to_is_refused(two: list[Path]) -> None:
    data = json.loads(two[0].read_text())
    other = "expected what a survey file freezes to"
    for key, value, told in (
        ("text", 1, 'file: question ".*": text must be a text that is not empty, got 1'),
        ("options", [{"id": "yes"}, {"id": "no"}], other),
        ("no_answer", 10**9, other),
    ):
        frozen = copy.deepcopy(data["survey"])
        frozen["survey"]["questions"][0][key] = value
        version = version_of(frozen)
        content = _changed({**data, "version": version}, "survey", to=frozen)
        with pytest.raises(DataError, match=f"^x.json: survey: .*{told}"):
            read_tally("x.json", content)


def _paths(data: Any) -> Iterator[list[Any]]:
    """Yield the path to everything within JSON."""
    pairs: Any = ()
    if isinstance(data, dict):
        pairs = data.items()
    elif isinstance(data, list):
        pairs = enumerate(data)
    for key, value in pairs:
        yield [key]
        yield from ([key, *rest] for rest in _paths(value))


def test_files_changed_at_random_are_refused_or_possible(two: list[Path]) -> None:
    rng = random.Random(7)
    data = json.loads(two[0].read_text())
    paths = [path for path in _paths(data) if path != ["sha256"]]
    values: list[Any] = [
        *(None, True, "", "x", 0, 1, -1, 2, 299, 150, 2**53, -(2**63), 10**30, 0.5, 1e308),
        *([], [[]], [0, 0, 1], [[0, 0, 150]], {}, {"a": 1}, [None], "9" * 5000),
    ]
    read = 0
    for _ in range(500):
        content = _changed(data, *rng.choice(paths), to=rng.choice(values))
        try:
            tally = read_tally("x.json", content)
        except DataError:
            continue
        read += 1
        for question in tally.survey.questions:
            counts = tally.tallies[question.id]
            assert counts.min() >= 0
            assert question.randomizer.reports_in(counts) == tally.reports == 150
    assert read < 30
