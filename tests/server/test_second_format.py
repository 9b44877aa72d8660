"""Versions of the first format keep their rule for what was drawn; all prints the true cost."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run, table
from flask.testing import FlaskClient
from forms import post
from test_access import HASHED, HTTPS, log_in

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from analysis.survey.written import survey_tables
from server.app import create_app
from server.editing.draft_file import toml_of
from server.forms import read_form
from server.store import Store, StoreError
from server.store.researchers import Researcher
from server.stored_ledger import ledger_of_survey
from server.studies import templates

EARLIER = Path(__file__).parents[1] / "analysis/earlier_releases/1.0"
#: One pseudonym.
PERSON = "ab" * 16


def second(folder: Path, name: str) -> Survey:
    """Return a survey of an earlier release as its author would publish it by the second format."""
    text = (EARLIER / f"{name}.toml").read_text().replace("delta = 0.01\n", "")
    text = text.replace("stable = true", "stable = true\nrequired = true", 1)
    text = text.replace("cap = 12.3456789", "cap = 12.345678")
    file = folder / f"{name}.toml"
    file.write_text("format = 2\n" + text)
    return read_survey(file)


class Panel:
    """A survey of one person, who answers wave after wave as on a device without a memory."""

    def __init__(self, store: Store, survey: Survey, answers: dict[str, str]) -> None:
        self.store, self.answers = store, answers
        self.name = survey.id
        store.surveys.publish(survey)
        self.client: FlaskClient = create_app({"DATABASE": store.database.place}).test_client()

    def answer(self, survey: Survey, wave: int) -> int:
        """Send the report of a wave, and return the status of the answer."""
        self.store.surveys.open_wave(self.name, wave)
        (one,) = payloads(survey, [self.answers], wave, 1)
        path = f"/api/surveys/{self.name}/reports"
        return self.client.post(path, json={**one, "respondent": PERSON}).status_code

    def row(self) -> Any:
        """Return the only row of the ledger."""
        (row,) = ledger_of_survey(self.store, self.name)
        return row


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "deniable.db", create=True)
    yield store
    assert list(store.upkeep.discrepancies(date.today())) == []
    store.close()


def test_reports_with_a_delta_are_taken_as_stated_and_printed_as_they_are(store: Store) -> None:
    survey = read_survey(EARLIER / "noise-with-delta.toml")
    panel = Panel(store, survey, {"hours": "40"})
    assert {panel.answer(survey, wave) for wave in range(1, 201)} == {201}
    assert panel.answer(survey, 201) == 409
    row = panel.row()
    assert (float(row.epsilon_sum), row.waves) == (4.2194, 200)
    assert float(row.cap - row.remaining) == 4.2194
    assert row.above_cap == "yes"
    (total,) = ledger_of_survey(store, survey.id, "total")
    assert total.above_cap == "yes"
    (question,) = ledger_of_survey(store, survey.id, "question")
    assert (float(question.epsilon), float(question.spent_most)) == (0.021097, 4.2194)


def test_noise_of_the_second_format_is_taken_up_to_its_cap(store: Store, tmp_path: Path) -> None:
    survey = second(tmp_path, "noise-with-delta")
    panel = Panel(store, survey, {"hours": "40"})
    statuses = [panel.answer(survey, wave) for wave in range(1, 202)]
    assert statuses == [201] * 200 + [409]
    row = panel.row()
    assert (float(row.epsilon_sum), float(row.remaining), row.above_cap) == (0.2, 0, "no")


def test_what_was_spent_by_the_first_format_counts_by_the_second(
    store: Store, tmp_path: Path
) -> None:
    first, later = (
        read_survey(EARLIER / "noise-with-delta.toml"),
        second(tmp_path, "noise-with-delta"),
    )
    panel = Panel(store, first, {"hours": "40"})
    assert {panel.answer(first, wave) for wave in (1, 2)} == {201}
    with pytest.raises(StoreError, match="changes those of hours"):
        store.surveys.publish(later)
    assert store.surveys.versions(first.id) == [first.version]
    store.surveys.publish(later, new_prices=True)
    assert panel.answer(later, 3) == 201
    # Two reports of ε = .021097 and one of .001: the third wave also charged what was missing.
    assert float(panel.row().epsilon_sum) == 0.043194
    (spent,) = [one for one in store.ledger.spends(first.id) if one.terms == later.terms]
    assert spent.charged == 43_194 - 2 * 1_000
    # A report that a device drew before is taken by the rule that it was drawn by.
    assert panel.answer(first, 4) == 201


def test_every_version_of_the_first_format_is_taken_as_it_was_published(
    store: Store, tmp_path: Path
) -> None:
    text = (EARLIER / "stable-with-skips.toml").read_text().replace("cap = 2", "cap = 5")
    file = tmp_path / "required.toml"
    file.write_text(text)
    first = read_survey(file)
    file.write_text(text + "required = true\n")
    later = read_survey(file)
    panel = Panel(store, first, {"born-here": "yes"})
    assert {panel.answer(first, wave) for wave in range(1, 5)} == {201}
    store.surveys.publish(later)
    # 1.979596 were charged and 4.345293 cost: a device that drew this before is not refused.
    assert panel.answer(later, 5) == 201
    assert panel.row().above_cap == "yes"


def test_waves_of_a_stable_answer_that_can_be_skipped_are_printed_as_they_are(
    store: Store,
) -> None:
    survey = read_survey(EARLIER / "stable-with-skips.toml")
    panel = Panel(store, survey, {"born-here": "yes"})
    assert {panel.answer(survey, wave) for wave in range(1, 5)} == {201}
    row = panel.row()
    assert (sum(one.charged for one in store.ledger.spends(survey.id)), row.above_cap) == (
        1_979_596,
        "yes",
    )
    assert float(row.epsilon) == 4.345293
    assert float(row.epsilon_if_constant) == 1.979596


def test_a_report_that_an_earlier_device_drew_at_the_end_of_a_cap_is_taken(store: Store) -> None:
    survey = read_survey(EARLIER / "fine-cap.toml")
    panel = Panel(store, survey, {"meat": "yes"})
    assert [panel.answer(survey, wave) for wave in (1, 2, 3)] == [201, 201, 409]
    row = panel.row()
    assert (str(row.cap), str(row.remaining), row.above_cap) == ("1.999999", "-0.000001", "yes")


def test_new_prices_must_be_confirmed_on_the_command_line_and_by_serve(
    tmp_path: Path, store: Store
) -> None:
    database = tmp_path / "deniable.db"
    first = read_survey(EARLIER / "noise-with-delta.toml")
    second(tmp_path, first.id)
    file = tmp_path / f"{first.id}.toml"
    panel = Panel(store, first, {"hours": "40"})
    # Nobody has answered, so nobody was promised a price.
    assert run("publish", file, "--db", tmp_path / "other.db").exit_code == 0
    assert panel.answer(first, 1) == 201
    assert "confirm the new prices" in refused("publish", file, "--db", database)
    assert "confirm the new prices" in refused("serve", file, "--db", database, "--port", 0)
    assert store.surveys.versions(first.id) == [first.version]
    (row,) = table(run("publish", file, "--new-prices", "--db", database))
    assert row["new"] == "yes"
    # The version that people answered can be asked again.
    (row,) = table(run("publish", EARLIER / f"{first.id}.toml", "--db", database))
    assert (row["version"], row["new"]) == (first.version, "no")


def test_commands_say_if_nobody_can_answer(tmp_path: Path) -> None:
    file, database = tmp_path / "file.toml", tmp_path / "deniable.db"
    text = (EARLIER / "noise-with-delta.toml").read_text()
    file.write_text(text.replace("cap = 0.2", "cap = 0.021"))
    (tmp_path / "answers.csv").write_text("hours\n40\n")
    told = (
        "nobody could answer: one wave costs ε = 0.021097, more than the cap of 0.021. Devices "
        "draw no report that exceeds it. State cap = 0.021097 or more in [privacy]"
    )
    answers = ["--answers", tmp_path / "answers.csv"]
    for words in (["check", file], ["publish", file], ["simulate", file, *answers]):
        result = run(*words, *["--db", database] * (words[0] != "check"))
        assert (result.exit_code, told in result.stderr) == (0, True), result.stderr
    file.write_text(text.replace("cap = 0.2", "cap = 0.021097"))
    assert "nobody could answer" not in run("publish", file, "--db", database).stderr


def test_publish_says_how_many_cannot_answer_again(tmp_path: Path, store: Store) -> None:
    first = read_survey(EARLIER / "noise-with-delta.toml")
    panel = Panel(store, first, {"hours": "40"})
    assert {panel.answer(first, wave) for wave in range(1, 10)} == {201}
    # Nine reports of ε = .021097, and then one of .001.
    second(tmp_path, first.id)
    file, database = tmp_path / f"{first.id}.toml", tmp_path / "deniable.db"
    file.write_text(file.read_text().replace("cap = 0.2", "cap = 0.1909"))
    told = "1 of 1 respondents so far cannot answer another wave, which would exceed the smallest"
    result = run("publish", file, "--new-prices", "--db", database)
    assert (result.exit_code, told in result.stderr) == (0, False)
    assert panel.answer(read_survey(file), 10) == 201
    # A higher cap does not hold for whoever has answered.
    file.write_text(file.read_text().replace("cap = 0.1909", "cap = 5"))
    result = run("publish", file, "--db", database)
    assert (result.exit_code, told in result.stderr) == (0, True)


def test_new_prices_are_asked_for_by_what_was_answered(tmp_path: Path, store: Store) -> None:
    first = read_survey(EARLIER / "noise-with-delta.toml")
    later = second(tmp_path, first.id)
    panel = Panel(store, first, {"hours": "40"})
    store.surveys.publish(later)
    store.surveys.publish(first)
    assert panel.answer(first, 1) == 201
    # The later version is stored already, but nobody has answered it.
    with pytest.raises(StoreError, match="changes those of hours"):
        store.surveys.publish(later)
    store.surveys.publish(later, new_prices=True)
    assert store.surveys.repriced(first) == []


def test_new_prices_must_be_confirmed_in_the_console(tmp_path: Path, store: Store) -> None:
    first, later = (
        read_survey(EARLIER / "noise-with-delta.toml"),
        second(tmp_path, "noise-with-delta"),
    )
    panel = Panel(store, first, {"hours": "40"})
    assert panel.answer(first, 1) == 201
    store.researchers.put(Researcher("ada", "owner"), HASHED)
    text = (tmp_path / f"{first.id}.toml").read_text()
    store.drafts.begin(first.id, text, "ada", "wrote it")
    browser = create_app({"DATABASE": store.database.place}).test_client()
    assert log_in(browser, "ada").status_code == 303
    address = f"/surveys/{first.id}/publish"
    page = browser.get(address, **HTTPS).text
    assert 'name="new-prices" required' in page
    assert "How many hours did you work last week?" in page.partition("Prices change.")[2]
    assert post(browser, address, version=later.version).status_code == 409
    assert store.surveys.versions(first.id) == [first.version]
    confirmed = {"version": later.version, "new-prices": "on"}
    assert post(browser, address, **confirmed).status_code == 303
    assert store.surveys.versions(first.id) == [later.version, first.version]


@pytest.mark.parametrize("name", templates())
def test_templates_are_of_the_second_format(name: str) -> None:
    assert "\nformat = 2\n" in templates()[name].text


def test_a_copy_of_a_survey_keeps_its_format(tmp_path: Path) -> None:
    names = ("noise-and-memory", "noise-with-delta", "working-conditions")
    for number, file in enumerate(EARLIER / f"{name}.toml" for name in names):
        survey = read_survey(file)
        copy = tmp_path / f"{number}.toml"
        tables, _ = survey_tables(survey)
        assert "format" not in tables
        copy.write_text(toml_of(tables))
        assert read_survey(copy).version == survey.version
    tables, _ = survey_tables(second(tmp_path, "noise-and-memory"))
    assert tables["format"] == 2


def test_imported_questionnaires_are_of_the_second_format() -> None:
    form = json.dumps({"title": "T", "pages": [{"elements": [{"type": "boolean", "name": "a"}]}]})
    assert read_form(form.encode(), "form.json").toml.startswith("format = 2\n")
