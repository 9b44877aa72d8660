"""The store: the only folder with SQL. `schema` says what is kept, and so what cannot be."""

from server.store.copies import migrate
from server.store.file import StoreBusy
from server.store.invitations import Invitations
from server.store.locks import StoreError
from server.store.researchers import Researchers
from server.store.surveys import Open
from server.store.upkeep import Upkeep

__all__ = ["Open", "Store", "StoreBusy", "StoreError", "migrate"]


class Store(Upkeep, Invitations, Researchers):
    """All that a database can do: each part is a file beside this one."""
