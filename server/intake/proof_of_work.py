"""Proof of work: a device computes for some seconds before it sends (in `client/hashes.js`).

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
    """Return the first number with this many bits of work, after 2^bits hashes on average."""
    if bits < 1:
        raise ValueError(f"bits must be at least 1, got {bits}")
    return next(number for number in count() if bits_of(version, wave, rid, number) >= bits)
