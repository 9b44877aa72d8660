"""A survey's texts about itself are read, frozen, checked, shown, and put into the codebook."""

import struct
import zlib
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analysis.core.errors import SurveyError
from analysis.study.codebook import codebook
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey
from server.cli import main
from server.pages.browser_files import CLIENT, client_files
from server.pages.markdown import rendered
from server.pages.rendering import Pages

Read = Callable[[str], Survey]
QUESTION = '[[questions]]\nid = "q"\ntext = "?"\nkind = "yes-no"\nepsilon = 1\n'
TEXTS = {
    "organisation": "Example University",
    "introduction": "Why **we** ask.",
    "contact": "Write to <a@example.org>.",
    "consent": "I take part.",
    "thanks": "Thank you.",
}
STUDY = "".join(f'{key} = "{text}"\n' for key, text in TEXTS.items())
STUDY += 'minutes = 5\nlink = "https://example.org/end?study=1"\nlink_text = "More"\n'


def survey_of(text: str, question: str = QUESTION) -> str:
    return f'title = "T"\nid = "s"\n{text}\n{question}'


def page_of(survey: Survey) -> str:
    data = survey.to_json() | {"version": survey.version, "wave": 1, "state": "open"}
    return Pages(client_files(CLIENT)).survey(survey, data).content.decode()


def test_all_of_it_is_frozen_and_shown(read: Read) -> None:
    survey = read(survey_of(STUDY))
    assert {key: survey.spec[key] for key in TEXTS} == TEXTS
    assert thaw(survey.to_json(), survey.version).spec == survey.spec
    page = page_of(survey)
    assert "<p>Why <strong>we</strong> ask.</p>" in page
    assert 'href="mailto:a@example.org"' in page
    assert "About 5 minutes." in page
    assert '<a href="https://example.org/end?study=1" rel="noopener noreferrer">More</a>' in page
    # Who asks comes before "Begin", and the consent comes after it.
    order = [
        "Example University",
        'id="begin"',
        "<p>I take part.</p>",
        'id="consent"',
        "<p>Thank you.</p>",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert page.count("Why <strong>we</strong> ask.") == 2


def test_each_language_has_its_own(read: Read) -> None:
    text = 'languages = ["en", "de"]\nconsent = {en = "I do.", de = "Ja."}\n'
    text += 'link = "https://example.org"\nlink_text = {en = "More", de = "Mehr"}\n'
    page = page_of(read(survey_of(text)))
    assert '<div data-language="de" lang="de" dir="auto" hidden><p>Ja.</p>' in page
    assert '<span data-language="de" lang="de" dir="auto" hidden>Mehr</span>' in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('consent = ""', "consent must be a text that is not empty"),
        ('organisation = {en = "a"}', "organisation must be a text that is not empty"),
        ("minutes = 0", "minutes must be a whole number of minutes from 1 to 120, got 0"),
        ("minutes = 2.5", "minutes must be a whole number of minutes from 1 to 120"),
        ("minutes = true", "minutes must be a whole number of minutes"),
        ('link = "example.org"', 'link must be an address such as "https://example.org/thanks"'),
        ('link = "javascript:alert(1)"', "link must be an address"),
        ('link = "https://user:secret@example.org"', "link must be an address"),
        ('link = "https://example.org/a b"', "link must be an address"),
        ('link = "https://[example"', "link must be an address"),
        ('link_text = "More"', "link_text must be left out without link"),
        ("organization = 'x'", "unknown key 'organization'|unknown key \"organization\""),
    ],
)
def test_mistakes_are_named(read: Read, text: str, message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        read(survey_of(text))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>"),
        ("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("<script>1</script>", "<p>&lt;script&gt;1&lt;/script&gt;</p>"),
        ("![x](https://example.org/x.png)", None),
        ("# a", "<p># a</p>"),
        ("[a](javascript:alert)", "<p>[a](javascript:alert)</p>"),
        ("[a](/me)", "<p>[a](/me)</p>"),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"),
        (
            "[a](https://example.org)",
            '<p><a href="https://example.org" target="_blank" rel="noopener noreferrer">a</a></p>',
        ),
        ('"a" & b', "<p>&quot;a&quot; &amp; b</p>"),
    ],
)
def test_markdown_has_no_program_and_loads_nothing(typed: str, shown: str | None) -> None:
    found = str(rendered(typed)).strip()
    assert "<img" not in found
    assert "<script" not in found
    if shown is not None:
        assert found == shown


def png(width: int, height: int, more: bytes = b"") -> bytes:
    """Return a PNG of one color, with bytes after its end."""

    def chunk(name: bytes, data: bytes) -> bytes:
        whole = name + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts + more


#: It begins like a JPEG of 3 x 5 pixels: a comment, then the frame header.
JPEG = bytes.fromhex("ffd8 fffe0004 6869 ffc0 000b 08 0005 0003 01 011100 ffd9")
IMAGES = 'logo = "logo.png"\n'


def test_images_are_a_part_of_the_survey_that_its_version_pins(read: Read, tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png(4, 2))
    (tmp_path / "photo.jpg").write_bytes(JPEG)
    question = QUESTION + 'image = "photo.jpg"\nimage_text = "A cup"\n'
    survey = read(survey_of(IMAGES, question))
    logo, image = survey.spec["logo"], survey.spec["questions"][0]["image"]
    assert (logo["type"], logo["width"], logo["height"]) == ("image/png", 4, 2)
    assert b64decode(logo["base64"]) == png(4, 2)
    assert (image["type"], image["width"], image["height"]) == ("image/jpeg", 3, 5)
    assert (b64decode(image["base64"]), image["text"]) == (JPEG, "A cup")
    page = page_of(survey)
    assert '<img class="logo" data-image="logo" alt="" width="4" height="2">' in page
    assert '<img data-image="q" width="3" height="5" aria-labelledby="q_image">' in page
    (tmp_path / "logo.png").write_bytes(png(4, 3))
    assert read(survey_of(IMAGES, question)).version != survey.version


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("logo.png", None, "No such file"),
        ("../logo.png", None, "expected a file in the survey file's folder"),
        ("logo.png", b"GIF89a" + bytes(20), "expected a PNG or JPEG image, got other bytes"),
        ("logo.png", b"<svg/>", "expected a PNG or JPEG image"),
        ("logo.png", png(4, 2)[:20], "expected a PNG or JPEG image"),
        ("logo.png", png(0, 2), "expected a PNG or JPEG image"),
        ("logo.png", JPEG[:12], "expected a PNG or JPEG image"),
        ("logo.png", b"\xff\xd8\xff\xc4\x00\x00" * 9, "expected a PNG or JPEG image"),
        ("logo.png", png(4, 2, bytes(65536)), "an image of at most 65,536 bytes, got 65,6"),
    ],
)
def test_other_files_than_images_are_refused(
    read: Read, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SurveyError, match=message):
        read(survey_of(f'logo = "{name}"'))


def test_an_image_needs_a_text_for_people_who_do_not_see_it(read: Read, tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png(4, 2))
    with pytest.raises(SurveyError, match="image_text must be a text that is not empty"):
        read(survey_of("", QUESTION + 'image = "logo.png"\n'))


def checked(path: Path, text: str) -> str:
    path.write_text(text)
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 0
    return str(result.stderr)


def test_check_says_what_ethics_boards_ask_for(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    said = checked(path, survey_of('organisation = "x"'))
    assert "the page does not say why (introduction), whom to contact (contact), " in said
    assert "ethics boards" not in checked(path, survey_of(STUDY))


def test_check_says_how_long_browsers_remember(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    warning = "if waves are more than 7 days apart, Safari deletes"
    assert warning not in checked(path, survey_of(STUDY))
    assert warning in checked(path, survey_of(STUDY, QUESTION + "epsilon_forever = 2\n"))


def test_reasons_are_shown_and_in_the_codebook(read: Read) -> None:
    table = '[[together]]\nid = "t"\nquestions = ["a", "b"]\nepsilon = 2\nepsilon_each = 1.5\n'
    table += 'reason = "Both belong together."\n'
    alone = QUESTION + 'reason = "It is <harmless>."\n'
    joint = "".join(
        QUESTION.replace('"q"', f'"{name}"').replace("epsilon = 1\n", "") for name in "ab"
    )
    survey = read(survey_of(table, alone + joint))
    page = page_of(survey)
    # The text that applies to both is shown once.
    assert page.count("Why it is protected this much: Both belong together.") == 1
    assert page.count("Why it is protected this much: It is &lt;harmless&gt;.") == 1
    reasons: dict[str, Any] = {row.question: row.reason for row in codebook(survey)}
    assert reasons == {
        "q": "It is <harmless>.",
        "a": "Both belong together.",
        "b": "Both belong together.",
    }


def test_a_reason_gives_an_answer_no_other_meaning(read: Read) -> None:
    kept = QUESTION + "epsilon_forever = 2\n"
    before, after = (read(survey_of("", kept + more)) for more in ("", 'reason = "x"\n'))
    assert before.version != after.version
    assert before.questions[0].meaning == after.questions[0].meaning
