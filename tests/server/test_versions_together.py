"""Versions that differ only in words are shown together, and never by a silent guess."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from flask import Flask
from forms import post
from test_access import HASHED, HTTPS, log_in

from analysis.survey.pooling import poolable, relabelled
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.deliver import to_store
from server.store import Store
from server.store.researchers import Researcher
from server.stored_results import POOLED, StoredWave

Publish = Callable[..., str]


@pytest.fixture
def publish(store: Store, survey_file: Path) -> Publish:
    """Publish the survey with replaced texts, have people answer it, and return its version."""
    original = survey_file.read_text()
    count = 0

    def call(people: int, *changes: tuple[str, str]) -> str:
        nonlocal count
        text = original
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        survey_file.write_text(text)
        survey = read_survey(survey_file)
        store.surveys.publish(survey)
        count += 1
        answers = made_up_answers(survey, people, np.random.default_rng(count))
        sent = payloads(survey, answers, 1, seed=count)
        assert to_store(store, survey.id, sent, lambda _: None) == {"stored": people}
        return survey.version

    return call


def rows(*command: object) -> list[dict[str, Any]]:
    result = run(*command, "--json")
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


TYPO = ("Which dish do you like best?", "Which dish do you like most?")
LABEL = ('text = "Stew"', 'text = "A stew"')


def test_a_typing_error_in_a_text_does_not_split_a_study(
    publish: Publish, store: Store, database: Path
) -> None:
    first, second = publish(150), publish(200, TYPO)
    store.surveys.close_waves("canteen")
    pooled = StoredWave(store, "canteen", 1, POOLED)
    apart = [StoredWave(store, "canteen", 1, version) for version in (second, first)]
    assert pooled.n == 350
    for name, counts in pooled.tallies.items():
        assert (counts == sum(one.tallies[name] for one in apart)).all()
    options = ("--version", POOLED, "--batch", "--db", database)
    table = rows("estimate", "canteen", *options)
    assert {row["version"] for row in table} == {f"{second[:12]}+{first[:12]}"}
    assert {row["n"] for row in table} == {350}
    # Raw reports are pooled, too: the likelihood of a table is of all of them.
    assert {row["n"] for row in rows("crosstab", "canteen", "meat", "price", *options)} == {350}
    exported = run("export", "canteen", *options).stdout
    assert len(list(csv.reader(io.StringIO(exported)))) == 351


def test_changed_labels_are_pooled_only_once_they_are_declared(
    publish: Publish, store: Store, database: Path
) -> None:
    first, second = publish(150), publish(200, LABEL)
    store.surveys.close_waves("canteen")
    assert StoredWave(store, "canteen", 1, POOLED).n == 200
    for name, role in (("ada", "owner"), ("bob", "analyst")):
        store.researchers.put(Researcher(name, role), HASHED)
    app: Flask = create_app({"DATABASE": database})
    analyst, owner = app.test_client(), app.test_client()
    log_in(analyst, "bob")
    log_in(owner, "ada")
    page = owner.get("/results/canteen", **HTTPS).text
    assert "only if you declare that they mean the same" in page
    assert "Soup · A stew · Roast" in page
    assert post(analyst, "/surveys/canteen/same", version=first).status_code == 403
    assert post(owner, "/surveys/canteen/same", version="another").status_code == 404
    assert post(owner, "/surveys/canteen/same", version=first).status_code == 303
    assert StoredWave(store, "canteen", 1, POOLED).n == 350
    last = [*store.log.entries()][-1]
    assert (last.who, last.what) == ("ada", "declare a correction")
    book = rows("codebook", "canteen", "--db", database)
    earlier = {row["value"]: row["earlier_labels"] for row in book if row["question"] == "dish"}
    assert earlier == {"soup": "", "stew": "Stew", "roast": "", "no-answer": ""}
    assert second == store.surveys.versions("canteen")[0]


@pytest.mark.parametrize(
    "change",
    [
        ("epsilon = 1.5", "epsilon = 1.25"),
        ("max = 20", "max = 30"),
        ('id = "stew"', 'id = "pie"'),
        ("meat = 'yes'", "meat = 'no'"),
        ('kind = "yes-no"', 'kind = "yes-no"\nrequired = true'),
        ('id = "price"', 'id = "cost"'),
    ],
    ids=str,
)
def test_other_changes_keep_versions_apart(
    publish: Publish, store: Store, change: tuple[str, str]
) -> None:
    publish(20)
    publish(20, change)
    last, first = store.surveys.every("canteen")
    assert not poolable(last, first)
    assert StoredWave(store, "canteen", 1, POOLED).n == 20


def test_declarations_lead_from_one_version_to_the_next(publish: Publish, store: Store) -> None:
    publish(20)
    publish(20, LABEL)
    publish(20, (LABEL[0], 'text = "Stews"'))
    third, second, first = store.surveys.every("canteen")
    assert [one.question for one in relabelled(third, first)] == ["dish"]
    for new, old in ((third, second), (second, first)):
        (one,) = relabelled(new, old)
        store.studies.declare_same("canteen", one.question, one.before, one.after)
    assert relabelled(third, first, store.studies.declared_same("canteen")) == []
    assert StoredWave(store, "canteen", 1, POOLED).n == 60


def test_a_version_that_cannot_be_shown_by_itself_is_left_out(
    publish: Publish, store: Store
) -> None:
    # Otherwise 230 less 200, which is shown by itself, would be a group of 30.
    publish(30)
    publish(200, TYPO)
    store.surveys.close_waves("canteen")
    shown = StoredWave(store, "canteen", 1, POOLED, batch=True)
    assert (shown.shown, shown.n, len(shown.left_out)) == (200, 200, 1)
    assert StoredWave(store, "canteen", 1, POOLED).n == 230
