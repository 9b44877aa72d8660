"""Tables, models, codebooks and data from elsewhere, as the command prints them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy.special import expit

from analysis.estimate.estimates import ESTIMATE_COLUMNS
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.deliver import to_store
from server.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples/elsewhere"
DICE = [str(EXAMPLES / "dice.csv"), "--design", str(EXAMPLES / "dice.toml")]
FIT = [
    "n",
    "log_likelihood",
    "parameters",
    "aic",
    "converged",
    "boundary",
    "se_type",
    "clusters",
    "interval",
    "penalty",
]
TERM = ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
TERM += ["conf_method", "flag"]


def _run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, survey_text: str) -> Path:
    """Return the canteen, answered by 4,800 people: meat eaters like roast and pay more."""
    folder = tmp_path_factory.mktemp("canteen")
    (folder / "canteen.toml").write_text(survey_text)
    survey = read_survey(folder / "canteen.toml")
    store = Store(folder / "canteen.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    people = [
        {"meat": "yes", "dish": "roast", "price": "12"},
        {"meat": "yes", "dish": "soup", "price": "8"},
        {"meat": "no", "dish": "", "price": "4"},
        {"meat": "no", "dish": "", "price": "4"},
        {"meat": "yes", "dish": "roast", "price": "4"},
        {"meat": "no", "dish": "", "price": "12"},
    ] * 800
    to_store(store, survey.id, payloads(survey, people, 1, 3), lambda _: None)
    store.close()
    return folder / "canteen.db"


def test_elsewhere_has_the_columns_of_estimates() -> None:
    rows = _rows(_run("analyze", *DICE).stdout)
    assert tuple(rows[0]) == ESTIMATE_COLUMNS
    assert [(row["survey"], row["question"], row["term"]) for row in rows] == [
        ("dice", "joined", "0"),
        ("dice", "joined", "1"),
    ]
    # 43 % of these made-up people joined.
    assert float(rows[1]["conf_low"]) < 0.43 < float(rows[1]["conf_high"])


def test_a_model_is_two_tables_or_one_object() -> None:
    told = _run("analyze", *DICE, "--model", "joined ~ age + town").stdout
    terms, fit = (_rows(part) for part in told.split("\n\n"))
    assert list(terms[0]) == TERM
    assert [list(row) for row in fit] == [FIT]
    assert fit[0]["n"] == "1200"
    truth = {"Intercept": -3, "age": 0.05, "town[T.south]": 0.8}
    for row in terms:
        away = (float(row["estimate"]) - truth[row["term"]]) / float(row["std_error"])
        assert abs(away) < 3
    whole = json.loads(_run("analyze", *DICE, "--model", "joined ~ age + town", "--json").stdout)
    assert list(whole) == ["terms", *FIT, "messages", "predicted", "effects"]
    assert whole["terms"][1]["estimate"] == pytest.approx(float(terms[1]["estimate"]))
    assert (whole["converged"], whole["boundary"]) == (True, False)
    effects = _rows(_run("analyze", *DICE, "--model", "joined ~ age + town", "--effects").stdout)
    assert [(row["predictor"], row["change"], row["value"]) for row in effects] == [
        ("age", "slope", "0"),
        ("age", "slope", "1"),
        ("town", "south - north", "0"),
        ("town", "south - north", "1"),
    ]
    people = _rows(Path(DICE[0]).read_text())
    odds = [-3 + 0.05 * float(row["age"]) + 0.8 * (row["town"] == "south") for row in people]
    slope = 0.05 * float(np.mean(expit(odds) * (1 - expit(odds))))
    assert float(effects[1]["conf_low"]) < slope < float(effects[1]["conf_high"])


def test_an_offset_may_be_a_column_that_the_model_does_not_name(tmp_path: Path) -> None:
    lines = ["x,visits,months"] + [f"{i % 2},{3 * (1 + i % 3)},{1 + i % 3}" for i in range(60)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "visits.toml").write_text(
        '[columns.x]\nvalues = ["0", "1"]\ndesign = {name = "krr", epsilon = 3}\n'
    )
    words = ("analyze", tmp_path / "visits.csv", "--design", tmp_path / "visits.toml")
    model = ("--model", "visits ~ 1", "--family", "poisson", "--offset", "log(months)")
    (term,) = _rows(_run(*words, *model).stdout.split("\n\n")[0])
    # Three visits a month.
    assert float(term["estimate"]) == pytest.approx(np.log(3))


@pytest.fixture
def rare(tmp_path: Path) -> list[str]:
    """Return a table in which one team reports less often than noise alone makes."""
    lines = ["hurt,team"] + [f"{int(i % 10 < 2)},a" for i in range(400)]
    lines += [f"{int(i % 10 < 5)},b" for i in range(400)]
    (tmp_path / "rare.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "rare.toml").write_text(
        '[columns.hurt]\nvalues = ["0", "1"]\nyes = "1"\ndesign = {name = "krr", epsilon = 1}\n'
    )
    return [str(tmp_path / "rare.csv"), "--design", str(tmp_path / "rare.toml")]


def test_infinite_numbers_are_empty_and_have_words(rare: list[str]) -> None:
    words = ("analyze", *rare, "--model", "hurt ~ team")
    told = _rows(_run(*words).stdout.split("\n\n")[0])
    base, slope = told
    assert (base["estimate"], base["conf_low"]) == ("", "")
    assert base["flag"] == "estimate-minus-infinity;no-lower-limit"
    assert float(base["conf_high"]) < -1
    assert (slope["estimate"], slope["conf_high"]) == ("", "")
    assert slope["flag"] == "estimate-plus-infinity;no-upper-limit"
    result = _run(*words, "--json")
    assert "Infinity" not in result.stdout
    whole = json.loads(result.stdout)
    assert (whole["terms"][0]["conf_low"], whole["interval"]) == (None, "profile")
    assert whole["terms"][0]["flag"] == base["flag"]
    assert "the likeliest value of Intercept, team[T.b] is infinite" in result.stderr
    text = _run(*words, "--format", "text")
    assert text.exit_code == 2  # Tables of models are for programs alone.
    by_wald = json.loads(_run(*words, "--interval", "wald", "--json").stdout)
    assert by_wald["interval"] == "wald"
    assert [term["conf_high"] for term in by_wald["terms"]] == [None, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "joined ~ wage"), "wage"),
        (("--model", "joined ~ age +"), "formula"),
        (("--model", "joined ~ age", "--family", "poisson"), "poisson"),
        (
            ("--model", "age ~ joined", "--family", "poisson", "--offset", "joined"),
            "an offset must be made of known columns",
        ),
        (("--design", "nowhere.toml"), "nowhere.toml: cannot be read"),
    ],
)
def test_impossible_models_are_refused_in_a_line(words: tuple[str, ...], message: str) -> None:
    result = _run("analyze", *DICE, *words)
    assert result.exit_code == 1
    assert message in result.output
    assert not result.stdout
    assert isinstance(result.exception, SystemExit)


def test_randomized_zeros_and_ones_are_numbers_in_formulas() -> None:
    told = _run("analyze", *DICE, "--model", "age ~ joined", "--family", "linear").stdout
    terms = {row["term"]: float(row["estimate"]) for row in _rows(told.split("\n\n")[0])}
    assert list(terms) == ["Intercept", "joined"]
    # Among these made-up people, those who joined are older.
    assert terms["joined"] > 5


def test_crosstab_shows_what_goes_together(answered: Path) -> None:
    result = _run("crosstab", "canteen", "meat", "dish", "--db", answered)
    rows = _rows(result.stdout)
    share = {(row["first"], row["second"]): row for row in rows if row["quantity"] == "share"}
    assert len(share) == 12
    for pair, truth in {("yes", "roast"): 1 / 3, ("no", "no-answer"): 1 / 2}.items():
        row = share[pair]
        assert abs(float(row["estimate"]) - truth) < 4 * float(row["std_error"])
        assert float(row["conf_low"]) < float(row["conf_high"])
    assert "test of independence: statistic" in result.stderr
    assert {row["wave"] for row in rows} == {"1"}
    # Nobody who eats meat skips the dish, so a ratio to them has no upper limit.
    (ratio,) = (
        row
        for row in rows
        if (row["quantity"], row["first"], row["second"]) == ("ratio", "no", "no-answer")
    )
    assert ratio["conf_high"] == ""
    assert "no-upper-limit" in ratio["flag"]
    assert all("inf" not in row["conf_high"] for row in rows)
    told: list[dict[str, Any]] = json.loads(
        _run("crosstab", "canteen", "meat", "dish", "--db", answered, "--json").stdout
    )
    assert len(told) == len(rows)
    (test,) = _rows(_run("crosstab", "canteen", "meat", "dish", "--tests", "--db", answered).stdout)
    assert test["test"] == "independence"
    assert test["df"] == "6"
    assert float(test["p_value"]) < 0.001


def test_means_are_printed_by_group(answered: Path) -> None:
    rows = _rows(_run("crosstab", "canteen", "meat", "price", "--db", answered).stdout)
    means = {row["first"]: row for row in rows if row["quantity"] == "mean"}
    for group, truth in {"yes": 8, "no": 20 / 3}.items():
        assert abs(float(means[group]["estimate"]) - truth) < 4 * float(means[group]["std_error"])


def test_models_know_the_clusters_and_strata_of_a_sample(tmp_path: Path) -> None:
    header, *people = Path(DICE[0]).read_text().split()
    data, design = tmp_path / "dice.csv", tmp_path / "dice.toml"
    rows = [f"{person},{at % 40},{at % 2}" for at, person in enumerate(people)]
    data.write_text("\n".join([f"{header},team,half", *rows]))
    text = Path(DICE[2]).read_text()
    for keys, clusters in (('clusters = "team"\nstrata = "half"', "40"), ('strata = "half"', "")):
        design.write_text(f"{text}[sample]\n{keys}\n")
        result = _run("analyze", data, "--design", design, "--model", "joined ~ town")
        (fit,) = _rows(result.stdout.split("\n\n")[1])
        assert fit["clusters"] == clusters
        assert fit["se_type"] == ("cluster sandwich" if clusters else "sandwich")
    design.write_text(f"{text}[sample]\npopulation = 90000\n")
    told = _run("analyze", data, "--design", design, "--model", "joined ~ town")
    assert "no finite population correction" in told.stderr
    assert "observed information" in told.stdout


@pytest.mark.more
def test_models_of_a_survey_are_of_randomized_columns(answered: Path) -> None:
    result = _run("regress", "canteen", "meat ~ price", "--db", answered)
    assert result.exit_code == 0, result.output
    terms = _rows(result.stdout.split("\n\n")[0])
    slope = next(row for row in terms if row["term"] == "price")
    # This is the slope of these people's true answers, by any program's logit.
    assert float(slope["conf_low"]) < 0.105 < float(slope["conf_high"])
    assert [row["term"] for row in terms] == ["Intercept", "price"]
    assert "a model of those who answered" in result.stderr
    result = _run("regress", "canteen", "meat ~ price", "--no-answer", "category", "--db", answered)
    assert [row["term"] for row in _rows(result.stdout.split("\n\n")[0])][2] == "price[no-answer]"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("crosstab", "canteen", "meat", "drinks"), "question: expected one of meat, dish, price"),
        (("regress", "canteen", "meat ~ drinks"), "drinks"),
        (("crosstab", "canteen", "meat", "dish", "--wave", "2"), "wave: expected one of 1, got 2"),
        (("codebook", "kitchen"), "survey: expected one of canteen"),
    ],
)
def test_missing_things_are_named(answered: Path, words: tuple[str, ...], message: str) -> None:
    result = _run(*words, "--db", answered)
    assert result.exit_code == 1
    assert message in result.output


def test_options_of_a_group_and_questions_of_a_sample_are_crossed(tmp_path: Path) -> None:
    options = ", ".join(f'{{id = "o{x}", text = "x"}}' for x in range(4))
    questions = "".join(
        f'[[questions]]\nid = "q{x}"\nkind = "yes-no"\ntext = "?"\nrequired = true\n'
        for x in range(4)
    )
    path, table, db = tmp_path / "s.toml", tmp_path / "answers.csv", tmp_path / "s.db"
    path.write_text(
        'id = "s"\ntitle = "T"\n[[together]]\nid = "some"\nquestions = ["q0", "q1", "q2", "q3"]\n'
        "epsilon = 4\nepsilon_each = 3\nask = 3\n"
        '[[questions]]\nid = "q"\nkind = "choices"\ntext = "?"\nat_most = 4\nrequired = true\n'
        f'epsilon = 4\nmechanism = "group"\noptions = [{options}]\n' + questions
    )
    rng, lines = np.random.default_rng(1), ["q,q0,q1,q2,q3"]
    for _ in range(3000):
        ticked = rng.random(4) < (0.5, 0.2, 0.5, 0.5)
        ticked[1] = ticked[0] and rng.random() < 0.5
        yes = "yes" if ticked[0] else "no"
        other = "yes" if rng.random() < 0.5 else "no"
        chosen = "|".join(f"o{x}" for x in range(4) if ticked[x]) or "none"
        lines.append(f"{chosen},{yes},{yes},{other},{other}")
    table.write_text("\n".join(lines) + "\n")
    assert _run("publish", path, "--db", db).exit_code == 0
    assert _run("simulate", path, "--answers", table, "--db", db, "--seed", "1").exit_code == 0

    def shares(*words: str) -> tuple[dict[tuple[str, str], dict[str, str]], str]:
        result = _run("crosstab", "s", *words, "--level", "0.9999", "--db", db)
        assert result.exit_code == 0, result.output
        rows = csv.DictReader(result.stdout.splitlines())
        return {
            (r["first"], r["second"]): r for r in rows if r["quantity"] == "share"
        }, result.stderr

    found, said = shares("q.o0", "q.o1")
    for cell, true in {("yes", "yes"): 0.25, ("no", "yes"): 0.0, ("no", "no"): 0.5}.items():
        assert float(found[cell]["conf_low"]) <= true <= float(found[cell]["conf_high"])
    # At this ε everybody reports all four options together.
    assert found["yes", "yes"]["n"] == "3000"
    assert "respondents" not in said
    found, said = shares("q0", "q1")
    for cell, true in {("yes", "yes"): 0.5, ("yes", "no"): 0.0, ("no", "no"): 0.5}.items():
        assert float(found[cell]["conf_low"]) <= true <= float(found[cell]["conf_high"])
    # Each person is asked three of four, so half of all people are asked both.
    n = int(found["yes", "yes"]["n"])
    assert abs(n - 1500) < 150
    assert f"{n:,} of 3,000 respondents" in said
    found, _ = shares("q.o0", "q2")
    assert float(found["yes", "yes"]["conf_low"]) <= 0.25 <= float(found["yes", "yes"]["conf_high"])
    result = _run("regress", "s", "q0 ~ q1 + q2 + q3", "--db", db)
    assert result.exit_code == 1
    assert "expected reports about all of these questions, got none" in result.output


def test_options_of_one_draw_are_not_crossed(answered: Path) -> None:
    night = Store(answered.parent / "night.db", create=True)
    survey = read_survey(EXAMPLES.parent / "night-life.toml")
    night.surveys.publish(survey)
    night.surveys.open_wave(survey.id)
    words = ("night-2026", "tried.alcohol", "tried.cannabis", "--db", answered.parent / "night.db")
    result = _run("crosstab", *words)
    assert result.exit_code == 1
    assert "expected columns from separate draws" in result.output
    # The options of a required question, of which few may be ticked, come from one draw, too.
    options = ", ".join(f'{{id = "o{x}", text = "x"}}' for x in range(6))
    path = answered.parent / "few.toml"
    path.write_text(
        'id = "few"\ntitle = "T"\n[[questions]]\nid = "q"\nkind = "choices"\ntext = "?"\n'
        f"at_most = 2\nrequired = true\nepsilon = 1\noptions = [{options}]\n"
    )
    few = read_survey(path)
    assert few.questions[0].mechanism.name == "privset"
    night.surveys.publish(few)
    night.surveys.open_wave(few.id)
    result = _run("crosstab", "few", "q.o0", "q.o1", *words[3:])
    assert "expected columns from separate draws" in result.output
    result = _run("crosstab", "night-2026", "tried", "drove", *words[3:])
    assert "got 'tried' (name one option, such as question.option)" in result.output


def test_rounding_of_numbers_is_mentioned(answered: Path) -> None:
    result = _run("regress", "canteen", "meat ~ price", "--db", answered)
    assert "price was rounded at random, to numbers 2.5 apart" in result.stderr


def test_too_few_respondents_for_a_table_are_reported(
    store: Store, survey: Survey, database: Path
) -> None:
    people = [{"meat": "yes", "dish": "soup", "price": "3"}] * 20
    to_store(store, "canteen", payloads(survey, people, 1, 4), lambda _: None)
    result = _run("crosstab", "canteen", "meat", "dish", "--db", database)
    assert result.exit_code == 1
    assert (
        "too few respondents to distinguish the cells: with 20 a share is known to" in result.output
    )


def test_codebook_describes_columns(answered: Path) -> None:
    rows = _rows(_run("codebook", "canteen", "--db", answered).stdout)
    export = _rows(_run("export", "canteen", "--db", answered).stdout)
    assert {row["variable"] for row in rows} | {row["weight"] for row in rows if row["weight"]} == {
        name for name in export[0] if name != "debiased_price_answered"
    }
    dish = [row for row in rows if row["question"] == "dish"]
    assert [row["value"] for row in dish] == ["soup", "stew", "roast", "no-answer"]
    assert dish[0]["asked"] == "meat = 'yes'"
    assert float(dish[0]["epsilon"]) == pytest.approx(1.5, abs=1e-3)
    assert float(dish[0]["p"]) > float(dish[0]["q"]) > 0
    paragraph = _run("codebook", "canteen", "--db", answered, "--methods").stdout
    assert "n = 4,800" in paragraph
    assert "A respondent spends ε = 4 in a wave, and at most 12 on the survey." in paragraph
