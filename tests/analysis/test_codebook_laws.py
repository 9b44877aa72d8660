"""A codebook is enough to compute the probability of each report under each answer, and its ε."""

import json
from math import log
from pathlib import Path

import pytest

from analysis.core.csv_json import to_text
from analysis.study.codebook import codebook
from analysis.survey.survey_file import read_survey

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["working-conditions", "night-life", "staff-panel", "one-draw"])
def test_probabilities_are_those_of_the_channel_and_give_epsilon(name: str) -> None:
    survey = read_survey(EXAMPLES / f"{name}.toml")
    rows = [vars(code) for code in codebook(survey)]
    read = json.loads(to_text(rows, rows[0], "json"))
    told = 0
    for question in survey.questions:
        own = [row for row in read if row["question"] == question.id]
        encoder = question.randomizer.encoder
        if not (question.randomizer.reports_values and encoder.cohorts is None):
            assert [row["chances"] for row in own] == [[]] * len(own)
            continue
        told += 1
        for row in own:
            symbol = question.domain.alternatives.index(row["value"])
            law = {
                report: float(p) for report, p in question.randomizer.channel.distribution(symbol)
            }
            assert row["chances"] == pytest.approx([law[report] for report in sorted(law)])
            assert sum(row["chances"]) == pytest.approx(1)
            if row["code"] is not None and row["p"] is not None:
                assert row["chances"][row["code"]] == pytest.approx(row["p"])
        columns = zip(*(row["chances"] for row in own), strict=True)
        worst = max(max(column) / min(column) for column in columns)
        assert log(worst) == pytest.approx(own[0]["epsilon"], abs=1e-6)
    assert told or name == "one-draw"


def test_the_numbers_of_all_other_designs_are_those_of_the_device() -> None:
    for name in ("well-being", "one-draw"):
        survey = read_survey(EXAMPLES / f"{name}.toml")
        drawn = {q.id: draw for draw in survey.draws for q in getattr(draw, "questions", (draw,))}
        for code in codebook(survey):
            assert code.randomizer == drawn[code.question].randomizer.to_json()
            assert ("encoder" in code.randomizer) != (
                name == "one-draw" and code.mechanism == "together"
            )
    rows = [vars(code) for code in codebook(survey)]
    line = to_text(rows, ("chances", "randomizer"), "csv").splitlines()[-1]
    assert (
        json.loads(line.partition(",")[2].strip('"').replace('""', '"')) == rows[-1]["randomizer"]
    )
