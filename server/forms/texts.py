"""Texts of other tools as plain texts, and their languages as tags."""

import re
from html import unescape

_TAGS = {
    "english": "en", "français": "fr", "french": "fr", "español": "es", "spanish": "es",
    "deutsch": "de", "german": "de", "arabic": "ar", "portuguese": "pt", "português": "pt",
    "swahili": "sw", "kiswahili": "sw", "hindi": "hi", "urdu": "ur", "bengali": "bn",
    "nepali": "ne", "amharic": "am", "somali": "so", "hausa": "ha", "russian": "ru",
    "dutch": "nl", "turkish": "tr", "chinese": "zh", "indonesian": "id", "burmese": "my",
    "ukrainian": "uk", "polish": "pl", "kinyarwanda": "rw", "khmer": "km", "vietnamese": "vi",
    "tagalog": "tl", "dari": "prs", "pashto": "ps", "farsi": "fa", "persian": "fa",
}  # fmt: skip
_LOST = re.compile(r"<\s*(img|video|audio|iframe|a|script|table)\b", re.I)


def tag_of(language: str) -> str | None:
    """Return the tag of a language such as "French (fr)" or "French"; None if it is unknown."""
    inside = re.search(r"\(([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)\)", language)
    if inside:
        return inside[1]
    name = language.strip()
    if name.lower() in _TAGS:
        return _TAGS[name.lower()]
    return name if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", name) else None


def plain(text: str) -> tuple[str, list[str]]:
    """Return a text without HTML, and the names of tags whose content is lost with them."""
    lost = sorted({found.lower() for found in _LOST.findall(text)})
    lined = re.sub(r"<\s*(br|/p|/div|/li|/h\d)\s*/?>", "\n", text, flags=re.I)
    bare = re.sub(r"<[a-zA-Z/!][^>]*>", "", lined) if "<" in lined else lined
    clean = "".join(c for c in unescape(bare) if c.isprintable() or c == "\n")
    return re.sub(r"[^\S\n]+", " ", clean).strip(), lost


def without_pipes(text: str, pattern: str) -> tuple[str, bool]:
    """Return a text in which what tells an earlier answer is an ellipsis, and whether one did."""
    without = re.sub(pattern, "…", text).replace("{answer", "(answer")
    return without, without != text
