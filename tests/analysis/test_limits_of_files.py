"""Files larger than any study are refused in one line, before anything is computed."""

from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from analysis.estimate.columns import design_file
from analysis.estimate.columns.design_file import MOST_COLUMNS, read_designs
from analysis.survey import freeze as frozen
from analysis.survey.survey_file import MOST_ENTRIES, read_survey

QUESTION = '[[questions]]\nid = "q{}"\nkind = "yes-no"\ntext = "?"\nepsilon = 0.001\n'
COLUMN = '[columns.c{}]\nvalues = ["0", "1"]\ndesign = {{name = "warner", p = "3/4"}}\n'


def test_more_questions_than_anybody_answers_are_refused_before_they_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(frozen, "choose", lambda *given: compiled.append(given))
    path = tmp_path / "s.toml"
    path.write_text('id = "s"\ntitle = "S"\n' + "".join(map(QUESTION.format, range(10_000))))
    with pytest.raises(SurveyError) as raised:
        read_survey(path)
    assert str(raised.value).endswith(
        f"s.toml: questions must be 1 to {MOST_ENTRIES} [[questions]] tables, got 10000"
    )
    assert compiled == []


def test_more_columns_than_any_study_has_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    monkeypatch.setattr(design_file, "_design", read.append)
    path = tmp_path / "d.toml"
    path.write_text("".join(map(COLUMN.format, range(MOST_COLUMNS + 1))))
    with pytest.raises(SurveyError, match=f"at most {MOST_COLUMNS} tables, got {MOST_COLUMNS + 1}"):
        read_designs(path)
    assert read == []
