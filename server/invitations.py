"""Tokens that let somebody answer: how they are made, and what the store knows of them."""

import hashlib
import secrets
from typing import Protocol


class TokenIssuer(Protocol):
    """How tokens are made and recognized.

    Today the store knows each token's key before it is used, so that whoever hands out the tokens
    could note who got which. An issuer of blind signatures (RFC 9474) would sign what it cannot
    see, and `key` would check the signature: then the store has to add what was used, where it now
    marks what was issued, and nothing else changes.
    """

    def issue(self) -> str:
        """A new token, for the fragment of a link: ASCII letters, digits, - and _."""

    def key(self, token: str) -> bytes:
        """What the store marks as used when the token is; the token cannot be told from it."""


class RandomTokens:
    """128 random bits, in base64url; the store has their SHA-256 alone.

    A slow hash would add nothing: nobody can try 2^128 tokens.
    """

    def issue(self) -> str:
        return secrets.token_urlsafe(16)

    def key(self, token: str) -> bytes:
        return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


#: The issuer in use.
ISSUER: TokenIssuer = RandomTokens()
