"""The Flask application: all that is served."""

import os
import secrets
from pathlib import Path
from typing import Any

from flask import Flask

from analysis.privacy.meaning import rounded_up
from server import clock, console, explore, failures, headers, health, openapi, sessions
from server.console import public
from server.explore.page import Answers
from server.intake import requests
from server.intake.invitations import RateLimit
from server.intake.writer import Writer
from server.pages import respondents
from server.pages.browser_files import CLIENT, STATIC, client_files
from server.pages.cards import as_cards
from server.pages.rendering import Pages
from server.store import Store
from server.store.places import place_of


class Collector(Flask):
    """Flask, except that errors are logged without time, address, values or messages."""

    def log_exception(self, exc_info: Any) -> None:
        failures.log(exc_info[1])


#: Whom an application can serve: respondents, researchers, or both.
PLANES = ("public", "research")


def create_app(config: dict[str, Any] | None = None) -> Flask:
    """Return the application.

    Parameters
    ----------
    config : dict, optional
        ``DATABASE``, the place of the store, by default from the environment variable
        ``DENIABLE_DB``; ``PLANES``, a list of what to serve, by default from ``DENIABLE_PLANES``,
        otherwise all; ``CLIENT``, the folder of the modules to serve; ``SECRET_KEY``, which signs
        researchers' sessions, by default from ``DENIABLE_KEY``, otherwise random; ``URL`` and
        ``RESEARCH_URL``, the addresses of respondents' and researchers' pages, by default from
        ``DENIABLE_URL`` and ``DENIABLE_RESEARCH_URL``, otherwise those of each request.
    """
    app = Collector(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # questions stay in their order
    app.config.update(
        CLIENT=CLIENT,
        PROVIDE_AUTOMATIC_OPTIONS=False,
        PLANES=os.environ.get("DENIABLE_PLANES", ",".join(PLANES)).split(","),
        SECRET_KEY=os.environ.get("DENIABLE_KEY") or secrets.token_hex(32),
        URL=os.environ.get("DENIABLE_URL", ""),
        RESEARCH_URL=os.environ.get("DENIABLE_RESEARCH_URL", ""),
        **sessions.COOKIE,
    )
    app.url_map.merge_slashes = False  # else redirects name the host a request claims
    app.session_interface = sessions.Sessions()
    app.config.update(config or {"DATABASE": place_of(os.environ["DENIABLE_DB"])})
    app.extensions["pages"] = Pages(client_files(Path(app.config["CLIENT"])))
    app.before_request(console.let_in)
    app.add_template_filter(as_cards)
    app.add_template_filter(rounded_up)
    app.jinja_env.globals.update(program=headers.program, frame=headers.frame)
    app.extensions["static"] = client_files(STATIC)
    app.extensions["page_cache"] = {}
    app.extensions["public_cache"] = {}
    app.extensions["explore"] = Answers()
    store = Store(app.config["DATABASE"])
    app.extensions["store"] = store
    app.extensions["writer"] = Writer(store, clock.today)
    app.extensions["link_limit"] = RateLimit()
    for blueprint in (respondents.blueprint, health.blueprint, explore.blueprint):
        app.register_blueprint(blueprint)
    if "public" in app.config["PLANES"]:
        app.register_blueprint(respondents.survey_blueprint)
        app.register_blueprint(requests.blueprint)
        app.register_blueprint(openapi.blueprint)
        app.register_blueprint(public.blueprint)
    if "research" in app.config["PLANES"]:
        app.register_blueprint(console.blueprint)
    app.wsgi_app = headers.added(app.wsgi_app)  # type: ignore[assignment, method-assign]
    return app
