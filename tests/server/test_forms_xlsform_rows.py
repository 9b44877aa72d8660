"""Rows of XLSForms mean in the survey what they mean in the form."""

import tomllib
from typing import Any

import pytest
from test_forms_xlsform import check

from server.forms import Imported, Row, read_form


def read_rows(survey: str, choices: str = "", name: str = "form.md") -> Imported:
    """Return what becomes of a form whose rows are lines, with bars between their cells."""
    sheets = {"survey": survey, "choices": choices}
    lines = [
        line
        for sheet, rows in sheets.items()
        if rows
        for line in (f"| {sheet} |", *(f"| | {row.strip()} |" for row in rows.strip().split("\n")))
    ]
    found = read_form("\n".join(lines).encode(), name)
    check(found)
    return found


def questions(found: Imported) -> dict[str, Any]:
    return {entry["id"]: entry for entry in tomllib.loads(found.toml)["questions"]}


def told_of(found: Imported, name: str) -> Row:
    return next(row for row in found.rows if row.name == name and row.type != "survey")


def test_labels_without_a_language_are_in_the_first_one() -> None:
    survey = """type | name | label::English (en)
        select_one animals | animal | Which one?"""
    options = """list_name | name | label
        animals | a1 | A horse
        animals | a2 | A goat"""
    found = read_rows(survey, options)
    assert [one["text"] for one in questions(found)["animal"]["options"]] == ["A horse", "A goat"]
    both = """type | name | label | label::English (en) | label::French (fr)
        text | a | Hay? | Hi? | Salut ?"""
    found = read_rows(both)
    # Nobody said which language that is.
    assert questions(found)["a"]["text"] == {"qaa": "Hay?", "en": "Hi?", "fr": "Salut ?"}
    assert "without a language are taken for “qaa”" in told_of(found, "").detail
    found = read_rows("type | name | label | label::Français\ntext | a | Hi? | Salut ?")
    assert questions(found)["a"]["text"] == {"en": "Hi?", "fr": "Salut ?"}


def test_a_form_in_one_language_keeps_it() -> None:
    survey = """type | name | label::Deutsch (de)
        select_one jn or_other | a | Gern?
        select_one jn | b | Wirklich?"""
    options = """list_name | name | label::Deutsch (de)
        jn | 1 | Ja
        jn | 0 | Nein"""
    found = read_rows(survey, options)
    assert tomllib.loads(found.toml)["languages"] == ["de"]
    asked = questions(found)
    assert asked["b"]["kind"] == "yes-no"
    assert asked["a"]["options"][-1]["text"] == {"de": "Anderes"}
    assert asked["a-other"]["text"] == {"de": "Bitte angeben"}


def test_the_row_above_a_grid_is_its_text() -> None:
    survey = """type | name | label | appearance
        begin_group | g | | field-list
        select_one s | top | How true is it? | label
        select_one s | one | I sleep well | list-nolabel
        select_one s | two | I eat well | list-nolabel
        end_group | | |
        select_multiple s | top2 | Which apply? | label
        select_multiple s | three | Today | list-nolabel
        select_one s | alone | A grid without rows | label"""
    options = """list_name | name | label
        s | 1 | Not at all
        s | 2 | A bit
        s | 3 | Very"""
    found = read_rows(survey, options)
    asked = questions(found)
    assert [*asked] == ["one", "two", "three"]
    assert {asked[name]["matrix"] for name in ("one", "two")} == {"How true is it?"}
    assert asked["three"]["section"] == "Which apply?"
    outcomes = {name: told_of(found, name).outcome for name in ("top", "top2", "alone")}
    assert outcomes == {"top": "imported", "top2": "imported", "alone": "refused"}


@pytest.mark.parametrize(
    ("codes", "points"),
    [
        ("1 never, 2 often, 99 do not know, -88 refused", ["never", "often"]),
        ("5 always, 3 at times, 1 never", ["never", "at times", "always"]),
        ("1 low, 2 middle, 3 high, 77 Ne sait pas, 99 (k.a.)", ["low", "middle", "high"]),
        ("1 low, 2 high, 3 Prefer not to say / Don’t know", ["low", "high"]),
        # Nothing says that these are no points.
        ("97 few, 98 more, 99 most", ["few", "more", "most"]),
        ("0 none, 50 half, 100 all", ["none", "half", "all"]),
    ],
)  # fmt: skip
def test_codes_give_the_order_of_a_scale_and_what_is_no_point(
    codes: str, points: list[str]
) -> None:
    survey = """type | name | label | appearance | required | relevant
        select_one s | one | How often? | likert | yes |
        select_one yn | why | Why? | | | ${one} = '99'"""
    listed = [code.strip().partition(" ") for code in codes.split(",")]
    rows = [f"s | {value} | {label}" for value, _, label in listed]
    found = read_rows(survey, "\n".join(["list_name | name | label", *rows, "yn|1|a", "yn|2|b"]))
    one = questions(found)["one"]
    assert [point["text"] if "code" in point else point for point in one["points"]] == points
    row = told_of(found, "one")
    assert ("required" in one) is (len(points) == len(listed))
    assert ("no point" in row.detail) is (len(points) < len(listed))
    told = all(f"({value})" in row.detail for value, _, label in listed if label not in points)
    assert told
    assert row.weight == ("" if [label for _, _, label in listed] == points else "look")
    if "99 do not know" in codes:
        assert questions(found)["why"]["shows_if"] == "one = 'no-answer'"


def test_marks_that_join_letters_stay_and_those_of_markdown_go() -> None:
    word, family, soft = "می\u200cخواهید", "\U0001f469\u200d\U0001f467", "so\u00adft\u200f"
    survey = f"""type | name | label | hint
        text | a | **{word}** {family} {soft} | See [here](https://example.org/x), _or_ a_b_c 2*3
        note | n | # Read [this](https://example.org) |"""
    found = read_rows(survey)
    asked = questions(found)
    assert asked["a"]["text"] == f"{word} {family} {soft}"
    assert asked["a"]["help"] == "See here, or a_b_c 2*3"
    assert "the address of a link is left out of its hint" in told_of(found, "a").detail
    assert asked["n"]["text"] == "Read [this](https://example.org)"


def test_a_question_whose_condition_is_lost_is_not_required() -> None:
    survey = """type | name | label | required | relevant
        text | a | A? | yes |
        begin_group | g | G | | string-length(${a}) > 3
        text | b | B? | yes |
        end_group | | | |
        text | c | C? | yes | false()
        select_one x | d | D? | yes | ../a != ''"""
    options = """list_name | name | label
        x | 1 | One
        x | 2 | Two"""
    found = read_rows(survey, options)
    asked = questions(found)
    assert [name for name in asked if asked[name].get("required")] == ["a"]
    assert "not required any more" in told_of(found, "b").detail
    assert told_of(found, "c").outcome == "refused"
    assert "not required any more" in told_of(found, "d").detail


@pytest.mark.parametrize(
    ("constraint", "none", "most", "lost"),
    [
        ("not(selected(., 'z') and count-selected(.) > 1)", True, None, ""),
        ("not(selected(., 'z')) or count-selected(.) = 1", True, None, ""),
        ("count-selected(.) <= 2", False, 2, ""),
        ("count-selected(.) < 3 and not(selected(.,'z') and count-selected(.)>1)", True, 2, ""),
        ("count-selected(.) >= 2", False, None, "at least 2"),
        ("count-selected(.) = 2", False, 2, "at least 2"),
        ("count-selected(.) = 1 or count-selected(.) = 3", False, None, "the constraint"),
        ("selected(., 'a')", False, None, "the constraint"),
        ("selected(${b}, 'a')", False, None, "the constraint"),
        ("not(selected(., 'b') and selected(., 'c'))", False, None, "the constraint"),
    ],
)
def test_constraints_on_ticks_are_read_or_named(
    constraint: str, none: bool, most: int | None, lost: str
) -> None:
    survey = f"""type | name | label | constraint | relevant
        select_multiple s | one | Which? | {constraint} |
        select_one s | two | Which one? | | selected(${{one}}, 'z')"""
    options = """list_name | name | label
        s | a | A
        s | b | B
        s | c | C
        s | z | Z"""
    found = read_rows(survey, options)
    one = questions(found)["one"]
    assert len(one["options"]) == 4 - none
    assert one.get("at_most") == most
    row = told_of(found, "one")
    assert one.get("none") == ("Z" if none else None)
    assert ("“Z” cannot be ticked beside others" in row.detail) is none
    assert lost in row.detail
    assert (row.weight == "lost") is bool(lost)
    assert questions(found)["two"]["shows_if"] == f"selected(one, '{'none' if none else 'z'}')"


def test_conditions_on_one_of_two_questions_of_a_name_are_named() -> None:
    survey = """type | name | label | relevant
        begin_group | g1 | G |
        select_one yn | a | A? |
        end_group | | |
        begin_group | g2 | H |
        select_one yn | a | A? |
        end_group | | |
        select_one yn | b | B? | /data/g1/a = 'x'"""
    found = read_rows(survey, "list_name | name | label\nyn | x | X\nyn | y | Y")
    assert "shows_if" not in questions(found)["b"]
    assert told_of(found, "b").weight == "lost"


def test_what_is_lost_in_the_labels_of_options_is_named() -> None:
    options = """list_name | name | label
        s | a | <img src="cat.png"> Cat
        s | b | Dog"""
    found = read_rows("type | name | label\nselect_one s | one | Which?", options)
    assert "an image is left out of its label" in told_of(found, "a").detail


def test_who_somebody_is_and_unknown_columns_are_named() -> None:
    survey = """type | name | label | body::x | appearance | media::image::English (en)
        text | a | What is your full name? | y | odd | a.png"""
    row = told_of(read_rows(survey), "a")
    for told in (
        "full name”",
        "“body/x” (y) is left out",
        "appearance odd is left out",
        "its image a.png",
    ):
        assert told in row.detail
    assert row.weight == "lost"


def test_a_condition_on_one_of_several_answers_beside_a_scale_asks_others() -> None:
    survey = """type | name | label | appearance | required | relevant
        select_one s | one | How often? | likert | yes |
        select_one s2 | two | And then? | likert | yes |
        select_one yn | why | Why? | | | ${one} = '77'
        select_one yn | who | Who? | | | ${two} = '77'"""
    options = """list_name | name | label
        s | 1 | never
        s | 2 | often
        s | 77 | No sabe
        s | 88 | No contesta
        s2 | 1 | never
        s2 | 2 | often
        s2 | 77 | No sabe
        yn | a | A
        yn | b | B"""
    found = read_rows(survey, options)
    assert questions(found)["why"]["shows_if"] == "one = 'no-answer'"
    assert "with the codes 77, 88 and no answer are one here" in told_of(found, "why").detail
    assert (told_of(found, "why").weight, told_of(found, "who").weight) == ("lost", "")


def test_a_filter_of_options_and_a_missing_title_are_named() -> None:
    survey = """type | name | label | choice_filter
        select_one s | one | Where? | region = 'x'"""
    options = """list_name | name | label | region
        s | 1 | A | x
        s | 2 | B | y"""
    found = read_rows(survey, options)
    assert "the filter of its options, region = 'x' is left out" in told_of(found, "one").detail
    assert told_of(found, "1").outcome == "imported"
    assert found.rows[-1].detail == "it has no title, so respondents read the file's name"


def test_grids_of_one_text_under_different_headings_stay_apart() -> None:
    survey = "\n".join(
        ["type | name | label | appearance"]
        + [
            line
            for group in ("Mother", "Father")
            for line in (
                f"begin_group | {group} | Your {group.lower()} | field-list",
                f"select_one s | {group}head | How true is it? | label",
                f"select_one s | {group}a | She or he listens | list-nolabel",
                f"select_one s | {group}b | She or he helps | list-nolabel",
                "end_group | | |",
            )
        ]
    )
    found = read_rows(survey, "list_name | name | label\ns | 1 | No\ns | 2 | A bit\ns | 3 | Very")
    asked = questions(found)
    assert [*asked] == ["mothera", "motherb", "fathera", "fatherb"]
    assert asked["motherb"]["matrix"] == "How true is it?"
    assert asked["fatherb"]["matrix"] == "Your father – How true is it?"
    assert (asked["fathera"]["section"], asked["fathera"]["new_page"]) == ("Your father", True)


def test_words_between_angle_brackets_stay_unless_they_are_html() -> None:
    found = read_rows("type | name | label\ntext | a | <b>Is</b> <TRAINER> <br/>**good **?")
    assert questions(found)["a"]["text"] == "Is <TRAINER> \ngood ?"


@pytest.mark.parametrize(
    ("constraint", "is_lost"), [(". >= 0 and . <= 12", False), (". <= 6", True), ("odd(.)", True)]
)
def test_a_constraint_on_a_range_is_named_if_it_says_more_than_the_range(
    constraint: str, is_lost: bool
) -> None:
    survey = f"""type | name | label | parameters | constraint
        range | far | How far? | start=0 end=10 step=2 | {constraint}"""
    found = read_rows(survey)
    assert (questions(found)["far"]["min"], questions(found)["far"]["max"]) == (0, 10)
    told = f"the constraint {constraint} is left out"
    assert (told in told_of(found, "far").detail) is is_lost
