"""Texts as answers: when two texts are the same, and the public words that a text is hashed to.

Python and ``client/encoders.js`` make equal words; ``docs/protocol.md`` has the bytes.
"""

import hashlib
import re
import struct
import unicodedata

import numpy as np

#: Each message begins with this tag. Another rule of making messages would have another number.
_TAG = b"deniable-text-1"

#: The kinds of hashed texts: no answer at all, a whole text, or the beginning of a longer one.
NOTHING, WHOLE, BEGINNING = 0, 1, 2

_SPACE = re.compile(r"[\t-\r ]+")


def normalized(text: str) -> str:
    """Return the form that equal texts share: NFKC (Unicode Standard Annex 15), folded, trimmed.

    Case is folded by converting to lower, upper and again lower case, with one lower sigma, since
    browsers have no other rule. Texts become equal that full case folding makes equal; dotless i
    also becomes i. Runs of white space become one space.
    """
    folded = unicodedata.normalize("NFKC", text).lower().upper().lower().replace("ς", "σ")
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", folded)).strip(" ")


def text_words(what: int, text: str, start: int, count: int) -> tuple[int, ...]:
    """Return `count` words of a text from `start` on, each of 32 bits, as if drawn uniformly.

    The text is normalized; `what` is `NOTHING`, `WHOLE` or `BEGINNING`. One SHA-256 gives eight
    words of the stream.
    """
    head, encoded, first = _TAG + bytes([what]), text.encode(), start // 8
    blocks = range(first, (start + count - 1) // 8 + 1)
    hashes = [
        hashlib.sha256(head + struct.pack(">I", block) + encoded).digest() for block in blocks
    ]
    words = np.frombuffer(b"".join(hashes), dtype=">u4").tolist()
    return tuple(words[start - 8 * first : start - 8 * first + count])
