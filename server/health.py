"""Tell whoever watches the collector whether it can take reports now."""

import sqlite3

from flask import Blueprint, Response, current_app, jsonify

from server import access
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
    """Answer 200 and "ok", or 503; accounts and this machine also get what is wrong.

    No answer has a word on surveys or respondents.
    """
    status = the_status()
    if status == OK:
        return jsonify(status=OK)
    response = jsonify(status=status) if _may_know() else Response(content_type="text/plain")
    response.status_code = 503
    return response


def _may_know() -> bool:
    """Return whether the request comes from this machine, or from a researcher at their address."""
    if access.is_from_here():
        return True
    if "research" not in current_app.config["PLANES"] or "public" in current_app.config["PLANES"]:
        return False
    try:
        return access.identify() is not None
    except (StoreError, sqlite3.Error, OSError):
        return False  # a database that cannot be read knows no account


#: The status of a collector that takes reports and keeps its promises.
OK = "ok"


def the_status() -> str:
    """Return how the collector is: `OK`, or what is wrong."""
    store, writer = the_store(), the_writer()
    try:
        store.surveys.ids()
        free = store.database.free()
        if free is not None and free < ROOM:
            return "the disk is nearly full"
        if writer.is_stuck():
            return "reports wait for the disk, or for another writer"
        if writer.has_failed():
            return "reports cannot be stored"
        if store.upkeep.is_overdue(day_before(LATE)):
            return "reports that were to be deleted are still there"
        if store.database.is_served() and store.database.silence() > LATE:
            return "the thread that deletes reports and their order has not succeeded lately"
        if writer.is_untidy():
            return "the order of arrival cannot be removed from the file"
    except (StoreError, sqlite3.Error, OSError):
        return "the database cannot be read"
    return OK
