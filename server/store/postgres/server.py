"""Settings by which a PostgreSQL server would keep traces of reports, or would lose reports."""

from collections.abc import Callable, Mapping

from server.store.database import Connection, Setting

#: Settings that log when something was stored, or what: each with what it must be, and what it
#: does otherwise. Those of extensions exist only where these are loaded.
_MUST: dict[str, tuple[Callable[[str], bool], str]] = {
    "track_commit_timestamp": (
        lambda value: value == "off",
        "keeps when each report came; set it to off",
    ),
    "log_statement": (
        # Even with `ddl` it logs the temporary tables by which `settling` writes rows anew.
        lambda value: value == "none",
        "logs every report, with its pseudonym and the time; set it to none",
    ),
    "log_duration": (
        lambda value: value == "off",
        "logs when each report came; set it to off",
    ),
    "log_min_duration_statement": (
        lambda value: value == "-1",
        "logs reports that take long, with the time; set it to -1",
    ),
    "log_min_duration_sample": (
        lambda value: value == "-1",
        "logs some of the reports, with the time; set it to -1",
    ),
    "log_transaction_sample_rate": (
        lambda value: float(value) == 0,
        "logs some of the reports, with the time; set it to 0",
    ),
    "log_parameter_max_length_on_error": (
        lambda value: value == "0",
        "logs reports that could not be stored; set it to 0",
    ),
    "auto_explain.log_min_duration": (
        lambda value: value == "-1",
        "logs reports that take long, with the time; set it to -1",
    ),
    **{
        name: (lambda value: value in ("off", ""), "logs when each report came; set it to off")
        for name in (
            # What a checkpoint writes after one report is twenty times as much as without.
            "log_checkpoints",
            "log_lock_waits",
            # A collector connects again when it has more to do.
            "log_connections",
            "log_disconnections",
            "trace_sort",
            "log_statement_stats",
            "log_parser_stats",
            "log_planner_stats",
            "log_executor_stats",
            "debug_print_parse",
            "debug_print_rewritten",
            "debug_print_plan",
            # This one warns of each connection.
            "ignore_system_indexes",
        )
    },
    **{
        # By default, tables that cannot be locked because a report has just come are logged.
        name: (lambda value: value == "-1", "logs when reports came; set it to -1")
        for name in (
            "log_autovacuum_min_duration",
            "log_autoanalyze_min_duration",
            "log_temp_files",
        )
    },
    **{
        name: (lambda value: "debug" not in value, f"logs when each report came; set it to {level}")
        for name, level in (("log_min_messages", "warning"), ("trace_recovery_messages", "log"))
    },
    "pgaudit.log": (
        lambda value: value.lower() in ("", "none", "role"),
        "logs when each report came; set it to none",
    ),
    "track_activities": (
        lambda value: value == "off",
        "shows when the last report came; set it to off",
    ),
    "pg_stat_statements.track": (
        lambda value: value == "none",
        "keeps when the first report came; set it to none",
    ),
    "archive_mode": (
        lambda value: value == "off",
        "keeps each report, in order and with the time; set it to off",
    ),
    "summarize_wal": (
        lambda value: value == "off",
        "keeps when reports came; set it to off",
    ),
    "wal_level": (
        lambda value: value != "logical",
        "lets others subscribe to each report as it comes; set it to replica",
    ),
    "fsync": (
        lambda value: value == "on",
        "loses reports that devices have forgotten since; set it to on",
    ),
    "full_page_writes": (
        lambda value: value == "on",
        "can lose reports that devices have forgotten since; set it to on",
    ),
}


def settings(connection: Connection) -> list[Setting]:
    """Return each setting that matters, and whether somebody subscribes to changes."""
    rows = connection.execute(
        "SELECT name, setting FROM pg_settings WHERE name = ANY(?)", (list(_MUST),)
    )
    there: Mapping[str, str] = dict(rows.fetchall())
    told = []
    for name, value in sorted(there.items()):
        is_right, advice = _MUST[name]
        told.append(Setting(name, f"is {value or 'empty'}", is_right(value), advice))
    (slots,) = connection.execute(
        "SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical' "
        "AND database = current_database()"
    ).fetchone()
    advice = "somebody subscribes to each report as it comes; drop them"
    return [*told, Setting("logical replication slots", f"there are {slots}", slots == 0, advice)]
