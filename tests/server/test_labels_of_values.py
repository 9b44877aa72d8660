"""Labels of values in files of other programs: whole or cut between letters, and different."""

from pathlib import Path

import pyreadstat
import pytest
from bundled import study
from command_line import run

from analysis.survey.survey_file import read_survey
from server.formats.table import shortened

LABELS = f"""
title = "Labels"
id = "labels"
[[questions]]
id = "long"
kind = "choice"
required = true
text = "Which?"
mechanism = "krr"
options = [{{id = "a", text = "{"Nein, 决不, " * 20} at work"}},
  {{id = "b", text = "{"Nein, 决不, " * 20} at home"}},
  {{id = "c", text = "نمی\u200cدانم 👩\u200d👩\u200d👧"}}]
epsilon = 1
"""


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_labels_of_values_differ_and_keep_what_joins_letters(tmp_path: Path, form: str) -> None:
    (tmp_path / "labels.toml").write_text(LABELS)
    database = study(tmp_path / "x.db", read_survey(tmp_path / "labels.toml"), 20).database.place
    output = tmp_path / f"x.{form}"
    words = "--db", database, "--format", form, "--output", output
    assert run("export", "labels", *words).exit_code == 0
    _, about = getattr(pyreadstat, f"read_{form}")(output)
    labels = about.variable_value_labels["noisy_long"]
    assert labels[2] == "reports: نمی\u200cدانم 👩\u200d👩\u200d👧"
    if form == "dta":
        assert [labels[at].split(", ")[-1] for at in (0, 1)] == ["at work", "at home"]
    else:
        assert [labels[at][-5:] for at in (0, 1)] == ["… (0)", "… (1)"]
        assert all(len(label.encode()) <= 120 for label in labels.values())


@pytest.mark.parametrize(
    ("text", "longest", "found"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc…"),
        # A mark, a vowel, a virama with its consonants, a family, a skin, and two flags.
        ("ab" + "e\u0301" * 3, 9, "abe\u0301…"),
        ("का" * 3, 14, "का…"),
        ("aक्षक्ष", 12, "a…"),
        ("👩\u200d👩\u200d👧👩\u200d👩\u200d👧", 30, "👩\u200d👩\u200d👧…"),
        ("👍🏽👍🏽", 15, "👍🏽…"),
        ("🇩🇪🇫🇷🇮🇹", 17, "🇩🇪…"),
        ("نمی\u200cدانم", 12, "نمی\u200c…"),
        ("a\u00a0b\u2028c", 9, "a b c"),
    ],
)
def test_letters_are_never_cut_in_their_middle(text: str, longest: int, found: str) -> None:
    assert shortened(text, longest) == found
