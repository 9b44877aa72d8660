"""A second factor is asked for, can be lost and required; others make no known browser wait."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS, SECRET, basic, clock, log_in, quick
from test_mistakes import HTML, check_told, sent
from test_sent_forms import hidden
from werkzeug.exceptions import TooManyRequests

from server import passwords, second_factor, signing_in
from server.second_factor import PERIOD, code_at, new_secret, step_of
from server.store import Store
from server.store.researchers import (
    FREE_ATTEMPTS,
    KNOWN_FOR,
    LONGEST_WAIT,
    MOST_BROWSERS,
    MOST_SESSIONS,
    Researcher,
)
from server.store.rules import RULES, SECOND_FACTOR

__all__ = ["app", "clock", "quick", "signed_in", "survey_file"]
PAGE = "/account/second-factor"


def test_codes_are_those_of_the_standard() -> None:
    # RFC 6238, appendix B, of which apps show the last six digits.
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    told = {59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924"}
    told |= {2000000000: "279037", 20000000000: "353130"}
    for seconds, code in told.items():
        assert code_at(secret, seconds // PERIOD) == code
        assert step_of(secret, f" {code[:3]} {code[3:]} ", seconds) == seconds // PERIOD
        for near, is_accepted in (
            () if seconds < 3 * PERIOD else ((-PERIOD, True), (PERIOD, True), (-2 * PERIOD, False))
        ):
            assert (step_of(secret, code, seconds + near) is not None) is is_accepted
    assert second_factor.is_secret(new_secret())


@pytest.fixture
def now(clock: Iterator[list[float]], quick: None, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds = next(clock)
    monkeypatch.setattr("server.console.account.now", lambda: seconds[0])
    return seconds


def code_of(page: str, now: list[float], after: int = 0) -> str:
    """Return the code that an app shows which has read the secret of a page."""
    (secret,) = re.findall('name="secret" value="([^"]*)"', page)
    return code_at(secret, int(now[0] // PERIOD) + after)


def set_up(browser: FlaskClient, now: list[float]) -> tuple[str, list[str]]:
    """Set up a second factor, and return the secret and the recovery codes."""
    page = browser.get(PAGE, **HTTPS).text
    assert "otpauth" not in page  # the picture alone has the address, not its text
    (secret,) = re.findall('name="secret" value="([^"]*)"', page)
    form = {"secret": secret, "code": code_of(page, now), "old": SECRET, "do": "on"}
    done = post(browser, PAGE, **form)
    codes = re.findall("<code>([0-9a-f-]{19})</code>", done.text)
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    return secret, codes


def test_a_second_factor_is_asked_for_and_each_code_works_once(
    signed_in: Browsers, app: Flask, store: Store, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, other = signed_in("bob"), signed_in("bob")
    page = browser.get(PAGE, **HTTPS).text
    secret = re.findall('name="secret" value="([^"]*)"', page)[0]
    wrong = sent(browser, PAGE, secret=secret, code="000000", old=SECRET, do="on")
    check_told(wrong, "code", "six digits")
    assert f'value="{secret}"' in wrong  # the app has it already
    form = {"secret": secret, "code": code_of(page, now), "do": "on"}
    check_told(sent(browser, PAGE, old="guess", **form), "old", "your password")
    check_told(sent(browser, PAGE, old=SECRET, **form | {"secret": "short"}), "code", "six digits")
    assert store.factors.recovery_codes("bob") is None
    secret, codes = set_up(browser, now)
    assert browser.get("/surveys", **HTTPS).status_code == 200
    assert other.get("/surveys", **HTTPS).status_code == 401

    def statuses(*given: str) -> list[int]:
        return [log_in(app.test_client(), "bob", code=code).status_code for code in given]

    used = code_at(secret, int(now[0] // PERIOD))
    assert statuses("", "000000", used) == [401, 401, 401]
    fresh = code_at(secret, int(now[0] // PERIOD) + 1)
    assert statuses(fresh, fresh) == [303, 401]
    assert statuses(codes[0].upper(), codes[0], codes[1].replace("-", " ")) == [303, 401, 303]
    assert store.factors.recovery_codes("bob") == len(codes) - 2
    assert log_in(app.test_client(), "bob", "guess", code=codes[2]).status_code == 401
    assert store.factors.recovery_codes("bob") == len(codes) - 2
    # A name and a password alone let no program in.
    told = browser.get("/api/surveys/canteen/estimates.csv", headers=basic("bob", SECRET), **HTTPS)
    assert (told.status_code, "without a second factor" in told.text) == (401, True)
    # Nor does it show by the wait that the password is right.
    api = "/api/surveys/canteen/estimates.csv"
    tries = [
        browser.get(api, headers=basic("bob", SECRET), **HTTPS) for _ in range(FREE_ATTEMPTS + 1)
    ]
    assert tries[-1].status_code == 429
    computed: list[str] = []

    def compute(stored: str, given: str) -> bool:
        computed.append(given)
        return False

    monkeypatch.setattr(passwords, "check_password_hash", compute)
    for password in (SECRET, "guess"):
        assert browser.get(api, headers=basic("bob", password), **HTTPS).status_code == 429
    assert computed == []
    # A wrong code takes as many hashes as a wrong password, though a made password needs none.
    now[0] += LONGEST_WAIT
    given = [(log_in(browser, "bob", one).status_code, len(computed)) for one in (SECRET, "guess")]
    assert given == [(401, 1), (429, 1)]
    # The form that set it up was sent again: nothing changes.
    assert post(browser, PAGE, **form, old=SECRET).status_code == 200
    assert store.factors.recovery_codes("bob") == len(codes) - 2


def test_codes_cannot_be_tried_without_end(
    signed_in: Browsers, app: Flask, now: list[float]
) -> None:
    _, codes = set_up(signed_in("bob"), now)
    guesser = app.test_client()
    told = [log_in(guesser, "bob", code="000000").status_code for _ in range(FREE_ATTEMPTS + 2)]
    assert told == [401] * (FREE_ATTEMPTS + 1) + [429]
    # That the password was right is not to be seen: a wrong one waits as well.
    assert log_in(app.test_client(), "bob", "guess").status_code == 429
    # Even the right code waits now.
    assert log_in(guesser, "bob", code=codes[0]).status_code == 429
    now[0] += 5
    assert log_in(guesser, "bob", code=codes[0]).status_code == 303


@pytest.mark.both
def test_who_has_the_password_makes_no_known_browser_wait_for_its_code(
    signed_in: Browsers, app: Flask, now: list[float]
) -> None:
    owner = signed_in("bob")
    _, codes = set_up(owner, now)
    thief = app.test_client()
    told = [log_in(thief, "bob", code="000000").status_code for _ in range(FREE_ATTEMPTS + 2)]
    assert told[-1] == 429
    assert log_in(owner, "bob", code=codes[0]).status_code == 303
    # Its own wrong codes are counted, too.
    told = [log_in(owner, "bob", code="000000").status_code for _ in range(FREE_ATTEMPTS + 2)]
    assert told[-1] == 429


def test_codes_are_counted_before_they_are_looked_at_and_apart_from_passwords(
    signed_in: Browsers, app: Flask, store: Store, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in("bob")
    _, codes = set_up(browser, now)
    # Whoever guesses passwords makes nobody wait who has the right one.
    for _ in range(FREE_ATTEMPTS + 2):
        log_in(app.test_client(), "bob", "guess")
    assert log_in(app.test_client(), "bob", code=codes[0]).status_code == 303
    # While one code is looked at, another one that comes at the same time counts, too.
    told = list[int]()
    use = type(store.factors).use

    def use_slowly(factors: object, *given: object) -> bool:
        if len(told) < FREE_ATTEMPTS + 1:
            told.append(log_in(app.test_client(), "bob", code="000000").status_code)
        return False

    monkeypatch.setattr(type(store.factors), "use", use_slowly)
    log_in(app.test_client(), "bob", code="000000")
    monkeypatch.setattr(type(store.factors), "use", use)
    assert 429 in told
    assert log_in(app.test_client(), "bob", code=codes[1]).status_code == 429


def test_recovery_codes_are_made_anew_and_a_factor_turned_off_with_a_code(
    signed_in: Browsers, app: Flask, store: Store, now: list[float]
) -> None:
    browser = signed_in("bob")
    _, codes = set_up(browser, now)
    check_told(sent(browser, PAGE, code="000000", do="off"), "code", "shows now")
    page = post(browser, PAGE, code=codes[0], do="codes").text
    fresh = re.findall("<code>([0-9a-f-]{19})</code>", page)
    assert not set(fresh) & set(codes)
    assert log_in(app.test_client(), "bob", code=codes[1]).status_code == 401
    assert post(browser, PAGE, code=fresh[0], do="off").location == "/account"
    assert log_in(app.test_client(), "bob").status_code == 303
    lines = [entry.what for entry in store.log.entries()]
    for what in ("turn on second factor", "make recovery codes", "turn off second factor"):
        assert what in lines


def test_a_changed_password_keeps_the_factor_and_another_link_turns_it_off(
    signed_in: Browsers, app: Flask, store: Store, now: list[float]
) -> None:
    browser = signed_in("bob")
    set_up(browser, now)
    chosen = {"password": "mole under nine clouds", "again": "mole under nine clouds"}
    assert post(browser, "/account", old=SECRET, **chosen).status_code == 200
    assert store.factors.has("bob")
    page = post(signed_in("ada"), "/people", name="bob", role="analyst").text
    path = page.partition('href="https://localhost')[2].partition('"')[0]
    assert store.factors.has("bob")
    assert app.test_client().post(path, data=chosen, **HTTPS).location == "/surveys"
    assert not store.factors.has("bob")
    for account in store.researchers.all():
        found, _ = store.researchers.find(account.name) or pytest.fail("no account")
        assert store.factors.add(found, new_secret(), 0, ["x"]) is not None
        store.researchers.remove(account.name)
    assert store.factors.all() == {}


def test_all_accounts_need_a_factor_where_an_owner_says_so(
    signed_in: Browsers, store: Store, now: list[float]
) -> None:
    owner, browser = signed_in("ada"), signed_in("bob")
    assert post(owner, "/people/rules", rule=["second factor", "odd"]).status_code == 303
    assert store.rules.all() == {SECOND_FACTOR}
    for one in (owner, browser):
        assert one.get("/surveys", **HTTPS, headers={"Accept": HTML}).location == PAGE
        assert one.get("/api/log.csv", **HTTPS).status_code == 403
        assert post(one, "/people", name="eve", role="owner").status_code == 403
        assert "every account needs a second factor" in one.get(PAGE, **HTTPS).text
        set_up(one, now)
        assert one.get("/surveys", **HTTPS).status_code == 200
    with_password = signed_in("cleo").get("/metrics", headers=basic("cleo", SECRET), **HTTPS)
    assert with_password.status_code == 401
    store.access.add_token("printed")
    token = {"Authorization": "Bearer printed"}
    assert browser.get("/api/log.csv", headers=token, **HTTPS).status_code == 200
    assert post(owner, "/people/rules").status_code == 303
    assert store.rules.all() == set()


def test_an_owner_lets_analysts_open_pilots_or_not(signed_in: Browsers, store: Store) -> None:
    owner, analyst = signed_in("ada"), signed_in("bob")
    assert post(analyst, "/surveys/idea/pilot", do="open").status_code == 303
    post(owner, "/people/rules", rule=[RULES[1]])
    for wish in ("open", "close"):
        assert post(analyst, "/surveys/idea/pilot", do=wish).status_code == 403
    page = analyst.get("/surveys/idea/pilot", **HTTPS).text
    assert ("only owners open and close pilots" in page, 'value="close"' in page) == (True, False)
    assert post(owner, "/surveys/idea/pilot", do="close").status_code == 303


def test_what_was_typed_is_kept_until_there_is_a_second_factor(
    app: Flask, signed_in: Browsers, store: Store, now: list[float]
) -> None:
    typed = {"how": "nothing", "title": "Ünfall", "id": "a", "text": "B?", "kind": "yes-no"}
    ours = {"Accept": HTML, "Sec-Fetch-Site": "same-origin"}
    store.researchers.put(Researcher("dora", "owner"), passwords.hashed_choice(SECRET))
    before = signed_in("dora")
    assert post(before, "/surveys/new", **typed).status_code == 303
    store.rules.put([SECOND_FACTOR])
    # The session has ended, or the rule came while the page was open.
    ended = app.test_client()
    answer = ended.post("/surveys/new", data=typed | {"id": "b"}, headers=ours, **HTTPS)
    form = hidden(answer.text, "/login") | {"name": "ada", "password": SECRET}
    asked = ended.post("/login", data=form, headers=ours, **HTTPS)
    refused = post(before, "/surveys/new", HTML, **(typed | {"id": "c"}))
    assert refused.status_code == 403
    for browser, page, name in ((ended, asked.text, "b"), (before, refused.text, "c")):
        assert "What you typed is kept" in page
        form = hidden(page, PAGE) | {"old": SECRET, "do": "on"}
        wrong = browser.post(PAGE, data=form | {"code": "000000"}, headers=ours, **HTTPS)
        assert hidden(wrong.text, PAGE)["kept"] == form["kept"]
        form["code"] = code_of(page, now)
        done = browser.post(PAGE, data=form, headers=ours, **HTTPS)
        assert "Send it now?" in done.text
        again = hidden(done.text, "/surveys/new")
        assert {key: again[key] for key in typed} == typed | {"id": name}
        sent = browser.post("/surveys/new", data=again, headers=ours, **HTTPS)
        assert sent.location == f"/surveys/{name}/edit"
    # Of a longer text the page says that it is lost.
    dora, _ = store.researchers.find("dora") or pytest.fail("no account")
    assert store.factors.remove(dora)
    told = post(before, "/surveys/new", HTML, **(typed | {"text": "Щ" * 30_000})).text
    assert ("too long to be kept here" in told, 'name="kept"' in told) == (True, False)


@pytest.mark.both
def test_others_cannot_make_a_known_browser_wait(
    app: Flask, signed_in: Browsers, store: Store, now: list[float]
) -> None:
    store.researchers.put(Researcher("dora", "analyst"), passwords.hashed_choice(SECRET))
    known, stranger, guesser = app.test_client(), app.test_client(), app.test_client()
    assert log_in(known, "dora").status_code == 303
    for _ in range(FREE_ATTEMPTS + 2):
        log_in(guesser, "dora", "guess")
    assert log_in(stranger, "dora").status_code == 429
    assert log_in(known, "dora").status_code == 303
    # It is known for the accounts alone that signed in there.
    store.researchers.put(Researcher("eli", "analyst"), passwords.hashed_choice(SECRET))
    for _ in range(FREE_ATTEMPTS + 2):
        log_in(guesser, "eli", "guess")
    assert log_in(known, "eli").status_code == 429
    now[0] += LONGEST_WAIT
    assert log_in(known, "eli").status_code == 303
    for name in ("dora", "eli"):
        told = [log_in(guesser, name, "guess").status_code for _ in range(FREE_ATTEMPTS + 2)]
        assert told[-1] == 429
        assert log_in(known, name).status_code == 303
    # It, too, waits after its own guesses.
    told = [log_in(known, "dora", "guess").status_code for _ in range(FREE_ATTEMPTS + 2)]
    assert told[-1] == 429
    # The cookie lets nobody in.
    known.delete_cookie("__Host-deniable", domain="localhost")
    assert known.get("/surveys", **HTTPS).status_code == 401


def test_known_browsers_are_few_and_forgotten_when_their_owner_says_so(
    app: Flask, store: Store, now: list[float]
) -> None:
    def is_known(token: str) -> bool:
        return "bob" in store.factors.known_in(token, now[0])

    def add(browser: str, at: float) -> None:
        bob, _ = store.researchers.find("bob") or pytest.fail("no account")
        assert store.access.begin_session(f"by {browser}", "bob", bob.mark, browser, at)

    add("first", now[0])
    assert is_known("first")
    now[0] += KNOWN_FOR
    assert not is_known("first")
    for number in range(MOST_BROWSERS + 1):
        add(f"{number}", now[0] + number)
    assert [is_known(f"{number}") for number in range(3)] == [False, True, True]
    assert store.database.tables()["browser"][1] == MOST_BROWSERS
    store.access.end_sessions_of("bob")
    browser = app.test_client()
    for _ in range(3):  # one browser is one row, however often somebody signs in
        log_in(browser, "bob")
    assert store.database.tables()["browser"][1] == 1
    assert post(browser, "/sign-out-everywhere").status_code == 303
    assert store.database.tables()["browser"][1] == 0


def test_a_flood_of_strangers_leaves_threads_and_a_turn_to_others(
    app: Flask, store: Store, now: list[float]
) -> None:
    browser = app.test_client()
    log_in(browser, "bob")
    with taken(signing_in.STRANGERS, "") as number:
        assert 0 < number < 10
        assert log_in(app.test_client(), "bob", "guess").status_code == 429
        # A known browser has turns of its own, and a made password needs none.
        assert log_in(app.test_client(), "bob").status_code == 303
        assert log_in(browser, "bob", "guess").status_code == 401


def test_an_account_takes_no_turns_of_others(app: Flask, store: Store, now: list[float]) -> None:
    known = {}
    for name in ("dora", "eli"):
        store.researchers.put(Researcher(name, "analyst"), passwords.hashed_choice(SECRET))
        known[name] = app.test_client()
        assert log_in(known[name], name).status_code == 303
    with taken(signing_in.KNOWN, "dora"):
        assert log_in(known["dora"], "dora").status_code == 429
        assert log_in(known["eli"], "eli").status_code == 303
    assert log_in(known["dora"], "dora").status_code == 303


@contextmanager
def taken(turns: signing_in.Turns, owner: str) -> Iterator[int]:
    """Take all turns that one owner can have, and yield their number; no hash is computed."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(turns, "_hashing", nullcontext())
        number = 0
        with suppress(TooManyRequests):
            while number < 100:
                stack.enter_context(turns.one(owner))
                number += 1
        yield number


@pytest.mark.both
def test_sessions_of_an_account_are_few(app: Flask, store: Store) -> None:
    first, second = app.test_client(), app.test_client()
    log_in(first, "bob")
    log_in(second, "bob")
    for _ in range(MOST_SESSIONS - 1):
        assert log_in(app.test_client(), "bob").status_code == 303
    assert log_in(app.test_client(), "ada").status_code == 303
    assert store.database.tables()["session"][1] == MOST_SESSIONS + 1
    assert [one.get("/surveys", **HTTPS).status_code for one in (first, second)] == [401, 200]
