"""Mistakes in a link are found, and a question about a link reveals little."""

import re
import sqlite3
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.intake.invitations import DIGITS, ISSUER, RateLimit, check_digits
from server.intake.wire import Submission
from server.store import Place, Store

pytestmark = pytest.mark.both


def _is_whole(token: str) -> bool:
    return len(token) == 24 and check_digits(token[:22]) == token[22:]


def test_token_is_128_random_bits_and_two_check_digits() -> None:
    tokens = [ISSUER.issue() for _ in range(200)]
    assert all(_is_whole(token) and set(token) <= set(DIGITS) for token in tokens)
    assert len(set(tokens)) == 200
    # By hand: 21 zeros and the digit B at the last place spell 1; B at the next place spells 64.
    assert check_digits("A" * 21 + "B") == "AB"
    assert check_digits("A" * 20 + "BA") == "BA"
    # 64 * 64 = 4096 = 4093 + 3.
    assert check_digits("A" * 19 + "BAA") == "AD"


def test_every_single_wrong_digit_at_every_place_is_found() -> None:
    for token in (ISSUER.issue(), "A" * 24, "_" * 22 + check_digits("_" * 22)):
        assert _is_whole(token)
        for place, right in enumerate(token):
            for wrong in set(DIGITS) - {right}:
                assert not _is_whole(token[:place] + wrong + token[place + 1 :])


def test_every_swap_of_neighbors_at_every_place_is_found() -> None:
    # All pairs of digits at all places, in numbers whose other digits are zero.
    for place in range(21):
        for first in DIGITS:
            for second in DIGITS:
                if first != second:
                    rest = "A" * (20 - place)
                    one = "A" * place + first + second + rest
                    other = "A" * place + second + first + rest
                    assert check_digits(one) != check_digits(other)
    # Then the check digits, and swaps between both parts, in tokens as they are made.
    swaps = 0
    for token in (ISSUER.issue() for _ in range(300)):
        for place in range(23):
            if token[place] != token[place + 1]:
                pair = token[place + 1] + token[place]
                assert not _is_whole(token[:place] + pair + token[place + 2 :])
                swaps += 1
    assert swaps > 6000


@pytest.fixture
def invited(survey_file: Path, store: Store) -> str:
    """Return the id of a survey for invited people, with its first wave open."""
    text = survey_file.read_text()
    survey_file.write_text(text.replace('id = "canteen"', 'id = "canteen"\naccess = "invited"', 1))
    store.surveys.publish(read_survey(survey_file))
    return "canteen"


Ask = Callable[..., Any]


@pytest.fixture
def ask(client: FlaskClient) -> Ask:
    """Ask whether a token can be used in a wave."""

    def post(token: str, wave: int = 1, **headers: str) -> Any:
        return client.post(
            "/api/surveys/canteen/invitations",
            json={"wave": wave, "token": token},
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return post


def test_used_withdrawn_and_unknown_links_get_the_same_answer(
    invited: str, store: Store, ask: Ask
) -> None:
    fresh, used, old = ISSUER.issue(), ISSUER.issue(), "A" * 22
    store.invitations.add(invited, 1, map(ISSUER.key, (fresh, used, old)))
    with store.database.writing() as connection:
        connection.execute(
            "UPDATE invitation SET used = 1 WHERE token_hash = ?", [ISSUER.key(used)]
        )
    assert ask(fresh).get_json() == ask(old).get_json() == {"status": "usable"}
    unusable = [ask(used), ask(ISSUER.issue()), ask(fresh, wave=2)]
    assert [one.get_json() for one in unusable] == [{"status": "unusable"}] * 3
    # No header distinguishes them either, and asking changes nothing.
    assert len({str(sorted(one.headers)) for one in unusable}) == 1
    assert store.invitations.counts(invited) == {1: (3, 1)}


def test_question_of_another_website_or_in_another_format_is_refused(
    invited: str, client: FlaskClient, ask: Ask
) -> None:
    for site in ("cross-site", "same-site"):
        assert ask("A" * 22, Sec_Fetch_Site=site).status_code == 403
    assert ask("A" * 22, Sec_Fetch_Site="same-origin").status_code == 200
    address = "/api/surveys/canteen/invitations"
    plain = client.post(address, data='{"wave":1,"token":"A"}', content_type="text/plain")
    assert plain.status_code == 415
    for body in (b"", b"{", b"[]", b'{"wave":1}', b'{"wave":1,"token":""}', b"[" * 9000, b"\xff"):
        assert client.post(address, data=body, content_type="application/json").status_code == 400
    assert (
        client.post("/api/surveys/none/invitations", json={"wave": 1, "token": "A"}).status_code
        == 404
    )
    assert client.get(address).status_code == 405


def test_link_queries_are_limited_by_survey_and_reports_are_not(
    invited: str,
    database: Place,
    ask: Ask,
    client: FlaskClient,
    send: Callable[..., Any],
    make: Any,
) -> None:
    client.application.extensions["link_limit"] = RateLimit(burst=3, rate=1e-9)
    statuses = [ask("A" * 22).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 503, 503]
    assert ask("A" * 22).headers["Retry-After"]
    assert send(make()).status_code == 403


def test_rate_limit_fills_again_and_keeps_surveys_apart() -> None:
    now = 0.0
    limit = RateLimit(burst=2, rate=0.5, clock=lambda: now)
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    assert limit.allows("b")
    now = 1.0
    assert not limit.allows("a")
    now = 2.0
    assert [limit.allows("a") for _ in range(2)] == [True, False]


def test_questions_are_answered_where_respondents_are(database: Place, store: Store) -> None:
    app = create_app({"DATABASE": database, "PLANES": ["research"]})
    asked = app.test_client().post("/api/surveys/canteen/invitations", json={})
    assert asked.status_code == 404


@pytest.mark.sqlite
def test_a_batch_looks_up_what_it_needs_by_whole_keys(
    invited: str, store: Store, survey_file: Path
) -> None:
    keys = [ISSUER.key(ISSUER.issue()) for _ in range(2)]
    store.invitations.add(invited, 1, keys)
    survey = read_survey(survey_file)
    reports = next(payloads(survey, [{"meat": "yes", "dish": "soup", "price": "3"}], 1, 1))
    asked: list[str] = []
    connection = store.database.connection
    assert isinstance(connection, sqlite3.Connection)
    connection.set_trace_callback(asked.append)
    batch = [
        Submission(survey, 1, bytes([n] * 16), bytes([n + 9] * 16), key, reports["reports"])
        for n, key in enumerate(keys)
    ]
    assert store.add(batch, date(2026, 1, 1)) == [201, 201]
    connection.set_trace_callback(None)
    keyed = {"report": "rid=?", "ledger": "respondent=?", "invitation": "token_hash=?"}
    for table, key in keyed.items():
        (sql,) = [sql for sql in asked if re.search(rf"SELECT .* FROM {table} ", sql)]
        (step,) = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        assert key in step[-1], step
