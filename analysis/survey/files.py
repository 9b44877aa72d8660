"""The only module that opens a user's files. It opens regular files only, and never waits.

A survey file names other files, and somebody other than its author may publish it. So the named
files must lie in its own folder, and must not be devices or pipes.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

#: The largest survey file, design file and file of candidates, in bytes. 20,000 candidates of 200
#: letters fit in.
LARGEST_FILE = 4 << 20

# Opening a pipe without a writer would otherwise block.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises
    ------
    OSError
        If there is no such file, if it may not be read, or if it is a folder, a device or a pipe.
    """
    return _regular(_open(str(path), _FLAGS))


def read_file(path: Path) -> bytes:
    """Return the content of a regular file of at most `LARGEST_FILE` bytes, or raise OSError."""
    with open_file(path) as file:
        return _content(file)


def read_file_within(folder: Path, name: str) -> bytes:
    """Return the content of a file that another file of this folder names.

    The file must lie in the folder after symbolic links are resolved. Then each part of its path is
    opened without following links, so that nobody can replace one after the check.

    Raises
    ------
    OSError
        As `open_file` does, and if the file lies outside the folder or is too large.
    """
    try:
        root = folder.resolve(strict=True)
        inside = (root / name).resolve(strict=False)
    except (ValueError, RuntimeError) as error:  # a null character, a loop of links
        raise OSError(errno.EINVAL, str(error)) from None
    if not inside.is_relative_to(root) or inside == root:
        raise OSError(errno.EACCES, "expected a file in the survey file's folder, got one outside")
    *folders, last = inside.relative_to(root).parts
    parent = _open(str(root), _FLAGS | os.O_DIRECTORY)
    try:
        for part in folders:
            child = _open(part, _FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW, parent)
            os.close(parent)
            parent = child
        descriptor = _open(last, _FLAGS | os.O_NOFOLLOW, parent)
    finally:
        os.close(parent)
    with _regular(descriptor) as file:
        return _content(file)


def _open(name: str, flags: int, folder: int | None = None) -> int:
    """Return the descriptor of a file, whose name is relative to the opened `folder`, if given."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, str(error)) from None


def _regular(descriptor: int) -> BinaryIO:
    """Return the file of a descriptor; close it and raise OSError unless it is a regular file."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "expected a regular file, got a folder, a device or a pipe")
    return os.fdopen(descriptor, "rb")


def _content(file: BinaryIO) -> bytes:
    """Return the content of a file; raise OSError if it is too large."""
    content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise OSError(errno.EFBIG, f"expected at most {LARGEST_FILE >> 20} MiB, got more")
    return content
