"""Tell whoever watches the collector whether it can take reports now."""

import sqlite3

from flask import Blueprint, Response, jsonify

from server.clock import day_before
from server.extensions import the_store, the_writer
from server.store import StoreError

blueprint = Blueprint("health", __name__)

#: Free bytes of the disk below which a collector warns, while it still takes reports.
ROOM = 64 * 1024 * 1024

#: Seconds after midnight, or after the last successful look, by which due reports must be deleted.
LATE = 600.0


@blueprint.get("/healthz")
def healthz() -> Response:
    """Answer 200 and "ok", or 503 and what is wrong, without a word on surveys or respondents."""
    store, writer, status = the_store(), the_writer(), "ok"
    try:
        store.surveys.ids()
        free = store.database.free()
        if free is not None and free < ROOM:
            status = "the disk is nearly full"
        elif writer.is_stuck():
            status = "reports wait for the disk, or for another writer"
        elif writer.has_failed():
            status = "reports cannot be stored"
        elif store.upkeep.is_overdue(day_before(LATE)):
            status = "reports that were to be deleted are still there"
        elif store.database.is_served() and store.database.silence() > LATE:
            status = "the thread that deletes reports and their order has not succeeded lately"
        elif writer.is_untidy():
            status = "the order of arrival cannot be removed from the file"
    except (StoreError, sqlite3.Error, OSError):
        status = "the database cannot be read"
    response = jsonify(status=status)
    response.status_code = 200 if status == "ok" else 503
    return response
