"""A researcher's own account: its setup by a link, its password, second factor and sessions."""

from collections.abc import Sequence

from flask import abort, g, redirect, render_template, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from server import access, addresses, second_factor
from server.clock import now
from server.console.blueprint import blueprint
from server.console.mistakes import Mistake, again
from server.extensions import the_store


def _chosen(name: str) -> str:
    """Return the password that somebody chose and typed twice; raise Mistake if it is unfit."""
    password = request.form.get("password", "")
    if told := access.unfit(password, name):
        raise Mistake("password", told)
    if request.form.get("again", "") != password:
        raise Mistake("again", "The same again: expected the same password, got a different one")
    return password


@blueprint.get("/setup/<code>")
def ask_to_set_up(code: str) -> str | tuple[str, int]:
    """Ask for a password first: programs that open links in mails send no form."""
    found = the_store().access.setup(code, now())
    page = render_template("setup.html", found=found, shortest=access.SHORTEST)
    return page, 200 if found else 404


@blueprint.post("/setup/<code>")
@again(ask_to_set_up)
def set_up(code: str) -> BaseResponse | str | tuple[str, int]:
    """Make the account with the password that was chosen; or with a random one, shown once."""
    found = the_store().access.setup(code, now())
    is_chosen = "password" in request.form and request.form.get("do") != "make"
    password = _chosen(found.name) if found and is_chosen else access.new_password()
    found = the_store().access.use_setup(code, now())
    if found is None:
        return render_template("setup.html", found=None), 404
    g.researcher = found
    access.record("set up account", f"{found.name}, {found.role}")
    if not is_chosen:
        the_store().researchers.put(found, access.hashed(password))
        return render_template("setup.html", found=found, password=password)
    the_store().researchers.put(found, access.hashed_choice(password))
    access.begin_session(found)
    return redirect("/surveys", 303)


@blueprint.get("/account")
def account() -> str:
    return _page()


def _page(is_changed: bool = False) -> str:
    return render_template(
        "account.html",
        has_account=g.researcher != access.SERVER,
        is_changed=is_changed,
        shortest=access.SHORTEST,
        recovery_codes=the_store().factors.recovery_codes(g.researcher.name),
    )


@blueprint.post("/account")
@again(account)
def change_password() -> str:
    """Change one's password, which ends all other sessions of the account."""
    if g.researcher == access.SERVER:
        abort(409, "This is the server's token, which has no password.")
    password = _chosen(g.researcher.name)
    _check_password_now()
    access.record("change password", g.researcher.name)
    the_store().researchers.put(g.researcher, access.hashed_choice(password), keeps_factor=True)
    access.begin_session(g.researcher)
    return _page(is_changed=True)


def _check_password_now() -> None:
    """Raise Mistake unless the form has the present password of whoever sends it."""
    try:
        known = access.check_password(g.researcher.name, request.form.get("old", ""))
    except TooManyRequests as error:
        raise Mistake("old", access.waits(error)) from None
    if known != g.researcher:
        raise Mistake("old", "Password now: expected your password, got another one")


def _check_code() -> None:
    """Raise Mistake unless the form has a code of the present second factor of its sender."""
    try:
        is_right = access.is_right_code(g.researcher, request.form.get("code", ""))
    except TooManyRequests as error:
        raise Mistake("code", access.waits(error)) from None
    if not is_right:
        raise Mistake("code", "Code: expected one that your app shows now and that was not used")


@blueprint.get("/account/second-factor")
def second_factor_page() -> str:
    return _factor_page()


def _factor_page(codes: Sequence[str] = ()) -> str:
    """Return the page; after a mistake with the same secret, which the app has already."""
    if g.researcher == access.SERVER:
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
            store.factors.remove(name)
            return redirect("/account", 303)
        access.record("make recovery codes", name)
        codes = second_factor.new_recovery_codes()
        store.factors.put_codes(name, codes)
        return _factor_page(codes)
    secret, code = request.form.get("secret", ""), request.form.get("code", "")
    step = second_factor.step_of(secret, code, now()) if second_factor.is_secret(secret) else None
    if step is None:
        raise Mistake("code", "Code: expected the six digits that your app shows now")
    _check_password_now()
    access.record("turn on second factor", name)
    codes = second_factor.new_recovery_codes()
    store.factors.add(name, secret, step, codes)
    store.access.end_sessions_of(name)
    access.begin_session(g.researcher)
    return _factor_page(codes)


@blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> BaseResponse:
    """End all sessions of whoever asks for it, in all browsers."""
    access.record("sign out everywhere", "")
    the_store().access.end_sessions_of(access.account_name())
    access.end_session()
    return redirect("/login", 303)
