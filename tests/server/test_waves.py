"""The collector's charges for waves that start from one remembered draw."""

import json
from collections import Counter
from datetime import date
from itertools import permutations
from pathlib import Path

import pytest

from analysis.privacy.ledger import in_epsilon
from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey, spent_on, version_of
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.store import Place, Store
from server.stored_ledger import ledger_of_survey

pytestmark = pytest.mark.both

PANEL = """
format = 2
title = "Panel"
id = "panel"
[privacy]
cap = CAP
[[questions]]
id = "bullied"
kind = "yes-no"
text = "Were you bullied?"
epsilon = 1
epsilon_forever = 2
[[questions]]
id = "born"
kind = "choice"
text = "Where were you born?"
options = [{id = "here", text = "Here"}, {id = "near", text = "Near"}, {id = "far", text = "Far"}]
epsilon = 1
epsilon_forever = 1.5
required = true
stable = true
[[questions]]
id = "mood"
kind = "yes-no"
text = "Are you well?"
epsilon = 0.5
"""
ANSWER = {"bullied": "yes", "born": "near", "mood": "no"}


def panel(tmp_path: Path, cap: float = 50, old: str = "", new: str = "") -> Survey:
    file = tmp_path / "panel.toml"
    file.write_text(PANEL.replace("CAP", str(cap)).replace(old, new))
    return read_survey(file)


def of_first_protocol(survey: Survey) -> Survey:
    """Return the survey as an earlier release would have frozen it."""
    data = json.loads(json.dumps(survey.to_json()))
    del data["survey"]["format"]
    for question in data["survey"]["questions"]:
        question.pop("memory", None)
    return thaw(data, version_of(data))


@pytest.fixture
def empty(database: Place) -> Store:
    return Store(database, create=True)


def answered(store: Store, survey: Survey, wave: int, n: int = 3) -> Counter[str]:
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id, wave)
    people = [ANSWER] * n
    return to_store(store, survey.id, payloads(survey, people, wave, 5), lambda _: None)


def charged(store: Store) -> set[int]:
    totals = Counter[str]()
    for spend in store.ledger.spends("panel"):
        totals[spend.respondent] += spend.charged
    return set(totals.values())


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))), ids=str)
def test_waves_cost_what_is_proved_in_any_order(
    empty: Store, tmp_path: Path, order: tuple[int, ...]
) -> None:
    survey = panel(tmp_path)
    for n, wave in enumerate(order, 1):
        answered(empty, survey, wave)
        assert charged(empty) == {spent_on([(survey, n)])}
    assert list(empty.upkeep.discrepancies(date.today())) == []
    (row, *_) = ledger_of_survey(empty, "panel")
    bullied, born, mood = (question.randomizer for question in survey.questions)
    total = bullied.spent(3) + born.spent(3, stable=True) + 3 * mood.charge
    same = bullied.spent(3, stable=True) + born.spent(3, stable=True) + 3 * mood.charge
    assert (row.epsilon, row.epsilon_if_constant) == (in_epsilon(total), in_epsilon(same))
    assert row.epsilon_sum == in_epsilon(3 * survey.charge)
    assert row.method == "memory"
    assert row.epsilon_if_constant < row.epsilon < row.epsilon_sum


def test_versions_that_share_a_memory_are_charged_together(empty: Store, tmp_path: Path) -> None:
    first = panel(tmp_path)
    reworded = panel(tmp_path, old="Are you well?", new="How are you?")
    assert first.version != reworded.version
    assert set(first.memos) == set(reworded.memos)
    answered(empty, first, 1)
    answered(empty, reworded, 2)
    assert charged(empty) == {spent_on([(first, 2)])}
    assert list(empty.upkeep.discrepancies(date.today())) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{id = "here", text = "Here"}, {id = "near", text = "Near"}',
         '{id = "near", text = "Near"}, {id = "here", text = "Here"}'),
        ("Where were you born?", "Where were you married?"),
        ('id = "near"', 'id = "north"'),
        ('text = "Near"', 'text = "Nearby"'),
    ],
    ids=["order", "wording", "ids", "labels"],
)  # fmt: skip
def test_answers_that_mean_other_inputs_share_no_memory(tmp_path: Path, old: str, new: str) -> None:
    first, other = panel(tmp_path), panel(tmp_path, old=old, new=new)
    assert len(set(first.memos) & set(other.memos)) == 1
    bullied, born, mood = (question.randomizer for question in first.questions)
    assert spent_on([(first, 1), (other, 1)]) == (
        bullied.spent(2) + 2 * born.spent(1, stable=True) + 2 * mood.charge
    )


def test_other_weights_are_another_memory_and_add_up(empty: Store, tmp_path: Path) -> None:
    first = panel(tmp_path)
    other = panel(tmp_path, old="epsilon_forever = 2\n", new="epsilon_forever = 2.5\n")
    unsure = panel(tmp_path, old="stable = true\n", new="")
    for wave, survey in enumerate((first, other, unsure), 1):
        answered(empty, survey, wave)
    memos = [set(one.memos) for one in (first, other, unsure)]
    assert [len(memos[0] & one) for one in memos] == [2, 1, 1]
    bullied, born, mood = (question.randomizer for question in first.questions)
    other_bullied, unsure_born = other.questions[0].randomizer, unsure.questions[1].randomizer
    assert charged(empty) == {
        bullied.spent(2) + other_bullied.spent(1) + 3 * mood.charge
        + born.spent(2, stable=True) + unsure_born.spent(1)
    }  # fmt: skip
    assert list(empty.upkeep.discrepancies(date.today())) == []


def test_the_next_wave_makes_up_for_too_small_a_charge_of_an_earlier_release(
    empty: Store, tmp_path: Path
) -> None:
    swap = '"Here"}, {id = "near", text = "Near"}', '"Near"}, {id = "near", text = "Here"}'
    first, swapped = (of_first_protocol(panel(tmp_path, old=swap[0], new=new)) for new in swap)
    assert set(first.memos) == set(swapped.memos)
    both = [(first, 1), (swapped, 1)]
    for wave, survey in enumerate((first, swapped), 1):
        answered(empty, survey, wave)
    assert charged(empty) == {spent_on(both)}
    # An earlier release took the labels for unchanged.
    short = spent_on(both, trusting=True)
    with empty.database.writing() as connection:
        connection.execute(
            "UPDATE ledger SET charged = ? WHERE terms = ?",
            (short - first.charge, bytes.fromhex(swapped.terms)),
        )
        connection.execute("UPDATE respondent_total SET charged = ?", (short,))
    assert charged(empty) == {short}
    assert list(empty.upkeep.discrepancies(date.today())) == []
    answered(empty, first, 3)
    assert charged(empty) == {spent_on([(first, 2), (swapped, 1)])}
    assert list(empty.upkeep.discrepancies(date.today())) == []


@pytest.mark.parametrize(("short", "stored"), [(0, 3), (1, 0)])
def test_the_wave_that_would_exceed_the_cap_is_refused(
    empty: Store, tmp_path: Path, short: int, stored: int
) -> None:
    exact = spent_on([(panel(tmp_path), 3)])
    survey = panel(tmp_path, cap=(exact - short) / 1e6)
    for wave in (1, 2):
        assert answered(empty, survey, wave)["stored"] == 3
    assert answered(empty, survey, 3)["stored"] == stored


def test_a_wrong_charge_is_found(empty: Store, tmp_path: Path) -> None:
    survey = panel(tmp_path)
    for wave in (1, 2):
        answered(empty, survey, wave)
    empty.database.write(
        "UPDATE ledger SET charged = ? "
        "WHERE respondent = (SELECT respondent FROM ledger ORDER BY respondent LIMIT 1)",
        2 * survey.charge,
    )
    assert list(empty.upkeep.discrepancies(date.today())) == [
        "panel: a respondent was charged another sum than reports cost",
        "panel: the totals are not a recount of the ledger",
    ]


def test_the_same_seed_is_the_same_devices_in_every_wave(tmp_path: Path) -> None:
    survey = panel(tmp_path)
    # A permanent draw cannot be seen, but two cohorts of a text can.
    text = PANEL.replace("CAP", "50") + (
        '[[questions]]\nid = "place"\nkind = "text"\ntext = "Where?"\n'
        'candidates = ["Rome", "Bern"]\nepsilon = 1\nepsilon_forever = 2\n'
    )
    (tmp_path / "text.toml").write_text(text)
    survey = read_survey(tmp_path / "text.toml")
    people = [{**ANSWER, "place": "rome"}] * 40
    waves = [
        [one["reports"]["place"]["cohort"] for one in payloads(survey, people, wave, 5)]
        for wave in (1, 2)
    ]
    assert waves[0] == waves[1]
    assert len(set(waves[0])) > 10
