"""Hostile requests: never a 5xx, nothing stored without a 201, the same verdict twice.

The second verdict comes from another reader of JSON, written by hand from the protocol alone.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.core.channels import CHANNELS
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.clock import today
from server.intake.invitations import ISSUER
from server.intake.proof_of_work import work
from server.intake.wire import STATUS
from server.store import Store

pytestmark = pytest.mark.both

SURVEY = """
title = "All channels"
id = "all"
ACCESS
questions = [
  {id = "window", kind = "yes-no", text = "?", epsilon = 1},
  {id = "subset", kind = "choice", text = "?", OPTIONS, mechanism = "subset", epsilon = 0.1},
  {id = "bits", kind = "choice", text = "?", OPTIONS, mechanism = "oue", epsilon = 1},
  {id = "shift", kind = "number", text = "?", NUMBER, mechanism = "laplace", epsilon = 1},
  {id = "table", kind = "yes-no", text = "?", required = true, mechanism = FORCED},
  {id = "cohort", kind = "choices", text = "?", OPTIONS, epsilon = 1},
]
"""
PARTS = {
    "OPTIONS": 'options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]',
    "NUMBER": "min = 0, max = 9, step = 1, required = true",
    "FORCED": '{name = "forced", p_yes = "1/6", p_no = "1/6"}',
}
ACCESS = ("", 'access = "invited"\n', "proof_of_work = 6\n")
ANSWERS = {"window": "", "subset": "b", "bits": "c", "shift": "3", "table": "no", "cohort": "a|b"}


@dataclass(frozen=True)
class Field:
    """A survey in the field, and the submissions of its respondents."""

    survey: Survey
    store: Store
    client: FlaskClient
    numbers: Iterator[int]

    def fresh(self) -> dict[str, Any]:
        """Return the submission of one more respondent."""
        payload = next(payloads(self.survey, [ANSWERS], 1, next(self.numbers)))
        if self.survey.proof_of_work:
            once = (payload["version"], payload["wave"], payload["rid"])
            payload["work"] = work(self.survey.proof_of_work, *once)
        if self.survey.access != "open":
            payload["token"] = ISSUER.issue()
            self.store.invitations.add(self.survey.id, 1, [ISSUER.key(payload["token"])])
        return payload


def _survey(folder: Path, access: str) -> Path:
    text = SURVEY.replace("ACCESS", access)
    for name, part in PARTS.items():
        text = text.replace(name, part)
    (folder / "all.toml").write_text(text)
    return folder / "all.toml"


@pytest.fixture(params=ACCESS, ids=["open", "invited", "work"], scope="module")
def field(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Field:
    folder = tmp_path_factory.mktemp("fuzz")
    survey = read_survey(_survey(folder, request.param))
    assert {question.randomizer.channel.name for question in survey.questions} == set(CHANNELS)
    store = Store(folder / "all.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    client = create_app({"DATABASE": folder / "all.db"}).test_client()
    return Field(survey, store, client, count())


# A second reader

_TOKEN = re.compile(
    r"[ \t\n\r]+|([][{}:,])"
    r'|"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"'
    r"|(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(true|false|null)"
)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _read(text: str) -> Any:
    """Return the value of strict JSON; ValueError if it is invalid, or has the same key twice."""
    tokens = _Tokens(text)
    value = _value(tokens)
    if tokens.next is not None:
        raise ValueError
    return value


class _Tokens:
    """The tokens of a text, read only as far as they are needed."""

    def __init__(self, text: str) -> None:
        self._text, self._end = text, 0
        self.next: re.Match[str] | None = None
        self.pop()

    def pop(self) -> tuple[Any, ...]:
        """Return the groups of the next token; raise ValueError if no token follows."""
        token, self.next = self.next, None
        while self.next is None and self._end < len(self._text):
            found = _TOKEN.match(self._text, self._end)
            if found is None:
                raise ValueError
            self._end = found.end()
            self.next = found if found.lastindex else None
        return token.groups() if token else ()


def _value(rest: _Tokens, depth: int = 0) -> Any:
    if rest.next is None or depth > 500:
        raise ValueError
    mark, string, whole, fraction, word = rest.pop()
    close = {"[": "]", "{": "}"}.get(mark)
    items: dict[str | int, Any] = {}
    if string is not None:
        return _string(string)
    if whole is not None and len(whole) <= 4300:
        return float(whole + fraction) if fraction else int(whole)
    if word is not None:
        return {"true": True, "false": False, "null": None}[word]
    if close is None:
        raise ValueError
    end = _comes(rest, close)
    while not end:
        key = _value(rest, depth + 1) if mark == "{" else len(items)
        if mark == "{" and (type(key) is not str or key in items or not _comes(rest, ":")):
            raise ValueError
        items[key] = _value(rest, depth + 1)
        end = _comes(rest, close)
        if not end and not _comes(rest, ","):
            raise ValueError
    return items if mark == "{" else list(items.values())


def _comes(rest: _Tokens, mark: str) -> bool:
    return rest.next is not None and rest.next[1] == mark and bool(rest.pop())


def _string(inner: str) -> str:
    def plain(escape: re.Match[str]) -> str:
        one = escape[1]
        return _ESCAPES.get(one, one) if len(one) == 1 else chr(int(one[1:], 16))

    text = re.sub(r"\\(u.{4}|.)", plain, inner)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _is_envelope(body: bytes, version: str) -> bool:
    """Return whether everything except the reports and the work is as the protocol says."""
    try:
        data = _read(body.decode()) if len(body) <= 65536 else None
    except ValueError:
        return False
    must = {"version", "wave", "rid", "respondent", "reports"}
    if not isinstance(data, dict) or not must <= set(data) <= must | {"token", "work"}:
        return False
    token, found, ids = data.get("token"), data.get("work"), (data["rid"], data["respondent"])
    return (
        data["version"] == version
        and type(data["wave"]) is int
        and 1 <= data["wave"] <= 1_000_000
        and all(isinstance(one, str) and re.fullmatch("[0-9a-f]{32}", one) for one in ids)
        and isinstance(data["reports"], dict)
        and (token is None or (isinstance(token, str) and 1 <= len(token) <= 128))
        and (found is None or (type(found) is int and 0 <= found < 2**53))
    )


# Bodies

#: Errors in an envelope that are found only once the reports are valid.
LATER = ("a number with which", "none", "another number than")
FIELDS = ("version", "wave", "rid", "respondent", "token", "work", "reports")
PLACES = [
    *((name,) for name in FIELDS),
    *(("reports", name) for name in ANSWERS),
    *(("reports", "cohort", name) for name in ("cohort", "report")),
]
RAW = [
    *("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "-0", "0", "-1", "1.0", "1e0", "true"),
    *("null", "01", "+1", "0x1", ".5", "1.", "--1", "'1'", "undefined", "[]", "{}", "[,]", "[1,]"),
    *("2", "3", "9", "10", "11", "1000001", "9007199254740991", "9007199254740992"),
    *("9223372036854775808", "1" * 4300, "1" * 4301, "1" + "0" * 400),
    *('""', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\ud800"', '"\x00"'),
    *('"\n"', '"\\x41"', '"\\u12"', '"', "[0, 1]", "[1, 0]", "[0, 0]", "[0, 1, 2]", "[0, true]"),
    *('"AAA"', '"AAB"', '"AA"', '"A="', '"A"', '"gA"', '"__"', '"++"', '"' + "a" * 32 + '\\n"'),
    *('"' + "٣" * 32 + '"', '"' + "x" * 128 + '"', '"' + "😀" * 128 + '"', '"' + "x" * 129 + '"'),
    *('{"cohort": 0, "report": 0}', '{"cohort": 4, "report": 0}', '{"cohort": 0, "report": 3}'),
    *('{"cohort": 0}', '{"cohort": 0, "cohort": 0}', '{"report": 0, "cohort": 0, "x": 0}'),
    *("[" * 80 + "]" * 80, "[" * 20_000 + "]" * 20_000, '{"a":' * 9_000 + "0" + "}" * 9_000),
    "[" + "0," * 40_000 + "0]",
]
raw = st.one_of(
    st.sampled_from(RAW),
    (st.integers(-3, 30) | st.integers()).map(str),
    (st.text(max_size=4) | st.floats()).map(json.dumps),
)
ODD = ["", "\ud800", "\x00", "Wave", "wave ", "__proto__"]
keys = st.sampled_from([*FIELDS, *ANSWERS, *ODD]) | st.text(max_size=4)
NOISE = b'\x00\t\n "\\{}[]:,0123456789-+.eEtfn/ua\x7f\x80\xbf\xc0\xed\xf4\xff'
where = st.integers(0, 10**9)
places = st.one_of(
    st.sampled_from(PLACES), keys.map(lambda key: (key,)), keys.map(lambda key: ("reports", key))
)
edits = st.tuples(st.sampled_from(["set", "set", "set", "drop", "twice"]), places, raw)
strokes = st.one_of(
    st.tuples(st.just("flip"), where, st.integers(0, 7)),
    st.tuples(st.just("put"), where, st.sampled_from([bytes([byte]) for byte in NOISE])),
    st.tuples(st.just("put"), st.just(-1), st.sampled_from([b" ", b" " * 65536])),
    st.tuples(st.just("cut"), where, st.none()),
    st.tuples(st.just("code"), where, st.sampled_from(["utf-16", "utf-16-le", "utf-8-sig"])),
)


def _edited(payload: dict[str, Any], changes: list[tuple[str, Any, str]]) -> str:
    """Return the text of a payload whose values are replaced by text that need not be JSON."""
    fill = {}
    for number, (kind, (*parents, last), value) in enumerate(changes):
        inner: Any = payload
        for name in parents:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or (kind != "set" and last not in inner):
            continue
        if kind == "drop":
            del inner[last]
        else:
            fill[json.dumps(f"@{number}@")] = value
            inner[last + "@" * (kind == "twice")] = f"@{number}@"
    text = json.dumps(payload).replace('@":', '":')
    for mark, value in fill.items():
        text = text.replace(mark, value)
    return text


def _struck(body: bytes, kind: str, at: int, how: Any) -> bytes:
    place = at % max(1, len(body))
    if kind == "flip" and body:
        return body[:place] + bytes([body[place] ^ 1 << how]) + body[place + 1 :]
    if kind == "code":
        return body.decode(errors="replace").encode(how)
    return body[:place] + (how + body[place:] if kind == "put" else b"")


def _verdict(response: Any) -> tuple[int, str, str]:
    """Return status, problem and field of a complete answer."""
    data = response.get_json()
    if response.status_code in (200, 201):
        assert response.content_type == "application/json"
        assert data == {"status": {200: "known", 201: "stored"}[response.status_code]}
        return response.status_code, "", ""
    assert response.content_type == "application/problem+json"
    word = data["type"].removeprefix("urn:deniable:problem:")
    assert response.status_code == STATUS[word] == data["status"] < 500
    assert set(data) == {"type", "title", "status", "detail", "field", "expected", "got"}
    assert all(data[key] and isinstance(data[key], str) for key in set(data) - {"status"})
    if data["got"] == "an unknown question" or data["expected"].startswith(LATER):
        return response.status_code, word, "reports." + data["field"]
    return response.status_code, word, data["field"]


def _judge(field: Field, changes: list[Any], blows: list[Any]) -> None:
    body = _edited(field.fresh(), changes).encode(errors="surrogatepass")
    for blow in blows:
        body = _struck(body, *blow)
    before = field.store.reports.kept("all", 1)
    sent = {"path": "/api/surveys/all/reports", "data": body, "content_type": "application/json"}
    first = _verdict(field.client.post(**sent))
    stored = field.store.reports.kept("all", 1) - before
    assert (stored, len(body) > 65536) == (first[0] == 201, first[0] == 413)
    again = _verdict(field.client.post(**sent))
    assert again == ((200, "", "") if stored else first)
    assert field.store.reports.kept("all", 1) - before == stored
    of_envelope = first[0] in (400, 413) and not first[2].startswith("reports.")
    assert _is_envelope(body, field.survey.version) == (not of_envelope)
    if stored:
        assert list(field.store.upkeep.discrepancies(today())) == []


@pytest.mark.more
def test_odd_values_anywhere_are_judged_by_the_protocol_alone(field: Field) -> None:
    for place, one in product(PLACES, RAW):
        _judge(field, [("set", place, one)], [])
    _judge(field, [], [("put", -1, b" " * 65536)])


@pytest.mark.more
@settings(max_examples=250, deadline=None)
@given(changes=st.lists(edits, max_size=2), blows=st.just([]) | st.lists(strokes, max_size=2))
def test_noise_is_judged_by_the_protocol_alone(field: Field, changes: Any, blows: Any) -> None:
    _judge(field, changes, blows)


# Addresses

ADDRESSES = [
    *(
        "/client/../server/intake/wire.py",
        "/client/..%2f..%2fpyproject.toml",
        "/client//etc/passwd",
    ),
    *(
        "/client/%2e%2e/server/intake/wire.py",
        "/client/..%5cserver%5cwire.py",
        "/client/submit.js%00.css",
    ),
    *("/api/surveys/..%2fall", "/api/surveys/../surveys/none", "/api/surveys/%00", "/s/%ff%fe"),
    *("/api/surveys/%ed%a0%80", "/api/surveys/%2e%2e%2fopenapi.json", "/api/surveys/all%0a"),
    *("/api/surveys/all%0d%0aX-Ours:%20no", "/s/all%0d%0a%0d%0a<script>", "/s/all;x=1", "/s/%25"),
    *("/api/surveys/" + "a" * 5000, "/api/surveys/ALL", "/api/surveys/a%6cl%20", "//evil/s/all"),
]
QUERY = st.dictionaries(
    st.sampled_from(["wave", "level", "version"]),
    raw.map(lambda one: one.encode(errors="replace").decode()),
)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "FOO"]


def _finds_nothing(response: Any) -> bool:
    assert response.headers.get("Location", "http://localhost/").startswith("http://localhost/")
    assert not {"X-Ours", "Set-Cookie"} & set(response.headers.keys())
    assert b"import" not in response.data
    return response.status_code in (308, 404, 405, 415)


@pytest.mark.sqlite
@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address[:40])
def test_odd_addresses_find_nothing(client: FlaskClient, address: str) -> None:
    for method in METHODS:
        assert _finds_nothing(client.open(address, method=method, data=b"{}"))


@settings(max_examples=40, deadline=None)
@given(name=st.text(min_size=1), query=QUERY)
def test_odd_names_and_queries_are_not_found(field: Field, name: str, query: Any) -> None:
    field.store.access.add_token("known")
    asked = {"headers": {"Authorization": "Bearer known"}, "query_string": query}
    path = f"/api/surveys/{quote(name, safe='', errors='replace')}"
    for method, end in (("GET", ""), ("POST", "/reports"), ("GET", "/ledger.json")):
        assert _finds_nothing(field.client.open(path + end, method=method, **asked))
    response = field.client.get("/api/surveys/all/estimates.csv", **asked)
    # There may be too few reports to show anything.
    assert response.status_code in (200, 403) or _finds_nothing(response)
