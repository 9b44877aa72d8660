"""The statement in a file of counts or reports: their wave, and their collectors."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785

from analysis.core.errors import shown
from analysis.study.tally.cells import MOST_REPORTS
from analysis.study.tally.json_file import member, read_frozen
from analysis.survey.survey import Survey

#: The members that every such file has, apart from `sha256`.
_STATED = {
    *("deniable", "survey_id", "version", "wave", "open", "reports", "simulated", "sources"),
}
_ID, _HASH = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Source:
    """A collector whose reports are counted: its random id, their number, and its file's hash.

    The hash is None in the collector's own file, since it is the hash of that file's content.
    """

    collector: str
    reports: int
    sha256: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the source as JSON."""
        hashed = {} if self.sha256 is None else {"sha256": self.sha256}
        return {"collector": self.collector, "reports": self.reports, **hashed}


@dataclass(frozen=True)
class Statement:
    """The wave and version of reports, and the collectors that received them.

    Attributes
    ----------
    survey : Survey
        The frozen version that was asked.
    number : int
        The wave.
    is_open : bool
        Whether the wave was still open when the reports were counted.
    simulated : int
        The number of simulated reports.
    sources : tuple of Source
        The collectors, in the order of their ids; empty if they are not known.
    """

    survey: Survey
    number: int
    is_open: bool
    simulated: int
    sources: tuple[Source, ...]

    @property
    def version(self) -> str:
        """The survey's version."""
        return self.survey.version

    def stated(self, kind: str, reports: int, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON of a file, with the SHA-256 of the RFC 8785 form of all else.

        `kind` is the value of "deniable", and `content` has the members besides the statement.
        """
        data = {
            "deniable": kind,
            "survey_id": self.survey.id,
            "version": self.version,
            "wave": self.number,
            "open": self.is_open,
            "reports": reports,
            "simulated": self.simulated,
            "sources": [source.to_json() for source in self.sources],
            **content,
            "survey": self.survey.to_json(),
        }
        return data | {"sha256": hash_of(data)}


def hash_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the RFC 8785 form of all members except `sha256` itself."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return sha256(rfc8785.dumps(rest)).hexdigest()


def read_whole(
    data: Any,
    kind: str,
    content: set[str],
    survey: Survey | None,
    optional: frozenset[str] = frozenset(),
) -> tuple[Statement, int]:
    """Return the statement in a result of `Statement.stated`, and the number of reports.

    `content` and `optional` are its members besides the statement. `survey` is the frozen survey,
    for a file that does not hold it. Raise ValueError if a part of it is impossible.
    """
    _check_members(data, kind, {*_STATED, "sha256", *content}, {"survey", *optional})
    stated, reports = read_statement(data, survey), whole_number("reports", data["reports"])
    if stated.simulated > reports:
        raise ValueError(f"simulated: expected at most {reports:,}, got {stated.simulated:,}")
    _check_sources(stated.sources, reports)
    return stated, reports


def read_statement(data: dict[str, Any], survey: Survey | None) -> Statement:
    """Return a file's statement. The file need not name collectors or the number of reports."""
    found = _survey_in(data, survey)
    if type(data["open"]) is not bool:
        raise ValueError(f"open: expected true or false, got {shown(data['open'])}")
    simulated = whole_number("simulated", data["simulated"])
    sources = _sources_in(data["sources"]) if "sources" in data else ()
    return Statement(found, _wave_number(data["wave"]), data["open"], simulated, sources)


def _check_members(data: Any, kind: str, needed: set[str], optional: set[str]) -> None:
    """Raise ValueError unless an object has this kind, these members, and the stated hash."""
    if not isinstance(data, dict) or data.get("deniable") != kind:
        got = data.get("deniable") if isinstance(data, dict) else data
        raise ValueError(f'expected an object with "deniable": "{kind}", got {shown(got)}')
    if not needed <= set(data) <= needed | optional:
        wrong = min((needed - set(data)) | (set(data) - needed - optional))
        told = (
            "expected no such member, got one"
            if wrong in data
            else "expected this member, got none"
        )
        raise ValueError(f"{wrong[:64]}: {told}")
    try:
        hashed = hash_of(data)
    except ValueError as error:  # RFC 8785 writes no whole number above 2^53
        raise ValueError(f"expected numbers that can be hashed, got others: {error}") from None
    if data["sha256"] != hashed:
        raise ValueError(
            "sha256: expected the hash of the rest of the file, got another: the file was changed"
        )


def _survey_in(data: dict[str, Any], survey: Survey | None) -> Survey:
    """Return the frozen survey of a file, or the given one; raise ValueError if they differ."""
    found = member("survey", lambda: read_frozen(data["survey"])) if "survey" in data else survey
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


def _wave_number(number: Any) -> int:
    """Return the number of a wave; raise ValueError unless it is one."""
    if type(number) is not int or not 1 <= number <= 1_000_000:
        raise ValueError(f"wave: expected a whole number from 1 to 1,000,000, got {shown(number)}")
    return number


def whole_number(name: str, number: Any) -> int:
    """Return a number of reports; raise ValueError unless it is one."""
    if type(number) is not int or not 0 <= number <= MOST_REPORTS:
        raise ValueError(
            f"{name}: expected a whole number from 0 to {MOST_REPORTS:,}, got {shown(number)}"
        )
    return number


def _sources_in(data: Any) -> tuple[Source, ...]:
    """Return the collectors of a file; raise ValueError if they are not in the right form."""
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


def _check_sources(sources: tuple[Source, ...], reports: int) -> None:
    """Raise ValueError if a collector appears twice, or if the sum of reports is another."""
    twice = [name for name, n in Counter(one.collector for one in sources).items() if n > 1]
    if twice:
        raise ValueError(f"sources: expected each collector once, got {twice[0]} again")
    together = sum(source.reports for source in sources)
    if sources and together != reports:
        raise ValueError(f"sources: expected {reports:,} reports together, got {together:,}")
