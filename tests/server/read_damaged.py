"""Read damaged files of strangers, each within limits of CPU and memory.

Usage: `python tests/server/read_damaged.py SEED FIRST COUNT [READER...]`. It prints the reader and
the number of each file before it is read, and then, as JSON, what went wrong. If it ends early, the
last file did that. PYTHONPATH must have this folder and the repository's.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import test_forms_googleforms as googleforms
import test_forms_limesurvey as limesurvey
import test_forms_qualtrics as qualtrics
import test_forms_surveyjs as surveyjs
import test_forms_written as written
import test_forms_xlsform as xlsform
from damage import FORMATS, Seeds, zipped

from analysis.core.errors import DataError, SurveyError
from analysis.study.bundle import BundledStudy, members, pack, read_bundle
from analysis.study.bundle.study import recounted
from analysis.study.methods import Fieldwork
from analysis.study.sources import ESTIMATES
from analysis.study.sources.bundled import wave_of_bundle
from analysis.study.sources.files import read_wave
from analysis.study.tally import Tally
from analysis.study.tally.pairs import CountedRows
from analysis.study.tally.statement import Source, hash_of
from analysis.study.verbs.estimate import Estimates
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey
from server.editing.reading import read_new
from server.forms import read_form
from server.work.reading import _with_free_id

#: Seconds of CPU, and bytes of memory beside what the program begins with, for one file.
SECONDS, MEMORY = 20.0, 1 << 30

SMALL = """
title = "Small"
id = "small"
[[questions]]
id = "yes"
kind = "yes-no"
text = "Yes?"
epsilon = 1
[[questions]]
id = "which"
kind = "choice"
text = "Which?"
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
shows_if = "yes = 'yes'"
mechanism = "oue"
epsilon = 1
[[questions]]
id = "far"
kind = "number"
text = "How far?"
min = 0
max = 4
step = 1
epsilon = 1
[[questions]]
id = "ticked"
kind = "choices"
text = "Which?"
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
epsilon = 1
[[questions]]
id = "word"
kind = "text"
text = "Which word?"
candidates = ["one", "two"]
epsilon = 1
"""
JOINT = """
format = 2
title = "One draw"
id = "one-draw"
closes = 2030-12-31
delete_reports_after = 2031-12-31
[[together]]
id = "both"
questions = ["yes", "sure"]
epsilon = 2
epsilon_each = 1
[[questions]]
id = "yes"
kind = "yes-no"
text = "Yes?"
[[questions]]
id = "sure"
kind = "scale"
text = "How sure?"
points = ["Not", "Quite", "Very"]
shows_if = "yes = 'yes'"
"""


@cache
def _surveys() -> list[Survey]:
    found = []
    for text in (SMALL, JOINT):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "survey.toml"
            path.write_text(text)
            found.append(read_survey(path))
    return found


def _reports(survey: Survey) -> list[dict[str, Any]]:
    answers = made_up_answers(survey, 40, np.random.default_rng(1))
    return [payload["reports"] for payload in payloads(survey, answers, 1, seed=1)]


def _bundles() -> list[bytes]:
    found = []
    for survey in _surveys():
        reports = _reports(survey)
        tallies = recounted(survey, reports)
        study = BundledStudy(survey, 1, 0.95, Fieldwork(40), tallies, reports)
        found.append(pack(members(study)))
    return found


def _tallies() -> list[bytes]:
    found = []
    for survey in _surveys():
        reports = _reports(survey)
        sources = (Source("0" * 32, 40),)
        tally = Tally(survey, 1, False, 0, sources, 40, recounted(survey, reports), None)
        found.append(json.dumps(tally.to_json()).encode())
        asked = survey.questions[:2]
        rows: dict[str, list[Any]] = {}
        for one in reports:
            row = [one[question.id] for question in asked]
            rows.setdefault(repr(row), []).append(row)
        often = [len(same) for same in rows.values()]
        counted = CountedRows(
            survey, 1, False, 0, sources, asked, [same[0] for same in rows.values()], often
        )
        found.append(json.dumps(counted.to_json()).encode())
    return found


def _sealed_tally(tree: Any) -> Any:
    frozen = {key: tree["survey"][key] for key in ("survey", "randomizers")}
    tree["version"] = version_of(frozen)
    if "version" in tree["survey"]:
        tree["survey"]["version"] = tree["version"]
    tree["sha256"] = hash_of(tree)
    return tree


def _sealed_bundle(parts: Any) -> bytes:
    package = json.loads(parts["datapackage.json"])
    package["deniable"]["version"] = version_of(json.loads(parts["survey.json"]))
    stated = {one["path"]: one for one in package["resources"]}
    for name, content in parts.items():
        if name in stated:
            hashed = f"sha256:{sha256(content).hexdigest()}"
            stated[name] |= {"bytes": len(content), "hash": hashed}
    parts["datapackage.json"] = json.dumps(package).encode()
    return pack(parts)


def _read_form(name: str) -> Callable[[bytes], None]:
    def read(content: bytes) -> None:
        imported = read_form(content, name)
        if imported.toml:
            _with_free_id(imported.toml, [])

    return read


def _read_draft(content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    read_new(text, {})


def _read_survey(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.toml"
        path.write_bytes(content)
        read_survey(path)


def _read_wave(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tally.json"
        path.write_bytes(content)
        wave = read_wave(path)
    if ESTIMATES in wave.has:
        list(wave.estimated(Estimates(), 0.95))
    else:
        # One of its questions may have no columns.
        with suppress(ValueError):
            wave.together([wave.survey.questions[0].id])


def _read_bundle(content: bytes) -> None:
    wave = wave_of_bundle(read_bundle(content)[0])
    list(wave.estimated(Estimates(), 0.95))


@dataclass(frozen=True)
class Reader:
    """Good files of a kind, what reads them, and the error by which it refuses a bad one."""

    seeds: Callable[[], Seeds]
    read: Callable[[bytes], None]
    refusal: type[ValueError]


def _json(*trees: Any) -> Seeds:
    return Seeds("json", [json.dumps(tree).encode() for tree in trees])


def _workbooks() -> Seeds:
    full = xlsform.workbook(
        survey=xlsform.SURVEY, choices=xlsform.CHOICES, settings=xlsform.SETTINGS
    )
    return Seeds("zip", [full, xlsform.SMALL], zipped)


def _sheets() -> Seeds:
    sheets = {"survey": xlsform.SURVEY, "choices": xlsform.CHOICES, "settings": xlsform.SETTINGS}
    rows = [
        row for name, sheet in sheets.items() for row in ([name], *(["", *one] for one in sheet))
    ]
    return Seeds("csv", [FORMATS["csv"][1](rows)])


def _structures() -> Seeds:
    return Seeds("xml", [limesurvey.structure(), limesurvey.structure(modern=False)])


def _survey_files() -> Seeds:
    return Seeds("toml", [text.encode() for text in (written.ALL, SMALL, JOINT)])


READERS = {
    "xlsx": Reader(_workbooks, _read_form("form.xlsx"), SurveyError),
    "csv": Reader(_sheets, _read_form("form.csv"), SurveyError),
    "lss": Reader(_structures, _read_form("form.lss"), SurveyError),
    "tabs": Reader(
        lambda: Seeds("tabs", [limesurvey.table()]), _read_form("form.txt"), SurveyError
    ),
    "qsf": Reader(lambda: _json(qualtrics.form()), _read_form("form.qsf"), SurveyError),
    "surveyjs": Reader(lambda: _json(surveyjs.FORM), _read_form("form.json"), SurveyError),
    "googleforms": Reader(lambda: _json(googleforms.FORM), _read_form("form.json"), SurveyError),
    "draft": Reader(_survey_files, _read_draft, SurveyError),
    "survey": Reader(_survey_files, _read_survey, SurveyError),
    "tally": Reader(lambda: Seeds("json", _tallies(), _sealed_tally), _read_wave, DataError),
    "bundle": Reader(lambda: Seeds("zip", _bundles(), _sealed_bundle), _read_bundle, DataError),
}


def _size() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def what_is_wrong(reader: Reader, content: bytes) -> str:
    """Return what goes wrong in reading a file; "" if it is read, or refused with a message."""
    resource.setrlimit(resource.RLIMIT_AS, (_size() + MEMORY, resource.RLIM_INFINITY))
    # Without a handler, this signal ends the process, whatever it computes.
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        reader.read(content)
    except reader.refusal as error:
        return "" if str(error) else f"{type(error).__name__} without a message"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return f"files are left: {left}" if (left := os.listdir(tempfile.gettempdir())) else ""


def main(seed: str, first: str, count: str, *names: str) -> None:
    """Read so many damaged files of each kind, and print what goes wrong."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # openpyxl prints which styles a workbook lacks
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    usual = sys.getrecursionlimit()
    for name in names or READERS:
        reader = READERS[name]
        seeds = reader.seeds()
        for good in seeds.files:
            reader.read(good)
        for number in range(int(first), int(first) + int(count)):
            print(f"{name} {number}", file=out, flush=True)
            sys.setrecursionlimit(12_000)  # for trees that are deeper than readers can read
            content = seeds.damaged(f"{name} {seed} {number}")
            sys.setrecursionlimit(usual)
            if wrong := what_is_wrong(reader, content):
                print(json.dumps(wrong), file=out, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        main(*sys.argv[1:])
