"""Check the ledger, tables and pictures."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.charts import bar_of, chart
from analysis.core.csv_json import to_text
from analysis.estimate.estimates import ESTIMATE_COLUMNS, estimate_rows, estimates
from analysis.privacy.ledger import COLUMNS_BY, Spend, ledger, ledger_rows
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

# Other programs read these columns, so they are a contract.
ESTIMATE_CONTRACT = (
    "survey,version,wave,question,kind,term,label,estimate,std_error,conf_low,conf_high,conf_level,"
    "conf_method,n,n_eff,epsilon,mechanism,flag"
)
LEDGER_CONTRACT = (
    "respondent,waves,reports,epsilon_sum,epsilon,epsilon_if_constant,delta,method,cap,remaining,"
    "above_cap"
)


def _empty(survey: Survey) -> dict[str, NDArray[np.int64]]:
    return {q.id: np.zeros(q.randomizer.shape, dtype=np.int64) for q in survey.questions}


def test_columns_are_the_contract() -> None:
    assert ",".join(ESTIMATE_COLUMNS) == ESTIMATE_CONTRACT
    assert ",".join(COLUMNS_BY["respondent"]) == LEDGER_CONTRACT


def test_ledger_sums_reports_over_waves_and_versions(survey: Survey) -> None:
    spends = [
        Spend("bb", survey.terms, 1, 4_000_000),
        Spend("aa", survey.terms, 3, 12_000_000),
    ]
    rows = ledger(spends, {survey.terms: survey}, survey.cap)
    assert [(row.respondent, row.waves, row.reports) for row in rows] == [
        ("aa", 3, 9),
        ("bb", 1, 3),
    ]
    text = to_text(ledger_rows(rows), COLUMNS_BY["respondent"], "csv").splitlines()
    assert text == [LEDGER_CONTRACT, "aa,3,9,12,12,12,0,sum,12,0,no", "bb,1,3,4,4,4,0,sum,12,8,no"]


def test_sums_of_tenths_are_exact(survey_file: Path) -> None:
    text = survey_file.read_text().split("[[questions]]")
    survey_file.write_text("[[questions]]".join(text[:2]).replace("epsilon = 1.0", "epsilon = 0.1"))
    survey = read_survey(survey_file)
    spends = [Spend("aa", survey.terms, 1, survey.charge)] * 3
    (row,) = ledger(spends, {survey.terms: survey}, 300_000)
    assert (
        to_text(ledger_rows([row]), ["epsilon", "remaining"], "csv") == "epsilon,remaining\n0.3,0\n"
    )


def test_csv_and_json_say_the_same(survey: Survey) -> None:
    rows = estimate_rows("canteen", survey.version, 1, estimates(survey, _empty(survey)))
    table = list(csv.DictReader(io.StringIO(to_text(rows, ESTIMATE_COLUMNS, "csv"))))
    whole = json.loads(to_text(rows, ESTIMATE_COLUMNS, "json"))
    assert len(table) == len(whole) == 13
    for one, other in zip(table, whole, strict=True):
        assert list(one) == list(other) == list(ESTIMATE_COLUMNS)
        assert one["term"] == other["term"]
        assert (one["estimate"], other["estimate"]) == ("", None)


def test_labels_cannot_become_formulas_of_spreadsheets() -> None:
    assert to_text([{"label": "=1+1"}], ["label"], "csv") == "label\n'=1+1\n"


def test_chart_is_a_described_picture_without_styles(survey: Survey) -> None:
    counts = _empty(survey)
    counts["meat"][:] = [700, 200, 100]
    rows = estimates(survey, counts)[:3]
    picture = chart('Meat & "more" <b>', [bar_of(row, 0, 1) for row in rows], 0, 1, "%")
    root = ET.fromstring(picture)
    assert root.attrib["role"] == "img"
    assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
    assert "Yes: " in picture
    assert "style=" not in picture
    assert picture.count("<circle") == 3
