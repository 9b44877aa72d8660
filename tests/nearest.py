"""Print the test files that are nearest to what changed since the last commit, a line each.

A file of tests is as far from a module as the chain of imports between them is long. For each
module that changed, these are the nearest files, at most `MOST` of them; and those that changed.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: The most files of tests for one module: of a base that all import, the first ones by name.
MOST = 6
IMPORT = re.compile(
    r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n(]*)|import ([\w.]+))", re.MULTILINE
)


def changed() -> list[str]:
    """Return the Python files that git finds changed or new, and that still exist."""
    listed: set[str] = set()
    for command in (
        ["git", "diff", "--name-only", "-z", "HEAD"],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    ):
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        listed.update(said.stdout.split("\0"))
    return sorted(name for name in listed if name.endswith(".py") and (ROOT / name).is_file())


def importers() -> dict[str, set[str]]:
    """Return the files that import each file, by their paths from the root."""
    files = {
        path.relative_to(ROOT).as_posix()
        for folder in ("analysis", "server", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for name in _imported((ROOT / file).read_text()):
            # Tests import each other by their bare names.
            for home in ("", "tests/", f"{Path(file).parent.as_posix()}/"):
                path = home + name.replace(".", "/")
                for target in (f"{path}.py", f"{path}/__init__.py"):
                    if target in files and target != file:
                        found[target].add(file)
    return found


def _imported(text: str) -> Iterable[str]:
    for package, names, module in IMPORT.findall(text):
        yield package or module
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))


def nearest(file: str, graph: dict[str, set[str]]) -> list[str]:
    """Return the nearest files of tests of a file; the file itself if it is one."""
    seen, around = {file}, {file}
    while around:
        tests = sorted(name for name in around if Path(name).name.startswith("test_"))
        if tests:
            return tests[:MOST]
        around = {name for near in around for name in graph.get(near, ())} - seen
        seen |= around
    return []


if __name__ == "__main__":
    graph = importers()
    print(*sorted({test for file in changed() for test in nearest(file, graph)}), sep="\n")
