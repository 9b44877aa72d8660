"""The second factor of an account: codes of an authenticator app, and codes for its loss.

The codes are those of M'Raihi, Machani, Pei and Rydell (RFC 6238, 2011) as all such apps have them:
six digits of HMAC-SHA-1, which change every 30 seconds.
"""

import base64
import hmac
import re
import secrets
from urllib.parse import quote, urlencode

#: Seconds for which a code is shown, and how many codes before and after are accepted, too, since
#: clocks differ.
PERIOD, NEAR = 30, 1
#: The number of codes that an account gets for the loss of the app.
RECOVERY_CODES = 10
_SECRET = re.compile("[A-Z2-7]{32}")


def new_secret() -> str:
    """Return 160 random bits, as RFC 4226 (section 4) asks for, in Base32."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def is_secret(text: str) -> bool:
    """Return whether a text can be a secret that `new_secret` made."""
    return _SECRET.fullmatch(text) is not None


def new_recovery_codes() -> list[str]:
    """Return codes of 64 random bits each, in groups of four that can be written down."""
    made = [secrets.token_hex(8) for _ in range(RECOVERY_CODES)]
    return ["-".join(re.findall("....", code)) for code in made]


def code_at(secret: str, step: int) -> str:
    """Return the six digits of a step, which is the number of periods since 1970."""
    digest = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06d}"


def step_of(secret: str, code: str, seconds: float) -> int | None:
    """Return the step to which a code belongs that is typed now; None if it is no code of now."""
    typed, now = "".join(code.split()).encode(errors="replace"), int(seconds // PERIOD)
    for step in range(now - NEAR, now + NEAR + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), typed):
            return step
    return None


def address_for_app(secret: str, name: str, host: str) -> str:
    """Return what an app reads from a QR code: the secret, whose it is, and for which host."""
    label = quote(f"{host}:{name}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': host})}"
