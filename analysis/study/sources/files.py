"""Sources in files: a tally, counted rows of reports, a bundle, or a table with its design."""

from pathlib import Path
from typing import Any

from analysis.core.errors import DataError
from analysis.estimate.columns.design_file import read_designs
from analysis.study.bundle import BundledStudy, Verified, read_bundle
from analysis.study.sources import Source
from analysis.study.sources.bundled import wave_of_bundle
from analysis.study.sources.counted import PairedWave, TalliedWave, Wave
from analysis.study.sources.elsewhere import Elsewhere
from analysis.study.tally.json_file import LARGEST, read_frozen, read_json
from analysis.study.tally.pairs import KIND as ROWS
from analysis.study.tally.pairs import rows_in
from analysis.study.tally.reading import tally_in
from analysis.survey.files import open_file
from analysis.survey.survey import Survey

#: The first bytes of a bundle, which is a zip.
_ZIP = b"PK"


def read_table(path: Path, design: Path) -> Source:
    """Return a table from elsewhere; raise DataError if its design cannot be read."""
    return Elsewhere(path, read_designs(design))


def read_wave(
    path: Path,
    survey: Survey | None = None,
    *,
    survey_id: str | None = None,
    number: int | None = None,
    version: str | None = None,
) -> Wave:
    """Return the wave of a file that ``deniable tally``, ``recount`` or ``bundle`` wrote.

    Parameters
    ----------
    path : Path
    survey : Survey, optional
        The frozen survey, for a file that does not hold it.
    survey_id, number, version
        What is expected: the survey, the wave, and the first digits of the version.

    Raises
    ------
    DataError
        If it is no such file, or of another survey, wave or version.
    """
    content, name = read_content(path), str(path)
    if content.startswith(_ZIP):
        wave: Wave = wave_of_bundle(bundle_in(name, content)[0])
    elif content.lstrip().startswith(b"{"):
        wave = read_json(name, content, lambda data: _wave_in(data, survey))
    else:
        raise DataError(
            f"{name}: expected a tally, counted rows or a bundle, got another file; a table needs "
            "--design, and a database --db"
        )
    check_asked(name, wave.survey, wave.number, survey_id, number, version)
    if survey is not None:
        check_asked(name, wave.survey, wave.number, version=survey.version)
    return wave


def bundle_in(name: str, content: bytes) -> tuple[BundledStudy, Verified]:
    """Return what `read_bundle` does; messages of `DataError` begin with the file's name."""
    try:
        return read_bundle(content)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def check_asked(
    name: str,
    survey: Survey,
    number: int,
    survey_id: str | None = None,
    wave: int | None = None,
    version: str | None = None,
) -> None:
    """Raise DataError if a file is of another survey, wave or version than was asked for.

    `version` has the first digits of the version's hash. None stands for whatever the file has.
    """
    for what, asked, got in (
        ("survey", survey_id, survey.id),
        ("wave", wave, f"{number}"),
        ("version", version, survey.version),
    ):
        is_it = got.startswith(f"{asked}") if what == "version" else got == f"{asked}"
        if asked is not None and not is_it:
            raise DataError(f"{name}: expected {what} {str(asked)[:64]}, got {got[:64]}")


def _wave_in(data: Any, survey: Survey | None) -> Wave:
    """Return the wave of a file's JSON, by the kind that it states."""
    if isinstance(data, dict) and data.get("deniable") == ROWS:
        return PairedWave(rows_in(data, survey))
    return TalliedWave(tally_in(data, survey))


def read_survey(path: Path | None) -> Survey | None:
    """Return the frozen survey of a JSON file, if one is named."""
    if path is None:
        return None
    survey: Survey = read_json(str(path), read_content(path), read_frozen)
    return survey


def read_content(path: Path) -> bytes:
    """Return the bytes of a file; raise DataError if it cannot be read."""
    try:
        with open_file(path) as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
