"""What a module of client/ uses of the language and of browsers: its tokens and their names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "async await break case catch class const continue default delete do else export extends "
        "false finally for from function get if import in instanceof let new null of return set "
        "static super switch this throw true try typeof undefined var void while yield",
    )
)
#: Words that can also be names: they are keywords only where a name cannot stand.
_SOFT = {"async", "from", "get", "of", "set", "static", "undefined"}
_TOKEN = re.compile(
    r"(?P<space>\s+|/\*.*?\*/|//[^\n]*)"
    r"|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<number>0[xob][\da-f_]+n?|(?:\d[\d_]*)?\.?\d[\d_]*(?:e[+-]?\d+)?n?)"
    r"|(?P<name>#?[A-Za-z_$][\w$]*)"
    r"|(?P<mark>>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!="
    r"|<=|>=|&&|\|\||\?\?"
    r"|\?\.(?!\d)|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|\*\*|[-+*/%=<>!?:;,.(){}\[\]&|^~@])",
    re.S,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")


@dataclass(frozen=True)
class Token:
    """A word, mark or literal; `kind` is that of `_TOKEN`, or keyword, regex or template."""

    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """Return the tokens of a module, with those inside of its templates.

    Raises
    ------
    ValueError
        If there is a character that no token begins with.
    """
    found: list[Token] = []
    _read(text, 0, found)
    return found


def _read(text: str, place: int, found: list[Token], is_inside: bool = False) -> int:
    """Add tokens up to the end, or the brace that ends a part of a template; return the place."""
    depth = 0
    while place < len(text):
        if text[place] == "`":
            place = _template(text, place + 1, found)
            continue
        before = found[-1] if found else Token("mark", ";")
        divides = before.kind in ("name", "number", "string") or before.text in (")", "]", "}")
        if text[place] == "/" and text[place + 1] not in "/*" and not divides:
            match = _REGEX.match(text, place)
            kind = "regex"
        else:
            match = _TOKEN.match(text, place)
            kind = match.lastgroup or "" if match else ""
        if match is None:
            raise ValueError(f"expected a token at {text[place : place + 40]!r}")
        word, place = match[0], match.end()
        depth += (word == "{") - (word == "}")
        if is_inside and depth < 0:
            return place
        if kind == "name" and word in _KEYWORDS and before.text not in (".", "?."):
            kind = "keyword" if word not in _SOFT else "name"
        if kind != "space":
            found.append(Token(kind, word))
    return place


def _template(text: str, place: int, found: list[Token]) -> int:
    start = place
    while text[place] != "`":
        if text.startswith("${", place):
            found.append(Token("template", text[start:place]))
            found.append(Token("mark", "("))
            place = start = _read(text, place + 2, found, is_inside=True)
            found.append(Token("mark", ")"))
        else:
            place += 2 if text[place] == "\\" else 1
    found.append(Token("template", text[start:place]))
    # What follows a template divides, or calls a member of it.
    found.append(Token("string", "''"))
    return place + 1


@dataclass
class Names:
    """Names in a module: what it declares and exports, keys of its objects, and what it uses."""

    declared: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    statics: set[str] = field(default_factory=set)
    exports: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)


def _closing(found: list[Token], place: int) -> int:
    """Return the place of the bracket that closes the one at a place."""
    depth = 0
    for end in range(place, len(found)):
        depth += (found[end].text in "([{") - (found[end].text in ")]}")
        if depth == 0:
            return end
    raise ValueError("expected a closing bracket")


def _opening(found: list[Token], place: int) -> int:
    depth = 0
    for start in range(place, -1, -1):
        depth += (found[start].text in (")", "]", "}")) - (found[start].text in ("(", "[", "{"))
        if depth == 0:
            return start
    raise ValueError("expected an opening bracket")


def _bind(pattern: list[Token], names: Names, is_object: bool = False) -> None:
    """Add the names that a pattern binds; in objects its keys are uses of members."""
    place = 0
    while place < len(pattern):
        token = pattern[place]
        after = pattern[place + 1].text if place + 1 < len(pattern) else ""
        if token.text in ("{", "["):
            end = _closing(pattern, place)
            _bind(pattern[place + 1 : end], names, token.text == "{")
            place = end
        elif token.text == "=":
            while place < len(pattern) and pattern[place].text != ",":
                is_open = pattern[place].text in ("(", "[", "{")
                place = (_closing(pattern, place) if is_open else place) + 1
        elif token.kind == "name":
            if is_object:
                names.members.add(token.text)
            if after != ":":
                names.declared.add(token.text)
        place += 1


def names_of(found: list[Token]) -> Names:
    """Return the names in a module."""
    names = Names()
    for place, token in enumerate(found):
        before = found[place - 1].text if place else ";"
        after = found[place + 1].text if place + 1 < len(found) else ";"
        if token.text in ("const", "let", "var", "class") or (
            token.text == "function" and found[place + 1].kind == "name"
        ):
            is_group = found[place + 1].text in ("{", "[")
            end = _closing(found, place + 1) if is_group else place + 1
            _bind(found[place + 1 : end + 1], names)
        elif token.text == "import" and before == ";":
            end = next(n for n in range(place, len(found)) if found[n].kind == "string")
            names.declared |= {one.text for one in found[place:end] if one.kind == "name"}
        elif token.text == "=>":
            start = _opening(found, place - 1) if before == ")" else place - 1
            _bind(found[start + (before == ")") : place - (before == ")")], names)
        elif token.text == ")" and after == "{":
            start = _opening(found, place)
            caller = found[start - 1]
            if caller.kind == "name" or caller.text == "catch":
                _bind(found[start + 1 : place], names)
            if caller.kind == "name":
                names.keys.add(caller.text)
        elif token.text == "export":
            named = (
                one.text for one in found[place:] if one.kind == "name" and one.text != "async"
            )
            names.exports.add(next(named))
        if token.kind != "name":
            continue
        if before in (".", "?."):
            names.members.add(token.text)
            if before == "." and found[place - 2].kind == "name":
                names.statics.add(f"{found[place - 2].text}.{token.text}")
        elif after == ":" and before in ("{", ","):
            names.keys.add(token.text)
        else:
            names.bare.add(token.text)
    return names


#: Parts of a regular expression that say which engines read it.
_PARTS = re.compile(r"\(\?(?:<?[=!]|<(?=[A-Za-z])|:|[a-z-]*:)|\\[pP]\{|\\k<|\\[A-Za-z]|/[a-z]*$")


def syntax_of(found: list[Token]) -> Iterator[str]:
    """Yield what a module uses of the language: keywords, marks, and forms of literals."""
    depth = 0
    for place, token in enumerate(found):
        after = found[place + 1].text if place + 1 < len(found) else ";"
        depth += (token.text == "{") - (token.text == "}")
        if token.kind in ("keyword", "mark"):
            yield token.text
        if token.kind == "number":
            yield from [f"1{token.text[-1]}"] if token.text.endswith("n") else []
            yield from ["1_000"] if "_" in token.text else []
        if token.kind == "template":
            yield "``"
        if token.kind == "regex":
            yield from (f"regex {part}" for part in _PARTS.findall(token.text))
        if token.text.startswith("#"):
            yield "#private"
        if token.text == "catch" and after == "{":
            yield "catch {"
        if token.text == "await" and depth == 0 and "=>" not in _line(found, place):
            yield "await at the top"
        if token.text == "import" and after in ("(", "."):
            yield f"import{after}"
        if token.text == "export" and after == "*":
            yield "export *"
        if token.text == "class":
            yield from _fields(found, place)


def _line(found: list[Token], place: int) -> list[str]:
    """Return the texts of a statement up to a place."""
    start = max((n for n in range(place) if found[n].text == ";"), default=-1)
    return [token.text for token in found[start + 1 : place]]


def _fields(found: list[Token], place: int) -> Iterator[str]:
    start = next(n for n in range(place, len(found)) if found[n].text == "{")
    depth = 0
    for n in range(start, _closing(found, start)):
        depth += (found[n].text in ("{", "(")) - (found[n].text in ("}", ")"))
        if depth == 1 and found[n].text in ("=", ";"):
            yield "class field"
