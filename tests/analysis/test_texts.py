"""Texts: what counts as the same, what authors write, and how texts are hashed."""

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from analysis.core.encoders.text import Bloom, Digest, Prefix
from analysis.core.errors import SurveyError
from analysis.core.texts import WHOLE, normalized, text_words
from analysis.survey.question import Question
from analysis.survey.survey_file import read_survey

TEXT = 'kind = "text"\nepsilon = 1\n'


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Read a survey of one question from its keys."""

    def call(keys: str) -> Question:
        path = tmp_path / "s.toml"
        path.write_text(f'id = "s"\ntitle = "S"\n[[questions]]\nid = "q"\ntext = "?"\n{keys}')
        return read_survey(path).questions[0]

    return call


@pytest.mark.more
def test_case_is_folded_as_unicode_says_except_for_the_dotless_i() -> None:
    def by_the_book(text: str) -> str:
        folded = unicodedata.normalize("NFKC", text).casefold()
        return " ".join(unicodedata.normalize("NFKC", folded).split(" ")).strip("\t\n\v\f\r ")

    every = [chr(one) for one in range(0x110000) if not 0xD800 <= one < 0xE000]
    plain = {
        letter
        for letter in every
        if letter == letter.lower() == letter.upper() == letter.casefold()
        and unicodedata.is_normalized("NFKC", letter)
        and not letter.isspace()
    }
    # A zero keeps letters apart, so that both change each of them as if it were alone: not at all.
    apart = "\0".join(plain)
    assert normalized(apart) == by_the_book(apart) == apart
    others = set(every) - plain
    others |= {change(letter) for letter in others for change in (normalized, by_the_book)} & plain
    ours, book = dict[str, set[str]](), dict[str, set[str]]()
    for letter in others:
        ours.setdefault(normalized(letter), set()).add(by_the_book(letter))
        book.setdefault(by_the_book(letter), set()).add(normalized(letter))
    assert {text for text, found in ours.items() if len(found) > 1} == {"i"}
    assert {text for text, found in book.items() if len(found) > 1} == set()


@pytest.mark.parametrize(
    ("typed", "text"),
    [("  New\t York ", "new york"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("é", "é"),
     ("e\u0301", "é"), ("ＡＢＣ", "abc"), ("ﬁn", "fin"), ("ΟΔΟΣ", "οδοσ"), ("\u00a0a\u00a0", "a")],
)  # fmt: skip
def test_texts_that_look_the_same_are_the_same(typed: str, text: str) -> None:
    assert normalized(typed) == text
    assert normalized(normalized(typed)) == text


def test_words_are_those_of_the_protocol() -> None:
    for start in (0, 5, 16):
        for place, word in enumerate(text_words(WHOLE, "größe", start, 9), start):
            message = b"deniable-text-1\x01" + (place // 8).to_bytes(4, "big") + "größe".encode()
            block = hashlib.sha256(message).digest()
            assert word == int.from_bytes(block[place % 8 * 4 : place % 8 * 4 + 4], "big")


def test_hashes_of_texts_look_random() -> None:
    encoder = Digest(256, 5)
    texts = [f"text {n}" for n in range(400)]
    symbols = np.array([[encoder.encode(t, c, iter(())) for c in range(256)] for t in texts])
    counts = np.bincount(symbols.reshape(-1), minlength=5)
    expected = symbols.size / 5
    assert chi2.sf(((counts - expected) ** 2 / expected).sum(), 4) > 1e-6
    # Pairs of texts agree in a fifth of the cohorts: 79,800 pairs in 256 cohorts.
    agreeing = sum((symbols[n] == symbols[n + 1 :]).sum() for n in range(399))
    pairs = 79_800 * 256
    assert abs(agreeing - pairs / 5) < 6 * (pairs * 0.16) ** 0.5


def test_a_beginning_differs_from_a_whole_text() -> None:
    encoder, whole = Prefix(4, (2, 6), 1000), Digest(8, 1000)
    # Cohorts 0 to 3 ask for two letters and cohorts 4 to 7 for six, with functions of their own.
    for cohort in range(8):
        same = {encoder.encode(text, cohort, iter(())) for text in ("abc", "abd", "ab c")}
        assert len(same) == (1 if cohort < 4 else 3)
        assert encoder.encode("ab", cohort, iter(())) not in same
        for text in ("ab",) if cohort < 4 else ("ab", "abc", "abcdef"):
            symbol = encoder.encode(text, cohort, iter(()))
            assert symbol == whole.encode(text, cohort, iter(()))


def test_equal_words_of_a_bloom_filter_set_one_bit() -> None:
    encoder = Bloom(200, 2, 4)
    sizes = {len(encoder.encode("a", cohort, iter(()))) for cohort in range(200)}
    assert sizes == {1, 2}


def test_values_are_normalized_and_no_answer_is_none(read: Any) -> None:
    question = read(TEXT + 'longest = 6\ncandidates = ["Rome ", "PARIS"]')
    assert question.value(" ROME") == "rome"
    assert question.value("") is None
    assert question.value("no-answer") is None
    assert question.domain.candidates == ("rome", "paris")
    assert question.spec["candidates"] == ["Rome", "PARIS"]
    with pytest.raises(ValueError, match="a text of at most 6 letters, or empty"):
        question.value("Madrid!")
    required = read(TEXT + "required = true")
    with pytest.raises(ValueError, match=r"a text of at most 32 letters$"):
        required.value("  ")


def test_candidates_may_be_in_a_file_beside_the_survey(read: Any, tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("\ufeffRome\r\n\r\nParis\n", encoding="utf-8")
    assert read(TEXT + 'candidates = "cities.txt"').spec["candidates"] == ["Rome", "Paris"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("longest = 0", "longest must be a whole number of letters from 1 to 256, got 0"),
        ("candidates = []", "candidates must be a list of texts, or the name of a file"),
        ('candidates = ["a"]', "candidates must be from 2 to 20000, got 1"),
        ('candidates = ["a", ""]', "candidate 2: expected a text of 1 to 32 letters, got"),
        ('candidates = ["a", 3]', "candidate 2: expected a text of 1 to 32 letters, got 3"),
        ('longest = 3\ncandidates = ["a", "abcd"]', "candidate 2: expected a text of 1 to 3"),
        ('candidates = ["Rome", "b", " ROME"]', "candidate 3: expected each text once, got"),
        (
            'candidates = ["a", "Other"]',
            "expected a text other than no-answer and other, which are",
        ),
        ('candidates = "none.txt"', "none.txt: No such file"),
        ('candidates = "bytes.txt"', "bytes.txt: line 2: expected text in UTF-8"),
        ('candidates = "long.txt"', "long.txt: line 2: expected a text of 1 to 32 letters"),
        ('mechanism = "rappor"', "mechanism must be one of hashed-krr, which fit"),
        (
            'letters = "a"',
            "letters must be a text of 2 to 200 letters, those that answers can have",
        ),
        ('letters = "abc"\ncandidates = ["a", "b"]', 'unknown key "letters"'),
        ('mechanism = "krr"', "mechanism must be one of hashed-krr"),
        ('options = [{id = "a", text = "A"}]', 'unknown key "options"'),
        ("epsilon_forever = 1", "epsilon_forever must be a number greater than epsilon (1)"),
        ("stable = true", "stable must be left out, or epsilon_forever given"),
    ],
)
def test_a_mistake_is_named(read: Any, tmp_path: Path, keys: str, message: str) -> None:
    (tmp_path / "bytes.txt").write_bytes(b"Rome\n\xff\n")
    (tmp_path / "long.txt").write_text("Rome\n" + "x" * 33)
    with pytest.raises(SurveyError, match=re.escape(message)) as refused:
        read(TEXT + keys)
    assert "\n" not in str(refused.value)


def test_texts_cannot_be_in_conditions(read: Any) -> None:
    with pytest.raises(SurveyError, match="a question other than q, which is a text"):
        read(
            TEXT + '[[questions]]\nid = "r"\ntext = "?"\nkind = "yes-no"\nepsilon = 1\n'
            "shows_if = \"q = 'rome'\""
        )
