"""Recounts of exported reports: the folder or file, and its tally."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from analysis.core.errors import DataError, shown
from analysis.estimate.columns.of_reports import chosen_columns
from analysis.study.tally import Tally
from analysis.study.tally.json_file import read_json
from analysis.study.tally.pairs import CountedRows
from analysis.study.tally.statement import Statement, read_statement, read_whole, whole_number
from analysis.survey.files import open_file
from analysis.survey.survey import Survey
from server.formats import parquet, parts
from server.recount.counting import recounted, report_of
from server.recount.engines import Engine, needed

#: What the metadata of a Parquet file states, which names neither collectors nor their reports.
_STATED = {"deniable", "survey_id", "version", "wave", "open", "simulated", "survey"}
#: The largest manifest, in bytes.
_LARGEST = 1 << 26


@dataclass(frozen=True)
class Exported(Statement):
    """Reports in files, and what is known of them.

    Attributes
    ----------
    files : tuple of str
        Their paths, or addresses that the engine knows.
    reports : int, optional
        How many there should be; None if nobody says.
    """

    files: tuple[str, ...]
    reports: int | None = None

    def tally(self, engine: Engine) -> Tally:
        """Return the tally of all reports, counted by an engine; DataError if any cannot be."""
        tallies, sizes, counted = recounted(self.survey, engine)
        expected = next(iter(counted.values())) if self.reports is None else self.reports
        for name, n in counted.items():
            if n != expected:
                raise DataError(f"{name}: expected {expected:,} reports, got {n:,}")
        if self.simulated > expected:
            raise DataError(f"simulated: expected at most {expected:,}, got {self.simulated:,}")
        return Tally(**self._statement, reports=expected, tallies=tallies, sizes=sizes)

    def rows(self, names: Sequence[str], engine: Engine) -> CountedRows:
        """Return how often each row of reports on the questions of some columns came.

        Raise DataError if there is no such column, or a report that nobody can make.
        """
        try:
            _, questions = chosen_columns(self.survey.questions, names)
        except ValueError as error:
            raise DataError(str(error)) from None
        asked = tuple(questions.values())
        often = Counter[tuple[Any, ...]]()
        for cells, times in engine.whole(asked):
            often[tuple(cells)] += times
        read = [
            (*(report_of(each, cell) for each, cell in zip(asked, cells, strict=True)), times)
            for cells, times in sorted(often.items(), key=repr)
        ]
        n = sum(often.values())
        if self.reports is not None and n != self.reports:
            raise DataError(f"expected {self.reports:,} reports, got {n:,}")
        rows, counts = [row[:-1] for row in read], [row[-1] for row in read]
        return CountedRows(**self._statement, questions=asked, rows=rows, often=counts)

    @property
    def _statement(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(Statement)}


def exported(path: str, survey: Survey | None, wave: int | None) -> Exported:
    """Return what a folder of parts, a Parquet file, or an address of such files holds.

    `survey` and `wave` are those given; they are needed where the files do not say.

    Raises
    ------
    DataError
        If anything is missing, or not as the manifest says.
    """
    if "://" in path:
        return _without_statement(path, survey, wave)
    place = Path(path)
    found = _folder(place, survey) if place.is_dir() else _file(place, survey, wave)
    if wave is not None and wave != found.number:
        raise DataError(f"{path}: expected wave {wave}, got {found.number}")
    return found


def _without_statement(path: str, survey: Survey | None, wave: int | None) -> Exported:
    if survey is None or wave is None:
        raise DataError(f"{path}: expected --survey and --wave, since no file states them here")
    return Exported(survey, wave, False, 0, (), (path,))


def _folder(folder: Path, survey: Survey | None) -> Exported:
    path = folder / parts.MANIFEST
    try:
        with open_file(path) as file:
            content = file.read(_LARGEST)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; expected a folder that deniable export "
            "--parts wrote"
        ) from None

    def read(data: Any) -> Exported:
        stated, reports = read_whole(data, parts.KIND, {"parts"}, survey)
        names = [_part(folder, part) for part in data["parts"]]
        rows = sum(whole_number("rows", part["rows"]) for part in data["parts"])
        if not names or rows != reports or len(set(names)) < len(names):
            raise ValueError(f"parts: expected each once, with {reports:,} reports in all")
        return Exported(**vars(stated), files=tuple(names), reports=reports)

    found: Exported = read_json(str(path), content, read)
    return found


def _part(folder: Path, part: Any) -> str:
    """Return the path of a part; DataError unless it is there as it was written."""
    if not isinstance(part, dict) or set(part) != {"name", "rows", "bytes", "sha256"}:
        raise ValueError(f"parts: expected name, rows, bytes and sha256, got {shown(part)}")
    name = part["name"]
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".parquet"):
        raise ValueError(f"parts: expected the name of a .parquet file, got {shown(name)}")
    digest, size = sha256(), 0
    try:
        with open_file(folder / name) as file:
            while piece := file.read(2**20):
                digest.update(piece)
                size += len(piece)
    except OSError as error:
        raise DataError(f"{folder / name}: cannot be read: {error.strerror}") from None
    if (size, digest.hexdigest()) != (part["bytes"], part["sha256"]):
        raise DataError(
            f"{folder / name}: expected the size and SHA-256 of the manifest, got others"
        )
    return str((folder / name).resolve())


def _file(path: Path, survey: Survey | None, wave: int | None) -> Exported:
    about = _metadata(path)
    if about is None:
        return _without_statement(str(path), survey, wave)

    def read(data: Any) -> Exported:
        if not isinstance(data, dict) or set(data) != _STATED:
            raise ValueError(f"deniable: expected what deniable export writes, got {shown(data)}")
        if data["deniable"] != parquet.KIND:
            raise ValueError(f"deniable: expected {parquet.KIND}, got {shown(data['deniable'])}")
        return Exported(**vars(read_statement(data, survey)), files=(str(path.resolve()),))

    found: Exported = read_json(str(path), about, read)
    return found


def _metadata(path: Path) -> bytes | None:
    """Return what a Parquet file says of its reports, as `deniable export` writes it."""
    pyarrow, reading = needed("pyarrow", "formats"), needed("pyarrow.parquet", "formats")
    try:
        with open_file(path) as file:
            metadata = reading.read_schema(file).metadata or {}
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except pyarrow.ArrowException as error:
        raise DataError(f"{path}: expected a Parquet file, got none: {error}") from None
    stated: bytes | None = metadata.get(b"deniable")
    return stated
