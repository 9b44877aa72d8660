"""The reader of the images that a survey file names, which become part of the frozen survey.

So the survey's version fixes them, the page does not load them from elsewhere, and no request
reveals which of them a respondent sees.
"""

from base64 import b64encode
from typing import Any

from analysis.core.errors import SurveyError
from analysis.survey.document import Table
from analysis.survey.files import read_file_within

#: The largest file of an image, in bytes. It takes a third of a second on a slow phone.
LARGEST_IMAGE = 64 * 1024


def read_image(table: Table, key: str) -> dict[str, Any] | None:
    """Return the image whose file `key` names, in its frozen form; None without the key.

    Returns
    -------
    dict, optional
        ``type``, the media type; ``width`` and ``height`` in pixels; ``base64``, the file.

    Raises
    ------
    SurveyError
        If it is not a file in the survey's folder, is too large, or is neither PNG nor JPEG.
    """
    name = table.take(
        key,
        lambda value: isinstance(value, str) and bool(value.strip()),
        "the name of a PNG or JPEG file in the folder of the survey file",
        default=None,
    )
    if name is None:
        return None
    place = f"{table.place}: {key}: {table.folder / name}"
    try:
        content = read_file_within(table.folder, name)
    except OSError as error:
        raise SurveyError(f"{place}: {error.strerror}") from None
    if len(content) > LARGEST_IMAGE:
        raise SurveyError(
            f"{place}: expected an image of at most {LARGEST_IMAGE:,} bytes, got {len(content):,}"
        )
    size, kind = _size_of_png(content), "image/png"
    if size is None:
        size, kind = _size_of_jpeg(content), "image/jpeg"
    if size is None or not all(size):
        raise SurveyError(f"{place}: expected a PNG or JPEG image, got other bytes")
    width, height = size
    encoded = b64encode(content).decode()
    return {"type": kind, "width": width, "height": height, "base64": encoded}


def _size_of_png(content: bytes) -> tuple[int, int] | None:
    """Return width and height by the first chunk of a PNG (RFC 2083, section 4.1.1)."""
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR" or len(content) < 24:
        return None
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def _size_of_jpeg(content: bytes) -> tuple[int, int] | None:
    """Return width and height by the frame header of a JPEG (ITU-T T.81, section B.2.2)."""
    if content[:2] != b"\xff\xd8":
        return None
    place = 2
    while place + 9 <= len(content) and content[place] == 0xFF:
        marker, length = content[place + 1], int.from_bytes(content[place + 2 : place + 4], "big")
        # This is a start of frame. The other markers of this range define tables.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = content[place + 5 : place + 7], content[place + 7 : place + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        place += 2 + max(length, 2)
    return None
