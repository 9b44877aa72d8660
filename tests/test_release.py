"""The released files work where nothing else is installed."""

import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest
from limits import LONG

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.more


def _run(*words: object, folder: Path) -> str:
    call = [str(word) for word in words]
    done = subprocess.run(
        call, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_made_of_the_sdist_runs_in_an_empty_environment(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, folder=ROOT)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert (source / "LICENSE").is_file()
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, folder=source)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "empty")
    place = tmp_path / "empty/bin"
    pip = sys.executable, "-m", "pip", "--python", place / "python", "--disable-pip-version-check"
    # Python compiles what is imported, which is little of what is installed.
    _run(*pip, "install", "--quiet", "--no-compile", wheel, folder=tmp_path)
    study = ROOT / "examples/working-conditions.toml"
    assert "harassed,yes-no,krr,1" in _run(place / "deniable", "check", study, folder=tmp_path)
    told = _run(place / "deniable", "demo", folder=tmp_path)
    assert "6,366 people are made up here" in told
    assert f"./{wheel.name}[demo]" in told
