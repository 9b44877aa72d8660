"""Tables as CSV: reports can be read back exactly, and no text is run as a formula."""

import csv
import io
from typing import Any

import pytest

from analysis.core.csv_json import to_text

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


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+cmd", "@SUM(A1)", "\tx", "\rx", "\n=1"])
def test_typed_texts_are_not_run_as_formulas(text: str) -> None:
    assert "'" + text in to_text([{"label": text}], ["label"], "csv")
