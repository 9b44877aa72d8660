"""The zip file of a bundle. The same members give the same bytes on every machine.

Members are stored without compression, whose result would depend on the version of its library. So
a bundle can be packed again from its members and compared byte by byte, and no small file can
unpack to a large one.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from hashlib import sha256

from analysis.core.errors import DataError, shown

#: The largest bundle, in bytes.
LARGEST = 1 << 30
#: The most members. A bundle has about twenty.
_MOST_MEMBERS = 100
#: The member that states the hashes of the others. The comment of the zip file has its own hash.
DESCRIPTION = "datapackage.json"

#: The errors that reading a damaged zip file can raise.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    OverflowError,
)


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return the zip file of these members, in the order of their names; one is `DESCRIPTION`.

    Raises
    ------
    DataError
        If it would have more than `LARGEST` bytes.
    """
    total = sum(map(len, members.values()))
    if total > LARGEST - 2**16:
        raise DataError(
            f"bundle: expected at most {LARGEST >> 20:,} MiB, got {total >> 20:,}; leave the "
            "reports out (--without-reports), and export them separately"
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(members.items()):
            # This is the earliest time that a zip file can state, and the same system and
            # permissions everywhere.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, content)
        archive.comment = _comment(members[DESCRIPTION])
    return file.getvalue()


def _comment(description: bytes) -> bytes:
    return f"SHA-256 of {DESCRIPTION}: {sha256(description).hexdigest()}".encode()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the members of a bundle, by their names.

    Raises
    ------
    DataError
        If the file is not a zip file as `pack` makes it. The message names the member at fault.
    """
    if len(data) > LARGEST:
        raise DataError(f"bundle: expected at most {LARGEST >> 20:,} MiB, got more")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise DataError(
            f"bundle: expected a zip file, got one that cannot be read: {error}"
        ) from None
    entries = archive.infolist()
    if len(entries) > _MOST_MEMBERS:
        raise DataError(f"bundle: expected at most {_MOST_MEMBERS} members, got {len(entries):,}")
    members: dict[str, bytes] = {}
    for entry in entries:
        name = entry.filename
        if not is_plain(name):
            raise DataError(f"bundle: expected plain names of members, got {shown(name)}")
        if name in members:
            raise DataError(f"{name}: expected one member of this name, got another")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise DataError(f"{name}: expected a member that is stored, got a compressed one")
        if sum(map(len, members.values())) + entry.file_size > len(data):
            raise DataError(f"{name}: expected a member within the file, got a larger one")
        try:
            members[name] = archive.read(entry)
        except _DAMAGED:
            raise DataError(f"{name}: expected what the zip states, got other bytes") from None
    return members


def is_plain(name: str) -> bool:
    """Return whether a member's name is that of a file in the same folder as the others."""
    letters = name.replace(".", "").replace("-", "").replace("_", "")
    return letters.isascii() and letters.isalnum() and ".." not in name and name[0] != "."


def check_description(data: bytes, members: Mapping[str, bytes]) -> None:
    """Raise DataError unless a bundle ends with the hash of its description."""
    if DESCRIPTION not in members:
        raise DataError(f"{DESCRIPTION}: expected a member of this name, got none")
    if not data.endswith(_comment(members[DESCRIPTION])):
        raise DataError(f"{DESCRIPTION}: expected the SHA-256 at the end of the zip, got another")


def check_container(data: bytes, members: Mapping[str, bytes]) -> None:
    """Raise DataError unless `data` is exactly what `pack` makes of its members."""
    again = pack(members)
    if data == again:
        return
    place = next(
        (at for at, pair in enumerate(zip(data, again, strict=False)) if pair[0] != pair[1]),
        min(len(data), len(again)),
    )
    archive = zipfile.ZipFile(io.BytesIO(again))
    before = [entry.filename for entry in archive.infolist() if entry.header_offset <= place]
    where = f"entry of {before[-1]}" if place < archive.start_dir else "directory"
    raise DataError(
        f"bundle: expected the bytes that its members make, got another at byte {place:,}, in the "
        f"zip's {where}"
    )
