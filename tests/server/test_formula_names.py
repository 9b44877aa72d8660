"""Names in formulas that formulas cannot read by themselves are those of questions and columns."""

import json
from pathlib import Path
from typing import Any

import pytest
from bundled import study
from command_line import run

from analysis.study.sources.names import names_in, quoted, spelled
from analysis.survey.survey_file import read_survey

SURVEY = """
title = "Names"
id = "names"
[privacy]
cap = 100
""" + "".join(
    f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\nrequired = true\nepsilon = 4\n'
    for name in ("a", "b", "a-b", "2nd", "class")
)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("y ~ a-b", "y ~ `a-b`"),
        ("a-b ~ a - b", "`a-b` ~ a - b"),
        ("y ~ a-b-c", "y ~ `a-b-c`"),
        ("y ~ a-b-1", "y ~ `a-b`-1"),
        ("y ~ c-a-b", "y ~ c-`a-b`"),
        ("y ~ C(2nd) + 2*x", "y ~ C(`2nd`) + 2*x"),
        ("y ~ x-2 + 1e5", "y ~ x-2 + 1e5"),
        ("y ~ xa-b + a-bx", "y ~ xa-b + a-bx"),
        ("y ~ `a-b` + C(x, levels=['a-b'])", "y ~ `a-b` + C(x, levels=['a-b'])"),
        ("y ~ strain.at-work:C(x.y)", "y ~ `strain.at-work`:C(`x.y`)"),
        ("class ~ is_class", "`class` ~ is_class"),
    ],
)
def test_known_names_are_quoted(formula: str, found: str) -> None:
    known = [
        "a",
        "b",
        "c",
        "a-b",
        "a-b-c",
        "2nd",
        "1",
        "2",
        "1e5",
        "strain.at-work",
        "x.y",
        "class",
    ]
    assert quoted(formula, known) == found


def test_names_are_spelled_alike_in_texts_and_calls() -> None:
    formula = "`a-b` ~ C(`2nd`, levels=['a-b']) + `class` + rest"
    names = names_in(formula)
    assert names == ["a-b", "2nd", "class", "rest"]
    assert spelled(formula, names) == "a_b ~ C(`2nd`, levels=['a-b']) + `class` + rest"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("names")
    (folder / "names.toml").write_text(SURVEY)
    return study(folder / "x.db", read_survey(folder / "names.toml"), 400).database.place


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("a ~ a-b", ["Intercept", "a_b[T.yes]"]),
        ("a-b ~ 2nd + b", ["Intercept", "2nd[T.yes]", "b[T.yes]"]),
        ("a ~ C(2nd) + class", ["Intercept", "C(`2nd`)[T.yes]", "class[T.yes]"]),
        ("a ~ b - 1", ["b[no]", "b[yes]"]),
    ],
)
def test_a_model_of_a_survey_takes_ids_as_they_are(
    answered: Any, formula: str, terms: list[str]
) -> None:
    result = run("regress", "names", formula, "--db", answered, "--format", "json")
    assert result.exit_code == 0, result.output
    assert [row["term"] for row in json.loads(result.stdout)["terms"]] == terms


def test_a_model_of_a_table_takes_names_of_columns_as_they_are(tmp_path: Path) -> None:
    rows = [f"{n % 2},{(n // 2) % 2},{n % 5},{1 + n % 3}" for n in range(200)]
    (tmp_path / "x.csv").write_text("\n".join(["ill,old-age,2nd,work-hours", *rows]) + "\n")
    (tmp_path / "design.toml").write_text(
        '[columns.ill]\nvalues = ["0", "1"]\ndesign = {name = "warner", p = "3/4"}\n'
    )
    words = ("regress", tmp_path / "x.csv", "--design", tmp_path / "design.toml")
    result = run(*words, "ill ~ old-age + 2nd", "--format", "json")
    assert result.exit_code == 0, result.output
    found = [row["term"] for row in json.loads(result.stdout)["terms"]]
    assert found == ["Intercept", "old-age", "2nd"]
    poisson = ("2nd ~ ill", "--family", "poisson", "--offset", "log(work-hours)")
    assert run(*words, *poisson).exit_code == 0
