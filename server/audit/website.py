"""Compare what a server serves to respondents with what this installation would serve."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rfc8785

from analysis.core.epsilon import MICRO
from analysis.survey.survey import Survey, thaw
from server.audit.database import Finding
from server.audit.strict_http import ENCODINGS, Answer, Site, printable
from server.deliver import Unreachable
from server.headers import completed
from server.pages.browser_files import CLIENT, Resource, client_files, integrity_of
from server.pages.rendering import Pages, api
from server.store.surveys import described

#: Headers that are not compared, since proxies change them and browsers do nothing because of them:
#: those of the connection, of compression, which is undone, and of caches, which keep no answer.
_TRANSPORT = {
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "keep-alive",
    "server",
    "transfer-encoding",
    "vary",
}
#: How many characters of both sides are shown before and after the first difference.
_BEFORE, _AFTER = 20, 40


@dataclass(frozen=True)
class Exhibit:
    """One answer as it is compared: the headers that matter, sorted, and the unpacked content."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    oddities: tuple[str, ...] = ()

    @classmethod
    def of_resource(cls, resource: Resource) -> "Exhibit":
        """Return the exhibit of what this installation serves."""
        content, own = resource.form(takes_gzip=False)
        return cls(200, _compared(completed(own)), content)

    @classmethod
    def of_answer(cls, answer: Answer) -> "Exhibit":
        """Return the exhibit of what a server served."""
        return cls(answer.status, _compared(answer.headers), answer.content, answer.oddities)

    def differences(self, other: "Exhibit") -> Iterator[str]:
        """Yield how an answer differs from this one, each in a few words; nothing if equal."""
        yield from other.oddities
        if other.status != self.status:
            yield f"status {other.status}, expected {self.status}; redirects are not followed"
        if other.content != self.content:
            yield _first_difference(_text(self.content), _text(other.content))

    def other_headers(self, other: "Exhibit") -> Iterator[str]:
        """Yield the headers that are missing, different, repeated or unexpected in an answer."""
        for name in sorted({name for name, _ in (*self.headers, *other.headers)}):
            expected, got = (
                [value for key, value in one.headers if key == name] for one in (self, other)
            )
            if not got:
                yield f"{name} is missing"
            elif not expected:
                yield f"{name} is not expected: {_text(got[0].encode())[:_AFTER]!r}"
            elif len(got) > 1:
                yield f"{name} comes {len(got)} times"
            elif expected != got:
                yield f"{name} {_first_difference(expected[0], got[0])}"


#: What is compared: answers by their path and form, one of `ENCODINGS`.
Whole = Mapping[tuple[str, str], Exhibit]


def hash_of(whole: Whole) -> str:
    """Return one hash of all exhibits, which auditors in several places can compare."""
    lines: Any = [
        [path, form, one.status, [*map(list, one.headers)], integrity_of(one.content)]
        for (path, form), one in sorted(whole.items())
    ]
    return integrity_of(rfc8785.dumps(lines))


def of_survey(survey: Survey, data: Mapping[str, Any]) -> Finding:
    """Return the hash of a survey's page, and all that it loads, as this installation serves it."""
    pages = Pages(client_files(CLIENT))
    whole = _whole({**_of_all(pages), **_of_one(pages, survey, data)})
    return Finding("page", f"/s/{survey.id}", hash_of(whole), True)


def of_server(url: str, survey_ids: Sequence[str]) -> Iterator[Finding]:
    """Compare a server's pages of these surveys, and `/me`, with what this installation serves.

    Raises
    ------
    Unreachable
        If it does not answer as a collector does.
    """
    site, pages = Site(url), Pages(client_files(CLIENT))
    ids = list(dict.fromkeys([*survey_ids, *([site.survey] if site.survey else [])]))
    for survey_id in ids:
        if not re.fullmatch(r"[\w-]+", survey_id, re.ASCII):
            raise Unreachable(f"--survey: expected the id of a survey, got {survey_id!r}")
    # Pages first, and then what they load, as browsers do.
    own = {f"/s/{survey_id}": _fetched(site, f"/s/{survey_id}") for survey_id in ids}
    expected = _of_all(pages)
    common = {path: _fetched(site, path) for path in expected}
    for path, resource in expected.items():
        yield from _compare(path, resource, common[path])
    if not ids:
        yield from _compare_all("/me", expected, common)
    for survey_id in ids:
        address = f"/api/surveys/{survey_id}"
        served = {f"/s/{survey_id}": own[f"/s/{survey_id}"], address: _fetched(site, address)}
        try:
            survey, data = _read(survey_id, served[address]["plain"])
            made = _of_one(pages, survey, data)
        except Exception as error:  # the server may have given anything
            reason = printable(" ".join(f"{type(error).__name__}: {error}".split())[:200])
            finding = f"its page cannot be made: {reason}"
            yield Finding("served survey", survey_id, finding, False)
            continue
        yield from _of_questions(survey)
        for path, resource in made.items():
            yield from _compare(path, resource, served[path])
        yield from _compare_all(f"/s/{survey_id}", expected | made, common | served)


def _of_all(pages: Pages) -> dict[str, Resource]:
    """What is the same whatever is asked: `/me`, and the program of all pages."""
    files = {f"/client/{name}": file.resource for name, file in pages.files.items()}
    return {"/me": pages.me(), **files}


def _of_one(pages: Pages, survey: Survey, data: Mapping[str, Any]) -> dict[str, Resource]:
    """A survey's page, and what the API gives of it."""
    return {f"/s/{survey.id}": pages.survey(survey, data), f"/api/surveys/{survey.id}": api(data)}


def _whole(resources: Mapping[str, Resource]) -> Whole:
    return {
        (path, form): Exhibit.of_resource(resource)
        for path, resource in resources.items()
        for form in ENCODINGS
    }


def _fetched(site: Site, path: str) -> dict[str, Exhibit]:
    return {form: Exhibit.of_answer(site.fetch(path, form)) for form in ENCODINGS}


def _compare(path: str, resource: Resource, served: Mapping[str, Exhibit]) -> Iterator[Finding]:
    """One finding of the bytes, and one of the headers, in both forms."""
    own = Exhibit.of_resource(resource)
    is_file = path.startswith("/client/")
    part, subject = ("module", path.removeprefix("/client/")) if is_file else ("page", path)
    wrong = [f"{form}: {one}" for form in served for one in own.differences(served[form])]
    finding = "; ".join(wrong) or integrity_of(own.content)
    yield Finding(f"served {part}", subject, finding, not wrong)
    wrong = [f"{form}: {one}" for form in served for one in own.other_headers(served[form])]
    finding = "; ".join(wrong) or "all there, and no other"
    yield Finding("served headers", subject, finding, not wrong)


def _compare_all(
    subject: str,
    expected: Mapping[str, Resource],
    served: Mapping[str, Mapping[str, Exhibit]],
) -> Iterator[Finding]:
    """The hash of all that this installation serves, and that of what the server served."""
    own = hash_of(_whole(expected))
    got = hash_of({(path, form): one for path in served for form, one in served[path].items()})
    yield Finding("page", subject, own, True)
    yield Finding("page as served", subject, got, got == own)


def _read(survey_id: str, answer: Exhibit) -> tuple[Survey, dict[str, Any]]:
    """The survey that an answer of the API holds, checked as far as it can be."""
    if answer.status != 200 or answer.oddities:
        raise ValueError(", ".join(answer.oddities) or f"status {answer.status}, expected 200")
    given = json.loads(answer.content)
    survey = thaw({key: given[key] for key in ("survey", "randomizers")}, given["version"])
    wave, state = given["wave"], given["state"]
    if survey.id != survey_id:
        raise ValueError(f"expected the survey {survey_id}, got {survey.id!r}")
    if type(wave) is not int or wave < 1 or state not in ("open", "closed"):
        raise ValueError(f"expected a wave from 1, open or closed, got {wave!r}, {state!r}")
    return survey, described(survey, wave, state)


def _of_questions(survey: Survey) -> Iterator[Finding]:
    """What each question costs, computed from its weights; `thaw` has compared it with its ε."""
    yield Finding("served survey", survey.id, f"version {survey.version}", True)
    for question in survey.questions:
        spent = question.randomizer.charge / MICRO
        finding = f"ε = {spent:.6g} a report, {question.spec['epsilon']:g} was stated"
        if question.memo:
            stated = question.spec["epsilon_forever"]
            finding += f"; {stated:g} over all waves if the answer never changes"
        subject = printable(f"{survey.id} {question.id}")
        yield Finding("served question", subject, finding, True)
    total = (
        f"ε = {survey.charge / MICRO:.6g} in the first wave, at most {survey.cap / MICRO:g} in all"
    )
    yield Finding("served question", f"{survey.id}, all questions", total, True)


def _compared(headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The headers that matter. A weak ETag and a strong one are the same to a browser."""
    return tuple(
        sorted(
            (name.lower(), value.removeprefix("W/") if name.lower() == "etag" else value)
            for name, value in headers
            if name.lower() not in _TRANSPORT
        )
    )


def _text(content: bytes) -> str:
    return content.decode(errors="backslashreplace")


def _first_difference(expected: str, got: str) -> str:
    """Where two texts begin to differ, and what stands there in both."""
    same = next(
        (at for at, (one, other) in enumerate(zip(expected, got, strict=False)) if one != other),
        min(len(expected), len(got)),
    )
    line = expected.count("\n", 0, same) + 1
    shown = [text[max(0, same - _BEFORE) : same + _AFTER] for text in (expected, got)]
    return f"differs at character {same + 1}, line {line}: expected {shown[0]!r}, got {shown[1]!r}"
