"""A collector and a device of an earlier release go on: versions, memories, reports that wait.

`earlier_release/8.sql` is a database of schema 8, in which one person had answered four surveys of
the first format in a browser. `earlier_release/device.json` is all that this browser had stored
then. Reports of two surveys were drawn and waited.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import Collector, command, in_process
from device import READ_MEMO, WRITE_MEMO, Device, answer, expect_closed, expect_state
from playwright.sync_api import Page, expect

from analysis.survey.survey import spent_on
from analysis.survey.survey_file import read_survey
from server.pages.browser_files import CLIENT
from server.store import Store

FOLDER = Path(__file__).parent / "earlier_release"
FILES = Path(__file__).parents[1] / "analysis/earlier_releases/1.0"
DEVICE = json.loads((FOLDER / "device.json").read_text())


@pytest.fixture(scope="module")
def brought_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the database of an earlier release, brought up to this one."""
    folder = tmp_path_factory.mktemp("earlier")
    connection = sqlite3.connect(folder / "deniable.db")
    connection.executescript((FOLDER / "8.sql").read_text())
    connection.close()
    Store(folder / "deniable.db", upgrade=True).close()
    return folder


@pytest.fixture
def folder(brought_up: Path, tmp_path: Path) -> Path:
    """Return a copy of it for one test."""
    return Path(shutil.copytree(brought_up, tmp_path / "served"))


@pytest.fixture
def upgraded(folder: Path) -> Iterator[Collector]:
    """Run this release over the database of an earlier one."""
    with in_process(folder, CLIENT) as collector:
        yield collector


@pytest.fixture
def kept(upgraded: Collector, new_device: Callable[..., Device]) -> Device:
    """Return a device that has stored what the earlier release did."""
    device = new_device()
    page = device.visit(upgraded.page("none"))
    for key, value in DEVICE["memo"].items():
        page.evaluate(WRITE_MEMO, [key, value])
    page.close()
    return device


def memo(page: Page, survey: str) -> dict[str, Any]:
    """Return the record of a survey; of one with links, this release keeps it for its link."""
    records = page.evaluate(READ_MEMO)
    (found,) = (records[key] for key in records if key.split("/")[:2] == ["survey", survey])
    record: dict[str, Any] = found
    return record


def test_every_version_is_as_it_was(folder: Path) -> None:
    frozen = json.loads((FILES / "frozen.json").read_text())
    with command(folder, None) as served:
        for name in ("noise-and-memory", "noise-with-delta", "stable-with-skips", "fine-cap"):
            assert served.frozen(name)["version"] == frozen[f"{name}.toml"]["version"]


def test_a_report_that_waited_at_the_end_of_a_cap_is_sent(
    upgraded: Collector, kept: Device
) -> None:
    page = kept.visit(upgraded.page("fine-cap"))
    expect_state(page, "stored")
    assert upgraded.stored("fine-cap", 2) == 1
    assert memo(page, "fine-cap")["pending"] == []
    (row,) = upgraded.ledger("fine-cap")
    assert (row["waves"], row["above_cap"]) == ("2", "yes")


def test_a_panel_goes_on_with_its_memories_at_the_true_price(
    upgraded: Collector, kept: Device
) -> None:
    name = "noise-and-memory"
    survey = read_survey(FILES / f"{name}.toml")
    before = DEVICE["memo"][f"survey/{name}"]
    page = kept.visit(f"{upgraded.url}/{DEVICE['link']}")
    expect_state(page, "stored")
    assert upgraded.stored(name, 2) == 1
    page.close()
    upgraded.open_wave(name, 3)
    page = kept.visit(f"{upgraded.url}/{DEVICE['link']}")
    answer(page, {"hours": "30", "born-here": "yes", "union": "no"})
    after = memo(page, name)
    assert after["times"] == {key: n + 1 for key, n in before["times"].items()}
    assert before["spent"] == spent_on([(survey, 2)], stated=True)
    assert after["spent"] == spent_on([(survey, 3)])
    assert after["constant"] == spent_on([(survey, 3)], stable=True)
    (row,) = upgraded.ledger(name)
    assert float(row["cap"]) - float(row["remaining"]) == pytest.approx(after["spent"] / 1e6)


def test_what_noise_with_a_delta_cost_is_shown_as_it_is(upgraded: Collector, kept: Device) -> None:
    page = kept.visit(upgraded.page("noise-with-delta"))
    expect(page.locator("main")).to_be_visible()
    expect_state(page, "answered")
    assert DEVICE["memo"]["survey/noise-with-delta"]["spent"] == 2_000
    assert memo(page, "noise-with-delta")["spent"] == 42_194
    mine = kept.visit(f"{upgraded.url}/me")
    expect(mine.locator("#surveys")).to_contain_text("ε = 0.0422 of at most 0.2")


@pytest.mark.parametrize("format_line", ["", "format = 2\n"])
def test_a_version_without_such_questions_charges_what_earlier_waves_lack(
    upgraded: Collector, kept: Device, tmp_path: Path, format_line: str
) -> None:
    # One more question of ε = .1 was asked in neither earlier wave, and costs nothing for these.
    first = read_survey(FILES / "noise-with-delta.toml")
    text = (FILES / "noise-with-delta.toml").read_text().replace("delta = 0.01\n", "")
    text = text.replace('mechanism = "gaussian"', 'mechanism = "laplace"').replace(".001", ".05")
    more = '\n[[questions]]\nid = "more"\nkind = "yes-no"\ntext = "More?"\nepsilon = 0.1\n'
    file = tmp_path / "later.toml"
    file.write_text(format_line + text + more)
    later = read_survey(file)
    store = Store(upgraded.database)
    store.surveys.publish(later, new_prices=True)
    store.close()
    upgraded.open_wave(later.id, 3)
    page = kept.visit(upgraded.page(later.id))
    expect_state(page, "ready")
    # Two waves were charged .002 and cost .042194; one of this version costs .15.
    assert memo(page, later.id)["spent"] == spent_on([(first, 2)]) == 42_194
    answer(page, {"hours": "30", "more": "yes"})
    assert memo(page, later.id)["spent"] == spent_on([(first, 2), (later, 1)])
    page.reload()
    expect_state(page, "answered")
    assert memo(page, later.id)["spent"] == spent_on([(first, 2), (later, 1)])


def test_a_corrected_text_does_not_hide_what_a_memory_lacks(
    upgraded: Collector, kept: Device, tmp_path: Path
) -> None:
    text = (FILES / "stable-with-skips.toml").read_text()
    file = tmp_path / "corrected.toml"
    file.write_text(text.replace("born in this country", "really born in this country"))
    store = Store(upgraded.database)
    store.surveys.publish(read_survey(file))
    store.close()
    upgraded.open_wave("stable-with-skips", 5)
    expect_closed(kept.visit(upgraded.page("stable-with-skips")), "spent")
    assert kept.posted() == []


def test_nothing_is_drawn_above_the_cap(upgraded: Collector, kept: Device) -> None:
    # Three waves were charged 1.9124 of 2, and can have revealed 3.2061.
    upgraded.open_wave("stable-with-skips", 4)
    page = kept.visit(upgraded.page("stable-with-skips"))
    expect_closed(page, "spent")
    assert kept.posted() == []
    survey = read_survey(FILES / "stable-with-skips.toml")
    assert memo(page, survey.id)["spent"] == spent_on([(survey, 3)])
