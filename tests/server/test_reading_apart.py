"""Files of others are read in a process of their own, and take no more than its limits."""

import ast
import io
import json
import pickle
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import fields, toml, upload
from forms import post
from limits import run_within_cpu

from analysis.core.errors import SurveyError
from server.console import drafts
from server.editing.reading import MOST_BYTES, MOST_DESIGNS, check_size, read_new
from server.store import Store
from server.work import reading

__all__ = ["app", "signed_in", "survey_file"]
CONSOLE = Path(drafts.__file__).parent
#: The best channel is designed for each range of numbers, which takes tenths of a second.
COSTLY = 'format = 2\ntitle = "A"\nid = "a"\n' + "".join(
    f'[[questions]]\nid = "q{number}"\nkind = "number"\ntext = "?"\nepsilon = 1\nmin = 0\n'
    f"max = {900 + number}\nstep = 1\n"
    for number in range(40)
)
#: A list of lists takes some hundred times as much memory as its text.
LARGE = b'{"pages": [' + b"[]," * 2_000_000 + b"[]]}"
LIMITED = """import pickle, sys
from server.work import reading
reading.SECONDS, reading.MEMORY = int(sys.argv[1]), 1 << 27
print(pickle.loads(reading._limited(sys.stdin.buffer.read()))[0])
"""


def limits_of(monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Let the process that reads files begin with some lines of Python."""
    reading.stop()
    program = f"import os, signal\nfrom server.work import reading\n{before}\nreading.main()"
    monkeypatch.setattr(reading, "COMMAND", [sys.executable, "-c", program])


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    """End the process that reads files: the next test starts one with the usual limits."""
    yield
    reading.stop()


@pytest.mark.parametrize(
    ("reader", "given", "seconds", "told"),
    [
        ("draft", (IDEA, {}), 15, "read"),
        ("draft", ("id = 1", {}), 15, "refused"),
        ("draft", (COSTLY, {}), 1, "time"),
        ("imported", (LARGE, "form.json", "surveyjs", None), 15, "memory"),
    ],
)
def test_a_reader_ends_at_its_limits_alone(
    reader: str, given: Any, seconds: int, told: str
) -> None:
    asked = pickle.dumps((reader, given))
    assert run_within_cpu(LIMITED, str(seconds), stdin=asked) == f"{told}\n"


def test_a_file_that_takes_too_long_is_refused_in_words_and_nothing_is_stored(
    signed_in: Browsers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits_of(monkeypatch, "reading.SECONDS = 1")
    browser = signed_in("bob")
    before = [draft.id for draft in store.drafts.all()]
    answer = upload(browser, ("costly.toml", COSTLY.encode()))
    assert "costly.toml: it took more than 20 seconds to read, and was given up" in answer.text
    assert [draft.id for draft in store.drafts.all()] == before
    other = IDEA.replace('id = "idea"', 'id = "other"')
    assert upload(browser, ("other.toml", other.encode())).status_code == 303
    assert toml(store, "other") == other


@pytest.mark.parametrize("how", ["file", "tool"])
def test_if_a_reader_is_killed_nothing_is_stored(
    signed_in: Browsers, store: Store, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    dies = "reading._READERS = dict.fromkeys(reading._READERS, lambda *_: os.kill(os.getpid(), 9))"
    limits_of(monkeypatch, dies)
    before = [draft.id for draft in store.drafts.all()]
    name = "form.json" if how == "tool" else "other.toml"
    sent = [(io.BytesIO(json.dumps({"pages": []}).encode()), name)]
    answer = post(signed_in("bob"), "/surveys/new", how=how, files=sent)
    assert f"{name}: the system ended the process that read it" in answer.text
    assert [draft.id for draft in store.drafts.all()] == before


def test_if_the_process_itself_ends_the_next_file_is_read(
    signed_in: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits_of(monkeypatch, "reading._limited = lambda _: os._exit(1)")
    browser, other = signed_in("bob"), IDEA.replace('id = "idea"', 'id = "other"')
    answer = upload(browser, ("other.toml", other.encode()))
    assert "other.toml: the process that reads files ended; try again" in answer.text
    monkeypatch.undo()
    assert upload(browser, ("other.toml", other.encode())).status_code == 303


def test_lines_that_a_library_prints_are_no_part_of_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits_of(monkeypatch, "reading._READERS['imported'] = lambda *_: print('lacks', flush=True)")
    assert reading.imported(b"", "form.xlsx", None) is None


def test_no_page_reads_a_questionnaire_of_another_tool_itself() -> None:
    readers = {"read_form", "openpyxl", "xlrd", "ElementTree"}
    for path in CONSOLE.glob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not names & readers, path.name


def test_a_draft_that_pages_cannot_read_at_once_is_refused() -> None:
    number = 'kind = "number"\nmin = 0\nmax = {0}\n'
    scale = 'kind = "scale"\npoints = ["1", "2", "3", "4", "5", "6", "7"]\nepsilon = 1.{0}\n'
    for kind in (number, scale, scale + 'mechanism = "krr"\n'):
        asked = "".join(
            f'[[questions]]\nid = "n{one}"\ntext = "?"\n{kind.format(one)}'
            for one in range(100, 101 + MOST_DESIGNS)
        )
        with pytest.raises(SurveyError, match=f"at most {MOST_DESIGNS} different channels"):
            read_new(IDEA + asked, {})
        if kind is not number:
            check_size(IDEA + asked.replace("epsilon = 1.", "epsilon = 1 # "))
    tables = "".join(f'[[together]]\nid = "t{one}"\n' for one in range(1 + MOST_DESIGNS))
    with pytest.raises(SurveyError, match=f"at most {MOST_DESIGNS} different channels"):
        check_size(IDEA + tables)
    long = IDEA + "#" * MOST_BYTES
    with pytest.raises(SurveyError, match=f"at most {MOST_BYTES:,} bytes .*, got {len(long):,}"):
        read_new(long, {})


@pytest.mark.parametrize("cap", ["[]", "true", "nan", '"1"', "1e400"])
def test_a_cap_that_is_no_number_is_an_error_and_not_too_low(cap: str) -> None:
    with pytest.raises(SurveyError, match="cap must be a number of at"):
        read_new(f"{IDEA}[privacy]\ncap = {cap}\n", {})


def test_the_editor_stores_no_text_that_makes_a_draft_too_long(
    signed_in: Browsers, store: Store
) -> None:
    file = IDEA + "#" * (MOST_BYTES - len(IDEA) - 100)
    store.drafts.begin("full", file.replace('"idea"', '"full"'), "ada", "began it")
    address = "/surveys/full/edit"
    browser = signed_in("bob")
    sent = fields(browser, "question/one", address) | {"text": "One? " * 40}
    answer = post(browser, address, do="save", **sent)
    assert answer.status_code == 422
    assert f"expected at most {MOST_BYTES:,} bytes" in answer.text
    assert "One? One?" not in toml(store, "full")


def test_more_requests_than_may_wait_are_asked_to_come_again() -> None:
    with ExitStack() as waiting:
        for _ in range(1 + reading.MOST_REQUESTS_WAITING):
            waiting.enter_context(reading._WAITING)
        with pytest.raises(SurveyError, match=r"form\.json: other files are being read"):
            reading.imported(b"{}", "form.json", None)
    with pytest.raises(SurveyError, match="expected a questionnaire"):
        reading.imported(b"[]", "form.json", None)
