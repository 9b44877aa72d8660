"""Encrypt and decrypt files by the program `age` (https://age-encryption.org).

The content to encrypt goes through a pipe, so that none of it is on the disk in the clear.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from server.store import StoreError
from server.store.disk import flush_to_disk

_HEADER = b"age-encryption.org/"
_PRIVATE = re.compile(r"^AGE-(SECRET-KEY|PLUGIN)-|PRIVATE KEY-----", re.M)


def check(recipients: Path) -> None:
    """Raise StoreError unless the program exists, and the file has public keys alone."""
    _program()
    try:
        text = recipients.read_text("utf-8")
    except FileNotFoundError:
        raise StoreError(
            f"{recipients}: no such file; expected public keys of age: run age-keygen on another "
            "machine, and copy the line that begins with age1 into this file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{recipients}: expected public keys of age: {error}") from None
    if _PRIVATE.search(text):
        raise StoreError(
            f"{recipients}: expected public keys, got a private one: whoever gets this machine "
            "could read all backups with it. Move it away, and leave the line that begins with age1"
        )


def _program() -> str:
    program = shutil.which("age")
    if program is None:
        raise StoreError("expected the program age, found none; on Debian: apt-get install age")
    return program


def encrypt(
    plain: bytes, recipients: Path, target: Path, note: Callable[[], None] = lambda: None
) -> None:
    """Encrypt for all of the recipients, to a new file, completely or not at all.

    `note` is called once the file is on the disk, and before it has its name.

    Raises
    ------
    StoreError
        If the file exists or cannot be written, or if the keys are not valid.
    """
    check(recipients)
    if os.path.lexists(target):
        raise StoreError(f"{target}: expected a new file, got one that exists")
    try:
        descriptor, name = tempfile.mkstemp(".part", f".{target.name}.", target.absolute().parent)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error}") from None
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _run(["--encrypt", "--recipients-file", str(recipients)], file.fileno(), target, plain)
        flush_to_disk(part)
        note()
        os.link(part, target)
        flush_to_disk(target.absolute().parent)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)


def is_encrypted(path: Path) -> bool:
    """Return whether there is a file that age has encrypted."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


@contextmanager
def readable(source: Path, identity: str | None, folder: Path) -> Iterator[Path]:
    """Yield a readable file: the source, or its decrypted content in an empty private folder.

    `identity` is the file of the private key, or ``-`` if that comes on stdin.
    """
    if not is_encrypted(source):
        if identity is not None and source.is_file():
            raise StoreError(f"{source}: expected a file encrypted with age, got another file")
        yield source
        return
    if identity is None:
        raise StoreError(f"{source}: is encrypted; expected --identity and the private key's file")
    plain = folder / "decrypted.db"
    with open(os.open(plain, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        _run(["--decrypt", "--identity", identity, str(source)], file.fileno(), source)
    yield plain
    plain.unlink()


def _run(words: list[str], output: int, about: Path, given: bytes | None = None) -> None:
    """Run the program, with stdin as it is or a text; raise StoreError with what it says."""
    done = subprocess.run(
        [_program(), *words],
        input=given,
        stdout=output,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise StoreError(f"{about}: age has failed: {said[0].removeprefix('age: error: ')}")
