"""Check how a survey is shown: notes, pages, grids, sliders, and what its page may do."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.core.errors import SurveyError
from analysis.study.codebook import codebook
from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey

NOTE = '[[questions]]\nid = "hello"\nkind = "note"\ntext = "Hello"\n'
ROW = (
    '[[questions]]\nid = "{}"\nkind = "scale"\ntext = "{}"\nmatrix = "How often are you ..."\n'
    'points = ["never", "often"]\nepsilon = 1\n'
)
GRID = ROW.format("glad", "glad?") + ROW.format("sad", "sad?")
AGE = '[[questions]]\nid = "age"\nkind = "number"\ntext = "Age?"\nmin = 0\nmax = 9\nepsilon = 1\n'
FOREVER = AGE + "epsilon_forever = 2\n"


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Survey]:
    """Read a survey of these entries, with these keys before them."""

    def call(entries: str, head: str = "") -> Survey:
        path = tmp_path / "s.toml"
        path.write_text(f'id = "s"\ntitle = "S"\n{head}\n{entries}')
        survey = read_survey(path)
        assert thaw(json.loads(json.dumps(survey.to_json())), survey.version) == survey
        return survey

    return call


def test_a_note_is_shown_and_not_asked(read: Callable[..., Survey]) -> None:
    survey = read(NOTE + AGE + NOTE.replace("hello", "bye") + 'shows_if = "age > 3"\nhelp = "!"\n')
    hello, age, bye = survey.spec["questions"]
    assert hello == {"id": "hello", "kind": "note", "text": "Hello"}
    assert bye == {
        **{"id": "bye", "kind": "note", "text": "Hello"},
        **{"help": "!", "shows_if": [">", "age", 3]},
    }
    assert [question.spec for question in survey.questions] == [age]
    assert list(survey.to_json()["randomizers"]) == ["age"]
    assert survey.charge == 1_000_000
    (sent,) = payloads(survey, [{"age": "3"}], 1, 1)
    assert list(sent["reports"]) == ["age"]


def test_another_note_is_another_version(read: Callable[..., Survey]) -> None:
    assert read(NOTE + AGE).version != read(NOTE.replace("Hello", "Hi") + AGE).version


def test_false_is_the_same_as_left_out(read: Callable[..., Survey]) -> None:
    flags = "[page]\ncomprehension = false\nresume = false\nkiosk = false\n"
    assert read(AGE + "slider = false\nnew_page = false\n", flags) == read(AGE)
    assert not {"page", "slider", "new_page"} & set(json.dumps(read(AGE).spec).split('"'))


def test_true_is_frozen(read: Callable[..., Survey]) -> None:
    survey = read(AGE + "slider = true\nnew_page = true\n", "[page]\nresume = true\nkiosk = false")
    assert survey.spec["page"] == {"resume": True}
    assert survey.spec["questions"][0]["slider"] is survey.spec["questions"][0]["new_page"] is True
    survey = read(AGE, "[page]\ncomprehension = true\nkiosk = true")
    assert survey.spec["page"] == {"comprehension": True, "kiosk": True}


def test_rows_of_a_matrix_are_questions(read: Callable[..., Survey]) -> None:
    survey = read(GRID + NOTE + GRID.replace('"glad"', '"merry"').replace('"sad"', '"low"'))
    assert [question.id for question in survey.questions] == ["glad", "sad", "merry", "low"]
    assert {question.spec["matrix"] for question in survey.questions} == {"How often are you ..."}
    assert codebook(survey)[0].text == "How often are you ... – glad?"


def test_texts_of_a_matrix_may_have_languages(read: Callable[..., Survey]) -> None:
    texts = '{en = "How ...", fr = "À quel point ..."}'
    entries = GRID.replace('"How often are you ..."', texts)
    number = AGE + 'unit = {en = "years", fr = "ans"}\n'
    survey = read(entries + number, 'languages = ["en", "fr"]')
    assert survey.wording(survey.questions[1]) == "How ... – sad?"
    assert codebook(survey)[-2].label == "Number years"


def test_another_matrix_is_another_fact(read: Callable[..., Survey]) -> None:
    entries = GRID.replace("epsilon = 1", "epsilon = 1\nepsilon_forever = 2\nstable = true")
    other = entries.replace("How often are", "Are")
    assert read(entries).questions[0].memo != read(other).questions[0].memo
    fickle, other = (text.replace("stable = true", "") for text in (entries, other))
    assert read(fickle).questions[0].memo != read(other).questions[0].memo


KIOSK = "[page]\nkiosk = true"


@pytest.mark.parametrize(
    ("head", "entries", "message"),
    [
        ("", NOTE, "questions must be at least one that is not a note, got [a table of id, "),
        ("", NOTE + "epsilon = 1\n" + AGE, 'note "hello": unknown key "epsilon", expected one of'),
        ("", NOTE + "required = true\n" + AGE, 'note "hello": unknown key "required"'),
        ("", NOTE + "stable = true\n" + AGE, 'note "hello": unknown key "stable"'),
        ("", NOTE + 'mechanism = "krr"\n' + AGE, 'note "hello": unknown key "mechanism"'),
        ("", NOTE + "options = []\n" + AGE, 'note "hello": unknown key "options"'),
        ("", NOTE.replace('text = "Hello"', "") + AGE, "text must be a text that is not empty, g"),
        ("", NOTE.replace("hello", "age") + AGE, 'question "age": id must be unique in the surv'),
        ("", NOTE.replace('id = "hello"', "") + AGE, "note 1: id must be an id of"),
        (
            "",
            NOTE + AGE + "shows_if = \"hello = 'yes'\"\n",
            'question "age": shows_if: expected a question, got hello: a note has no answer in "h',
        ),
        ("", NOTE + AGE + 'shows_if = "b = 1"\n', "earlier question (there is none, since this"),
        ("", AGE + "new_page = 1\n", "new_page must be true or false, got 1"),
        ("", AGE + 'slider = "yes"\n', 'slider must be true or false, got "yes"'),
        ("", ROW.format("a", "?") + "slider = true\n", 'unknown key "slider"'),
        ("", AGE + 'matrix = "?"\n', 'question "age": unknown key "matrix"'),
        ("", GRID.replace('"How often are you ..."', '" "'), "matrix must be a text that is not"),
        (
            "",
            ROW.format("glad", "?"),
            'question "glad": matrix must be the same in the scale before or after, since one row',
        ),
        (
            "",
            ROW.format("a", "?") + AGE + ROW.format("b", "?"),
            'question "a": matrix must be the same',
        ),
        ("", GRID + ROW.format("c", "?").replace("How", "Who"), 'question "c": matrix must be th'),
        (
            "",
            GRID
            + ROW.format("c", "?").replace("often", "always").replace("How always", "How often"),
            'question "c": points must be the same in all rows of the matrix that begins with '
            '"glad" (point 2 differs), got ["never", "always"]',
        ),
        (
            "",
            GRID + ROW.format("c", "?").replace('"often"]', '"often", "always"]'),
            "(point 3 differs)",
        ),
        ("", GRID + 'section = "S"\n', 'question "sad": section must be left out: this is a row w'),
        ("", GRID + 'help = "H"\n', 'question "sad": help must be left out: this is a row within'),
        ("", GRID + "new_page = true\n", 'within the matrix that begins with "glad", got true'),
        ("page = 3", AGE, "page must be a table, got 3"),
        ('[page]\nexample = "work"', AGE, "[page]: example must be the id of a question, of age, "),
        ('[page]\nexample = ["age"]', AGE, "[page]: example must be the id of a question, of age"),
        ('[page]\nexample = "hello"', NOTE + AGE, "[page]: example must be the id of a question"),
        ("[page]\nkiosk = 1", AGE, "[page]: kiosk must be true or false, got 1"),
        (
            "[page]\nsave = true",
            AGE,
            '[page]: unknown key "save", expected one of comprehension, example, exit, ',
        ),
        (
            'access = "invited"\n' + KIOSK,
            AGE,
            '[page]: kiosk must be left out unless access is "op',
        ),
        ('access = "panel"\n' + KIOSK, AGE, '[page]: kiosk must be left out unless access is "op'),
        (KIOSK, FOREVER, 'kiosk must be left out, as question "age" has epsilon_forever: on a sh'),
        (KIOSK + "\nresume = true", AGE, "kiosk must be left out with resume, which shows answe"),
        (KIOSK + '\nexit = "about:blank"', AGE, "kiosk must be left out with exit, since its own"),
        ('[page]\nexit = "about:blank"\nresume = true', AGE, "exit must be left out with resume"),
        ('[page]\nexit = "javascript:alert(1)"', AGE, 'exit must be "about:blank", or an address'),
        ("[page]\nexit = true", AGE, 'exit must be "about:blank", or an address'),
    ],
)
def test_mistake_is_named(
    read: Callable[..., Survey], tmp_path: Path, head: str, entries: str, message: str
) -> None:
    with pytest.raises(SurveyError, match="^" + re.escape(f"{tmp_path / 's.toml'}: ")) as caught:
        read(entries, head)
    assert message in str(caught.value)


def _misstated(data: dict[str, Any], way: str) -> dict[str, Any]:
    if way == "more":
        data["randomizers"]["hello"] = data["randomizers"]["age"]
    elif way == "fewer":
        del data["randomizers"]["age"]
    else:
        data["survey"]["questions"][1] |= {"kind": "note"}
    return data


@pytest.mark.parametrize("way", ["more", "fewer", "turned"])
def test_randomizers_are_those_of_the_questions(read: Callable[..., Survey], way: str) -> None:
    data = _misstated(json.loads(json.dumps(read(NOTE + AGE).to_json())), way)
    with pytest.raises(
        ValueError, match="survey s: every question must have a randomizer, its own"
    ):
        thaw(data, version_of(data))
