"""What belongs to the application that answers the request at hand."""

from flask import current_app

from server.invitations import RateLimit
from server.store import Store
from server.writer import Writer


def the_store() -> Store:
    """Its database."""
    own: Store = current_app.extensions["store"]
    return own


def the_writer() -> Writer:
    """The thread that stores what this process takes in."""
    own: Writer = current_app.extensions["writer"]
    return own


def the_link_limit() -> RateLimit:
    """The limit on how many link queries this process answers."""
    limit: RateLimit = current_app.extensions["link_limit"]
    return limit
