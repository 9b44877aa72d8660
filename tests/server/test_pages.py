"""What the respondent's page says of a channel is true of it."""

from pathlib import Path

import pytest

from analysis.survey_file import read_survey
from server.pages import odds


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ('mechanism = "two-coin"',
         "one of two reports, drawn by chance. Of 100 people who give the first answer, about 75 "
         "send the first report; of 100 who give the second answer, about 25"),
        ('mechanism = {name = "crosswise", prevalence = "1/4"}',
         "answer, about 25 send the first report; of 100 who give the second answer, about 75"),
        ('mechanism = {name = "forced", p_yes = "1/3", p_no = "1/6"}',
         "about 83 send the first report; of 100 who give the second answer, about 33"),
        ('mechanism = "oue"\nepsilon = 1',
         "about 50 send a report that counts for it; of 100 who gave another, about 27"),
        ('mechanism = "hadamard"\nepsilon = 1',
         "about 73 send a report that counts for it; of 100 who gave another, about 50"),
    ],
)  # fmt: skip
def test_sentence_tells_how_often_each_answer_is_sent(
    tmp_path: Path, keys: str, sentence: str
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'id = "s"\ntitle = "S"\n[[questions]]\nid = "q"\nkind = "yes-no"\ntext = "?"\n'
        f"required = true\n{keys}\n"
    )
    (question,) = read_survey(path).questions
    assert sentence in odds(question)
