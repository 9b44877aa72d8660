"""Pages and downloads show only whole batches, whatever comes and whoever looks."""

from collections.abc import Callable
from datetime import date
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from command_line import run

from analysis.survey.batches import Cell
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.deliver import to_store
from server.intake.decision import WHOLE
from server.retention import Keeper
from server.store import Place, Store
from server.stored_ledger import ledger_of_survey
from server.stored_results import StoredWave, Withheld

pytestmark = pytest.mark.both

STEPS = "[results]\nbatch = 10\nminimum = 20\n"
#: Included so that the tables of `choices` and their sizes are tested, too.
MORE = """
[[questions]]
id = "drinks"
kind = "choices"
mechanism = "multihot"
text = "What do you drink?"
options = [{id = "tea", text = "Tea"}, {id = "milk", text = "Milk"}]
epsilon = 1
"""
DOWNLOADS = ["estimates.csv", "plausibility.csv", "ledger.csv?by=total"]
WHEN_CLOSED = ["reports.csv", "ledger.csv"]
ANSWERS = {"meat": "yes", "dish": "soup", "price": "3", "drinks": "tea"}
Send = Callable[[int], None]


@pytest.fixture
def stepped(survey_file: Path) -> Survey:
    """Return the survey, whose results move by ten reports, from twenty on."""
    survey_file.write_text(f"{survey_file.read_text()}{MORE}{STEPS}")
    return read_survey(survey_file)


@pytest.fixture
def store(database: Place, stepped: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(stepped)
    store.surveys.open_wave(stepped.id)
    return store


@pytest.fixture
def come(store: Store, stepped: Survey) -> Send:
    """Store this many more reports, each in a transaction of its own."""
    people = payloads(stepped, [ANSWERS] * 500, 1, 8)

    def more(n: int) -> None:
        for payload in islice(people, n):
            to_store(store, stepped.id, iter([payload]), lambda _: None)

    return more


def seen(store: Store, survey: Survey) -> int:
    """Return how many reports a page shows."""
    wave = StoredWave(store, survey.id, batch=True)
    if wave.shown:
        assert wave.n == wave.shown
    return wave.shown


def test_pages_are_a_batch_behind_and_closing_shows_all(
    store: Store, stepped: Survey, come: Send
) -> None:
    shown = []
    for _ in range(35):
        come(1)
        shown.append(seen(store, stepped))
    assert shown == [0] * 29 + [20] * 6
    store.surveys.close_waves(stepped.id)
    assert seen(store, stepped) == 35
    store.surveys.open_wave(stepped.id)
    come(9)
    assert seen(store, stepped) == 35
    store.surveys.close_waves(stepped.id)
    assert seen(store, stepped) == 35
    assert StoredWave(store, stepped.id).n == 44
    store.surveys.open_wave(stepped.id)
    come(1)
    store.surveys.close_waves(stepped.id)
    assert seen(store, stepped) == 45
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []


def test_a_snapshot_is_the_tally_of_its_moment(store: Store, stepped: Survey, come: Send) -> None:
    come(20)
    then = StoredWave(store, stepped.id)
    tallies, sizes = then.tallies, store.reports.sizes(stepped, 1)
    come(15)
    now = StoredWave(store, stepped.id, batch=True)
    assert now.shown == 20
    assert set(sizes) == {"drinks"}
    for name, tally in now.tallies.items():
        assert np.array_equal(tally, tallies[name])
    shown = store.reports.sizes(stepped, 1, now.shown)
    assert np.array_equal(shown["drinks"], sizes["drinks"])


def test_spends_are_shown_in_the_same_batches(store: Store, stepped: Survey, come: Send) -> None:
    with pytest.raises(Withheld, match="from 20 reports on"):
        ledger_of_survey(store, stepped.id, "total", batch=True)
    come(35)
    (total,) = ledger_of_survey(store, stepped.id, "total", batch=True)
    assert total.respondents == 20
    with pytest.raises(Withheld, match="single respondents"):
        ledger_of_survey(store, stepped.id, batch=True)
    store.surveys.close_waves(stepped.id)
    assert len(list(ledger_of_survey(store, stepped.id, batch=True))) == 35


@pytest.mark.parametrize("name", [*DOWNLOADS, *WHEN_CLOSED])
def test_downloads_are_withheld_until_they_may_be_shown(
    store: Store, database: Place, come: Send, bearer: dict[str, str], name: str
) -> None:
    client = create_app({"DATABASE": database}).test_client()

    def status() -> int:
        return client.get(f"/api/surveys/canteen/{name}", headers=bearer).status_code

    come(29)
    assert status() == 403
    come(1)
    assert status() == (403 if name in WHEN_CLOSED else 200)
    store.surveys.close_waves("canteen")
    assert status() == 200
    # A few reports that came after it was opened again could be distinguished.
    store.surveys.open_wave("canteen")
    come(1)
    store.surveys.close_waves("canteen")
    assert status() == (403 if name in WHEN_CLOSED else 200)


def test_one_report_changes_no_page(
    store: Store, database: Place, come: Send, bearer: dict[str, str]
) -> None:
    client = create_app({"DATABASE": database}).test_client()

    def looks() -> list[str]:
        addresses = ["/results", "/results/canteen", "/metrics"]
        addresses += [f"/api/surveys/canteen/{name}" for name in DOWNLOADS]
        return [client.get(one, headers=bearer).get_data(as_text=True) for one in addresses]

    come(30)
    before = looks()
    come(9)
    assert looks() == before
    come(1)
    assert looks() != before


def test_nothing_is_shown_of_an_open_wave_that_hides_its_results(
    store: Store,
    stepped: Survey,
    survey_file: Path,
    database: Place,
    bearer: dict[str, str],
) -> None:
    client = create_app({"DATABASE": database}).test_client()
    addresses = ["/results", "/surveys", "/metrics", "/api/surveys/canteen/label.csv"]
    addresses += ["/results/canteen", "/surveys/canteen", "/surveys/canteen/privacy"]
    addresses += ["/surveys/canteen/live", "/surveys/canteen/downloads"]
    addresses += [f"/api/surveys/canteen/{name}" for name in (*DOWNLOADS, *WHEN_CLOSED)]

    def looks() -> list[str]:
        return [client.get(one, headers=bearer).text for one in addresses]

    survey_file.write_text(f"{survey_file.read_text()}open = false\n")
    store.surveys.publish(read_survey(survey_file))
    hidden = looks()
    assert "not shown while it is open" in hidden[5]
    assert "once the wave is closed" in hidden[4]
    people = payloads(read_survey(survey_file), [ANSWERS] * 200, 1, 8)
    for n in (1, 9, 10, 30, 150):
        to_store(store, stepped.id, islice(people, n), lambda _: None)
        assert looks() == hidden
    store.surveys.close_waves(stepped.id)
    assert looks() != hidden
    assert StoredWave(store, stepped.id, batch=True).shown == 200


def test_commands_show_all_and_on_request_what_pages_do(
    store: Store, database: Place, come: Send, bearer: dict[str, str]
) -> None:
    come(35)
    client = create_app({"DATABASE": database}).test_client()
    for command, name in (
        (["estimate", "canteen"], "estimates.csv"),
        (["plausibility", "canteen"], "plausibility.csv"),
        (["ledger", "canteen", "--by", "total"], "ledger.csv?by=total"),
    ):
        page = client.get(f"/api/surveys/canteen/{name}", headers=bearer).get_data(as_text=True)
        everything, batch = (
            run(*command, "--db", database),
            run(*command, "--batch", "--db", database),
        )
        assert everything.exit_code == batch.exit_code == 0
        assert page != everything.stdout
        assert _numbers(page) <= _numbers(batch.stdout)
    refused = run("crosstab", "canteen", "meat", "dish", "--batch", "--db", database)
    assert refused.exit_code == 1
    assert "wait for the wave to be closed" in refused.stderr


def _numbers(text: str) -> set[str]:
    """Return the cells of a table that are numbers, without those that round."""
    return {cell for line in text.splitlines()[1:] for cell in line.split(",") if "." in cell}


def test_a_new_version_takes_no_promise_back(
    store: Store, stepped: Survey, survey_file: Path, come: Send
) -> None:
    survey_file.write_text(survey_file.read_text().replace("batch = 10", "batch = 20"))
    larger = read_survey(survey_file)
    survey_file.write_text(survey_file.read_text().replace("batch = 20", "batch = 11"))
    store.surveys.publish(larger)
    store.surveys.publish(read_survey(survey_file))
    come(39)
    assert store.surveys.cells(stepped.id)[stepped.id, *WHOLE] == Cell(39, 0, 20)
    assert seen(store, stepped) == 0  # of the version that is asked now
    assert StoredWave(store, stepped.id, version=stepped.version, batch=True).shown == 20


def test_a_survey_shows_everything_after_its_last_day(
    database: Place, survey_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = "2026-03-01"
    text = survey_file.read_text().replace(
        'id = "canteen"\n', f'id = "canteen"\ncloses = {day}\n', 1
    )
    survey_file.write_text(f"{text}{STEPS}")
    survey = read_survey(survey_file)
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    for name in ("server.deliver", "server.stored_results", "server.retention"):
        monkeypatch.setattr(f"{name}.today", lambda: date(2026, 3, 1))
    people = [{"meat": "yes", "dish": "soup", "price": "3"}] * 35
    to_store(store, survey.id, payloads(survey, people, 1, 1), lambda _: None)
    with store.database.served():
        Keeper(database).look()
        assert StoredWave(store, survey.id, batch=True).is_open
        for name in ("server.stored_results", "server.retention"):
            monkeypatch.setattr(f"{name}.today", lambda: date(2026, 3, 2))
        Keeper(database).look()
    assert seen(store, survey) == 35
    assert list(StoredWave(store, survey.id, batch=True).reports()[1])


@pytest.mark.parametrize(
    "damage", ["UPDATE cell SET n = n + 1", "DELETE FROM cell", "UPDATE cell SET wave = wave + 1"]
)
def test_an_audit_finds_wrong_cells(store: Store, come: Send, damage: str) -> None:
    come(3)
    with store.database.writing() as connection:
        connection.execute(damage)
    assert any("not a recount" in told for told in store.upkeep.discrepancies(date(2026, 1, 1)))
