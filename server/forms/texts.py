"""Texts of other tools as plain texts, and their languages as tags."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from importlib import resources
from typing import Any
from unicodedata import category

from markdown_it import MarkdownIt

from server.cldr import tag_named
from server.forms.change import Change, look, lost

_LOST_WORDS = {
    "img": "an image", "video": "a video", "audio": "a recording", "iframe": "a frame",
    "a": "the address of a link", "script": "a program", "table": "the layout of a table",
}  # fmt: skip
#: Control characters, halves of characters, and characters without a meaning of their own.
_NO_TEXT = ("Cc", "Cs", "Co")
#: Of these, the words stay.
_LOOKED_AT = (_LOST_WORDS["a"], _LOST_WORDS["table"])
# Without (?a:…), re.I takes ſ for an s and ı for an i.
_LOST = re.compile(r"<\s*((?a:img|video|audio|iframe|a|script|table))\b", re.I)
#: The beginnings of parts that are no text, and the end of each.
_HIDDEN = re.compile(r"<!--|<(?a:style|script)\b", re.I)
_ENDS = {
    "<!--": re.compile("-->"),
    "<style": re.compile(r"</(?a:style)\s*>", re.I),
    "<script": re.compile(r"</(?a:script)\s*>", re.I),
}
_BREAK = re.compile(r"<\s*(br|/p|/div|/li|/h\d)\s*/?>", re.I)
#: Only a tag with an end: see `_without_tags`.
_TAG = re.compile(r"<[a-zA-Z/!][^>]*>")
#: Other names between angle brackets are words of the author.
_HTML = frozenset(
    tomllib.loads((resources.files("server.forms") / "html.toml").read_text())["tags"]
)


def tag_of(language: str) -> str | None:
    """Return the tag of a language such as "French (fr)", "Français" or "fr", or None."""
    inside = re.search(r"\(([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)\)", language)
    if inside:
        return inside[1]
    name = language.strip()
    is_tag = re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", name)
    return tag_named(name) or (name if is_tag else None)


def plain(text: str) -> tuple[str, list[str]]:
    """Return a text without HTML, and what is lost with it, in words."""
    lost = sorted({_LOST_WORDS[found.lower()] for found in _LOST.findall(text)})
    bare = _without_tags(_BREAK.sub("\n", _without_hidden(text)))
    # Marks that join letters or turn the direction are spelling. Some characters have a use here.
    clean = "".join(c for c in unescape(bare) if category(c) not in _NO_TEXT or c.isspace())
    # Spaces that keep words together stay what they are.
    return re.sub(r"[^\S\n\u00a0\u202f]+", " ", clean).strip(), lost


def _without_hidden(text: str) -> str:
    """Return a text without comments, styles and programs.

    A part that has no end stays. No end of its sort is looked for again: another look at the rest
    of the text for each beginning would take a time that grows with the square of its length.
    """
    kept, at, endless = list[str](), 0, set[str]()
    for begin in _HIDDEN.finditer(text):
        sort = begin[0].lower()
        if begin.start() < at or sort in endless:
            continue
        end = _ENDS[sort].search(text, begin.end())
        if end is None:
            endless.add(sort)
        else:
            kept.append(text[at : begin.start()])
            at = end.end()
    return "".join([*kept, text[at:]])


def _without_tags(text: str) -> str:
    """Return a text without tags; behind the last ">" no tag has an end, and none is looked for."""
    last = text.rfind(">") + 1
    return _TAG.sub(_without_html, text[:last]) + text[last:]


def _without_html(tag: re.Match[str]) -> str:
    name = tag[0][1:-1].lstrip("/").split()[:1]
    is_html = name and name[0].rstrip("/").lower() in _HTML
    return "" if is_html or not name else tag[0]


_MARKDOWN = MarkdownIt("zero", {"html": False}).enable(["link", "emphasis", "escape"])


def unmarked(text: str, keeps_links: bool) -> tuple[str, bool]:
    """Return a text without the marks of Markdown, and whether the address of a link is lost.

    Lists stay as they were typed. Links stay if the text may have them, as those of notes may.
    """
    lines, is_lost = [], False
    for line in text.split("\n"):
        bare = line.lstrip("# ") if re.match(" {0,3}#{1,6} ", line) else line
        written, address = [], ""
        for token in _MARKDOWN.parseInline(bare)[0].children or ():
            if token.type.startswith("link_") and keeps_links:
                is_open = token.type == "link_open"
                written.append("[" if is_open else f"]({address})")
            address = str(token.attrGet("href") or "") if token.type == "link_open" else address
            is_lost |= token.type == "link_open" and not keeps_links
            written.append(token.content)
        lines.append("".join(written).replace("**", ""))
    return "\n".join(lines), is_lost


#: Between these stands the name of the question whose answer a text repeats, until it is known
#: whether that question is imported.
_PIPE = re.compile("\ue000([^\ue000\ue001]*)\ue001")


def answers_in(text: Any) -> list[str]:
    """Return the names of the questions whose answers a text repeats, in any language."""
    found = text.values() if isinstance(text, dict) else [text]
    return [name for one in found if isinstance(one, str) for name in _PIPE.findall(one)]


def retold(value: Any, answer: Callable[[str], str] = lambda _: "…") -> Any:
    """Return texts, lists and tables of texts, in which `answer` writes each earlier answer."""
    if isinstance(value, dict):
        return {key: retold(one, answer) for key, one in value.items()}
    if isinstance(value, list):
        return [retold(one, answer) for one in value]
    if isinstance(value, str):
        return _PIPE.sub(lambda found: answer(found[1]), value.replace("{answer", "(answer"))
    return value


@dataclass(frozen=True)
class Languages:
    """The languages of a form, the first one first.

    Parameters
    ----------
    tags : mapping
        The tag of each language, by its name in the source.
    pipes : Pattern
        Of what repeats an earlier answer in a text; its group is the question's name.
    """

    tags: Mapping[str, str]
    pipes: re.Pattern[str]

    @property
    def several(self) -> Sequence[str]:
        """The tags by which texts are tables; none where the only language is unknown or English.

        Texts in English alone are plain, as the page's own words are.
        """
        tags = tuple(self.tags.values())
        return () if tags in (("",), ("en",)) else tags

    def same(self, text: str) -> Any:
        """Return a text that is the same in all languages, as survey files have it."""
        return dict.fromkeys(self.several, text) if self.several else text

    def text(self, given: Mapping[str, str], what: str = "text") -> tuple[Any, list[Change]]:
        """Return a text as survey files have it, and what is different from the source.

        Parameters
        ----------
        given : mapping
            The text by the names of languages in the source.
        what : str
            What the text is of a question.

        Returns
        -------
        text : str, dict or None
            Plain if there is one language, otherwise by tag; None if it is missing in all.
        changes : list of Change
        """
        found: dict[str, str] = {}
        changes: list[Change] = []
        for name, tag in self.tags.items():
            clean, gone = plain(given.get(name, ""))
            found[tag] = self.pipes.sub(
                lambda pipe: f"\ue000{(pipe[1] or '').strip()}\ue001", clean
            )
            changes += [
                (look if one in _LOOKED_AT else lost)(f"{one} is left out of its {what}")
                for one in gone
            ]
        changes = list(dict.fromkeys(changes))
        there = [text for text in found.values() if text]
        if not there:
            return None, changes
        if not self.several:
            return there[0], changes
        lacking = [tag for tag, text in found.items() if not text]
        if lacking:
            told = f"its {what} in {', '.join(lacking)} is missing"
            changes.append(look(f"{told}: the text of another language is used"))
        return {tag: text or there[0] for tag, text in found.items()}, changes


def combined(write: Callable[..., str], *given: Any) -> Any:
    """Return what `write` makes of texts, in each language that one of them has."""
    tags = dict.fromkeys(tag for one in given if isinstance(one, dict) for tag in one)

    def told(tag: str) -> str:
        return write(*(one.get(tag, "") if isinstance(one, dict) else one for one in given))

    return {tag: told(tag) for tag in tags} if tags else told("")


def first(text: Any) -> str:
    """Return a text in its first language."""
    return str(next(iter(text.values()))) if isinstance(text, dict) else str(text)
