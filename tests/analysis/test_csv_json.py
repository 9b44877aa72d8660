"""Tables as CSV: reports can be read back exactly, and no text is run as a formula."""

import csv
import io
from typing import Any

import pytest

from analysis.core.csv_json import read_report, to_text

REPORT = "noisy_"


def _read_back(row: dict[str, Any]) -> dict[str, str]:
    (found,) = csv.DictReader(io.StringIO(to_text([row], row, "csv")))
    return found


@pytest.mark.parametrize("bits", ["-AbC_9", "--", "A-b", "-1"])
def test_exported_bits_are_read_back_exactly(bits: str) -> None:
    row = {f"{REPORT}plain": bits, f"{REPORT}cohort": {"cohort": 7, "report": bits}}
    found = _read_back(row)
    assert found[f"{REPORT}plain"] == bits
    assert found[f"{REPORT}cohort"] == f"7:{bits}"


@pytest.mark.parametrize(
    ("report", "kind"), [("-AbC_9", "string"), (3, "integer"), ([1, 4], "array"), ([], "array")]
)
@pytest.mark.parametrize("in_cohort", [False, True])
def test_reports_are_read_back_with_their_cohorts(report: Any, kind: str, in_cohort: bool) -> None:
    sent = {"cohort": 7, "report": report} if in_cohort else report
    cell = _read_back({f"{REPORT}q": sent})[f"{REPORT}q"]
    assert read_report(cell, kind, in_cohort) == sent


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1+cmd", "@SUM(A1)", "\tx", "\rx", "\n=1"),
        # Their full-width forms.
        *("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)"),
    ],
)
def test_typed_texts_are_not_run_as_formulas(text: str) -> None:
    assert "'" + text in to_text([{"label": text}], ["label"], "csv")
    assert f"'{text}|b" in to_text([{"labels": [text, "b"]}], ["labels"], "csv")
