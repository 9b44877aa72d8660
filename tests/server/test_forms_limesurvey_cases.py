"""What LimeSurvey's questions say besides their types is imported, or named in the report."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from test_forms_limesurvey import QUESTIONS, _rows, structure, table

from server.forms import Imported, read_form

Cells = Sequence[str]
#: Questions of the other types, with attributes: as in `test_forms_limesurvey`.
MORE = [
    ("O", "helper", "Who helps you?", "1", "N", "N",
     {"random_order": "1", "alphasort": "1", "time_limit": "30", "time_limit_action": "1"}, [],
     [("A1", "A friend", 0), ("A2", "A doctor", 0)]),
    ("P", "means", "By which means?", "", "S", "N",
     {"exclude_all_others": "SQ3;SQ2", "exclude_all_others_auto": "1", "min_answers": "1",
      "assessment_value": "2", "array_filter": "why", "commented_checkbox": "checked"},
     [("SQ1", "Patches", 0), ("SQ2", "Gum", 0), ("SQ3", "None of these", 0)], []),
    ("!", "town", "Which town?", "", "N", "Y",
     {"other_position": "beginning", "other_comment_mandatory": "1", "other_numbers_only": "0",
      "random_group": "g"}, [], [("A1", "Ulm", 0), ("A2", "Bonn", 0)]),
    ("Q", "names", "Say more", "", "N", "N", {"prefix": "Mr or Ms", "maximum_chars": "40"},
     [("a", "Your full name", 0), ("b", "Your hobby", 0)], []),
    ("K", "money", "How much?", "pay_x.NAOK > 1", "N", "N",
     {"slider_layout": "1", "slider_max": "10", "slider_default": "5", "equals_num_value": "10",
      "suffix": "EUR"}, [("x", "Pay|little|much", 0)], []),
    ("F", "ends", "How is it?", "", "Y", "N",
     {"random_order": "1", "array_filter_exclude": "why", "hide_tip": "1"},
     [("r1", "It is fun|It is dull", 0), ("r2", "It is dear|It is cheap", 0)],
     [("2", "rather", 0), ("1", "fully", 0), ("99", "do not know", 0)]),
    *((kind, f"type{at}", f"Type {at}", "", "N", "N", {}, [("a", "Row", 0), ("b", "Line", 0)], [])
      for at, kind in enumerate(("A", "B", "C", ";"))),
    ("H", "columns", "By column", "", "N", "N", {"subquestion_order": "random"},
     [("a", "Left", 0), ("b", "Right", 0)], [("1", "low", 0), ("2", "high", 0)]),
    ("*", "sum", "{age + 1}", "", "N", "N", {"equation": "{age + 1}"}, [], []),
    ("|", "photo", "A photo", "", "N", "N", {"max_num_of_files": "3"}, [], []),
    ("I", "tongue", "Language", "", "N", "N", {}, [], []),
    ("U", "prose", "Tell all", "", "N", "N", {"placeholder": "Once"}, [], []),
]  # fmt: skip
SETTINGS = {
    "format": "S", "assessments": "Y", "anonymized": "Y", "ipaddr": "Y", "showwelcome": "N",
    "expires": "2030-01-01", "showsurveypolicynotice": "1", "template": "fruity",
}  # fmt: skip
SAID = {
    "surveyls_description": "A study", "surveyls_welcometext": "Hello {TOKEN:FIRSTNAME}",
    "surveyls_endtext": "<b>Thanks</b>", "surveyls_url": "https://example.org/end",
    "surveyls_urldescription": "Our page", "surveyls_policy_notice": "We keep noise",
    "surveyls_policy_notice_label": "I agree", "surveyls_email_invite": "Dear friend",
}  # fmt: skip
TABLES: Mapping[str, Any] = {
    "conditions": [{"cid": 1, "qid": 2, "cqid": 1, "cfieldname": "9X1X1", "method": "==",
                    "value": "Y", "scenario": 1}],
    "defaultvalues": [{"dvid": 4, "qid": 2, "defaultvalue": ""}, {"dvid": 5, "qid": 77}],
    "defaultvalue_l10ns": [{"id": 1, "dvid": 4, "defaultvalue": "Y", "language": "en"}],
    "assessments": [{"id": 1, "name": "Well done", "minimum": 0, "maximum": 9}],
    "quota_members": [{"id": 1, "qid": 2, "code": "Y", "quota_id": 1}],
    "plugin_settings": [{"id": 1, "key": "colour", "value": "red"}],
    "group_l10ns": [{"gid": 44, "group_name": "Gone"}],
}  # fmt: skip
THEMES = (
    "<themes><theme><sid>9</sid><config><options><brandlogofile>a.png</brandlogofile></options>"
    "</config></theme></themes>"
)
#: Rows of a table that are neither questions nor settings.
LINES = [
    ["AS", "", "Well done", "", "text"],
    ["QTA", "1", "Half", "", "", "", "", "", "5"],
    ["ZZ", "1", "What"],
    ["Q", "Y", "smokes", "", "The same code again", "", "en"],
    ["SQ", "", "x", "", "Of a question that is not there", "", "en"],
    ["G", "1", "Gewohnheiten", "", "", "", "fr"],
]
_ASKED = [*QUESTIONS, *MORE]
RICH = {
    "lss": structure(True, _ASKED, SETTINGS, SAID,
                     "".join(_rows(*one) for one in TABLES.items()) + THEMES),
    "old.lss": structure(False, _ASKED, SETTINGS, SAID),
    "txt": table(_ASKED, SETTINGS, SAID, LINES),
}  # fmt: skip


def entries(found: Imported) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in tomllib.loads(found.toml)["questions"]}


def told(found: Imported) -> dict[str, str]:
    """Return what is said of each question and of the first row with each other name."""
    return {row.name: row.detail for row in reversed(found.rows)}


def survey(*lines: Cells, about: str = "", **settings: str) -> Imported:
    """Import a table with tabs; the columns of a question are at the end."""
    head = ["class", "type/scale", "name", "relevance", "text", "language", "other", "mandatory",
            "attribute", "value"]  # fmt: skip
    attributes = [*dict.fromkeys(key for line in lines for key in line[8::2])]
    rows = [[*head[:8], *attributes]]
    rows += [["S", "", name, "", text] for name, text in {"language": "en", **settings}.items()]
    rows.append(["G", "1", "Group", "1", about])
    for line in lines:
        pairs = dict(zip(line[8::2], line[9::2], strict=True))
        more = [pairs.get(key, "") for key in attributes]
        rows.append([*line[:8], *[""] * (8 - len(line)), *more])
    return read_form("\n".join("\t".join(row) for row in rows).encode(), "form.txt")


def question(kind: str, code: str, text: str, relevance: str = "", **more: str) -> Cells:
    pairs = [part for pair in more.items() for part in pair]
    return ["Q", kind, code, relevance, text, "", "N", "N", *pairs]


YES_NO = [["A", "0", "A1", "", "Now"], ["A", "0", "A2", "", "Never"]]


def test_words_around_a_number_become_its_unit() -> None:
    bounds = {"min_num_value_n": "0", "max_num_value_n": "9"}
    found = survey(
        question("N", "both", "Rent?", **bounds, prefix="about", suffix="EUR"),
        question("N", "before", "Rent?", **bounds, prefix="£"),
        question("S", "word", "Word?", suffix="!"),
    )
    units = {name: entry.get("unit") for name, entry in entries(found).items()}
    assert units == {"both": "EUR", "before": "£", "word": None}
    assert "the words before its field, “about”, are left out" in told(found)["both"]
    assert "“£”, become its unit, which stands behind it" in told(found)["before"]
    assert "the words behind its field: ! is left out" in told(found)["word"]


def test_a_unit_is_in_all_languages() -> None:
    has = {"min_num_value_n": "0", "max_num_value_n": "9", "suffix": "hours"}
    asked: list[Any] = [("N", "pay", "Pay?", "", "N", "N", has, [], [])]
    german = {"qid": 1, "attribute": "suffix", "value": "Stunden", "language": "de"}
    files = {
        "one.lss": (structure(asked=asked), "hours"),
        "two.lss": (structure(asked=asked, more=_rows("question_attributes", [german])), "Stunden"),
    }
    files["three.txt"] = (table(asked), "hours")
    for name, (content, unit) in files.items():
        unit_of = entries(read_form(content, name))["pay"]["unit"]
        assert unit_of == {"en": "hours", "de": unit}


def test_both_ends_of_a_row_are_shown() -> None:
    rows = [["SQ", "0", "a", "", "Easy|Hard"], ["SQ", "0", "b", "", "Short || Long"]]
    points = [["A", "0", "1", "", "fully"], ["A", "0", "2", "", "rather"]]
    found = survey(question("F", "q", "How is it?"), *rows, *points)
    texts = [entry["text"] for entry in entries(found).values()]
    assert texts == ["Easy – Hard", "Short – Long"]
    assert "its text has the words at both of its ends" in told(found)["q-a"]


def test_an_answer_outside_of_the_scale_of_an_array_is_no_point() -> None:
    points = [["A", "0", code, "", text] for code, text in
              (("99", "Do not know"), ("2", "well"), ("1", "badly"))]  # fmt: skip
    rows = [["SQ", "0", "a", "", "Asleep"], ["SQ", "0", "b", "", "Awake"]]
    found = survey(question("F", "q", "How?"), *rows, *points)
    assert [entry["points"] for entry in entries(found).values()] == [["badly", "well"]] * 2
    assert "“Do not know” (99) is no point" in told(found)["q-a"]


def test_an_array_of_one_row_keeps_its_text_as_a_heading() -> None:
    found = entries(survey(question("C", "q", "Certain?"), ["SQ", "0", "a", "", "I am"]))
    assert found["q-a"]["section"] == "Group – Certain?"
    assert "matrix" not in found["q-a"]


def test_an_array_whose_rows_are_all_refused_is_refused() -> None:
    rows = [["SQ", "0", "a", "", "One"], ["A", "0", "1", "", "the only point"]]
    found = survey(question("Y", "other", "?"), question("F", "q", "How?"), *rows)
    outcomes = {row.name: row.outcome for row in found.rows}
    assert (outcomes["q"], outcomes["q-a"]) == ("refused", "refused")


@pytest.mark.parametrize("attribute", ["random_order", "subquestion_order", "random_group"])
def test_random_orders_of_rows_are_named(attribute: str) -> None:
    value = "random" if "order" in attribute and attribute != "random_order" else "1"
    rows = [["SQ", "0", "a", "", "One"], ["SQ", "0", "b", "", "Two"]]
    found = survey(question("A", "q", "How?", **{attribute: value}), *rows)
    assert "order" in told(found)["q"]
    off = survey(question("A", "q", "How?", random_order="0", subquestion_order="normal"), *rows)
    assert (told(off)["q"], off.rows[3].outcome) == ("", "imported")


def test_options_that_exclude_all_others() -> None:
    rows = [["SQ", "0", code, "", text] for code, text in
            (("a", "Pipe"), ("b", "Cigar"), ("c", "Nothing at all"), ("d", "Refused"))]  # fmt: skip
    found = survey(
        question("M", "q", "Which?", exclude_all_others="c;d"),
        *rows,
        question("Y", "last", "?", 'q_c.NAOK == "Y"'),
    )
    asked = entries(found)
    assert [one["text"] for one in asked["q"]["options"]] == ["Pipe", "Cigar", "Refused"]
    assert asked["last"]["shows_if"] == "selected(q, 'none')"
    assert "that “Refused” excludes all others is left out" in told(found)["q"]
    assert "“Nothing at all” cannot be ticked beside others" in told(found)["q"]


@pytest.mark.parametrize(
    ("position", "code", "order"),
    [("", "", "Now Never Else"), ("beginning", "", "Else Now Never"),
     ("specific", "A1", "Now Else Never"), ("end", "", "Now Never Else")],
)  # fmt: skip
def test_other_stands_at_its_place(position: str, code: str, order: str) -> None:
    line = [*question("L", "q", "When?", other_replace_text="Else",
                      other_position=position, other_position_code=code)]  # fmt: skip
    line[6] = "Y"
    options = entries(survey(line, *YES_NO))["q"]["options"]
    assert " ".join(one["text"] for one in options) == order


def test_the_text_beside_other_says_in_equations_that_it_is_chosen() -> None:
    line = [*question("L", "q", "When?")]
    line[6] = "Y"
    last = [question("Y", name, "?", f"{sign}is_empty(q_other.NAOK)")
            for name, sign in (("some", "!"), ("none", ""))]  # fmt: skip
    found = entries(survey(line, *YES_NO, *last))
    assert [found[name]["shows_if"] for name in ("some", "none")] == ["q = 'oth'", "q != 'oth'"]


def test_other_is_in_the_languages_of_the_form() -> None:
    asked: list[Any] = [("L", "q", "?", "", "N", "Y", {}, [], [("A1", "One", 0), ("A2", "Two", 0)])]
    found = entries(read_form(structure(asked=asked), "form.lss"))
    assert found["q"]["options"][2]["text"] == {"en": "Other", "de": "Anderes"}
    assert found["q-other"]["text"]["de"] == "Bitte angeben"


@pytest.mark.parametrize(
    ("relevance", "condition"),
    [
        # Without .NAOK, it is false for people who are not asked the question.
        ("age != 20", "first = 'yes' and age != 20"),
        ("is_empty(age)", "first = 'yes' and not (age >= 0)"),
        ("age.NAOK != 20", "age != 20"),
        ("is_empty(age.NAOK)", "not (age >= 0)"),
        ("age > 20", "age > 20"),
        ("!is_empty(age)", "age >= 0"),
        ('age > 20 or first == "N"', "first = 'yes' and (age > 20 or first = 'no')"),
        ('age.NAOK > 20 or first == "N"', "age > 20 or first = 'no'"),
    ],
)
def test_equations_ask_the_same_people(relevance: str, condition: str) -> None:
    found = survey(
        question("Y", "first", "Do you?"),
        question("N", "age", "How old?", 'first == "Y"', min_num_value_n="0", max_num_value_n="99"),
        question("Y", "last", "And?", relevance),
    )
    assert entries(found)["last"]["shows_if"] == condition


def test_old_tables_of_conditions_count() -> None:
    asked: list[Any] = [
        ("Y", "one", "One?", "", "N", "N", {}, [], []),
        ("M", "two", "Two?", "", "N", "N", {}, [("a", "A", 0), ("b", "B", 0)], []),
        ("Y", "last", "Last?", "", "N", "N", {}, [], []),
    ]
    keys = ("qid", "cqid", "cfieldname", "method", "value", "scenario")
    rows = [
        (3, 1, "9X1X1", "==", "Y", 1), (3, 2, "+9X1X2a", "==", "Y", 1),
        (3, 2, "9X1X2b", "==", "Y", 1), (3, 1, "9X1X1", "!=", "N", 2),
    ]  # fmt: skip
    table_of = _rows("conditions", [dict(zip(keys, row, strict=True)) for row in rows])
    found = read_form(structure(asked=asked, more=table_of), "form.lss")
    assert entries(found)["last"]["shows_if"] == (
        "(one = 'yes' and (selected(two, 'a') or selected(two, 'b'))) or one != 'no'"
    )
    assert {row.outcome for row in found.rows if row.type == "conditions"} == {"imported"}


def test_filters_of_rows_are_conditions() -> None:
    ticks = [["SQ", "0", "a", "", "Pipe"], ["SQ", "0", "b", "", "Cigar"]]
    rows = [*ticks, ["SQ", "0", "z", "", "Any"]]
    found = survey(
        question("M", "which", "Which?"), *ticks,
        question("A", "liked", "How good?", array_filter="which"), *rows,
        question("A", "missed", "How bad?", array_filter_exclude="which"), *rows,
        question("A", "lost", "How?", array_filter="which;liked"), *rows,
    )  # fmt: skip
    shown = {name: entry.get("shows_if") for name, entry in entries(found).items()}
    assert shown["liked-a"] == "selected(which, 'a')"
    assert shown["missed-b"] == "not (selected(which, 'b'))"
    assert (shown["liked-z"], shown["missed-z"]) == (None, None)
    assert "more people are asked" in told(found)["lost-a"]


def test_nobody_is_asked_what_is_never_relevant() -> None:
    found = survey(question("Y", "q", "?"), question("Y", "never", "?", "0"))
    assert "its relevance is 0" in told(found)["never"]


@pytest.mark.parametrize(
    ("shown", "heading", "note"),
    [("B", "Group", True), ("N", "Group", False), ("D", None, True), ("X", None, False)],
)
def test_titles_of_groups_are_shown_as_in_the_tool(
    shown: str, heading: str | None, note: bool
) -> None:
    found = [*entries(survey(question("Y", "q", "?"), about="All", showgroupinfo=shown)).values()]
    assert found[0].get("section") == heading
    assert (found[0]["kind"] == "note") is note


def test_each_question_has_its_page_if_it_has_in_the_tool() -> None:
    questions = [question("Y", name, "?") for name in ("a", "b", "c")]
    for setting, pages in (("S", ["b", "c"]), ("G", []), ("A", [])):
        found = entries(survey(*questions, format=setting))
        assert [name for name, entry in found.items() if entry.get("new_page")] == pages


def test_what_respondents_read_before_and_after_is_kept() -> None:
    found = read_form(RICH["lss"], "form.lss")
    study = tomllib.loads(found.toml)
    assert study["introduction"]["en"] == "A study\n\nHello …"
    assert study["consent"]["de"] == "We keep noise\n\nI agree"
    assert (study["link"], study["link_text"]["en"]) == ("https://example.org/end", "Our page")
    details = {row.row: row.detail for row in found.rows}
    assert "says of the respondent is left out" in details["surveys_languagesettings!1"]
    assert "that the welcome is not shown: N" in details["surveys!1"]
    in_table = told(read_form(RICH["txt"], "form.txt"))
    assert "says of the respondent is left out" in in_table["surveyls_welcometext"]
    hidden = read_form(structure(said=SAID), "form.lss")
    assert "consent" not in tomllib.loads(hidden.toml)
    assert "the notice on data protection, which the tool does not show" in "".join(
        row.detail for row in hidden.rows
    )


def test_one_address_at_the_end_is_kept() -> None:
    addresses = structure(said={"surveyls_url": "https://example.org/en"})
    addresses = addresses.replace(b"example.org/en]", b"example.org/de]").replace(
        b"/de]", b"/en]", 1
    )
    found = read_form(addresses, "form.lss")
    assert tomllib.loads(found.toml)["link"] == "https://example.org/en"
    assert "in another language, https://example.org/de, is left out" in told(found)["en"]
    bad = read_form(structure(said={"surveyls_url": "https://example.org/{SAVEDID}"}), "form.lss")
    assert "link" not in tomllib.loads(bad.toml)
    assert "https://example.org/{SAVEDID} is left out" in told(bad)["en"]


def test_soft_mandatory_questions_can_be_left_out() -> None:
    lines = [[*question("Y", code, "?")] for code in ("Y", "S", "N")]
    for line in lines:
        line[7] = line[2]
    found = entries(survey(*lines))
    assert [entry.get("required", False) for entry in found.values()] == [True, False, False]


def test_attributes_of_another_type_say_nothing() -> None:
    found = survey(question("Y", "q", "?", slider_min="1", min_num_value_n="0", suffix="EUR"))
    assert told(found)["q"] == "ε = 1 is proposed"


def test_a_map_is_refused() -> None:
    found = survey(question("Y", "q", "?"), question("S", "map", "?", location_mapservice="1"))
    assert "places are not collected" in told(found)["map"]


def test_texts_in_a_language_that_the_survey_does_not_have_are_named() -> None:
    text = structure().replace(b"<language>de</language>", b"", 1)
    details = {row.row: row.detail for row in read_form(text, "form.lss").rows}
    assert "in a language that the survey does not have: Rauchen Sie?" in details["questions!2"]


def test_duplicated_answers_are_named() -> None:
    again = ["A", "0", "A1", "", "Again"]
    found = survey(question("L", "q", "When?"), *YES_NO, again)
    assert [one["text"] for one in entries(found)["q"]["options"]] == ["Now", "Never"]
    assert "options with the value of an earlier one are left out" in told(found)["q"]


def test_texts_that_are_missing_are_named() -> None:
    found = survey(question("L", "q", ""), *YES_NO, ["A", "0", "A3", "", ""])
    assert [one["text"] for one in entries(found)["q"]["options"]] == ["Now", "Never", "A3"]
    missing = "it has no text, so its code is its text"
    assert told(found)["q"].startswith(f"{missing}; of its answer A3: {missing}")


def test_a_slider_has_its_ends_and_steps() -> None:
    row = ["SQ", "0", "a", "", "Effort|little|much"]
    found = entries(survey(question("K", "q", "How much?", slider_layout="1"), row))
    assert {key: found["q-a"][key] for key in ("text", "min", "max", "step", "slider", "help")} == {
        "text": "Effort", "min": 0, "max": 100, "step": 1, "slider": True,
        "help": "0: little, 100: much",
    }  # fmt: skip


def test_attributes_and_cells_that_stand_there_twice_are_named() -> None:
    again = {"qid": 1, "attribute": "suffix", "value": "francs"}
    asked: list[Any] = [("N", "pay", "Pay?", "", "N", "N", {"suffix": "EUR"}, [], [])]
    text = structure(asked=asked, more=_rows("question_attributes", [again]))
    text = text.replace(b"<title>", b"<title>first</title><title>", 1)
    found = read_form(text, "form.lss")
    assert "suffix 2 francs is left out" in told(found)["first"]
    assert "title 2 pay is left out" in told(found)["first"]
