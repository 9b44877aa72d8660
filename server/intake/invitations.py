"""Invitations: how their tokens are made, and what the store knows of them."""

import hashlib
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Protocol

#: The digits of base64url, from 0 to 63.
DIGITS = ascii_uppercase + ascii_lowercase + digits + "-_"
#: The largest prime below 64^2: two digits hold every remainder.
PRIME = 4093


class TokenIssuer(Protocol):
    """Make and recognize tokens.

    Today the store knows each token's key before it is used, so that whoever hands out the tokens
    could note who got which. An issuer of blind signatures (RFC 9474) would sign what it cannot
    see, and `key` would check the signature. The store would then add keys when they are used,
    instead of marking issued ones, and nothing else would change.
    """

    def issue(self, bits: bytes | None = None) -> str:
        """Return a token for the fragment of a link, of ASCII letters, digits, - and _.

        It is made of 128 `bits`, by default of random ones.
        """

    def key(self, token: str) -> bytes:
        """Return what the store marks as used, from which nobody can compute the token."""


def check_digits(token: str) -> str:
    """Return the two check digits of a token of 22 base64url digits.

    They are the remainder, modulo the prime p = 4093, of the number that the 22 spell to the base
    64. They reveal every single wrong digit, and every swap of two neighbors that differ:

    - A wrong digit at place i (counted from the right) changes the number by d · 64^i with
      0 < abs(d) < 64. As p is a prime above 64, it does not divide this change, so the remainder
      changes. A wrong check digit no longer spells the remainder.
    - A swap of digits a and b at the places i + 1 and i changes it by (a - b) (64 - 1) 64^i,
      which p does not divide either.
    - A swap of the last digit x with the first check digit c, where the second is e and the 22
      spell N = 64 c + e modulo p: the new number is N - x + c, the new check 64 x + e. They agree
      modulo p only if 65 (c - x) is a multiple of p, so only if c = x.
    - A swap of the check digits changes them by 63 (c - e), and the number not at all.
    """
    remainder = 0
    for digit in token:
        remainder = (64 * remainder + DIGITS.index(digit)) % PRIME
    return DIGITS[remainder // 64] + DIGITS[remainder % 64]


class RandomTokens:
    """Invitations of 128 random bits in 22 digits of base64url, and two check digits.

    The store has their SHA-256.

    A slow hash would add nothing: nobody can try 2^128 tokens. Tokens of earlier releases, without
    check digits, stay valid.
    """

    def issue(self, bits: bytes | None = None) -> str:
        drawn = secrets.token_bytes(16) if bits is None else bits
        token = urlsafe_b64encode(drawn).rstrip(b"=").decode()
        return token + check_digits(token)

    def key(self, token: str) -> bytes:
        return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


#: The issuer in use.
ISSUER: TokenIssuer = RandomTokens()


class RateLimit:
    """A token bucket for each survey: `burst` queries at once, then `rate` a second.

    It limits how fast links can be tried, and knows no addresses.
    """

    def __init__(
        self, burst: int = 50, rate: float = 20, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allows(self, survey_id: str) -> bool:
        """Count one more query about a survey; return whether it may be answered now."""
        now = self._clock()
        with self._lock:
            left, before = self._left.get(survey_id, (self._burst, now))
            left = min(self._burst, left + (now - before) * self._rate)
            allowed = left >= 1
            self._left[survey_id] = left - allowed, now
        return allowed
