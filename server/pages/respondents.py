"""Serve the pages of respondents, and the files that browsers load."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, Response, current_app, redirect
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.wrappers import Response as BaseResponse

from server.clock import today
from server.extensions import the_store
from server.pages.browser_files import File, Resource
from server.pages.rendering import Pages
from server.store import StoreBusy

blueprint = Blueprint("pages", __name__)
survey_blueprint = Blueprint("survey", __name__)

#: How many pages are kept as they are sent.
_MOST_PAGES = 64


@blueprint.app_context_processor
def integrity() -> dict[str, Any]:
    """Return the hash of each file, so that browsers refuse any other."""
    files = the_pages().files | current_app.extensions["static"]
    return {"integrity": {name: file.integrity for name, file in files.items()}}


def the_pages() -> Pages:
    """Return the maker of the pages of the application at hand."""
    pages: Pages = current_app.extensions["pages"]
    return pages


@blueprint.get("/")
def home() -> BaseResponse:
    if "public" not in current_app.config["PLANES"]:
        return redirect("/results")
    return message("home", 200)


@survey_blueprint.get("/s/<survey_id>", strict_slashes=False)
def survey(survey_id: str) -> Response:
    current = the_store().surveys.visible(survey_id)
    if current is None:
        return message("no-survey", 404)
    data, asked = current.to_json(today()), current.survey
    key = (asked.version, data["wave"], data["state"])
    return _cached(key, lambda: the_pages().survey(asked, data))


@survey_blueprint.get("/me")
def me() -> Response:
    return _cached(("me",), the_pages().me)


def _cached(key: tuple[Any, ...], make: Callable[[], Resource]) -> Response:
    """Return a page that is the same for everybody, and is therefore made once."""
    cache: dict[tuple[Any, ...], Resource] = current_app.extensions["page_cache"]
    page = cache.get(key)
    if page is None:
        page = make()
        if len(cache) >= _MOST_PAGES:
            cache.clear()
        cache[key] = page
    return page.response()


@blueprint.get("/client/<path:name>")
def client(name: str) -> Response:
    return _file(the_pages().files, name)


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    return _file(current_app.extensions["static"], name)


def _file(files: Mapping[str, File], name: str) -> Response:
    return files[name].resource.response() if name in files else message("not-found", 404)


@blueprint.app_errorhandler(404)
def not_found(_: Exception) -> Response:
    return message("not-found", 404)


@blueprint.app_errorhandler(405)
def not_allowed(error: MethodNotAllowed) -> Response:
    response = message("not-allowed", 405)
    response.headers["Allow"] = ", ".join(error.valid_methods or ())
    return response


@blueprint.app_errorhandler(StoreBusy)
def away(_: StoreBusy) -> Response:
    """Ask to come again: the database is on another machine, and cannot be reached."""
    response = message("failed", 503)
    response.headers["Retry-After"] = "30"
    return response


@blueprint.app_errorhandler(500)
def failed(_: Exception) -> Response:
    return message("failed", 500)


def message(key: str, status: int) -> Response:
    """Return a page with one sentence, in all languages at once."""
    return the_pages().message(key).response(status)
