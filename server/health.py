"""Whether the collector can take reports now; for whoever watches it."""

import shutil
import sqlite3

from flask import Blueprint, Response, jsonify

from server.extensions import the_store, the_writer

blueprint = Blueprint("health", __name__)

#: Bytes of the disk below which a collector says that it is not well, while it still takes reports.
ROOM = 64 * 1024 * 1024


@blueprint.get("/healthz")
def healthz() -> Response:
    """200 and "ok", or 503 and what is wrong; nothing of surveys or respondents."""
    store = the_store()
    writer = the_writer()
    status = "ok"
    try:
        store.survey_ids()
        if shutil.disk_usage(store.path.parent).free < ROOM:
            status = "the disk is nearly full"
        elif writer.is_stuck():
            status = "reports wait for the disk, or for another writer"
        elif writer.has_failed():
            status = "reports cannot be stored"
    except (sqlite3.Error, OSError):
        status = "the database cannot be read"
    response = jsonify(status=status)
    response.status_code = 200 if status == "ok" else 503
    return response
