"""The documentation becomes a site whose links all work, and which loads nothing from elsewhere."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from limits import LONG, MOMENT
from page_errors import CORS
from playwright.sync_api import Browser, Page, expect
from test_looks import CONTENT, MARK, violations

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.more


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site and return its folder; building fails at a link that leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    built = _build(ROOT / "docs", folder)
    assert built.returncode == 0, built.stderr
    return folder


def _build(docs: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    options = ["--quiet", "--fail-on-warning", "--keep-going", "-d", str(folder / ".read")]
    options += ["--conf-dir", str(ROOT / "docs")]
    call = [sys.executable, "-m", "sphinx", *options, str(docs), str(folder)]
    return subprocess.run(call, capture_output=True, text=True, timeout=LONG)


def test_pages_load_nothing_from_other_hosts_and_log_nothing(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("request", lambda request: said.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for path in pages:
        page.goto(path.as_uri())
    page.close()
    assert [one for one in said if not one.startswith((site.as_uri(), "data:"))] == []


#: Elements that extend beyond a side of the window, except those that scroll by themselves.
_WIDER = """() => {
  const limit = document.documentElement.clientWidth;
  const shown = [...document.querySelectorAll('article *')].filter((element) =>
    element.checkVisibility() && !element.closest('.table-wrapper, pre, .shown, thead'));
  const wide = shown.filter((element) => element.getBoundingClientRect().right > limit + 0.5);
  return [document.documentElement.scrollWidth > limit ? 'page' : null,
    ...wide.map((element) => element.outerHTML.slice(0, 120))].filter(Boolean);
}"""


@pytest.mark.provokes(CORS)
def test_every_page_is_accessible_and_fits_the_window(site: Path, browser: Browser) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    looks: list[tuple[int, Any, set[str]]] = [(360, "dark", set()), (1280, "light", set())]
    wrong: list[tuple[str, Any]] = []
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        wrong += [(path.name, one) for one in violations(page, rules=CONTENT)]
        for width, scheme, known in looks:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            if new := page.evaluate(MARK, [*known]):
                wrong += [(path.name, one) for one in violations(page, "[data-is-new]")]
                known.update(new)
            wrong += [(path.name, ("wide", html)) for html in page.evaluate(_WIDER)]
    context.close()
    assert wrong == []


def test_a_phone_shows_each_row_of_a_wide_table_as_a_card_that_names_its_cells(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto((site / "guides/choose-epsilon.html").as_uri())
    table = page.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(5)
    cell = table.get_by_role("cell", name="answers that could cost a job")
    before = cell.evaluate("(element) => getComputedStyle(element, '::before').content")
    assert before.replace('" "', "") == '"use it for: "'
    left = "(elements) => elements.map((element) => element.getBoundingClientRect().left)"
    assert len(set(table.get_by_role("cell").evaluate_all(left))) == 1
    page.close()


def _titles(page: Page) -> list[str]:
    return page.locator("#search-results li > a").all_inner_texts()


@pytest.mark.provokes("Fetch API cannot load file:", "Failed to fetch")
def test_search_works_without_a_server(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill("Fieller")
    page.keyboard.press("Enter")
    expect(page.locator("#search-results .search-summary")).to_contain_text(
        "found", ignore_case=True, timeout=1000 * MOMENT
    )
    assert "Methods: the formulas" in _titles(page)
    page.close()


def test_the_parts_from_the_code_are_there(site: Path) -> None:
    for name, words in {
        "commands": ("deniable regress [OPTIONS] SURVEY-ID|FILE FORMULA", "--no-answer"),
        "http": ("/api/surveys/{survey_id}/reports", "application/problem+json", "OpenSurvey"),
        "python/studies": ("analysis.Study.open", "The file that"),
        "notebooks/means": ("true mean of these people",),
        "python/parts": ("square-wave", "analysis.SurveyError", "ln of", "NDArray"),
    }.items():
        text = (site / f"{name}.html").read_text().replace("<wbr>", "")
        assert [word for word in words if word not in text] == []


def test_texts_of_the_source_are_shown_as_they_are_meant(site: Path) -> None:
    for name, shown in {
        "methods": ("n<sub>eff</sub>", "e<sup>ε</sup>", "Σ<sub>i &lt; M + w</sub>"),
        "privacy": ("D<sub>α</sub>", "e<sup>ε − L</sup>"),
        "commands": ('backup</span> <span class="pre flag">--scheduled</span>',),
        "design": ("analysis/<wbr>core/<wbr>memory.py",),
        "survey-file": ('data-above="kinds: yes-no, choice, scale"',),
    }.items():
        text = (site / f"{name}.html").read_text()
        assert [one for one in shown if one not in text] == []
    typed = "".join(path.read_text() for path in (site / "python").glob("*.html"))
    assert [one for one in ("_NestedSequence", "~typing", "&lt;factory&gt;") if one in typed] == []


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Title\n\n[away](#no-such-part)\n")
    built = _build(tmp_path / "docs", tmp_path / "site")
    assert built.returncode == 1
    assert "no-such-part" in built.stderr
