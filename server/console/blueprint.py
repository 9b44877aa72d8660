"""The common base of all researchers' pages: who may enter, and how errors are shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, g, redirect, render_template, request, session
from werkzeug.exceptions import Forbidden, HTTPException, TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from analysis.estimate.intervals import INTERVALS as KNOWN_INTERVALS
from analysis.survey.document import ID
from analysis.survey.survey import LONGEST_REQUEST
from server import access, signing_in
from server.clock import now
from server.console.kept_form import Kept, kept_form
from server.console.mistakes import Mistake, is_page, marked, note, refused, told
from server.console.sent_forms import (
    answer_after_session,
    note_repeated,
    note_sent,
    proof,
    sent_before,
    sent_by_session_before,
)
from server.console.typed import whole_number
from server.extensions import the_store
from server.headers import for_forms
from server.intake.gateway import LONGEST_UPLOAD, UPLOADS
from server.routes import ANYBODY, COLLECTOR, DRAFT, GUEST, LET_IN, OWNER, PILOT, ROUTES
from server.store import StoreBusy, StoreError
from server.store.rules import OWNERS_PILOT
from server.stored_results import Missing, StoredWave, Withheld, asked_now

blueprint = Blueprint("research", __name__)
blueprint.after_request(refused)
blueprint.after_request(note_sent)
blueprint.add_app_template_global(proof)
blueprint.context_processor(told)
blueprint.add_app_template_filter(marked)

#: The usual intervals of shares, and others that can be chosen.
INTERVALS = ("clopper-pearson", *(one for one in KNOWN_INTERVALS if one != "clopper-pearson"))


#: The most bytes of a form that sends neither a survey file nor a part of one.
LONGEST_FORM = LONGEST_REQUEST


def let_in() -> BaseResponse | None:
    """Let in whoever the row of the address lets in; answer others before any view runs.

    Whoever has to sign in first gets a page for that, or a challenge. Without a row there is
    nothing at an address. What the router refuses itself (404, 405) needs no row.
    """
    rule = request.url_rule
    if rule is None:
        return None
    route = ROUTES.get(rule.rule)
    who = route.who(request.method) if route else ""
    if route is None or not who:
        abort(404)
    if who == ANYBODY:
        return None
    request.max_content_length = LONGEST_FORM
    if re.fullmatch(UPLOADS, request.path):
        request.max_content_length = request.max_form_memory_size = LONGEST_UPLOAD
    access.check_place()
    is_change = request.method == "POST"
    if who == GUEST:
        if is_change:
            access.check_origin()
        code = (request.view_args or {}).get("code", "")
        return _once("", the_store().access.setup(code, now()) is not None) if is_change else None
    researcher = access.identify()
    if researcher is None:
        return (answer_after_session() if is_change else None) or _challenge()
    g.researcher = researcher
    if is_change and not access.has_proof():
        return _of_another_session(researcher.name)
    if not route.is_for_setup and access.lacks_factor(researcher):
        if is_change or not is_page():
            raise access.FactorNeeded
        return redirect("/account/second-factor", 303)
    roles = _roles(who)
    if researcher.role not in roles:
        access.refuse(roles)
    _check_scope(route.scope, request.view_args or {})
    if is_change and route.repeats:
        note_repeated()
    return _once(researcher.name) if is_change and not route.repeats else None


def _once(who: str, is_known: bool = True) -> BaseResponse | None:
    """Return what to answer to a form that was sent before; None if it is to be acted on."""
    before = sent_before(who, is_known)
    if before is not None:
        session.modified = False  # the first answer may have begun another session
    return _told(before, 409) if isinstance(before, str) else before


def _of_another_session(who: str) -> BaseResponse:
    """Answer a form whose page is not of this session; it does nothing.

    It may be of an earlier session in the same browser, and have been sent before. Otherwise
    whoever sent it is asked whether to send it now. A browser says that it is from a page of ours:
    nobody is asked to send what another site made.
    """
    before = sent_by_session_before(who)
    if before is not None:
        return _told(before, 409) if isinstance(before, str) else before
    kept = kept_form(keeps_buttons=False)
    if kept is None or not is_page() or request.authorization is not None:
        raise Forbidden("This page is too old; please open it again.")
    return Response(render_template("resend.html", kept=kept), 403)


def _roles(who: str) -> Sequence[str]:
    """Return the roles that a row lets in, by what owners decided."""
    return LET_IN[OWNER if who == PILOT and not may_pilot() else who]


def may_pilot() -> bool:
    """Return whether not only owners put up pilots, which everybody can open."""
    return OWNERS_PILOT not in the_store().rules.all()


def _check_scope(scope: str, arguments: dict[str, str]) -> None:
    """Raise Missing if an address is about a study, and there is no such study here."""
    if scope == COLLECTOR:
        return
    store, survey_id = the_store(), arguments["survey_id"]
    has_draft = ID.fullmatch(survey_id) and store.drafts.get(survey_id) is not None
    if scope != DRAFT or not has_draft:
        asked_now(store, survey_id)


@blueprint.after_request
def allow_forms(response: Response) -> Response:
    return response if g.get("is_preview") else for_forms(response)


def _challenge() -> Response:
    if not request.path.startswith("/api/"):
        response = Response(login_page(request.path), 401)
    else:
        text = (
            "This address needs a research token, or the name and password of an account "
            "without a second factor.\n"
        )
        response = Response(text, 401, content_type="text/plain; charset=utf-8")
        response.headers.add("WWW-Authenticate", 'Basic realm="deniable"')
    response.headers.add("WWW-Authenticate", "Bearer")
    return response


def _told(told: str, status: int) -> Response:
    """Return an answer in words: a page with a way back if a browser asks for a page."""
    if g.get("researcher") is not None and is_page():
        # Nobody can go back to a survey that does not exist.
        survey_id = (request.view_args or {}).get("survey_id") if status != 404 else None
        return Response(render_template("refused.html", told=told, survey_id=survey_id), status)
    return told_alone(told, status)


def told_alone(told: str, status: int) -> Response:
    """Return an answer in words alone, as programs want it."""
    return Response(f"{told}\n", status, content_type="text/plain; charset=utf-8")


@blueprint.errorhandler(Mistake)
def mistaken(error: Mistake) -> Response:
    return told_alone(str(error), 422)


@blueprint.errorhandler(Withheld)
def withheld(error: Withheld) -> Response:
    return _told(str(error), 403)


@blueprint.errorhandler(Missing)
def missing(error: Missing) -> Response:
    return _told(str(error), 404)


@blueprint.errorhandler(StoreBusy)
def busy(_: StoreBusy) -> Response:
    response = _told("The database has been busy for too long; please try again.", 503)
    response.headers["Retry-After"] = "5"
    return response


@blueprint.errorhandler(StoreError)
def impossible(error: StoreError) -> Response:
    return _told(str(error), 409)


@blueprint.errorhandler(403)
@blueprint.errorhandler(409)
@blueprint.errorhandler(422)
@blueprint.errorhandler(429)
def impossible_here(error: HTTPException) -> Response:
    if not isinstance(error, TooManyRequests):
        return _told(str(error.description), error.code or 422)
    waits = signing_in.waits(error)
    response = Response(f"{waits}\n", 429, content_type="text/plain")
    if not request.path.startswith("/api/"):
        response = Response(login_page(request.form.get("target", "/surveys"), waits), 429)
    response.headers["Retry-After"] = str(error.retry_after)
    return response


def login_page(target: str, problem: str = "") -> str:
    """Return the page where people sign in, with what they had typed when a session was over."""
    kept = Kept.of(request.form.get("kept", "")) if request.path == "/login" else kept_form()
    return render_template("login.html", target=target, problem=problem, kept=kept)


@dataclass(frozen=True)
class View:
    """The view that the address of a page of results asks for."""

    wave: StoredWave
    level: float
    interval: str
    dots: bool
    #: The number of people of whom totals are shown; None for no totals.
    population: int | None = None

    @property
    def query(self) -> str:
        """The part of an address after ?, for the same numbers elsewhere."""
        chosen: dict[str, Any] = {"wave": self.wave.number, "version": self.wave.asked_version}
        if self.level != LEVELS[0]:
            chosen["level"] = f"{self.level:g}"
        if self.interval != INTERVALS[0]:
            chosen["interval"] = self.interval
        if self.population is not None:
            chosen["population"] = self.population
        return urlencode(chosen)


#: The usual confidence level, and others that a page offers.
LEVELS = (0.95, 0.5, 0.8, 0.9, 0.99)


def asked_view(survey_id: str, number: int | None = None) -> View:
    """Return what the address asks for; `number` is a wave instead of the one that it names."""
    interval = request.values.get("interval", INTERVALS[0])
    if interval not in INTERVALS:
        raise Missing(f"interval: expected one of {', '.join(INTERVALS)}, got {interval[:20]!a}")
    wave = asked_wave(survey_id, number)
    dots = request.values.get("picture") == "dots"
    return View(wave, asked_level(), interval, dots, _asked_population(wave))


def _asked_population(wave: StoredWave) -> int | None:
    """Return the size of the population that the address asks for; None if it asks for none."""
    given = request.values.get("population", "").strip()
    if not given or not wave.shown:
        return None
    number, least = whole_number(given), wave.n
    if number is None or not least <= number < 10**10:
        told = (
            f"population: expected a whole number of at least {least:,}, the number of reports, "
            f"got {given[:20]!a}"
        )
        if not is_page():
            raise Missing(told)
        note("population", told)
        return None
    return number


def asked_wave(survey_id: str, number: int | None = None) -> StoredWave:
    """Return the wave and version that the address asks for, in whole batches."""
    wave = request.values.get("wave") or None
    if wave is not None and not (wave.isascii() and wave.isdigit() and len(wave) < 8):
        raise Missing(f"wave: expected a whole number, got {wave[:20]!a}")
    if number is None and wave is not None:
        number = int(wave)
    version = request.values.get("version") or None
    return StoredWave(the_store(), survey_id, number, version, batch=True)


def asked_level() -> float:
    """Return the confidence level that the address asks for."""
    level = request.values.get("level", str(LEVELS[0]))
    if not re.fullmatch(r"0?\.[0-9]{1,4}", level) or float(level) < 0.01:
        raise Missing(f"level: expected a decimal from 0.01 to 0.9999, got {level[:20]!a}")
    return float(level)
