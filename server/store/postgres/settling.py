"""Remove the order of arrival from the tables: write rows anew, in the order of their keys.

A report, its charge and its invitation are written in one transaction. Each row bears the number of
the transaction (`xmin`), and the places of rows (`ctid`) reveal their order. Rows that one
transaction wrote in the order of keys reveal neither. Each table is written anew in a transaction
of its own, so that no number joins tables.

Small tables are written anew whenever reports pause, and all tables when a wave closes. In large
ones, the rows that came since the last time are written anew once they are a batch. `settled` has
the number of the last transaction that did so, by table and survey. Rows with a later number still
reveal their order.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg.errors import LockNotAvailable

from server.intake.decision import WHOLE
from server.store.database import OF_RESPONDENTS, Connection
from server.store.errors import StoreBusy
from server.store.postgres.tables import SETTLED, columns

if TYPE_CHECKING:
    from server.store.postgres.database import Postgres

#: The most bytes of a table that is written anew whenever reports pause: some 5,000 reports to ten
#: questions.
SMALL = 4 * 1024 * 1024

#: Seconds to wait for those who read a table that is to be written anew, since they keep writers
#: waiting meanwhile; and how often that is tried, with as long a pause.
_PATIENCE, _TRIES = 0.2, 10

#: PostgreSQL logs no error that a block handles. Its log would show that a report has just come,
#: and when.
_LOCK = """
    DO $$ BEGIN
        LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;
    EXCEPTION WHEN lock_not_available THEN
        PERFORM set_config('deniable.is_read', 'yes', true);
    END $$"""

#: The rows of some surveys that were written since the last time. Their transactions are compared
#: by age, since `xmin` has the lower half of a number of 64 bits. If the last time is 2^30
#: transactions ago, all rows are taken: from 2^31 on ages are negative. It would take ten times as
#: long to compare numbers as text.
_UNSETTLED = f"""
    WITH done AS MATERIALIZED (
        SELECT survey, age((transaction & 4294967295)::text::xid) AS since FROM {SETTLED}
        CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS latest) AS clock
        WHERE name = '{{table}}' AND transaction < latest AND latest - transaction < 1073741824)
    SELECT {{table}}.* FROM {{table}} LEFT JOIN done USING (survey)
    WHERE {{table}}.survey = ANY(?) AND (since IS NULL OR age({{table}}.xmin) < since)"""


def forget_others(database: "Postgres") -> None:
    """Forget what was settled in another cluster, from which the tables came in a dump.

    The transactions of the other cluster had their own numbers; those of this one begin anew.
    """
    database.write(
        f"DELETE FROM {SETTLED} "
        "WHERE transaction >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    )


def is_small(connection: Connection) -> bool:
    """Return whether no table of respondents has more than `SMALL` bytes."""
    rows = connection.execute(
        "SELECT max(pg_table_size(one::regclass)) FROM unnest(?::text[]) AS one",
        (list(OF_RESPONDENTS),),
    )
    return int(rows.fetchone()[0]) <= SMALL


def unsettled(connection: Connection, tables: Sequence[str] = OF_RESPONDENTS) -> dict[str, int]:
    """Return how many reports to each survey show in which transaction they came, if any do.

    They do until the last of the tables has been written anew. Cells count reports: to look at all
    rows would take long.
    """
    rows = connection.execute(
        "SELECT cell.survey, n - min(coalesce(reports, 0)) FROM cell "
        "CROSS JOIN unnest(?::text[]) AS one(name) "
        f"LEFT JOIN {SETTLED} AS done ON done.survey = cell.survey AND done.name = one.name "
        "AND transaction < pg_snapshot_xmax(pg_current_snapshot())::text::bigint "
        "WHERE version = ? AND wave = ? GROUP BY cell.survey, n "
        "HAVING n > min(coalesce(reports, 0))",
        (list(tables), *WHOLE),
    )
    return dict(rows.fetchall())


def rewrite(database: "Postgres") -> bool:
    """Write every table of respondents anew, unless somebody reads it; return whether all were."""
    left = list(OF_RESPONDENTS)
    for one in range(_TRIES):
        left = [table for table in left if not _rewritten(database, table)]
        if not left:
            return True
        time.sleep(_PATIENCE if one < _TRIES - 1 else 0)
    # Whoever looks next writes these anew, even if no report came since their last batch.
    database.write(f"DELETE FROM {SETTLED} WHERE name = ANY(?)", left)
    # Rows that were deleted must go in any case.
    database.connection.execute(f"VACUUM {', '.join(left)}")
    return False


def _rewritten(database: "Postgres", table: str) -> bool:
    """Write a table anew, unless somebody reads it; return whether it was.

    `TRUNCATE` gives a table new files, so that nothing of the old rows stays in them.
    """
    key = ", ".join(columns()[table][0])
    try:
        with database.writing() as connection:
            connection.execute(f"SET LOCAL lock_timeout = {int(_PATIENCE * 1000)}")
            connection.execute(_LOCK.format(table=table))
            is_read = connection.execute("SELECT current_setting('deniable.is_read', true)")
            if is_read.fetchone()[0] == "yes":
                return False
            connection.execute(f"CREATE TEMP TABLE anew ON COMMIT DROP AS SELECT * FROM {table}")
            connection.execute(f"TRUNCATE {table}")
            connection.execute(f"INSERT INTO {table} SELECT * FROM anew ORDER BY {key}")
            connection.execute(f"DELETE FROM {SETTLED} WHERE name = ?", (table,))
            connection.execute(
                f"INSERT INTO {SETTLED} SELECT ?, survey, pg_current_xact_id()::text::bigint, n "
                "FROM cell WHERE version = ? AND wave = ?",
                (table, *WHOLE),
            )
    except StoreBusy as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True


def settle(database: "Postgres") -> bool:
    """Write anew what came since the last time to each survey that got a batch since.

    Everything that is left of closed surveys is written anew, with the whole table.
    """
    batches, closed = _due(database)
    if closed:
        return rewrite(database)
    for table in OF_RESPONDENTS if batches else ():
        write_anew(database, table, batches)
    if batches:
        # Remove the replaced versions of rows, which reveal the same as the rows did.
        database.connection.execute(f"VACUUM {', '.join(OF_RESPONDENTS)}")
    return True


def _due(database: "Postgres") -> tuple[dict[str, int], bool]:
    """Return the batch of each survey that got one, and whether a closed survey got any report."""
    # Imported here: it needs numpy and all of analysis.
    from server.store.surveys import Surveys

    surveys = Surveys(database)
    counts = unsettled(database.connection)
    open_ = {survey: bool(surveys.open_waves(survey)) for survey in counts}
    batches = {one: surveys.steps(one).batch for one in counts if open_[one]}
    due = {one: batch for one, batch in batches.items() if counts[one] >= batch}
    return due, not all(open_.values())


def write_anew(database: "Postgres", table: str, batches: dict[str, int]) -> None:
    """Write rows of some surveys anew if they show in which transaction they came.

    Surveys that have less than their batch of such reports are left as they are: another collector
    may have written them anew while this one waited for it.
    """
    key = columns()[table][0]
    same = " AND ".join(f"{table}.{one} = anew.{one}" for one in key)
    with database.writing() as connection:
        counts = unsettled(connection, [table])
        surveys = [one for one, batch in batches.items() if counts.get(one, 0) >= batch]
        if not surveys:
            return
        connection.execute(
            f"CREATE TEMP TABLE anew ON COMMIT DROP AS {_UNSETTLED.format(table=table)}",
            (surveys,),
        )
        connection.execute(f"DELETE FROM {table} USING anew WHERE {same}")
        connection.execute(f"INSERT INTO {table} SELECT * FROM anew ORDER BY {', '.join(key)}")
        connection.execute(
            f"INSERT INTO {SETTLED} SELECT ?, survey, pg_current_xact_id()::text::bigint, n "
            "FROM cell WHERE version = ? AND wave = ? AND survey = ANY(?) "
            "ON CONFLICT (name, survey) "
            "DO UPDATE SET transaction = excluded.transaction, reports = excluded.reports",
            (table, *WHOLE, surveys),
        )
