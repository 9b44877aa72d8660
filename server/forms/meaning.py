"""What answers and questions of other tools mean, by their words and by the codes of answers."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

_LISTS = tomllib.loads((resources.files("server.forms") / "words.toml").read_text("utf-8"))
#: Those who give such an answer have no place on a scale.
_OUTSIDE = ("unknown", "refused", "inapplicable")
#: Codes that questionnaires use for answers without a place on a scale, besides others.
_CODES = re.compile(r"-\d+|([789])\1{1,3}|[79]7|[89]8|9[5-9]|99[5-9]")


def told_in(key: str, languages: Sequence[str]) -> Any:
    """Return a phrase that tools have for an answer, plain or by language; English stands in."""
    words = _LISTS[key]
    if not languages:
        return words["en"]
    return {tag: words.get(tag.partition("-")[0], words["en"]) for tag in languages}


def is_none(label: Any) -> bool:
    """Return whether an answer says in some language that none of the others is true."""
    return _means("none", label)


def is_outside(label: Any) -> bool:
    """Return whether an answer has no place on a scale: unknown, refused, or not applicable."""
    return any(_means(key, label) for key in _OUTSIDE)


def asks_who(text: Any) -> str:
    """Return the words by which a question asks who somebody is; "" if it does not."""
    for one in text.values() if isinstance(text, dict) else [text]:
        words = " ".join(re.findall(r"[\w'-]+", _bare(str(one))))
        found = [who for who in _phrases("who") if f" {who} " in f" {words} "]
        found += [words] if words in _phrases("who-alone") else []
        if found:
            return max(found, key=lambda who: (len(who), who))
    return ""


def outside(options: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the codes of answers that have no place among the points of a scale.

    An answer is outside by its words. It is outside by its code, too, if that is one of those that
    questionnaires use for it, such as -88 or 99, and if it is below zero or lies far above the
    other codes: by more than three times the widest gap between these.
    """
    by_words = [value for value, label in options if is_outside(label)]
    codes = {value: int(value) for value, _ in options if re.fullmatch(r"-?\d{1,9}", value)}
    if len(codes) < len(options):
        return by_words
    usual = [code for value, code in codes.items() if value not in by_words and code >= 0]
    far = {
        value
        for value, code in codes.items()
        if _CODES.fullmatch(value) and (code < 0 or _leaves_gap(code, usual))
    }
    found = {*by_words, *(far if len(far) < len(options) - 1 else ())}
    return [value for value, _ in options if value in found]


def _leaves_gap(code: int, codes: Sequence[int]) -> bool:
    """Return whether a code lies far above the others, which lie near each other."""
    below = sorted(one for one in codes if one < code and not _CODES.fullmatch(str(one)))
    if len(below) < 2:
        return False
    widest = max(high - low for low, high in pairwise(below))
    return code - below[-1] > max(widest, 1) * 3


def in_order(options: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the points of a scale in the order of their codes, if all of these are numbers."""
    if all(re.fullmatch(r"-?\d{1,9}", value) for value, _ in options):
        return sorted(options, key=lambda option: int(option[0]))
    return [*options]


def _means(key: str, label: Any) -> bool:
    """Return whether a label, in one of its languages, says just what a list of words means."""
    texts = label.values() if isinstance(label, dict) else [label]
    known = _phrases(key)
    for text in texts:
        bare = _bare(str(text))
        parts = [one.strip() for one in re.split(r"[/|;]| or | oder | ou | o ", bare)]
        if bare in known or (len(parts) > 1 and all(_is_of(one, key) for one in parts)):
            return True
    return False


def _is_of(part: str, key: str) -> bool:
    """Return whether a part of a label is of these words, or of those of the other such answers."""
    keys = _OUTSIDE if key in _OUTSIDE else (key,)
    return any(part in _phrases(one) for one in keys)


@cache
def _phrases(key: str) -> frozenset[str]:
    return frozenset(_bare(one) for words in _LISTS[key].values() for one in words)


def _bare(text: str) -> str:
    """Return a text in small letters, without marks around it and with plain apostrophes."""
    lower = " ".join(text.casefold().replace("\u2019", "'").split())
    return (re.sub(r" \([^()]{0,60}\)$", "", lower)).strip(' .,:;!?*()[]"“”-–—_')
