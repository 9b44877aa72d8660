"""A memory belongs to a meaning: another label is another fact, with its own draws and charge."""

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import log, prod
from pathlib import Path
from typing import Any

import pytest

from analysis.core.channels.window import Window
from analysis.core.errors import SurveyError
from analysis.core.waves import constant_ratio
from analysis.privacy.ledger import Spend, charged_right, ledger
from analysis.privacy.ledger.totals import accounts
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, spent_on, version_of
from analysis.survey.survey_file import read_survey

EARLIER = Path(__file__).parent / "earlier_releases/1.0"
HEAD = 'title = "Panel"\nid = "panel"\n[privacy]\ncap = 90\n'
KEPT = "required = true\nepsilon = 1\nepsilon_forever = 2\n"
STABLE = KEPT + "stable = true\n"
Read = Callable[[str], Survey]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def survey(text: str) -> Survey:
        file = tmp_path / "panel.toml"
        file.write_text(text if "title = " in text else HEAD + text)
        return read_survey(file)

    return survey


def born(labels: tuple[str, ...], kept: str = STABLE) -> str:
    """Return a question whose options keep their ids and have these labels."""
    options = ", ".join(f'{{id = "o{n}", text = "{one}"}}' for n, one in enumerate(labels))
    return (
        '[[questions]]\nid = "born"\nkind = "choice"\ntext = "Where were you born?"\n'
        f'mechanism = "krr"\noptions = [{options}]\n{kept}'
    )


def of_first_protocol(survey: Survey) -> Survey:
    """Return the survey as an earlier release would have frozen it."""
    data = json.loads(json.dumps(survey.to_json()))
    for question in data["survey"]["questions"]:
        question.pop("memory", None)
    return thaw(data, version_of(data))


def rotations(read: Read, labels: tuple[str, ...], kept: str = STABLE) -> list[Survey]:
    """Return versions, each of which shows every label at the next id."""
    turned = [labels[n:] + labels[:n] for n in range(len(labels))]
    return [read(born(labels, kept)) for labels in turned]


def chance(
    permanent: Window, instant: Window, reports: tuple[int, ...], history: tuple[int, ...]
) -> Fraction:
    """Return the probability of the reports if each input has one kept symbol in its waves."""
    total = Fraction(1)
    for given in set(history):
        waves = [wave for wave, value in enumerate(history) if value == given]
        share = Fraction(0)
        for kept, weight in enumerate(permanent.weights(given)):
            told = (Fraction(instant.weights(kept)[reports[wave]], instant.total) for wave in waves)
            share += Fraction(weight, permanent.total) * prod(told, start=Fraction(1))
        total *= share
    return total


def truth(stages: tuple[Window, Window], rotated: list[int], k: int) -> Fraction:
    """Return the largest ratio of all reports under two constant facts with rotated labels."""
    facts = [tuple((fact + turn) % k for turn in rotated) for fact in range(k)]
    largest = Fraction(0)
    for reports in product(range(k), repeat=len(rotated)):
        chances = [chance(*stages, reports, history) for history in facts]
        largest = max(largest, max(chances) / min(chances))
    return largest


def test_two_options_swapped_over_eight_waves_cost_what_they_reveal(read: Read) -> None:
    versions = rotations(read, ("Here", "There"))
    stages = versions[0].questions[0].randomizer.stages
    assert stages is not None
    told = truth(stages, [0, 1] * 4, 2)
    assert log(told) == pytest.approx(3.9487, abs=5e-5)
    # When labels were left out, the swaps were charged as one fact.
    assert spent_on([(versions[0], 8)]) / 1e6 == pytest.approx(1.9999, abs=5e-5)
    charged = spent_on([(version, 4) for version in versions])
    assert charged / 1e6 >= log(told)
    assert charged / 1e6 == pytest.approx(3.9487, abs=5e-5)


def test_four_options_rotated_over_32_waves_cost_what_they_reveal(read: Read) -> None:
    versions = rotations(read, ("North", "East", "South", "West"))
    stages = versions[0].questions[0].randomizer.stages
    assert stages is not None
    # Each version reveals as much as a constant answer, and their ratios multiply.
    assert truth(stages, [0, 1, 2, 3], 4) == constant_ratio(*stages, (), 1) ** 4
    told = 4 * log(constant_ratio(*stages, (), 8))
    assert told == pytest.approx(7.9999, abs=5e-4)
    charged = spent_on([(version, 8) for version in versions])
    assert told <= charged / 1e6 < told + 1e-5


@pytest.mark.parametrize(("labels", "waves"), [(("Here", "There"), 4), (("A", "B", "C", "D"), 1)])
def test_a_memory_of_the_first_protocol_costs_at_least_what_its_labels_reveal(
    read: Read, labels: tuple[str, ...], waves: int
) -> None:
    versions = [of_first_protocol(version) for version in rotations(read, labels)]
    assert len({version.questions[0].memo for version in versions}) == 1
    assert len({version.questions[0].meaning for version in versions}) == len(labels)
    stages = versions[0].questions[0].randomizer.stages
    assert stages is not None
    told = truth(stages, list(range(len(labels))) * waves, len(labels))
    answered = [(version, waves) for version in versions]
    assert spent_on(answered) / 1e6 >= log(told) > spent_on(answered, trusting=True) / 1e6
    # Even if no answer ever changed, the inputs did.
    assert spent_on(answered, stable=True) == spent_on(answered)
    # If labels agree, the price stays the same.
    whole = waves * len(labels)
    randomizer = versions[0].questions[0].randomizer
    assert spent_on([(versions[0], whole)]) == randomizer.spent(whole, stable=True)


def test_charges_of_waves_add_up_in_any_order_of_labels(read: Read) -> None:
    first, other = (of_first_protocol(version) for version in rotations(read, ("Here", "There")))
    for order in product((first, other), repeat=4):
        charged = 0
        for n, survey in enumerate(order):
            before = [(version, order[:n].count(version)) for version in (first, other)]
            charged += survey.charge_after(before, charged)
        assert charged == spent_on([(version, order.count(version)) for version in (first, other)])


def test_the_next_wave_also_costs_what_an_earlier_release_missed(read: Read) -> None:
    first, other = (of_first_protocol(version) for version in rotations(read, ("Here", "There")))
    surveys = {survey.terms: survey for survey in (first, other)}
    assert len(surveys) == 2
    answered = [(first, 1), (other, 1)]
    short = spent_on(answered, trusting=True)
    assert short < spent_on(answered)
    spends = [
        Spend("aa", first.terms, 1, first.charge),
        Spend("aa", other.terms, 1, short - first.charge),
    ]
    assert charged_right(accounts(spends), surveys)
    (row,) = ledger(spends, surveys, first.cap)
    # An amount that was not charged cannot be spent.
    assert row.epsilon * 1_000_000 == (row.cap - row.remaining) * 1_000_000 == spent_on(answered)
    charge = first.charge_after(answered, short)
    assert short + charge == spent_on([(first, 2), (other, 1)])
    spends.append(Spend("aa", first.terms, 1, charge))
    assert charged_right(accounts(spends), surveys)
    for wrong in (short - 1, short + 1, 0):
        damaged = [spends[0], Spend("aa", other.terms, 1, wrong - first.charge)]
        assert not charged_right(accounts(damaged), surveys)


def test_a_charge_that_was_too_large_is_not_refunded(read: Read) -> None:
    survey = read(born(("Here", "There")))
    usual = survey.charge_after([(survey, 1)])
    assert survey.charge_after([(survey, 1)], 10 * survey.charge) == usual


TWO = """[[questions]]
id = "first"
kind = "yes-no"
text = "Are you here?"
section = "Now"
epsilon = 1
[[questions]]
id = "hello"
kind = "note"
text = "Think of all your life."
help = "All of it."
[[questions]]
id = "owed"
kind = "number"
text = "How much did you owe?"
help = "To anybody."
unit = "euros"
min = 0
max = 1000
step = 10
"""
AFTER = '[[questions]]\nid = "bye"\nkind = "note"\ntext = "Thank you."\n'


@pytest.mark.parametrize("kept", [STABLE, KEPT], ids=["stable", "changing"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("How much did you owe?", "How much do you owe?"),
        ("To anybody.", "To your bank."),
        ('unit = "euros"', 'unit = "cents"'),
        ('unit = "euros"\n', ""),
        ("step = 10", "step = 1"),
        ("max = 1000", "max = 2000"),
        ('section = "Now"', 'section = "Last year"'),
        ('section = "Now"\n', ""),
        ('unit = "euros"', 'unit = "euros"\nsection = "At home"'),
        ("Think of all your life.", "Think of last year."),
        ('help = "All of it."\n', ""),
        ('kind = "note"\n', 'kind = "note"\nshows_if = "first = \'yes\'"\n'),
        ("epsilon_forever = 2", "epsilon_forever = 3"),
    ],
)
def test_a_changed_meaning_starts_a_new_memory(read: Read, kept: str, old: str, new: str) -> None:
    whole = TWO + kept + AFTER
    assert old in whole
    memos = [set(read(text).memos) for text in (whole, whole.replace(old, new))]
    assert [len(keys) for keys in memos] == [1, 1]
    assert not memos[0] & memos[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title = "Panel"', 'title = "Our panel"'),
        ("cap = 90", "cap = 91"),
        ("Are you here?", "Are you there?"),
        ("Thank you.", "Good bye."),
        ('unit = "euros"', 'unit = "euros"\nslider = true\nnew_page = true'),
        ('unit = "euros"', 'unit = "euros"\nsection = "Now"'),
    ],
)
def test_changes_of_display_or_price_keep_the_memory(read: Read, old: str, new: str) -> None:
    whole = TWO + STABLE + AFTER
    survey, other = (read(text) for text in (HEAD + whole, (HEAD + whole).replace(old, new)))
    assert survey.version != other.version
    assert set(survey.memos) == set(other.memos)


GRID = "".join(
    f"""[[questions]]
id = "{name}"
kind = "scale"
text = "{name}?"
matrix = "How often are you ..."
points = ["never", "often"]
{'help = "At work."' if name == "glad" else ""}
{STABLE}"""
    for name in ("glad", "sad")
)


@pytest.mark.parametrize(
    ("old", "new"), [("How often are", "Are"), ("At work.", "At home."), ('"often"', '"always"')]
)
def test_a_matrix_and_its_help_are_part_of_every_row(read: Read, old: str, new: str) -> None:
    survey, other = read(GRID), read(GRID.replace(old, new))
    assert len(survey.memos) == 2
    assert not set(survey.memos) & set(other.memos)


def test_a_translation_is_part_of_the_meaning(read: Read) -> None:
    head = 'languages = ["en", "fr"]\n' + HEAD
    texts = '{en = "Where were you born?", fr = "Où êtes-vous né ?"}'
    whole = head + born(("Here", "There")).replace('"Where were you born?"', texts)
    survey, other = (read(text) for text in (whole, whole.replace("Où êtes", "Quand êtes")))
    assert not set(survey.memos) & set(other.memos)


def test_a_frozen_survey_without_a_name_keeps_its_draws() -> None:
    survey = read_survey(EARLIER / "staff-panel.toml")
    assert [q.spec.get("memory") for q in survey.questions if q.memo] == [2, 2, 2]
    first = of_first_protocol(survey)
    # This is the form that the release before wrote.
    assert first.version == "0f349d7bd5be1ad6b9a97c2172ffc40b372d2571cd5a487c9939087aaa3a6f62"
    assert set(first.memos) == {
        "shouted:7aa53ce464be52fbb91544a7f44a2db2d473aeeada13ec2aa301e0fb2af06fc0",
        "leave:539527f3adb9f7dc16761713e3234c0f2a733b4977f7f51d60242a729f849bf7",
        "reported:3e744295b9bf0c1439f19a5895497a2463d63f17aac8b4beb03cb83566804d6a",
    }
    meanings = [{question.meaning for question in version.questions} for version in (survey, first)]
    assert meanings[0] == meanings[1]


def test_authors_cannot_name_the_protocol(read: Read) -> None:
    with pytest.raises(SurveyError, match='question "born": unknown key "memory"'):
        read(born(("Here", "There")) + "memory = 1\n")


@pytest.mark.parametrize("name", [1, 3, True, "2", None, 2.5])
def test_an_unknown_protocol_is_refused(read: Read, name: Any) -> None:
    data = json.loads(json.dumps(read(born(("Here", "There"))).to_json()))
    data["survey"]["questions"][0]["memory"] = name
    with pytest.raises(ValueError, match="question born: memory must be 2, or left out"):
        thaw(data, version_of(data))


def test_a_protocol_without_a_memory_is_refused(read: Read) -> None:
    data = json.loads(json.dumps(read(born(("Here", "There"), "epsilon = 1\n")).to_json()))
    data["survey"]["questions"][0]["memory"] = 2
    with pytest.raises(ValueError, match="question born: memory must be 2, or left out"):
        thaw(data, version_of(data))
