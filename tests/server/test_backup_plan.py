"""Backups of a series differ by whole batches, and are kept for the stated time."""

import random
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from test_backups import fill

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.backups import Count, Plan, counted, name_of, plan, series, superfluous
from server.intake.decision import WHOLE, Key
from server.store import Store
from server.store.backups import Held

ONE, TWO, ALL = ("s", "v", 1), ("s", "w", 1), ("s", *WHOLE)
BATCH = 10


def planned(before: dict[Key, int], now: dict[Key, int], fills: bool = True) -> Plan:
    counts = {key: Count(n, fills and key[1:] != WHOLE, BATCH) for key, n in now.items()}
    return plan({key: Held(n, "b1") for key, n in before.items()}, counts, "b2")


@pytest.mark.parametrize(
    ("before", "now", "waits"),
    [
        ({}, {}, False),
        ({}, {ONE: 9}, True),
        ({}, {ONE: 10}, False),
        ({ONE: 10}, {ONE: 10}, False),
        ({ONE: 10}, {ONE: 11}, True),
        ({ONE: 10}, {ONE: 20}, False),
        ({ONE: 10, TWO: 30}, {ONE: 30, TWO: 39}, True),
        ({ONE: 10, TWO: 30}, {ONE: 30, TWO: 30}, False),
    ],
)
def test_a_backup_waits_for_whole_batches_of_each_version(
    before: dict[Key, int], now: dict[Key, int], waits: bool
) -> None:
    made = planned(before, now)
    assert made.waiting == (["s"] if waits else [])
    assert made.replaces is None


def test_the_last_few_of_a_closed_wave_replace_backups_that_differ_by_few() -> None:
    assert planned({ONE: 10, ALL: 10}, {ONE: 13, ALL: 13}, fills=False) == Plan(
        [], {ONE: Held(13, "b2"), ALL: Held(13, "b2")}, "b1"
    )
    # The first few reports of a wave are no more than the backup itself shows, nor are a survey's.
    assert planned({}, {ONE: 3, ALL: 3}, fills=False).replaces is None
    # But beside other versions, the ledger would show whose they are.
    assert planned({ONE: 10, ALL: 10}, {ONE: 10, TWO: 3, ALL: 13}, fills=False).replaces == "b1"
    assert planned({ONE: 10, ALL: 10}, {ONE: 20, TWO: 3, ALL: 23}, fills=False).replaces is None


@pytest.mark.parametrize("seed", range(40))
def test_no_two_backups_of_a_history_differ_by_few_reports(seed: int) -> None:
    draw = random.Random(seed)
    keys = [("s", "v", 1), ("s", "v", 2), ("s", "w", 2), ("t", "x", 1)]
    reports = dict.fromkeys(keys, 0)
    held: dict[Key, Held] = {}
    kept: dict[str, dict[Key, int]] = {}
    made = 0
    for day in range(150):
        fills = draw.random() < 0.7
        for key in draw.sample(keys, draw.randrange(3)):
            reports[key] += draw.choice((0, 1, 3, 12, 40))
        now = {key: Count(n, fills, BATCH) for key, n in reports.items() if n}
        for survey in {key[0] for key in now}:
            total = sum(n for key, n in reports.items() if key[0] == survey)
            now[survey, *WHOLE] = Count(total, False, BATCH)
        decided = plan(held, now, f"{day:03}")
        if decided.waiting:
            continue
        made += 1
        if decided.replaces is not None:
            kept = {at: counts for at, counts in kept.items() if at < decided.replaces}
        kept[f"{day:03}"] = {key: count.reports for key, count in now.items()}
        held = decided.held
        for early, late in combinations(kept.values(), 2):
            for key, n in late.items():
                assert n == early.get(key, n) or n - early[key] >= BATCH
    assert made > 20
    assert len(kept) > 1


def test_a_backup_waits_only_for_reports_that_can_come(
    store: Store, survey: Survey, survey_file: Path
) -> None:
    def counts(day: date = date(2026, 1, 1)) -> dict[Key, Count]:
        return counted(store, store.backups.genuine(), day)

    first: Key = (survey.id, survey.version, 1)
    whole: Key = (survey.id, *WHOLE)
    fill(store, survey, 3)
    fill(store, survey, 200, simulated=True)  # two snapshots are taken of them
    assert counts() == {first: Count(3, True, 50), whole: Count(3, False, 50)}
    store.surveys.close_waves(survey.id)
    assert counts()[first] == Count(3, False, 50)
    store.surveys.open_wave(survey.id)
    text = survey_file.read_text()
    survey_file.write_text(
        text.replace('id = "canteen"', 'id = "canteen"\ncloses = 2030-01-01', 1)
        + "\n[results]\nbatch = 60\nminimum = 100\n"
    )
    second = read_survey(survey_file)
    store.surveys.publish(second)
    fill(store, second, 2)
    last: Key = (survey.id, second.version, 1)
    # The first version was replaced; the larger batch applies to both.
    assert counts() == {
        first: Count(3, False, 60),
        last: Count(2, True, 60),
        whole: Count(5, False, 60),
    }
    assert not counts(date(2030, 1, 2))[last].fills
    # The deleted reports were a batch once, and their counts stay.
    store.studies.begin_trial("trial")
    assert counts().keys() == {first, last, whole}
    store.surveys.close_waves(survey.id)
    store.backups.note("2026-01-01T000000Z", {last: Held(2, "b1")})
    store.studies.delete(survey.id)
    assert store.backups.genuine() == {}
    assert store.backups.held() == {}


def test_names_of_backups_have_the_days_of_making_and_deletion(tmp_path: Path) -> None:
    name = name_of("deniable", "2026-11-25T023000Z", date(2027, 6, 30))
    assert name == "deniable_2026-11-25T023000Z_delete-after-2027-06-30.db.age"
    others = [
        "deniable.db",
        "x_2026-13-25T023000Z.db.age",
        "x_2026-11-25T023000Z.db",
        f".{name}.part",
    ]
    for one in (name, name_of("other", "2026-11-25T023000Z", None), *others):
        (tmp_path / one).touch()
    assert [one[1:] for one in series(tmp_path)] == [
        ("deniable", "2026-11-25T023000Z", date(2027, 6, 30)),
        ("other", "2026-11-25T023000Z", None),
    ]
    assert [one.stem for one in series(tmp_path, "other")] == ["other"]


def test_days_weeks_and_months_are_kept_and_nothing_beyond_its_day(tmp_path: Path) -> None:
    last = date(2026, 12, 31)
    for age in range(400):
        day = last - timedelta(age)
        for hour in ("02", "14"):
            (tmp_path / name_of("a", f"{day}T{hour}0000Z", None)).touch()
    (tmp_path / name_of("b", "2026-11-01T020000Z", date(2026, 12, 30))).touch()
    (tmp_path / name_of("b", "2025-11-01T020000Z", last)).touch()
    counts = {"daily": 7, "weekly": 4, "monthly": 12}
    deleted = superfluous(series(tmp_path), last, counts)
    kept = [one for one in series(tmp_path) if one.path not in deleted]
    assert [one.at[:10] for one in kept if one.stem == "a"] == [
        *(f"2026-{month:02}-{end}" for month, end in enumerate((31, 28, 31, 30, 31, 30), 1)),
        *("2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30"),
        *("2026-12-13", "2026-12-20"),
        *(f"2026-12-{day}" for day in range(25, 32)),
    ]
    assert {one.at[11:13] for one in kept if one.stem == "a"} == {"14"}
    # The last backup of a series stays, but not beyond its day.
    assert [one.at[:10] for one in kept if one.stem == "b"] == ["2025-11-01"]
    none = superfluous(series(tmp_path), last, dict.fromkeys(counts, 0))
    assert len(series(tmp_path)) - len(none) == 2
