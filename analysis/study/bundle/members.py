"""The members of a bundle, which are the same for the same study."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from analysis.core.csv_json import pieces_of_columns, reports_text, to_text
from analysis.estimate.estimates import ESTIMATE_COLUMNS, estimate_rows, estimates
from analysis.study.bundle.package import DESCRIPTIONS, as_json, citation, description, readme
from analysis.study.bundle.study import BundledStudy
from analysis.study.bundle.tables import (
    ChannelRow,
    Score,
    TallyCell,
    Together,
    channel_rows,
    score_rows,
    table_text,
    tally_rows,
    together_rows,
)
from analysis.study.codebook import codebook_table
from analysis.study.label import Fact, label
from analysis.study.methods import methods
from analysis.study.report_columns import report_cells, report_columns
from analysis.study.tally.cells import cells_of
from analysis.survey.survey import Survey

#: The members that somebody runs. They are the same in all bundles of a release.
PROGRAMS = ("study.R", "recompute.R", "recompute.ipynb")
#: The number of rows of reports that are turned into text at a time.
_AT_ONCE = 4096


def members(study: BundledStudy) -> dict[str, bytes]:
    """Return the members of a study's bundle by name. They are the same for the same study."""
    made = {name: text.encode() for name, text in _texts(study).items()}
    for name in DESCRIPTIONS:
        made[name] = description(name, study, made)
    return made


def _texts(study: BundledStudy) -> dict[str, str]:
    survey, tallies = study.survey, study.tallies
    rows = estimates(survey, tallies, study.conf_level)
    simulated = {"simulated": study.fieldwork.simulated}
    printed = estimate_rows(survey.id, survey.version, study.wave, rows)
    codes, columns = codebook_table(survey)
    codes = [code | simulated for code in codes]
    made = {
        "survey.json": as_json(survey.to_json()),
        "tallies.json": as_json(cells_of(tallies)),
        "tallies.csv": table_text(TallyCell, tally_rows(survey, tallies)),
        "channels.csv": table_text(ChannelRow, channel_rows(survey)),
        "scores.csv": table_text(Score, score_rows(survey, tallies)),
        "together.csv": table_text(Together, together_rows(survey)),
        "estimates.csv": to_text(
            [row | simulated for row in printed], (*ESTIMATE_COLUMNS, "simulated"), "csv"
        ),
        "codebook.csv": to_text(codes, [*columns, *simulated], "csv"),
        "codebook.json": to_text(codes, [*columns, *simulated], "json"),
        "label.csv": table_text(Fact, label(survey, study.fieldwork)),
        "methods.md": f"{methods(survey, study.wave, rows, study.fieldwork)}\n",
        "CITATION.cff": citation(study),
        "README.md": readme(study),
        **programs(),
    }
    if study.reports is not None:
        made["reports.csv"] = _reports(survey, study.reports)
    return made


def programs() -> dict[str, str]:
    """Return the text of each program that this release puts into a bundle."""
    release = version("deniable")
    return {name: _beside(name).replace("RELEASE", release) for name in PROGRAMS}


def programs_of_releases() -> dict[str, dict[str, str]]:
    """Return the SHA-256 hash of each program of a bundle, by release.

    The file is written by ``python tests/bundle_programs.py`` before a release.
    """
    known: dict[str, dict[str, str]] = json.loads(_beside("programs.json"))
    return known


def _reports(survey: Survey, reports: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of reports, sorted by content, so that positions identify nobody."""
    rows = sorted(reports, key=reports_text)
    columns = report_columns(survey)
    parts = (
        report_cells(columns, rows[start : start + _AT_ONCE])
        for start in range(0, len(rows), _AT_ONCE)
    )
    return "".join(pieces_of_columns(parts, [column.name for column in columns], "csv"))


def _beside(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
