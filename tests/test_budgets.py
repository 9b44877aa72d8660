"""Every search has a budget: no loop of the product runs until something happens to end it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = [path for name in ("analysis", "server") for path in sorted((ROOT / name).rglob("*.py"))]
#: Iterators of `itertools` that have no end. `repeat` has one if it is told how often.
ENDLESS = {"count", "cycle", "repeat"}
#: Functions that may loop without an end, and why.
ALLOWED = {
    "analysis/core/memory.py:words": "a device takes as many words as its draws need",
    "analysis/core/words.py:seeded_block": "a simulation takes as many blocks as it needs",
    "analysis/core/words.py:seeded_words": "a simulation takes as many words as it needs",
    "server/formats/parts.py:_written": "it ends with the reports, which are stored",
    "server/intake/proof_of_work.py:work": "it ends after 2^bits numbers on average, at most 2^20",
    "server/retention.py:keep": "it keeps promises as long as the server runs",
    "server/serving.py:_application": "a worker waits for its database as long as that takes",
    "server/supervision.py:guard": "it watches a plane as long as the server runs",
    "server/supervision.py:watch": "it gives signs of life as long as the server runs",
    "server/intake/writer.py:_run": "it stores submissions as long as the server runs",
}


def _is_endless(node: ast.AST, imported: set[str]) -> bool:
    """Return whether a node is a loop, or an iterator, that nothing in its head can end.

    `imported` are the names that come from `itertools`.
    """
    if isinstance(node, ast.While):
        return isinstance(node.test, ast.Constant) and bool(node.test.value)
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    is_one = name in imported or name.startswith("itertools.")
    name = name.removeprefix("itertools.")
    return is_one and name in ENDLESS and not (name == "repeat" and len(node.args) > 1)


def endless(source: str) -> Iterator[tuple[str, int]]:
    """Yield the innermost function around each endless loop, and the loop's line."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = {
        alias.name for node in imports if node.module == "itertools" for alias in node.names
    }

    def within(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        for part in ast.iter_child_nodes(node):
            if _is_endless(part, imported):
                yield function, getattr(part, "lineno", 0)
            is_function = isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from within(part, getattr(part, "name", "") if is_function else function)

    return within(tree, "")


def test_only_declared_loops_have_no_budget() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{function}"
        for path in PYTHON
        for function, _ in endless(path.read_text())
    }
    # Another loop needs a count of rounds, and a result or a sentence for its end.
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "lines",
    [
        "while True:\n    step()",
        "while 1:\n    step()",
        "for turn in count():\n    step()",
        "first = next(n for n in itertools.count(1) if good(n))",
        "for turn in repeat(None):\n    step()",
    ],
)
def test_a_loop_without_a_budget_is_found(lines: str) -> None:
    body = lines.replace("\n", "\n    ")
    source = f"from itertools import count, repeat\ndef f():\n    {body}\n"
    assert list(endless(source)) == [("f", 3)]


@pytest.mark.parametrize(
    "lines",
    [
        "for turn in range(100):\n    step()",
        "while waiting:\n    waiting.pop()",
        "while high - low > 1:\n    step()",
        "found = text.count('a') + sum(repeat(1, 3))",
    ],
)
def test_a_loop_with_an_end_in_its_head_is_allowed(lines: str) -> None:
    assert list(endless(f"from itertools import repeat\n{lines}\n")) == []
