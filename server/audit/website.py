"""Compare what a server sends to respondents with what this installation would send."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rfc8785

from analysis.core.epsilon import MICRO, micro
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import rounded_up
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of
from server.audit.database import Finding
from server.audit.strict_http import ENCODINGS, Answer, Site, printable
from server.deliver import Unreachable
from server.headers import completed
from server.intake.requests import described_survey
from server.page_texts import languages_of
from server.pages.browser_files import CLIENT, Resource, client_files, integrity_of
from server.pages.rendering import Pages
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
#: The number of characters shown before and after the first difference.
_BEFORE, _AFTER = 20, 40


@dataclass(frozen=True)
class Exhibit:
    """An answer in comparable form: the headers that matter, sorted, and the unpacked content."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    oddities: tuple[str, ...] = ()

    @classmethod
    def of_resource(cls, resource: Resource) -> "Exhibit":
        """Return the exhibit of what this installation serves."""
        content, headers = resource.form(takes_gzip=False)
        return cls(200, _compared(completed(headers)), content)

    @classmethod
    def of_answer(cls, answer: Answer) -> "Exhibit":
        """Return the exhibit of what a server served."""
        return cls(answer.status, _compared(answer.headers), answer.content, answer.oddities)

    def differences(self, other: "Exhibit") -> Iterator[str]:
        """Yield a phrase for each difference of another answer from this one, headers aside."""
        yield from other.oddities
        if other.status != self.status:
            yield f"status {other.status}, expected {self.status}; redirects are not followed"
        if other.content != self.content:
            yield _first_difference(_text(self.content), _text(other.content))

    def other_headers(self, other: "Exhibit") -> Iterator[str]:
        """Yield the headers that are missing, different, repeated or unexpected in an answer."""
        for name in sorted({name for name, _ in (*self.headers, *other.headers)}):
            expected, got = (
                [value for key, value in answer.headers if key == name] for answer in (self, other)
            )
            if not got:
                yield f"{name} is missing"
            elif not expected:
                yield f"{name} is unexpected: {_text(got[0].encode())[:_AFTER]!r}"
            elif len(got) > 1:
                yield f"{name} comes {len(got)} times"
            elif expected != got:
                yield f"{name} {_first_difference(expected[0], got[0])}"


#: Answers by their path, and then by their encoding, one of `ENCODINGS`.
Exhibits = Mapping[str, Mapping[str, Exhibit]]


def hash_of_exhibits(exhibits: Exhibits) -> str:
    """Return one hash of all exhibits, which auditors in several places can compare."""
    lines: Any = [
        [
            path,
            encoding,
            exhibit.status,
            [*map(list, exhibit.headers)],
            integrity_of(exhibit.content),
        ]
        for path, by_encoding in sorted(exhibits.items())
        for encoding, exhibit in sorted(by_encoding.items())
    ]
    return integrity_of(rfc8785.dumps(lines))


def audit_survey_page(survey: Survey, data: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the hash of a survey's page, and all that it loads, as this installation serves it."""
    pages = Pages(client_files(CLIENT))
    expected = _common_resources(pages) | _survey_resources(pages, survey, data)
    yield from _findings_of_words(survey)
    yield Finding("page", f"/s/{survey.id}", hash_of_exhibits(_exhibits(expected)), True)


def _findings_of_words(survey: Survey) -> Iterator[Finding]:
    """Yield which of the page's words are the survey's own, and not this program's."""
    for language in languages_of(survey.spec):
        keys = [key for key, text in language.texts.items() if text.tag == language.tag]
        if language.is_brought:
            finding = f"{len(keys)} of {len(language.texts)} texts are brought by the survey, and "
            finding += f"none is this program's: {', '.join(keys)}"
            yield Finding("words of the survey", f"{survey.id} {language.tag}", finding, True)


def audit_website(url: str, survey_ids: Sequence[str]) -> Iterator[Finding]:
    """Compare a server's pages of these surveys, and `/me`, with what this installation serves.

    Raises
    ------
    Unreachable
        If the server does not answer as a collector does.
    """
    site, pages = Site(url), Pages(client_files(CLIENT))
    ids = list(dict.fromkeys([*survey_ids, *([site.survey] if site.survey else [])]))
    for survey_id in ids:
        if not re.fullmatch(r"[\w-]+", survey_id, re.ASCII):
            raise Unreachable(f"--survey: expected the id of a survey, got {survey_id!r}")
    # Pages first, and then what they load, as browsers do.
    survey_pages = {survey_id: _fetched(site, f"/s/{survey_id}") for survey_id in ids}
    expected = _common_resources(pages)
    common = {path: _fetched(site, path) for path in expected}
    for path, resource in expected.items():
        yield from _compare(path, resource, common[path])
    if not ids:
        yield from _compare_all("/me", expected, common)
    for survey_id in ids:
        address = f"/api/surveys/{survey_id}"
        served = {f"/s/{survey_id}": survey_pages[survey_id], address: _fetched(site, address)}
        try:
            survey, data = _read(survey_id, served[address]["plain"])
            made = _survey_resources(pages, survey, data)
        except Exception as error:  # the server may have given anything
            reason = printable(" ".join(f"{type(error).__name__}: {error}".split())[:200])
            finding = f"its page cannot be made: {reason}"
            yield Finding("served survey", survey_id, finding, False)
            continue
        yield from _findings_of_questions(survey)
        yield from _findings_of_words(survey)
        for path, resource in made.items():
            yield from _compare(path, resource, served[path])
        yield from _compare_all(f"/s/{survey_id}", expected | made, common | served)


def _common_resources(pages: Pages) -> dict[str, Resource]:
    """Return what is the same whatever is asked: `/me`, and the program of all pages."""
    files = {f"/client/{name}": file.resource for name, file in pages.files.items()}
    return {"/me": pages.me(), **files}


def _survey_resources(pages: Pages, survey: Survey, data: Mapping[str, Any]) -> dict[str, Resource]:
    """Return a survey's page, and what the API says of the survey."""
    return {
        f"/s/{survey.id}": pages.survey(survey, data),
        f"/api/surveys/{survey.id}": described_survey(data),
    }


def _exhibits(resources: Mapping[str, Resource]) -> Exhibits:
    return {
        path: dict.fromkeys(ENCODINGS, Exhibit.of_resource(resource))
        for path, resource in resources.items()
    }


def _fetched(site: Site, path: str) -> dict[str, Exhibit]:
    return {encoding: Exhibit.of_answer(site.fetch(path, encoding)) for encoding in ENCODINGS}


def _compare(path: str, resource: Resource, served: Mapping[str, Exhibit]) -> Iterator[Finding]:
    """Yield one finding of the bytes, and one of the headers, in both encodings."""
    expected = Exhibit.of_resource(resource)
    is_file = path.startswith("/client/")
    part, subject = ("module", path.removeprefix("/client/")) if is_file else ("page", path)
    for title, differences, good in (
        (f"served {part}", expected.differences, integrity_of(expected.content)),
        ("served headers", expected.other_headers, "all there, and no other"),
    ):
        wrong = [
            f"{encoding}: {difference}"
            for encoding, answer in served.items()
            for difference in differences(answer)
        ]
        yield Finding(title, subject, "; ".join(wrong) or good, not wrong)


def _compare_all(
    subject: str, expected: Mapping[str, Resource], served: Exhibits
) -> Iterator[Finding]:
    """Yield the hash of all that this installation serves, and that of what the server served."""
    wanted, got = hash_of_exhibits(_exhibits(expected)), hash_of_exhibits(served)
    yield Finding("page", subject, wanted, True)
    yield Finding("page as served", subject, got, got == wanted)


def _read(survey_id: str, answer: Exhibit) -> tuple[Survey, dict[str, Any]]:
    """Return the survey in an answer of the API, checked as far as it can be, and its JSON."""
    if answer.status != 200 or answer.oddities:
        raise ValueError(", ".join(answer.oddities) or f"status {answer.status}, expected 200")
    given = json.loads(answer.content)
    survey = thaw({key: given[key] for key in ("survey", "randomizers")}, given["version"])
    wave, state = given["wave"], given["state"]
    if survey.id != survey_id:
        raise ValueError(f"expected the survey {survey_id}, got {survey.id!r}")
    if type(wave) is not int or wave < 1 or state not in ("open", "closed"):
        raise ValueError(f"expected a wave from 1, open or closed, got {wave!r}, {state!r}")
    earlier = [thaw(version, version_of(version)) for version in given.get("earlier", ())]
    return survey, described(survey, wave, state, earlier)


def _findings_of_questions(survey: Survey) -> Iterator[Finding]:
    """Yield what each question costs by its weights, which `thaw` has compared with its ε."""
    yield Finding("served survey", survey.id, f"version {survey.version}", True)
    for draw in survey.joint:
        spent, each = draw.randomizer.charge / MICRO, micro(draw.randomizer.each) / MICRO
        finding = (
            f"the reports on {draw.asks} answers together have ε = {rounded_up(spent, 6)} "
            f"(stated: {draw.spec['epsilon']:g}); about one answer, somebody who knows the others "
            f"learns at most ε = {rounded_up(each, 6)} (stated: {draw.spec['epsilon_each']:g})"
        )
        yield Finding("served draw", printable(f"{survey.id} {draw.id}"), finding, True)
    for question in survey.questions:
        spent = question.randomizer.charge / MICRO
        finding = f"a report has ε = {rounded_up(spent, 6)} (stated: {question.spec['epsilon']:g})"
        if question.memo:
            stated = question.spec["epsilon_forever"]
            finding += f"; {stated:g} over all waves if the answer never changes"
        subject = printable(f"{survey.id} {question.id}")
        yield Finding("served question", subject, finding, True)
    cost, cap = in_epsilon(survey.charge), in_epsilon(survey.cap)
    total = f"ε = {cost:f} in the first wave, at most {cap:f} in all"
    yield Finding("served question", f"{survey.id}, all questions", total, True)


def _compared(headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the headers that matter. To a browser a weak ETag is as good as a strong one."""
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
    """Return where two texts begin to differ, and what stands there in both."""
    pairs = enumerate(zip(expected, got, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(expected), len(got)))
    line = expected.count("\n", 0, same) + 1
    shown = [text[max(0, same - _BEFORE) : same + _AFTER] for text in (expected, got)]
    return f"differs at character {same + 1}, line {line}: expected {shown[0]!r}, got {shown[1]!r}"
