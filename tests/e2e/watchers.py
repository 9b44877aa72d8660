"""Watchers for true answers: each raises AssertionError if it finds one where none may be."""

import base64
import json
import re
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from collector import Relay
from device import NUMBER, OPTION, QUESTIONS, READ_MEMO, Device
from engines import launching
from playwright.sync_api import Browser, Page

from analysis.survey.freeze import thaw

#: Everything that a browser could keep for a page, in one object.
_KEPT = """async () => {
  const all = async (list) => { const found = []; for await (const one of list) found.push(one);
    return found; };
  const files = await navigator.storage.getDirectory().catch(() => null);
  return {
    memo: await (READ_MEMO)(), local: {...localStorage}, session: {...sessionStorage},
    databases: (await indexedDB.databases()).map((one) => one.name), caches: await caches.keys(),
    files: files ? await all(files.keys()) : [], name: window.name, state: history.state,
    workers: (await navigator.serviceWorker.getRegistrations()).length, url: location.href,
    title: document.title, cookie: document.cookie,
  };
}""".replace("READ_MEMO", READ_MEMO)
#: The document as it is, without the parts that show respondents their own answers.
ELSEWHERE = """() => {
  const copy = document.documentElement.cloneNode(true);
  for (const part of copy.querySelectorAll('#answers, #review dl, #sent')) part.remove();
  return copy.outerHTML;
}"""
#: All that the document holds, with the content of its controls.
_DOCUMENT = """() => document.documentElement.outerHTML + [...document.querySelectorAll('input')]
  .map((control) => (control.checked === false ? '' : control.value)).join()"""
#: The stream that `with_fixed_randomness` gives the page, as JavaScript and below as Python.
_FIXED = """(() => {
  let word = 99991, byte = 7;
  // Before anybody answers, the page draws a report of made-up answers.
  addEventListener('input', () => { word = 99991; }, true);
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
    """Return the device, whose random source gives the same numbers to every page from now on.

    Its words begin anew with each answer that a person gives.
    """
    device.context.add_init_script(_FIXED)
    return device


def fixed_words() -> Iterator[int]:
    """Return the 32-bit words that `with_fixed_randomness` gives."""
    word = 99991
    while True:
        word = (word * 1664525 + 1013904223) % 2**32
        yield word


@cache
def forms(canary: str) -> frozenset[bytes]:
    """Return a canary as bytes, in the encodings that programs use."""
    found = set()
    for text in {canary, canary.replace("|", ","), canary.replace("|", '","')}:
        plain = text.encode()
        found |= {plain, quote(text, safe="").encode(), quote_plus(text).encode()}
        found |= {"".join(f"%{one:{x}}" for one in plain).encode() for x in ("02x", "02X")}
        found |= {plain.hex().encode(), plain.hex().upper().encode()}
        found |= {text.encode("utf-16-le"), text.encode("utf-16-be")}
        for before in range(3):
            # Only the characters that depend on the canary alone.
            start, end = -(-8 * before // 6), 8 * (before + len(plain)) // 6
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                found.add(encode(bytes(before) + plain)[start:end])
    return frozenset(found | (_as_number(int(canary)) if canary.isdigit() else set()))


def _as_number(number: int) -> set[bytes]:
    """Return what browsers write into a database for a number."""
    rest, digits = 2 * number, bytearray()
    while rest:
        digits.append(rest & 127 | (128 if rest > 127 else 0))
        rest >>= 7
    return {b"I" + bytes(digits), b"N" + struct.pack("<d", number)}


def check_bytes(content: bytes, canaries: Sequence[str] = (OPTION, NUMBER)) -> None:
    """Check that the bytes hold no canary, however it is encoded."""
    check_places({"bytes": content}, canaries)


def found_in(places: Mapping[str, bytes], canaries: Sequence[str]) -> list[tuple[str, str]]:
    """Yield each place with each canary that it holds."""
    return [
        (place, canary)
        for place, content in places.items()
        for canary in canaries
        if any(form in content for form in forms(canary))
    ]


def check_places(places: Mapping[str, bytes], canaries: Sequence[str]) -> None:
    """Check that no place holds a canary; the message names all places that do."""
    found = found_in(places, canaries)
    assert not found, "; ".join(f"{place}: {canary} is in it" for place, canary in found)


class Profile(Device):
    """A device whose browser keeps its data in files, as a person's own does."""

    def __init__(
        self, browser: Browser, folder: Path, restores: bool = False, **options: Any
    ) -> None:
        self.folder, self._browser, self.browser_type = folder, browser, browser.browser_type
        self._launching = launching(browser.browser_type)
        if restores:  # which only Chromium is asked
            self._launching["args"] = [*self._launching["args"], "--restore-last-session"]
        super().__init__(self, **options)  # type: ignore[arg-type]  # which asks for a context

    def new_context(self, **options: Any) -> Any:
        """Return the only context of the profile, in a browser of its own."""
        return self._browser.browser_type.launch_persistent_context(
            self.folder, **self._launching, **options
        )

    def files(self) -> dict[str, bytes]:
        """Return all files of the profile.

        The browser must be closed, so that it has written them.
        """
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def check_network(device: Device, relay: Relay, survey: str) -> None:
    """Check that only the page, the modules and the report were asked for, without a canary."""
    check_wire(relay, survey)
    for request in device.requests:
        assert request.url.startswith((relay.url, "data:,")), f"elsewhere: {request.url}"
        check_bytes(request.url.encode() + json.dumps(request.headers).encode())
        check_bytes(request.post_data_buffer or b"")


def check_wire(relay: Relay, survey: str, canaries: Sequence[str] = (OPTION, NUMBER)) -> None:
    """Check the same for the bytes that reached the server, whoever sent them."""
    check_bytes(bytes(relay.sent), canaries)
    allowed = [("GET", rf"/s/{survey}"), ("GET", r"/client/[a-z_/]+\.(js|css)")]
    allowed += [("POST", rf"/api/surveys/{survey}/(reports|invitations)")]
    for method, target in relay.targets():
        fits = any(method == one and re.fullmatch(path, target) for one, path in allowed)
        assert fits, f"unexpected request: {method} {target}"
    for line in relay.sent.lower().split(b"\r\n"):
        assert not line.startswith((b"cookie:", b"referer:", b"x-")), f"header: {line!r}"


def check_bodies(device: Device) -> None:
    """Check that every body has what docs/protocol.md says that devices send, and nothing else."""
    for body in device.posted():
        sent = json.loads(body)
        assert list(sent) == ["version", "wave", "rid", "respondent", "reports"]
        assert list(sent["reports"]) == QUESTIONS
        for report in sent["reports"].values():
            assert type(report) is int or all(type(one) is int for one in report)


def check_reports(device: Device, frozen: dict[str, Any], answers: dict[str, str]) -> None:
    """Check that the reports are those that the reference draws from the same fixed words."""
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


def kept_places(page: Page, device: Device) -> dict[str, bytes]:
    """Return what the browser has kept beside the document, by the name of the place."""
    places = page.evaluate(_KEPT)
    places |= {"console": device.console, "cookies": device.context.cookies()}
    return {place: json.dumps(one).encode() for place, one in places.items()}


def check_device(
    page: Page, device: Device, survey: str, canaries: Sequence[str] = (OPTION, NUMBER)
) -> None:
    """Check that the browser keeps the secret and the memo of the survey, and no canary."""
    places = kept_places(page, device)
    check_places(places, canaries)
    kept = {place: json.loads(one) for place, one in places.items()}
    assert set(kept["databases"]) <= {"deniable"}
    assert set(kept["memo"]) <= {"secret", f"survey/{survey}"}
    for name in set(kept["memo"]) - {"secret"}:
        known = {"title", "spent", "constant", "cap", "waves", "times", "pending"}
        assert {"title", *kept["memo"][name]} == known
    # The number of the shown page, which is the same whatever was answered.
    assert kept["state"] is None or [*kept["state"]] == ["step"]
    assert type((kept["state"] or {"step": 0})["step"]) is int
    for name in ("local", "session", "cookie", "caches", "files", "name", "workers"):
        assert not kept[name], f"{name} is not empty"
    assert not kept["cookies"], "cookies is not empty"
    assert re.fullmatch(rf"http://[\w.:]+/s/{survey}", kept["url"]), "url is another"


def check_document(page: Page, canaries: Sequence[str], elsewhere: bool = False) -> None:
    """Check that the document holds no canary, except where respondents see their own answers."""
    markup = page.evaluate(ELSEWHERE if elsewhere else _DOCUMENT)
    check_places({"document": markup.encode()}, canaries)


def check_files(
    folder: Path, typed: Sequence[str] = (NUMBER,), chosen: Sequence[str] = (OPTION,)
) -> None:
    """Check that no file of the server has typed texts, and only the survey's has chosen ones."""
    files = [path for path in folder.iterdir() if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    for path in files:
        is_survey = path.suffix == ".toml" or path.name.startswith("deniable.db")
        canaries = [*typed] if is_survey else [*typed, *chosen]
        check_places({path.name: path.read_bytes()}, canaries)
    with sqlite3.connect(folder / "deniable.db") as database:
        lines = list(database.iterdump())
    database.close()
    rows = [line for line in lines if not line.startswith('INSERT INTO "survey"')]
    check_places({"tables": "\n".join(rows).encode()}, [*typed, *chosen])
