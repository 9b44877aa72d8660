"""Conditions follow their grammar, and are decided as stated."""

from fractions import Fraction
from pathlib import Path

import pytest

from analysis.core.domain import Categories, Domain, Numbers, Rankings, Sets
from analysis.survey.logic import asked_of, holds, parse_condition, written
from analysis.survey.survey_file import read_survey

DOMAINS: dict[str, Domain] = {
    "a": Categories(("yes", "no", "no-answer")),
    "team-2": Categories(("lab", "office")),
    "n": Numbers(Fraction(0), Fraction(100), 100, True),
    "many": Sets(("x", "y"), 2, True),
    "order": Rankings(("x", "y"), True),
}


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 'yes'", ["=", "a", "yes"]),
        ("selected(team-2, 'lab')", ["=", "team-2", "lab"]),
        ("selected(many, 'y')", ["selected", "many", "y"]),
        ("selected(many, 'none')", ["selected", "many", "none"]),
        ("n>=1.50", [">=", "n", 1.5]),
        (
            "a = 'yes' or a = 'no' and n < 5",
            ["or", ["=", "a", "yes"], ["and", ["=", "a", "no"], ["<", "n", 5]]],
        ),
        ("not (a != 'yes')", ["not", ["!=", "a", "yes"]]),
        ("(a = 'yes' or n = -3) and n != 4", None),
    ],
)
def test_condition_becomes_a_tree(text: str, tree: list[object] | None) -> None:
    parsed = parse_condition(text, DOMAINS)
    assert tree is None or parsed == tree
    assert parse_condition(written(parsed), DOMAINS) == parsed


def test_hidden_and_skipped_answers_are_no_answer() -> None:
    assert holds(["=", "a", "no-answer"], {"a": ""})
    assert not holds(["<", "n", 5], {"n": ""})
    assert holds(["!=", "n", 5], {"n": ""})
    assert holds(["selected", "many", "no-answer"], {"many": ""})


def test_one_of_several_ticks_is_selected() -> None:
    assert holds(["selected", "many", "y"], {"many": "x|y"})
    assert not holds(["selected", "many", "y"], {"many": "none"})
    assert not holds(["not", ["selected", "many", "none"]], {"many": "none"})


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "many = 'x'",
        "selected(many, 'z')",
        "order = 'x'",
        "= 'yes'",
        "a = yes",
        "n = 'x'",
        "not a = 'yes'",
        "",
        "a = 'yes",
    ],
)
def test_impossible_conditions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected "):
        parse_condition(text, DOMAINS)


def test_questions_of_a_condition() -> None:
    text = "a = 'yes' or not (n < 5 and selected(many, 'y')) or a = 'no'"
    assert asked_of(parse_condition(text, DOMAINS)) == {"a", "n", "many"}


def test_reports_on_conditional_questions_reveal_the_answer_they_depend_on(tmp_path: Path) -> None:
    text = 'id = "s"\ntitle = "S"\n'
    for name, condition in (("a", ""), ("b", "a = 'yes'"), ("c", "b = 'no'"), ("d", "")):
        text += f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\nepsilon = 1\n'
        text += f'shows_if = "{condition}"\n' * bool(condition)
    (tmp_path / "s.toml").write_text(text)
    survey = read_survey(tmp_path / "s.toml")
    told = ["".join(q.id for q in survey.telling(question)) for question in survey.questions]
    assert told == ["abc", "bc", "c", "d"]
