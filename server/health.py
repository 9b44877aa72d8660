"""Whether the collector can take reports now; for whoever watches it."""

import shutil
import sqlite3

from flask import Blueprint, Response, jsonify

from server.clock import day_before
from server.extensions import the_store, the_writer
from server.store import StoreError

blueprint = Blueprint("health", __name__)

#: Bytes of the disk below which a collector says that it is not well, while it still takes reports.
ROOM = 64 * 1024 * 1024

#: Seconds after midnight, or after the keeper's last success, by which promises must be kept.
LATE = 600.0


@blueprint.get("/healthz")
def healthz() -> Response:
    """200 and "ok", or 503 and what is wrong; nothing of surveys or respondents."""
    store = the_store()
    writer = the_writer()
    status = "ok"
    try:
        store.surveys.ids()
        if shutil.disk_usage(store.file.path.parent).free < ROOM:
            status = "the disk is nearly full"
        elif writer.is_stuck():
            status = "reports wait for the disk, or for another writer"
        elif writer.has_failed():
            status = "reports cannot be stored"
        elif store.upkeep.is_overdue(day_before(LATE)):
            status = "reports that were to be deleted are still there"
        elif store.file.is_served() and store.file.silence() > LATE:
            status = "the thread that deletes reports and their order has not succeeded lately"
        elif writer.is_untidy():
            status = "the order of arrival cannot be removed from the file"
    except (StoreError, sqlite3.Error, OSError):
        status = "the database cannot be read"
    response = jsonify(status=status)
    response.status_code = 200 if status == "ok" else 503
    return response
