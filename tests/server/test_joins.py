"""No JOIN shows which report came from which pseudonym, however often a survey is republished."""

import json
import sys
from collections import Counter
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.store import Place, Store

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from load import take_in

pytestmark = pytest.mark.both

PEOPLE, WAVES = 5, 2
ANSWER = {"meat": "yes", "dish": "soup", "price": "3"}


def _republished(store: Store, survey_file: Path, title: str) -> Survey:
    text = survey_file.read_text()
    survey_file.write_text(text.replace('title = "Canteen"', f'title = "Canteen {title}"'))
    survey = read_survey(survey_file)
    survey_file.write_text(text)
    assert store.surveys.publish(survey)
    return survey


@pytest.fixture
def attacked(database: Place, survey_file: Path) -> Store:
    """Make a harmless change before each of five respondents, in each of two waves."""
    store = Store(database, create=True)
    for wave in range(1, WAVES + 1):
        for person in range(PEOPLE):
            survey = _republished(store, survey_file, f"{wave}.{person}")
            store.surveys.open_wave(survey.id, wave, alone=True)
            (body,) = payloads(survey, [ANSWER], wave, 1)
            body |= {"respondent": f"{person:02}" * 16, "rid": f"{wave}{person}" * 16}
            assert take_in(store, [_bytes_of(body)], survey) == [201]
    return store


def _bytes_of(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def _columns(store: Store, table: str) -> set[str]:
    rows: Any = store.database.query(f"SELECT * FROM {table} WHERE false")
    return {column[0] for column in rows.description}


def _linked(store: Store, report: str = "report", ledger: str = "ledger") -> int:
    """Return reports that a JOIN on any columns that two tables share links to one pseudonym."""
    linked = set()
    shared = _columns(store, report) & _columns(store, ledger)
    assert "survey" in shared
    for size in range(1, len(shared) + 1):
        for some in combinations(sorted(shared), size):
            using = ", ".join(some)
            pairs = store.database.query(
                f"SELECT DISTINCT rid, respondent FROM {report} JOIN {ledger} USING ({using})"
            ).fetchall()
            respondents = Counter(rid for rid, _ in pairs)
            linked |= {rid for rid, n in respondents.items() if n == 1}
    return len(linked)


def test_no_join_links_a_report_to_a_pseudonym_after_harmless_changes(attacked: Store) -> None:
    assert len(attacked.surveys.versions("canteen")) == PEOPLE * WAVES
    assert _linked(attacked) == 0
    assert {one.submissions for one in attacked.ledger.spends("canteen")} == {WAVES}
    assert list(attacked.upkeep.discrepancies(date.today())) == []


def test_the_join_is_found_if_the_ledger_has_the_version_and_the_wave(attacked: Store) -> None:
    with attacked.database.writing() as connection:
        # This is how earlier releases kept it: the ledger in the order of respondents and waves.
        connection.execute("CREATE TABLE old AS SELECT * FROM report WHERE wave < 0")
        connection.execute("ALTER TABLE old RENAME COLUMN rid TO respondent")
        for wave in range(1, WAVES + 1):
            for person in range(PEOPLE):
                rid = bytes.fromhex(f"{wave}{person}" * 16)
                connection.execute(
                    "INSERT INTO old SELECT survey, ?, version, wave, '' FROM report WHERE rid = ?",
                    (bytes.fromhex(f"{person:02}" * 16), rid),
                )
    assert _linked(attacked, ledger="old") == PEOPLE * WAVES


def test_terms_computed_for_each_report_link_none_either(attacked: Store) -> None:
    # Somebody who has the file can compute the terms of each report's version.
    assert attacked.ledger.respondents("canteen") == {
        survey.terms: PEOPLE for survey in attacked.surveys.by_terms("canteen").values()
    }


def test_terms_follow_prices_and_caps_and_no_text(survey_file: Path) -> None:
    text = survey_file.read_text()

    def terms(old: str, new: str) -> str:
        assert old in text
        survey_file.write_text(text.replace(old, new, 1))
        return read_survey(survey_file).terms

    same = terms("Roast", "Roast")
    assert terms("Roast", "Roast beef") == same
    assert terms("Canteen", "The canteen") == same
    assert terms("cap = 12.0", "cap = 12.5") != same
    assert terms("epsilon = 1.0", "epsilon = 0.9") != same
    assert terms('id = "price"', 'id = "cost"') != same


def test_texts_of_a_memory_are_in_its_terms(tmp_path: Path) -> None:
    def terms(question: str, stable: str, memory: str = "epsilon_forever = 2") -> str:
        (tmp_path / "panel.toml").write_text(
            'title = "Panel"\nid = "panel"\n[privacy]\ncap = 20\n[[questions]]\nid = "a"\n'
            f'kind = "yes-no"\ntext = "{question}"\nepsilon = 1\n{memory}\n'
            f"stable = {stable}\n"
        )
        return read_survey(tmp_path / "panel.toml").terms

    assert terms("Old?", "true") != terms("New?", "true")
    assert terms("Old?", "false") != terms("New?", "false")
    assert terms("Old?", "true") != terms("Old?", "false")
    assert terms("Old?", "false", "") == terms("New?", "false", "")
