"""Plans show what waves reveal together, and which differences they will show."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.core.epsilon import MICRO
from analysis.privacy.accounting import shuffled
from analysis.study.planning import (
    power_of_change,
    power_of_share,
    powers,
    public_view,
    respondents_for_change,
    totals_of_waves,
    waves_to_show,
)
from analysis.survey.survey_file import read_survey

sys.path.insert(0, str(Path(__file__).parent))
from one_question import generator as rng


def test_public_view_is_of_one_wave_mixed(tmp_path: Path) -> None:
    text = 'id = "s"\ntitle = "S"\n[[questions]]\nid = "a"\nkind = "number"\nmin = 0\nmax = 9\n'
    text += 'text = "?"\nrequired = true\nepsilon = 1\n'
    (tmp_path / "pure.toml").write_text(text)
    (tmp_path / "gauss.toml").write_text(text + 'mechanism = "gaussian"\n')
    pure, gauss = (read_survey(tmp_path / f"{name}.toml") for name in ("pure", "gauss"))
    assert public_view(pure, 2000, 1e-6) == shuffled(1.0, 2000, 1e-6)
    assert public_view(pure, 2000, 1e-6).epsilon < 0.13
    assert public_view(pure, 10**9, 1e-6) == public_view(pure, 10**6, 1e-6)
    own = public_view(gauss, 2000, 1e-6)
    assert own == shuffled(gauss.charge / MICRO, 2000, 1e-6)
    assert gauss.charge == 1_000_002


@pytest.mark.parametrize(("planned", "shown"), [(1, 6), (9, 9), (40, 24)])
def test_waves_shown_are_those_of_the_cap_and_those_planned(
    tmp_path: Path, planned: int, shown: int
) -> None:
    text = 'id = "s"\ntitle = "S"\n[privacy]\ncap = 6\n[[questions]]\nid = "a"\nkind = "yes-no"\n'
    (tmp_path / "s.toml").write_text(text + 'text = "?"\nepsilon = 1\n')
    survey = read_survey(tmp_path / "s.toml")
    waves = waves_to_show(survey, planned)
    assert waves[:shown] == tuple(range(1, shown + 1))
    assert waves[-1] == max(planned, shown)
    rows = totals_of_waves(survey, waves, 1e-6)
    assert [row.charged for row in rows] == list(waves)
    # As in the ledger of somebody who answered as often.
    assert all(row.epsilon <= row.charged for row in rows)
    assert rows[0].method == "sum"
    assert rows[-1].convolution == pytest.approx(rows[-1].epsilon, abs=2e-3)


MANY = """
id = "s"
title = "S"
[[questions]]
id = "a"
kind = "yes-no"
text = "?"
required = true
epsilon = 2
[[questions]]
id = "b"
kind = "number"
min = 100
max = 200
text = "?"
epsilon = 2
[[questions]]
id = "c"
kind = "text"
candidates = ["x", "y"]
text = "?"
epsilon = 2
[[questions]]
id = "d"
kind = "rank"
items = [{id = "x", text = "X"}, {id = "y", text = "Y"}]
text = "?"
epsilon = 2
"""


def test_each_question_but_texts_is_compared_with_a_value_in_groups_and_in_waves(
    tmp_path: Path,
) -> None:
    (tmp_path / "s.toml").write_text(MANY)
    survey = read_survey(tmp_path / "s.toml")
    rows = powers(survey, 601, 0.2, truth={"a": {"yes": 0.9}}, rng=rng())
    assert [(row.question, row.term) for row in rows[::3]] == [
        ("a", "yes"),
        ("b", "mean"),
        ("d", "x>y"),
    ]
    assert [row.comparison for row in rows] == ["one", "groups", "waves"] * 3
    # If there is no room above, the other share is below.
    assert rows[0].null == 0.9
    assert rows[0].true == pytest.approx(0.7)
    assert rows[3].null == pytest.approx(140)
    assert rows[3].true == pytest.approx(160)
    (question, *_) = survey.questions
    pair = rows[0].null, rows[0].true
    assert rows[0].power == power_of_share(question, "yes", pair[1], pair[0], 601, rng=rng())
    assert rows[1].power == power_of_change(question, "yes", pair, (300, 301), rng=rng())
    assert rows[2].power == power_of_change(question, "yes", pair, (601, 601), rng=rng())
    assert (
        rows[2].respondents_needed
        == respondents_for_change(question, "yes", pair, 0.8, rng=rng())[0]
    )
    assert rows[1].respondents_needed == 2 * (rows[2].respondents_needed or 0)


@pytest.mark.parametrize(
    ("difference", "respondents", "message"),
    [
        (0.0, 100, "difference must be above 0 and below 1, got 0"),
        (1.0, 100, "difference must be above 0 and below 1, got 1"),
        (float("nan"), 100, "difference must be above 0 and below 1, got nan"),
        (0.1, 1, "respondents must be at least 2 for two groups, got 1"),
    ],
)
def test_impossible_differences_are_refused(
    tmp_path: Path, difference: float, respondents: int, message: str
) -> None:
    (tmp_path / "s.toml").write_text(MANY)
    with pytest.raises(ValueError, match=message):
        powers(read_survey(tmp_path / "s.toml"), respondents, difference, rng=rng())


def test_the_first_share_is_that_of_the_truth(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(MANY)
    survey = read_survey(tmp_path / "s.toml")
    survey = replace(survey, questions=survey.questions[::3])
    truth = {"a": {"no": 0.8}, "d": {"x|y": 0.3}}
    rows = powers(survey, 601, 0.4, truth=truth, rng=rng())
    assert [row.null for row in rows[::3]] == [pytest.approx(one) for one in (0.2, 0.3)]
    with pytest.raises(ValueError, match=r'room above or below .* "a", 0.2, got 0.9'):
        powers(survey, 601, 0.9, truth=truth, rng=rng())
