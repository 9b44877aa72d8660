"""A researcher's own account: its setup by a link, signing in, its password and second factor."""

import re
from collections.abc import Sequence
from typing import TypeVar

from flask import abort, g, redirect, render_template, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from server import access, addresses, passwords, second_factor, sessions, signing_in
from server.clock import now, stamp
from server.console.blueprint import blueprint, login_page, told_alone
from server.console.kept_form import Kept, kept_form
from server.console.mistakes import Mistake, again, is_page
from server.console.pressed_twice import pressed_once
from server.extensions import the_store

T = TypeVar("T")

#: The pages that people are sent to once they have signed in.
TARGET = (
    r"/(surveys|people|log|account|results/[a-z0-9-]{1,64}|surveys/[a-z0-9-]{1,64}(/[a-z]{1,16})?)"
)


def _chosen(name: str) -> str:
    """Return the password that somebody chose and typed twice; raise Mistake if it is unfit."""
    password = request.form.get("password", "")
    if told := passwords.unfit(password, name):
        raise Mistake("password", told)
    if request.form.get("again", "") != password:
        raise Mistake("again", "The same again: expected the same password, got a different one")
    return password


@blueprint.get("/setup/<code>")
def ask_to_set_up(code: str) -> str | tuple[str, int]:
    """Ask for a password first: programs that open links in mails send no form."""
    found = the_store().access.setup(code, now())
    page = render_template("setup.html", found=found, shortest=passwords.SHORTEST)
    return page, 200 if found else 404


@blueprint.post("/setup/<code>")
@again(ask_to_set_up)
def set_up(code: str) -> BaseResponse | str | tuple[str, int]:
    """Make the account with the password that was chosen; or with a random one, shown once."""
    store = the_store()
    found = store.access.setup(code, now())
    if found is None:
        return render_template("setup.html", found=None), 404
    is_chosen = "password" in request.form and request.form.get("do") != "make"
    password = _chosen(found.name) if is_chosen else passwords.new_password()
    secret = (passwords.hashed_choice if is_chosen else passwords.hashed)(password)
    store.log.add(stamp(), found.name, "set up account", f"{found.name}, {found.role}")
    # The link may have been used meanwhile, or the account removed.
    found = store.researchers.set_up(code, secret, now())
    if found is None:
        return render_template("setup.html", found=None), 404
    g.researcher = found
    if not is_chosen:
        return render_template("setup.html", found=found, password=password)
    return redirect("/surveys" if sessions.begin(found) else "/login", 303)


@blueprint.get("/login")
def login() -> str:
    return login_page("/surveys")


@blueprint.post("/login")
@pressed_once
def log_in() -> BaseResponse | str | tuple[str, int]:
    """Let somebody in, and show a form that they had sent when their session was over."""
    target, kept = request.form.get("target", ""), Kept.of(request.form.get("kept", ""))
    if not re.fullmatch(TARGET, target):
        target = "/surveys"
    name, password = request.form.get("name", ""), request.form.get("password", "")
    researcher = signing_in.sign_in(name, password, request.form.get("code", ""))
    if researcher is None or not sessions.begin(researcher):
        return login_page(target, "That name, password or code is not known here."), 401
    g.researcher = researcher
    access.record("log in", "")
    if kept is not None and access.lacks_factor(researcher):
        return _factor_page()
    if kept is not None:
        return render_template("resend.html", kept=kept)
    return redirect(target, 303)


@blueprint.post("/logout")
def log_out() -> BaseResponse:
    access.record("log out", "")
    sessions.end()
    return redirect("/login", 303)


@blueprint.get("/account")
def account() -> str:
    return _page()


def _page(is_changed: bool = False) -> str:
    return render_template(
        "account.html",
        has_account=g.researcher != signing_in.SERVER,
        is_changed=is_changed,
        shortest=passwords.SHORTEST,
        recovery_codes=the_store().factors.recovery_codes(g.researcher.name),
    )


@blueprint.post("/account")
@again(account)
def change_password() -> str:
    """Change one's password, which ends all other sessions of the account."""
    if g.researcher == signing_in.SERVER:
        abort(409, "This is the server's token, which has no password.")
    password = _chosen(g.researcher.name)
    _check_password_now()
    access.record("change password", g.researcher.name)
    secret = passwords.hashed_choice(password)
    sessions.begin(_unchanged(the_store().researchers.change_secret(g.researcher, secret)))
    return _page(is_changed=True)


def _unchanged(done: T | None) -> T:
    """Return what was done to an account, if it was; tell its sender to sign in again otherwise."""
    if not done:
        abort(409, "Your account was changed meanwhile, so nothing was done: sign in again.")
    return done


def _check_password_now() -> None:
    """Raise Mistake unless the form has the present password of whoever sends it."""
    try:
        known = signing_in.check_password(g.researcher.name, request.form.get("old", ""))
    except TooManyRequests as error:
        raise Mistake("old", signing_in.waits(error)) from None
    if known != g.researcher:
        raise Mistake("old", "Password now: expected your password, got another one")


def _check_code() -> None:
    """Raise Mistake unless the form has a code of the present second factor of its sender."""
    try:
        is_right = signing_in.is_right_code(g.researcher, request.form.get("code", ""))
    except TooManyRequests as error:
        raise Mistake("code", signing_in.waits(error)) from None
    if not is_right:
        raise Mistake("code", "Code: expected one that your app shows now and that was not used")


@blueprint.errorhandler(access.FactorNeeded)
def ask_to_set_up_factor(error: access.FactorNeeded) -> BaseResponse | tuple[str, int]:
    """Keep what was typed until there is a second factor."""
    return (_factor_page(), 403) if is_page() else told_alone(f"{error.description}", 403)


@blueprint.get("/account/second-factor")
def second_factor_page() -> str:
    return _factor_page()


def _factor_page(codes: Sequence[str] = ()) -> str:
    """Return the page; after a mistake with the same secret, which the app has already.

    A form that was sent when a session was over is kept until the second factor is there.
    """
    if g.researcher == signing_in.SERVER:
        abort(409, "This is the server's token, which has no second factor.")
    name, given = g.researcher.name, request.form.get("secret", "")
    secret = given if second_factor.is_secret(given) else second_factor.new_secret()
    address = second_factor.address_for_app(secret, name, request.host)
    return render_template(
        "second-factor.html",
        codes=codes,
        left=the_store().factors.recovery_codes(name),
        is_needed=access.lacks_factor(g.researcher),
        secret=secret,
        picture=addresses.qr_code(address, "QR code of the secret"),
        kept=Kept.of(request.form.get("kept", "")) or kept_form(),
    )


@blueprint.post("/account/second-factor")
@again(second_factor_page)
def change_second_factor() -> str | BaseResponse:
    """Turn the second factor of one's account on or off, or make new recovery codes."""
    store, name, wish = the_store(), g.researcher.name, request.form.get("do")
    if store.factors.has(name):
        if wish == "on":  # it was turned on in another tab
            return _factor_page()
        _check_code()
        if wish == "off":
            access.record("turn off second factor", name)
            _unchanged(store.factors.remove(g.researcher))
            return redirect("/account", 303)
        access.record("make recovery codes", name)
        codes = second_factor.new_recovery_codes()
        _unchanged(store.factors.put_codes(g.researcher, codes))
        return _factor_page(codes)
    secret, code = request.form.get("secret", ""), request.form.get("code", "")
    step = second_factor.step_of(secret, code, now()) if second_factor.is_secret(secret) else None
    if step is None:
        raise Mistake("code", "Code: expected the six digits that your app shows now")
    _check_password_now()
    access.record("turn on second factor", name)
    codes = second_factor.new_recovery_codes()
    sessions.begin(_unchanged(store.factors.add(g.researcher, secret, step, codes)))
    return _factor_page(codes)


@blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> BaseResponse:
    """End all sessions of whoever asks for it, in all browsers."""
    access.record("sign out everywhere", "")
    the_store().access.end_sessions_of(access.account_name())
    sessions.end()
    return redirect("/login", 303)
