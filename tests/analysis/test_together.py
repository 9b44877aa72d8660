"""Check surveys whose questions are drawn together: file, frozen form, price, and estimates."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from analysis.core.epsilon import exp_lower, micro
from analysis.core.errors import SurveyError
from analysis.estimate.columns.of_survey import columns_of
from analysis.estimate.quantity import share_quantity
from analysis.privacy.accounting import PrivacyLoss
from analysis.privacy.meaning.frequencies import most_told
from analysis.privacy.one_wave import Group
from analysis.study.codebook import codebook
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import association_rows
from analysis.study.crosstab.pairs import pairs_of
from analysis.study.hypotheses import independence
from analysis.study.regression import regress
from analysis.survey.check import check
from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey, spent_on, version_of

TABLE = """
[[together]]
id = "work"
questions = ["harassed", "told", "team"]
epsilon = 3.0
epsilon_each = 1.5
"""
QUESTIONS = """
[[questions]]
id = "harassed"
kind = "yes-no"
text = "Were you harassed at work?"
[[questions]]
id = "told"
kind = "yes-no"
text = "Did you tell anybody?"
shows_if = "harassed = 'yes'"
[[questions]]
id = "team"
kind = "choice"
text = "Where do you work?"
required = true
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
[[questions]]
id = "years"
kind = "number"
text = "How many years?"
min = 0
max = 40
step = 1
epsilon = 1
"""
HEAD = 'title = "Work"\nid = "work-life"\n'

Read = Callable[[str], Survey]


@pytest.fixture
def survey(read: Read) -> Survey:
    return read(HEAD + TABLE + QUESTIONS)


def test_a_table_is_priced_as_one_and_the_rest_by_itself(survey: Survey) -> None:
    assert [draw.id for draw in survey.draws] == ["work", "years"]
    assert survey.charge == survey.cap == 4_000_000
    assert spent_on([(survey, 3)]) == 12_000_000
    (joint,) = survey.joint
    assert [question.id for question in joint.questions] == ["harassed", "told", "team"]
    assert micro(joint.randomizer.each) == 1_500_000
    assert [question.randomizer.charge for question in joint.questions] == [1_500_000] * 3
    # Code that looks at one question alone never takes its draw for cheaper than it can be.
    assert PrivacyLoss.of(joint.randomizer).plain.epsilon == pytest.approx(3, abs=1e-6)
    for question in joint.questions:
        assert PrivacyLoss.of(question.randomizer).plain.epsilon == pytest.approx(1.5, abs=1e-6)


def test_questions_that_depend_on_an_answer_count_with_it(survey: Survey) -> None:
    harassed, told, _, years = survey.questions
    (joint,) = survey.joint
    both = joint.randomizer.channel.ratio([0, 1])
    assert exp_lower(Fraction("1.5")) < both <= exp_lower(Fraction(3))
    assert Group.of(survey, harassed).charge == micro(both)
    assert Group.of(survey, told).charge == 1_500_000
    assert Group.of(survey, years).charge == 1_000_000


def test_frozen_form_comes_back(survey: Survey) -> None:
    data = json.loads(json.dumps(survey.to_json()))
    assert sorted(data["randomizers"]) == ["work", "years"]
    thawed = thaw(data, version_of(data))
    assert thawed.version == survey.version
    assert thawed.joint[0].randomizer == survey.joint[0].randomizer
    assert thawed.terms == survey.terms
    assert [q.randomizer for q in thawed.questions] == [q.randomizer for q in survey.questions]


def _at(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_at("survey", "together", 0, "epsilon", to=2.9), "ratio .* must be at most"),
        (_at("survey", "together", 0, "epsilon_each", to=1.4), "each .* must be at most"),
        (_at("survey", "questions", 1, "epsilon", to=1.4), "must be the table's epsilon_each"),
        (_at("survey", "questions", 1, "epsilon_forever", to=9), "the table's epsilon_each"),
        (
            _at("survey", "questions", 2, "mechanism", "name", to="krr"),
            "mechanism must be together",
        ),
        (_at("survey", "questions", 2, "required", to=False), None),
        (_at("survey", "questions", 2, "no_answer", to=True), "does not fit its answers"),
        (
            _at("survey", "together", 0, "id", to="team"),
            "its id must differ from those of all questions",
        ),
        (_at("survey", "together", 0, "questions", 2, to="told"), "in one table only"),
        (
            _at("survey", "together", 0, "questions", 2, to="nobody"),
            "each question must be in the survey",
        ),
        (_at("survey", "together", to=[]), "every question must have a randomizer"),
        (_at("randomizers", "team", to={}), "every question must have a randomizer"),
        (_at("randomizers", "work", "ratio", to=["20", "1"]), "ratio must be"),
        (_at("randomizers", "work", "each", to=["4", "1"]), "each must be"),
        (_at("randomizers", "work", to={}), "joint randomizer must have"),
        (_at("survey", "together", to=None), "together must be a list of tables"),
        (_at("survey", "together", 0, "delta", to=0.5), "together must be a list of tables"),
        (_at("survey", "together", 0, "id", to="__proto__"), "id must be an id of a-z"),
        (_at("survey", "together", 0, "questions", to=["told"]), "it must have from 2 to"),
        (_at("survey", "together", 0, "epsilon", to="9"), "epsilon_each must be at most epsilon"),
        (
            _at("survey", "together", 0, "epsilon", to=1e300),
            "epsilon must be above 0 and at most 20",
        ),
        (_at("survey", "together", 0, "aim", to="best"), "aim must be one of"),
        (
            _at("survey", "questions", 1, "stable", to=True),
            "stable must be left out without a memory",
        ),
        (_at("survey", "questions", 3, "epsilon", to=1e300), "at most 20"),
        (
            _at("randomizers", "work", "channel", "inputs", to=[2**20] * 3),
            "inputs must be at most 1024 each",
        ),
    ],
)
def test_frozen_form_that_reveals_more_than_it_states_is_refused(
    survey: Survey, change: Callable[[Any], None], message: str | None
) -> None:
    data = json.loads(json.dumps(survey.to_json()))
    change(data)
    if message is None:
        assert thaw(data, version_of(data)).charge == survey.charge
        return
    with pytest.raises(ValueError, match=message):
        thaw(data, version_of(data))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epsilon_each = 1.5", "", r"epsilon_each must be a number from 1 \(epsilon / 3"),
        ("epsilon_each = 1.5", "epsilon_each = 0.9", r"epsilon_each must be from 1 \(epsilon / 3"),
        ("epsilon_each = 1.5", "epsilon_each = 3.1", "to epsilon"),
        ("epsilon = 3.0", "epsilon = 0", "epsilon must be from 0.001 to 20"),
        (
            '"told", "team"]',
            '"told", "team", "years"]',
            "kind must be yes-no, choice, choices or",
        ),
        ('"told", "team"]', '"told", "team", "nobody"]', '"nobody" is not one'),
        ('"told", "team"]', '"told", "told"]', 'in one table only, got "told" twice'),
        ('["harassed", "told", "team"]', '["harassed"]', "a list of 2 to 12 ids"),
        ('id = "work"\n', 'id = "team"\n', "id must be different from the ids of all questions"),
        ("epsilon = 3.0", 'epsilon = 3.0\naim = "best"', "aim must be one of both, shares, pairs"),
        ("epsilon = 3.0", "epsilon = 3.0\nasks = 2", "unknown key"),
        ("required = true", "required = true\nepsilon = 1", "epsilon must be left out: .*work"),
        ("required = true", 'required = true\nmechanism = "krr"', "mechanism must be left out"),
        ("required = true", "required = true\nstable = true", "stable must be left out"),
        ('text = "How many years?"', 'text = "?"\nmechanism = "together"', "mechanism must be one"),
    ],
)
def test_mistakes_in_the_file_are_named(read: Read, old: str, new: str, message: str) -> None:
    text = HEAD + TABLE + QUESTIONS
    assert old in text
    with pytest.raises(SurveyError, match=message):
        read(text.replace(old, new, 1))


def test_a_cap_counts_the_table_once(read: Read) -> None:
    text = HEAD + "[privacy]\ncap = 8\n" + TABLE + QUESTIONS
    assert read(text).cap == 8_000_000
    with pytest.raises(SurveyError, match=r"at least 4, the sum of epsilon over all questions and"):
        read(text.replace("cap = 8", "cap = 3.9"))


def test_surveys_without_tables_keep_their_form(read: Read) -> None:
    alone = read(HEAD + QUESTIONS.replace('text = "', 'epsilon = 1\ntext = "', 3))
    assert "together" not in alone.spec
    assert alone.joint == ()
    assert alone.draws == alone.questions


def test_check_compares_with_separate_draws_of_the_same_total(survey: Survey) -> None:
    row = check(survey)[0]
    assert (row.mechanism, row.why) == ("together", "least variance of 7")
    assert row.runner_up == "krr alone at 1: 1.47 × the respondents"
    # At the limit of separate draws it saves nothing, and is no worse.
    assert survey.joint[0].savings == pytest.approx((1.47, 3.69), abs=0.01)


#: Shares of the teams of people who were harassed, and of others.
TEAMS = {"yes": [0.4, 0.5, 0.1], "no": [0.1, 0.5, 0.4]}


def _answers(n: int) -> list[dict[str, str]]:
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(n):
        harassed = "yes" if rng.random() < 0.3 else "no"
        told = ("yes" if rng.random() < 0.5 else "no") if harassed == "yes" else ""
        team = str(rng.choice(["a", "b", "c"], p=TEAMS[harassed]))
        rows.append({"harassed": harassed, "told": told, "team": team, "years": "5"})
    return rows


def test_shares_are_estimated_from_what_devices_send(survey: Survey) -> None:
    rows = _answers(6000)
    sent = [payload["reports"] for payload in payloads(survey, rows, 1, 7)]
    truths = {("harassed", "yes"): 0.3, ("told", "yes"): 0.15, ("team", "b"): 0.5}
    for question in survey.joint[0].questions:
        reports = [report[question.id] for report in sent]
        for report in reports[:200]:
            question.randomizer.check_report(report, "reports")
        packed = question.randomizer.read_many(reports)
        counts = question.randomizer.tally_many(packed)
        shares = question.mechanism.shares(question.randomizer, question.domain)
        supports, trials = shares.count(counts)
        for share, support, n in zip(shares.values, supports, trials, strict=True):
            truth = truths.get((question.id, share.term))
            if truth is not None:
                got = share_quantity(share, int(support), int(n), 1 - 1e-6, "clopper-pearson")
                assert got.interval.low <= truth <= got.interval.high


def test_tables_and_models_of_a_survey_know_its_draw(survey: Survey) -> None:
    rows = _answers(8000)
    sent = [payload["reports"] for payload in payloads(survey, rows, 1, 7)]
    columns = {
        question.id: columns_of(question, [report[question.id] for report in sent])[0]
        for question in survey.questions
    }
    pair = crosstab(columns["harassed"], columns["team"], 1 - 1e-6)
    groups = {"yes": 0.3, "no": 0.7, "no-answer": 0.0}
    for (a, harassed), (b, team) in product(
        enumerate(pair.pairs.first.values), enumerate(pair.pairs.second.values)
    ):
        interval = pair.intervals[a][b]
        share = groups[harassed] * TEAMS.get(harassed, [0, 0, 0])[b]
        assert interval.low <= share <= interval.high, (harassed, team)
        assert interval.high - interval.low < 0.25
    assert independence(columns["harassed"], columns["team"]).p_value < 1e-6
    model = regress("harassed ~ team", columns, {}, confidence_level=1 - 1e-6)
    assert model.converged
    truth = np.log(np.array(TEAMS["yes"]) * 0.3 / (np.array(TEAMS["no"]) * 0.7))
    for term, true in zip(model.terms, [truth[0], *(truth[1:] - truth[0])], strict=False):
        assert (term.conf_low or 9) <= true <= (term.conf_high or -9), term
    # If one question is drawn alone, the draw does not matter.
    apart = replace(columns["team"], place=None)
    beside = [
        association_rows(pairs_of(columns["years"], each), 0.95)
        for each in (columns["team"], apart)
    ]
    assert beside[0] == beside[1]


def test_plans_state_the_limit_and_not_the_law_of_one_question(survey: Survey) -> None:
    harassed = survey.questions[0]
    told = most_told(harassed)
    # e^1.5 = 4.482; the law of its own reports has a ratio of only 3.37.
    assert "more than 4.49 times as likely" in told
    assert "the bound is the ε of the whole draw" in told
    assert float(harassed.randomizer.channel.ratio()) == pytest.approx(3.366, abs=0.01)


def test_many_questions_have_a_meaning_each(read: Read) -> None:
    names = [f"q{number}" for number in range(12)]
    table = f'[[together]]\nid = "t"\nquestions = {json.dumps(names)}\nepsilon = 6\n'
    asked = "".join(
        f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\nrequired = true\n'
        for name in names
    )
    survey = read(HEAD + table + "epsilon_each = 1\n" + asked)
    assert len({question.meaning for question in survey.questions}) == 12


def test_a_misspelt_question_is_named_and_not_another(read: Read) -> None:
    with pytest.raises(
        SurveyError, match='questions must be ids of questions; "tolled" is not one'
    ):
        read(HEAD + TABLE.replace('"told"', '"tolled"') + QUESTIONS)


def test_codes_of_one_draw_are_in_the_codebook(survey: Survey) -> None:
    codes = {(row.question, row.value): row.code for row in codebook(survey)}
    assert [codes["team", value] for value in ("a", "b", "c")] == [0, 1, 2]
    assert codes["told", "no-answer"] == 2
