"""The page to explore: its numbers are the commands', its states have addresses, it is bounded."""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from command_line import run, table
from flask.testing import FlaskClient
from test_reading_grade import grade

from analysis.privacy.accounting import compose
from analysis.privacy.accounting.loss import PrivacyLoss
from analysis.privacy.meaning import deployments
from analysis.study.exploration import spend_cap
from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.explore import render_static
from server.explore.allowance import Allowance
from server.explore.fields import AnyField, Field, Wrong
from server.explore.page import Answers
from server.explore.sections import SECTIONS, Section
from server.headers import HEADERS, WITH_PROGRAM
from server.store import Store

IDS = [section.id for section in SECTIONS]
FIELDS = [(section.id, field) for section in SECTIONS for field in section.fields]


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    database = tmp_path_factory.mktemp("explore") / "x.db"
    Store(database, create=True).close()
    app = create_app({"DATABASE": database})
    app.extensions["explore"] = Answers(Allowance(share=1e9))
    return app.test_client()


@pytest.fixture
def collected(tmp_path: Path) -> Callable[[str, list[str]], list[int]]:
    """Return a collector's answers to one respondent, who is asked with each ε in turn."""

    def collect(cap: str, epsilons: list[str]) -> list[int]:
        database = tmp_path / "collected.db"
        store = Store(database, create=True)
        client = create_app({"DATABASE": database}).test_client()
        statuses = []
        for wave, epsilon in enumerate(epsilons, 1):
            survey = read_survey(survey_file(tmp_path, epsilon, more=f"[privacy]\ncap = {cap}\n"))
            store.surveys.publish(survey)
            store.surveys.open_wave(survey.id, wave)
            (sent,) = payloads(survey, [{"q0": "yes"}], wave, seed=1)
            statuses.append(client.post(f"/api/surveys/{survey.id}/reports", json=sent).status_code)
        return statuses

    return collect


def words(html: str) -> str:
    """Return the texts of a page, with plain blanks."""
    plain = re.sub(r"<(svg|script)\b.*?</\1>", " ", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", plain)).replace("\xa0", " ").split())


def survey_file(folder: Path, *epsilons: str, more: str = "") -> Path:
    """Return a survey with a yes-no question at each ε, which nobody can skip."""
    path = folder / "explored.toml"
    questions = "".join(
        f'[[questions]]\nid = "q{place}"\nkind = "yes-no"\ntext = "?"\nrequired = true\n'
        + (f"epsilon = {epsilon}\n" if epsilon else "")
        for place, epsilon in enumerate(epsilons)
    )
    path.write_text(f'id = "explored"\ntitle = "Explored"\n{questions}{more}')
    return path


@pytest.mark.parametrize("path", ["/explore", *(f"/explore/{one}" for one in IDS)])
def test_everybody_may_explore_under_headers_as_strict_as_elsewhere(
    visitor: FlaskClient, path: str
) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 200
    expected = HEADERS | {"Content-Security-Policy": WITH_PROGRAM}
    assert {name: answer.headers[name] for name in expected} == expected
    assert "Set-Cookie" not in answer.headers
    assert 'style="' not in answer.text
    assert "<script>" not in answer.text
    assert visitor.head(path).status_code == 200
    assert visitor.post(path).status_code == 405


def test_other_pages_do_not_exist(visitor: FlaskClient) -> None:
    assert visitor.get("/explore/nothing").status_code == 404
    assert visitor.get("/explore/meaning/more").status_code == 404


@pytest.mark.parametrize("planes", [["public"], ["research"]])
def test_respondents_and_researchers_addresses_both_have_it(
    database: Path, store: Store, planes: list[str]
) -> None:
    client = create_app({"DATABASE": database, "PLANES": planes}).test_client()
    assert client.get("/explore/meaning").status_code == 200


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3.25"])
def test_the_meaning_of_epsilon_is_that_of_plan(
    visitor: FlaskClient, tmp_path: Path, epsilon: str
) -> None:
    path = survey_file(tmp_path, epsilon)
    (row, _) = table(run("plan", path, "--respondents", 100, "--table", "meaning"))
    text = words(visitor.get(f"/explore/meaning?meaning-epsilon={epsilon}").text)
    assert row["sentence"].startswith("Of 100 people whose true answer is “Yes”, about ")
    for name, ends in {"of_100": "send “yes”.", "of_100_others": "send “yes”, too."}.items():
        assert f"about {float(row[name]):.0f} {ends}" in text
    assert f"can believe it with {100 * float(row['belief_10_seen']):.3g} %" in text
    assert f"after “no”, with {100 * float(row['belief_10_not_seen']):.3g} %" in text
    for prior in (1, 10, 50):
        belief = 100 * float(row[f"belief_{prior}_seen"])
        told = map(float, re.findall(r"([\d.]+) %", text))
        assert any(belief <= percent <= belief * 1.01 for percent in told), prior


@pytest.mark.parametrize(("epsilon", "people", "points"), [("1", 2000, 5), ("2", 300, 10)])
def test_precision_and_people_needed_are_those_of_plan(
    visitor: FlaskClient, tmp_path: Path, epsilon: str, people: int, points: int
) -> None:
    path = survey_file(tmp_path, epsilon)
    command = ["plan", path, "--respondents", people, "--half-width", points / 100]
    (row,) = table(run(*command))
    query = f"precision-epsilon={epsilon}&precision-people={people}&precision-points={points}"
    text = words(visitor.get(f"/explore/precision?{query}").text)
    widths = [float(row[f"half_width{name}"]) for name in ("", "_curator", "_direct")]
    for width in widths:
        assert f"± {100 * width:.3g} points" in text
    assert " ".join(f"{100 * width:.2f}" for width in widths) in text
    assert f"takes {int(row['respondents_needed']):,} people on their own devices" in text


def test_the_numbers_of_a_group_are_those_of_plan(visitor: FlaskClient, tmp_path: Path) -> None:
    path = survey_file(tmp_path, "1")
    (row,) = table(run("plan", path, "--respondents", 200, "--half-width", 0.1))
    text = words(visitor.get("/explore/groups").text)
    assert f"known to ± {100 * float(row['half_width']):.3g} points" in text
    assert f"a group needs {int(row['respondents_needed']):,} people" in text


def test_totals_are_those_of_the_table_in_the_privacy_guide(visitor: FlaskClient) -> None:
    guide = (Path(__file__).parents[2] / "docs/privacy.md").read_text()
    row = next(line for line in guide.splitlines() if line.startswith("| 100 of ε = 0.1"))
    _, _, plain, advanced, convolution, _, _, renyi, _ = (cell.strip() for cell in row.split("|"))
    text = words(visitor.get("/explore/totals").text)
    numbers = [float(one) for one in re.findall(r"\d+\.?\d*", text)]
    for total in map(float, (plain, advanced, convolution, renyi)):
        assert any(total <= one < total + 0.002 for one in numbers), total  # rounded up


def test_totals_of_waves_are_those_that_plan_prints(visitor: FlaskClient, tmp_path: Path) -> None:
    path = survey_file(tmp_path, "0.5", more="[privacy]\ncap = 10\n")
    rows = table(run("plan", path, "--respondents", 100, "--waves", 20))
    text = words(visitor.get("/explore/totals?totals-epsilon=0.5&totals-reports=20").text)
    assert f"each add up to {float(rows[0]['epsilon_fresh']):g}." in text
    least = compose([(PrivacyLoss.pure(0.5), 20)]).epsilon(1e-6)
    assert f"at most ε = {least + 0.0005:.3f}" in text or f"at most ε = {least:.4g}" in text


def test_the_respondents_of_one_draw_are_those_of_plan(
    visitor: FlaskClient, tmp_path: Path
) -> None:
    more = (
        '[[together]]\nid = "draw"\nquestions = ["q0", "q1", "q2", "q3"]\n'
        "epsilon = 4\nepsilon_each = 1.5\n"
    )
    path = survey_file(tmp_path, *[""] * 4, more=more)
    rows = table(run("plan", path, "--respondents", 100, "--table", "together"))
    (own,) = [r for r in rows if (float(r["epsilon"]), float(r["epsilon_each"])) == (4, 1.5)]
    text = words(visitor.get("/explore/draws").text)
    assert f"One draw for all of them takes {int(own['share']):,} people." in text
    assert f"needs {float(own['share_saving']):.2g} times fewer people for a share" in text
    assert f"{float(own['pair_saving']):.2g} times fewer for the share of a pair" in text
    for row in rows:
        if float(row["epsilon"]) == 4:
            assert f"{int(row['share']):,} {int(row['pair']):,}" in text


def test_deployments_are_those_that_plan_lists_each_with_unit_and_model(
    visitor: FlaskClient,
) -> None:
    text = words(visitor.get("/explore/deployments").text)
    for row in deployments():
        assert {row.name, row.unit, row.source} == {
            one for one in (row.name, row.unit, row.source) if one in text
        }
    some = words(visitor.get("/explore/deployments?deployments-model=local").text)
    assert "Census" not in some
    assert "RAPPOR" in some


@pytest.mark.parametrize(
    ("cap", "queries"), [("3", "1 1 0.5 1 0.5 0.25"), ("1", "0.3 0.3 0.3 0.3 0.1"), ("1.5", "1 1")]
)
def test_the_page_refuses_what_the_collector_refuses(
    visitor: FlaskClient,
    tmp_path: Path,
    collected: Callable[[str, list[str]], list[int]],
    cap: str,
    queries: str,
) -> None:
    asked = queries.split()
    statuses = collected(cap, asked)
    rows = spend_cap(Decimal(cap), [Decimal(one) for one in asked], 1e-6)
    assert [row.is_accepted for row in rows] == [status == 201 for status in statuses]
    query = f"budget-cap={cap}&budget-queries={queries.replace(' ', '+')}"
    text = words(visitor.get(f"/explore/budget?{query}").text)
    answered = sum(row.is_accepted for row in rows)
    assert f"{answered} of {len(asked)} queries were answered." in text
    assert f"ε = {rows[-1].left.normalize():f} is left." in text


def test_a_press_leads_to_an_address_that_can_be_cited(visitor: FlaskClient) -> None:
    answer = visitor.get("/explore?budget-queries=1+1&meaning-epsilon=2&press=0.5")
    assert answer.status_code == 302
    assert answer.location == "/explore?budget-queries=1+1+0.5&meaning-epsilon=2"
    assert "3 of 3 queries were answered" in words(visitor.get(answer.location).text)
    back = visitor.get("/explore/budget?budget-queries=1+1&press=back")
    assert back.location == "/explore/budget?budget-queries=1"
    again = visitor.get("/explore/budget?press=none")
    assert again.location == "/explore/budget?budget-queries=none"
    assert "Nothing is spent" in words(visitor.get(again.location).text)
    assert visitor.get("/explore/budget?press=%0d%0aSet-Cookie:x").location == (
        "/explore/budget?budget-queries=1+1+0.5"
    )


def test_a_form_keeps_what_others_asked_for(visitor: FlaskClient) -> None:
    html = visitor.get("/explore?meaning-epsilon=2&precision-people=abc&groups-part=25").text
    form = re.search(r'action="/explore#precision".*?</form>', html, re.S)
    assert form is not None
    assert '<input type="hidden" name="meaning-epsilon" value="2">' in form[0]
    assert '<input type="hidden" name="groups-part" value="25">' in form[0]
    assert 'value="abc"' in form[0]
    assert 'href="/explore/groups?groups-part=25"' in html


HOSTILE = [
    "", " ", "abc", "-1", "0", "1e9", "1e-9", "nan", "inf", "NaN", "0x10", "1_000", "٣", "²", "½",
    "9" * 400, "0." + "1" * 400, "1.23456", "<script>alert(1)</script>", '"><img src=x>',
    "{{ 7 * 7 }}", "\x00", "\N{REPLACEMENT CHARACTER}", "1 " * 500, "1;1;1", "../../etc/passwd",
    "1\r\nX: y", "1.2.3", ",", ".", "1,5", "1000000000000000000000", "+1", "1 2", "none", "True",
]  # fmt: skip


def problem(field: AnyField, text: str) -> str:
    """Return the error message at a field; empty if there is none."""
    try:
        field.read(text.strip() or field.usual)
    except Wrong as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("section", "field"), FIELDS, ids=lambda one: getattr(one, "name", one))
def test_wrong_and_hostile_values_get_a_sentence_at_the_field(
    visitor: FlaskClient, section: str, field: AnyField
) -> None:
    told = 0
    for text in HOSTILE:
        answer = visitor.get(f"/explore/{section}", query_string={field.name: text})
        assert answer.status_code == 200, text
        assert not re.search("<script>alert|<img", answer.text)
        wrong = problem(field, text)
        assert " ".join(wrong.split()) in words(answer.text)
        assert (f'id="wrong-{field.name}"' in answer.text) == bool(wrong)
        told += bool(wrong)
    assert told > len(HOSTILE) / 2


def test_odd_bytes_and_repeated_names_are_accepted(visitor: FlaskClient) -> None:
    assert visitor.get("/explore/meaning?meaning-epsilon=%ff%fe").status_code == 200
    assert visitor.get("/explore/meaning?meaning-epsilon=2&meaning-epsilon=3").status_code == 200
    assert visitor.get("/explore/meaning?%00=1&utm_source=x&meaning-belief").status_code == 200
    assert visitor.get("/explore?" + "a=1&" * 900).status_code in (200, 413)


def test_contradictory_limits_of_one_draw_are_reported(visitor: FlaskClient) -> None:
    answer = visitor.get("/explore/draws?draws-total=4&draws-each=0.5")
    assert answer.status_code == 200
    assert "each must be from 1 to 4, got 0.5" in words(answer.text)


def ends(field: AnyField) -> list[str]:
    """Return the smallest and the largest value of a field."""
    return [str(field.least), str(field.most)] if isinstance(field, Field) else [field.usual]


def check_states(visitor: FlaskClient, section: Section, states: Iterable[Sequence[str]]) -> None:
    names = [field.name for field in section.fields]
    for values in states:
        query = dict(zip(names, values, strict=True))
        answer = visitor.get(f"/explore/{section.id}", query_string=query)
        assert answer.status_code == 200, query
        assert not {"nan", "inf"} & {*words(answer.text).lower().split()}, query


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.id)
def test_all_ends_of_fields_together_have_an_answer(visitor: FlaskClient, section: Section) -> None:
    states = list(product(*map(ends, section.fields)))
    check_states(visitor, section, states if section.id != "precision" else states[-2:])


@pytest.mark.more
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.id)
def test_wherever_a_slider_stops_there_is_an_answer(visitor: FlaskClient, section: Section) -> None:
    usual = [field.usual for field in section.fields]
    states = [
        [*usual[:place], stop, *usual[place + 1 :]]
        for place, field in enumerate(section.fields)
        for stop in (field.stops if isinstance(field, Field) else ())
    ]
    # The test above has the ends of all other sections.
    all_ends = product(*map(ends, section.fields)) if section.id == "precision" else ()
    check_states(visitor, section, [*states, *all_ends])


def test_once_the_time_is_used_up_only_known_answers_are_shown(
    database: Path, store: Store
) -> None:
    app = create_app({"DATABASE": database})
    now = [0.0]
    app.extensions["explore"] = Answers(Allowance(share=0.1, saved=0.0, clock=lambda: now[0]))
    client = app.test_client()
    assert client.get("/explore").status_code == 200  # the usual state is always computed
    refused = client.get("/explore?meaning-epsilon=7&precision-people=3000")
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "30"
    assert words(refused.text).count("spends only a small part of its time") == 2
    assert words(refused.text).count("At ε = 1") == 1  # a group, in its usual state
    now[0] = 3600.0  # no more than what may be saved up: nothing
    assert client.get("/explore?meaning-epsilon=7").status_code == 503
    assert client.get("/explore").status_code == 200


def test_the_static_copy_has_all_that_the_page_shows_at_first(
    visitor: FlaskClient, tmp_path: Path
) -> None:
    path = render_static(tmp_path)
    text = path.read_text()
    assert path == tmp_path / "explore.md"
    page = visitor.get("/explore")
    shown = words(page.text)
    for section in SECTIONS:
        part = section.make(*section.read({}).values)
        for sentence in (section.heading, *part.texts):
            assert sentence in text
            assert " ".join(sentence.split()) in shown
        for figure in part.figures:
            assert figure.svg in text
            assert figure.svg in page.text
        for one in part.tables:
            assert one.title in text
            assert text.count(f"| {' | '.join(one.columns)} |") >= 1
    # A blank line would end a block of HTML.
    assert all("\n\n" not in one for one in re.findall(r"<figure.*?</figure>", text, re.S))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.id)
def test_eight_years_of_school_are_enough_to_read_it(section: Section) -> None:
    part = section.make(*section.read({}).values)
    texts = [section.lead, *part.texts, *(figure.caption for figure in part.figures)]
    assert grade(texts, "en") <= 8
