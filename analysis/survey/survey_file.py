"""The survey file: TOML as its author writes it, to the checked form that is frozen."""

import re
from datetime import date, datetime
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

from analysis.core.domain import Domain
from analysis.core.epsilon import MICRO
from analysis.core.errors import SurveyError, shown
from analysis.survey.digest import NOTE
from analysis.survey.document import Table, plain, read_toml
from analysis.survey.kinds import KINDS
from analysis.survey.logic import parse_condition
from analysis.survey.mechanism_file import read_mechanism
from analysis.survey.page_file import check_matrices, read_page
from analysis.survey.survey import ACCESS, MOST_WORK, Survey, asked_in, freeze

#: Questions and notes of a survey. Nobody answers so many, and the reports of many more would not
#: fit into one request; they are refused before anything is compiled.
MOST_ENTRIES = 1000

_LANGUAGE = re.compile(r"([A-Za-z]{2,3}|[A-Za-z]{5,8})(-[A-Za-z0-9]{1,8})*")


def read_survey(path: Path) -> Survey:
    """Read a survey file and freeze it.

    Raises
    ------
    SurveyError
        For the first mistake found: file, question, key, what was expected, what was found.
    """
    document = read_toml(path)
    if not document:
        raise SurveyError(
            f"{path}: expected a survey with title, id and [[questions]], got nothing"
        )
    return freeze(_read(Table(document, str(path), folder=path.parent)), str(path))


def _read(table: Table) -> dict[str, Any]:
    file = table.place
    languages = table.take(
        "languages",
        lambda value: (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(one, str) and _LANGUAGE.fullmatch(one) for one in value)
            and len(set(value)) == len(value)
        ),
        'a list of different language tags such as ["en", "fr"]',
        default=[],
    )
    table.languages = languages
    spec: dict[str, Any] = {"id": table.identifier(), "title": table.text("title")}
    if languages:
        spec["languages"] = languages
    closes, keeps = _day(table, "closes"), _day(table, "delete_reports_after")
    if closes and keeps and keeps < closes:
        raise table.error("delete_reports_after", f"{closes}, when it closes, or later")
    days = {"closes": closes, "delete_reports_after": keeps}
    spec |= {key: day.isoformat() for key, day in days.items() if day}
    spec |= _read_access(table)
    tables = [
        Table(entry, f"{file}: {_label(number, entry)}", languages, table.folder)
        for number, entry in enumerate(
            table.tables("questions", f"1 to {MOST_ENTRIES} [[questions]] tables", 1, MOST_ENTRIES),
            1,
        )
    ]
    spec["questions"] = _read_entries(tables)
    questions = asked_in(spec)
    if not questions:
        raise table.error("questions", "at least one that is no note")
    page = read_page(table, spec)
    if page:
        spec["page"] = page
    privacy = Table(
        table.take("privacy", lambda value: isinstance(value, dict), "a table", default={}),
        f"{file}: [privacy]",
    )
    wave = sum((_whole_micro(question["epsilon"]) for question in questions), Decimal(0))
    cap = privacy.number(
        "cap",
        f"a number of at least {wave.normalize():f}, the sum of epsilon over all questions",
        lambda cap: cap >= wave,
        default=wave,
    )
    spec["privacy"] = {"cap": plain(cap)}
    privacy.finish()
    table.finish()
    return spec


def _label(number: int, entry: dict[str, Any]) -> str:
    """What messages call an entry of the survey: by its id, if it has one."""
    name, kind = entry.get("id"), "note" if entry.get("kind") == NOTE else "question"
    return f'{kind} "{name}"' if isinstance(name, str) else f"{kind} {number}"


def _read_entries(tables: list[Table]) -> list[dict[str, Any]]:
    """Questions and notes, in their order."""
    entries: list[dict[str, Any]] = []
    domains: dict[str, Domain | None] = {}
    for table in tables:
        entry = _read_entry(table, domains)
        if entry["id"] in domains:
            raise SurveyError(f"{table.place}: id must be unique in the survey, got it twice")
        asked = entry["kind"] != NOTE
        domains[entry["id"]] = KINDS[entry["kind"]].domain(entry) if asked else None
        entries.append(entry)
    check_matrices(tables, entries)
    return entries


def _day(table: Table, key: str) -> date | None:
    day: date | None = table.take(
        key,
        lambda value: isinstance(value, date) and not isinstance(value, datetime),
        "a date such as 2026-12-31, without quotes",
        default=None,
    )
    return day


def _read_access(table: Table) -> dict[str, Any]:
    """Who may answer; what is as by default is left out, so that versions stay what they were."""
    access = table.take(
        "access", lambda value: value in ACCESS, f"one of {', '.join(ACCESS)}", default="open"
    )
    work = table.take(
        "proof_of_work",
        lambda value: type(value) is int and 0 <= value <= MOST_WORK,
        f"a whole number of bits from 0 to {MOST_WORK}",
        default=0,
    )
    if work and access != "open":
        raise table.error("proof_of_work", 'left out unless access is "open"')
    return ({"access": access} if access != "open" else {}) | (
        {"proof_of_work": work} if work else {}
    )


def _read_entry(table: Table, domains: dict[str, Domain | None]) -> dict[str, Any]:
    kinds = (*KINDS, NOTE)
    entry: dict[str, Any] = {
        "id": table.identifier(),
        "kind": table.take(
            "kind",
            lambda value: isinstance(value, str) and value in kinds,
            f"one of {', '.join(kinds)}",
        ),
        "text": table.text("text"),
    }
    for key in ("help", "section"):
        text = table.text(key, default=None)
        if text is not None:
            entry[key] = text
    if table.flag("new_page"):
        entry["new_page"] = True
    condition = table.take(
        "shows_if",
        lambda value: isinstance(value, str) and bool(value.strip()),
        "a condition such as \"harassed = 'yes'\"",
        default=None,
    )
    if condition is not None:
        try:
            entry["shows_if"] = parse_condition(condition, domains)
        except ValueError as error:
            raise SurveyError(f"{table.place}: shows_if: {error} in {shown(condition)}") from None
    if entry["kind"] != NOTE:
        _read_question(table, entry)
    table.finish()
    return entry


def _read_question(table: Table, question: dict[str, Any]) -> None:
    """Put into an entry what it has since it is asked."""
    kind = KINDS[question["kind"]]
    question["required"] = table.flag("required")
    question["no_answer"] = not question["required"] or "shows_if" in question
    question |= kind.read(table)
    read_mechanism(table, question, kind.domain(question))


def _whole_micro(epsilon: int | float) -> Decimal:
    """ε in whole millionths, rounded up, as it will be charged at most."""
    millionths = (Decimal(repr(epsilon)) * MICRO).to_integral_value(ROUND_CEILING)
    return millionths / MICRO
