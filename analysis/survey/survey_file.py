"""The reader of a survey file: from the author's TOML to the checked form that is frozen."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_CEILING, Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

from analysis.core.domain import Domain
from analysis.core.epsilon import MICRO
from analysis.core.errors import SurveyError, shown
from analysis.survey.batches import read_results
from analysis.survey.codes import taken_out
from analysis.survey.digest import NOTE, groups_of
from analysis.survey.document import Table, plain, read_toml
from analysis.survey.freeze import freeze
from analysis.survey.image_file import read_image
from analysis.survey.kinds import KINDS
from analysis.survey.logic import asked_of, parse_condition
from analysis.survey.mechanism_file import read_mechanism
from analysis.survey.piping import answers_told, check_pieces
from analysis.survey.study_file import is_address, read_study
from analysis.survey.survey import ACCESS, BLANK, FORMATS, MOST_WORK, PAGE, Survey, asked_in
from analysis.survey.together_file import Together
from analysis.survey.words_file import read_words

#: The most questions and notes of a survey. Nobody answers this many, and the reports of many more
#: would not fit into one request. More are refused before anything is compiled.
MOST_ENTRIES = 1000

_LANGUAGE = re.compile(r"([A-Za-z]{2,3}|[A-Za-z]{5,8})(-[A-Za-z0-9]{1,8})*")


def read_survey(path: Path) -> Survey:
    """Read a survey file and freeze it.

    Raises
    ------
    SurveyError
        At the first mistake. The message has file, question, key, what was expected, and what came.
    """
    document = read_toml(path)
    if not document:
        raise SurveyError(
            f"{path}: expected a survey with title, id and [[questions]], got nothing"
        )
    return survey_of(document, str(path), path.parent)


def survey_of(document: dict[str, Any], place: str, folder: Path) -> Survey:
    """Freeze the tables of a survey file. Errors are those of `read_survey`.

    Parameters
    ----------
    document : dict
        The result of `analysis.survey.document.parsed`.
    place : str
        The name of the file in messages.
    folder : Path
        The folder of the files that it names.
    """
    return freeze(spec_of(Table(document, place, folder=folder)), place)


def spec_of(table: Table) -> dict[str, Any]:
    """Return the checked form of a whole file; errors are those of `read_survey`."""
    table.format = table.take(
        "format",
        lambda value: type(value) is int and value in FORMATS,
        f"one of {', '.join(map(str, FORMATS))}",
        default=FORMATS[0],
    )
    languages = table.take(
        "languages",
        lambda value: (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(tag, str) and _LANGUAGE.fullmatch(tag) for tag in value)
            and len(set(value)) == len(value)
        ),
        'a list of different language tags such as ["en", "fr"]',
        default=[],
    )
    table.languages = languages
    spec: dict[str, Any] = {"id": table.identifier(), "title": table.text("title")}
    if table.format > 1:
        spec["format"] = table.format
    if languages:
        spec["languages"] = languages
    spec |= read_study(table) | _read_days(table) | _read_access(table) | read_words(table)
    together = Together(table)
    spec["questions"] = _read_entries(table, together)
    spec |= taken_out(spec["questions"])
    if together.specs:
        spec["together"] = together.specs
    questions = asked_in(spec)
    if not questions:
        raise table.error("questions", "at least one that is not a note")
    page = _read_page(table, spec)
    if page:
        spec["page"] = page
    results = read_results(table, [question["id"] for question in questions])
    if results:
        spec["results"] = results
    privacy = table.part("privacy")
    alone = [question for question in questions if together.spec_of(question["id"]) is None]
    wave = sum((_whole_micro(drawn["epsilon"]) for drawn in [*alone, *together.specs]), Decimal(0))
    cap = privacy.number(
        "cap",
        f"a number of at least {wave.normalize():f}, the sum of epsilon over all "
        f"{'questions and [[together]] tables' if together.specs else 'questions'}",
        lambda cap: cap >= wave,
        default=wave,
    )
    if table.format > 1 and cap * MICRO % 1:
        raise privacy.error("cap", "a number of at most six decimals")
    spec["privacy"] = {"cap": plain(cap)} | _read_device_cap(privacy, wave, page)
    privacy.finish()
    table.finish()
    return spec


def _read_device_cap(
    privacy: Table, wave: Decimal, page: dict[str, bool | str]
) -> dict[str, float]:
    """Return the limit on what a device spends on all surveys of an address, if there is one."""
    if privacy.peek("device_cap") is None:
        return {}
    if "kiosk" in page:
        raise privacy.error("device_cap", "left out with kiosk, where each person begins anew")
    least = f"a number of at least {wave.normalize():f}, which one wave costs"
    most = privacy.number("device_cap", least, lambda most: most >= wave)
    if most * MICRO % 1:
        raise privacy.error("device_cap", "a number of at most six decimals")
    return {"device_cap": plain(most)}


def _whole_micro(epsilon: int | float) -> Decimal:
    """Return ε in whole millionths, rounded up, which is the most that will be charged."""
    millionths = (Decimal(repr(epsilon)) * MICRO).to_integral_value(ROUND_CEILING)
    return millionths / MICRO


def _read_days(table: Table) -> dict[str, str]:
    """Return the last days of answering and of keeping reports, if they are given."""
    days: dict[str, date] = {}
    for key in ("closes", "delete_reports_after"):
        day = table.take(
            key,
            lambda value: isinstance(value, date) and not isinstance(value, datetime),
            "a date such as 2026-12-31, without quotes",
            default=None,
        )
        if day is not None:
            days[key] = day
    if len(days) == 2 and days["delete_reports_after"] < days["closes"]:
        expected = f"{days['closes']}, when it closes, or later"
        raise table.error("delete_reports_after", expected)
    return {key: day.isoformat() for key, day in days.items()}


def _read_access(table: Table) -> dict[str, Any]:
    """Return who may answer. Defaults are left out, so that versions do not change."""
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
    if access != "open":
        return {"access": access}
    return {"proof_of_work": work} if work else {}


def _read_entries(survey: Table, together: Together) -> list[dict[str, Any]]:
    """Return the questions and notes, in their order."""
    tables: list[Table] = []
    entries: list[dict[str, Any]] = []
    domains: dict[str, Domain | None] = {}
    expected = f"1 to {MOST_ENTRIES} [[questions]] tables"
    asking = survey.tables("questions", expected, 1, MOST_ENTRIES)
    together.check_known(data.get("id") for data in asking if data.get("kind") != NOTE)
    for number, data in enumerate(asking, 1):
        kind = "note" if data.get("kind") == NOTE else "question"
        label = f'"{data["id"]}"' if isinstance(data.get("id"), str) else str(number)
        place = f"{survey.place}: {kind} {label}"
        table = Table(data, place, survey.languages, survey.folder, survey.format)
        try:
            entry = _read_entry(table, domains, together, entries)
        except SurveyError as error:
            raise error.of(str(data.get("id"))) from None
        if entry["id"] in domains:
            raise SurveyError(f"{table.place}: id must be unique in the survey, got it twice")
        asked = entry["kind"] != NOTE
        domains[entry["id"]] = KINDS[entry["kind"]].domain(entry) if asked else None
        tables.append(table)
        entries.append(entry)
    _check_matrices(tables, entries)
    together.finish(domains, entries)
    return entries


def _read_entry(
    table: Table,
    domains: dict[str, Domain | None],
    together: Together,
    earlier: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return a question or note. The entries before it are `earlier`, with these domains."""
    kinds = (*KINDS, NOTE)
    entry: dict[str, Any] = {
        "id": table.identifier(),
        "kind": table.take(
            "kind",
            lambda value: isinstance(value, str) and value in kinds,
            f"one of {', '.join(kinds)}",
        ),
        "text": table.text("text", may_tell_answers=True),
    }
    for key in ("help", "section"):
        text = table.text(key, default=None, may_tell_answers=key == "help")
        if text is not None:
            entry[key] = text
    image = read_image(table, "image")
    if image is not None:
        # This is a text for people who cannot see the image.
        entry["image"] = image | {"text": table.text("image_text")}
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
    entry |= _read_namely(table, entry, earlier)
    if entry["kind"] != NOTE:
        kind = KINDS[entry["kind"]]
        entry["required"] = table.flag("required")
        entry["no_answer"] = not entry["required"] or "shows_if" in entry
        reason = table.text("reason", default=None)
        if reason is not None:
            entry["reason"] = reason
        entry |= kind.read(table)
        joint = together.spec_of(entry["id"])
        if joint is None:
            read_mechanism(table, entry, kind.domain(entry))
        else:
            together.read_question(joint, table, entry, kind.domain(entry))
    check_pieces(table, entry, {one["id"]: one for one in earlier})
    table.finish()
    return entry


def _read_namely(
    table: Table, entry: dict[str, Any], earlier: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the keys of a text that specifies "other", and is asked only after that answer.

    Raises
    ------
    SurveyError
        If it is not a text, if the entry before has no such option, or if it has a condition
        itself.
    """
    if entry["kind"] != "text":
        return {}
    before = earlier[-1] if earlier and earlier[-1]["kind"] in ("choice", "choices") else {}
    ids = [option["id"] for option in before.get("options", ())]
    option = table.take(
        "namely",
        lambda value: value in ids,
        f"one of {', '.join(ids)}, the options of the question before"
        if ids
        else "left out, unless the question before it is a choice or choices",
        default=None,
    )
    if option is None:
        return {}
    for key in ("shows_if", "new_page", "section"):
        if key in entry:
            raise table.error(key, "left out, since the question is asked with its option")
    domain = KINDS[before["kind"]].domain(before)
    return {"namely": option, "shows_if": [domain.asked_by, before["id"], option]}


def _check_matrices(tables: Sequence[Table], entries: Sequence[dict[str, Any]]) -> None:
    """Raise SurveyError unless the scales of each matrix can be rows of one matrix.

    Parameters
    ----------
    tables, entries : sequences of equal length
        Each entry as its author wrote it, and in its frozen form.
    """
    written = {entry["id"]: table for table, entry in zip(tables, entries, strict=True)}
    for first, *others in groups_of(entries):
        if "matrix" in first and not others:
            raise (
                written[first["id"]]
                .error(
                    "matrix", "the same in the scale before or after, since one row is no matrix"
                )
                .of(first["id"])
            )
        rows = f'the matrix that begins with "{first["id"]}"'
        for row in others:
            table = written[row["id"]]
            for key in ("section", "new_page", "help"):
                if key in row:
                    raise table.error(key, f"left out: this is a row within {rows}").of(row["id"])
            points = zip_longest(first["options"], row["options"])
            for number, (expected, got) in enumerate(points, 1):
                if expected != got:
                    raise table.error(
                        "points", f"the same in all rows of {rows} (point {number} differs)"
                    ).of(row["id"])


def _check_random_order(page: Table, entries: Sequence[dict[str, Any]]) -> None:
    """Raise SurveyError if a question is on the same page as a question that it depends on."""
    on_page: set[str] = set()
    for entry in entries:
        if "new_page" in entry:
            on_page = set()
        needed = answers_told(entry)
        if "namely" not in entry:
            needed |= asked_of(entry.get("shows_if", []))
        for other in sorted(needed & on_page):
            raise page.error(
                "random_order",
                f'left out, or "{entry["id"]}" on a later page (new_page = true) than "{other}", '
                "on which it depends",
            )
        on_page.add(entry["id"])


def _read_page(table: Table, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a survey's page: the `PAGE` that are true, its example and exit.

    Raises
    ------
    SurveyError
        If an option is not true or false, or if people who share a device would see or use another
        person's answers or memory.
    """
    part = table.part("page")
    page: dict[str, Any] = {name: True for name in PAGE if part.flag(name)}
    address = part.take(
        "exit",
        lambda value: value == BLANK or is_address(value),
        f'"{BLANK}", or an address such as "https://example.org/news"',
        default=None,
    )
    if address is not None:
        page["exit"] = address
    ids = [question["id"] for question in asked_in(spec)]
    example = part.take(
        "example", ids.__contains__, f"the id of a question, of {', '.join(ids)}", default=None
    )
    if example is not None:
        page["example"] = example
    part.finish()
    if "exit" in page and "resume" in page:
        raise part.error("exit", "left out with resume: a reload would bring the answers back")
    if "random_order" in page:
        _check_random_order(part, spec["questions"])
    if "kiosk" not in page:
        return page
    if "access" in spec:
        raise part.error("kiosk", 'left out unless access is "open": a link is for one person')
    for question in asked_in(spec):
        if "epsilon_forever" in question:
            raise part.error(
                "kiosk",
                f'left out, as question "{question["id"]}" has epsilon_forever: on a shared '
                "device nobody knows who answers, so no draw can be remembered",
            )
    if "exit" in page:
        raise part.error("kiosk", "left out with exit, since its own button empties the page")
    if "resume" in page:
        raise part.error("kiosk", "left out with resume, which shows answers to the next person")
    return page
