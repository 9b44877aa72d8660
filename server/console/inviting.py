"""Invite people: make links, give them again in a session, replace one, and take them back."""

import csv
import hashlib
import io
from collections.abc import Callable

from flask import Response, abort, request

from server import access, addresses
from server.clock import now
from server.console.blueprint import blueprint
from server.console.fieldwork import fieldwork, fieldwork_page
from server.console.links import Links, secret_of_session
from server.console.mistakes import Mistake, again, is_page
from server.console.study import asked_number
from server.extensions import the_store
from server.intake.invitations import ISSUER
from server.store.surveys import Open
from server.stored_results import Missing, asked_now

#: The most links that are made at once.
MOST_LINKS = 100_000


@blueprint.post("/surveys/<survey_id>/invitations")
@again(fieldwork)
def invite(survey_id: str) -> Response | str:
    """Make links with which one person each can answer once, or give or exchange some."""
    acts: dict[str, Callable[[Open], Response | str]] = {"download": _download, "renew": _renew}
    return acts.get(request.form.get("do", ""), _make)(_by_invitation(survey_id))


def _make(current: Open) -> Response | str:
    """Make links; once some were made in a session, only a press that says so makes more."""
    address, links = _asked_address(), Links.following(current.survey.id, current.wave)
    if request.form.get("press", "0") != f"{links.number}":
        return fieldwork_page(current, is_again=True)
    links.make(asked_number("links", MOST_LINKS))
    return fieldwork_page(current) if is_page() else _file_of(links, address)


def _download(current: Open) -> Response:
    """Give links of this session as a file."""
    links, address = _chosen(current.survey.id), _asked_address()
    if links is None:
        abort(409, "These links were taken back, or the session that made them has ended.")
    access.record("download links", f"{links.survey}, wave {links.wave}, {links.made}")
    return _file_of(links, address)


def _renew(current: Open) -> str:
    """Make as many links as were made before, and take those back."""
    links = _chosen(current.survey.id)
    if links is None:
        return fieldwork_page(current, is_again=True)
    number, forms = links.made, the_store().sent_forms
    claim = hashlib.sha256(b"renew " + links.key).digest()
    if forms.begin(claim, now()) is not None:  # a second press, while the first is at work
        return fieldwork_page(current, is_again=True)
    try:
        Links.following(links.survey, links.wave).make(number)
        links.take_back()
    except BaseException:
        forms.forget(claim)
        raise
    forms.end(claim, f"{number}", now())
    return fieldwork_page(current, renewed=number)


def _chosen(survey_id: str) -> Links | None:
    """Return the links of this session that the form names, unless they were taken back."""
    wave, number = request.form.get("wave", ""), request.form.get("press", "")
    for links in Links.all_of_session(survey_id):
        if (f"{links.wave}", f"{links.number}") == (wave, number) and links.made:
            return links
    return None


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
        token = ISSUER.issue(secret_of_session(f"{survey_id} {key.hex()}")[:16])
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
    return fieldwork_page(current, link_is_known=new is not None, new_link=new, link_action=what)


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
