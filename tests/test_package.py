"""The built files have everything that runs, and a README that a package index can show."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from limits import LONG

ROOT = Path(__file__).parent.parent


def test_an_installation_holds_all_that_runs(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=LONG,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("analysis", "client", "server"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert path.relative_to(ROOT).as_posix() in held
    assert not any(name.startswith("tests/") for name in held)
    (about,) = (name for name in held if name.endswith("METADATA"))
    described = zipfile.ZipFile(wheel).read(about).decode()
    assert "# deniable\n\nAsk sensitive questions" in described
    assert re.findall(r"!?\[[^]]*\]\((?!https:)[^)]*\)", described) == []


def test_a_package_index_gets_addresses_if_there_are_some() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    config = {"pages": "https://x.org/blob/v{version}/", "pictures": "https://x.org/raw/"}
    metadata = {"version": "1.0.0"}
    module.Readme(str(ROOT), config).update(metadata)
    shown: Any = metadata["readme"]
    text = shown["text"]
    assert "](https://x.org/raw/docs/pictures/both-sides.png)" in text
    assert (
        "[needs far fewer people](https://x.org/blob/v1.0.0/docs/privacy.md#do-you-need-it)" in text
    )
    for match in re.findall(r"\]\((?!https?:)([^)]+)\)", (ROOT / "README.md").read_text()):
        assert f"]({match})" not in text
        assert f"/{match})" in text
