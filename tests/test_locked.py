"""Packages that are installed by hashes are those that the program needs, with free licenses."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from licenses import LOCK, is_compatible, license_of, pinned
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FILES = {
    LOCK: PROJECT["dependencies"] + EXTRAS["models"] + EXTRAS["formats"],
    LOCK.with_name("requirements-postgres.txt"): EXTRAS["postgres"],
    ROOT / "tests/requirements.txt": PROJECT["dependencies"] + EXTRAS["demo"] + EXTRAS["test"],
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_all_that_is_needed_is_pinned_by_hashes_and_by_nothing_else(path: Path) -> None:
    text = path.read_text()
    # Registries and folders would be those of the machine on which the file was made.
    assert not re.search(r"://|\s/|--index|--extra|--find|--trusted", text)
    lines = text.splitlines()
    form = r"[a-z0-9-]+==[^\s;/:]+( ; [^/:]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|    #.*"
    assert [line for line in lines if not re.fullmatch(form, line)] == []
    for line, after in pairwise(lines):
        assert line.startswith(" ") or after.startswith("    --hash=")
    found = pinned(path)
    for needed in map(Requirement, FILES[path]):
        assert needed.specifier.contains(found[needed.name]), f"{needed}: run make lock"


def test_all_files_have_the_same_releases() -> None:
    all_releases = pinned(ROOT / "tests/requirements.txt").items()
    assert all(pinned(path).items() <= all_releases for path in FILES)


def test_list_of_licenses_is_that_of_the_releases_and_all_are_compatible() -> None:
    text = (ROOT / "docs/licenses.md").read_text()
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (\S+) \| (.+) \|$", text, re.M)[1:]
    assert {name: release for name, release, _ in rows} == pinned(LOCK), "run make lock"
    assert [row for row in rows if not is_compatible(row[2])] == []


@pytest.mark.parametrize(
    ("expression", "compatible"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-2.0-only", True),
        ("BSD-3-Clause AND GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("unknown", False),
    ],
)
def test_licenses_are_known_as_compatible_or_refused(expression: str, compatible: bool) -> None:
    assert is_compatible(expression) == compatible


def test_licenses_are_read_from_packages() -> None:
    from importlib.metadata import distribution

    for name, expected in {
        "flask": "BSD-3-Clause",
        "openpyxl": "MIT",
        "pyxform": "BSD-2-Clause",
        "sqlite-utils": "Apache-2.0",
    }.items():
        assert license_of(distribution(name)) == expected
