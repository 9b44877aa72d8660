"""Reading files of tallies, of which nothing is believed that can be checked."""

import json
import re
from collections.abc import Callable
from typing import Any

from analysis.core.errors import DataError, shown
from analysis.study.tally import KIND, Source, Tally, check_sources, hash_of
from analysis.study.tally.cells import MOST_REPORTS, read_cells, read_sizes
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of

#: The largest file of a tally, in bytes: that of a question of texts can have a million cells.
LARGEST = 1 << 28

_ID, _HASH = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{64}")
_MEMBERS = {
    *("deniable", "survey_id", "version", "wave", "open", "reports", "simulated"),
    *("sources", "questions", "sha256"),
}
_OPTIONAL = {"sizes", "survey"}

#: What reading a file can raise that nobody wrote for being read.
_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError),
)


def read_json(name: str, content: bytes, read: Callable[[Any], Any]) -> Any:
    """Return what `read` makes of a file's JSON, in which each member stands once.

    Raises
    ------
    DataError
        If it is no JSON, or `read` raises; the message begins with the file's name.
    """
    if len(content) > LARGEST:
        raise DataError(f"{name}: expected at most {LARGEST >> 20} MiB, got more")
    try:
        return read(
            json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        )
    except DataError:
        raise
    except _UNREADABLE as error:
        told = str(error).partition("\n")[0][:400] or type(error).__name__
        raise DataError(f"{name}: {told}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"expected each member of an object once, got {shown(twice)} again")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"expected numbers, got {text}")


def read_frozen(data: Any) -> Survey:
    """Return the frozen survey of what the API, a bundle's survey.json, or a tally says of it.

    Raise ValueError, or another error of `_UNREADABLE`, if it is none.
    """
    if not isinstance(data, dict) or not {"survey", "randomizers"} <= set(data):
        raise ValueError(
            "expected a frozen survey, an object of survey and randomizers as /api/surveys/ID or "
            f"a bundle's survey.json has it, got {shown(data)}"
        )
    frozen = {"survey": data["survey"], "randomizers": data["randomizers"]}
    stated = data.get("version")
    return thaw(frozen, version_of(frozen) if stated is None else stated)


def read_tally(name: str, content: bytes, survey: Survey | None = None) -> Tally:
    """Return the tally of a file.

    Parameters
    ----------
    name : str
        The file's, with which messages begin.
    content : bytes
    survey : Survey, optional
        The frozen survey, for a file that does not hold it.

    Raises
    ------
    DataError
        If it is no tally that some reports have.
    """
    tally: Tally = read_json(name, content, lambda data: _tally(data, survey))
    return tally


def _tally(data: Any, survey: Survey | None) -> Tally:
    check_members(data, KIND, _MEMBERS, _OPTIONAL)
    survey = survey_in(data, survey)
    reports = whole_number("reports", data["reports"])
    simulated = whole_number("simulated", data["simulated"])
    if simulated > reports:
        raise ValueError(f"simulated: expected at most {reports:,}, got {simulated:,}")
    if type(data["open"]) is not bool:
        raise ValueError(f"open: expected true or false, got {shown(data['open'])}")
    sources = sources_in(data["sources"])
    check_sources(sources, reports)
    tallies = _of("questions", lambda: read_cells(survey, data["questions"]))
    for question in survey.questions:
        counted = question.randomizer.reports_in(tallies[question.id])
        if counted != reports:
            raise ValueError(
                f"questions: {question.id}: expected counts of {reports:,} reports, got {counted:,}"
            )
    for joint in survey.joint:
        asked = sum(each.randomizer.asked_in(tallies[each.id]) for each in joint.questions)
        if asked != joint.asks * reports:
            raise ValueError(
                f"questions: together {joint.id}: expected {joint.asks * reports:,} reports of "
                f"people who were asked, {joint.asks} of each, got {asked:,}"
            )
    sizes = {}
    if "sizes" in data:
        sizes = _of("sizes", lambda: read_sizes(survey, data["sizes"], tallies))
    return Tally(
        *(survey, wave_number(data["wave"]), reports, simulated, data["open"]),
        *(tallies, sizes, "sizes" in data, sources),
    )


def check_members(data: Any, kind: str, needed: set[str], optional: set[str]) -> None:
    """Raise ValueError unless an object is of a kind, has these members, and the stated hash."""
    if not isinstance(data, dict) or data.get("deniable") != kind:
        got = data.get("deniable") if isinstance(data, dict) else data
        raise ValueError(f'expected an object with "deniable": "{kind}", got {shown(got)}')
    if not needed <= set(data) <= needed | optional:
        wrong = min((needed - set(data)) | (set(data) - needed - optional))
        told = "expected no such member, got one" if wrong in data else "expected it, got none"
        raise ValueError(f"{wrong[:64]}: {told}")
    try:
        hashed = hash_of(data)
    except ValueError as error:  # RFC 8785 writes no whole number above 2^53
        raise ValueError(f"expected numbers that can be hashed, got others: {error}") from None
    if data["sha256"] != hashed:
        raise ValueError(
            "sha256: expected the hash of all else in the file, got another: it was changed"
        )


def survey_in(data: dict[str, Any], survey: Survey | None) -> Survey:
    """Return the frozen survey of a file, or the one given; ValueError if it is another's."""
    found = _of("survey", lambda: read_frozen(data["survey"])) if "survey" in data else survey
    if found is None:
        raise ValueError("survey: expected the frozen survey, got none; name its file: --survey")
    if survey is not None and survey.version != found.version:
        raise ValueError(
            f"survey: expected version {survey.version[:12]}, as in --survey, got "
            f"{found.version[:12]}"
        )
    for name, stated, true in (
        ("version", data["version"], found.version),
        ("survey_id", data["survey_id"], found.id),
    ):
        if stated != true:
            raise ValueError(f"{name}: expected that of the survey, {true}, got {shown(stated)}")
    return found


def wave_number(number: Any) -> int:
    """Return the number of a wave; raise ValueError if it is none."""
    if type(number) is not int or not 1 <= number <= 1_000_000:
        raise ValueError(f"wave: expected a whole number from 1 to 1,000,000, got {shown(number)}")
    return number


def whole_number(name: str, number: Any) -> int:
    """Return a number of reports; raise ValueError if it is none."""
    if type(number) is not int or not 0 <= number <= MOST_REPORTS:
        raise ValueError(
            f"{name}: expected a whole number from 0 to {MOST_REPORTS:,}, got {shown(number)}"
        )
    return number


def _of(member: str, read: Callable[[], Any]) -> Any:
    """Return what `read` gives; its errors name the member."""
    try:
        return read()
    except _UNREADABLE as error:
        told = str(error) or type(error).__name__
        raise ValueError(f"{member}: {told}") from None


def sources_in(data: Any) -> tuple[Source, ...]:
    """Return the collectors of a file; raise ValueError if they are not stated as they should."""
    if not isinstance(data, list):
        raise ValueError(f"sources: expected a list of collectors, got {shown(data)}")
    found = []
    for each in data:
        known = {"collector", "reports"} | ({"sha256"} if len(data) > 1 else set())
        if not isinstance(each, dict) or not known <= set(each) <= known | {"sha256"}:
            raise ValueError(f"sources: expected {', '.join(sorted(known))}, got {shown(each)}")
        collector, stated = each["collector"], each.get("sha256")
        if not isinstance(collector, str) or not _ID.fullmatch(collector):
            raise ValueError(
                f"sources: expected an id of 32 hexadecimal digits, got {shown(collector)}"
            )
        if stated is not None and not (isinstance(stated, str) and _HASH.fullmatch(stated)):
            raise ValueError(f"sources: expected a SHA-256, got {shown(stated)}")
        found.append(Source(collector, whole_number("sources", each["reports"]), stated))
    return tuple(found)
