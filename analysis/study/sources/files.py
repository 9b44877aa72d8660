"""Sources in files: a tally, counted rows of reports, a bundle, or a table with its design."""

from pathlib import Path
from typing import Any

from analysis.core.errors import DataError
from analysis.estimate.columns.design_file import read_designs
from analysis.study.bundle import read_bundle
from analysis.study.sources import Source
from analysis.study.sources.bundled import wave_of_bundle
from analysis.study.sources.counted import PairedWave, TalliedWave, Wave
from analysis.study.sources.elsewhere import Elsewhere
from analysis.study.tally import Tally
from analysis.study.tally.json_file import LARGEST, read_frozen, read_json
from analysis.study.tally.reading import read_counts
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
    wave: Wave
    if content.startswith(_ZIP):
        try:
            wave = wave_of_bundle(read_bundle(content)[0])
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    elif not content.lstrip().startswith(b"{"):
        raise DataError(
            f"{name}: expected a tally, counted rows or a bundle, got another file; a table needs "
            "--design, and a database --db"
        )
    else:
        counts = read_counts(name, content, survey)
        wave = TalliedWave(counts) if isinstance(counts, Tally) else PairedWave(counts)
    stated = wave.survey.version
    for what, asked, got, is_it in (
        ("survey", survey_id, wave.survey.id, wave.survey.id == survey_id),
        ("wave", number, wave.number, wave.number == number),
        ("version", version, stated[:12], stated.startswith(version or "")),
        (
            "the version of --survey,",
            survey and survey.version[:12],
            stated[:12],
            survey is None or stated == survey.version,
        ),
    ):
        if asked is not None and not is_it:
            raise DataError(f"{name}: expected {what} {str(asked)[:64]}, got {got}")
    return wave


def read_survey(path: Path | None) -> Survey | None:
    """Return the frozen survey of a JSON file, if one is named."""
    if path is None:
        return None
    survey: Any = read_json(str(path), read_content(path), read_frozen)
    return survey if isinstance(survey, Survey) else None


def read_content(path: Path) -> bytes:
    """Return the bytes of a file; raise DataError if it cannot be read."""
    try:
        with open_file(path) as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
