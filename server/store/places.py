"""Where a database is: the path of a file, or the address of a PostgreSQL server."""

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from server.store.errors import StoreError

#: How an address begins, and what it must look like.
_SCHEMES = ("postgresql:", "postgres:")
_EXPECTED = (
    "expected postgresql://USER@HOST/DATABASE, with %XX for special characters of a password; "
    "better, keep the password in ~/.pgpass"
)


@dataclass(frozen=True)
class Address:
    """The address of a PostgreSQL database; as a string it has no password.

    Raises
    ------
    StoreError
        If it is no such address. The message repeats nothing of it, since that may be a password.
    """

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.text)
        except ValueError:
            raise StoreError(f"the address of the database: {_EXPECTED}") from None
        rest = parts.path + parts.query + parts.fragment
        is_whole = self.text.startswith(tuple(f"{scheme}//" for scheme in _SCHEMES))
        strays = "@" in rest or parts.netloc.count("@") > 1
        if not is_whole or strays or parts.fragment or not re.fullmatch("/[^/]+", parts.path):
            raise StoreError(f"the address of the database: {_EXPECTED}")

    def __str__(self) -> str:
        parts = urlsplit(self.text)
        user, at, host = parts.netloc.rpartition("@")
        more = [(key, one) for key, one in parse_qsl(parts.query) if "password" not in key.lower()]
        query = f"?{urlencode(more, safe='/')}" if more else ""
        return f"postgresql://{user.partition(':')[0]}{at}{host}{parts.path}{query}"

    def absolute(self) -> "Address":
        """Return this address: it means the same in every folder, as an absolute path does."""
        return self

    @property
    def parent(self) -> Path:
        """Return the folder for temporary files of commands, as the path of a file does."""
        return Path.cwd()

    def exists(self) -> bool:
        """Return whether there is a database of ours."""
        from server.store.postgres.database import is_ours  # which needs psycopg

        return is_ours(self)


Place = Path | Address


def place_of(text: str) -> Place:
    """Return the place that a text names.

    Raises
    ------
    StoreError
        If it is no proper address, or what PostgreSQL needs is not installed.
    """
    if not text.startswith(_SCHEMES):
        # A text that is no path may hold a password, so no message may repeat it.
        if "://" in text or re.search(r"password\s*=", text, re.IGNORECASE):
            raise StoreError(f"the address of the database: {_EXPECTED}")
        return Path(text)
    address = Address(text)
    if find_spec("psycopg") is None:
        raise StoreError("a PostgreSQL database needs psycopg: pip install 'deniable[postgres]'")
    return address
