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
        lambda value: value in ("none", "ddl"),
        "logs every report, with its pseudonym and the time; set it to none or ddl",
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
        name: (lambda value: value == "off", "logs when each report came; set it to off")
        for name in (
            "log_statement_stats",
            "log_parser_stats",
            "log_planner_stats",
            "log_executor_stats",
            "debug_print_parse",
            "debug_print_rewritten",
            "debug_print_plan",
        )
    },
    "log_min_messages": (
        lambda value: not value.startswith("debug"),
        "logs when each report came; set it to warning",
    ),
    "pgaudit.log": (
        lambda value: value.lower() in ("", "none", "ddl", "role"),
        "logs when each report came; set it to none or ddl",
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
