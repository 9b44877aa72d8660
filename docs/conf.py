"""How `make docs` builds the site: Sphinx reads docs/, and the reference comes from the code.

Sphinx needs no server for its search, and Furo asks nothing of others: no fonts, no trackers.
Material for MkDocs, which does as much, is kept until May 2027; its successor is not stable yet.
"""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from generated_pages import GENERATED, with_contents  # noqa: E402
from mended_pages import mended  # noqa: E402

import analysis  # noqa: E402

project = "deniable"
author = "deniable contributors"
project_copyright = ""
release = version = installed_version("deniable")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md"]
myst_heading_anchors = 4  # the anchors that repositories make, which links in the texts use
highlight_language = "none"  # of indented blocks; fenced ones name their own

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
default_role = "literal"
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "deniable"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_domain_indices = False
html_theme_options = {"navigation_with_keys": False}

#: The line below a mark is for people who read the file itself.
_MARK = re.compile(r"^<!-- generated: ([\w-]+)(?: ([\w.-]+))? -->\n(?:.+\n)?", re.M)
_NAMED = re.compile(rf"(?<![`:])`(?:analysis\.)?({'|'.join(analysis.__all__)})`(?!`)")
_PAGE = re.compile(r"\b(docs/([a-z-]+)\.md)\b")
_TYPE = re.compile(r"^(\s*:(?:type(?: [^:]+)?|rtype): )([^:*`]+)$")
_LONG_TYPES = (
    (
        re.compile(
            r"~?(?:numpy\.)?ndarray\[~?tuple\[~?(?:typing\.)?Any, \.\.\.\], "
            r"~?(?:numpy\.)?dtype\[([^\[\]]+)\]\]"
        ),
        r"NDArray[\1]",
    ),
    (re.compile(r"_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]"), "ArrayLike"),
)
#: The pages whose texts have formulas with indices.
_WITH_FORMULAS = ("methods.html", "privacy.html")
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((\.\./[^)#]+)(#[^)]*)?\)")


#: Pages of the site that show a file beside docs/.
_SHOWN = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_SHOWN |= {"SECURITY.md": "security.md", "CODE_OF_CONDUCT.md": "code-of-conduct.md"}


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Insert generated text where a page asks for it, and adjust links that leave docs/."""
    folder = (DOCS / name).parent

    def linked(match: re.Match[str]) -> str:
        text, target, _ = match.groups()
        path = (folder / target).resolve()
        if path.parent == DOCS.parent and path.name in _SHOWN:
            return match[0].replace(target, f"/{_SHOWN[path.name]}")
        if path.is_relative_to(DOCS) or path.is_file():
            return match[0]  # a page, or a file that readers of the site can download
        if not path.exists():
            raise ValueError(f"{name}: {target} does not exist")
        own = path.relative_to(DOCS.parent).as_posix()
        return text if own in text else f"{text} (`{own}/` in the source)"

    text = _MARK.sub(lambda match: GENERATED[match[1]](match[2] or ""), source[0])
    source[0] = _OUTSIDE.sub(linked, with_contents(text))


def _link_names(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Make links of the public names in backticks; leave the words of types as they are written."""
    for place, line in enumerate(lines):
        line = _TYPE.sub(r"\1*\2*", line)
        line = _PAGE.sub(r":doc:`\1 </\2>`", line)
        named = _NAMED.sub(r":py:obj:`\1 <analysis.\1>`", line)
        # A class says in backticks what its fields are, some of which have a function's name.
        lines[place] = line if what == "class" else named


def _keep_sentences(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep what precedes a colon in a property's first line from being read as its type."""
    if what in ("property", "attribute"):
        lines.insert(0, "")


def _shorten_types(
    app: Sphinx, what: str, name: str, value: object, options: object, taken: str, given: str
) -> tuple[str, str]:
    """Return a signature with the names of NumPy's types instead of what they stand for."""

    def shortened(types: str) -> str:
        if not types:
            return types  # a property has no signature
        types = types.replace("<factory>", "...")
        for pattern, short in _LONG_TYPES:
            types = pattern.sub(short, types)
        return types

    return shortened(taken), shortened(given)


def _mend(app: Sphinx, failure: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html"):
        formulas = path.relative_to(app.outdir).as_posix() in _WITH_FORMULAS
        path.write_text(mended(path.read_text("utf-8"), formulas), "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", _mend)
    app.connect("autodoc-process-docstring", _keep_sentences, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _link_names)
    app.connect("autodoc-process-signature", _shorten_types)
    app.connect("source-read", _read)
