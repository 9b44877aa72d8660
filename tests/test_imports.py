"""Who may import whom, and what reaches what by imports."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = [path for name in ("analysis", "server") for path in sorted((ROOT / name).rglob("*.py"))]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _imports(path: Path) -> set[str]:
    """Return the modules that a file names in imports, wherever they stand."""
    return {name for node in ast.walk(ast.parse(path.read_text())) for name in _named(node)}


@cache
def _imported(path: Path) -> set[str]:
    """Return the modules that a file can import: not those for annotations alone."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return {name for node in ast.walk(tree) for name in _named(node)}


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        # What is imported from a package can be one of its modules.
        return [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return []


#: What `analysis/` does not import.
_IMPURE = {"server", "flask", "sqlite3", "sqlite_utils", "os", "time", "random", "secrets"}


def test_nothing_imports_the_client_or_the_tests() -> None:
    tops = {name.split(".")[0] for path in PYTHON for name in _imports(path)}
    assert not tops & {"client", "tests"}


def test_analysis_is_pure() -> None:
    # One module opens files, with the system's own calls, since only these do not wait.
    files = "analysis/survey/files.py"
    for path in sorted((ROOT / "analysis").rglob("*.py")):
        tops, text = {name.split(".")[0] for name in _imports(path)}, path.read_text()
        opens = _name(path) == files
        assert tops & _IMPURE == ({"os"} if opens else set()), _name(path)
        calls = r"(?<![\w.])(?<!def )open\(|\.(open|read_bytes|write_\w+)\("
        assert opens or not re.search(calls, text), _name(path)
        assert not re.search(r"\.(now|today)\(\)|np\.random|default_rng", text), _name(path)


#: The rooms of analysis/, and those that each may import from.
ROOMS = {
    "core": set[str](),
    "mechanisms": {"core"},
    "survey": {"core", "mechanisms"},
    "privacy": {"core", "mechanisms", "survey"},
    "estimate": {"core", "mechanisms", "survey"},
    "study": {"core", "mechanisms", "survey", "privacy", "estimate", "charts"},
    "charts": {"estimate"},
}


def test_analysis_has_these_rooms_and_no_loose_files() -> None:
    there = {path.name for path in (ROOT / "analysis").iterdir() if path.name != "__pycache__"}
    assert there == {*ROOMS, "__init__.py"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_in_one_direction(room: str) -> None:
    for path in sorted((ROOT / "analysis" / room).rglob("*.py")):
        names = [name.split(".") for name in _imports(path) if name.startswith("analysis.")]
        assert {name[1] for name in names} <= ROOMS[room] | {room}, _name(path)
        # The public names of analysis/__init__ are for others.
        assert "analysis" not in _imports(path), _name(path)


def _reached_modules(*names: str) -> set[str]:
    """Return these modules and packages with all that they import, directly or by others."""
    waiting, reached = [*names], set[str]()
    while waiting:
        reached.add(name := waiting.pop())
        path = ROOT / name.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        imported = _imported(file) if file.exists() else set()
        # A module is read after the packages that it is in.
        parents = {parent for parent in [name.rpartition(".")[0]] if parent}
        waiting += (imported | parents) - reached
    return reached


def test_deciding_about_submissions_reaches_no_sql() -> None:
    reached = _reached_modules("server.intake.decision")
    assert "server.intake.wire" in reached
    assert not [name for name in reached if re.match(r"sqlite|server\.store", name)]


#: What takes reports in, and what makes respondents' pages.
INTAKE = [
    f"server.intake.{path.stem}" for path in sorted((ROOT / "server/intake").glob("[a-z]*.py"))
]


@pytest.mark.parametrize("name", [*INTAKE, "server.pages.rendering"])
def test_taking_in_reports_and_showing_a_page_needs_no_study(name: str) -> None:
    reached = _reached_modules(name)
    assert "analysis.survey.survey" in reached or name.endswith(("invitations", "proof_of_work"))
    of_researchers = r"analysis\.study|server\.(console|work|plan|explore|formats|forms|editing)\b"
    assert not [name for name in reached if re.match(of_researchers, name)]


def test_sql_is_in_the_store_alone() -> None:
    # One module asks other engines about files; it reaches no database.
    engines = ROOT / "server/recount/queries.py"
    assert not [name for name in _imports(engines) if name.startswith("server")]
    for path in PYTHON:
        if not path.is_relative_to(ROOT / "server/store") and path != engines:
            sql = r"\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b"
            assert not re.search(sql, path.read_text()), _name(path)
