"""Fieldwork: open and close a study, hand out links, and see how far it has come."""

import csv
import hashlib
import hmac
import io
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import Response, abort, current_app, g, redirect, request, session
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.epsilon import MICRO
from analysis.estimate.plausibility import UNLIKE
from server import access, addresses
from server.clock import now, today
from server.console.blueprint import blueprint
from server.console.costs import USUAL
from server.console.live import EVERY, follow, state_of_fieldwork, told_of_wave
from server.console.mistakes import Mistake, again, is_page
from server.console.precision import precision
from server.console.study import asked_number, study_page
from server.console.surveys import shown_in
from server.editing.spending import up, waves_within
from server.extensions import the_store
from server.intake.invitations import ISSUER
from server.store.studies import DELETED
from server.store.surveys import Open
from server.stored_results import Missing, StoredWave, asked_now

#: The most links that are made at once.
MOST_LINKS = 100_000
#: The most respondents that can be planned.
MOST_PLANNED = 10_000_000
#: Precision is shown for these multiples of the planned respondents.
TIMES = (1, 2, 5, 10)


@dataclass(frozen=True)
class Invited:
    """A wave's invitations: how many there are, and how many answers of it are shown."""

    wave: int
    invited: int
    shown: int


def _of_session(name: str) -> bytes:
    """Return a secret that only this session and the server's key make; a random one without."""
    if "token" not in session:
        return secrets.token_bytes(32)
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, f"{session['token']} {name}".encode(), "sha256")


@dataclass(frozen=True)
class Links:
    """Links that are made by one press of a button.

    They follow from a secret that only a session and the server's key make. So the server stores
    none of them, and whoever made them can download them again until the session ends.
    """

    secret: bytes
    survey: str
    wave: int
    number: int

    @classmethod
    def of_press(cls, survey: str, wave: int, number: int) -> "Links":
        """Return those of a press in this session, counted from 0; a program has no session."""
        return cls(_of_session(f"{survey} {wave} {number}"), survey, wave, number)

    @classmethod
    def of_session(cls, survey: str, wave: int) -> "list[Links]":
        """Return those of all presses in this session so far."""
        found = list[Links]()
        while "token" in session:
            links = cls.of_press(survey, wave, len(found))
            if the_store().sent_forms.told(links.key) is None:
                break
            found.append(links)
        return found

    @property
    def key(self) -> bytes:
        """The name under which the store knows that they were made."""
        return hashlib.sha256(b"links " + self.secret).digest()

    def tokens(self, number: int) -> Iterator[str]:
        """Yield the tokens of so many links."""
        for place in range(number):
            yield ISSUER.issue(hmac.digest(self.secret, b"%d" % place, "sha256")[:16])

    @property
    def made(self) -> int:
        """How many of them were made and not taken back."""
        return int(the_store().sent_forms.told(self.key) or 0)

    def make(self, number: int) -> None:
        """Make links, unless that was done, or is done right now."""
        store = the_store()
        if store.sent_forms.begin(self.key, now()) is not None:
            return
        try:
            access.record("invite", f"{self.survey}, wave {self.wave}, {number}")
            store.invitations.add(self.survey, self.wave, map(ISSUER.key, self.tokens(number)))
            store.sent_forms.end(self.key, f"{number}")
        except BaseException:
            store.sent_forms.forget(self.key)
            raise

    def take_back(self) -> None:
        """Take them back, used or not, so that none can be used any more."""
        store, made = the_store(), self.made
        access.record("revoke links", f"{self.survey}, wave {self.wave}, {made}")
        keys = [ISSUER.key(token) for token in self.tokens(made)]
        store.invitations.revoke(self.survey, keys)
        store.sent_forms.end(self.key, "")


def address_of(survey_id: str) -> str:
    """Return where respondents open a survey."""
    return f"{addresses.of_respondents()}/s/{survey_id}"


@blueprint.get("/surveys/<survey_id>")
def fieldwork(survey_id: str) -> str:
    return _page(asked_now(the_store(), survey_id))


def _page(current: Open, **told: object) -> str:
    store, survey = the_store(), current.survey
    waves = store.surveys.waves(survey.id)
    sees_results = g.researcher.role in ("owner", "analyst")
    invited = [
        Invited(wave, n, shown_in(survey.id, wave))
        for wave, (n, _) in store.invitations.counts(survey.id).items()
    ]
    last, unlike = None, []
    if sees_results and waves:
        last = StoredWave(store, survey.id, current.wave, batch=True)
        if last.shown:
            unlike = [one for one in last.plausibility() if one.looks == UNLIKE]
    every = _waves_of_links(survey.id) if survey.access != "open" else []
    pressed = {wave: Links.of_session(survey.id, wave) for wave in every}
    study = store.studies.get(survey.id)
    planned = study.planned or USUAL
    return study_page(
        "fieldwork.html",
        current,
        waves=waves,
        progress={wave: shown_in(survey.id, wave) for wave in waves},
        told=told_of_wave,
        last=last,
        planned=planned,
        allowed=waves_within(survey, survey.cap),
        cap=up(survey.cap / MICRO),
        numbers=[planned * times for times in TIMES],
        precision=precision(survey, [planned * times for times in TIMES], last),
        invited=invited,
        address=address_of(survey.id),
        origin=addresses.of_respondents(),
        code=code_of(survey.id),
        unlike=unlike,
        pressed=[links for found in pressed.values() for links in found if links.made],
        next_press=len(pressed.get(current.wave, ())),
        is_deleted=study.state == DELETED,
        is_trial=study.is_trial,
        sees_results=sees_results,
        today=today(),
        **follow(f"/surveys/{survey.id}/live", state_of_fieldwork(survey.id), EVERY),
        **told,
    )


def code_of(survey_id: str) -> Markup:
    """Return a QR code of where respondents open a survey."""
    return addresses.qr_code(address_of(survey_id), "QR code of the survey's address")


@blueprint.get("/surveys/<survey_id>/sheet")
def sheet(survey_id: str) -> str:
    current = asked_now(the_store(), survey_id)
    return study_page("sheet.html", current, address=address_of(survey_id), code=code_of(survey_id))


@blueprint.post("/surveys/<survey_id>/open")
@again(fieldwork)
def open_wave(survey_id: str) -> BaseResponse:
    """Open a wave, and close the others: the last one again, or one more."""
    store = the_store()
    current = asked_now(store, survey_id)
    if store.studies.get(survey_id).is_trial:
        abort(409, "This is a trial copy: nobody can answer it.")
    if current.survey.is_over(today()):
        abort(409, "The survey's last day is over. Upload it again with a later last day.")
    last, is_next = max(store.surveys.waves(survey_id), default=1), "wave" in request.form
    wave = last + 1 if is_next else last
    if is_next and request.form.get("sure") != str(wave):
        raise Mistake("sure-wave", f"Wave {wave} was not started: please tick the box to confirm.")
    access.record("open", f"{survey_id}, wave {wave}")
    store.surveys.open_wave(survey_id, wave, alone=True)
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/close")
@blueprint.post("/results/<survey_id>/close")
def close(survey_id: str) -> BaseResponse:
    """Take no more reports."""
    access.record("close", f"{survey_id}, all waves")
    the_store().surveys.close_waves(survey_id)  # the server writes the file anew within a minute
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/planned")
@again(fieldwork)
def plan(survey_id: str) -> BaseResponse:
    """Note how many respondents are planned."""
    respondents = asked_number("respondents", MOST_PLANNED)
    access.record("plan", f"{survey_id}, {respondents} respondents")
    the_store().studies.plan(survey_id, respondents)
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/<any(archive, unarchive):what>")
def archive(survey_id: str, what: str) -> BaseResponse:
    """Put a survey away, or list it again."""
    access.record(what, survey_id)
    the_store().studies.archive(survey_id, what == "archive")
    return redirect("/surveys" if what == "archive" else f"/surveys/{survey_id}", 303)


@blueprint.post("/surveys/<survey_id>/delete")
@again(fieldwork)
def delete(survey_id: str) -> BaseResponse:
    """Delete all that respondents sent, if the survey's id was typed and no wave is open."""
    store = the_store()
    if request.form.get("sure", "").strip() != survey_id:
        raise Mistake("sure", f"To delete everything, type {survey_id}.")
    if store.surveys.open_waves(survey_id):
        abort(409, "The survey is open. Close it first.")
    access.record("delete", f"{survey_id}: all reports, results, invitations and charges")
    store.studies.delete(survey_id)
    return redirect("/surveys", 303)


@blueprint.post("/surveys/<survey_id>/invitations")
@again(fieldwork)
def invite(survey_id: str) -> Response | str:
    """Make links with which one person each can answer once, or give those of this session.

    Once links were made in a session, only a press that says so makes more of them.
    """
    current = _by_invitation(survey_id)
    wish, address = request.form.get("do", ""), _asked_address()
    following = Links.of_press(
        survey_id, current.wave, len(Links.of_session(survey_id, current.wave))
    )
    named = request.form.get("press", "0")
    if wish in ("download", "renew"):
        chosen = _chosen_links(survey_id, request.form.get("wave", ""), named)
        if chosen is None and wish == "download":
            abort(409, "These links were taken back, or the session that made them has ended.")
        if chosen is not None and wish == "download":
            access.record("download links", f"{survey_id}, wave {chosen.wave}, {chosen.made}")
            return _file_of(chosen, address)
        if chosen is not None:
            number = chosen.made
            chosen.take_back()
            replace_with = Links.of_press(
                survey_id, chosen.wave, len(Links.of_session(survey_id, chosen.wave))
            )
            replace_with.make(number)
            return _page(current, renewed=number)
    elif named == f"{following.number}":
        following.make(asked_number("links", MOST_LINKS))
    elif is_page():
        return _page(current, is_again=True)
    return _page(current) if is_page() else _file_of(following, address)


def _chosen_links(survey_id: str, wave: str, number: str) -> Links | None:
    """Return the links of this session that a form names, unless they were taken back."""
    waves = [one for one in _waves_of_links(survey_id) if f"{one}" == wave]
    every = [links for one in waves for links in Links.of_session(survey_id, one)]
    return next((links for links in every if f"{links.number}" == number and links.made), None)


def _waves_of_links(survey_id: str) -> list[int]:
    """Return the waves for which links can have been made."""
    return list(the_store().surveys.waves(survey_id)) or [1]


def _file_of(links: Links, address: str) -> Response:
    """Return links as a file, without those that were taken back one by one or replaced."""
    known = the_store().invitations.known(links.survey)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("survey", "wave", "link"))
    rows.writerows(
        (links.survey, links.wave, f"{address}/s/{links.survey}#{token}")
        for token in links.tokens(links.made)
        if ISSUER.key(token) in known
    )
    response = Response(out.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{links.survey}-links.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@blueprint.post("/surveys/<survey_id>/invitations/replace")
@again(fieldwork)
def replace(survey_id: str) -> str:
    """Give a new link for a lost one; the page does not depend on whether that was used.

    It follows from the session and the lost one, so the same form gives the same link again.
    """
    address = _asked_address()

    def exchange(key: bytes) -> str | None:
        token = ISSUER.issue(_of_session(f"{survey_id} {key.hex()}")[:16])
        if the_store().invitations.replace(survey_id, key, ISSUER.key(token)):
            return f"{address}/s/{survey_id}#{token}"
        return None

    return _on_link(survey_id, "replace a link", exchange)


@blueprint.post("/surveys/<survey_id>/invitations/revoke")
def revoke(survey_id: str) -> str:
    """Take a link back; the page does not depend on whether it was used."""

    def take_back(key: bytes) -> str | None:
        return "" if the_store().invitations.revoke(survey_id, [key]) else None

    return _on_link(survey_id, "revoke a link", take_back)


def _on_link(survey_id: str, what: str, act: Callable[[bytes], str | None]) -> str:
    """Do something with the link that was pasted, and show what came of it."""
    current = _by_invitation(survey_id)
    token = request.form.get("link", "").strip().rpartition("#")[2]
    access.record(what, survey_id)
    new = act(ISSUER.key(token)) if token else None
    return _page(current, link_is_known=new is not None, new_link=new, link_action=what)


def _by_invitation(survey_id: str) -> Open:
    current = asked_now(the_store(), survey_id)
    if current.survey.access == "open":
        raise Missing(
            f'{survey_id}: expected access = "invited" or "panel" in the survey file, got "open"'
        )
    return current


def _asked_address() -> str:
    """Return the address that links begin with, such as https://survey.example.org."""
    try:
        return addresses.checked(request.form.get("address", "") or addresses.of_respondents())
    except ValueError as error:
        raise Mistake("address", f"address: {error}") from None


def _back(survey_id: str) -> BaseResponse:
    return redirect(f"/surveys/{survey_id}", 303)
