"""How many years of school the words of the respondent's pages take, in languages with a formula.

English: Kincaid et al. (1975). German: Bamberger and Vanecek (1984), first Wiener
Sachtextformel. French: Kandel and Moles (1958), a reading ease of which 10 points below 100 are
about a grade above 4. Spanish: Crawford (1984). Arabic: Al-Heeti (1984), by the length of words.
"""

import re
from collections.abc import Callable

import pytest

from server.page_texts import LANGUAGES

#: The grade that all texts together may need at most.
GRADE = 6.0
#: Limits just above the present grades: of all texts together, and of each table by itself.
REACHED = {"en": (3.25, 6.2), "de": (4.8, 7), "fr": (5.1, 6.3), "es": (3.5, 4.8), "ar": (4.9, 6.7)}
#: Tables with fewer words, such as labels of buttons, are too short for a formula.
FEWEST_WORDS = 40
#: Vowels that form one syllable if they are adjacent.
VOWELS = {
    "en": r"[aeiouy]+",
    "de": r"ie|ei|eu|äu|au|ai|[aeiouyäöü]",
    "fr": r"[aeiouyàâäéèêëîïôöùûüœæ]+",
    "es": r"[aeiouáéíóúü]+",
    "ar": r"\w",
}
#: Endings that are written but not spoken.
SILENT = {
    "en": r"(?<=[^aeiouyltd])ed$|(?<=[^aeiouylsczgx])es$|(?<=[^aeiouyl])e$",
    "fr": r"(?<=[^aeiouyé])(es?|ent)$",
}


def syllables(word: str, tag: str) -> int:
    """Return the approximate number of syllables of a word."""
    spoken = re.sub(SILENT.get(tag, "(?!)"), "", word.lower())
    return max(1, len(re.findall(VOWELS[tag], spoken)))


def english(sentence: float, syllable: list[int], letter: list[int]) -> float:
    """Return the grade from words a sentence and syllables a word."""
    return 0.39 * sentence + 11.8 * sum(syllable) / len(syllable) - 15.59


def german(sentence: float, syllable: list[int], letter: list[int]) -> float:
    """Return the grade from words of three syllables and more, of one, and of over six letters."""
    words = len(syllable) / 100
    many, one = (sum(n >= 3 for n in syllable), sum(n == 1 for n in syllable))
    long = sum(n > 6 for n in letter)
    parts = 0.1935 * many + 0.1297 * long - 0.0327 * one
    return parts / words + 0.1672 * sentence - 0.875


def french(sentence: float, syllable: list[int], letter: list[int]) -> float:
    """Return the grade from the reading ease: 80 to 90 is for the sixth grade."""
    ease = 207 - 1.015 * sentence - 73.6 * sum(syllable) / len(syllable)
    return 4 + (100 - ease) / 10


def spanish(sentence: float, syllable: list[int], letter: list[int]) -> float:
    """Return the grade from sentences and syllables of 100 words."""
    return -0.205 * 100 / sentence + 0.049 * 100 * sum(syllable) / len(syllable) - 3.407


def arabic(sentence: float, syllable: list[int], letter: list[int]) -> float:
    """Return the grade from letters a word."""
    return 4.414 * sum(letter) / len(letter) - 13.468


FORMULAS: dict[str, Callable[[float, list[int], list[int]], float]] = {
    "en": english,
    "de": german,
    "fr": french,
    "es": spanish,
    "ar": arabic,
}


def words_of(text: str) -> list[str]:
    """Return the words of a text, without signs, places to fill in, and Arabic vowel marks."""
    plain = re.sub(r"\{\w+\}|[\u064b-\u0652\u0640]", "", text)
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", plain)


def grade(texts: list[str], tag: str) -> float:
    """Return the years of school that these texts take together."""
    words = [word for text in texts for word in words_of(text)]
    sentences = [one for text in texts for one in re.split(r"[.!?؟…]+(?:\s|$)", text)]
    length = len(words) / sum(bool(words_of(one)) for one in sentences)
    return FORMULAS[tag](length, [syllables(word, tag) for word in words], [*map(len, words)])


def tables(tag: str) -> dict[str, list[str]]:
    """Return all texts of a language, by their tables."""
    found: dict[str, list[str]] = {}
    for key, text in LANGUAGES[tag].words.items():
        found.setdefault(key.partition(".")[0], []).append(text)
    return found


@pytest.mark.parametrize("tag", FORMULAS)
def test_six_years_of_school_are_enough_to_read_the_pages(tag: str) -> None:
    reached, _ = REACHED[tag]
    assert grade([text for texts in tables(tag).values() for text in texts], tag) <= reached < GRADE


@pytest.mark.parametrize("tag", FORMULAS)
def test_no_part_of_the_pages_is_much_harder(tag: str) -> None:
    for name, texts in tables(tag).items():
        if sum(len(words_of(text)) for text in texts) >= FEWEST_WORDS:
            assert grade(texts, tag) <= REACHED[tag][1], (name, grade(texts, tag))


@pytest.mark.parametrize(
    ("word", "number"),
    [("asked", 1), ("wanted", 2), ("times", 1), ("boxes", 2), ("changes", 2), ("table", 2)],
)
def test_silent_endings_in_english_do_not_count_as_syllables(word: str, number: int) -> None:
    assert syllables(word, "en") == number


@pytest.mark.parametrize(
    ("tag", "easy", "hard"),
    [
        ("en", "The dog ran to me. I was glad.", "Randomization mechanisms guarantee plausible "
         "deniability notwithstanding sophisticated adversaries."),
        ("de", "Der Hund lief zu mir. Ich war froh.", "Randomisierungsverfahren gewährleisten "
         "Abstreitbarkeit gegenüber außerordentlich sachkundigen Angreifern."),
        ("fr", "Le chien est là. Il joue.", "Les procédures de randomisation garantissent la "
         "dénégation plausible indépendamment des connaissances supplémentaires."),
        ("es", "El sol sale. Yo voy.", "Los procedimientos de aleatorización garantizan la "
         "negación plausible independientemente de conocimientos suplementarios."),
        ("ar", "جاء رجل الى دار له.", "الاستراتيجيات الإحصائية المستخدمة للاستدلال والمعلومات"),
    ],
)  # fmt: skip
def test_the_formulas_distinguish_easy_from_hard(tag: str, easy: str, hard: str) -> None:
    assert grade([easy], tag) < GRADE
    assert max(REACHED[tag]) < grade([hard], tag)
