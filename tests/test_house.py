"""The house: who may import whom, and one owner for each dangerous thing."""

import ast
import re
from pathlib import Path

import pytest

from analysis.channels import CHANNELS
from analysis.encoders import ENCODERS
from analysis.kinds import KINDS
from analysis.mechanisms import MECHANISMS

ROOT = Path(__file__).parent.parent
PYTHON = [path for name in ("analysis", "server") for path in sorted((ROOT / name).rglob("*.py"))]
SCRIPTS = sorted((ROOT / "client").rglob("*.js"))
TEXTS = [*PYTHON, *SCRIPTS, *sorted((ROOT / "tests").rglob("*.py")), ROOT / "client/style.css"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", PYTHON, ids=_name)
def test_analysis_is_pure_and_client_is_nobodys(path: Path) -> None:
    tops = {name.split(".")[0] for name in _imports(path)}
    assert "client" not in tops
    assert "tests" not in tops
    if path.is_relative_to(ROOT / "analysis"):
        forbidden = {
            "server",
            "flask",
            "sqlite3",
            "sqlite_utils",
            "os",
            "time",
            "random",
            "secrets",
        }
        assert not tops & forbidden
        text = path.read_text()
        assert not re.search(r"\.(now|today)\(\)|np\.random|default_rng", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=_name)
def test_each_dangerous_thing_has_one_owner(path: Path) -> None:
    owners = {
        "form.js": r"\bdocument\b|\bnavigator\.languages\b|\blocation\.hash\b",
        "random.js": r"getRandomValues",
        "memo.js": r"localStorage|sessionStorage|indexedDB|navigator\.locks",
        "submit.js": r"\bfetch\(",
    }
    nobodys = (
        r"Math\.random|XMLHttpRequest|sendBeacon|WebSocket|EventSource|\bcookie\b|innerHTML|"
        r"\beval\b|new Function|console\.|\bimport\(|new Image|history\.|location\.(?!hash\.slice)"
    )
    text = re.sub(r"/\*.*?\*/|^\s*//.*$", "", path.read_text(), flags=re.S | re.M)
    assert not re.search(nobodys, text)
    for owner, pattern in owners.items():
        assert path.name == owner or not re.search(pattern, text), owner


@pytest.mark.parametrize("path", SCRIPTS, ids=_name)
def test_what_touches_true_answers_imports_nothing_that_sends_or_stores(path: Path) -> None:
    imports = re.findall(r"from '(\./|\.\./)+([\w/]+\.js)'", path.read_text())
    names = {name for _, name in imports}
    if path.name not in {"form.js", "memo.js", "submit.js", "random.js"}:
        assert not names & {"form.js", "memo.js", "submit.js", "random.js"}
    if path.name == "submit.js":
        assert names == {"report.js"}


def test_sql_is_in_the_store_alone() -> None:
    for path in PYTHON:
        if not path.is_relative_to(ROOT / "server/store"):
            sql = r"\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b"
            assert not re.search(sql, path.read_text()), _name(path)


def test_each_channel_and_kind_has_its_files_in_both_languages() -> None:
    for name in CHANNELS:
        assert (ROOT / f"analysis/channels/{name}.py").is_file()
        assert (ROOT / f"client/channels/{name}.js").is_file()
        assert (ROOT / f"tests/vectors/{name}.json").is_file()
    for name in KINDS:
        assert (ROOT / f"server/templates/kinds/{name}.html").is_file()


def test_no_mechanism_is_named_in_the_browser_or_the_server() -> None:
    # Some are named after their channel or encoder, which the browser does know.
    own = set(MECHANISMS) - set(CHANNELS) - set(ENCODERS)
    names = "|".join(f"[\"']{name}[\"']" for name in own)
    for path in [*SCRIPTS, *sorted((ROOT / "server").rglob("*.py"))]:
        assert not re.search(names, path.read_text()), _name(path)


@pytest.mark.parametrize("path", TEXTS, ids=_name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_there_are_no_packages_under_tests_or_client() -> None:
    assert not [*(ROOT / "tests").rglob("__init__.py"), *(ROOT / "client").rglob("*.py")]
