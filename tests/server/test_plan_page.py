"""The page of a plan is one file that loads nothing, and escapes the texts of authors."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from analysis.charts import Series, line_chart
from analysis.estimate.precision import curve_of_epsilon, curve_of_respondents
from analysis.privacy.accounting import Total
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import deployments, sentences
from analysis.study.planning import Sampled, WaveTotal
from analysis.survey.freeze import freeze
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.plan.epsilons import composition, deployed, meaning, together
from server.plan.estimates import half_widths_part, one_draw, power, precision, sample_part
from server.plan.page import SECTIONS, lead, render, whole_page
from server.plan.parts import Figure, Part, Table
from server.plan.tables import Asked

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
HOSTILE = "\"><script>alert('x')</script> & <b style=color:red>{{ 7 * 7 }}"


class Page(HTMLParser):
    """The content of a page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())


def row(waves: int, **totals: Any) -> WaveTotal:
    """Return a row of totals: the sum is the number of waves, and the smallest unless stated."""
    usual = {"sum": float(waves), "advanced": 9.0, "convolution": float(waves), "renyi": None}
    usual |= {"zcdp": 6.0, "charged": float(waves), "epsilon": float(waves), "delta": 0.0}
    return WaveTotal(waves, **{**usual, "method": "sum", **totals})


SMALLER = {"convolution": 1.98765, "epsilon": 1.98765, "delta": 1e-6, "method": "convolution"}
ROWS = [row(1), row(2, **SMALLER), row(3, zcdp=None, method="memory;convolution")]


def survey_with(text: str) -> Survey:
    options = [{"id": "a", "text": text}, {"id": "b", "text": "B"}]
    question: dict[str, Any] = {"id": "q", "text": text, "kind": "choice", "options": options}
    question |= {"no_answer": True, "epsilon": 1.0, "mechanism": {"name": "krr"}}
    spec = {"id": "s", "title": text, "languages": [], "questions": [question]}
    return freeze({**spec, "privacy": {"cap": 5}})


def full(survey: Survey) -> str:
    """Return a page with all that a section can have, with an author's text in each place."""
    title = survey.text(survey.spec["title"])
    asked = Asked(survey, 1500, 3)
    drawn = line_chart(title, [Series(title, [(1, 2.0), (2, 3.0)])], title, "y")
    part = Part([title], [Figure(drawn, title)], [Table(title, [title], [[title]], title)])
    sections = [
        ("some", title, part),
        ("meaning", "What ε means here", meaning(asked)),
        ("totals", "Waves", composition(ROWS, 1e-6, cap=12)),
        ("deployments", "Who else", deployed(asked)),
    ]
    return render(title, lead(asked), sections, title)


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Survey:
    return read_survey(request.param)


def test_a_page_loads_nothing(example: Survey) -> None:
    page = full(example)
    parsed = Page(page)
    for tag, attributes in parsed.elements:
        assert tag not in {"script", "img", "iframe", "object", "embed", "form", "base", "audio"}
        assert not [
            name for name in attributes if name.startswith("on") or name in ("src", "style")
        ]
        for name in ("href", "xlink:href", "action", "srcset", "data"):
            target = attributes.get(name)
            assert target is None or target.startswith("#") or (tag, target) == ("link", "data:,")
    assert "@import" not in page
    assert "url(" not in page
    policy = [one for _, one in parsed.elements if one.get("http-equiv")]
    assert policy[0]["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_sections_are_in_order_and_empty_ones_are_left_out() -> None:
    empty = Part(tables=[Table("T", ["c"], [])])
    some = Part(["text"])
    page = Page(render("t", "l", [("b", "B", some), ("none", "N", empty), ("a", "A", some)], "f"))
    assert [one["id"] for tag, one in page.elements if tag == "section"] == ["b", "a"]
    assert [one["href"] for tag, one in page.elements if tag == "a"] == ["#b", "#a"]


def test_the_whole_page_has_all_sections_and_ticks_once_for_each() -> None:
    ticks: list[int] = []
    page = whole_page(Asked(survey_with("T"), 200, runs=2), ticks.append)
    found = [one["id"] for tag, one in Page(page).elements if tag == "section"]
    # There is nothing to draw together.
    assert found == [name for name, _, _ in SECTIONS if name != "together"]
    assert len(set(found)) + 1 == len(ticks) == len(SECTIONS)
    assert Page(page).text.count("version ") == 1


def test_one_draw_is_compared_with_separate_ones() -> None:
    examples = {path.stem: read_survey(path) for path in EXAMPLES}
    part = one_draw(Asked(examples["one-draw"], 100))
    assert part.texts[0].startswith("Answers that go into one draw have two limits")
    assert len(part.figures) == 3
    assert "total 2: 0.5: 15.09k, 0.71: 8,718, 1: 5,926" in Page(part.figures[0].svg).text
    part = one_draw(Asked(examples["working-conditions"], 100))
    assert part.texts[0] == "If one draw were for harassed + told + team:"


def test_a_section_that_cannot_be_computed_says_why() -> None:
    (text,) = power(Asked(survey_with("T"), 1)).texts
    assert text == "Power cannot be computed: respondents must be at least 2 for two groups, got 1."


def test_every_question_has_its_sentence_and_two_pictures(example: Survey) -> None:
    part = meaning(Asked(example, 100))
    page = Page(render("t", "l", [("meaning", "M", part)], "f"))
    for question in example.questions:
        assert sentences(question, example.labels(question))[0] in page.text
        assert example.wording(question) in page.text
    pictures = [one for tag, one in page.elements if tag == "svg"]
    assert len(pictures) == 2 * len(example.questions)
    assert all(one["role"] == "img" for one in pictures)


def test_texts_of_authors_are_escaped() -> None:
    page = full(survey_with(HOSTILE))
    assert "<script" not in page
    assert "<b " not in page
    assert not [one for _, one in Page(page).elements if "style" in one]
    assert Page(page).text.count("<script>alert('x')</script> & <b style=color:red>{{ 7 * 7 }}") > 3


def test_the_plan_is_in_few_words() -> None:
    survey = survey_with("T")
    assert lead(Asked(survey, 1500, 3)) == (
        "1,500 respondents in each of 3 waves, 95 % intervals; a respondent spends ε = 3 in total, "
        "of a cap of 5. Whatever is asked of all these reports together, they move a belief of "
        "50 % to 95.3 % at most."
    )
    assert lead(Asked(survey, 1, level=0.9)).startswith("1 respondent in one wave, 90 % intervals")
    passed = lead(Asked(survey, 1500, 6))
    assert "ε = 6 in total, more than a cap of 5: nobody could answer all." in passed


def test_no_plan_says_that_more_is_spent_than_a_cap_that_is_kept() -> None:
    (path,) = (one for one in EXAMPLES if one.stem == "night-life")
    survey = read_survey(path)
    said = lead(Asked(survey, 1000))
    spent, cap = (in_epsilon(one).normalize() for one in (survey.charge, survey.cap))
    assert f"ε = {spent:f} in total, of a cap of {cap:f}." in said
    assert spent <= cap


def test_reports_that_reveal_one_answer_are_added_up() -> None:
    (path,) = (one for one in EXAMPLES if one.stem == "working-conditions")
    survey = read_survey(path)
    harassed, told, *_ = survey.questions
    assert together(survey, harassed, 1) == (
        " All reports on it in one wave, and on told (shown only after some of its answers), "
        "together have ε = 2, which moves a belief of 50 % to 88.1 % at most."
    )
    assert "in 3 waves together have ε = 3," in together(survey, told, 3)
    assert together(survey, told, 1) == ""
    assert "and on told (shown only after some of its answers)" in Page(full(survey)).text


def test_every_deployment_is_there_with_unit_and_model() -> None:
    part = deployed(Asked(survey_with("T"), 100, 2))
    page = Page(render("t", "l", [("deployments", "D", part)], "f")).text
    for row in deployments():
        assert row.name in page
        assert row.spent in page
    assert "ε = 1; unit: respondent, all questions, one wave; model: local" in page
    assert "ε = 2; unit: respondent, all questions, 2 waves; model: local" in page


def test_a_survey_of_the_first_format_is_placed_by_its_true_epsilon() -> None:
    question = {"id": "q", "text": "?", "kind": "number", "min": 0, "max": 10, "step": 1}
    question |= {"no_answer": False, "epsilon": 1.0, "mechanism": {"name": "gaussian"}}
    question |= {"delta": 0.01}
    spec = {"id": "s", "title": "T", "languages": [], "questions": [question]}
    survey = freeze({**spec, "privacy": {"cap": 5}})
    (one,) = survey.questions
    assert one.randomizer.charge == 1_013_723
    words = [str(row[1]) for row in deployed(Asked(survey, 100, 3)).tables[0].rows]
    assert [text for text in words if text.startswith("ε = 3.042; unit: respondent")]


def test_no_epsilon_of_a_deployment_is_without_its_unit() -> None:
    part = deployed(Asked(survey_with("T"), 100))
    page = Page(render("t", "l", [("deployments", "D", part)], "f")).text
    section = page[page.index("Local model, by ε") :]
    for start in (match.end() for match in re.finditer(r"ε = [\d.]+", section)):
        assert re.match(r"(, δ = [\d.e-]+)?; unit: .+?; model: ", section[start : start + 200])


def test_composition_shows_the_smallest_total_with_method_and_delta() -> None:
    part = composition(ROWS, 1e-6, cap=12)
    (table,) = part.tables
    # A column without values is left out; a total is rounded up.
    totals = ["sum", "advanced", "convolution", "zCDP"]
    ends = ["Shown in ledgers", "by", "with δ ="]
    assert list(table.columns) == ["Waves", "Charged", *totals, *ends]
    assert list(table.rows[1]) == [2, "2", "2", "9", "1.988", "6", "1.988", "convolution", "1e-06"]
    assert list(table.rows[2][-4:]) == ["–", "3", "memory, convolution", "0"]
    (figure,) = part.figures
    assert "cap 12" in figure.svg
    # The convolution differs from the sum by more than a line's width in the second row.
    assert all(name in figure.svg for name in ("sum", "advanced", "convolution", "zCDP"))
    same = composition([row(1, advanced=1.0, zcdp=1.0), row(2, advanced=2.0, zcdp=2.0)], 1e-6)
    assert list(same.tables[0].columns) == ["Waves", "Charged", "sum", *ends]
    assert same.figures[0].caption == "No method proves a smaller total than this."
    assert "convolution" not in same.figures[0].svg
    assert not composition([], 1e-6)
    assert not composition(ROWS[:1], 1e-6).figures


@pytest.mark.parametrize(("epsilon", "told"), [(0.9, True), (1.0, False)])
def test_the_public_view_is_mentioned_if_it_is_less(epsilon: float, told: bool) -> None:
    words = " ".join(composition(ROWS, 1e-6, public=Total(epsilon, 1e-6, "shuffle")).texts)
    assert ("at most ε = 0.9 at δ = 1e-06" in words) is told
    assert ("mixed reports" in words) is told


def test_the_share_of_the_worst_half_width_is_stated_in_words() -> None:
    part = precision(Asked(survey_with("T"), 1000))
    (cells,) = part.tables[0].rows
    assert re.fullmatch(r"T: 0\.\d+", str(cells[3]))


def test_a_plan_says_why_it_can_be_wider_if_nobody_could_skip(tmp_path: Path) -> None:
    notes = []
    for points in ("[1, 2, 3, 4, 5]", "[1, 2, 3]"):
        path = tmp_path / "s.toml"
        path.write_text(
            'id = "s"\ntitle = "S"\n[[questions]]\nid = "q"\nkind = "scale"\ntext = "?"\n'
            f"points = {points}\nepsilon = 1\n"
        )
        notes.append(precision(Asked(read_survey(path), 800)).tables[0].note)
    assert notes[0].startswith("If nobody could skip, the question would have one value fewer")
    assert notes[1] == ""


def test_curves_and_samples_are_drawn_from_the_plan(example: Survey) -> None:
    questions = example.questions
    at_n = [point for one in questions for point in curve_of_respondents(one, [100, 1000])]
    at_epsilon = {one.id: curve_of_epsilon(one, [100, 1000], [0.5, 2.0]) for one in questions[:1]}
    part = half_widths_part(example, 500, at_n, at_epsilon)
    *of_all, of_one = [figure.svg for figure in part.figures]
    # Six curves are as many as one chart can distinguish.
    assert len(of_all) == -(-len(questions) // 6)
    assert all("n = 500" in one for one in of_all)
    assert re.search(rf"half-width (in \w+ )?of {questions[0].id}", of_one)
    assert all(one.id in "".join(of_all) for one in questions)
    runs = [
        Sampled(run, questions[0].id, "yes", "Yes", 0.3, 0.1 * run, 0.0, 1.0, 0.2, 0.4 + run / 10)
        for run in range(3)
    ]
    runs.append(Sampled(0, questions[0].id, "other", "O", None, 1.0, 0.0, 1.0, None, None))
    (figure,) = sample_part(example, runs).figures
    assert "3 estimates from 0 % to 20 %; true value 30 %" in figure.svg
    # The ends 0.4, 0.5, 0.6 of the plain interval have the mean 0.5.
    assert "asks directly: 20 % to 50 %" in figure.svg
    assert not sample_part(example, [])


def test_tables_take_dataclasses_and_dictionaries() -> None:
    columns = {"waves": "Waves", "epsilon": "ε", "renyi": "Rényi"}
    table = Table.of("T", columns, ROWS)
    assert list(table.columns) == ["Waves", "ε"]
    # An ε is rounded up.
    assert [list(one) for one in table.rows] == [[1, "1"], [2, "1.988"], [3, "3"]]
    assert Table.of("T", {"a": "A"}, [{"a": 1, "b": 2}]).rows == [[1]]
    assert Table.of("T", {"power": "Power"}, [{"power": 0.9999}]).rows == [["over 99.9 %"]]
    with pytest.raises(ValueError, match=r'table "T": rows must have 2 cells, got 1'):
        Table("T", ["a", "b"], [[1]])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, None], "number"),
        (["about 58", "75"], "number"),
        (["sum", "convolution"], "word"),
        (["x" * 41], "text"),
    ],
)
def test_numbers_are_aligned_right_and_words_left(cells: list[Any], kind: str) -> None:
    assert Table("T", ["c"], [[cell] for cell in cells]).kinds == [kind]
