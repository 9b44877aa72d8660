"""Every channel is described in words."""

from pathlib import Path

import pytest

from analysis.core.channels import CHANNELS
from analysis.core.encoders import ENCODERS
from analysis.survey.survey_file import read_survey
from server.plain_words import _FIRST, _HOW, _SHORT, how, in_short, term

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def test_every_channel_of_one_question_is_described() -> None:
    # The channel of several questions at once is described with their draw.
    assert {*_HOW} == {*_SHORT} == {*CHANNELS} - {"pattern"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_sentences_have_no_technical_term(path: Path) -> None:
    for question in read_survey(path).questions:
        name = question.mechanism.name
        assert how(question).endswith(".")
        assert name not in how(question) or name == "together"
        assert f"mechanism {name}" in term(question)
        assert in_short(question).endswith(f" ({name})")
        assert ("on a grid of" in term(question)) == (question.spec["kind"] == "number")


def test_encoders_with_a_description_are_described() -> None:
    assert {*_FIRST} < {*ENCODERS}
    survey = read_survey(Path(__file__).parents[2] / "examples/well-being.toml")
    (text,) = [one for one in survey.questions if one.id == "app"]
    assert how(text).startswith("The device turns the answer into a short code")
    (plain,) = [one for one in survey.questions if one.id == "work"]
    assert how(plain).startswith("The device is likelier to send the true answer")
