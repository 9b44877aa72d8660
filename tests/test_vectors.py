"""The vectors are what the Python reference makes now; tests/e2e reads them in browsers."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parent / "vectors"
FILES = sorted(VECTORS.glob("*.json"))


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("generate", VECTORS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, Any] = module.everything()
    return made


def test_the_kept_files_are_those_that_are_made(made: dict[str, Any]) -> None:
    assert sorted(made) == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors_are_unchanged(path: Path, made: dict[str, Any]) -> None:
    # If this fails on purpose, the protocol changes: python tests/vectors/generate.py
    assert json.loads(path.read_text()) == json.loads(json.dumps(made[path.stem]))
