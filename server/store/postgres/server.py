"""Settings by which a PostgreSQL server would keep traces of reports, or would lose reports."""

from collections.abc import Mapping

from server.store.database import Connection, Setting

_OFF, _NEVER, _ON = ("off", ""), ("-1",), ("on",)
#: Levels of messages above those that tell what a server does.
_LEVELS = ("log", "info", "notice", "warning", "error", "fatal", "panic")
_WHEN = "logs when each report came"

#: Settings that keep what was stored, or when, report by report, or that lose reports: each with
#: the values that it may have, the best first, and what it does otherwise. No collector serves such
#: a database. Settings of extensions exist only where these are loaded.
_MUST: Mapping[str, tuple[tuple[str, ...], str]] = {
    "track_commit_timestamp": (_OFF, "keeps when each report came"),
    "log_statement": (("none", "ddl"), "logs every report, with its pseudonym and the time"),
    "log_duration": (_OFF, _WHEN),
    "log_min_duration_statement": (_NEVER, "logs reports that take long, with the time"),
    "log_min_duration_sample": (_NEVER, "logs some of the reports, with the time"),
    "log_transaction_sample_rate": (("0",), "logs some of the reports, with the time"),
    "log_parameter_max_length_on_error": (("0",), "logs reports that could not be stored"),
    "auto_explain.log_min_duration": (_NEVER, "logs reports that take long, with the time"),
    "log_statement_stats": (_OFF, _WHEN),
    "log_parser_stats": (_OFF, _WHEN),
    "log_planner_stats": (_OFF, _WHEN),
    "log_executor_stats": (_OFF, _WHEN),
    "debug_print_parse": (_OFF, _WHEN),
    "debug_print_rewritten": (_OFF, _WHEN),
    "debug_print_plan": (_OFF, _WHEN),
    "log_min_messages": (("warning", *_LEVELS), _WHEN),
    "pgaudit.log": (("none", "", "role", "ddl"), _WHEN),
    "wal_level": (("replica", "minimal"), "lets others subscribe to each report as it comes"),
    "fsync": (_ON, "loses reports that devices have forgotten since"),
    "full_page_writes": (_ON, "can lose reports that devices have forgotten since"),
}
#: Settings by which something beside the tables shows when reports came, many of them by default.
#: Collectors start and name them; audits fail.
_SHOULD: Mapping[str, tuple[tuple[str, ...], str]] = {
    # What a checkpoint writes after one report is twenty times as much as without.
    "log_checkpoints": (_OFF, _WHEN),
    # By default, tables that cannot be locked because a report has just come are logged.
    "log_autovacuum_min_duration": (_NEVER, _WHEN),
    "log_autoanalyze_min_duration": (_NEVER, _WHEN),
    "log_lock_waits": (_OFF, _WHEN),
    "log_temp_files": (_NEVER, _WHEN),
    # With `ddl` it logs the temporary tables by which `settling` writes rows anew.
    "log_statement": (("none",), _WHEN),
    "pgaudit.log": (("none", "", "role"), _WHEN),
    # A collector connects again when it has more to do.
    "log_connections": (_OFF, _WHEN),
    "log_disconnections": (_OFF, _WHEN),
    # It warns of each connection.
    "ignore_system_indexes": (_OFF, _WHEN),
    "trace_sort": (_OFF, _WHEN),
    "trace_recovery_messages": (_LEVELS, _WHEN),
    "track_activities": (_OFF, "shows when the last report came"),
    "pg_stat_statements.track": (("none",), "keeps when the first report came"),
    "archive_mode": (_OFF, "keeps each report, in order and with the time"),
    "summarize_wal": (_OFF, "keeps when reports came"),
}


def settings(connection: Connection) -> list[Setting]:
    """Return each setting that matters, and whether somebody subscribes to changes."""
    rows = connection.execute(
        "SELECT name, setting FROM pg_settings WHERE name = ANY(?)", ([*_MUST, *_SHOULD],)
    )
    told = [_read(name, value.lower()) for name, value in sorted(rows.fetchall())]
    (slots,) = connection.execute(
        "SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical' "
        "AND database = current_database()"
    ).fetchone()
    advice = "somebody subscribes to each report as it comes; drop them"
    found = f"there are {slots}"
    return [*told, Setting("logical replication slots", found, slots == 0, advice, slots > 0)]


def _read(name: str, value: str) -> Setting:
    """Return how a setting is, by the first table that it is not right by."""
    of_name = [(rows[name], rows is _MUST) for rows in (_MUST, _SHOULD) if name in rows]
    wrong = [(right, does, stops) for (right, does), stops in of_name if value not in right]
    (right, does, stops), *_ = wrong or [(*of_name[-1][0], False)]
    advice = f"{does}; set it to {right[0]}"
    return Setting(name, f"is {value or 'empty'}", not wrong, advice, stops)
