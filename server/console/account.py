"""A researcher's own account: its setup by a link, its password and its sessions."""

from flask import abort, g, redirect, render_template, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from server import access
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
    )


@blueprint.post("/account")
@again(account)
def change_password() -> str:
    """Change one's password, which ends all other sessions of the account."""
    if g.researcher == access.SERVER:
        abort(409, "This is the server's token, which has no password.")
    password = _chosen(g.researcher.name)
    try:
        known = access.check_password(g.researcher.name, request.form.get("old", ""))
    except TooManyRequests as error:
        told = f"Too many attempts. The next one can be made in {error.retry_after} s."
        raise Mistake("old", told) from None
    if known != g.researcher:
        raise Mistake("old", "Password now: expected your password, got another one")
    access.record("change password", g.researcher.name)
    the_store().researchers.put(g.researcher, access.hashed_choice(password))
    access.begin_session(g.researcher)
    return _page(is_changed=True)


@blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> BaseResponse:
    """End all sessions of whoever asks for it, in all browsers."""
    access.record("sign out everywhere", "")
    the_store().access.end_sessions_of(access.account_name())
    access.end_session()
    return redirect("/login", 303)
