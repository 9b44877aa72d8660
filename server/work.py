"""Proof of work: a device pays some seconds of computing for a report; `client/hashes.js` does it.

References
----------
Adam Back, "Hashcash - a denial of service counter-measure", 2002.
"""

import hashlib
from itertools import count


def has_worked(bits: int, version: str, wave: int, rid: str, work: int | None) -> bool:
    """Whether `work` ends in a hash with so many leading zero bits, for what is used only once.

    Where none are asked for, there must be no work.
    """
    if not bits:
        return work is None
    text = f"{version}:{wave}:{rid}:{work}".encode()
    return work is not None and int.from_bytes(hashlib.sha256(text).digest()) >> (256 - bits) == 0


def work(bits: int, version: str, wave: int, rid: str) -> int:
    """The first number that has worked; 2^bits hashes on average; ``bits >= 1``."""
    if bits < 1:
        raise ValueError(f"bits must be at least 1, got {bits}")
    return next(one for one in count() if has_worked(bits, version, wave, rid, one))
