"""Write which programs this release puts into bundles: `python tests/bundle_programs.py`."""

import json
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from analysis.study.bundle.members import programs, programs_of_releases

FILE = Path(__file__).parent.parent / "analysis/study/bundle/programs.json"


def text() -> str:
    """Return the file's text: hashes of earlier releases stay, those of this one are made anew."""
    hashes = {name: sha256(text.encode()).hexdigest() for name, text in programs().items()}
    return json.dumps(programs_of_releases() | {version("deniable"): hashes}, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
