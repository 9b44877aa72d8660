"""Numbers on pages move by whole batches, whatever is opened, closed and looked at."""

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from analysis.survey.batches import Cell, Steps
from analysis.survey.survey_file import read_survey

STEPS = Steps(batch=10, minimum=20)
#: Reports that come, and a wave that is closed.
EVENTS: tuple[str | int, ...] = (1, 9, 10, 27, "close")


def views(events: tuple[str | int, ...], steps: Steps = STEPS) -> list[tuple[int, int]]:
    """Return the reports that came and those that are shown, after each event."""
    cell, seen = Cell(), [(0, 0)]
    for event in events:
        cell = cell.closed(steps) if event == "close" else cell.after(int(event), steps)
        seen.append((cell.n, cell.shown))
    return seen


@pytest.mark.parametrize("length", range(1, 8))
def test_two_views_are_alike_or_differ_by_a_batch(length: int) -> None:
    for events in product(EVENTS, repeat=length):
        shown = sorted({shown for _, shown in views(events)})
        assert all(later - earlier >= STEPS.batch for earlier, later in pairwise(shown))


@pytest.mark.parametrize("length", range(1, 8))
def test_what_is_shown_never_shrinks_or_runs_ahead(length: int) -> None:
    for events in product(EVENTS, repeat=length):
        seen = views(events)
        assert all(shown <= n for n, shown in seen)
        assert [shown for _, shown in seen] == sorted(shown for _, shown in seen)


def test_the_view_is_a_batch_behind_so_closing_adds_a_batch() -> None:
    seen = views((*[1] * 35, "close"))
    assert seen[9] == (9, 0)
    assert seen[19] == (19, 0)
    assert seen[20] == (20, 10)
    assert seen[35] == (35, 20)
    assert seen[36] == (35, 35)


def test_a_wave_that_is_opened_again_shows_nothing_new_before_a_batch() -> None:
    assert views((30, "close", 9, "close"))[-1] == (39, 30)
    assert views((30, "close", 9, "close", 1, "close"))[-1] == (40, 40)
    # If it is not closed again, one batch more is enough, as always.
    assert views((30, "close", *[1] * 19))[-1] == (49, 30)
    assert views((30, "close", *[1] * 20))[-1] == (50, 40)


@pytest.mark.parametrize("length", range(1, 7))
def test_a_wave_that_hides_its_results_shows_some_only_by_closing(length: int) -> None:
    hidden = replace(STEPS, open=False)
    for events in product(EVENTS, repeat=length):
        seen = views(events, hidden)
        moved = [later[1] != earlier[1] for earlier, later in pairwise(seen)]
        assert {event for event, moves in zip(events, moved, strict=True) if moves} <= {"close"}
        shown = sorted({shown for _, shown in seen})
        assert all(later - earlier >= STEPS.batch for earlier, later in pairwise(shown))
    assert views((99, "close"), hidden)[-1] == (99, 99)


def test_a_batch_of_many_reports_is_one_in_a_hundred() -> None:
    steps = Steps()
    cell = Cell(100_000, 99_000, 100_000)
    assert cell.after(999, steps) == Cell(100_999, 99_000, 100_000)
    assert cell.after(1000, steps) == Cell(101_000, 100_000, 101_000)


HEAD = 'id = "s"\ntitle = "S"\n'
QUESTION = '[[questions]]\nid = "a"\nkind = "yes-no"\ntext = "A?"\nepsilon = 1\n'


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        ("", Steps(50, 100)),
        ("[results]\n", Steps(50, 100)),
        ("[results]\nbatch = 10\nminimum = 20\n", Steps(10, 20)),
        ("[results]\nminimum = 500\n", Steps(50, 500)),
        ("[results]\nopen = false\n", Steps(open=False)),
        ("[results]\nopen = true\n", Steps()),
    ],
)
def test_a_survey_says_how_its_results_are_shown(tmp_path: Path, table: str, steps: Steps) -> None:
    (tmp_path / "s.toml").write_text(HEAD + table + QUESTION)
    survey = read_survey(tmp_path / "s.toml")
    assert survey.steps == steps
    assert ("results" in survey.spec) == (survey.steps != Steps())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("batch = 9", "batch must be a whole number from 10 to 1,000,000, got 9"),
        ("minimum = 19", "minimum must be a whole number from 20 to 1,000,000, got 19"),
        ("open = 0", "open must be true or false"),
        ("batch = 50.0", "batch must be a whole number"),
        ("batch = true", "batch must be a whole number"),
        ("batch = 60\nminimum = 59", "minimum must be a whole number of at least 60"),
        ("batch = 101", "minimum must be a whole number of at least 101"),
        ("size = 3", "unknown key"),
    ],
)
def test_settings_that_would_show_single_reports_are_refused(
    tmp_path: Path, table: str, message: str
) -> None:
    (tmp_path / "s.toml").write_text(f"{HEAD}[results]\n{table}\n{QUESTION}")
    with pytest.raises(SurveyError, match=message):
        read_survey(tmp_path / "s.toml")
