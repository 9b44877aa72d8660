"""Fieldwork: open and close a study, hand out links, and see how far it has come."""

import csv
import hashlib
import hmac
import io
import re
from collections.abc import Callable
from dataclasses import dataclass

from flask import Response, abort, g, redirect, request
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
from server.console.sent import TOKEN, new_token
from server.console.study import asked_number, study_page
from server.console.surveys import shown_in
from server.editing.spending import up, waves_within
from server.extensions import the_store
from server.intake.invitations import ISSUER
from server.store import Store
from server.store.studies import DELETED
from server.store.surveys import Open
from server.stored_results import Missing, StoredWave, asked_now

#: The form of a token from which links are made, so that nobody can guess them.
_LONG_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
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


@dataclass(frozen=True)
class Links:
    """The links that a form makes. They follow from its token, which only its page has.

    So the server stores none of them, and the page can download them again.
    """

    form: str
    survey: str

    @property
    def key(self) -> bytes:
        """The name under which the store knows that this form made links."""
        return hashlib.sha256(f"links {self.survey} {self.form}".encode()).digest()

    def tokens(self, number: int) -> list[str]:
        """Return the tokens of so many links."""
        return [
            ISSUER.issue(
                hmac.digest(self.form.encode(), f"{self.survey} {place}".encode(), "sha256")[:16]
            )
            for place in range(number)
        ]

    def made(self, store: Store) -> tuple[int, int] | None:
        """Return for which wave this form made links, and how many; None if it has made none."""
        wave, _, number = (store.sent_forms.told(self.key) or "").partition(" ")
        return (int(wave), int(number)) if number else None

    def make(self, store: Store, wave: int, number: int) -> tuple[int, int]:
        """Make links for a wave, and return the wave and their number."""
        if not _LONG_TOKEN.fullmatch(self.form):
            raise Missing("form: expected the token of a form that this server made")
        if store.sent_forms.begin(self.key, now()) is None:
            access.record("invite", f"{self.survey}, wave {wave}, {number}")
            store.invitations.add(self.survey, wave, map(ISSUER.key, self.tokens(number)))
            store.sent_forms.end(self.key, f"{wave} {number}")
        made = self.made(store)
        if made is None:
            abort(409, "This form is being sent already.")
        return made


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
        code=qr_code(survey.id),
        unlike=unlike,
        is_deleted=study.state == DELETED,
        is_trial=study.is_trial,
        sees_results=sees_results,
        today=today(),
        **follow(f"/surveys/{survey.id}/live", state_of_fieldwork(survey.id), EVERY),
        **told,
    )


def qr_code(survey_id: str) -> Markup:
    """Return a QR code of where respondents open a survey."""
    return addresses.qr_code(address_of(survey_id), "QR code of the survey's address")


@blueprint.get("/surveys/<survey_id>/sheet")
def sheet(survey_id: str) -> str:
    current = asked_now(the_store(), survey_id)
    return study_page("sheet.html", current, address=address_of(survey_id), code=qr_code(survey_id))


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
    """Make links with which one person each can answer once; give them to whoever has the form.

    A form that is sent again makes no more of them. It can take back those that it made, and make
    new ones instead.
    """
    store, current = the_store(), _by_invitation(survey_id)
    links, wish = Links(request.form.get(TOKEN) or new_token(), survey_id), request.form.get("do")
    made, address = links.made(store), _asked_address()
    if made is not None and wish == "renew":
        access.record("revoke links", f"{survey_id}, wave {made[0]}, {made[1]}")
        for token in links.tokens(made[1]):
            store.invitations.revoke(survey_id, ISSUER.key(token))
        store.sent_forms.end(links.key, "")
        links = Links(new_token(), survey_id)
        made = links.make(store, current.wave, made[1])
        return _page(current, links=links, links_made=made, links_are_new=True)
    if made is not None and wish != "download":
        return _page(current, links=links, links_made=made, links_are_new=False)
    if made is None:
        if wish == "download" or store.sent_forms.told(links.key) is not None:
            abort(409, "The links of this form were taken back, or are made right now.")
        made = links.make(store, current.wave, asked_number("links", MOST_LINKS))
        if is_page():
            return _page(current, links=links, links_made=made, links_are_new=True)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("survey", "wave", "link"))
    rows.writerows(
        (survey_id, made[0], f"{address}/s/{survey_id}#{token}") for token in links.tokens(made[1])
    )
    response = Response(out.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{survey_id}-links.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@blueprint.post("/surveys/<survey_id>/invitations/replace")
@again(fieldwork)
def replace(survey_id: str) -> str:
    """Give a new link for a lost one; the page does not depend on whether that was used."""
    address = _asked_address()

    def exchange(key: bytes) -> str | None:
        token = ISSUER.issue()
        if the_store().invitations.replace(survey_id, key, ISSUER.key(token)):
            return f"{address}/s/{survey_id}#{token}"
        return None

    return _on_link(survey_id, "replace a link", exchange)


@blueprint.post("/surveys/<survey_id>/invitations/revoke")
def revoke(survey_id: str) -> str:
    """Take a link back; the page does not depend on whether it was used."""

    def take_back(key: bytes) -> str | None:
        return "" if the_store().invitations.revoke(survey_id, key) else None

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
