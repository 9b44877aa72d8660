"""The store, writer and rate limit of the application that answers the request at hand."""

from flask import current_app

from server.intake.invitations import RateLimit
from server.intake.writer import Writer
from server.store import Store


def the_store() -> Store:
    """Return the application's database."""
    store: Store = current_app.extensions["store"]
    return store


def the_writer() -> Writer:
    """Return the thread that stores the reports that this process receives."""
    writer: Writer = current_app.extensions["writer"]
    return writer


def the_link_limit() -> RateLimit:
    """Return the limit on how many link queries this process answers."""
    limit: RateLimit = current_app.extensions["link_limit"]
    return limit
