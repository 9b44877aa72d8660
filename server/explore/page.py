"""Serve `/explore`: a page of questions, and an address for each of them and each of its states."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import (
    Blueprint,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
)
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from server.explore.allowance import Allowance
from server.explore.fields import Wrong
from server.explore.sections import QUERIES, SECTIONS, Asked, Section
from server.headers import for_forms
from server.pages.cards import as_cards
from server.pages.respondents import message
from server.plan.page import render_part

blueprint = Blueprint("explore", __name__)

#: Answers that are kept, of some 20 kilobytes each.
_MOST = 300
#: The name of the playground's buttons.
PRESS = "press"
#: Seconds after which somebody who asked too often may ask again.
_AGAIN = 30


class Answers:
    """The answers of one process: those that were given before, and time for others."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance or Allowance()
        self._kept: OrderedDict[tuple[Any, ...], Markup | Wrong] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, asked: Asked) -> Markup | None:
        """Return the answer as HTML; None if it would take more time than is left.

        Raises
        ------
        Wrong
            If values do not go together.
        """
        answer = self._known(asked)
        if answer is None:
            usual = asked.section.read({})
            answer = self._allowance.compute(lambda: self._new(asked), asked.key == usual.key)
        if answer is None:
            return None
        if isinstance(answer, Wrong):
            raise answer
        return answer

    def _known(self, asked: Asked) -> Markup | Wrong | None:
        with self._lock:
            if asked.key in self._kept:
                self._kept.move_to_end(asked.key)
            return self._kept.get(asked.key)

    def _new(self, asked: Asked) -> Markup | Wrong:
        """Compute an answer, unless another thread has done so meanwhile."""
        answer = self._known(asked)
        if answer is None:
            answer = _made(asked)
            with self._lock:
                self._kept[asked.key] = answer
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return answer


def _made(asked: Asked) -> Markup | Wrong:
    try:
        part = asked.section.make(*asked.values)
    except Wrong as error:
        return error
    return as_cards(Markup(render_part(part)))


@dataclass(frozen=True)
class Shown:
    """A section as the page shows it: what was asked, and the answer, or why there is none."""

    asked: Asked
    answer: Markup | None
    problem: str
    #: The address of this state, and the fields of other sections that a form has to keep.
    address: str
    others: dict[str, str]


blueprint.after_request(for_forms)


@blueprint.get("/explore")
def explore() -> BaseResponse:
    return _page(SECTIONS)


@blueprint.get("/explore/<section_id>")
def explore_one(section_id: str) -> BaseResponse:
    """Show one question alone: what a citation names, and what the live page asks for."""
    chosen = [section for section in SECTIONS if section.id == section_id]
    return _page(chosen) if chosen else message("not-found", 404)


def _page(sections: Sequence[Section]) -> BaseResponse:
    given = request.args.to_dict()
    press = given.pop(PRESS, None)
    if press is not None:
        # A press leads to an address that can be cited.
        queries = given.get(QUERIES.name) or QUERIES.usual
        given[QUERIES.name] = QUERIES.pressed(queries, press)
        return redirect(f"{request.path}?{urlencode(given)}")
    asked = [section.read(given) for section in sections]
    changed = {name: text for one in asked for name, text in one.changed.items()}
    shown = [_shown(one, changed) for one in asked]
    page = render_template("explore.html", shown=shown, is_whole=len(sections) > 1, press=PRESS)
    response = make_response(page)
    if any(one.answer is None and not one.problem for one in shown):
        response.status_code = 503
        response.headers["Retry-After"] = str(_AGAIN)
    return response


def _shown(asked: Asked, changed: dict[str, str]) -> Shown:
    own = asked.changed
    query = f"?{urlencode(own)}" if own else ""
    answer, problem = None, ""
    try:
        answer = the_answers().get(asked)
    except Wrong as error:
        problem = str(error)
    names = {field.name for field in asked.section.fields}
    others = {name: text for name, text in changed.items() if name not in names}
    return Shown(asked, answer, problem, f"/explore/{asked.section.id}{query}", others)


def the_answers() -> Answers:
    """Return the answers of the application at hand."""
    answers: Answers = current_app.extensions["explore"]
    return answers
