"""Check tables that ask each person some questions: draws, limits, estimates and refusals."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.epsilon import exp_lower
from analysis.core.errors import ReportError, SurveyError
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.memory import Memory
from analysis.core.words import below, seeded_words
from analysis.estimate.columns.of_survey import columns_of, debiasing
from analysis.estimate.estimates import estimates
from analysis.estimate.plausibility import plausibility, sizes_of
from analysis.mechanisms.joint_design import share_variances
from analysis.mechanisms.selection import variance
from analysis.privacy.meaning import odds
from analysis.study.planning.together import possible_draws, tradeoffs
from analysis.survey.check import check
from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey, version_of
from server.explanation import explained

TABLE = """
title = "Work"
id = "work-life"
[[together]]
id = "work"
questions = ["a", "b", "c", "d"]
epsilon = 3.0
epsilon_each = 2.0
ask = 2
"""
SCALE = 'kind = "scale"\npoints = ["never", "at times", "often"]'


def asked(name: str, more: str = "") -> str:
    return f'[[questions]]\nid = "{name}"\ntext = "{name}?"\n{SCALE}\n{more}\n'


FILE = TABLE + asked("a") + asked("b", "shows_if = \"a = '3'\"") + asked("c") + asked("d")
CHOICES = 'kind = "choices"\noptions = [{id = "x", text = "x"}, {id = "y", text = "y"}]'
#: The same table, but the third and the fourth question have more answers than the others.
MIXED = FILE
for _name in "cd":
    MIXED = MIXED.replace(asked(_name), asked(_name).replace('"often"', '"often", "always"'))
Read = Callable[[str], Survey]


@pytest.fixture(params=[FILE, MIXED], ids=["alike", "mixed"])
def survey(read: Read, request: pytest.FixtureRequest) -> Survey:
    return read(request.param)


@pytest.mark.parametrize("size", [1, 2])
def test_reports_show_who_was_asked(size: int) -> None:
    channel = SampledSubset(4, size, 5, 2, Fraction(3, 7))
    exact = dict(channel.distribution(0))
    sent, chances = [list(report) for report in exact], [float(one) for one in exact.values()]
    read, counts = channel.read_many(sent), channel.count_many(channel.read_many(sent))
    assert channel.asked_many(read).tolist() == [len(report) > 0 for report in sent]
    assert (channel.reports_in(counts), channel.asked_in(counts)) == (len(sent), len(sent) - 1)
    told, stated = channel.sizes_many(read), channel.size_chances(0)
    if size == 1:
        assert told is None
        assert stated is None
    else:
        assert told is not None
        assert stated == pytest.approx(np.bincount(told, chances, channel.symbols + 1))
    assert all(
        tuple(channel.randomize(0, seeded_words("one", number))) in exact for number in range(50)
    )
    for bad in ([4], [1, 0], [0, 1, 2], None, "", [0] * (3 - size)):
        with pytest.raises(ReportError):
            channel.check_report(bad, "reports.q")


def test_whoever_is_asked_a_question_is_asked_what_it_depends_on(survey: Survey) -> None:
    (draw,) = survey.joint
    assert draw.samples == ((0, 1), (0, 2), (0, 3), (2, 3))
    portions = [question.randomizer.channel.portion for question in survey.questions]
    assert portions == [Fraction(3, 4), Fraction(1, 4), Fraction(1, 2), Fraction(1, 2)]


def test_both_limits_hold_for_all_answers_whatever_is_asked(survey: Survey) -> None:
    (draw,) = survey.joint
    joint, both, one = draw.randomizer, list[Fraction](), list[Fraction]()
    # Which questions are asked depends on no answer, so each set of them has a law of its own.
    for pattern in set(joint.laws):
        rows = list(product(*map(range, pattern.inputs)))
        laws = {row: dict(pattern.distribution(row)) for row in rows}
        for x, y in product(rows, repeat=2):
            ratio = max(laws[x][report] / laws[y][report] for report in laws[x])
            both.append(ratio)
            if sum(i != j for i, j in zip(x, y, strict=True)) == 1:
                one.append(ratio)
    assert max(both) == joint.ratio <= exp_lower(Fraction(3))
    assert max(one) == joint.each <= exp_lower(Fraction(2))
    assert draw.ratio_of(survey.questions) == joint.ratio
    for question in survey.questions:
        assert draw.ratio_of([question]) == question.randomizer.ratio


def test_shares_and_means_are_unbiased(survey: Survey) -> None:
    for question in survey.questions:
        law, mechanism = question.randomizer, question.mechanism
        shares = mechanism.shares(law, question.domain)
        (mean,) = mechanism.means(law, question.domain)
        k = question.randomizer.channel.inputs
        for value in range(k):
            expected, _ = law.channel.moments(value)
            supports, trials = expected[:k], float(law.channel.portion)
            for at, share in enumerate(shares.values):
                p, q = share.chances
                assert share.portion == law.channel.portion
                assert (supports[at] / trials - q) / (p - q) == pytest.approx(float(at == value))
            scores = np.array(mean.scores, dtype=float)
            present = np.array(mean.present, dtype=float)
            assert expected @ present == pytest.approx(float(value < k - 1))
            assert expected @ scores == pytest.approx([*np.linspace(0, 1, k - 1), 0][value])
        counts = np.array([[7, 2, 4, 3, *[0] * (k - 4), 9]]) * law.channel.size
        counts[0, -1] = 9
        assert shares.count(counts)[1].tolist() == [16] * k
        assert (law.asked_in(counts), law.reports_in(counts)) == (16, 25)


@pytest.mark.parametrize("epsilon", ["0.9", "3.0"])
def test_products_of_counts_of_one_report_follow_the_law(read: Read, epsilon: str) -> None:
    each = f"epsilon_each = {float(epsilon) / 1.5}"
    text = FILE.replace("epsilon = 3.0", f"epsilon = {epsilon}")
    survey = read(text.replace("epsilon_each = 2.0", each))
    question = survey.questions[2]
    law, n = question.randomizer, 1_000_000
    (mean,) = question.mechanism.means(law, question.domain)
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    moments = [law.channel.moments(value) for value in range(4)]
    known = [share * mean for share, (mean, _) in zip(shares, moments, strict=True)]
    counts = np.round(n * np.sum(known, axis=0))
    assert law.channel.size == (2 if epsilon == "0.9" else 1)
    assert (mean.second is None) == (law.channel.size == 1)
    if mean.second is not None:
        exact = sum(share * second for share, (_, second) in zip(shares, moments, strict=True))
        assert mean.second(counts[None].astype(int)) == pytest.approx(exact, abs=1e-4)


def simulated(survey: Survey, n: int) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    rng, rows = np.random.default_rng(1), []
    for _ in range(n):
        a, c = rng.integers(1, 4, 2)
        d = c if rng.random() < 0.7 else rng.integers(1, 4)
        rows.append({"a": str(a), "b": str(rng.integers(1, 4)), "c": str(c), "d": str(d)})
    return rows, [one["reports"] for one in payloads(survey, rows, 1, seed=2)]


def test_estimates_are_of_the_people_who_were_asked(survey: Survey) -> None:
    rows, sent = simulated(survey, 5000)
    tallies = {
        one.id: one.randomizer.tally_many(one.randomizer.read_many([row[one.id] for row in sent]))
        for one in survey.questions
    }
    found = estimates(survey, tallies, confidence_level=1 - 1e-6)
    for row in found:
        if row.question == "b":
            continue
        assert row.n == sum(bool(one[row.question]) for one in sent)
        # The people who are asked are some of all people: intervals at 1 - 1e-6 cover both shares.
        values = np.array([int(one[row.question]) for one in rows])
        true = {"mean": values.mean(), "no-answer": 0}.get(row.term)
        true = np.mean(values == int(row.term)) if true is None else true
        assert row.conf_low <= true <= row.conf_high, row
    assert not [row for row in plausibility(survey, tallies) if row.p_value < 1e-6]
    assert len({tuple(bool(one[name]) for name in "abcd") for one in sent}) == 4


@pytest.mark.parametrize("epsilon", [0.9, 3.0])
def test_sizes_of_reports_look_as_they_are_drawn(read: Read, epsilon: float) -> None:
    text = FILE.replace("epsilon = 3.0", f"epsilon = {epsilon}")
    survey = read(text.replace("epsilon_each = 2.0", f"epsilon_each = {epsilon / 1.5}"))
    _, sent = simulated(survey, 3000)

    def checked(sent: list[dict[str, Any]]) -> list[str]:
        tallies = {
            q.id: q.randomizer.tally_many(q.randomizer.read_many([row[q.id] for row in sent]))
            for q in survey.questions
        }
        rows = plausibility(survey, tallies, sizes_of(survey, sent))
        return [f"{row.question} {row.check}" for row in rows if row.p_value < 1e-6]

    assert checked(sent) == []
    # If all fakes are about the same questions, these are asked more often than devices ask them.
    told = [one for one in sent if one["c"] and one["d"]]
    assert any(found.startswith("c ") for found in checked([*sent, *told, *told]))


def test_variances_count_people_who_are_not_asked(survey: Survey) -> None:
    for question in survey.questions:
        shares = question.mechanism.shares(question.randomizer, question.domain).values
        found = variance(question.mechanism, question.randomizer, question.domain, {})
        # An estimate is of the people who are asked, so n times its variance is divided by their
        # part.
        assert found == pytest.approx(np.mean([share.variance(0.25) for share in shares]), rel=0.35)
    by_question = {row.question: row for row in check(survey)}
    # The second question is asked of a third as many people as the first.
    assert by_question["b"].variance > 2.5 * by_question["a"].variance


def test_columns_are_of_people_who_were_asked(survey: Survey) -> None:
    _, sent = simulated(survey, 100)
    question = survey.questions[1]
    with pytest.raises(ValueError, match=r"b: expected reports of people who were asked, got \d+"):
        columns_of(question, [one["b"] for one in sent])
    asked = [one["b"] for one in sent if one["b"]]
    assert columns_of(question, asked)[0].n == len(asked)


def test_reports_on_questions_that_are_not_asked_together_are_refused(survey: Survey) -> None:
    (draw,) = survey.joint
    size = survey.questions[0].randomizer.channel.size
    there, empty = list(range(size)), list[int]()
    for chosen in combinations(range(4), 2):
        reports = {name: there if at in chosen else empty for at, name in enumerate("abcd")}
        if chosen in draw.samples:
            draw.check_asked(reports)
            continue
        with pytest.raises(ReportError, match=r"reports on 2 of 4 questions of \"work\""):
            draw.check_asked(reports)
    for wrong in ("", "a", "acd", "abcd"):
        with pytest.raises(ReportError, match=f"got reports on {len(wrong)}"):
            draw.check_asked({name: there if name in wrong else empty for name in "abcd"})


def test_frozen_form_is_checked(survey: Survey) -> None:
    again = thaw(survey.to_json(), survey.version)
    assert again.joint[0].randomizer == survey.joint[0].randomizer
    parts, number = "together work: ", "whole number from 2 to one less"
    for change, said in (
        ({"ask": 3}, parts),
        ({"ask": None}, parts),
        ({"ask": 4}, number),
        ({"ask": 1}, number),
        ({"ask": True}, number),
    ):
        data = survey.to_json()
        table = {**data["survey"]["together"][0], **change}
        data["survey"] |= {"together": [{k: v for k, v in table.items() if v is not None}]}
        with pytest.raises(ValueError, match=said):
            thaw(data, version_of(data))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ask = 2", "ask = 4", "ask must be a whole number from 2 to 3"),
        ("ask = 2", "ask = 1", "ask must be a whole number from 2 to 3"),
        ("ask = 2", "ask = 2.0", "ask must be a whole number from 2 to 3"),
        ("epsilon_each = 2.0", "epsilon_each = 1.4", r"from 1.5 \(epsilon / 2"),
        (
            asked("c"),
            asked("c").replace(SCALE, CHOICES),
            "ask must be left out where one of the questions is of kind choices",
        ),
        (
            asked("d"),
            asked("d") + asked("e", "epsilon = 1\nshows_if = \"d = '1'\""),
            'since "e" is shown after the answer to "d", which not everybody is asked',
        ),
        (
            asked("c"),
            asked("c", "shows_if = \"a = '1' and b = '1'\""),
            'a larger number, since "c" is asked with all questions that it depends on',
        ),
    ],
)
def test_mistakes_in_the_file_are_named(read: Read, old: str, new: str, message: str) -> None:
    assert old in FILE
    with pytest.raises(SurveyError, match=message):
        read(FILE.replace(old, new, 1))


def test_more_designs_than_can_be_made_in_a_moment_are_refused(read: Read) -> None:
    names = [f"q{number}" for number in range(8)]
    text = TABLE.replace('["a", "b", "c", "d"]', str(names).replace("'", '"'))
    for more, name in enumerate(names):
        words = ", ".join(f'"{word}"' for word in range(3 + more))
        text += asked(name).replace('"never", "at times", "often"', words)
    with pytest.raises(SurveyError, match=r"at most 40 designs.* this one needs 56"):
        read(text.replace("ask = 2", "ask = 3"))


def test_plans_count_people_who_are_not_asked(read: Read) -> None:
    survey = read(FILE)
    (draw,) = possible_draws(survey)
    assert len(draw.parts) == 2
    # Of four sets, the questions are in 3, 1, 2 and 2, and each of four pairs is in one.
    assert draw.times == pytest.approx(((4 / 3 + 4 + 2 + 2) / 4, 4, 4))
    own = next(row for row in tradeoffs(draw) if (row.epsilon, row.epsilon_each) == (3, 2))
    channel = survey.joint[0].randomizer.channel
    needed = 1.959964**2 / 0.05**2 * share_variances(channel, draw.parts * 2)[0] * draw.times[0]
    assert own.share == np.ceil(needed)
    # If questions differ, a plan is for those that are asked together most often.
    (draw,) = possible_draws(read(MIXED))
    assert [part.k for part in draw.parts] == [4, 5]


def test_a_question_for_everybody_belongs_to_the_draw(read: Read) -> None:
    # Both other questions depend on the first, so everybody is asked it.
    text = TABLE.replace('"c", "d"]', '"c"]') + asked("a")
    survey = read(text + "".join(asked(name, "shows_if = \"a = '3'\"") for name in "bc"))
    (draw,) = survey.joint
    assert draw.randomizer.portions == (Fraction(1), Fraction(1, 2), Fraction(1, 2))
    first = survey.questions[0]
    assert first.randomizer.portion == 1
    rows = [{"a": "3", "b": "1", "c": "2"}] * 300
    sent = [one["reports"] for one in payloads(survey, rows, 1, seed=2)]
    assert all(one["a"] and bool(one["b"]) != bool(one["c"]) for one in sent)
    (column,) = columns_of(first, [one["a"] for one in sent])
    assert column.n == 300
    assert thaw(survey.to_json(), survey.version).joint[0].randomizer == draw.randomizer


def test_the_page_explains_what_a_report_reveals_if_some_are_asked(survey: Survey) -> None:
    for question in survey.questions:
        assert all(row.portion == 1 for row in odds(question))
        assert not any("about it" in row.sentence for row in odds(question))
        told = [phrase.key for phrase in explained(question, False, joint=survey.joint[0]).before]
        assert "odds.part" not in told


def test_exported_weights_average_to_the_truth(survey: Survey) -> None:
    for question in survey.questions:
        names, weigh = debiasing(question)
        k = question.randomizer.channel.inputs
        assert len(names) == k
        for value in range(k):
            exact = dict(question.randomizer.channel.distribution(value))
            worth = weigh(question.randomizer.read_many([list(report) for report in exact]))
            chances = np.array([float(chance) for chance in exact.values()])
            assert chances @ worth == pytest.approx(np.eye(k)[value], abs=1e-9)


def test_what_is_asked_follows_from_the_secret_and_the_wave(survey: Survey) -> None:
    (draw,) = survey.joint
    found = set()
    for wave in range(1, 30):
        memory = Memory.of(bytes(32), survey.id, draw.id, bytes(32))
        words = Memory.of(bytes(32), survey.id, draw.id, bytes(32)).words("asked", wave)
        asked = draw.asked_of(memory, wave)
        assert asked == draw.samples[below(len(draw.samples), words)]
        found.add(asked)
    assert found == set(draw.samples)


def test_a_draw_that_is_not_the_same_for_all_questions_is_refused(survey: Survey) -> None:
    joint = survey.joint[0].randomizer
    data, samples = joint.to_json(), joint.samples
    assert JointRandomizer.from_json(data, samples) == joint
    with pytest.raises(ValueError, match="must have channel, each, encoders, ratio"):
        JointRandomizer.from_json(data)
    key = max(data["channels"])
    own = data["channels"][key]
    weights = [number << 20 for number in own["weights"]]
    for change, message in (
        ({"weights": [9, 3, 2, 1, 1]}, "weights must be 3 or 4"),
        ({"sizes": [1, own["inputs"][1]]}, "sizes must be less than inputs"),
        ({"inputs": [own["inputs"][0] + 1, own["inputs"][1]]}, "take what the encoders give"),
        ({"weights": weights}, r"pattern: weights must|ratio must be|each must be"),
    ):
        wrong = data | {"channels": data["channels"] | {key: own | change}}
        with pytest.raises(ValueError, match=message):
            JointRandomizer.from_json(wrong, samples)
    without = {name: law for name, law in data["channels"].items() if name != key}
    with pytest.raises(ValueError, match="channels must be those of"):
        JointRandomizer.from_json(data | {"channels": without}, samples)
