"""The tutorial can be followed in a browser, step by step, and has a picture of each."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from collector import command
from device import Device
from tutorial import pictures

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.more
def test_the_tutorial_can_be_followed(tmp_path: Path, new_device: Callable[..., Device]) -> None:
    with command(tmp_path, None) as served:
        taken = [name for name, _ in pictures(served, new_device)]
    kept = {path.stem for path in (DOCS / "pictures").glob("*.png")}
    assert sorted(taken) == sorted(kept)
    shown = re.findall(r"\(pictures/(.+)\.png\)", (DOCS / "tutorial.md").read_text())
    assert sorted([*shown, "both-sides"]) == sorted(taken)
