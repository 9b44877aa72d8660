"""The pages of respondents, and the files that browsers load."""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Blueprint, Response, current_app, redirect, render_template
from markupsafe import Markup
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.wrappers import Response as BaseResponse

from analysis.charts import icon_patterns
from analysis.randomizer import is_weak
from analysis.survey import Survey
from server.clock import today
from server.explanation import an_answer, costs, explained
from server.extensions import the_store
from server.layout import layout
from server.program import Body, File, hash_of_all
from server.words import LANGUAGES, Language, Phrase, Value, languages_of, spoken, told

blueprint = Blueprint("pages", __name__)
survey_blueprint = Blueprint("survey", __name__)

_HTML = "text/html; charset=utf-8"
#: The pages that run a program, `client/page/NAME.js`.
PROGRAMS = ("survey", "me")
#: So many pages are kept as they are sent.
_KEPT = 64


@blueprint.app_context_processor
def integrity() -> dict[str, Any]:
    """The hash of each file, for the browser to refuse any other."""
    files: dict[str, File] = current_app.extensions["client"] | current_app.extensions["static"]
    return {"integrity": {name: file.integrity for name, file in files.items()}}


@blueprint.get("/")
def home() -> BaseResponse:
    if "public" not in current_app.config["PLANES"]:
        return redirect("/results")
    return message("home", 200)


@survey_blueprint.get("/s/<survey_id>", strict_slashes=False)
def survey(survey_id: str) -> Response:
    current = the_store().current(survey_id)
    if current is None:
        return message("no-survey", 404)
    data = current.to_json(today())
    asked = current.survey
    if data["state"] == "closed":
        return message("closed", 200, languages_of(asked.spec), title=asked.spec["title"])
    key = (asked.version, data["wave"], data["state"])
    languages = languages_of(asked.spec)
    return _kept(
        key, lambda: _page("survey", languages, survey=asked, data=data, **_contents(asked))
    )


@survey_blueprint.get("/me")
def me() -> Response:
    return _kept(("me",), lambda: _page("me", list(LANGUAGES.values())))


def _kept(key: tuple[Any, ...], make: Callable[[], Body]) -> Response:
    """A page that is the same for everybody, made once."""
    kept: dict[tuple[Any, ...], Body] = current_app.extensions["pages"]
    page = kept.get(key)
    if page is None:
        page = make()
        if len(kept) >= _KEPT:
            kept.clear()
        kept[key] = page
    return page.response(_HTML)


def _contents(survey: Survey) -> dict[str, Any]:
    """What is asked and explained."""
    remembers = bool(survey.memos)
    return {
        "first": survey.text,
        "pages": layout(survey.spec),
        "explained": {one.id: explained(one, remembers) for one in survey.questions},
        "costs": list(costs(survey)),
        "an_answer": an_answer(survey),
        "weak": any(is_weak(question.randomizer) for question in survey.questions),
        "patterns": Markup(icon_patterns()),
    }


def _page(name: str, languages: list[Language], **contents: Any) -> Body:
    """A page of `PROGRAMS`."""
    page = render_template(
        f"{name}.html",
        modules=current_app.extensions["modules"][name],
        hash_of_all=hash_of_all(current_app.extensions["client"]),
        **spoken(languages),
        **contents,
    )
    return Body.of(page.encode())


@blueprint.get("/client/<path:name>")
def client(name: str) -> Response:
    return _file("client", name)


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    return _file("static", name)


def _file(folder: str, name: str) -> Response:
    files: dict[str, File] = current_app.extensions[folder]
    return files[name].response() if name in files else message("not-found", 404)


@blueprint.app_errorhandler(404)
def not_found(_: Exception) -> Response:
    return message("not-found", 404)


@blueprint.app_errorhandler(405)
def not_allowed(error: MethodNotAllowed) -> Response:
    response = message("not-allowed", 405)
    response.headers["Allow"] = ", ".join(error.valid_methods or ())
    return response


@blueprint.app_errorhandler(500)
def failed(_: Exception) -> Response:
    return message("failed", 500)


def message(
    key: str, status: int, languages: Iterable[Language] = LANGUAGES.values(), **values: Value
) -> Response:
    """A page with one sentence, in all these languages at once."""
    spoken_in = list(languages)
    title, text = Phrase(f"message.{key}-title", values), Phrase(f"message.{key}", values)
    page = render_template(
        "message.html",
        titles=[told(title, language) for language in spoken_in],
        texts=[told(text, language) for language in spoken_in],
        **spoken(spoken_in),
    )
    return Body.of(page.encode()).response(_HTML, status)
