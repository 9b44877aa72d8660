"""Files of a few kilobytes that kept a processor busy for minutes are read at once, or refused."""

import json

import pytest
from limits import run_within_cpu

TITLES = """import json, sys
from server.forms import read_form
for part in json.load(sys.stdin):
    title = part * 12_000
    asked = {"type": "boolean", "name": "drove", "title": title}
    content = json.dumps({"title": title, "pages": [{"elements": [asked]}]}).encode()
    print(read_form(content, "form.json").questions)
"""
DRAFT = """import sys
from analysis.core.errors import SurveyError
from server.editing.reading import read_draft
try:
    read_draft(sys.stdin.read(), {})
except SurveyError as error:
    print(error)
"""
PIPED = """title = "S"
id = "s"
[[questions]]
id = "q"
kind = "yes-no"
text = "One?"
epsilon = 1
[[questions]]
id = "r"
kind = "yes-no"
text = "{}"
epsilon = 1
"""


def test_titles_of_beginnings_without_ends_are_read() -> None:
    parts = ["<script ", "<style>", "<!--", "<a ", "<!", "< ", "</script ", "&"]
    assert run_within_cpu(TITLES, stdin=json.dumps(parts).encode()) == "1\n" * len(parts)


@pytest.mark.parametrize("rest", ["a" * 90_000, "a " * 45_000])
def test_a_text_whose_earlier_answer_has_no_end_is_refused(rest: str) -> None:
    told = run_within_cpu(DRAFT, stdin=PIPED.format("{answer.q|" + rest).encode())
    assert "text must be a text in which each answer is {answer.ID}" in told
