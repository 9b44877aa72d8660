"""Attacks with a session: other people's studies, single reports, and races."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from answered_study import answered, signed_in, studied
from command_line import run
from flask.testing import FlaskClient
from forms import post, without_tokens
from limits import LONG
from test_access import HTTPS

from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.clock import now
from server.deliver import to_store
from server.store import Store, StoreBusy, StoreError
from server.store.researchers import Researcher
from server.store.studies import Study
from server.stored_ledger import ledger_of_survey
from server.stored_results import StoredWave, Withheld
from server.work.trial import Trial, trial_of


@pytest.fixture
def store(database: Path, survey: Survey) -> Store:
    return studied(database, survey)


@pytest.fixture
def owner(store: Store, database: Path) -> FlaskClient:
    return signed_in(database, "ada")


def _filled(store: Store, people: int = 30) -> None:
    Trial("canteen", "", people, 1).done(store, lambda _: None)


def _one_more(store: Store, survey: Survey, seed: int) -> None:
    answers = made_up_answers(survey, 1, np.random.default_rng(seed))
    sent = payloads(survey, answers, 1, seed=seed)
    assert to_store(store, survey.id, sent, lambda _: None) == {"stored": 1}


def test_a_trial_never_empties_a_survey_that_came_while_it_waited(
    store: Store, survey_file: Path
) -> None:
    survey_file.write_text(survey_file.read_text().replace('"canteen"', '"canteen-trial"', 1))
    real = read_survey(survey_file)
    store.surveys.publish(real)
    answered(store, real, 1, 40)
    with pytest.raises(StoreError, match="expected a trial copy, got a survey of its own"):
        _filled(store)
    assert sum(store.reports.cells("canteen-trial").values()) == 40


def test_a_trial_stays_one_whatever_is_done_with_it(
    store: Store, owner: FlaskClient, survey: Survey
) -> None:
    _filled(store)
    visitor = owner.application.test_client()
    for done in ("archive", "unarchive", "delete"):
        post(owner, f"/surveys/canteen-trial/{done}", sure="canteen-trial")
        assert store.studies.get("canteen-trial").is_trial
        assert visitor.get("/s/canteen-trial").status_code == 404
        assert post(owner, "/surveys/canteen-trial/open").status_code == 409
        with pytest.raises(StoreError, match="got a trial copy"):
            store.surveys.open_wave("canteen-trial")
    with pytest.raises(StoreError, match="got a trial copy"):
        store.surveys.publish(trial_of(survey))
    result = run("open", "canteen-trial", "--db", store.database.place)
    assert (result.exit_code, "got a trial copy" in result.stderr) == (1, True)
    _filled(store, 50)  # and another one can be filled
    assert sum(store.reports.cells("canteen-trial").values()) == 50


def test_a_link_to_set_up_ends_with_the_account(store: Store, owner: FlaskClient) -> None:
    links = []
    for _ in range(2):
        page = post(owner, "/people", name="dora", role="owner").text
        links.append(page.partition("/setup/")[2].partition('"')[0])
    other = owner.application.test_client()
    assert "dora, owner" in owner.get("/people", **HTTPS).text
    assert other.post(f"/setup/{links[0]}", **HTTPS).status_code == 200
    # The second link would give somebody dora's account.
    assert other.post(f"/setup/{links[1]}", **HTTPS).status_code == 404
    page = post(owner, "/people", name="emil", role="analyst").text
    code = page.partition("/setup/")[2].partition('"')[0]
    assert post(owner, "/people/emil/remove").status_code == 303
    assert other.post(f"/setup/{code}", **HTTPS).status_code == 404
    assert store.access.setups(now()) == []
    assert Researcher("emil", "analyst") not in store.researchers.all()


def test_the_first_report_to_a_new_version_changes_no_page(
    store: Store, owner: FlaskClient, survey: Survey, survey_file: Path
) -> None:
    survey_file.write_text(survey_file.read_text().replace("Do you eat", "Do you ever eat"))
    other = read_survey(survey_file)
    store.surveys.publish(other)
    store.surveys.open_wave("canteen", 1)
    pages = [
        *("/results/canteen?version=pooled", "/surveys/canteen", "/surveys/canteen/privacy"),
        *("/surveys/canteen/downloads", "/surveys", f"/results/canteen?version={other.version}"),
    ]
    before = [without_tokens(owner.get(page, **HTTPS).text) for page in pages]
    _one_more(store, other, 4)
    assert [without_tokens(owner.get(page, **HTTPS).text) for page in pages] == before


def test_spends_reveal_no_version_that_is_not_shown(
    store: Store, survey: Survey, survey_file: Path
) -> None:
    assert list(ledger_of_survey(store, "canteen", "total", batch=True))
    survey_file.write_text(survey_file.read_text().replace("Do you eat", "Do you ever eat"))
    other = read_survey(survey_file)
    store.surveys.publish(other)
    answered(store, other, 1, 60)
    # 660 less the 600 that are shown by themselves would be the 60 of another version.
    with pytest.raises(Withheld, match="reveal something about fewer than 100 others"):
        ledger_of_survey(store, "canteen", "total", batch=True)
    assert list(ledger_of_survey(store, "canteen", "total"))


def test_reports_that_come_while_they_are_read_are_not_sent(store: Store, survey: Survey) -> None:
    wave = StoredWave(store, "canteen", 1, batch=True)
    _, parts = wave.reports()
    store.surveys.open_wave("canteen", 1)
    _one_more(store, survey, 4)
    with pytest.raises(StoreBusy, match="has just changed"):
        list(parts)
    late = StoredWave(store, "canteen", 1, batch=True)
    for seed in range(120):
        _one_more(store, survey, 100 + seed)
    with pytest.raises(StoreBusy, match="has just changed"):
        late.estimates(0.95)


def test_two_owners_do_not_undo_each_others_notes(store: Store, database: Path) -> None:
    day = date(2999, 1, 1)

    def plan(turn: int) -> None:
        Store(database).studies.plan("canteen", 100 + turn)

    def schedule(_: int) -> None:
        Store(database).studies.schedule("canteen", None, day)

    with ThreadPoolExecutor(2) as both:
        for turn in range(20):
            store.studies.schedule("canteen", None, None)
            waiting = [both.submit(plan, turn), both.submit(schedule, turn)]
            assert [one.result() for one in waiting] == [None, None]
            assert store.studies.get("canteen") == Study(100 + turn, closes=day)


@pytest.mark.more
def test_a_server_runs_no_program_of_the_folder_in_which_it_starts(
    survey_file: Path, database: Path, tmp_path: Path
) -> None:
    for name in ("rfc8785", "segno", "flask", "server"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    program = Path(sys.executable).with_name("deniable")
    call = [str(program), "serve", str(survey_file), "--port", "0", "--db", str(database)]
    with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        watchdog = threading.Timer(LONG, server.kill)
        watchdog.start()
        assert server.stdout is not None
        assert any(line.startswith("research token") for line in server.stdout)
        server.terminate()
        server.communicate()
        watchdog.cancel()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "server.work.process"],
        cwd=tmp_path,
        env={**os.environ, "DENIABLE_DB": str(database)},
        stdin=subprocess.PIPE,
        check=False,
        timeout=LONG,
    )
    assert done.returncode == 0
    assert not (tmp_path / "ran").exists()
