"""The documentation is true: numbers, commands, keys and links."""

import ast
import math
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from limits import LONG

from analysis.core.channels import CHANNELS
from analysis.core.domain import Categories
from analysis.core.encoders import ENCODERS
from analysis.estimate.estimates import ESTIMATE_COLUMNS
from analysis.estimate.plausibility import Plausibility
from analysis.estimate.totals import TOTAL_COLUMNS
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Share
from analysis.mechanisms.selection import choose
from analysis.privacy.accounting import PrivacyLoss, advanced, basic, compose, kov, renyi_total
from analysis.privacy.ledger import COLUMNS_BY
from analysis.privacy.meaning import odds_table, percent_at_most, rounded_up
from analysis.study import hypotheses
from analysis.study.codebook import Code
from analysis.study.comparison import Comparison, Slope
from analysis.study.crosstab.row import Row
from analysis.study.planning import Plan, Power, Sampled, Split, WaveTotal
from analysis.study.planning.needed import least, respondents_for
from analysis.study.planning.share_width import of_share
from analysis.study.ranking import Rank
from analysis.study.regression import Term
from analysis.survey.check import Check
from analysis.survey.kinds import KINDS
from analysis.survey.survey_file import read_survey
from server.audit.database import Finding
from server.cli import COMMANDS, main
from server.store.log import Entry

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def _respondents(path: Path, question: str, table: str = "", more: int = 0) -> int:
    """Return how many give "yes" a half-width of 5 points in a survey, at one half or at worst."""
    questions = "".join(
        f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\n{question}\n'
        for name in "abcd"[: more + 1]
    )
    path.write_text(f'title = "T"\nid = "t"\n{table}\n{questions}')
    first = read_survey(path).questions[0]
    return respondents_for(first, 0.05, rng=np.random.default_rng(0))


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 700


@pytest.mark.parametrize("total", [2, 4, 8])
def test_costs_in_the_readme_are_computed(total: int, tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    separate = _respondents(path, f"required = true\nepsilon = {total / 4}")
    together = f'[[together]]\nid = "g"\nquestions = ["a", "b", "c", "d"]\nepsilon = {total}\n'
    joint = _respondents(path, "required = true", f"{together}epsilon_each = {total / 2}", more=3)
    odds, looser = (rounded_up(math.exp(total / part)) for part in (4, 2))
    assert f"| {total} | {odds} | {separate:,} | {looser} | {joint:,} |" in README


def test_what_prefer_not_to_say_and_no_noise_cost_in_the_readme(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    required, free = (
        _respondents(path, f"{how}epsilon = 1.0") for how in ("required = true\n", "")
    )
    assert f"at ε = 1 needs {free:,} people. It needs {required:,} if" in README
    told = Share("yes", Fraction(1), Fraction(0))
    direct = least(lambda n: of_share(told, 0.5, n, 0.95) / 0.05)
    assert f"and {direct} if people are asked directly" in README


def test_numbers_of_the_explanation_are_computed() -> None:
    page = (ROOT / "docs/how-it-works.md").read_text()
    domain = Categories(("yes", "no"))
    mechanism, randomizer = choose(domain, Fraction(1))
    share = mechanism.shares(randomizer, domain).values[0]
    p, q = (round(float(chance), 2) for chance in (share.p, share.q))
    assert f"| {100 * p:.0f} | {100 * q:.0f} |" in page
    sent = 300 * p, 700 * q
    assert f"which are {sent[0]:.0f}." in page
    assert re.search(rf"which\s+are {sent[1]:.0f}\.", page)
    assert f"{sum(sent) / 10:.1f} % = share × {100 * p:.0f} %" in page
    assert round((sum(sent) / 1000 - q) / (p - q), 2) == 0.3
    told = Share("yes", Fraction(1), Fraction(0))
    noisy, direct = (100 * of_share(one, 0.3, 1000, 0.95) for one in (share, told))
    assert f"± {noisy:.1f} points instead of ± {direct:.1f} points" in page
    assert f"interval is ± {100 * of_share(share, 0.5, 200, 0.95):.0f} points or more" in page


#: Pages that lead through the commands.
_GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
_WITH_COMMANDS = [ROOT / "README.md", ROOT / "docs/tutorial.md", *_GUIDES]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_commands_are_documented(name: str) -> None:
    led = "".join(page.read_text() for page in _WITH_COMMANDS)
    assert f"deniable {name}" in led or f"make {name}" in led
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_help_lists_all_commands_in_full_and_imports_none_of_them() -> None:
    program = "import sys; from server.cli import main; main(standalone_mode=False);"
    program += "print('numpy' in sys.modules, 'flask' in sys.modules, 'analysis' in sys.modules)"
    call = [sys.executable, "-c", program, "--help"]
    told = subprocess.run(call, capture_output=True, text=True, timeout=LONG, check=True).stdout
    for name, (_, sentence) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(sentence)}$", told, re.M), told
    assert told.endswith("False False False\n")


WITHOUT_DATABASE = ("check", "plan", "analyze", "deploy", "prune", "verify")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tutorial's survey, answered by 2,000 made-up people, and a table."""
    folder = tmp_path_factory.mktemp("answered")
    people = "yes,nobody,lab,1230\nno,,office,\nyes,superior,office,900\nno,,lab,3000\n"
    (folder / "truth.csv").write_text("harassed,told,team,income\n" + people * 500)
    words = ["simulate", str(ROOT / "examples/working-conditions.toml"), "--answers"]
    words += [str(folder / "truth.csv"), "--db", str(folder / "deniable.db")]
    assert CliRunner().invoke(main, words).exit_code == 0
    return folder


def _commands(page: Path) -> list[str]:
    """Return the commands of a page, except those that tests with servers run.

    `tests/server/test_serving.py` serves, and `tests/e2e/test_doctor_outside.py` and
    `tests/server/test_audit_website.py` look at what is served.
    """
    lines = (line.strip() for line in page.read_text().splitlines() if line.startswith("    den"))
    served = ("deniable serve", "deniable doctor", "deniable audit --url")
    return [line.partition(" > ")[0] for line in lines if not line.startswith(served)]


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    """Mark pages whose commands plan several studies, which takes long."""
    return [pytest.mark.more] * (page.stem in ("tutorial", "choose-respondents"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(one, id=one.stem, marks=_marks(one)) for one in _WITH_COMMANDS if _commands(one)],
)
def test_commands_of_the_pages_run(page: Path, answered: Path, tmp_path: Path) -> None:
    for name in ("truth.csv", "deniable.db"):
        shutil.copy(answered / name, tmp_path)
    kept = (".csv", ".db", ".html", ".zip", "backups")
    for line in _commands(page):
        words = shlex.split(line, comments=True)[1:]
        is_elsewhere = "--design" in words or words[0] in WITHOUT_DATABASE
        if "--db" not in words and not is_elsewhere:
            words += ["--db", "deniable.db"]
        words = [
            str(ROOT / word)
            if word.startswith("examples/")
            else str(tmp_path / word)
            if word.endswith(kept)
            else word
            for word in words
        ]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, line + result.output


def _run_python_of(page: str) -> None:
    """Run the code of a page, in which each block continues the ones before."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    exec("\n".join(code), {})


def test_python_of_the_analysis_runs(capsys: pytest.CaptureFixture[str]) -> None:
    _run_python_of("analysis.md")
    printed = capsys.readouterr().out.splitlines()
    assert printed[3].startswith("logistic model of joined, n = 1000")
    fit, apart, slope = map(float, printed[:3])
    assert fit < 0.001
    assert apart < 0.01
    assert 0.05 < slope < 0.12


def test_python_of_privacy_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    _run_python_of("privacy.md")
    total, belief, *rows, found, fits = capsys.readouterr().out.splitlines()
    assert (total, belief, found, fits) == ("4.7746", "0.993", "True", "True")
    assert rows[0] == "harassed 0.0608 2948 1.22"


def test_python_of_data_from_elsewhere_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    _run_python_of("elsewhere.md")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[:3] == [["no", "0.847"], ["yes", "0.153"], ["t", "0.97"]]
    assert sum(float(row[-1]) for row in rows[3:]) == pytest.approx(1, abs=0.002)


def test_totals_in_the_documentation_are_computed() -> None:
    page = (ROOT / "docs/privacy.md").read_text()
    for n in (10, 100, 1000):
        by_k = {k: (PrivacyLoss.krr(k, 0.1), n) for k in (2, 5, 10)}
        cells = [
            f"{n} of ε = 0.1",
            f"{basic([0.1] * n).epsilon:g}",
            rounded_up(advanced(0.1, n, 1e-6).epsilon, 5),
            rounded_up(kov(0.1, n, 1e-6).epsilon, 5),
            *(rounded_up(compose([by_k[k]]).epsilon(1e-6), 5) for k in (5, 10)),
            rounded_up(renyi_total([by_k[2]], 1e-6).epsilon, 5),
        ]
        assert f"| {' | '.join(cells)} |" in page
        assert compose([by_k[2]]).epsilon(1e-6) == pytest.approx(float(cells[3]), rel=1e-4)


def test_beliefs_in_the_documentation_are_computed() -> None:
    page = (ROOT / "docs/privacy.md").read_text()
    for row in odds_table((0.5, 1, 2, 5)):
        beliefs = " | ".join(map(percent_at_most, row.posteriors))
        assert f"| {row.epsilon:g} | {rounded_up(row.odds)} | {beliefs} |" in page


def test_make_targets_that_are_documented_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"\bmake ([a-z][a-z-]*)`", CONTRIBUTING)):
        assert re.search(rf"^{target}:", makefile, re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_page_of_the_site_is_listed_once_with_a_line_of_its_own() -> None:
    docs = ROOT / "docs"
    listed = ["index.md"]
    for page in docs.rglob("*.md"):
        text = page.read_text()
        if "\n<!-- contents -->\n" in text:
            assert "{toctree}" not in text, page
            links = re.findall(r"\]\(([\w/-]+\.md)\)", text)
            told = re.findall(r"^- \[[^]]+\]\(([\w/-]+\.md)\): .", text, re.M)
            told += re.findall(r"^\| [^|]+ \| \[[^]]+\]\(([\w/-]+\.md)\) \|$", text, re.M)
            assert links == told, page
            listed += links
    assert sorted(listed) == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))


def test_kinds_and_mechanisms_are_documented() -> None:
    text = (ROOT / "docs/survey-file.md").read_text()
    for name in [*KINDS, *MECHANISMS]:
        assert f"`{name}`" in text


@pytest.mark.parametrize("part", [*ENCODERS.values(), *CHANNELS.values()], ids=lambda p: p.name)
def test_parts_and_their_numbers_are_documented(part: Any) -> None:
    text = (ROOT / "docs/protocol.md").read_text()
    names = ", ".join(f"`{field.name}`" for field in fields(part))
    assert f"| `{part.name}` ({names}) |" in text


def test_columns_are_documented() -> None:
    text = (ROOT / "docs/tables.md").read_text()
    columns = [
        *ESTIMATE_COLUMNS,
        *TOTAL_COLUMNS,
        *sum(COLUMNS_BY.values(), ()),
        *(field.name for field in fields(Check)),
    ]
    for message in ("saving", "remark"):  # not columns
        columns.remove(message)
    columns += [
        field.name
        for kind in (
            Plan,
            Power,
            Sampled,
            Split,
            WaveTotal,
            Plausibility,
            Finding,
            Entry,
            Row,
            hypotheses.HypothesisTest,
            Comparison,
            Rank,
            Slope,
            Term,
            Code,
        )
        for field in fields(kind)
    ]
    assert [name for name in columns if f"`{name}`" not in text] == []


def test_keys_of_both_files_are_documented() -> None:
    text = (ROOT / "docs/survey-file.md").read_text()
    text += (ROOT / "docs/elsewhere.md").read_text()  # keys of a design file
    source = "".join(path.read_text() for path in (ROOT / "analysis").rglob("*.py"))
    read = r"(?:table|privacy)\.(?:take|text|number|flag|tables)\(\s*\"(\w+)\""
    keys = set(re.findall(read, source)) - {"label"}
    assert len(keys) > 15
    assert [
        key
        for key in keys
        if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`|^(\[{key}\b|{key} = )", text, re.M)
    ] == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_examples_are_good_surveys(path: Path) -> None:
    assert CliRunner().invoke(main, ["check", str(path)]).exit_code == 0


def _formulas() -> list[int]:
    """Return the numbers of the formulas of docs/methods.md, in their order."""
    page = (ROOT / "docs/methods.md").read_text()
    return [int(number) for number in re.findall(r"^\*\*\((\d+)\)\*\* ", page, flags=re.M)]


def _cited(path: Path) -> list[int]:
    """Return the numbers of formulas that docstrings of a module cite."""
    tree = ast.parse(path.read_text())
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    found = (re.findall(r"docs/methods\.md,\s+((?:and |or |, |\s|\(\d+\))+)", one) for one in texts)
    return [int(number) for some in found for text in some for number in re.findall(r"\d+", text)]


def test_formulas_are_numbered_and_each_is_cited_by_the_code_that_computes_it() -> None:
    formulas = _formulas()
    assert formulas == list(range(1, len(formulas) + 1))
    cited = {
        number for path in sorted((ROOT / "analysis").rglob("*.py")) for number in _cited(path)
    }
    assert cited == set(formulas)


def test_references_of_the_methods_are_numbered_and_each_is_cited() -> None:
    text, _, references = (ROOT / "docs/methods.md").read_text().partition("## References\n")
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", references, flags=re.M)]
    assert listed == list(range(1, len(listed) + 1))
    used = re.findall(r"(?<!\w)\[(\d[\d, ]*)\](?!\()", text)
    cited = {int(number) for some in used for number in some.split(",")}
    assert cited <= set(listed)
    # Methods sections cite the others for a mechanism.
    sources = (ROOT / "analysis/study/references.py").read_text()
    plain = re.sub(r"\s|\"", "", sources)
    for number in set(listed) - cited:
        (line,) = re.findall(rf"^{number}\. (.*)\.$", references, flags=re.M)
        assert re.sub(r"\s", "", line) in plain, line
