"""Encoders of a value that is a text, hashed; None is no-answer.

The hash functions of the cohorts are a keyed family. Their values are words of one stream, which
SHA-256 makes of the text (`analysis.core.texts`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Texts
from analysis.core.encoders.base import Encoder
from analysis.core.errors import shown, whole
from analysis.core.packed import Packed, pack
from analysis.core.texts import BEGINNING, NOTHING, WHOLE, text_words
from analysis.core.types import Apart, Array, Integers
from analysis.core.words import Block

#: The most words of a text that cohorts and hashes may take.
_MOST = 2**20


class _Hashed(Encoder):
    """An encoder that hashes texts, by functions that the cohort names."""

    takes: ClassVar[tuple[type, ...]] = (Texts,)
    is_hashed: ClassVar[bool] = True

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        pairs = zip(values, cohorts, strict=True)
        symbols = (self.encode(value, int(cohort), iter(())) for value, cohort in pairs)
        return np.fromiter(symbols, dtype=np.int64, count=len(values))


class _OfCandidates(_Hashed):
    """An encoder of whole texts that takes `hashes` words for each of `functions` cohorts."""

    functions: int
    hashes: int

    @property
    def cohorts(self) -> int:
        """There is a cohort for each function of the family, or each list of `hashes` functions."""
        return self.functions

    def _has_room_for(self, domain: Texts) -> bool:
        return not domain.is_open

    def encode_all(self, values: Sequence[str | None]) -> Integers:
        named = tuple(value for value in values if value is not None)
        hits = hits_of(self, named, None in values).astype(np.int64)
        # The input of no answer comes last.
        columns = iter(range(len(named)))
        return hits[:, [len(named) if value is None else next(columns) for value in values]]


@dataclass(frozen=True)
class Digest(_OfCandidates):
    """The word of the text whose position in the stream is the cohort, modulo `inputs`."""

    functions: int
    inputs: int

    name: ClassVar[str] = "digest"
    hashes = 1

    def check(self) -> None:
        _check_sizes("digest", self.inputs, self.functions)

    def encode(self, value: str | None, cohort: int, words: Iterator[int]) -> int:
        (word,) = _words(value, whole("cohort", cohort, self.functions), 1)
        return word % self.inputs


@dataclass(frozen=True)
class Bloom(_OfCandidates):
    """A bit for each of the `hashes` words of the text that the cohort takes, modulo `inputs`.

    This is a Bloom filter of one text (Bloom, Communications of the ACM 1970), as in RAPPOR
    (Erlingsson, Pihur and Korolova, CCS 2014, section 3.1). If words agree, fewer bits are set.
    """

    functions: int
    hashes: int
    inputs: int

    name: ClassVar[str] = "bloom"
    gives_bits: ClassVar[bool] = True
    keeps_cohort: ClassVar[bool] = True

    @property
    def apart(self) -> Apart:
        return ((self.hashes, self.hashes),)

    def check(self) -> None:
        _check_sizes("bloom", self.inputs, self.functions * self.hashes)
        if 2 * self.hashes > self.inputs or self.hashes > 16:
            raise ValueError(
                f"bloom: hashes must be at most 16, and half of inputs, got {self.hashes}"
            )

    def encode(self, value: str | None, cohort: int, words: Iterator[int]) -> tuple[int, ...]:
        start = whole("cohort", cohort, self.functions) * self.hashes
        return tuple(sorted({word % self.inputs for word in _words(value, start, self.hashes)}))

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Packed:
        flags = np.zeros((len(values), self.inputs), dtype=np.uint8)
        for row, (value, cohort) in enumerate(zip(values, cohorts, strict=True)):
            flags[row, self.encode(value, int(cohort), iter(()))] = 1
        return pack(flags)


@dataclass(frozen=True)
class Prefix(_Hashed):
    """A hash of the text's first letters, as many as the cohort says, or of all if it is short.

    It serves questions without a list of texts (Wang, Li and Jha, "Locally differentially private
    heavy hitter identification", IEEE TDSC 2021: the prefix-extending method). The cohort c takes
    the first ``lengths[c // functions]`` letters, and has a function of its own. If all lengths had
    the same functions, texts that collide at one length would collide at all lengths.
    """

    functions: int
    lengths: tuple[int, ...]
    inputs: int

    name: ClassVar[str] = "prefix"

    @property
    def cohorts(self) -> int:
        """There is a cohort for each length and function."""
        return len(self.lengths) * self.functions

    @property
    def portion(self) -> Fraction:
        # Only the last length takes whole texts.
        return Fraction(1, len(self.lengths))

    def check(self) -> None:
        _check_sizes("prefix", self.inputs, self.cohorts)
        if list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"prefix: lengths must rise, got {shown(list(self.lengths))}")

    def _has_room_for(self, domain: Texts) -> bool:
        return domain.is_open and self.lengths[-1] >= domain.longest

    def encode(self, value: str | None, cohort: int, words: Iterator[int]) -> int:
        length = self.lengths[whole("cohort", cohort, self.cohorts) // self.functions]
        (word,) = _words(value, cohort, 1, length)
        return word % self.inputs


@lru_cache(maxsize=4)
def hits_of(
    encoder: Digest | Bloom, candidates: tuple[str, ...], no_answer: bool
) -> NDArray[np.uint16]:
    """Return (cohorts, candidates, hashes) inputs of candidates, followed by those of no answer."""
    hashes = encoder.hashes
    hashed = [(WHOLE, text) for text in candidates] + [(NOTHING, "")] * no_answer
    inputs = np.empty((encoder.functions, len(hashed), hashes), dtype=np.uint16)
    for column, (what, text) in enumerate(hashed):
        words = np.array(text_words(what, text, 0, encoder.functions * hashes), dtype=np.uint32)
        inputs[:, column] = (words % encoder.inputs).reshape(encoder.functions, hashes)
    return inputs


def _check_sizes(name: str, inputs: int, words: int) -> None:
    """Raise ValueError if an encoder of texts has too many inputs or takes too many words."""
    if not 2 <= inputs <= 65536:
        raise ValueError(f"{name}: inputs must be from 2 to 65536, got {inputs}")
    if words > _MOST:
        raise ValueError(f"{name}: cohorts and hashes must call for at most {_MOST} words")


def _words(value: Any, start: int, count: int, length: int | None = None) -> tuple[int, ...]:
    """Return the words of an answer, or of its beginning."""
    if value is None:
        return text_words(NOTHING, "", start, count)
    if not isinstance(value, str):
        raise ValueError(f"value must be a text, got {shown(value)}")
    if length is not None and len(value) > length:
        return text_words(BEGINNING, value[:length], start, count)
    return text_words(WHOLE, value, start, count)
