"""Free prose is not published any more; what was published before goes on."""

from pathlib import Path

import pytest
from command_line import run, table
from console_pages import Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, toml
from forms import post
from test_access import HTTPS

from analysis.survey.check import refusals
from analysis.survey.freeze import thaw
from analysis.survey.survey_file import read_survey
from analysis.survey.written import check_written
from server.store import Place, Store, StoreError

__all__ = ["app", "signed_in", "survey_file"]
WHY = "free prose cannot be randomized: ask a question with options instead"
PROSE = """\
format = 2
title = "Prose"
id = "prose"

[[questions]]
id = "why"
kind = "text"
text = "Why?"
longest = 65
epsilon = 1.0
"""


def _file(folder: Path, text: str = PROSE) -> Path:
    (folder / "prose.toml").write_text(text)
    return folder / "prose.toml"


def _published(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Publish a file as earlier releases did; return its version."""
    with monkeypatch.context() as earlier:
        earlier.setattr("server.store.surveys.refusals", lambda _: [])
        survey = read_survey(file)
        store.surveys.publish(survey)
    return survey.version


@pytest.mark.parametrize("command", ["check", "publish"])
def test_free_prose_is_refused(tmp_path: Path, store: Store, database: Place, command: str) -> None:
    more = ["--db", database] if command == "publish" else []
    result = run(command, _file(tmp_path), *more)
    assert result.exit_code == 1
    assert f'question "why": longest must be at most 64 without candidates, got 65: {WHY}' in (
        result.stderr
    )
    assert store.surveys.versions("prose") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("longest = 65", "longest = 64"),
        ("format = 2\n", ""),
        ("longest = 65", 'longest = 65\ncandidates = ["a", "b"]'),
    ],
)
def test_other_texts_are_published(
    tmp_path: Path, store: Store, database: Place, before: str, after: str
) -> None:
    file = _file(tmp_path, PROSE.replace(before, after))
    assert run("check", file).exit_code == 0
    assert run("publish", file, "--db", database).exit_code == 0
    assert len(store.surveys.versions("prose")) == 1


def test_the_remark_says_what_is_found(tmp_path: Path) -> None:
    for longest, told in (
        (64, "are found, and none of more than 14 letters; all others count as other"),
        (14, "only texts that many people write are found; all others count as other"),
    ):
        result = run("check", _file(tmp_path, PROSE.replace("65", str(longest))))
        assert told in result.stderr


def test_what_was_published_goes_on(
    tmp_path: Path, store: Store, database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path)
    version = _published(store, file, monkeypatch)
    survey = store.surveys.get("prose", version)
    assert survey is not None
    assert refusals(survey)
    assert thaw(survey.to_json(), version).version == version
    check_written(survey.spec)
    (row,) = table(run("publish", file, "--db", database))
    assert (row["version"], row["new"]) == (version, "no")
    (tmp_path / "answers.csv").write_text(f"why\n{'x' * 65}\nno\n")
    words = ("--answers", tmp_path / "answers.csv", "--db", database)
    (sent,) = table(run("simulate", file, *words))
    assert sent["stored"] == "2"
    assert run("estimate", "prose", "--db", database).exit_code == 0
    changed = read_survey(_file(tmp_path, PROSE.replace("Why?", "Why so?")))
    with pytest.raises(StoreError, match="free prose cannot be randomized"):
        store.surveys.publish(changed)


def test_the_editor_names_it_and_does_not_publish_it(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    draft = store.drafts.get("idea")
    assert draft is not None
    store.drafts.change(draft, f"format = 2\n{draft.toml}", "ada", "took the new format")
    sent = {"text": "Why?", "kind": "text", "id": "why", "part": "question/one", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    typed = fields(browser, "question/why") | {"longest": "65", "do": "save"}
    assert post(browser, EDIT, **typed).status_code == 303
    assert "longest = 65" in toml(store)
    assert WHY in browser.get(EDIT, **HTTPS).text
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert "The draft cannot be published yet" in page
    assert WHY in page


def test_the_next_version_of_what_was_published_can_be_edited(
    signed_in: Browsers, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _published(store, _file(tmp_path), monkeypatch)
    browser = signed_in("ada")
    answer = post(browser, "/surveys/prose/draft")
    assert answer.status_code == 303, answer.text
    assert WHY in browser.get("/surveys/prose/edit", **HTTPS).text
