"""The README.md for a package index, where its relative links would lead nowhere."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A picture or a link to a file of the repository: its sign, text and target.
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^]]*\])*)\]\((?!https?:)([^)]+)\)")


class Readme(MetadataHookInterface):
    """Give the package README.md, with addresses for its links, or without links.

    `pages` and `pictures` in pyproject.toml are the beginnings of the addresses; `{version}` stands
    for the release. Without them a link becomes its text, and a picture is left out.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text into the metadata of the package."""
        pages, pictures = (
            self.config.get(name, "").replace("{version}", metadata["version"])
            for name in ("pages", "pictures")
        )

        def link(match: re.Match[str]) -> str:
            sign, text, target = match.groups()
            if sign:
                return f"![{text}]({pictures}{target})" if pictures else ""
            return f"[{text}]({pages}{target})" if pages else text

        text = _LINK.sub(link, Path(self.root, "README.md").read_text("utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
