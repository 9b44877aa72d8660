"""The cap is a filter: what it lets through, what it refuses, and what stays unchanged."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import chain
from multiprocessing.synchronize import Barrier
from pathlib import Path
from sqlite3 import SQLITE_FULL, OperationalError
from typing import Any

import pytest
from flask.testing import FlaskClient
from psycopg.errors import DiskFull

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.intake.decision import Decision
from server.intake.invitations import ISSUER
from server.intake.requests import check
from server.intake.wire import Refusal
from server.store import Place, Store
from server.store.batches import Batches
from server.store.places import Address
from server.store.postgres.session import told

sys.path.insert(0, str(Path(__file__).parent))

from limits import LONG
from racing import racing, run_all

pytestmark = pytest.mark.both

TENTH = """
title = "Tenths"
id = "tenths"
access = "ACCESS"
[privacy]
cap = 0.3
[[questions]]
id = "a"
kind = "yes-no"
text = "A?"
required = true
epsilon = 0.1
"""
#: One pseudonym, which all racing processes use.
PERSON = "ab" * 16


def tenths(folder: Path, access: str = "open", old: str = "", new: str = "") -> Survey:
    file = folder / "tenths.toml"
    file.write_text(TENTH.replace("ACCESS", access).replace(old, new))
    return read_survey(file)


def opened(database: Place, survey: Survey, waves: int = 9) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    for wave in range(1, waves + 1):
        store.surveys.open_wave(survey.id, wave)
    return store


def body(survey: Survey, wave: int, answer: str = "yes", seed: int = 1) -> dict[str, Any]:
    (one,) = payloads(survey, [{"a": answer}], wave, seed)
    return {**one, "respondent": PERSON}


def post(store: Store, content: dict[str, Any] | bytes) -> Any:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    client: FlaskClient = create_app({"DATABASE": store.database.place}).test_client()
    return client.post("/api/surveys/tenths/reports", data=data, content_type="application/json")


def kept(store: Store, survey: Survey) -> dict[str, Any]:
    """Return everything that a refused report must leave unchanged."""
    waves = range(1, 10)
    return {
        "reports": {wave: list(chain(*store.reports.payloads(survey, wave))) for wave in waves},
        "ledger": store.ledger.spends("tenths"),
        "tally": {wave: store.reports.tallies(survey, wave)["a"].tolist() for wave in waves},
        "invitations": store.invitations.counts("tenths"),
    }


@pytest.mark.parametrize("answers", [["yes"] * 3, ["no"] * 3, ["yes", "no", "yes"]], ids=str)
def test_three_tenths_fit_into_three_tenths_whatever_was_answered(
    tmp_path: Path, database: Place, answers: list[str]
) -> None:
    survey = tenths(tmp_path)
    store = opened(database, survey)
    for wave, answer in enumerate(answers, 1):
        assert post(store, body(survey, wave, answer)).status_code == 201
    assert [(one.submissions, one.charged) for one in store.ledger.spends("tenths")] == [
        (3, 300_000)
    ]
    before = kept(store, survey)
    refused = post(store, body(survey, 4))
    assert (refused.status_code, refused.get_json()["type"]) == (
        409,
        "urn:deniable:problem:cap-exceeded",
    )
    assert refused.get_json()["detail"] == (
        "respondent: expected at most ε = 0.3 in total, got 0.3 spent and 0.1 more"
    )
    assert kept(store, survey) == before
    assert list(store.upkeep.discrepancies(date.today())) == []


def test_a_forged_report_over_the_cap_leaves_its_invitation_unused(
    tmp_path: Path, database: Place
) -> None:
    survey = tenths(tmp_path, "invited")
    store = opened(database, survey)
    tokens = {wave: ISSUER.issue() for wave in range(1, 5)}
    for wave, token in tokens.items():
        store.invitations.add("tenths", wave, [ISSUER.key(token)])

    def forged(wave: int, who: str) -> Any:
        return post(store, body(survey, wave) | {"respondent": who, "token": tokens[wave]})

    assert [forged(wave, PERSON).status_code for wave in (1, 2, 3)] == [201] * 3
    before = kept(store, survey)
    assert forged(4, PERSON).get_json()["type"] == "urn:deniable:problem:cap-exceeded"
    assert kept(store, survey) == before
    # The invitation can be used by a respondent who has something left.
    assert forged(4, "cd" * 16).status_code == 201


def test_two_versions_share_the_cap_and_the_least_promised_one_holds(
    tmp_path: Path, database: Place
) -> None:
    first = tenths(tmp_path)
    store = opened(database, first)
    second = tenths(tmp_path, old='"A?"', new='"B?"')
    higher = tenths(tmp_path, old="cap = 0.3", new="cap = 5")
    assert post(store, body(first, 1)).status_code == 201
    store.surveys.publish(second)
    for wave in (2, 3):
        assert post(store, body(second, wave)).status_code == 201
    assert post(store, body(first, 4)).status_code == 409
    assert post(store, body(second, 4)).status_code == 409
    store.surveys.publish(higher)
    assert post(store, body(higher, 4)).status_code == 409
    assert sum(spend.charged for spend in store.ledger.spends("tenths")) == 300_000


def _unstored(store: Store, survey: Survey) -> Iterator[tuple[int, dict[str, Any] | bytes]]:
    """Yield reports that are not stored, and the status that says so."""
    good = body(survey, 1)
    yield 200, good  # a retry
    yield 409, good | {"wave": 2}
    yield 400, b"{"
    yield 400, body(survey, 2) | {"reports": {"a": 2}}
    yield 400, body(survey, 2) | {"reports": {}}
    yield 409, body(survey, 10)  # a wave that is not open
    yield 403, body(survey, 2) | {"token": "any"}


def test_reports_that_are_not_stored_are_not_charged_and_none_is_refunded(
    tmp_path: Path, database: Place
) -> None:
    survey = tenths(tmp_path)
    store = opened(database, survey)
    assert post(store, body(survey, 1)).status_code == 201
    before = kept(store, survey)
    for status, content in _unstored(store, survey):
        assert post(store, content).status_code == status
        assert kept(store, survey) == before
    store.surveys.close_waves("tenths")
    assert post(store, body(survey, 2)).status_code == 409
    assert kept(store, survey)["ledger"] == before["ledger"]


def test_nothing_is_charged_if_the_store_fails(
    tmp_path: Path, database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = tenths(tmp_path)
    store = opened(database, survey)
    before = kept(store, survey)

    write = Batches.write

    def full(batches: Batches, decision: Decision) -> None:
        write(batches, decision)
        if isinstance(database, Address):
            with told("database"):
                raise DiskFull
        error = OperationalError("database or disk is full")
        error.sqlite_errorcode = SQLITE_FULL
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Batches, "write", full)
        assert post(store, body(survey, 1)).status_code == 503
    assert kept(store, survey) == before
    assert post(store, body(survey, 1)).status_code == 201


RACERS = 8
#: What is left of the cap when all send a report at once, and so how many win, for each round.
ROUNDS = (1, 1, 1, 1, 1, 1, 3, 3, 3)


def race(database: Place, file: Path, start: Barrier, racer: int, to: Path) -> None:
    """Send a report of one person in each round, when all do; a process of its own does this."""
    store, survey, outcomes = Store(database), read_survey(file), []
    for number in range(len(ROUNDS)):
        content = body(survey, 3, seed=1000 * number + racer) | {"respondent": f"{number:032x}"}
        submission = check(store, survey.id, json.dumps(content).encode())
        start.wait(LONG)
        (outcome,) = store.add([submission], date.today())
        outcomes.append(outcome.word if isinstance(outcome, Refusal) else str(outcome))
    to.write_text(" ".join(outcomes))
    store.close()


@pytest.mark.more
def test_of_eight_processes_as_many_win_as_the_cap_has_room_for(
    tmp_path: Path, database: Place
) -> None:
    survey = tenths(tmp_path)
    store = opened(database, survey)
    for number, room in enumerate(ROUNDS):
        for wave in range(1, 4 - room):
            content = body(survey, wave, seed=number) | {"respondent": f"{number:032x}"}
            assert post(store, content).status_code == 201
    context = racing()
    start = context.Barrier(RACERS)
    results = [tmp_path / f"{racer}.txt" for racer in range(RACERS)]
    racers = [
        context.Process(
            target=race, args=(store.database.place, tmp_path / "tenths.toml", start, n, to)
        )
        for n, to in enumerate(results)
    ]
    run_all(racers)
    outcomes = [to.read_text().split() for to in results]
    for number, room in enumerate(ROUNDS):
        found = Counter(own[number] for own in outcomes)
        assert found == {"201": room, "cap-exceeded": RACERS - room}
    spent = Counter[str]()
    for spend in store.ledger.spends("tenths"):
        spent[spend.respondent] += spend.charged
    assert set(spent.values()) == {300_000}
    assert list(store.upkeep.discrepancies(date.today())) == []
