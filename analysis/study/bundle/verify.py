"""Checks that a bundle is complete, and that its content follows from its survey and reports."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from math import isclose
from typing import Any

import numpy as np

from analysis.core.csv_json import REPORT, read_report
from analysis.core.errors import DataError, ReportError, shown
from analysis.estimate import Ints
from analysis.estimate.columns.of_survey import variable
from analysis.study.bundle.archive import (
    DESCRIPTION,
    check_container,
    check_description,
    is_plain,
    unpack,
)
from analysis.study.bundle.members import members, programs_of_releases
from analysis.study.bundle.package import DESCRIPTIONS, description
from analysis.study.bundle.study import BundledStudy, recounted
from analysis.study.methods import Fieldwork
from analysis.study.tally.cells import read_cells
from analysis.study.tally.json_file import read_frozen
from analysis.survey.survey import Survey

#: The form of a release's number (PEP 440).
_RELEASE = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,63}")
#: The members whose numbers another release computes equally. Words of others may have changed.
_NUMBERS = ("reports.csv", "estimates.csv")
#: The columns of the estimates that are needed for a comparison.
_COLUMNS = ("question", "term", "n", "estimate", "std_error", "conf_low", "conf_high")
#: How names of members end that nobody runs.
_TEXTS = (".md", ".json", ".csv", ".cff")
#: The columns of counts and of texts, which are exact everywhere. A label can be a number, too.
_EXACT = (
    *("n", "simulated", "question", "kind", "text", "term", "value", "label", "variable", "code"),
    *("cells", "missing", "asked", "draw", "author_code", "mechanism", "part", "name", "unit"),
)
#: The form of numbers in tables. Python also reads forms that spreadsheets take for text.
_WHOLE = re.compile(r"-?[0-9]+")
_DECIMAL = re.compile(r"-?([0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|inf)")
#: The members that every bundle has.
_ALWAYS = ("survey.json", "tallies.json", "estimates.csv")
#: The relative and absolute differences allowed between numbers of two machines. Tables have ten
#: digits, and a fit that is stopped early ends slightly elsewhere on another machine.
_NEAR, _NEAR_ZERO = 1e-6, 1e-9


#: The errors that reading a damaged or foreign member can raise.
_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError, csv.Error),
)


@dataclass(frozen=True)
class Verified:
    """The facts about a bundle that passed every check.

    `unknown` are the members that another release made and that cannot be compared with anything:
    they have the hashes that the bundle states, and whoever changes a member can change its hash,
    too. `knows_programs` says whether all programs are those of a known release. `sha256` is that
    of the whole file.
    """

    survey: str
    version: str
    wave: int
    reports: int
    estimates: int
    has_reports: bool
    members: int
    unknown: tuple[str, ...]
    release: str
    sha256: str

    @property
    def knows_programs(self) -> bool:
        """Whether nothing that could be a program is unknown."""
        names = {name.partition(" (")[0] for name in self.unknown}
        return all(name.endswith(_TEXTS) for name in names)


def verify_bundle(data: bytes) -> Verified:
    """Check a bundle, and return what was checked; see `read_bundle`."""
    return read_bundle(data)[1]


def read_bundle(data: bytes) -> tuple[BundledStudy, Verified]:
    """Check a bundle, and return the study in it, and what was checked.

    Its members must be those that it states, with their hashes, and nothing else may be in the
    file. The survey must have the stated version, and the reports the stated tallies. This program
    must make everything else from them. Since tallies are compared with the reports, estimates that
    follow from the tallies also follow from the reports.

    Parameters
    ----------
    data : bytes
        The content of the zip file.

    Raises
    ------
    DataError
        If a check fails. The message begins with the name of the member.
    """
    found = unpack(data)
    check_description(data, found)
    package = _read(DESCRIPTION, found, json.loads)
    _check_hashes(package, found)
    check_container(data, found)
    survey = _read(
        "survey.json",
        found,
        lambda text: read_frozen(
            {**json.loads(text), "version": str(package["deniable"]["version"])}
        ),
    )
    study = _read(DESCRIPTION, found, lambda _: _stated(package, survey))
    tallies = _read("tallies.json", found, lambda text: read_cells(survey, json.loads(text)))
    reports = None
    if "reports.csv" in found:
        reports = _read("reports.csv", found, lambda text: _reports(survey, text))
        for name, counts in recounted(survey, reports).items():
            if not np.array_equal(counts, tallies[name]):
                raise DataError(
                    f"tallies.json: expected the counts of reports.csv, got others of {name}"
                )
    _check_number(study, tallies)
    study = replace(study, tallies=tallies, reports=reports)
    made = _read(DESCRIPTION, found, lambda _: members(study))
    release = package["deniable"]["release"]
    is_ours = release == version("deniable")
    compared = [name for name in made if is_ours or name in _NUMBERS]
    unknown = set[str]()
    if is_ours and set(made) != set(found):
        raise DataError(f"{_first_of(made, found)}: expected the members of a bundle, got others")
    for name in compared:
        if name in DESCRIPTIONS:
            # It states the hashes of the members that were found, not of those just made.
            made[name] = description(name, study, found)
        columns = _read(name, found, partial(_compare, name, made[name].decode(), is_ours))
        unknown |= {f"{name} ({column})" for column in columns}
    compared += [] if is_ours else _compared_programs(release, found)
    compared += ["survey.json", "tallies.json"]  # read and checked above
    unknown |= {*found} - {*compared}
    return study, Verified(
        *(survey.id, survey.version, study.wave, study.fieldwork.reports),
        *(made["estimates.csv"].count(b"\n") - 1, reports is not None, len(found)),
        tuple(sorted(unknown)),
        *(release, sha256(data).hexdigest()),
    )


def _compared_programs(release: str, found: Mapping[str, bytes]) -> list[str]:
    """Return the programs of another release that are as it wrote them; none if it is unknown."""
    known = programs_of_releases().get(release, {})
    for name, hashed in known.items():
        if sha256(found.get(name, b"")).hexdigest() != hashed:
            raise DataError(f"{name}: expected the program of release {release}, got another one")
    return list(known)


def _check_number(study: BundledStudy, tallies: Mapping[str, Ints]) -> None:
    """Raise DataError unless the stated number of reports is that of the tallies."""
    stated = study.fieldwork.reports
    for question in study.survey.questions:
        there = question.randomizer.reports_in(tallies[question.id])
        if there != stated:
            raise DataError(
                f"{DESCRIPTION}: expected {there:,} reports, as the tally of {question.id} has, "
                f"got {stated:,}"
            )
    if not 0 <= study.fieldwork.simulated <= stated:
        raise DataError(
            f"{DESCRIPTION}: expected at most {stated:,} simulated reports, got "
            f"{study.fieldwork.simulated:,}"
        )


def _first_of(some: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    return min(set(some) ^ set(others))


def _read(name: str, found: Mapping[str, bytes], read: Callable[[str], Any]) -> Any:
    """Return the content of a member; raise DataError with its name if it cannot be read."""
    if name not in found:
        raise DataError(f"{name}: expected a member of this name, got none")
    try:
        return read(found[name].decode())
    except DataError:
        raise
    except _UNREADABLE as error:
        told = str(error).partition("\n")[0][:200]
        raise DataError(f"{name}: expected what `deniable bundle` writes: {told}") from None


def _check_hashes(package: Any, found: Mapping[str, bytes]) -> None:
    stated = _read(DESCRIPTION, found, lambda _: _sizes(package))
    for name in sorted({*stated, *_ALWAYS} - set(found)):
        raise DataError(f"{name}: expected a member of this name, got none")
    for name in sorted(set(found) - {*stated, DESCRIPTION}):
        raise DataError(f"{name}: expected no member that {DESCRIPTION} does not state, got one")
    for name, (size, hashed) in stated.items():
        content = found[name]
        if (len(content), f"sha256:{sha256(content).hexdigest()}") != (size, hashed):
            raise DataError(f"{name}: expected the size and SHA-256 that are stated, got others")


def _sizes(package: Any) -> dict[str, tuple[Any, Any]]:
    """Return the size and hash of each member that a description states."""
    sizes = {}
    for each in package["resources"]:
        if not isinstance(each["path"], str) or not is_plain(each["path"]):
            raise ValueError(f"a path that is not a plain name: {shown(each['path'])}")
        sizes[each["path"]] = each["bytes"], each["hash"]
    return sizes


def _stated(package: Any, survey: Survey) -> BundledStudy:
    """Return the study that a description states, without tallies and reports."""
    facts = package["deniable"]
    wave, level = facts["wave"], facts["conf_level"]
    if type(wave) is not int or wave < 1 or type(level) is not float or not 0 < level < 1:
        raise ValueError("a wave below 1, or a conf_level outside 0 to 1")
    if not isinstance(facts["release"], str) or not _RELEASE.fullmatch(facts["release"]):
        raise ValueError(f"release {shown(facts['release'])}")
    fieldwork = Fieldwork(**facts["fieldwork"])
    usual = asdict(Fieldwork(0))
    for name, value in asdict(fieldwork).items():
        # The number of invited people need not be known.
        if type(value) is not type(usual[name]) and (usual[name], type(value)) != (None, int):
            raise ValueError(f"fieldwork: {name} {shown(value)}")
    licenses = package.get("licenses", [{"name": ""}])
    authors = tuple(str(each["title"]) for each in package.get("contributors", []))
    return BundledStudy(survey, wave, level, fieldwork, {}, None, str(licenses[0]["name"]), authors)


def _reports(survey: Survey, text: str) -> list[dict[str, Any]]:
    """Return the reports of a table; each must be one that its randomizer can make."""
    rows = csv.reader(io.StringIO(text))
    header = next(rows)
    _check_header("reports.csv", header)
    places = {}
    for question in survey.questions:
        randomizer = question.randomizer
        kind = randomizer.channel.report_schema()["type"]
        column = header.index(f"{REPORT}{variable(question.id)}")
        places[question.id] = column, kind, randomizer.encoder.cohorts is not None, randomizer
    reports = []
    for number, row in enumerate(rows, 2):
        report = {}
        for name, (column, kind, in_cohort, randomizer) in places.items():
            try:
                report[name] = read_report(row[column], kind, in_cohort)
                randomizer.check_report(report[name], name)
            except (ReportError, ValueError, LookupError) as error:
                raise DataError(f"reports.csv: line {number}: {error}") from None
        reports.append(report)
    return reports


def _compare(name: str, made: str, all_columns: bool, stated: str) -> list[str]:
    """Raise DataError unless a member equals the one made anew, up to the last digits of numbers.

    Another release can have other columns. Without `all_columns`, only common columns are compared,
    and those that could not be are returned.
    """
    if stated == made:
        return []
    told = f"{name}: expected what follows from the survey and its reports, got another"
    if not name.endswith(".csv"):
        raise DataError(f"{told} text")
    tables = [list(csv.reader(io.StringIO(each))) for each in (stated, made)]
    _check_header(name, tables[0][0], _COLUMNS if name == "estimates.csv" else ())
    if len(tables[0]) != len(tables[1]):
        raise DataError(f"{told} number of rows, {len(tables[0]) - 1:,} for {len(tables[1]) - 1:,}")
    if all_columns and tables[0][0] != tables[1][0]:
        raise DataError(f"{told} row of columns")
    columns = [column for column in tables[0][0] if column in tables[1][0]]
    for number, pair in enumerate(zip(*tables, strict=True), 1):
        row, again = (
            dict(zip(table[0], cells, strict=True))
            for table, cells in zip(tables, pair, strict=True)
        )
        for column in columns:
            is_exact = column in _EXACT
            if row[column] != again[column] and (is_exact or not _near(row[column], again[column])):
                raise DataError(
                    f"{told} {column} in line {number}: {shown(row[column])} for "
                    f"{shown(again[column])}"
                )
    return [column for column in tables[0][0] if column not in columns]


def _check_header(name: str, header: list[str], needed: tuple[str, ...] = ()) -> None:
    """Raise DataError unless each column appears once, and all needed columns appear."""
    for column in header:
        if header.count(column) > 1:
            raise DataError(f"{name}: expected each column once, got {shown(column)} again")
    for column in needed:
        if column not in header:
            raise DataError(f"{name}: expected the column {column}, got none")


def _near(stated: str, made: str) -> bool:
    if stated == made:
        return True
    if not (_DECIMAL.fullmatch(stated) and _DECIMAL.fullmatch(made)):
        return False
    if _WHOLE.fullmatch(stated) and _WHOLE.fullmatch(made):
        return False
    return isclose(float(stated), float(made), rel_tol=_NEAR, abs_tol=_NEAR_ZERO)
