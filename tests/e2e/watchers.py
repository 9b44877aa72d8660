"""Watchers for true answers: each raises AssertionError if one is where none may be."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from collector import Relay
from device import NUMBER, OPTION, QUESTIONS, READ_MEMO, Device
from playwright.sync_api import Page

from analysis.survey import thaw

#: Whatever a browser could keep for a page, in one object.
_KEPT = """async () => {
  const all = async (list) => { const found = []; for await (const one of list) found.push(one);
    return found; };
  const files = await navigator.storage.getDirectory().catch(() => null);
  return {
    memo: await (READ_MEMO)(), local: {...localStorage}, session: {...sessionStorage},
    databases: (await indexedDB.databases()).map((one) => one.name), caches: await caches.keys(),
    files: files ? await all(files.keys()) : [], name: window.name, state: history.state,
    workers: (await navigator.serviceWorker.getRegistrations()).length, url: location.href,
    title: document.title, markup: [...document.querySelectorAll('#review dl, #receipt')]
      .map((part) => part.textContent).join(), cookie: document.cookie,
  };
}""".replace("READ_MEMO", READ_MEMO)
#: The stream that `with_fixed_randomness` gives the page, as JavaScript and below as Python.
_FIXED = """(() => {
  let word = 99991, byte = 7;
  Crypto.prototype.getRandomValues = (array) => {
    for (let place = 0; place < array.length; place += 1) {
      if (array instanceof Uint32Array) {
        word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
        array[place] = word;
      } else array[place] = byte = (byte * 5 + 3) & 255;
    }
    return array;
  };
})()"""


def with_fixed_randomness(device: Device) -> Device:
    """The device, whose random source gives the same numbers to every page from now on."""
    device.context.add_init_script(_FIXED)
    return device


def fixed_words() -> Iterator[int]:
    """The 32-bit words that `with_fixed_randomness` gives."""
    word = 99991
    while True:
        word = (word * 1664525 + 1013904223) % 2**32
        yield word


def check_bytes(content: bytes, canaries: Sequence[str] = (OPTION, NUMBER)) -> None:
    """No canary stands in the bytes, neither as it is nor percent-encoded."""
    for canary in canaries:
        assert canary.encode() not in content, f"{canary} is in it"
        assert canary.encode() not in unquote_to_bytes(content), f"{canary} is in it, encoded"


def check_network(device: Device, relay: Relay, survey: str) -> None:
    """Only the survey's page, the modules and the report were asked for, and with no canary."""
    check_wire(relay, survey)
    for request in device.requests:
        assert request.url.startswith((relay.url, "data:,")), f"elsewhere: {request.url}"
        check_bytes(request.url.encode() + json.dumps(request.headers).encode())
        check_bytes(request.post_data_buffer or b"")


def check_wire(relay: Relay, survey: str) -> None:
    """The same of the bytes that reached the server, whoever sent them."""
    check_bytes(bytes(relay.sent))
    allowed = [("GET", rf"/s/{survey}"), ("GET", r"/client/[a-z_/]+\.(js|css)")]
    allowed += [("POST", rf"/api/surveys/{survey}/reports")]
    for method, target in relay.targets():
        fits = any(method == one and re.fullmatch(path, target) for one, path in allowed)
        assert fits, f"unexpected request: {method} {target}"
    for line in relay.sent.lower().split(b"\r\n"):
        assert not line.startswith((b"cookie:", b"referer:", b"x-")), f"header: {line!r}"


def check_bodies(device: Device) -> None:
    """Every body says what section 6 of the design allows, and nothing else."""
    for body in device.posted():
        sent = json.loads(body)
        assert list(sent) == ["version", "wave", "rid", "respondent", "reports"]
        assert list(sent["reports"]) == QUESTIONS
        for report in sent["reports"].values():
            assert type(report) is int or all(type(one) is int for one in report)


def check_reports(device: Device, frozen: dict[str, Any], answers: dict[str, str]) -> None:
    """The reports are those that the Python reference draws from the same fixed words."""
    survey = thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])
    counted = survey.shown(
        {question.id: answers.get(question.id, "") for question in survey.questions}
    )
    words = fixed_words()
    expected = {
        question.id: question.randomizer.randomize(question.value(counted[question.id]), words)
        for question in survey.questions
    }
    (body,) = device.posted()
    assert json.loads(body)["reports"] == expected


def check_device(
    page: Page, device: Device, survey: str, canaries: Sequence[str] = (OPTION, NUMBER)
) -> None:
    """The browser keeps the secret and the memo of the survey, and no canary anywhere."""
    kept = page.evaluate(_KEPT)
    check_bytes(json.dumps(kept).encode(), canaries)
    check_bytes("\n".join(device.console).encode(), canaries)
    assert set(kept["databases"]) <= {"deniable"}
    assert set(kept["memo"]) <= {"secret", f"survey/{survey}"}
    for name in set(kept["memo"]) - {"secret"}:
        known = {"spent", "constant", "cap", "waves", "times", "pending"}
        assert set(kept["memo"][name]) == known
    for name in ("local", "session", "cookie", "caches", "files", "name", "state", "workers"):
        assert not kept[name], f"{name} is not empty"
    assert re.fullmatch(rf"http://[\w.:]+/s/{survey}", kept["url"])
    assert device.context.cookies() == []


def check_files(folder: Path) -> None:
    """No file of the server holds the number; no table but the survey's holds the option's id."""
    files = [path for path in folder.iterdir() if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    for path in files:
        is_survey = path.suffix == ".toml" or path.name.startswith("deniable.db")
        check_bytes(path.read_bytes(), [NUMBER] if is_survey else [NUMBER, OPTION])
    with sqlite3.connect(folder / "deniable.db") as database:
        lines = list(database.iterdump())
    database.close()
    assert any('"report"' in line for line in lines), "nothing was stored"
    for line in lines:
        if not line.startswith('INSERT INTO "survey"'):
            check_bytes(line.encode())
