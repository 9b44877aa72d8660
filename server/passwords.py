"""Which passwords fit an account, and what is stored of one."""

import hashlib
import secrets
import unicodedata

from werkzeug.security import generate_password_hash


def new_password() -> str:
    """Return 192 random bits as 48 hexadecimal digits, which need no quotes in shells and tables.

    Base64 would be shorter, but could begin with -, which tables guard as a formula.
    """
    return secrets.token_hex(24)


def hashed(password: str) -> str:
    """Return what is stored of a password: two bytes of its SHA-256, then its scrypt hash.

    The two bytes rule out nearly every wrong password at once. So the right one never has to wait,
    however fast somebody else guesses. Whoever steals the hash must still guess 176 random bits.
    """
    return f"{first_bytes(password)}:{generate_password_hash(password)}"


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
    """Return what is stored of a password that somebody chose: its scrypt hash alone.

    Two bytes of a fast hash would rule out nearly all of the words that others try on a stolen
    database. So each attempt costs a scrypt hash, and has to wait before.
    """
    return f":{generate_password_hash(normal(password))}"


def normal(password: str) -> str:
    """Return a password in one Unicode form, which no longer depends on the keyboard."""
    return unicodedata.normalize("NFKC", password)


def first_bytes(password: str) -> str:
    return hashlib.sha256(password.encode(errors="surrogatepass")).hexdigest()[:4]
