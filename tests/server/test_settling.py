"""In PostgreSQL, rows bear the number of their transaction: whose report came with whose charge."""

import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from analysis.survey.survey import Survey
from server.audit.database import audit_database
from server.clock import today
from server.intake import writer
from server.intake.requests import check
from server.store import Place, Store, StoreError
from server.store.database import OF_RESPONDENTS
from server.store.places import Address
from server.store.postgres import settling
from server.store.postgres.database import Postgres
from server.store.postgres.session import Session

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from limits import wait_until
from load import Server, submissions

pytestmark = [pytest.mark.more, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]

#: The batch of the survey, and a few reports more.
BATCH, MORE = 50, 7


def _fill(store: Store, survey: Survey, n: int) -> dict[bytes, bytes]:
    """Add reports one by one; return the respondent of each."""
    whose = {}
    for rid, body in islice(submissions(survey), n):
        store.add([check(store, survey.id, body)], today())
        whose[rid] = bytes.fromhex(json.loads(body)["respondent"])
    return whose


def _linked(store: Store, whose: dict[bytes, bytes]) -> int:
    """Return reports that transactions, or places in the tables, link to their respondent."""
    pairs = store.database.query(
        "SELECT rid, respondent FROM report JOIN ledger ON ledger.xmin = report.xmin"
    ).fetchall()
    mates = Counter(rid for rid, _ in pairs)
    linked = {rid for rid, who in pairs if mates[rid] == 1 and whose.get(rid) == who}
    by_place = [
        [row[0] for row in store.database.query(f"SELECT {key} FROM {table} ORDER BY ctid")]
        for table, key in (("report", "rid"), ("ledger", "respondent"))
    ]
    same = {rid for rid, who in zip(*by_place, strict=True) if whose.get(rid) == who}
    # Two random orders agree in one place on average, and in more than 8 once in 10^6.
    return len(linked | (same if len(same) > 8 else set()))


def test_a_join_links_everybody_until_tables_are_written_anew_and_then_nobody(
    store: Store, survey: Survey
) -> None:
    whose = _fill(store, survey, BATCH + MORE)
    assert _linked(store, whose) == BATCH + MORE  # the attack works
    assert not store.database.is_settled()
    assert store.database.rewrite()
    assert store.database.is_settled()
    assert _linked(store, whose) == 0
    assert list(store.upkeep.discrepancies(today())) == []


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every table too large to be written anew as a whole while a wave is open."""
    monkeypatch.setattr(settling, "SMALL", 0)


@pytest.mark.usefixtures("large")
def test_rows_of_large_tables_are_settled_once_they_are_a_batch(
    store: Store, survey: Survey
) -> None:
    assert not store.database.is_small()
    first = _fill(store, survey, BATCH - 1)
    assert store.database.settle()
    assert _linked(store, first) == BATCH - 1  # less than a batch: that remains, and is reported
    first |= _fill(store, survey, 1)
    assert store.database.settle()
    assert _linked(store, first) == 0
    second = _fill(store, survey, MORE)
    assert store.database.settle()
    assert _linked(store, first) == 0
    assert store.database.trace()[1].startswith(f"{MORE} ")
    # The rest goes when the wave is closed, whoever closes it.
    store.surveys.close_waves(survey.id)
    assert store.database.settle()
    assert _linked(store, first | second) == 0
    assert store.database.is_settled()
    assert list(store.upkeep.discrepancies(today())) == []


def test_no_version_of_a_row_is_left_behind(store: Store, survey: Survey) -> None:
    _fill(store, survey, 20)
    store.database.rewrite()
    session = store.database.connection
    assert isinstance(session, Session)
    session.execute("CREATE EXTENSION pageinspect")
    for table in ("report", "ledger", "invitation", "tally", "respondent_total"):
        pages = session.execute(
            "SELECT count(*) FILTER (WHERE t_xmax <> '0'::xid OR lp_flags <> 1), "
            "count(DISTINCT t_xmin::text) FROM generate_series(0, "
            f"(pg_relation_size('{table}') / 8192 - 1)::int) AS page, "
            f"heap_page_items(get_raw_page('{table}', page))"
        ).fetchone()
        assert pages[0] == 0
        assert pages[1] <= 1


def test_the_writer_settles_when_reports_pause(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "IDLE", 0.05)
    ours = writer.Writer(store, today)
    whose = {}
    for rid, body in islice(submissions(survey), 5):
        assert ours.put(check(store, survey.id, body)) == 201
        whose[rid] = bytes.fromhex(json.loads(body)["respondent"])
    wait_until(store.database.is_settled)
    assert _linked(store, whose) == 0
    assert not ours.is_untidy()


def test_readers_of_a_table_do_not_keep_reports_waiting(store: Store, survey: Survey) -> None:
    _fill(store, survey, 20)
    assert isinstance(store.database.place, Address)
    reader = Session(store.database.place)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM report")
    assert not store.database.rewrite()
    _fill(store, survey, 3)
    reader.execute("COMMIT")
    # Less than a batch is left, and nobody sends more, so the server's next look settles it.
    assert not store.database.is_settled()
    store.database.tidy()
    assert store.database.is_settled()


@pytest.mark.usefixtures("large")
def test_groups_of_a_closed_survey_go_once_its_readers_have_ended(
    store: Store, survey: Survey
) -> None:
    for _ in range(2):
        _fill(store, survey, BATCH)
        assert store.database.settle()
    assert isinstance(store.database.place, Address)
    reader = Session(store.database.place)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM report")
    store.surveys.close_waves(survey.id)
    assert not store.database.rewrite()
    reader.execute("COMMIT")
    assert not store.database.is_settled()
    store.database.tidy()
    assert store.database.is_settled()
    groups = store.database.query("SELECT count(DISTINCT xmin::text) FROM report").fetchone()
    assert groups == (1,)


@pytest.mark.usefixtures("large")
def test_a_second_collector_writes_nothing_anew_that_is_less_than_a_batch(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(store, survey, BATCH)
    assert isinstance(store.database, Postgres)
    due = settling._due(store.database)
    assert store.database.settle()
    _fill(store, survey, MORE)
    # The second one found the batch before the first one had the lock.
    monkeypatch.setattr(settling, "_due", lambda _: due)
    assert store.database.settle()
    assert store.database.trace()[1].startswith(f"{MORE} ")


def test_nothing_is_stored_of_a_batch_of_none(store: Store) -> None:
    assert list(store.add([], today())) == []


def test_no_sample_of_rows_is_kept_for_planning(store: Store, survey: Survey) -> None:
    _fill(store, survey, BATCH)
    store.database.connection.execute("ANALYZE")
    sql = "SELECT count(*) FROM pg_stats WHERE tablename = ANY(?)"
    assert store.database.query(sql, list(OF_RESPONDENTS)).fetchone()[0] == 0


@pytest.mark.usefixtures("large")
def test_rows_settled_in_another_cluster_are_settled_again(store: Store, survey: Survey) -> None:
    whose = _fill(store, survey, BATCH)
    assert store.database.settle()
    # This is like a dump from another cluster, whose transactions have smaller numbers.
    store.database.write("UPDATE settled SET transaction = transaction + 1000000")
    whose |= _fill(store, survey, MORE)
    assert sum(settling.unsettled(store.database.connection).values()) == BATCH + MORE
    with store.database.served():
        assert store.database.settle()
    assert _linked(store, whose) == 0
    assert store.database.is_settled()


@pytest.mark.parametrize(("older", "groups"), [(0, 2), (2**31, 1)])
@pytest.mark.usefixtures("large")
def test_rows_are_new_since_the_last_time_or_all_if_that_is_too_long_ago(
    store: Store, survey: Survey, older: int, groups: int
) -> None:
    for _ in range(2):
        _fill(store, survey, BATCH)
        assert store.database.settle()
        store.database.write("UPDATE settled SET transaction = transaction - ?", older)
    found = store.database.query("SELECT count(DISTINCT xmin::text) FROM report").fetchone()
    assert found == (groups,)


def test_tables_must_lie_in_the_first_schema(store: Store) -> None:
    store.database.connection.execute("CREATE SCHEMA web1")
    assert isinstance(store.database.place, Address)
    text = store.database.place.text
    other = f"{text}{'&' if '?' in text else '?'}options=-csearch_path%3Dweb1%2Cpublic"
    with pytest.raises(StoreError, match="first schema of search_path, web1, got them in public"):
        Store(Address(other))


def test_a_database_whose_log_only_hints_at_reports_is_served_and_named(
    store: Store, database: Place
) -> None:
    store.database.connection.execute(
        f"ALTER DATABASE {store.database.stem} SET log_lock_waits = on"
    )
    store.database.connection.execute(
        f"ALTER DATABASE {store.database.stem} SET log_statement = ddl"
    )
    with Server(database) as server:
        told = server.stderr.read_text()
    for words in ("log_lock_waits is on: logs when", "log_statement is ddl: logs when"):
        assert f"the database's {words} each report came; set it to" in told
    findings = {one.subject: one.ok for one in audit_database(Store(database), today())}
    assert (findings["log_lock_waits"], findings["log_statement"]) == (False, False)
    assert findings["log_duration"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("log_statement = 'mod'", "log_statement: is mod: logs every report"),
        ("log_min_duration_statement = 0", "logs reports that take long"),
        ("log_duration = on", "log_duration: is on"),
    ],
)
def test_a_database_that_logs_reports_is_not_served(
    store: Store, database: Place, setting: str, told: str
) -> None:
    store.database.connection.execute(f"ALTER DATABASE {store.database.stem} SET {setting}")
    with pytest.raises(StoreError, match=told), Store(database).database.served():
        pass
