"""Hostile bodies get a clear 4xx, and nothing of them is stored."""

import hashlib
import io
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake.proof_of_work import bits_of, work
from server.intake.wire import Refused, parse
from server.store import Store

Send = Callable[..., Any]


def _edit(payload: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    *parents, last = path.split(".")
    where = payload
    for parent in parents:
        where = where[parent]
    if value is ...:
        del where[last]
    else:
        where[last] = value
    return payload


def _nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


EDITS = [
    ("version", "0" * 64, "version"),
    ("version", "0" * 63, "version"),
    ("version", ..., "body"),
    ("wave", 0, "wave"),
    ("wave", True, "wave"),
    ("wave", 1.0, "wave"),
    ("wave", "1", "wave"),
    ("wave", 2**63, "wave"),
    ("wave", 10**400, "wave"),
    ("rid", "ab" * 15, "rid"),
    ("rid", "AB" * 16, "rid"),
    ("rid", "ab" * 16 + "\n", "rid"),
    ("rid", "\ud800" * 32, "rid"),
    ("rid", "٣" * 32, "rid"),
    ("respondent", ..., "body"),
    ("respondent", None, "respondent"),
    ("token", "", "token"),
    ("token", "x" * 129, "token"),
    ("truth", 1, "body"),
    ("reports", [], "reports"),
    ("reports", None, "reports"),
    ("reports.fish", 1, "reports"),
    ("reports.\ud800", 1, "reports"),
    ("reports.meat", ..., "reports.meat"),
    ("reports.meat", 3, "reports.meat"),
    ("reports.meat", -1, "reports.meat"),
    ("reports.meat", True, "reports.meat"),
    ("reports.meat", 1.0, "reports.meat"),
    ("reports.meat", 2**63, "reports.meat"),
    ("reports.meat", "1", "reports.meat"),
    ("reports.meat", None, "reports.meat"),
    ("reports.meat", [1], "reports.meat"),
    ("reports.meat", {"cohort": 0, "report": 1}, "reports.meat"),
    ("reports.dish", [0], "reports.dish"),
    ("reports.dish", [1, 0], "reports.dish"),
    ("reports.dish", [1, 1], "reports.dish"),
    ("reports.dish", [2, 4], "reports.dish"),
    ("reports.dish", [0, 1, 2], "reports.dish"),
    ("reports.dish", [0, True], "reports.dish"),
    ("reports.dish", [0, 1.0], "reports.dish"),
    ("reports.dish", 3, "reports.dish"),
    ("reports.dish", _nested(400), "reports.dish"),
    ("reports.price", 10**6, "reports.price"),
]


@pytest.fixture
def subset_survey(survey_file: Path) -> Survey:
    """Return the survey with a question whose reports are sets of two."""
    text = survey_file.read_text().replace("epsilon = 1.5", "epsilon = 0.1", 1)
    survey_file.write_text(text)
    return read_survey(survey_file)


@pytest.fixture
def survey(subset_survey: Survey) -> Survey:
    assert subset_survey.questions[1].mechanism.name == "subset"
    return subset_survey


@pytest.mark.parametrize(("path", "value", "field"), EDITS, ids=str)
def test_wrong_field_is_named_and_nothing_stored(
    send: Send, make: Send, store: Store, survey: Survey, path: str, value: Any, field: str
) -> None:
    response = send(_edit(make(), path, value))
    problem = response.get_json()
    assert response.status_code == 400
    assert problem["type"].endswith("malformed")
    assert problem["field"] == field
    assert problem["expected"]
    assert problem["got"]
    assert _nothing_is_stored(store, survey)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"version": "\xff"}',
        b"[" * 15_000,
        b'{"a":' * 13_000,
        b'{"wave": NaN}',
        b'{"wave": Infinity}',
        b'{"wave": -Infinity}',
        b'{"wave": 1e999}',
        b"1" * 5000,
        "{}".encode("utf-16"),
    ],
)
def test_other_bodies_than_submissions_are_refused(
    send: Send, store: Store, survey: Survey, body: bytes
) -> None:
    response = send(body)
    assert response.status_code == 400
    assert response.get_json()["type"].endswith("malformed")
    assert _nothing_is_stored(store, survey)


def test_the_same_key_twice_is_refused(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    text = json.dumps(make())
    for twice in (text.replace('"wave": 1', '"wave": 1, "wave": 1'), text[:-2] + ',"meat":0}}'):
        response = send(twice.encode())
        assert response.status_code == 400
        assert "twice" in response.get_json()["got"]
    assert _nothing_is_stored(store, survey)


def test_a_body_over_the_limit_is_too_large(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    body = json.dumps(make()).encode()
    assert send(body + b" " * (65536 - len(body) + 1)).status_code == 413
    assert _nothing_is_stored(store, survey)
    assert send(body + b" " * (65536 - len(body))).status_code == 201


def test_a_body_of_no_stated_length_has_the_same_limit(
    client: FlaskClient, make: Send, store: Store, survey: Survey
) -> None:
    body = json.dumps(make()).encode()
    body += b" " * (65536 - len(body)) + b"garbage" * 1000
    response = client.post(
        f"/api/surveys/{survey.id}/reports",
        input_stream=io.BytesIO(body),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )
    assert response.status_code == 413
    assert _nothing_is_stored(store, survey)


def test_a_refusal_does_not_repeat_who_sent_it(send: Send, make: Send) -> None:
    payload = make()
    text = send(_edit(make(), "reports.meat", 9)).get_data(as_text=True)
    assert payload["respondent"] not in text
    assert payload["rid"] not in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
fields = st.sampled_from(
    ["version", "wave", "rid", "respondent", "reports", "token", "reports.meat", "reports.dish"]
)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(path=fields, value=json_values)
def test_no_json_value_anywhere_makes_the_server_fail(
    send: Send, make: Send, path: str, value: Any
) -> None:
    response = send(_edit(make(), path, value))
    assert response.status_code < 500


def _nothing_is_stored(store: Store, survey: Survey) -> bool:
    tallied = sum(int(counts.sum()) for counts in store.reports.tallies(survey, 1).values())
    return (
        not list(chain(*store.reports.payloads(survey, 1)))
        and not store.ledger.spends(survey.id)
        and not tallied
    )


@pytest.fixture
def working(survey_file: Path, store: Store) -> Survey:
    """Publish a survey that asks for proof of work, as the next version."""
    text = survey_file.read_text()
    survey_file.write_text(text.replace('id = "canteen"', 'id = "canteen"\nproof_of_work = 8', 1))
    survey = read_survey(survey_file)
    store.surveys.publish(survey)
    return survey


def test_a_report_without_the_required_work_is_refused(
    send: Send, make: Send, working: Survey, store: Store
) -> None:
    (body,) = payloads(working, [{"meat": "yes", "dish": "soup", "price": "3"}], 1, 4)
    right = work(8, working.version, 1, body["rid"])
    wrong, nearly = (
        next(n for n in range(9999) if bits_of(working.version, 1, body["rid"], n) == bits)
        for bits in (0, 7)
    )
    numbers = (wrong, nearly, None, str(right), -1)
    for wrong_body in (body, *(body | {"work": number} for number in numbers)):
        answer = send(wrong_body)
        assert answer.status_code == 400
        assert answer.get_json()["field"] == "work"
    # It cannot be taken from another report, nor avoided with an older version.
    assert send({**body, "rid": "ab" * 16, "work": right}).status_code == 400
    assert send(make()).get_json()["type"].endswith("work-required")
    assert store.reports.per_version("canteen") == {}
    assert send({**body, "work": right}).status_code == 201
    assert send({**body, "work": right}).status_code == 200


def test_report_of_an_older_version_is_accepted_with_the_work_required_now(
    send: Send, make: Send, working: Survey, store: Store
) -> None:
    body = make()
    assert body["version"] != working.version
    refused = send(body)
    assert (refused.status_code, refused.get_json()["bits"]) == (409, 8)
    wrong = next(n for n in range(999) if bits_of(body["version"], 1, body["rid"], n) < 8)
    assert send(body | {"work": wrong}).get_json()["bits"] == 8
    assert store.reports.per_version("canteen") == {}
    right = work(8, body["version"], 1, body["rid"])
    assert send(body | {"work": right}).status_code == 201
    # With or without it, it is the same report.
    assert send(body | {"work": right}).status_code == send(body).status_code == 200
    (spend,) = store.ledger.spends("canteen")
    assert (spend.submissions, spend.charged) == (1, 2_600_000)


SAMPLED = """
id = "s"
title = "T"
[[together]]
id = "some"
questions = ["a", "b", "c", "d"]
epsilon = 4
epsilon_each = 3
ask = 2
""" + "".join(
    f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\nrequired = true\n'
    for name in "abcd"
)


def test_reports_on_other_questions_than_a_device_is_asked_together_are_refused(
    read: Callable[[str], Survey],
) -> None:
    survey = read(SAMPLED)
    (body,) = payloads(survey, [dict.fromkeys("abcd", "yes")], 1, 1)
    taken = parse(json.dumps(body).encode(), lambda _: survey)
    assert taken.reports == body["reports"]
    of_asked = next(report for report in body["reports"].values() if report)
    for report in (of_asked, list[int]()):
        wrong = body | {"reports": dict.fromkeys("abcd", report)}
        with pytest.raises(Refused) as refused:
            parse(json.dumps(wrong).encode(), lambda _: survey)
        assert refused.value.refusal.field == "reports.a"


def test_joined_ids_are_refused(send: Send, make: Send) -> None:
    assert send(make() | {"respondent": make()["rid"]}).get_json()["field"] == "rid"


def test_work_is_counted_as_written_down() -> None:
    # By hand: sha256("v:1:r:0") and so on, until the first byte is zero.
    found = work(8, "v", 1, "r")
    digests = [hashlib.sha256(f"v:1:r:{n}".encode()).digest()[0] for n in range(found + 1)]
    assert digests[-1] == 0
    assert 0 not in digests[:-1]
