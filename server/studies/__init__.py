"""Templates: survey files that researchers copy and adapt, each with the sources of its wording."""

import tomllib
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Template:
    """A survey file to begin with.

    `name` is that of the file without its ending, `title` the survey's, and `text` the whole file.
    `description` is one sentence for a list: the first paragraph of the comment at its top.
    """

    name: str
    title: str
    description: str
    text: str


def templates() -> dict[str, Template]:
    """Return all templates by their names, in alphabetical order."""
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.toml"))}


def _read(path: Path) -> Template:
    text = path.read_text(encoding="utf-8")
    paragraph = takewhile(lambda line: line.startswith("# "), text.splitlines())
    return Template(
        name=path.stem,
        title=tomllib.loads(text)["title"],
        description=" ".join(line.removeprefix("# ") for line in paragraph),
        text=text,
    )
