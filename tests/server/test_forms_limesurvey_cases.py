"""What LimeSurvey's questions say besides their types is imported, or named in the report."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

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


def survey(*lines: Cells, **settings: str) -> Imported:
    """Import a table with tabs; the columns of a question are at the end."""
    head = ["class", "type/scale", "name", "relevance", "text", "language", "other", "mandatory",
            "attribute", "value"]  # fmt: skip
    attributes = [*dict.fromkeys(line[8] for line in lines if len(line) > 8)]
    rows = [[*head[:8], *attributes]]
    rows += [["S", "", name, "", text] for name, text in {"language": "en", **settings}.items()]
    rows.append(["G", "1", "Group", "1", "About it"])
    for line in lines:
        pairs = dict(zip(line[8::2], line[9::2], strict=True))
        more = [pairs.get(key, "") for key in attributes]
        rows.append([*line[:8], *[""] * (8 - len(line)), *more])
    return read_form("\n".join("\t".join(row) for row in rows).encode(), "form.txt")


def question(kind: str, code: str, text: str, relevance: str = "", **more: str) -> Cells:
    pairs = [part for pair in more.items() for part in pair]
    return ["Q", kind, code, relevance, text, "", "N", "N", *pairs]
