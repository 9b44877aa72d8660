"""The first screen: the question whose numbers it shows, and the beginning of the introduction."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.survey.check import check
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.editing.draft_file import DraftFile
from server.explanation import example, example_of
from server.explanation.first_screen import heights, too_long
from server.page_texts import LANGUAGES, told
from server.pages.markdown import rendered
from server.remarks import on_page, remarks

HEAD = 'title = "S"\nid = "s"\n'
ASKED = '[[questions]]\nid = "{id}"\nkind = "yes-no"\ntext = "{id}?"\nepsilon = {epsilon}\n'
Read = Callable[..., Survey]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def survey(head: str, *epsilons: float) -> Survey:
        asked = "".join(ASKED.format(id=f"q{n}", epsilon=e) for n, e in enumerate(epsilons))
        (tmp_path / "s.toml").write_text(HEAD + head + asked)
        return read_survey(tmp_path / "s.toml")

    return survey


@pytest.mark.parametrize(
    ("epsilons", "named", "expected"),
    [
        ((1, 2, 1), None, "q1"),
        ((1, 1, 1), None, "q0"),
        ((1, 2, 2), None, "q1"),
        ((1, 2, 1), "q2", "q2"),
        ((1, 2, 1), "q1", "q1"),
    ],
)
def test_the_example_is_the_question_with_the_largest_odds_or_the_authors(
    read: Read, epsilons: tuple[float, ...], named: str | None, expected: str
) -> None:
    survey = read(f'[page]\nexample = "{named}"\n' if named else "", *epsilons)
    assert example_of(survey).id == expected
    first, second = (told(phrase, LANGUAGES["en"]) for phrase in example(survey))
    assert re.search("Of 100 people .*“Yes”, about (58|79) send “Yes”", first)
    assert re.search("Of 100 .*, about (21|11) send “Yes”, too", second)
    assert ("79 send" in first) == (expected == "q1")
    warned = [text for text in remarks(survey, check(survey)) if "[page] example" in text]
    assert len(warned) == (named == "q2")
    if warned:
        assert 'numbers of "q2", although reports on "q1" reveal more' in warned[0]
        assert any("numbers of “q2?”, although" in text for text in on_page(survey, check(survey)))


def test_an_example_keeps_its_question_when_that_gets_another_id() -> None:
    asked = "".join(ASKED.format(id=name, epsilon=1) for name in ("a", "b"))
    draft = DraftFile(f'{HEAD}[page]\nexample = "b"\n{asked}')
    draft.rename("question/b", "c")
    assert 'example = "c"' in draft.toml


WORDS = " ".join(f"word{n}" for n in range(20))


@pytest.mark.parametrize(
    ("text", "beginning", "rest"),
    [
        ("Short.", "<p>Short.</p>\n", ""),
        (f"{WORDS}. {WORDS}.", f"<p>{WORDS}.</p>", f"<p> {WORDS}.</p>\n"),
        (f"{WORDS}\n\n{WORDS}", f"<p>{WORDS}</p>", f"\n<p>{WORDS}</p>\n"),
        (
            f"**{WORDS}.** *{WORDS}.*",
            f"<p><strong>{WORDS}.</strong></p>",
            f"<em>{WORDS}.</em></p>\n",
        ),
        (f"- {WORDS}.\n- {WORDS}.", f"<ul>\n<li>{WORDS}.</li></ul>", f"<li>{WORDS}.</li>\n</ul>\n"),
    ],
)
def test_an_introduction_is_cut_where_a_sentence_ends(text: str, beginning: str, rest: str) -> None:
    assert rendered(text, 0) == beginning
    assert rendered(text, 1).endswith(rest)
    assert "<p></p>" not in rendered(text, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"{WORDS} **{WORDS} {WORDS}** {WORDS}.",
        f"- {WORDS} {WORDS}\n- [{WORDS}](https://example.org)",
        f"{WORDS}\\\n{WORDS}. {WORDS}",
        "これは文です。" * 60,
        "これは文です" * 60,
        f"A & B < C {WORDS} {WORDS}",
    ],
)
def test_both_parts_of_an_introduction_have_all_its_words_once(text: str) -> None:
    first, rest = rendered(text, 0), rendered(text, 1)
    words = (first.striptags().removesuffix(" …") + rest.striptags()).split()
    assert "".join(words) == "".join(rendered(text).striptags().split())
    assert len(first.striptags().removesuffix(" …").split()) <= 30
    for html in (first, rest):
        tags = [name for name in re.findall(r"<(/?\w+)", html) if name != "br"]
        opened: list[str] = []
        for tag in tags:
            if tag.startswith("/"):
                assert opened.pop() == tag[1:]
            else:
                opened.append(tag)
        assert opened == []


def test_longer_texts_make_the_first_screen_higher_and_are_named(read: Read) -> None:
    (english, german) = (LANGUAGES[tag] for tag in ("en", "de"))
    head = (
        'languages = ["en", "de"]\norganisation = {en = "A.", de = "'
        + "Amt für alles " * 60
        + '"}\n'
    )
    survey = read(head, 1, 1)
    assert sum(heights(survey, english).values()) < 640 < sum(heights(survey, german).values())
    (told_once,) = too_long(survey)
    assert told_once.startswith('language "de": "Begin" is about ')
    assert told_once.endswith("; a shorter organisation would help")
    assert any(text.startswith('Language "de": "Begin"') for text in on_page(survey, check(survey)))
