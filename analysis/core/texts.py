"""Texts as answers: when two are the same, and the public words that each is hashed to.

Equal words in Python and in ``client/encoders.js``; ``docs/protocol.md`` has the bytes.
"""

import hashlib
import re
import struct
import unicodedata

import numpy as np

#: Each message begins with this; another rule of making it would have another number.
_TAG = b"deniable-text-1"

#: The kinds of hashed texts: no answer at all, a whole text, or the beginning of a longer one.
NOTHING, WHOLE, BEGINNING = 0, 1, 2

_SPACE = re.compile(r"[\t-\r ]+")


def normalized(text: str) -> str:
    """Return the form that equal texts share: NFKC (Unicode Standard Annex 15), folded, trimmed.

    Case is folded by lower, upper and lower case, with one lower sigma, since browsers have no
    other rule; that joins the texts that full case-folding does, and dotless i with i. Runs of
    white space become one space.
    """
    folded = unicodedata.normalize("NFKC", text).lower().upper().lower().replace("ς", "σ")
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", folded)).strip(" ")


def text_words(what: int, text: str, start: int, count: int) -> tuple[int, ...]:
    """Return `count` words of a text from `start` on: 32 bits each, as if drawn uniformly for it.

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
