"""Check each row of a LimeSurvey form in both of its formats, and that no file does harm."""

import random
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import pytest

from analysis.survey.document import parsed
from analysis.survey.survey_file import survey_of
from server.forms import FormError, Imported, read_form

#: Questions with their subquestions and answers, written by hand after LimeSurvey's manual: type,
#: code, text, relevance, mandatory, other, attributes, subquestions, answers (code, text, scale).
QUESTIONS = [
    ("X", "hello", "<p>Welcome <b>all</b></p>", "", "N", "N", {}, [], []),
    ("Y", "smokes", "Do you smoke?", "1", "Y", "N", {}, [], []),
    ("L", "where", "Where?", 'smokes.NAOK == "Y"', "N", "Y",
     {"other_replace_text": "Elsewhere"}, [], [("A1", "At home", 0), ("A2", "At work", 0)]),
    ("M", "why", "Why?", "", "N", "N", {"max_answers": "2", "random_order": "1"},
     [("SQ1", "Habit", 0), ("SQ2", "Company", 0), ("SQ3", "Calm", 0)], []),
    ("N", "age", "How old are you?", "!is_empty(where.NAOK) and why_SQ2 == 'Y'", "N", "N",
     {"min_num_value_n": "18", "max_num_value_n": "99", "num_value_int_only": "1"}, [], []),
    ("F", "often", "How often?", "age.NAOK >= 21", "Y", "N", {},
     [("am", "In the morning", 0), ("pm", "In the evening", 0)],
     [("0", "Not at all", 0), ("1", "Now and then", 0), ("2", "Every day", 0)]),
    ("S", "brand", "Which brand?", 'often_pm.NAOK == "2"', "N", "N", {}, [], []),
    ("1", "both", "Then and now", "", "N", "N", {}, [("a", "Beer", 0), ("b", "Wine", 0)],
     [("1", "None", 0), ("2", "Some", 0), ("x", "Little", 1), ("y", "Much", 1)]),
    ("K", "sums", "How many?", "", "N", "N", {"min_num_value_n": "0", "max_num_value_n": "50"},
     [("x", "Days", 0), ("y", "Nights", 0)], []),
    ("5", "mood", "How are you?", "both_a_0.NAOK == 2 or both_b_1.NAOK == 'y'", "N", "N", {}, [],
     []),
    ("R", "rank", "Which first?", "", "N", "N", {}, [], [("1", "Home", 0), ("2", "Work", 0)]),
    ("D", "born", "Born?", "", "N", "N", {"date_min": "1920-01-01", "date_max": "2010-12-31"}, [],
     []),
    ("G", "sex", "Gender?", "mood.NAOK <= 2", "N", "N", {}, [], []),
    ("E", "more", "More or less?", "", "N", "N", {}, [("a", "Pay", 0), ("b", "Work", 0)], []),
    ("T", "story", "Tell us", "", "N", "N", {}, [], []),
    ("N", "weight", "How heavy?", "", "N", "N", {}, [], []),
    (":", "grid", "Numbers", "", "N", "N", {}, [("r", "Row", 0), ("c", "Column", 1)], []),
    ("S", "secret", "Hidden", "", "N", "N", {"hidden": "1"}, [], []),
    ("Y", "last", "Last one about {where.shown}?", "count(why_SQ1, why_SQ2) > 1", "N", "N",
     {"em_validation_q": "1 == 1"}, [], []),
    ("?", "odd", "Odd", "", "N", "N", {}, [], []),
]  # fmt: skip
#: Settings and texts of the survey.
SETTINGS = {"format": "G"}
SAID = {"surveyls_welcometext": "Hello", "surveyls_endtext": "<b>Thanks</b>"}
GERMAN = {"Do you smoke?": "Rauchen Sie?", "At home": "Zu Hause", "Habits": "Gewohnheiten"}


def german(text: str) -> str:
    return GERMAN.get(text, text)


def _rows(table: str, rows: Sequence[Mapping[str, object]]) -> str:
    cells = "".join(
        "<row>" + "".join(f"<{key}><![CDATA[{value}]]></{key}>" for key, value in row.items())
        + "</row>"
        for row in rows
    )  # fmt: skip
    return f"<{table}><fields/><rows>{cells}</rows></{table}>"


def structure(
    modern: bool = True,
    asked: Sequence[Any] = QUESTIONS,
    settings: Mapping[str, str] = SETTINGS,
    said: Mapping[str, str] = SAID,
    more: str = "",
) -> bytes:
    """Return a survey structure as LimeSurvey exports it, since version 4 or before."""
    tables: dict[str, list[Mapping[str, object]]] = {
        "answers": [], "groups": [], "questions": [], "subquestions": [],
        "question_attributes": [], "question_l10ns": [], "answer_l10ns": [],
    }  # fmt: skip
    questions, subquestions, answers = (
        tables[name] for name in ("questions", "subquestions", "answers")
    )
    texts, labels = tables["question_l10ns"], tables["answer_l10ns"]
    number = 100
    for at, (kind, code, text, relevance, must, other, has, rows, options) in enumerate(asked):
        qid = at + 1
        base = {"qid": qid, "parent_qid": 0, "sid": 9, "gid": 1, "type": kind, "title": code,
                "relevance": relevance, "mandatory": must, "other": other,
                "question_order": at}  # fmt: skip
        for language, word in (("en", text), ("de", german(text))):
            own = {"question": word, "help": "", "language": language}
            questions += [base] if modern and language == "en" else [] if modern else [base | own]
            texts.append({"qid": qid} | own)
        tables["question_attributes"] += [
            {"qid": qid, "attribute": key, "value": value} for key, value in has.items()
        ]
        for row, label, scale in rows:
            number += 1
            base = {"qid": number, "parent_qid": qid, "sid": 9, "gid": 1, "type": kind,
                    "title": row, "question_order": number, "scale_id": scale}  # fmt: skip
            for language in ("en", "de"):
                word = label if language == "en" else german(label)
                own = {"question": word, "language": language}
                subquestions += (
                    [base] if modern and language == "en" else [] if modern else [base | own]
                )
                texts.append({"qid": number} | own)
        for option, label, scale in options:
            number += 1
            base = {"qid": qid, "code": option, "sortorder": number, "scale_id": scale}
            for language in ("en", "de"):
                own = {"answer": label if language == "en" else german(label), "language": language}
                key = {"aid": number}
                if modern:
                    answers += [base | key] if language == "en" else []
                    labels.append(key | own)
                else:
                    answers.append(base | own)
    group = {"gid": 1, "sid": 9, "group_order": 0, "grelevance": ""}
    names = [
        {"gid": 1, "group_name": word, "description": "", "language": language}
        for language, word in (("en", "Habits"), ("de", german("Habits")))
    ]
    texts_of = [
        {"surveyls_language": language, "surveyls_title": title, **said}
        for language, title in (("en", "Smoking"), ("de", "Rauchen"))
    ]
    tables |= {
        "groups": [group] if modern else [{**group, **name} for name in names],
        "group_l10ns": [*names] if modern else [],
        "quota": [{"id": 1, "name": "half"}],
        "surveys": [{"sid": 9, "language": "en", "additional_languages": "de", **settings}],
        "surveys_languagesettings": [*texts_of],
    }
    if not modern:
        texts.clear()
    head = "<LimeSurveyDocType>Survey</LimeSurveyDocType><languages><language>en</language>"
    rows_of = "".join(_rows(name, rows) for name, rows in tables.items())
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><document>{head}<language>de</language>'
        f"</languages>{rows_of}{more}</document>"
    ).encode()


def table(
    asked: Sequence[Any] = QUESTIONS,
    settings: Mapping[str, str] = SETTINGS,
    said: Mapping[str, str] = SAID,
    more: Sequence[list[str]] = (),
) -> bytes:
    """Return the same survey as a table with tabs."""
    keys = sorted({key for question in asked for key in question[6]})
    lines = [["class", "type/scale", "name", "relevance", "text", "help", "language", "validation",
              "mandatory", "other", "default", *keys]]  # fmt: skip
    head = {"language": "en", "additional_languages": "de", "admin": "Ada", **settings}
    lines += [["S", "", name, "", text] for name, text in head.items()]
    for language in ("en", "de"):
        word = german if language == "de" else str
        title = "Rauchen" if language == "de" else "Smoking"
        for name, text in {"surveyls_title": title, **said}.items():
            lines.append(["SL", "", name, "", text, "", language])
        lines.append(["G", "1", word("Habits"), "", "", "", language])
        for kind, code, text, relevance, must, other, has, rows, options in asked:
            lines.append(["Q", kind, code, relevance, word(text), "", language, "", must, other, "",
                          *(has.get(key, "") for key in keys)])  # fmt: skip
            for mark, parts in (("SQ", rows), ("A", options)):
                for part, label, scale in parts:
                    lines.append([mark, str(scale), part, "", word(label), "", language])
    return "\n".join("\t".join(line) for line in [*lines, *more]).encode("utf-8-sig")


FILES = {"new.lss": structure(), "old.lss": structure(modern=False), "table.txt": table()}


@pytest.fixture(scope="module", params=FILES)
def imported(request: pytest.FixtureRequest) -> Imported:
    return read_form(FILES[request.param], request.param)


def test_supported_rows_become_questions(imported: Imported) -> None:
    survey_of(parsed(imported.toml, "x"), "x", Path("."))
    tables = tomllib.loads(imported.toml)
    assert tables["title"] == {"en": "Smoking", "de": "Rauchen"}
    assert tables["introduction"] == {"en": "Hello", "de": "Hello"}
    assert tables["thanks"]["en"] == "Thanks"
    entries = {entry["id"]: entry for entry in tables["questions"]}
    assert [*entries] == [
        *("hello", "smokes", "where", "where-other", "why", "age", "often-am", "often-pm", "brand"),
        *("both-a-1", "both-b-1", "both-a-2", "both-b-2", "sums-x", "sums-y", "mood", "rank"),
        *("born", "sex", "more-a", "more-b", "last"),
    ]
    assert entries["hello"]["kind"] == "note"
    assert entries["hello"]["text"]["en"] == "Welcome all"
    assert entries["hello"]["section"] == {"en": "Habits", "de": "Gewohnheiten"}
    assert entries["smokes"]["text"] == {"en": "Do you smoke?", "de": "Rauchen Sie?"}
    assert (entries["smokes"]["kind"], entries["smokes"]["required"]) == ("yes-no", True)
    where = entries["where"]
    assert [one["text"]["en"] for one in where["options"]] == ["At home", "At work", "Elsewhere"]
    assert where["options"][0]["text"]["de"] == "Zu Hause"
    assert where["shows_if"] == "smokes = 'yes'"
    assert entries["where-other"]["namely"] == where["options"][2]["id"]
    assert (entries["why"]["at_most"], entries["why"]["random_order"]) == (2, True)
    age = entries["age"]
    assert (age["min"], age["max"], age["integer"]) == (18, 99, True)
    assert age["shows_if"] == "where != 'no-answer' and selected(why, 'sq2')"
    assert [point["text"]["en"] for point in entries["often-am"]["points"]] == [
        *("Not at all", "Now and then", "Every day"),
    ]
    assert entries["often-am"]["matrix"]["en"] == "How often?"
    assert entries["often-am"]["shows_if"] == "age >= 21"
    # The value 2 is the third point.
    assert entries["brand"]["shows_if"] == "often-pm = '3'"
    assert [point["text"]["en"] for point in entries["both-b-2"]["points"]] == ["Little", "Much"]
    assert entries["mood"]["shows_if"] == "both-a-1 = '2' or both-b-2 = '2'"
    assert (entries["sums-y"]["min"], entries["sums-y"]["max"]) == (0, 50)
    assert entries["rank"]["kind"] == "rank"
    assert (entries["born"]["min"], entries["born"]["max"]) == (1920, 2010)
    assert entries["sex"]["shows_if"] == "mood = '1' or mood = '2'"
    assert [point["text"]["en"] for point in entries["more-a"]["points"]] == [
        *("Increase", "Same", "Decrease"),
    ]
    assert entries["last"]["text"]["en"] == "Last one about {answer.where|…}?"
    assert "shows_if" not in entries["last"]


def test_each_row_is_reported(imported: Imported) -> None:
    rows = [row.row for row in imported.rows]
    assert len(rows) == len(set(rows))
    # In a table, the rows of the first language come first.
    told = {row.name: (row.outcome, row.detail) for row in reversed(imported.rows)}
    for code, why in {
        "story": "free prose cannot be randomized",
        "weight": "a number needs its lowest and highest value",
        "grid": "a table of numbers is not asked",
        "secret": "it is hidden",
        "odd": "the type ? is not known here",
        "r": "it belongs to grid, which is refused",
        "c": "it belongs to grid, which is refused",
    }.items():
        assert told[code][0] == "refused", code
        assert why in told[code][1]
    assert told["smokes"] == ("imported", "ε = 1 is proposed")
    assert "the function count is not understood" in told["last"][1]
    assert "its validation 1 == 1 is left out" in told["last"][1]
    assert told["SQ1"] == told["A1"] == ("imported", "")
    named = {row.name for row in imported.rows}
    for question in QUESTIONS:
        assert question[1] in named
        for part, *_ in (*question[7], *question[8]):
            assert part in named or f"{question[1]}-{part}" in named or question[0] == "1"


def test_all_rows_of_a_table_are_reported() -> None:
    rows = {int(row.row) for row in read_form(FILES["table.txt"], "table.txt").rows}
    assert rows == {*range(2, FILES["table.txt"].count(b"\n") + 2)}


def test_the_formats_give_the_same() -> None:
    tables = [tomllib.loads(read_form(content, name).toml) for name, content in FILES.items()]
    for found in tables:
        found.pop("id")
    assert tables[0] == tables[1] == tables[2]


def test_texts_of_one_language_are_plain() -> None:
    # The other rows in German are in a language that the survey does not have.
    text = structure().replace(b"<language>de</language>", b"", 1)
    tables = tomllib.loads(read_form(text, "one.lss").toml)
    assert ("languages" in tables, tables["title"]) == (False, "Smoking")


LSS = "<document><LimeSurveyDocType>{0}</LimeSurveyDocType>{1}</document>"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "expected a survey structure"),
        (LSS.format("Group", "").encode(), "expected the structure of a Survey, got Group"),
        (LSS.format("Survey", "<a>").encode(), "expected XML"),
        (LSS.format("Survey", "\0").encode(), "expected XML"),
        (LSS.format("Survey", "ä").encode("latin-1"), "expected XML in UTF-8"),
        (
            b'<!DOCTYPE a [<!ENTITY b "c">]>' + LSS.format("Survey", "&b;").encode(),
            "no document type or entities",
        ),
        (
            LSS.format("Survey", _rows("answers", [{"qid": 1, "code": 2}] * 100_000)).encode(),
            "at most 5,000 rows, got 100,000",
        ),
        (
            b"class\ttype/scale\tname\trelevance\ttext\n" + b"Q\tY\tq\t1\tIs it?\n" * 100_000,
            "at most 5,000 rows",
        ),
        (b"class\ttype/scale\tname\trelevance\ttext\nQ\tY\t\xff", "expected a table in UTF-8"),
        (
            b"class\ttype/scale\tname\trelevance\ttext\nQ\tY\tq\t1\t" + b"x" * (2 << 20),
            "expected a table: field larger",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, told: str) -> None:
    with pytest.raises(FormError, match=told):
        read_form(content, "x.lss", "limesurvey")


def test_deep_xml_is_read() -> None:
    deep = LSS.format("Survey", "<a>" * 100_000 + "</a>" * 100_000).encode()
    assert read_form(deep, "deep.lss").questions == 0


def test_whatever_a_file_holds_the_result_can_be_checked() -> None:
    rng = random.Random(7)
    strange = ["", "0", "-1", "x" * 3000, "{", "é", "no-answer", "1e999", "(((", "'", "none"]
    for name, content in FILES.items():
        words = [question[1] for question in QUESTIONS] + ["Y", "L", "M", "N", "F", "0", "1", "2"]
        for _ in range(12):
            text = content.decode("utf-8-sig")
            for _ in range(rng.randint(1, 12)):
                old = rng.choice(words)
                new = rng.choice([*strange, rng.choice(words)])
                old, new = (
                    (f"[{old}]", f"[{new}]") if "lss" in name else (f"\t{old}\t", f"\t{new}\t")
                )
                text = text.replace(
                    old, new if "lss" not in name else escape(new), rng.choice([1, 9])
                )
            with suppress(FormError):
                found = read_form(text.encode(), name)
                if found.toml:
                    survey_of(parsed(found.toml, "x"), "x", Path("."))
