"""Proof of work: a device pays some seconds of computing for a report; `client/hashes.js` does it.

References
----------
Adam Back, "Hashcash - a denial of service counter-measure", 2002.
"""

import hashlib
from itertools import count


def bits_of(version: str, wave: int, rid: str, work: int | None) -> int:
    """Return how many leading zero bits a report's work has; 0 without work."""
    if work is None:
        return 0
    text = f"{version}:{wave}:{rid}:{work}".encode()
    return 256 - int.from_bytes(hashlib.sha256(text).digest()).bit_length()


def work(bits: int, version: str, wave: int, rid: str) -> int:
    """The first number that has worked; 2^bits hashes on average; ``bits >= 1``."""
    if bits < 1:
        raise ValueError(f"bits must be at least 1, got {bits}")
    return next(one for one in count() if bits_of(version, wave, rid, one) >= bits)
