"""Public results: none by default, while a survey is open, or without an announcement."""

import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from flask import Flask
from flask.testing import FlaskClient

from analysis.core.errors import SurveyError
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.deliver import to_store
from server.store import Store

PUBLIC = '[results]\nbatch = 10\nminimum = 20\npublic = ["meat"]\n'
Come = Callable[[int], None]


@pytest.fixture
def survey(survey_file: Path) -> Survey:
    survey_file.write_text(survey_file.read_text() + PUBLIC)
    return read_survey(survey_file)


@pytest.fixture
def store(database: Path, survey: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    return store


@pytest.fixture
def app(store: Store, database: Path) -> Flask:
    return create_app({"DATABASE": database, "PLANES": ["public"]})


@pytest.fixture
def visitor(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def come(store: Store, survey: Survey) -> Come:
    answers = made_up_answers(survey, 500, np.random.default_rng(1))
    people = payloads(survey, answers, 1, seed=1)

    def more(n: int) -> None:
        sent = (next(people) for _ in range(n))
        assert to_store(store, survey.id, sent, lambda _: None) == {"stored": n}

    return more


def test_nothing_is_public_while_the_survey_is_open(
    visitor: FlaskClient, store: Store, come: Come
) -> None:
    come(60)
    answer = visitor.get("/public/canteen")
    assert (answer.status_code, "once the survey is closed" in answer.text) == (200, True)
    assert "60" not in answer.text
    store.surveys.close_waves("canteen")
    assert "<strong>60</strong> people answered" in visitor.get("/public/canteen").text
    # After it was opened again nothing is shown; closed after a few more reports, the same as
    # before.
    store.surveys.open_wave("canteen")
    come(3)
    assert "once the survey is closed" in visitor.get("/public/canteen").text
    store.surveys.close_waves("canteen")
    assert "<strong>60</strong> people answered" in visitor.get("/public/canteen").text


def test_only_announced_questions_are_shown_with_methods_and_label(
    visitor: FlaskClient, store: Store, come: Come, database: Path
) -> None:
    come(60)
    store.surveys.close_waves("canteen")
    html = visitor.get("/public/canteen").text
    assert "Do you eat meat?" in html
    assert "Which dish" not in html
    assert "local differential privacy" in html
    paragraph = run("codebook", "canteen", "--methods", "--batch", "--db", database).stdout
    assert re.search(r"Intervals at 95 % are, for shares( and [a-z ]+)?, Clopper", paragraph)
    assert f"made with deniable {version('deniable')}." in paragraph
    assert paragraph[:200] in html.replace("&#34;", '"').replace("&#39;", "'")
    assert "ε over all waves" in html
    assert "Set-Cookie" not in visitor.get("/public/canteen").headers


def test_too_few_are_never_public(visitor: FlaskClient, store: Store, come: Come) -> None:
    come(19)
    store.surveys.close_waves("canteen")
    answer = visitor.get("/public/canteen").text
    assert "fewer than 20 are shown to nobody" in answer
    assert "19" not in answer


def test_surveys_without_an_announcement_are_not_public(
    visitor: FlaskClient, store: Store, survey_file: Path, come: Come
) -> None:
    come(30)
    store.surveys.close_waves("canteen")
    survey_file.write_text(survey_file.read_text().replace(PUBLIC, ""))
    store.surveys.publish(read_survey(survey_file))
    assert visitor.get("/public/canteen").status_code == 404
    for unknown in ("/public/other", "/public/..", "/public/canteen-trial"):
        assert visitor.get(unknown).status_code == 404


def test_earlier_versions_are_pooled_only_if_they_announced_the_same(
    visitor: FlaskClient, store: Store, survey_file: Path, come: Come
) -> None:
    come(30)
    text = survey_file.read_text().replace("Do you eat meat?", "Do you ever eat meat?")
    changed = text.replace('public = ["meat"]', 'public = ["meat", "price"]')
    for written, shown in ((text, 60), (changed, 30)):
        survey_file.write_text(written)
        survey = read_survey(survey_file)
        store.surveys.publish(survey)
        store.surveys.open_wave("canteen")
        answers = made_up_answers(survey, 30, np.random.default_rng(2))
        to_store(store, "canteen", payloads(survey, answers, 1, seed=shown), lambda _: None)
        store.surveys.close_waves("canteen")
        assert f"<strong>{shown}</strong> people" in visitor.get("/public/canteen").text


def test_the_page_announces_it_before_the_questions(visitor: FlaskClient) -> None:
    page = visitor.get("/s/canteen").text
    assert "everybody can see the totals of" in page
    assert "1 of its 3 questions" in page.replace("\u2068", "").replace("\u2069", "")


@pytest.mark.parametrize("public", ["true", "[]", '["meat", "meat"]', '["other"]', '"meat"'])
def test_only_questions_can_be_public(survey_file: Path, public: str) -> None:
    survey_file.write_text(f"{survey_file.read_text()}[results]\npublic = {public}\n")
    with pytest.raises(SurveyError, match="public must be a list of different questions"):
        read_survey(survey_file)
