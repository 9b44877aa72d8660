"""The respondent's page and the modules that it runs."""

from fractions import Fraction
from typing import Any

from flask import Blueprint, Response, current_app, redirect, render_template, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.wrappers import Response as BaseResponse

from analysis.domain import Categories, Numbers, Texts
from analysis.epsilon import MICRO, TELLING, exp_lower
from analysis.randomizer import is_weak
from analysis.survey import Question, Survey, spent_on
from server.clock import today
from server.extensions import the_store

blueprint = Blueprint("pages", __name__)
survey_blueprint = Blueprint("survey", __name__)

_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@blueprint.app_context_processor
def integrity() -> dict[str, Any]:
    """The hash of each module, for the browser to refuse any other."""
    return {"integrity": {name: one[1] for name, one in current_app.extensions["client"].items()}}


@blueprint.get("/")
def home() -> BaseResponse | tuple[str, int]:
    if "public" not in current_app.config["PLANES"]:
        return redirect("/results")
    return message("deniable", "Please open the address of a survey that you were given.", 200)


@survey_blueprint.get("/s/<survey_id>", strict_slashes=False)
def survey(survey_id: str) -> tuple[str, int]:
    store = the_store()
    current = store.current(survey_id)
    if current is None:
        return message("No such survey", "Please check the address that you were given.", 404)
    data = current.to_json(today())
    if data["state"] == "closed":
        return message(
            current.survey.text(current.survey.spec["title"]),
            "This survey is closed. Nothing can be answered any more.",
            200,
        )
    page = render_template(
        "survey.html",
        survey=current.survey,
        data=data,
        first=current.survey.text,
        odds=odds,
        delta=float(sum(question.randomizer.delta for question in current.survey.questions)),
        weak=any(is_weak(question.randomizer) for question in current.survey.questions),
        waves_cost=waves_cost(current.survey),
    )
    return page, 200


def odds(question: Question, remembers: bool = False) -> str:
    """What a report tells about one respondent, in a sentence made from the channel.

    `remembers` is whether the device remembers draws of some question of the survey.
    """
    shares = question.mechanism.shares(question.randomizer, question.domain).values
    most = f"{float(question.randomizer.ratio):.3g}"
    skipped = ", and from an empty one" if question.domain.no_answer else ""
    if isinstance(question.domain, Numbers):
        sentence = (
            f"What is sent is a point on a scale, drawn by chance. Any point can come from any "
            f"number{skipped}; one makes it at most {most} times as likely as another does. "
        )
    elif isinstance(question.domain, Texts):
        sentence = _odds_of_text(question)
    elif isinstance(question.domain, Categories) and question.randomizer.shape == (1, 2):
        sentence = (
            "What is sent is one of two reports, drawn by chance. Of 100 people who give the first "
            f"answer, about {round(100 * shares[0].p)} send the first report; of 100 who give the "
            f"second answer, about {round(100 * shares[0].q)} do so too. "
        )
    elif isinstance(question.domain, Categories) and shares:
        sentence = (
            f"Take any answer: of 100 people who gave it, about {round(100 * shares[0].p)} send a "
            f"report that counts for it; of 100 who gave another, about "
            f"{round(100 * shares[0].q)} do so too. "
        )
    else:
        part = "a part of the answer alone, swapped" if shares and shares[0].portion < 1 else ""
        sentence = (
            f"What is sent is {part or 'a report drawn'} by chance. Any report can come from any "
            f"answer{skipped}; one makes it at most {most} times as likely as another does. "
        )
    if question.memo:
        sentence += _odds_of_waves(question)
    elif remembers:
        sentence += "It is drawn afresh each time, so each time you answer it tells as much again. "
    if question.randomizer.delta:
        chance = float(question.randomizer.delta)
        sentence += f"With a chance of {chance:.2g} a report can tell more than that. "
    if question.memo and question.randomizer.forever > exp_lower(TELLING):
        return sentence + "Over many times that is weak: who sees all can be nearly sure of it."
    if is_weak(question.randomizer):
        return sentence + "That is weak: who sees the report can be nearly sure of your answer."
    return sentence + "No report proves what anybody answered."


def waves_cost(survey: Survey) -> str:
    """What a few waves cost together, in a sentence; "" without a memory."""
    if not survey.memos:
        return ""
    waves = [n for n in (2, 3, 4) if spent_on([(survey, n)]) <= survey.cap]
    if not waves:
        return ""
    worst, constant = (
        ", ".join(f"{spent_on([(survey, n)], stable=stable) / MICRO:.3g}" for n in waves)
        for stable in (False, True)
    )
    return (
        f"{', '.join(map(str, waves))} waves together tell at most ε = {worst}, whatever you "
        f"answer; {constant} if no answer ever changes."
    )


def _odds_of_waves(question: Question) -> str:
    """What all waves tell together of one answer, and on what assumption."""
    forever = f"{float(question.randomizer.forever):.3g}"
    sentence = (
        "However often you answer this survey again, all that you sent is at most "
        f"{forever} times as likely under one answer as under another, as long as your answer "
        "stays the same. "
    )
    if question.stable:
        sentence += "The survey takes it for one that cannot change, and counts so"
        skips = "; who answers it once and skips it once tells more" * question.domain.no_answer
        return f"{sentence}{skips}. "
    return sentence + "An answer that changes can tell more; that is counted in any case. "


def _odds_of_text(question: Question) -> str:
    """What is made of a text: that many share its symbol, and that it is swapped besides."""
    randomizer = question.randomizer
    most = f"{float(randomizer.ratio):.3g}"
    if randomizer.channel.takes_bits:
        hashes = randomizer.encoder.hashes
        bits = "one" if hashes == 1 else f"at most {hashes}"
        return (
            f"What is sent is not the text. It sets {bits} of {randomizer.channel.inputs} bits, as "
            "very many other texts do; then each bit is swapped by chance. Any pattern can come "
            f"from any text; one makes it at most {most} times as likely as another does. "
        )
    what = "Its beginning, or all of it," if randomizer.encoder.name == "prefix" else "It"
    symbols = randomizer.channel.inputs
    kept = round(100 * Fraction(randomizer.channel.near, randomizer.channel.total))
    return (
        f"What is sent is not the text. {what} is turned into one of {symbols} symbols, and about "
        f"1 in {symbols} of all others into the same one. Then the symbol is swapped by chance: of "
        f"100 people, about {kept} send that of their text, and the others another one. One text "
        f"makes a report at most {most} times as likely as another does. "
    )


@blueprint.get("/client/<path:name>")
def client(name: str) -> Response | tuple[str, int]:
    files = current_app.extensions["client"]
    if name not in files:
        return message("Not found", "There is no such file.", 404)
    content, _ = files[name]
    response = Response(content, content_type=_TYPES[name.rsplit(".", 1)[1]])
    # The pages name the hash that they expect, so an old copy must never be used.
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(files[name][1].removeprefix("sha256-"))
    response.make_conditional(request)
    return response


@blueprint.app_errorhandler(404)
def not_found(_: Exception) -> tuple[str, int]:
    return message("Not found", "There is nothing at this address.", 404)


@blueprint.app_errorhandler(405)
def not_allowed(error: MethodNotAllowed) -> tuple[str, int, dict[str, str]]:
    page, status = message("Not allowed", "This address does not take such requests.", 405)
    return page, status, {"Allow": ", ".join(error.valid_methods or ())}


@blueprint.app_errorhandler(500)
def failed(_: Exception) -> tuple[str, int]:
    return message("Something went wrong", "Please try again later.", 500)


def message(title: str, text: str, status: int) -> tuple[str, int]:
    """A page with one sentence."""
    return render_template("message.html", title=title, text=text), status
