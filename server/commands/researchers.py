"""`deniable researcher`: manage the accounts of those who may see results."""

import re
from pathlib import Path

import click

from server.commands import database, form_of_table, print_table, record
from server.commands.private_file import hand_out, output_file
from server.store import Place, Store
from server.store.researchers import NAME, ROLES, Researcher


@click.group()
def researcher() -> None:
    """Manage the accounts of researchers, who may see results."""


@researcher.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(ROLES),
    help="What the account may do.  [analyst, or its present role]",
)
@output_file
@database
@form_of_table
def add(name: str, role: str | None, output: Path | None, db: Place, form: str) -> None:
    """Make an account, or give it a new password; print the password, or write it to a file.

    A second factor of the account is turned off, since it may have been lost.

    The command makes the password from 192 random bits, so that nobody can guess it. The database
    has only its hash, so the password cannot be printed again.
    """
    from server.passwords import hashed, new_password
    from server.stored_results import Missing

    if not re.fullmatch(NAME, name):
        raise Missing(f"name: expected at most 64 letters, digits, . _ @ and -, got {name[:70]!a}")
    store = Store(db)
    known = store.researchers.find(name)
    role = role or (known[0].role if known else "analyst")
    secret = new_password()
    row = {"name": name, "role": role, "password": secret}
    record(store, "add researcher", f"{name}, {role}")

    def put() -> None:
        store.researchers.put(Researcher(name, role), hashed(secret))
        store.close()

    hand_out([row], row, form, output, put)


@researcher.command()
@click.argument("name")
@database
def remove(name: str, db: Place) -> None:
    """Remove an account; its sessions end at once."""
    from server.stored_results import Missing

    store = Store(db)
    known = [account.name for account in store.researchers.all()]
    if name not in known:
        accounts = f"one of {', '.join(known)}" if known else "an account, but there is none"
        raise Missing(f"name: expected {accounts}, got {name[:70]!a}")
    record(store, "remove researcher", name)
    store.researchers.remove(name)
    store.close()


@researcher.command(name="list")
@database
@form_of_table
def list_(db: Place, form: str) -> None:
    """Print the accounts."""
    accounts = Store(db).researchers.all()
    rows = [{"name": account.name, "role": account.role} for account in accounts]
    print_table(rows, ("name", "role"), form)
