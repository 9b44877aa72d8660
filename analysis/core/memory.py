"""A device's permanent draws for all waves. Its secret fixes them, so that none has to be stored.

The words of a draw are HMAC-SHA-256 of the draw's purpose, keyed with the secret. The bytes are in
``docs/protocol.md``, and ``client/hashes.js`` makes the same words. So equal answers have equal
permanent draws in every wave and tab, while nothing about an answer is stored.
"""

import hmac
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

#: A question of a frozen survey.
_Spec = Mapping[str, Any]

#: The protocol by which memories of newly published surveys are kept and priced.
#: `analysis.survey.digest` and `Randomizer.spent` say what differs between protocols. A frozen
#: question names its protocol; one that names none has protocol 1.
PROTOCOL = 2

#: The keys that freezing adds to a question with a memory.
NEW_MEMORY = {"memory": PROTOCOL}

#: Each message begins with this tag. Another rule of making messages would have another number.
_TAG = b"deniable-memory-1"


def forever_of(question: _Spec) -> Fraction | None:
    """Return the ε of one answer over the reports of all waves; None if there is no memory."""
    return Fraction(repr(question["epsilon_forever"])) if "epsilon_forever" in question else None


def is_stable(question: _Spec) -> bool:
    """Return whether the survey assumes that the answer cannot change between waves."""
    return bool(question.get("stable", False))


def protocol_of(question: _Spec) -> int:
    """Return the protocol by which the memory is kept and priced; 1 if none is named."""
    return int(question.get("memory", 1))


def check_frozen(question: _Spec, remembers: bool) -> None:
    """Raise ValueError unless a frozen question's words about its memory fit its randomizer.

    `remembers` says whether its randomizer has a memory.
    """
    if type(question.get("stable", False)) is not bool or (is_stable(question) and not remembers):
        raise ValueError(f"question {question['id']}: stable must be left out without a memory")
    if "memory" in question and (question["memory"] != PROTOCOL or not remembers):
        raise ValueError(f"question {question['id']}: memory must be {PROTOCOL}, or left out")


@dataclass(frozen=True)
class Memory:
    """A device's memory for one question.

    `words` gives the stream of uniform 32-bit words for a purpose ("cohort", "rounding" or
    "permanent"), a cohort and a symbol.
    """

    words: Callable[..., Iterator[int]]

    @classmethod
    def of(cls, secret: bytes, survey_id: str, question_id: str, digest: bytes) -> "Memory":
        """Return the memory of the device with this secret.

        `digest` is that of the compiled randomizer. With it, randomizers of other weights draw from
        other words. If they shared words, pairs of reports could become impossible under one
        answer, and ε infinite.
        """

        def words(purpose: str, cohort: int = 0, symbol: int = 0) -> Iterator[int]:
            texts = (survey_id.encode(), question_id.encode(), digest, purpose.encode())
            numbers = (struct.pack(">I", number) for number in (cohort, symbol))
            parts = (struct.pack(">I", len(part)) + part for part in (_TAG, *texts, *numbers))
            message = b"".join(parts)
            for block in count():
                keyed = hmac.digest(secret, message + struct.pack(">I", block), "sha256")
                yield from struct.unpack(">8I", keyed)

        return cls(words)

    @classmethod
    def once(cls, words: Iterator[int]) -> "Memory":
        """Return the memory of a device that is used once. Its draws continue one stream."""
        return cls(lambda *_: words)


def pseudonym(secret: bytes, survey_id: str) -> str:
    """Return a respondent's name in one survey: 128 bits of HMAC-SHA-256, in hexadecimal."""
    return hmac.digest(secret, survey_id.encode(), "sha256")[:16].hex()
