"""How high the first screen is on a small phone: an estimate, from the letters of its texts."""

from collections.abc import Iterator
from math import ceil
from unicodedata import bidirectional, combining, east_asian_width

from analysis.survey.document import by_language
from analysis.survey.survey import Survey
from server.explanation.survey import example, promise
from server.page_texts import Language, Phrase, languages_of, told
from server.pages.markdown import rendered

#: The width and height of a small phone, in pixels of style sheets.
PHONE = (360, 640)
#: Letters on a line of text, beside a picture or mark, and of the title (`client/style.css`).
_LINE, _BESIDE, _TITLE = 42, 37, 24
#: The height of a line, of a line of the title, and of what can be pressed, with its margin.
_OF_LINE, _OF_TITLE, _OF_BUTTON = 21, 27, 52
#: The author's texts on it.
_OF_AUTHOR = ("title", "organisation", "introduction")


def _letters(text: str) -> int:
    """Return the width of a text in letters; Chinese ones are twice as wide, Arabic ones narrow."""
    wide = sum(east_asian_width(one) in "WF" for one in text)
    narrow = sum(bidirectional(one) == "AL" for one in text if not combining(one))
    return sum(not combining(one) for one in text) + wide - narrow // 5


def _lines(text: str, letters: int) -> int:
    return ceil(_letters(text) / letters)


def _author(survey: Survey, key: str, language: Language) -> str:
    """Return the part of an author's text that stands above the button, without its markup."""
    text = by_language(survey.spec.get(key, ""))
    own = str(text.get(language.tag, next(iter(text.values()))))
    if key == "title":
        return own
    return rendered(own, 0 if key == "introduction" else None).striptags()


def heights(survey: Survey, language: Language) -> dict[str, int]:
    """Return the estimated height of each part in a language; ours is under the key ""."""
    title, organisation, introduction = (_author(survey, key, language) for key in _OF_AUTHOR)
    promised = promise(survey)
    said = [*example(survey), *[Phrase.of("happens.not-counted")] * bool(promised.reassurance)]
    rows = [told(Phrase.of(f"who.{who}"), language) for who in ("you", "we", "others")]
    ours = sum(_OF_LINE * _lines(row, _BESIDE) + 4 for row in rows) + 24
    ours += _OF_LINE * _lines(" ".join(told(one, language) for one in said), _LINE) + 8
    for risk in promised.risks[:1]:
        ours += max(_OF_BUTTON, _OF_LINE * _lines(told(risk, language), _BESIDE) + 8)
    pickers = len(survey.spec.get("languages", ())) > 1
    exits = "exit" in survey.spec.get("page", ())
    of_logo = "logo" in survey.spec
    name = _OF_LINE * _lines(organisation, _BESIDE if of_logo else _LINE) if organisation else 0
    return {
        "": ours + 16 + _OF_BUTTON * (1 + pickers + exits),
        "title": _OF_TITLE * _lines(title, _TITLE) + 8,
        "organisation": max(name, 40 * of_logo) + 16 * bool(name or of_logo),
        "introduction": _OF_LINE * _lines(introduction, _LINE) + 16 * bool(introduction),
    }


def too_long(survey: Survey) -> Iterator[str]:
    """Yield which of the author's texts push "Begin" off the first screen, in each language."""
    for language in languages_of(survey.spec):
        parts = heights(survey, language)
        over = sum(parts.values()) - PHONE[1]
        if over > 0:
            ordered = sorted(_OF_AUTHOR, key=lambda key: -parts[key])
            longest = [key for key in ordered if parts[key] >= 3 * _OF_LINE] or ordered[:1]
            yield (
                f'language "{language.tag}": "Begin" is about {ceil(over / _OF_LINE)} lines below '
                f"the first screen of a phone of {PHONE[0]} × {PHONE[1]}; a shorter "
                f"{' and '.join(longest)} would help"
            )
