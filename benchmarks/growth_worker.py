"""Do one step of `growth.py`, in a process of its own.

Usage: `python growth_worker.py CHECKOUT DATABASE STEP [ARGUMENT]...`

The modules are those of the checkout, which may be an older one.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, sys.argv[1])

from growth import BATCH, DECIDED

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.store import Store

DATABASE = Path(sys.argv[2])
TODAY = date(2026, 1, 1)
#: How many different respondents are randomized; a million respondents repeat their reports.
KINDS = 300


def of_intake(name: str) -> Any:
    """Return a module of what takes in reports; older checkouts have it in another place."""
    try:
        return import_module(f"server.intake.{name}")
    except ModuleNotFoundError:
        return import_module("server.intake" if name == "requests" else f"server.{name}")


def question(name: str, kind: str, more: str, options: int = 0) -> str:
    """Return a question of a survey file."""
    listed = ", ".join(f'{{id = "o{number}", text = "O{number}"}}' for number in range(options))
    text = f'[[questions]]\nid = "{name}"\nkind = "{kind}"\ntext = "?"\nepsilon = 1\n{more}\n'
    return text + f"options = [{listed}]\n" * bool(options)


SURVEYS = {
    "growth": [
        question("met", "yes-no", 'mechanism = "krr"'),
        question("tools", "choice", 'mechanism = "oue"', 8),
        question("hours", "number", "min = 0\nmax = 60"),
    ],
    "small": [question(f"q{number}", "yes-no", 'mechanism = "krr"') for number in range(5)],
    "large": [question(f"q{number}", "choice", 'mechanism = "oue"', 256) for number in range(5)],
}


def published(name: str) -> tuple[Store, Survey]:
    """Return a new database with one survey, which is open."""
    file = DATABASE.with_suffix(".toml")
    head = f'title = "{name}"\nid = "{name}"\n[privacy]\ncap = 100\n'
    head += '[results]\npublic = ["met"]\n' * (name == "growth")
    file.write_text(head + "".join(SURVEYS[name]))
    survey = read_survey(file)
    store = Store(DATABASE, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    return store, survey


def reports(survey: Survey) -> list[dict[str, Any]]:
    """Return the reports of `KINDS` respondents."""
    answers: dict[str, Callable[[int], str]] = {
        "yes-no": lambda row: ("yes", "no")[row % 2],
        "choice": lambda row: f"o{row % 8}",
        "number": lambda row: str(row % 60),
    }
    rows = [
        {each.id: answers[each.spec["kind"]](row) for each in survey.questions}
        for row in range(KINDS)
    ]
    return list(payloads(survey, rows, 1, 1))


def fill(n: str) -> None:
    """Store this many submissions."""
    store, survey = published("growth")
    kinds = [payload["reports"] for payload in reports(survey)]

    submission_of = of_intake("wire").Submission

    def submissions() -> Iterator[Any]:
        for row in range(min(int(n), DECIDED)):
            drawn = dict(kinds[row * 7919 % KINDS])
            yield submission_of(survey, 1, os.urandom(16), os.urandom(16), None, drawn)

    waiting = submissions()
    while batch := list(islice(waiting, BATCH)):
        assert set(store.add(batch, TODAY)) == {201}
    if int(n) > DECIDED:
        repeat(store, survey, kinds, int(n) - DECIDED)
    store.surveys.close_waves(survey.id)  # so that pages show all of them
    store.access.add_token("growth")
    store.close()


def repeat(store: Store, survey: Survey, kinds: list[dict[str, Any]], n: int) -> None:
    """Store so many more submissions, which repeat those of one batch under new ids.

    The number is a multiple of `BATCH`. The store counts each batch, and takes snapshots, as if it
    had come. SQLite itself copies the rows, in the order of their ids. The audit counts all rows
    again, and fails if they differ.
    """
    decision_of, submission_of = of_intake("decision"), of_intake("wire").Submission

    batch = [
        submission_of(survey, 1, os.urandom(16), os.urandom(16), None, dict(kinds[row % KINDS]))
        for row in range(BATCH)
    ]
    decision = decision_of.decide(batch, store.batches.read(batch[:1]), TODAY)
    assert set(decision.results) == {201}
    copies = n // BATCH
    with store.batches.transaction(list):
        store.batches.write(decision)
    with store.batches.transaction(list):
        for _ in range(copies - 1):
            cells = [
                decision_of.CellChange(key, after, after.after(BATCH, survey.steps))
                for key, _, after in decision.cells
            ]
            decision = replace(decision, reports=[], charges=[], cells=cells)
            store.batches.write(decision)
        copy_rows(store, batch, copies - 1)


def copy_rows(store: Store, batch: list[Any], copies: int) -> None:
    """Copy the rows of a batch so many times; the new ids begin with the number of the copy."""
    connection = store.database.connection
    connection.execute("CREATE TEMP TABLE copies (first BLOB)")
    connection.executemany(
        "INSERT INTO copies VALUES (?)", [(copy.to_bytes(4),) for copy in range(copies)]
    )
    for table, name, rest in (
        ("report", "rid", "version, wave, payload"),
        ("ledger", "respondent", "terms, submissions, charged"),
    ):
        keys = [each.rid if name == "rid" else each.respondent for each in batch]
        rows = store.database.among(
            f"SELECT {name}, {rest} FROM {table} WHERE survey = ? AND {name} IN", ("growth",), keys
        )
        connection.execute(f"CREATE TEMP TABLE of_batch (id, {rest})")
        connection.executemany("INSERT INTO of_batch VALUES (?, ?, ?, ?)", sorted(rows.fetchall()))
        connection.execute(
            f"INSERT INTO {table} "
            f"SELECT 'growth', CAST(first || substr(id, 1, 12) AS BLOB), {rest} "
            "FROM copies CROSS JOIN of_batch"
        )
        connection.execute("DROP TABLE of_batch")


def command(*given: str) -> None:
    """Run a command, throw away what it prints, and exit as it does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    main([*given, "--db", str(DATABASE)])


def page(looks: str, *paths: str) -> None:
    """Look at pages this many times, after the list of surveys; print the last look's seconds."""
    try:
        from server.app import create_app
    except ImportError:  # for an older checkout
        from server import create_app  # type: ignore[attr-defined, no-redef]  # it was there
    client = create_app({"DATABASE": DATABASE}).test_client()
    for address in ("/results", *paths * int(looks)):
        before = process_time()
        response = client.get(address, headers={"Authorization": "Bearer growth"})
        assert response.status_code == 200, response.status
        response.get_data()
    print(process_time() - before)


def intake(name: str) -> None:
    """Print the processor microseconds of a submission, 64 in a transaction."""
    import json

    store, survey = published(name)
    check, bodies = of_intake("requests").check, []
    for row, payload in enumerate(reports(survey) * 7):
        ids = {"rid": f"{row:032x}", "respondent": f"{row + 2**64:032x}"}
        bodies.append(json.dumps({**payload, **ids}).encode())
    before, waiting = process_time(), iter(bodies)
    while batch := list(islice(waiting, 64)):
        results = store.add([check(store, survey.id, body) for body in batch], TODAY)
        assert set(results) == {201}
    print(1e6 * (process_time() - before) / len(bodies))


if __name__ == "__main__":
    parts: dict[str, Callable[..., None]] = {
        "fill": fill,
        "command": command,
        "page": page,
        "intake": intake,
    }
    parts[sys.argv[3]](*sys.argv[4:])
