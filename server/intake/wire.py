"""The shape of a request: check its bytes, and return a submission or a refusal."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import msgspec

from analysis.core.csv_json import reports_text
from analysis.core.errors import ReportError
from analysis.survey.survey import LONGEST_REQUEST, Survey
from server.intake.invitations import ISSUER
from server.intake.proof_of_work import bits_of

#: The protocol that a device and a server speak, as docs/protocol.md specifies it. It is named
#: beside a survey, outside its digest. By default it is this one.
PROTOCOL = "deniable-1"

#: The status of each reason to refuse. The reason is also the last word of the problem's `type`.
STATUS = {
    "malformed": 400,
    "cross-site": 403,
    "invitation": 403,
    "not-found": 404,
    "too-slow": 408,
    "rid-reused": 409,
    "cap-exceeded": 409,
    "closed": 409,
    "over": 409,
    "work-required": 409,
    "too-large": 413,
    "media-type": 415,
    "try-again": 503,
}
#: The reasons in `STATUS` for which a link query can be refused.
LINK_STATUS = {"malformed", "cross-site", "not-found", "too-large", "media-type", "try-again"}


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused: a word of `STATUS`, the field, what was expected, what was got.

    `bits` is how much proof of work the report needs, if that is the reason.
    """

    word: str
    field: str
    expected: str
    got: str
    bits: int | None = None


class Refused(Exception):
    """A request that is refused."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.word)
        self.refusal = refusal


@dataclass(frozen=True)
class Submission:
    """One respondent's reports on one wave, checked against the version they were made for."""

    survey: Survey
    wave: int
    rid: bytes
    respondent: bytes
    #: The key by which the store knows the invitation; the token itself goes no further.
    invitation: bytes | None
    reports: dict[str, Any]
    #: How many bits of work were done; the current version may ask for more than its own.
    work: int = 0

    @cached_property
    def payload(self) -> str:
        """The reports as JSON text, which is the same for equal reports."""
        return reports_text(self.reports)


# \Z, since $ would let a newline through; \A is implied.
_Hex128 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z", max_length=32)]


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    version: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z", max_length=64)]
    wave: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    rid: _Hex128
    respondent: _Hex128
    reports: dict[str, Any]
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | None = None
    work: Annotated[int, msgspec.Meta(ge=0, lt=2**53)] | None = None


class LinkQuery(msgspec.Struct, forbid_unknown_fields=True):
    """A device's question whether an invitation can be used in a wave."""

    wave: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


def parse_link_query(body: bytes) -> LinkQuery:
    """Return the link query in a body; raise Refused for anything else."""
    if len(body) > LONGEST_REQUEST:
        raise _refused("too-large", "body", f"at most {LONGEST_REQUEST} bytes", "more")
    try:
        return msgspec.json.decode(body, type=LinkQuery)
    except (ValueError, RecursionError):
        raise _refused("malformed", "body", "a wave and a token", "something else") from None


def parse(body: bytes, version: Callable[[str], Survey | None]) -> Submission:
    """Return the submission in a request's body, after checking all of it.

    Parameters
    ----------
    version : function
        Returns the survey's version with a hash, or None.

    Raises
    ------
    Refused
        With the first fault.
    """
    if len(body) > LONGEST_REQUEST:
        raise _refused("too-large", "body", f"at most {LONGEST_REQUEST} bytes", "more")
    try:
        # msgspec alone would keep the last of duplicate keys; json alone would take NaN.
        data = json.loads(body.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise _refused("malformed", "body", "UTF-8", "other bytes") from None
    except RecursionError:
        raise _refused("malformed", "body", "JSON of few levels", "too many") from None
    except ValueError as error:
        raise _refused("malformed", "body", "JSON", str(error)) from None
    try:
        read = msgspec.convert(data, _Body)
    except UnicodeEncodeError:
        raise _refused("malformed", "body", "text that is Unicode", "half a character") from None
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        field = where.rstrip("`").lstrip(".") or "body"
        raise _refused("malformed", field, "the shape of a submission", what) from None
    survey = version(read.version)
    if survey is None:
        raise _refused("malformed", "version", "a published version of this survey", "another")
    try:
        _check_reports(read.reports, survey)
    except ReportError as error:
        raise _refused("malformed", error.field, error.expected, error.got) from None
    bits, asked = bits_of(read.version, read.wave, read.rid, read.work), survey.proof_of_work
    if bits < asked:
        expected = f"a number with which the hash has {asked} leading zero bits"
        raise _refused("malformed", "work", expected, "none" if read.work is None else "another")
    if read.rid == read.respondent:
        # Otherwise report and ledger would share a value by which they could be joined.
        raise _refused("malformed", "rid", "another number than respondent", "the same")
    rid, respondent = bytes.fromhex(read.rid), bytes.fromhex(read.respondent)
    invitation = None if read.token is None else ISSUER.key(read.token)
    return Submission(survey, read.wave, rid, respondent, invitation, read.reports, bits)


def _check_reports(reports: dict[str, Any], survey: Survey) -> None:
    ids = [question.id for question in survey.questions]
    for name in reports:
        if name not in ids:
            raise ReportError("reports", f"reports of {', '.join(ids)}", "an unknown question")
    for question in survey.questions:
        field = f"reports.{question.id}"
        if question.id not in reports:
            raise ReportError(field, "a report, as for every question", "nothing")
        question.randomizer.check_report(reports[question.id], field)
    for draw in survey.joint:
        draw.check_asked(reports)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("an object with the same key twice")
    return unique


def _no_constant(name: str) -> None:
    raise ValueError(f"{name}, which is no JSON")


def _refused(word: str, field: str, expected: str, got: str) -> Refused:
    return Refused(Refusal(word, field, expected, got))
