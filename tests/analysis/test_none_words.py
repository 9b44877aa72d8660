"""The answer that none of the options is true can have words of its own, which change no draw."""

from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from analysis.study.codebook import codebook_table
from analysis.survey.document import parsed
from analysis.survey.survey import Survey
from analysis.survey.survey_file import survey_of
from analysis.survey.written import check_written

TOML = """
title = "Pets"
id = "pets"
format = 2
[[questions]]
id = "which"
kind = "choices"
text = "Which pets do you have?"
options = [{id = "cat", text = "A cat"}, {id = "dog", text = "A dog"}]
epsilon = 1
"""
WORDS = 'none = "I have no pets"\n'


def read(toml: str) -> Survey:
    return survey_of(parsed(toml, "pets"), "pets", Path("."))


def test_the_words_are_those_of_the_codebook_and_nothing_else_changes() -> None:
    plain, worded = read(TOML), read(TOML + WORDS)
    check_written(worded.spec)
    asked = worded.spec["questions"][0]
    assert asked["none"] == "I have no pets"
    assert {**asked, "none": None} == {**plain.spec["questions"][0], "none": None}
    assert worded.to_json()["randomizers"] == plain.to_json()["randomizers"]
    assert worded.version != plain.version
    labels = [
        {row["value"]: row["label"] for row in codebook_table(one)[0]} for one in (plain, worded)
    ]
    assert [label["none"] for label in labels] == ["None of these", "I have no pets"]


@pytest.mark.parametrize("words", ['none = ""\n', "none = true\n", 'none = {en = "x"}\n'])
def test_wrong_words_are_refused(words: str) -> None:
    with pytest.raises(SurveyError, match=r"which.*none must be"):
        read(TOML + words)
