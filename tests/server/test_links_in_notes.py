"""Links in notes can be pressed, unless following one would tell others of an answer."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from analysis.survey.survey_file import read_survey
from server.store import Store

SURVEY = """
title = "S"
id = "notes"
[privacy]
cap = 1
[[questions]]
id = "smokes"
kind = "yes-no"
text = "Do you smoke?"
epsilon = 1
[[questions]]
id = "help-line"
kind = "note"
text = "Call [0800 111](tel:0800111), see <https://help.example> & [x](javascript:a) *now* <b>."
"""


@pytest.mark.parametrize("condition", ["", "shows_if = \"smokes = 'yes'\""])
def test_a_note_of_some_answers_alone_links_to_no_website(
    client: FlaskClient, store: Store, tmp_path: Path, condition: str
) -> None:
    (tmp_path / "notes.toml").write_text(SURVEY + condition)
    survey = read_survey(tmp_path / "notes.toml")
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    page = client.get("/s/notes").get_data(as_text=True)
    (note,) = re.findall(r'data-note="help-line">\s*<p>(.*?)</p>', page)
    opened = 'target="_blank" rel="noopener noreferrer"'
    assert f'<a href="tel:0800111" {opened}>0800 111</a>' in note
    assert (f'<a href="https://help.example" {opened}>' in note) is (condition == "")
    assert "&amp; [x](javascript:a) *now* &lt;b&gt;." in note
