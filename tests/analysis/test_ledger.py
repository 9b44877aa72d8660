"""Check ledgers: the smallest proved totals, by respondent, question and amount."""

from decimal import Decimal
from math import comb, exp, expm1, log
from pathlib import Path

import pytest

from analysis.privacy.ledger import (
    LEDGERS,
    AnswerRow,
    LedgerRow,
    QuestionRow,
    Spend,
    TotalRow,
    Totals,
    charged_right,
    in_epsilon,
    ledger,
)
from analysis.privacy.ledger.totals import accounts
from analysis.survey.survey import Survey, spent_on
from analysis.survey.survey_file import read_survey

FRESH = '[[questions]]\nid = "{}"\nkind = "yes-no"\ntext = "{}?"\nrequired = true\nepsilon = {}\n'
KEPT = FRESH + "epsilon_forever = 2\n"
NOISY = (
    '[[questions]]\nid = "{}"\nkind = "number"\ntext = "{}?"\nrequired = true\nepsilon = {}\n'
    'min = 0\nmax = 10\nstep = 1\nmechanism = "gaussian"\ndelta = 1e-5\n'
)


def made(tmp_path: Path, *questions: str, cap: float = 200, title: str = "Panel") -> Survey:
    file = tmp_path / "panel.toml"
    head = f'title = "{title}"\nid = "panel"\n[privacy]\ncap = {cap}\n'
    file.write_text(head + "".join(questions))
    return read_survey(file)


def spends(survey: Survey, waves: int, who: str = "aa") -> list[Spend]:
    """Return the spends of a respondent who answered this many waves, as a server charges them."""
    charges = [survey.charge_after([(survey, n)] if n else []) for n in range(waves)]
    return [Spend(who, survey.terms, 1, charge) for charge in charges]


def row_of(survey: Survey, waves: int, delta: float = 1e-6) -> LedgerRow:
    (row,) = ledger(spends(survey, waves), {survey.terms: survey}, survey.cap, delta)
    return row


def delta_of(epsilon: float, survey: Survey, waves: int, memories: tuple[float, ...] = ()) -> float:
    """Return δ(ε) of binary randomized response in some waves, plus one report of a memory."""
    ratio = survey.questions[0].randomizer.ratio
    each, chance = log(ratio), float(ratio / (1 + ratio))
    laws = [(0.0, 1.0)]
    for told in memories:
        up = 1 / (1 + exp(-told))
        laws = [(s + t, m * c) for s, m in laws for t, c in ((told, up), (-told, 1 - up))]
    total = 0.0
    for ones in range(waves + 1):
        mass = comb(waves, ones) * chance**ones * (1 - chance) ** (waves - ones)
        for shift, weight in laws:
            loss = (2 * ones - waves) * each + shift
            total += mass * weight * -expm1(min(0.0, epsilon - loss))
    return total


@pytest.mark.parametrize(("waves", "known"), [(100, "4.7746"), (1000, "19.3447")])
def test_many_reports_cost_what_their_convolution_proves_rounded_up(
    tmp_path: Path, waves: int, known: str
) -> None:
    survey = made(tmp_path, FRESH.format("a", "A", 0.1))
    row = row_of(survey, waves)
    assert (row.method, row.delta) == ("convolution", 1e-6)
    # This is the optimum of Kairouz, Oh and Viswanath, which dp-accounting also gives.
    assert float(row.epsilon) == pytest.approx(float(known), abs=1e-4)
    # In whole millionths it is the least that is proved, except for the padding of floats.
    assert row.epsilon * 1_000_000 % 1 == 0
    assert delta_of(float(row.epsilon), survey, waves) <= 1e-6
    assert delta_of(float(row.epsilon) - 2e-6, survey, waves) > 1e-6
    assert row.epsilon_sum == in_epsilon(waves * survey.charge)
    assert row.epsilon_if_constant == row.epsilon
    assert row.remaining == row.cap - row.epsilon_sum


def test_three_tenths_are_exactly_three_tenths_and_need_no_delta(tmp_path: Path) -> None:
    row = row_of(made(tmp_path, FRESH.format("a", "A", 0.1), cap=0.3), 3)
    assert (row.epsilon, row.remaining, row.delta) == (Decimal("0.3"), Decimal(0), 0)
    assert row.method == "sum"


def test_more_delta_is_never_more_epsilon(tmp_path: Path) -> None:
    survey = made(tmp_path, FRESH.format("a", "A", 0.1))
    rows = [row_of(survey, 100, delta) for delta in (1e-12, 1e-9, 1e-6, 1e-3)]
    assert [row.epsilon for row in rows] == sorted((row.epsilon for row in rows), reverse=True)
    assert [row.delta for row in rows] == [1e-12, 1e-9, 1e-6, 1e-3]


@pytest.mark.parametrize("delta", [0, -1e-6, 1, 2, float("nan"), float("inf")])
def test_impossible_deltas_are_refused(survey: Survey, delta: float) -> None:
    with pytest.raises(ValueError, match="delta must be a number above 0 and below 1, got"):
        ledger([], {survey.terms: survey}, survey.cap, delta)


def test_waves_of_a_memory_count_as_one_report_of_what_they_cost_together(tmp_path: Path) -> None:
    survey = made(tmp_path, FRESH.format("a", "A", 0.1), KEPT.format("b", "B", 1))
    fresh, kept = (question.randomizer for question in survey.questions)
    few = row_of(survey, 3)
    assert (few.method, few.delta) == ("memory", 0)
    assert few.epsilon == in_epsilon(3 * fresh.charge + kept.spent(3))
    assert few.epsilon_if_constant == in_epsilon(3 * fresh.charge + kept.spent(3, stable=True))
    many = row_of(survey, 40)
    assert (many.method, many.delta) == ("memory;convolution", 1e-6)
    for spent, total in (
        (kept.spent(40), many.epsilon),
        (kept.spent(40, stable=True), many.epsilon_if_constant),
    ):
        assert delta_of(float(total), survey, 40, (spent / 1e6,)) <= 1e-6
        assert delta_of(float(total) - 1e-4, survey, 40, (spent / 1e6,)) > 1e-6
    assert many.remaining == many.cap - in_epsilon(spent_on([(survey, 40)]))


def test_a_stable_question_is_taken_at_its_word(tmp_path: Path) -> None:
    survey = made(tmp_path, KEPT.format("b", "B", 1) + "stable = true\n")
    row = row_of(survey, 12)
    assert row.epsilon == row.epsilon_if_constant
    assert row.epsilon == in_epsilon(survey.questions[0].randomizer.spent(12, stable=True))


def test_noise_with_a_delta_is_accounted_by_its_largest_ratio(tmp_path: Path) -> None:
    survey = made(tmp_path, NOISY.replace("1e-5", "0.01").format("a", "A", 1), cap=1000)
    (question,) = survey.questions
    assert question.randomizer.delta > 0
    assert question.randomizer.charge > question.spent(1, stated=True) == 1_000_000
    row = row_of(survey, 3)
    assert (row.method, row.delta) == ("sum", 0)
    assert row.epsilon_sum == row.epsilon == in_epsilon(3 * question.randomizer.charge)
    # Many reports are accounted by their exact law, at the δ of the total alone.
    many = row_of(survey, 200)
    assert (many.method, many.delta) == ("convolution", 1e-6)
    assert many.epsilon < many.epsilon_sum


@pytest.mark.parametrize("waves", [1, 2, 5, 30])
def test_no_total_is_above_what_was_charged(tmp_path: Path, waves: int) -> None:
    survey = made(
        tmp_path,
        *(FRESH.format(name, name, epsilon) for name, epsilon in (("a", 0.1), ("b", 2), ("c", 4))),
        *(KEPT.format(name, name, 1) for name in ("d", "e")),
    )
    row = row_of(survey, waves)
    assert row.epsilon_if_constant <= row.epsilon <= in_epsilon(spent_on([(survey, waves)]))
    assert row.cap - row.remaining == in_epsilon(spent_on([(survey, waves)]))


def two_versions(tmp_path: Path) -> dict[str, Survey]:
    """Return a question drawn anew, with more ε in the second version, and a shared memory."""
    kept = KEPT.format("b", "B", 1)
    newer = made(tmp_path, FRESH.format("a", "A", 0.5), kept, cap=9)
    older = made(tmp_path, FRESH.format("a", "A", 0.1), kept, cap=8)
    return {newer.terms: newer, older.terms: older}


def of_two(versions: dict[str, Survey]) -> list[Spend]:
    """Return the ledger: aa answered both versions, one of them twice; bb only the older, once."""
    newer, older = versions.values()
    first, both = older.charge, spent_on([(older, 1), (newer, 1)])
    return [
        Spend("bb", older.terms, 1, older.charge),
        Spend("aa", newer.terms, 2, spent_on([(older, 1), (newer, 2)]) - first),
        Spend("aa", older.terms, 1, first),
        Spend("cc", newer.terms, 1, both - first),
        Spend("cc", older.terms, 1, first),
    ]


def test_versions_add_up_and_share_their_memory(tmp_path: Path) -> None:
    versions = two_versions(tmp_path)
    newer, older = versions.values()
    rows = ledger(of_two(versions), versions, newer.cap)
    assert [(row.respondent, row.waves, row.reports) for row in rows] == [
        ("aa", 3, 6),
        ("bb", 1, 2),
        ("cc", 2, 4),
    ]
    fresh, kept = (question.randomizer for question in older.questions)
    dear = newer.questions[0].randomizer.charge
    assert rows[0].epsilon == in_epsilon(fresh.charge + 2 * dear + kept.spent(3))
    assert rows[0].epsilon_sum == in_epsilon(older.charge + 2 * newer.charge)
    # The least cap that was promised holds.
    assert [row.cap for row in rows] == [Decimal(8)] * 3
    assert charged_right(accounts(of_two(versions)), versions)
    wrong = [*of_two(versions), Spend("aa", newer.terms, 0, 1)]
    assert not charged_right(accounts(wrong), versions)


def tables(spent: list[Spend], versions: dict[str, Survey]) -> dict[str, list[object]]:
    totals = Totals(versions, next(iter(versions.values())).cap)
    return {by: list(rows(accounts(spent), totals)) for by, (_, rows) in LEDGERS.items()}


def test_questions_show_what_was_promised_beside_what_was_spent(tmp_path: Path) -> None:
    versions = two_versions(tmp_path)
    newer, older = versions.values()
    rows = tables(of_two(versions), versions)["question"]
    assert all(isinstance(row, QuestionRow) for row in rows)
    _, kept = (question.randomizer for question in older.questions)
    new_a, _, _, old_b = rows
    assert isinstance(new_a, QuestionRow)
    assert (new_a.version, new_a.question, new_a.mechanism) == (newer.version, "a", "krr")
    assert (new_a.epsilon_promised, new_a.epsilon) == (Decimal("0.5"), Decimal("0.5"))
    assert (new_a.respondents, new_a.reports, new_a.cap) == (2, 3, Decimal(9))
    assert (new_a.spent_least, new_a.spent_mean, new_a.spent_most) == (
        Decimal("0.5"),
        Decimal("0.75"),
        Decimal(1),
    )
    assert new_a.epsilon_forever is None
    assert isinstance(old_b, QuestionRow)
    assert (old_b.respondents, old_b.reports, old_b.epsilon_forever) == (3, 3, Decimal(2))
    # In both versions together, respondents have used the memory once, twice and three times.
    for stable, shown in (
        (False, (old_b.spent_least, old_b.spent_mean, old_b.spent_most)),
        (
            True,
            (
                old_b.spent_least_if_constant,
                old_b.spent_mean_if_constant,
                old_b.spent_most_if_constant,
            ),
        ),
    ):
        spent = [kept.spent(n, stable) for n in (1, 2, 3)]
        mean = -(-sum(spent) // 3)
        assert shown == tuple(map(in_epsilon, (spent[0], mean, spent[2])))


def test_a_respondents_questions_add_up_to_what_was_charged(tmp_path: Path) -> None:
    versions = two_versions(tmp_path)
    rows = tables(of_two(versions), versions)
    both = list(map(vars, rows["both"]))
    for row in rows["respondent"]:
        assert isinstance(row, LedgerRow)
        answers = [answer for answer in both if answer["respondent"] == row.respondent]
        assert [answer["question"] for answer in answers] == ["a", "b"]
        assert sum(answer["epsilon"] for answer in answers) == row.cap - row.remaining
        assert sum(answer["reports"] for answer in answers) == row.reports
    first = rows["both"][0]
    assert isinstance(first, AnswerRow)
    assert (first.epsilon_promised, first.reports) == (Decimal("0.5"), 3)


def test_distribution_counts_everybody_once_from_the_least_to_the_most(tmp_path: Path) -> None:
    survey = made(tmp_path, FRESH.format("a", "A", 0.1))
    people = [100, 1, 1, 1, 2, 2, 100, 100]
    spent = [spend for row, n in enumerate(people) for spend in spends(survey, n, f"{row:02}")]
    rows = tables(spent, {survey.terms: survey})["total"]
    assert all(isinstance(row, TotalRow) for row in rows)
    cells = [vars(row) for row in rows]
    assert [(row["respondents"], row["share"], row["cumulative_share"]) for row in cells] == [
        (3, 0.375, 0.375),
        (2, 0.25, 0.625),
        (3, 0.375, 1.0),
    ]
    assert [row["method"] for row in cells] == ["sum", "sum", "convolution"]
    assert [row["epsilon_sum"] for row in cells] == [Decimal("0.1"), Decimal("0.2"), Decimal(10)]
    assert {row["cap"] - row["remaining"] - row["epsilon_sum"] for row in cells} == {0}


def test_a_ledger_without_respondents_is_empty(survey: Survey) -> None:
    assert tables([], {survey.terms: survey}) == {by: [] for by in LEDGERS}
