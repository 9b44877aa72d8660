"""What is stored, and above all what is not."""

import json
import re
import sqlite3
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections import Counter
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from racing import racing
from scipy.stats import spearmanr

from analysis.core.channels.window import Window
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.intake.requests import check
from server.intake.wire import Submission
from server.store import Place, Store, StoreError

pytestmark = pytest.mark.both


def _fill(store: Store, survey: Survey, n: int, wave: int = 1, seed: int = 5) -> Counter[str]:
    answers = [
        {"meat": "yes" if row % 3 else "no", "dish": "stew", "price": str(row % 20)}
        for row in range(n)
    ]
    sent = payloads(survey, answers, wave, seed)
    return to_store(store, survey.id, sent, lambda _: None)


def test_tallies_equal_a_recount(store: Store, survey: Survey) -> None:
    _fill(store, survey, 700)
    _fill(store, survey, 700)  # all are known and counted once
    recount = {question.id: Counter[tuple[int, int]]() for question in survey.questions}
    for payload in chain(*store.reports.payloads(survey, 1)):
        for question in survey.questions:
            recount[question.id].update(question.randomizer.tallied(payload[question.id]))
    for question in survey.questions:
        counts = store.reports.tallies(survey, 1)[question.id]
        assert {place: n for place, n in np.ndenumerate(counts) if n} == recount[question.id]
        assert question.randomizer.reports_in(counts) == 700


@pytest.mark.sqlite
def test_replays_are_known_where_a_damaged_ledger_has_terms_without_a_version(
    store: Store, survey: Survey
) -> None:
    assert _fill(store, survey, 3) == {"stored": 3}
    with store.database.writing() as connection:
        connection.execute("UPDATE ledger SET terms = zeroblob(32)")
    assert _fill(store, survey, 3) == {"known": 3}


@pytest.mark.sqlite
def test_every_table_hides_the_order_of_arrival(store: Store, database: Path) -> None:
    tables = dict(
        sqlite3.connect(database).execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
        )
    )
    respondents = {"survey", "wave", "report", "ledger", "tally", "invitation", "cell"} | {
        "respondent_total",
        "report_size",
        "snapshot",
        "total_snapshot",
        "simulated",
    }
    assert set(tables) == respondents | {
        "research_token",
        "researcher",
        "session",
        "throttle",
        "log",
        "study",
        "draft",
        "draft_version",
        "draft_file",
        "setup",
        # Who signs in, and when; what owners decided; which forms researchers sent.
        "browser",
        "second_factor",
        "recovery_code",
        "rule",
        "sent_form",
        "work",
        "correction",
        # When backups were made: each has a batch more than the one before, or replaces it.
        "backup",
        "backed_up",
    }
    for name, sql in tables.items():
        assert sql.endswith("WITHOUT ROWID")
        assert "AUTOINCREMENT" not in sql
        if name in respondents:
            times = r"\b(time|date|stamp|at|until|address|agent|referr|language|created)"
            assert not re.search(times, sql, re.I)


@pytest.mark.sqlite
def test_reports_are_in_no_order_of_arrival(store: Store, survey: Survey, database: Path) -> None:
    sent = [bytes.fromhex(one["rid"]) for one in payloads(survey, [_ANSWER] * 800, 1, 6)]
    to_store(store, survey.id, payloads(survey, [_ANSWER] * 800, 1, 6), lambda _: None)
    scanned = [rid for (rid,) in sqlite3.connect(database).execute("SELECT rid FROM report")]
    order = [sent.index(rid) for rid in scanned]
    # With 800 ranks, |rho| exceeds .2 by chance about once in 10^8.
    assert abs(spearmanr(order, np.arange(800)).statistic) < 0.2


_ANSWER = {"meat": "yes", "dish": "soup", "price": "3"}


@pytest.mark.sqlite
def test_report_and_ledger_share_no_key(store: Store, survey: Survey, database: Path) -> None:
    _fill(store, survey, 20)
    connection = sqlite3.connect(database)
    rids = {rid for (rid,) in connection.execute("SELECT rid FROM report")}
    people = {who for (who,) in connection.execute("SELECT respondent FROM ledger")}
    assert len(rids) == len(people) == 20
    assert not rids & people
    payloads = [payload for (payload,) in connection.execute("SELECT payload FROM report")]
    assert not any(who.hex() in payload for who in people for payload in payloads)


def test_a_failure_in_the_middle_leaves_nothing_of_the_batch(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(store, survey, 10)
    before = (store.ledger.spends(survey.id), list(chain(*store.reports.payloads(survey, 1))))
    totals = list(store.ledger.grouped_accounts(survey.id))
    kept = {name: counts.tolist() for name, counts in store.reports.tallies(survey, 1).items()}

    def fail(self: Window, sent: list[int]) -> None:
        raise RuntimeError("power cut")

    # Reports and ledger are written by then, tallies are not.
    monkeypatch.setattr(Window, "read_many", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        _fill(store, survey, 30, seed=9)
    assert (
        store.ledger.spends(survey.id),
        list(chain(*store.reports.payloads(survey, 1))),
    ) == before
    assert list(store.ledger.grouped_accounts(survey.id)) == totals
    monkeypatch.undo()
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
    assert {
        name: counts.tolist() for name, counts in store.reports.tallies(survey, 1).items()
    } == kept


@pytest.mark.sqlite
def test_closing_empties_the_write_ahead_log(store: Store, survey: Survey, database: Path) -> None:
    _fill(store, survey, 50)
    store.close()
    wal = Path(f"{database}-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_two_surveys_and_three_waves_do_not_mix(
    store: Store, survey: Survey, survey_file: Path
) -> None:
    survey_file.write_text(survey_file.read_text().replace('id = "canteen"', 'id = "other"', 1))
    other = read_survey(survey_file)
    store.surveys.publish(other)
    store.surveys.open_wave("other")
    for wave in (1, 2, 3):
        store.surveys.open_wave("canteen", wave)
        assert _fill(store, survey, 10 * wave, wave) == {"stored": 10 * wave}
    assert _fill(store, other, 7) == {"stored": 7}
    for wave in (1, 2, 3):
        counts = store.reports.tallies(survey, wave)["meat"]
        assert (
            int(counts.sum())
            == 10 * wave
            == len(list(chain(*store.reports.payloads(survey, wave))))
        )
    assert int(store.reports.tallies(other, 1)["meat"].sum()) == 7
    spent = Counter(
        {spend.respondent: spend.submissions for spend in store.ledger.spends("canteen")}
    )
    assert sorted(Counter(spent.values()).items()) == [(1, 10), (2, 10), (3, 10)]
    # The same rows under another survey are other pseudonyms.
    assert not set(spent) & {spend.respondent for spend in store.ledger.spends("other")}


def test_versions_are_kept_apart(store: Store, survey: Survey, survey_file: Path) -> None:
    _fill(store, survey, 30)
    survey_file.write_text(survey_file.read_text().replace("Roast", "Roast beef"))
    newer = read_survey(survey_file)
    assert store.surveys.publish(newer)
    assert store.surveys.versions("canteen") == [newer.version, survey.version]
    _fill(store, newer, 20, seed=8)
    assert int(store.reports.tallies(survey, 1)["meat"].sum()) == 30
    assert int(store.reports.tallies(newer, 1)["meat"].sum()) == 20
    # If the older text is published again, it is the current one again.
    assert not store.surveys.publish(survey)
    assert store.surveys.versions("canteen") == [survey.version, newer.version]


def _race(arguments: tuple[Any, ...]) -> Counter[str]:
    database, spec_file, seed = arguments
    survey = read_survey(spec_file)
    sent = ({**one, "respondent": "ab" * 16} for one in payloads(survey, [_ANSWER] * 40, 1, seed))
    return to_store(Store(database), survey.id, sent, lambda _: None)


def test_a_race_for_the_cap_has_as_many_winners_as_fit(
    store: Store, survey: Survey, survey_file: Path, database: Place
) -> None:
    with racing().Pool(4) as pool:
        outcomes = pool.map(_race, [(database, survey_file, seed) for seed in range(4)])
    assert sum(one["stored"] for one in outcomes) == 3
    assert sum(spend.charged for spend in store.ledger.spends("canteen")) == survey.cap


@pytest.mark.sqlite
def test_a_tampered_survey_is_not_served(store: Store, survey: Survey, database: Path) -> None:
    store.close()
    connection = sqlite3.connect(database)
    spec = connection.execute("SELECT spec FROM survey").fetchone()[0]
    connection.execute("UPDATE survey SET spec = ?", (spec.replace("Roast", "Toast"),))
    connection.commit()
    connection.close()
    with pytest.raises(ValueError, match="does not have version"):
        Store(database).surveys.current("canteen")


@pytest.mark.sqlite
def test_other_files_than_our_databases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such database"):
        Store(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="cannot be used as a database: file is not a database"):
        Store(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE things (id)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="is a database of another program"):
        Store(tmp_path / "other.db")


def test_every_cap_that_was_promised_holds(store: Store, survey: Survey, survey_file: Path) -> None:
    def send(version: Survey, seed: int) -> Counter[str]:
        one = next(iter(payloads(version, [_ANSWER], 1, seed)))
        sent = iter([{**one, "respondent": "ab" * 16}])
        return to_store(store, survey.id, sent, lambda _: None)

    text = survey_file.read_text()
    survey_file.write_text(text.replace("cap = 12.0", "cap = 4.0"))
    low = read_survey(survey_file)
    store.surveys.publish(low)
    # The older version allowed more, but the one published last is lower.
    assert send(survey, 1) == {"stored": 1}
    assert "stored" not in send(survey, 2)
    # A higher cap does not undo the promise that was answered.
    survey_file.write_text(text.replace("cap = 12.0", "cap = 20.0"))
    high = read_survey(survey_file)
    store.surveys.publish(high)
    assert send(high, 3) == {"stored": 1}  # answered under 12, of which 4 were spent
    one = next(iter(payloads(low, [_ANSWER], 1, 4)))
    to_store(store, survey.id, iter([{**one, "respondent": "cd" * 16}]), lambda _: None)
    one = next(iter(payloads(high, [_ANSWER], 1, 5)))
    after = to_store(store, survey.id, iter([{**one, "respondent": "cd" * 16}]), lambda _: None)
    assert "stored" not in after


@pytest.mark.sqlite
def test_a_second_store_of_one_process_leaves_the_first_its_locks(
    store: Store, survey: Survey, database: Path
) -> None:
    _fill(store, survey, 3)
    log = database.with_name(f"{database.name}-wal")
    before = log.stat().st_ino
    Store(database, create=True).surveys.ids()
    # Another process comes and goes. If it took itself for the last one, it would delete the
    # write-ahead log, and this process would go on writing to a file that nobody can read any more.
    look = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM wave')"
    subprocess.run([sys.executable, "-c", f"{look}.fetchall(); c.close()", database], check=True)
    assert log.stat().st_ino == before
    _fill(store, survey, 5, seed=6)
    with sqlite3.connect(database) as other:
        assert other.execute("SELECT count(*) FROM report").fetchone() == (8,)


MANY = """
title = "Many"
id = "many"
[privacy]
cap = 50
"""
ASKED = """
[[questions]]
id = "{mechanism}"
kind = "choice"
text = "Which?"
epsilon = 2
mechanism = "{mechanism}"
options = [{options}]
"""


def test_counts_of_many_symbols_and_cohorts_are_those_of_the_reports(tmp_path: Path) -> None:
    options = ", ".join(f'{{id = "o{place}", text = "{place}"}}' for place in range(1100))
    asked = [ASKED.format(mechanism=one, options=options) for one in ("krr", "oue", "hashed-krr")]
    (tmp_path / "many.toml").write_text(MANY + "".join(asked))
    survey = read_survey(tmp_path / "many.toml")
    store = Store(tmp_path / "many.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    for seed in (1, 2):  # more than one transaction adds to the same rows
        people = [
            dict.fromkeys(("krr", "oue", "hashed-krr"), f"o{row * 37 % 1100}") for row in range(60)
        ]
        to_store(store, survey.id, payloads(survey, people, 1, seed), lambda _: None)
    found, sizes = store.reports.tallies(survey, 1), store.reports.sizes(survey, 1)
    recount = {
        question.id: np.zeros(question.randomizer.shape, int) for question in survey.questions
    }
    ones = Counter[int]()
    for payload in chain(*store.reports.payloads(survey, 1)):
        recount["krr"][0, payload["krr"]] += 1
        bits = np.unpackbits(np.frombuffer(urlsafe_b64decode(payload["oue"] + "=="), np.uint8))
        recount["oue"][0, :-1] += bits[: recount["oue"].shape[1] - 1]
        recount["oue"][0, -1] += 1
        ones[int(bits.sum()) + 1] += 1
        recount["hashed-krr"][payload["hashed-krr"]["cohort"], payload["hashed-krr"]["report"]] += 1
    for name, counts in recount.items():
        np.testing.assert_array_equal(found[name], counts, name)
    assert {size: n for size, n in enumerate(sizes["oue"].tolist()) if n} == ones
    assert sizes.keys() == {"oue"}
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []


def test_totals_follow_the_ledger_through_a_batch_of_everything(tmp_path: Path) -> None:
    text = MANY.replace("cap = 50", "cap = 5") + ASKED.format(
        mechanism="krr", options='{id = "a", text = "A"}, {id = "b", text = "B"}'
    )
    store = Store(tmp_path / "x.db", create=True)
    surveys = []
    for old, new in (("", ""), ('"many"', '"other"'), ("cap = 5", "cap = 4")):
        (tmp_path / "x.toml").write_text(text.replace(old, new) if old else text)
        surveys.append(read_survey(tmp_path / "x.toml"))
        store.surveys.publish(surveys[-1])
        store.surveys.open_wave(surveys[-1].id)
    first, other, lower = surveys
    assert first.terms != lower.terms

    def sent(survey: Survey, respondent: str, rid: int) -> Submission:
        (body,) = payloads(survey, [{"krr": "a"}], 1, rid)
        body |= {"respondent": respondent * 16, "rid": f"{rid:032x}"}
        return check(store, survey.id, json.dumps(body).encode())

    def add(*batch: tuple[Survey, str, int]) -> list[int]:
        found = store.add([sent(*one) for one in batch], date(2026, 1, 1))
        assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
        return [one if isinstance(one, int) else 0 for one in found]

    # The same pseudonym twice, a known report, one of another survey, and one beyond the cap of 4.
    batch = [(first, "aa", 1), (first, "aa", 2), (first, "aa", 1), (other, "aa", 3)]
    assert add(*batch, (lower, "bb", 4), (lower, "aa", 5)) == [201, 201, 200, 201, 201, 0]
    groups = {one.times: one.respondents for one in store.ledger.grouped_accounts("many")}
    assert groups == {((first.terms, 2),): 1, ((lower.terms, 1),): 1}
    # Under other terms, and with another pseudonym that is like an earlier one.
    assert add((first, "bb", 6), (lower, "cc", 7), (lower, "dd", 8)) == [201, 201, 201]
    groups = {one.times: one.respondents for one in store.ledger.grouped_accounts("many")}
    both = tuple(sorted([(first.terms, 1), (lower.terms, 1)]))
    assert groups == {((first.terms, 2),): 1, both: 1, ((lower.terms, 1),): 2}
    assert [one.respondents for one in store.ledger.grouped_accounts("other")] == [1]


@pytest.mark.sqlite
def test_reading_the_log_and_copying_a_database_import_nothing_heavy(
    store: Store, database: Place, tmp_path: Path
) -> None:
    store.log.add("2026-01-01T00:00:00Z", "ada", "view", "canteen")
    program = """
import sys
from server.cli import main

main(["backup", sys.argv[2], "--db", sys.argv[1]], standalone_mode=False)
main(["log", "--db", sys.argv[1]], standalone_mode=False)
heavy = "analysis.estimate", "analysis.survey", "flask", "numpy", "sqlite_utils"
print(*[name for name in heavy if name in sys.modules])
"""
    command = [sys.executable, "-c", program, str(database), str(tmp_path / "copy.db")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert re.search(r",view,canteen,.*\n.*,backup,copy.db,.*\n\n$", done.stdout), done.stdout
