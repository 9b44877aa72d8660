"""Whether PostgreSQL's own log and statistics reveal when a report came, or what it was.

Whatever moves when a report comes, and not otherwise, is declared here with a reason, or is
prevented by a setting that `serve` and the audit demand. Anything else fails.
"""

import json
import random
import re
import sys
import time
from contextlib import closing
from itertools import islice
from pathlib import Path

import postgres
import programs
import psycopg
import pytest

from analysis.survey.survey import Survey
from server.clock import today
from server.intake.requests import check
from server.retention import Keeper
from server.store import Store
from server.store.places import Address
from server.store.postgres import settling

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from limits import wait_until
from load import submissions, take_in

pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(
        programs.find("postgresql") is None,
        reason="no PostgreSQL is installed: python tests/programs.py postgresql",
    ),
]

#: As many reports as make PostgreSQL analyze their table after each further one.
STORED = 60
#: Autovacuum comes each second, not each minute.
SOON, PAUSE = "autovacuum_naptime=1s", 1.5

#: What may move with a report, as `view.column of row`, with the reason. None of it has a time.
COUNTS = {
    r"pg_stat(io)?_\w+_(tables|indexes)\.(n|seq|idx|heap|toast|tidx)_\w+ of .*": "rows and pages "
    "that were read and written in each table, which whoever reads the tables can count, too",
    r"pg_stat_\w+_tables\.(auto)?(vacuum|analyze)_count of .*": "how often, not when",
    r"pg_stat_\w+_tables\.total_(auto)?(vacuum|analyze)_time of .*": "how long, not when",
    r"pg_stat_(get_)?(bgwriter|buf|checkpointer|database|io|slru|wal)\w*(\(\))?\.\w+ of .*": "sums "
    "over everything that the server did",
    r"pg_stats\.\w+ of (pg_catalog|public settled) .*": "catalogs, and the table `settled`; of the "
    "columns of respondents' tables nothing is kept",
    r"pg_stat_(activity\.\w+ of (?!client)|activity\.wait_event|progress|get_backend).*": "what "
    "the server does at this moment",
    r"pg_current_wal_\w+\(\)\.value of |pg_ls_waldir\(\)\.(name|size) of .*": "how much the "
    "write-ahead log has, which has every transaction",
}
#: What may move, and has a time: limits that the documentation names.
TIMES = {
    r"pg_stat_\w+_tables\.last_auto(vacuum|analyze) of .*": "catalogs need autovacuum, since each "
    "table that is written anew leaves rows there; PostgreSQL always keeps when it last came",
    r"pg_stat_activity\.\w+ of autovacuum .*": "autovacuum at this moment",
    r"pg_stat_\w+_(tables|indexes)\.last_(seq|idx)_scan of .*": "PostgreSQL keeps them from 16 on, "
    "unless `track_counts` is off, without which there is no autovacuum",
    r"pg_ls_waldir\(\)\.modification of .*": "the write-ahead log has the time of each transaction",
}
#: What moves if a setting is not as `serve` demands.
PREVENTED = {r"pg_stat_activity\.\w+ of client .*": "track_activities"}

#: Columns that name a row; without `pid`, numbers are parts of names.
ROW = "schemaname relname tablename indexrelname attname backend_type datname object context name"
#: Functions that do something, take long, or describe this session alone.
OTHERS = (
    "switch|reload|rotate|promote|replay|export|backup|standby|xact_id$|trigger|timezone|memory|"
    "prepared|cursor"
)

Snapshot = dict[str, list[str]]


class Watched:
    """A collector whose PostgreSQL server is watched by a superuser; `rng` draws moments."""

    def __init__(self, cluster: postgres.Cluster, survey: Survey, seed: int) -> None:
        self.cluster, self.survey, self.rng = cluster, survey, random.Random(seed)
        self.address: Address = cluster.new()
        self.store = Store(self.address, create=True)
        self.store.surveys.publish(survey)
        self.store.surveys.open_wave(survey.id)
        self.bodies = submissions(survey)
        self.secrets: list[str] = []
        #: The values that are times.
        self.times: set[str] = set()
        take_in(self.store, [body for _, body in islice(self.bodies, STORED)], survey)
        self.store.database.rewrite()
        self.keeper = Keeper(self.address)
        self.keeper.look()
        self.by = psycopg.connect(self.address.text, autocommit=True)
        self.sources = [name for (name,) in self.by.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace "
            "AND relkind = 'v' AND relname ~ '^pg_stat' UNION "
            "SELECT proname || '()' FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace "
            "AND prokind = 'f' AND prorettype <> 'void'::regtype AND pronargs = pronargdefaults "
            "AND proname ~ '^pg_' AND proname !~ %s ORDER BY 1", [OTHERS])]  # fmt: skip

    def snapshot(self) -> Snapshot:
        """Return all values that views, tables and functions show, as `view.column of row`."""
        found: Snapshot = {}
        for source in self.sources:
            try:
                rows = self.by.execute(f"SELECT to_jsonb(one) FROM {source} AS one").fetchall()
            except psycopg.Error:  # a function that only works elsewhere, such as on a standby
                continue
            for (row,) in rows:
                values = row if isinstance(row, dict) else {"value": row}
                if values.get("pid") == self.by.info.backend_pid:
                    continue
                name = " ".join(str(values[key]) for key in ROW.split() if values.get(key))
                name = f"{re.sub('[0-9]+', '#', name)} {values.get('pid', '')}".strip()
                for column, value in values.items():
                    key = f"{source}.{column} of {name}"
                    found.setdefault(key, []).append(json.dumps(value))
                    if re.match(r"\d{4}-\d\d-\d\dT", str(value)):
                        self.times.add(key)
        return {key: sorted(values) for key, values in found.items()}

    def report(self) -> None:
        """Let one report come, and write the tables anew, as the writer does."""
        rid, body = next(self.bodies)
        self.secrets += [rid.hex(), json.loads(body)["respondent"]]
        assert self.store.add([check(self.store, self.survey.id, body)], today()) == [201]
        self.store.database.reorder()

    def interval(self, has_report: bool) -> tuple[set[str], str]:
        """Return what moved in an interval, and the log of it."""
        self.by.execute("CHECKPOINT")
        before, logged = self.snapshot(), len(self.cluster.log())
        self.keeper.look()
        time.sleep(self.rng.random())
        if has_report:
            self.report()
            self.store.database.query("SELECT pg_stat_force_next_flush()")
        self.by.execute("CHECKPOINT")
        wait_until(self.is_calm)
        log, after = self.cluster.log()[logged:], self.snapshot()
        held = json.dumps(after) + log
        assert not [one for one in self.secrets if one in held]
        return {key for key in before.keys() | after if before.get(key) != after.get(key)}, log

    def is_calm(self) -> bool:
        """Return whether autovacuum had nothing to do."""
        sql = "SELECT sum(autovacuum_count + autoanalyze_count) FROM pg_stat_all_tables"
        before = self.by.execute(sql).fetchone()
        time.sleep(PAUSE)
        return self.by.execute(sql).fetchone() == before

    def close(self) -> None:
        """Close the connections."""
        self.store.close()
        self.store.database.leave()
        self.by.close()

    def refused(self) -> set[str]:
        """Return the settings on which the audit fails, and which `serve` names."""
        return {one.name for one in self.store.database.settings() if not one.ok}


def _is_declared(table: dict[str, str], key: str) -> bool:
    return any(re.fullmatch(pattern, key) for pattern in table)


@pytest.mark.parametrize("advised", [postgres.ADVISED, []], ids=["as advised", "by default"])
def test_nothing_but_what_is_declared_moves_with_a_report(
    advised: list[str], survey: Survey
) -> None:
    with (
        postgres.cluster(SOON, advised=advised) as cluster,
        closing(Watched(cluster, survey, seed=7)) as watched,
    ):
        moved: dict[bool, set[str]] = {True: set(), False: set()}
        logs: dict[bool, list[str]] = {True: [], False: []}
        wait_until(watched.is_calm)
        for has_report in [False, *watched.rng.sample([True, True, False, False], 4)]:
            keys, log = watched.interval(has_report)
            moved[has_report] |= keys
            logs[has_report].append(log)
        refused = watched.refused()
        only = moved[True] - moved[False]
        assert "pg_stat_user_tables.n_live_tup of public report" in only  # the search finds them
        undeclared = {
            key
            for key in only
            if not _is_declared(TIMES if key in watched.times else COUNTS, key)
            and not any(re.fullmatch(one, key) and PREVENTED[one] in refused for one in PREVENTED)
        }
        assert undeclared == set()
        # What the audit refuses by default is what reveals when a report came.
        shows = any(_is_declared(PREVENTED, key) for key in only & watched.times)
        assert shows == ("track_activities" in refused)
        sizes = {
            has: [int(n) for log in logs[has] for n in re.findall(r"wrote (\d+) buffers", log)]
            for has in logs
        }
        logs_it = bool(sizes[True]) and min(sizes[True]) > max(sizes[False])
        assert logs_it == ("log_checkpoints" in refused)
        assert (refused == set()) == bool(advised)
        if advised:
            assert "".join(logs[True] + logs[False]) == ""


def _others(kind: str, now: str, enumerated: list[str] | None) -> list[str]:
    """Return other values of a setting of this kind."""
    values = {"bool": ["on", "off"], "enum": enumerated or [], "string": ["all"]}
    return [one for one in values.get(kind, ["-1", "0", "1"]) if one != now]


def test_no_setting_that_serve_accepts_logs_anything_when_a_report_comes(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "_PATIENCE", 0.02)
    monkeypatch.setattr(settling, "_TRIES", 2)
    # Checkpoints are quick, waits are long, and sorting needs files.
    options = ["fsync=off", "deadlock_timeout=1ms", "work_mem=64kB"]
    with (
        postgres.cluster(*options, advised=["max_connections=300"]) as cluster,
        closing(Watched(cluster, survey, seed=7)) as watched,
        closing(psycopg.connect(watched.address.text)) as reader,
    ):
        address = watched.address.text

        def set_to(name: str, value: str) -> None:
            """Change a setting, and wait until new connections have it."""
            with psycopg.connect(address, autocommit=True) as by:
                before = by.execute("SELECT pg_conf_load_time()").fetchone()
                by.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
                by.execute("SELECT pg_reload_conf()")
            wait_until(lambda: loaded() != before)

        def loaded() -> object:
            with psycopg.connect(address) as by:
                return by.execute("SELECT pg_conf_load_time()").fetchone()

        for name, value in (one.split("=") for one in postgres.ADVISED):
            if name != "max_connections":
                set_to(name, value)
        watched.store.database.leave()
        assert watched.refused() == {"fsync"}
        settings = watched.by.execute(
            "SELECT name, vartype, setting, enumvals FROM pg_settings "
            "WHERE context NOT IN ('internal', 'postmaster') AND (name ~ '^(log|trace|debug)_' "
            "OR category ~ '^(Reporting and Logging|Statistics|Developer Options)') ORDER BY name"
        ).fetchall()
        accepted, logged = set(), []
        for name, kind, now, enumerated in settings:
            for value in _others(kind, now, enumerated):
                try:
                    set_to(name, value)
                except psycopg.Error:
                    continue  # no value of this setting
                watched.store.database.leave()
                if name not in watched.refused():
                    watched.store.database.leave()
                    size = len(cluster.log())
                    with reader.transaction():
                        reader.execute("SELECT FROM report")
                        watched.report()
                    watched.store.database.leave()
                    watched.by.execute("CHECKPOINT")
                    accepted.add(name)
                    if log := cluster.log()[size:]:
                        logged.append(f"{name} = {value}: {log[:200]}")
                set_to(name, now)
        assert logged == []
        assert len(accepted) > 20
