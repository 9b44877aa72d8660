"""A file that was not changed keeps its version where it was published, on any processor."""

import json
from pathlib import Path

import pytest
from command_line import run, table
from console_pages import Browsers, app, signed_in, survey_file
from drafting import fields
from forms import post
from test_access import HTTPS
from test_serving import command, serving

from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey
from server.store import Store
from server.work.trial import to_try

pytestmark = pytest.mark.both

__all__ = ["app", "signed_in", "survey_file"]
#: Its channel is designed.
AGE = """\
format = 2
title = "Age"
id = "age"

[[questions]]
id = "age"
kind = "number"
min = 0
max = 100
text = "How old are you?"
epsilon = 1.0
"""


def of_another_processor(survey: Survey) -> Survey:
    """Return the survey with a design that is as good: reports have their numbers in reverse."""
    data = json.loads(json.dumps(survey.to_json()))
    rows = data["randomizers"]["age"]["channel"]["rows"]
    data["randomizers"]["age"]["channel"]["rows"] = [row[::-1] for row in rows]
    return thaw(data, version_of(data))


@pytest.fixture
def published(store: Store, tmp_path: Path) -> Survey:
    """Return what another processor published of a file, which is a draft, too."""
    file = tmp_path / "age.toml"
    file.write_text(AGE)
    here = read_survey(file)
    there = of_another_processor(here)
    assert (here.version, here.terms) != (there.version, there.terms)
    store.surveys.publish(there)
    store.drafts.begin("age", AGE, "ada", "began it")
    return there


@pytest.mark.parametrize("command", ["publish", "simulate"])
def test_command_keeps_the_version(
    store: Store, published: Survey, tmp_path: Path, database: Path, command: str
) -> None:
    (tmp_path / "answers.csv").write_text("age\n40\n50\n")
    words = ["--answers", tmp_path / "answers.csv"] if command == "simulate" else []
    (row,) = table(run(command, tmp_path / "age.toml", "--db", database, *words))
    assert row["version"] == published.version
    assert row.get("new", "no") == "no"
    assert store.surveys.versions("age") == [published.version]


@pytest.mark.sqlite
def test_serve_keeps_the_version(
    store: Store, published: Survey, tmp_path: Path, database: Path
) -> None:
    with serving(tmp_path / "age.toml", "--port", 0, "--db", database, "--workers", 1):
        assert store.surveys.versions("age") == [published.version]


def test_current_version_goes_on_and_then_the_same_weights_are_preferred(
    store: Store, published: Survey, tmp_path: Path
) -> None:
    here = read_survey(tmp_path / "age.toml")
    assert store.surveys.of_same_file(here).version == published.version
    store.surveys.publish(here)
    store.surveys.publish(published)
    assert store.surveys.of_same_file(here).version == published.version
    (tmp_path / "age.toml").write_text(AGE.replace("How old", "Just how old"))
    store.surveys.publish(read_survey(tmp_path / "age.toml"))
    assert store.surveys.of_same_file(here).version == here.version


@pytest.mark.sqlite
def test_made_up_reports_are_sent_to_the_version_that_is_served(
    store: Store, published: Survey, tmp_path: Path, database: Path
) -> None:
    (tmp_path / "answers.csv").write_text("age\n40\n50\n")
    store.surveys.open_wave("age")
    store.close()
    with serving("--port", 0, "--db", database, "--workers", 1) as (url, _, _):
        words = ["--answers", tmp_path / "answers.csv", "--url", url]
        _, row = command("simulate", tmp_path / "age.toml", *words).splitlines()
    assert row.startswith(f"age,{published.version},1,2,")


def test_console_keeps_the_version(signed_in: Browsers, store: Store, published: Survey) -> None:
    browser = signed_in("ada")
    page = browser.get("/surveys/age/publish", **HTTPS).text
    assert published.version in page
    answer = post(browser, "/surveys/age/publish", version=published.version)
    assert answer.status_code == 303
    assert to_try(store, "age").version == published.version
    assert store.surveys.versions("age") == [published.version]


def test_changed_file_is_another_version(
    signed_in: Browsers, store: Store, published: Survey
) -> None:
    browser = signed_in("ada")
    address = "/surveys/age/edit"
    form = fields(browser, "question/age", address) | {"text": "What is your age?"}
    assert post(browser, address, do="save", **form).status_code == 303
    assert to_try(store, "age").version != published.version
