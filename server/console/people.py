"""Researchers' accounts, and the log of what they did."""

import re
import secrets

from flask import abort, g, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from server import access, addresses
from server.clock import now
from server.console.blueprint import blueprint
from server.console.mistakes import note
from server.extensions import the_store
from server.store.researchers import NAME, ROLES, Researcher
from server.store.rules import RULES

#: Seconds for which a link to set up an account is valid.
SETUP_LASTS = 7 * 24 * 3600
#: The number of lines of the log on a page.
LINES = 200


@blueprint.get("/people")
def people() -> str:
    return _page()


def _page(**told: object) -> str:
    store = the_store()
    people, invited = store.researchers.all(), store.access.setups(now())
    # Whoever has the server's token needs an account of an owner first.
    told = {"typed": "", "chosen": "analyst" if people else "owner"} | told
    return render_template(
        "people.html",
        people=people,
        factors=store.factors.all(),
        waiting=invited,
        roles=ROLES,
        rules={rule: rule in store.rules.all() for rule in RULES},
        **told,
    )


@blueprint.post("/people")
def add_person() -> str:
    """Make a link with which somebody sets up an account once."""
    name, role = request.form.get("name", "").strip(), request.form.get("role", "")
    if not re.fullmatch(NAME, name) or role not in ROLES:
        problem = "A name has 1 to 64 letters, digits, dots, hyphens, underscores or @; no spaces."
        note("name", problem)
        return _page(typed=name, chosen=role)
    code = secrets.token_urlsafe(24)
    access.record("invite researcher", f"{name}, {role}")
    the_store().access.add_setup(code, Researcher(name, role), now() + SETUP_LASTS)
    return _page(link=f"{addresses.of_researchers()}/setup/{code}", invited=name)


@blueprint.post("/people/rules")
def make_rules() -> BaseResponse:
    """Let the rules hold that are ticked, and no others."""
    chosen = [rule for rule in RULES if rule in request.form.getlist("rule")]
    access.record("make rules", ", ".join(chosen) or "none")
    the_store().rules.put(chosen)
    return redirect("/people#rules", 303)


@blueprint.post("/people/<name>/remove")
def remove_person(name: str) -> BaseResponse:
    """Remove an account, its sessions and links to set it up; nobody can remove their own."""
    store = the_store()
    if name == g.researcher.name:
        abort(409, "You cannot remove yourself; another owner can.")
    invited = {one.name for one in store.access.setups(now())}
    if store.researchers.find(name) is None and name not in invited:
        abort(404)
    access.record("remove researcher", name)
    store.researchers.remove(name)
    return redirect("/people", 303)


@blueprint.get("/log")
def log() -> str:
    """Show the log, the last line first, and whether its chain is whole."""
    entries = list(the_store().log.entries())
    given = request.args.get("page", "1")
    page = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 1
    pages = max(1, -(-len(entries) // LINES))
    page = min(max(page, 1), pages)
    shown = entries[::-1][(page - 1) * LINES : page * LINES]
    return render_template(
        "log.html",
        entries=shown,
        page=page,
        pages=pages,
        is_whole=the_store().log.is_whole(),
        last=entries[-1].hash if entries else "",
    )
