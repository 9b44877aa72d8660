"""Which passwords fit an account, and what is stored of one."""

import hashlib
import secrets
import unicodedata
from hmac import compare_digest

from werkzeug.security import check_password_hash, generate_password_hash


def new_password() -> str:
    """Return 192 random bits as 48 hexadecimal digits, which need no quotes in shells and tables.

    Base64 would be shorter, but could begin with -, which tables guard as a formula.
    """
    return secrets.token_hex(24)


#: The beginning of what is stored of a password that was made.
_MADE = "sha256:"


def hashed(password: str) -> str:
    """Return what is stored of a password that was made: its SHA-256 hash.

    It is random, so no slow hash is needed: whoever steals the hash must guess 192 bits.
    """
    return f"{_MADE}{hashlib.sha256(password.encode(errors='surrogatepass')).hexdigest()}"


def is_made(stored: str, password: str) -> bool:
    """Return whether this is of a password that was made, and this is the password."""
    return compare_digest(stored.encode(), hashed(password).encode())


#: The fewest characters of a password that somebody chooses, the fewest different characters, and
#: the most characters.
SHORTEST, DIFFERENT, LONGEST = 12, 5, 256


def unfit(password: str, name: str) -> str:
    """Return why a password is unfit for this account, or "" if it is fit.

    Length counts. No rule asks for certain kinds of characters (NIST SP 800-63B, 3.1.1.2).
    """
    if not SHORTEST <= len(password) <= LONGEST:
        expected = f"{SHORTEST} to {LONGEST} characters"
        return f"Password: expected {expected}, got {len(password)}"
    if len(set(password.lower())) < DIFFERENT:
        return f"Password: expected at least {DIFFERENT} different characters"
    if len(name) >= 4 and name.lower() in password.lower():
        return "Password: expected one without your name in it"
    return ""


def hashed_choice(password: str) -> str:
    """Return what is stored of a password that somebody chose: its scrypt hash.

    A fast hash would let whoever steals the database try many words. So each attempt costs a scrypt
    hash, and has to wait before.
    """
    return f":{generate_password_hash(_normal(password))}"


#: It has the form of every scrypt hash, and is that of no password.
_OF_NOBODY = f"scrypt:32768:8:1${'0' * 16}${'0' * 128}"


def is_chosen(stored: str, password: str) -> bool:
    """Return whether this is of a password that somebody chose, and this is the password.

    It always takes one scrypt hash, also for a password that was made, and for nothing stored.
    """
    hashes = "" if stored.startswith(_MADE) else stored.partition(":")[2]
    return check_password_hash(hashes or _OF_NOBODY, _normal(password)) and bool(hashes)


def has_old_form(stored: str) -> bool:
    """Return whether this is of a password that was made, as it was stored before.

    It was a scrypt hash, after two bytes of a SHA-256 hash that ruled out most wrong passwords.
    """
    return not stored.startswith((_MADE, ":"))


def _normal(password: str) -> str:
    """Return a password in one Unicode form, which no longer depends on the keyboard."""
    return unicodedata.normalize("NFKC", password)
