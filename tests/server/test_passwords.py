"""What is kept of a password; guessing is slow, keeps no owner out, and does not find names."""

import hashlib
import itertools
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from test_access import EVERYBODYS, HTTPS, SECRET, app, basic, browser, clock, log_in, quick
from werkzeug.security import check_password_hash, generate_password_hash

from server import passwords
from server.store import Store
from server.store.researchers import FREE_ATTEMPTS, Researcher

__all__ = ["app", "browser", "clock", "quick"]
pytestmark = pytest.mark.usefixtures("answered")


@pytest.mark.both
@pytest.mark.usefixtures("quick")
def test_guessing_is_slowed_down_and_locks_nobody_out(
    browser: FlaskClient, clock: Iterator[list[float]]
) -> None:
    now = next(clock)
    statuses = [log_in(browser, password="guess").status_code for _ in range(FREE_ATTEMPTS + 3)]
    assert statuses[:FREE_ATTEMPTS] == [401] * FREE_ATTEMPTS
    assert statuses[-1] == 429
    answer = log_in(browser, password="guess")
    assert 1 <= int(answer.headers["Retry-After"]) <= 2
    assert browser.get(EVERYBODYS[2], headers=basic("ada", "guess")).status_code == 429
    # However fast others guess, the right password is accepted.
    assert log_in(browser).status_code == 303
    tried = 0
    for _ in range(3600):  # an hour with one guess a second
        now[0] += 1
        tried += log_in(browser, password="guess").status_code == 401
    assert 50 < tried < 80
    now[0] += 86_500
    assert [log_in(browser, password="guess").status_code for _ in range(8)] == [401] * 8


def test_names_that_do_not_exist_look_like_those_that_do(
    browser: FlaskClient,
    store: Store,
    clock: Iterator[list[float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    next(clock)
    told = {}
    # A hash takes nearly all of the time, and is always made from the same parameters.
    computed: list[str] = []

    def compute(stored: str, given: str) -> bool:
        computed.append(stored.partition("$")[0])
        return False

    store.researchers.put(Researcher("cho", "analyst"), passwords.hashed_choice(SECRET))
    store.researchers.put(Researcher("mia", "analyst"), passwords.hashed(SECRET))
    monkeypatch.setattr(passwords, "check_password_hash", compute)
    for name in ("cho", "mia", "nobody", "Cho", "mia "):
        told[name] = [log_in(browser, name, "guess").status_code for _ in range(12)]
        told[name] += [*map(len, computed)]
        assert set(computed) == {"scrypt:32768:8:1"}
        computed.clear()
    assert len(set(map(tuple, told.values()))) == 1
    for number in range(300):
        log_in(browser, f"nobody-{number}", "guess")
    assert store.database.tables()["throttle"][1] <= 16**3


def test_a_password_that_is_too_long_is_never_brought_into_a_form(
    browser: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Unicode sorts marks over a letter in a time that grows with the square of their number.
    brought: list[int] = []

    def normal(form: str, text: str) -> str:
        brought.append(len(text))
        return text

    monkeypatch.setattr("server.passwords.unicodedata.normalize", normal)
    store.researchers.put(Researcher("cho", "analyst"), passwords.hashed_choice(SECRET))
    for name in ("cho", "nobody"):
        assert log_in(browser, name, "\u0344" * 5_000).status_code == 401
        given = basic(name, "\u0344" * 20_000)
        assert browser.get(EVERYBODYS[2], headers=given).status_code == 401
    assert len(brought) == 5
    assert max(brought) <= passwords.LONGEST


def test_a_wrong_password_like_a_made_one_waits_like_any_other(
    browser: FlaskClient, clock: Iterator[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    next(clock)
    computed: list[str] = []

    def compute(stored: str, given: str) -> bool:
        computed.append(given)
        return check_password_hash(stored, given)

    monkeypatch.setattr(passwords, "check_password_hash", compute)
    first = hashlib.sha256(SECRET.encode()).digest()[:2]
    guesses = map(str, itertools.count())
    guess = next(one for one in guesses if hashlib.sha256(one.encode()).digest()[:2] == first)
    for name in ("ada", "nobody"):
        told = [log_in(browser, name, "guess").status_code for _ in range(FREE_ATTEMPTS + 2)]
        assert told[-1] == 429
        computed.clear()
        assert log_in(browser, name, guess).status_code == 429
        assert computed == []
    assert log_in(browser).status_code == 303
    assert computed == []


@pytest.mark.both
def test_a_made_password_is_kept_as_a_hash(store: Store, app: Flask, browser: FlaskClient) -> None:
    kept = passwords.hashed(SECRET)
    assert kept == f"sha256:{hashlib.sha256(SECRET.encode()).hexdigest()}"
    # Before, two bytes of it and a scrypt hash were kept; the right password brings the new form.
    slow = generate_password_hash(SECRET, "scrypt:256:8:1")
    store.researchers.put(Researcher("eve", "owner"), f"{kept[7:11]}:{slow}")
    assert log_in(browser, "eve", "guess").status_code == 401
    assert log_in(browser, "eve").status_code == 303
    assert (store.researchers.find("eve") or ("", ""))[1] == kept
    assert browser.get("/results", **HTTPS).status_code == 200
