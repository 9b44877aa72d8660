"""What respondents' browsers run is as old as `tests/features.toml` says, and nothing else is used.

The tables are closed: a name of JavaScript or of a browser that is not in them fails. So nobody
uses one without having looked up which versions have it.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts import Names, names_of, syntax_of, tokens

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "client"
SCRIPTS = sorted(CLIENT.rglob("*.js"))
STYLES = sorted(CLIENT.rglob("*.css"))
FEATURES = tomllib.loads((Path(__file__).parent / "features.toml").read_text("utf-8"))
ENGINES = ("chromium", "firefox", "safari")
TABLES = ("globals", "statics", "members", "syntax", "selectors", "properties")

#: Marks, keywords and parts of regular expressions that every engine with modules has.
_OLD = frozenset(
    re.findall(
        r"\S+",
        "! !== % & && ( ) * *= + += , - -= . / : ; < << <= = === > >= >> ? [ ] { | || } ~ ++ -- "
        "catch continue default delete else false finally for function if in instanceof new null "
        "return switch case break do static super this throw true try typeof void while",
    )
) | {f"regex {part}" for part in ("/", "/g", "/i", "\\D", "\\d", "\\r", "\\s", "\\t", "\\w")}
#: Words that `scripts.py` takes for names.
_WORDS = {"get", "of", "undefined", "constructor"}
_PSEUDO = re.compile(r"(?<=[\w\s\])*,(>+~])::?[a-z][a-z-]+(?=[\s(,){:.>+~\[]|$)|^::?[a-z][a-z-]+")


def _is_newer(versions: list[float]) -> bool:
    oldest = [FEATURES["oldest"][engine] for engine in ENGINES]
    return any(map(float.__gt__, map(float, versions), map(float, oldest)))


def _refused(table: str, name: str, can_do_without: bool = True) -> bool:
    """Return whether a table lacks a feature, or has one that is too new."""
    versions = FEATURES[table].get(name)
    can_do_without = can_do_without and name in FEATURES["without"]
    return versions is None or (_is_newer(versions) and not can_do_without)


def _all_names() -> list[Names]:
    return [names_of(tokens(path.read_text())) for path in SCRIPTS]


#: Keys of objects, and what modules export: what members can be that are called.
_OURS = set[str]().union(*(names.keys for names in _all_names()))
_EXPORTED = set[str]().union(*(names.exports for names in _all_names()))


def refused_in(text: str) -> set[str]:
    """Return what a module uses that is too new, or of which nobody has said how new it is."""
    found = tokens(text)
    names = names_of(found)
    ours = _OURS | names.keys | set(FEATURES["own"]["fields"]) | set(FEATURES["own"]["functions"])
    called = {
        token.text
        for before, token, after in zip(found, found[1:], found[2:], strict=False)
        if before.text in (".", "?.") and after.text == "("
    }
    functions = _OURS | _EXPORTED | names.keys | set(FEATURES["own"]["functions"])

    def all_refused() -> Iterator[str]:
        for name in names.bare - names.declared - names.keys - _WORDS:
            if _refused("globals", name) and _refused("syntax", name):
                yield name
        for name in names.statics:
            owner = name.partition(".")[0]
            is_namespace = owner[0].isupper() and owner not in names.declared
            if is_namespace and owner in FEATURES["globals"] and _refused("statics", name):
                yield name
        statics = {name.partition(".")[2] for name in FEATURES["statics"]}
        for name in names.members:
            known = functions if name in called else ours
            if name not in known | statics and _refused("members", name):
                yield name
        for name in set(syntax_of(found)) - _OLD:
            if _refused("syntax", name, can_do_without=False):
                yield name
        for token in found:
            if token.kind in ("string", "template"):
                # A selector that an engine does not know throws.
                for name in _PSEUDO.findall(token.text.strip("'\"")):
                    if _refused("selectors", name, can_do_without=False):
                        yield name

    return set(all_refused())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(CLIENT).as_posix())
def test_a_module_uses_nothing_newer_than_the_oldest_browsers(path: Path) -> None:
    assert refused_in(path.read_text()) == set()


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("const a = AbortSignal.timeout(1000);", "AbortSignal"),
        ("const a = Object.hasOwn({}, 'a');", "Object.hasOwn"),
        ("const a = structuredClone({});", "structuredClone"),
        ("const a = [1].at(-1);", "at"),
        ("const a = [1].findLast(Boolean);", "findLast"),
        ("const a = /(?<=a)b/;", "regex (?<="),
        ("const a = /(?<!a)b/;", "regex (?<!"),
        ("const a = /(?<year>a)/;", "regex (?<"),
        ("const a = /a/v;", "regex /v"),
        ("const a = document.querySelector('p:has(b)');", ":has"),
        ("const b = 'x'; const a = document.querySelector(`[data-${b}]:is(b, i)`);", ":is"),
        ("class A { a = 1; }", "class field"),
        ("class A { constructor() { this.#a = 1; } }", "#private"),
        ("const a = await fetch('/');", "await at the top"),
        ("import('./a.js');", "import("),
        ("let a = 1; a &&= 2;", "&&="),
    ],
)
def test_what_is_too_new_is_found(text: str, refused: str) -> None:
    assert refused in refused_in(text)


def _of_styles() -> Iterator[tuple[str, str]]:
    """Yield the table and name of each feature of the styles."""
    for path in STYLES:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for selectors in re.findall(r"([^{};]+)\{", text):
            if not selectors.strip().startswith("@"):
                yield from (("selectors", name) for name in _PSEUDO.findall(selectors.strip()))
            else:
                rule = selectors.split()[0]
                yield "selectors", rule
                for feature in re.findall(r"\(([a-z-]+)", selectors):
                    yield "selectors", f"{rule} {feature}"
        for name in re.findall(r"[;{]\s*([a-z-]+)\s*:(?!:)\s*[^{};]+(?=[;}])", text):
            yield from [("properties", name)] if not name.startswith("--") else []


def test_styles_use_nothing_newer_than_the_oldest_browsers_but_what_pages_can_do_without() -> None:
    features = set(_of_styles())
    assert {("selectors", ":has"), ("properties", "inset")} <= features
    assert [name for table, name in features if _refused(table, name)] == []


def test_respondents_pages_have_no_script_of_their_own() -> None:
    for path in sorted((ROOT / "server/templates").rglob("*.html")):
        text = path.read_text()
        for attributes in re.findall(r"<script\b([^>]*)>", text):
            assert "src=" in attributes or re.search(
                r'type="(importmap|application/json)"', attributes
            )


def test_tables_have_nothing_that_is_not_used() -> None:
    used = {name for names in _all_names() for name in names.bare | names.members | names.statics}
    used |= {name for path in SCRIPTS for name in syntax_of(tokens(path.read_text()))}
    used |= {name for _, name in _of_styles()}
    used |= {
        name
        for path in SCRIPTS
        for token in tokens(path.read_text())
        if token.kind in ("string", "template")
        for name in _PSEUDO.findall(token.text.strip("'\""))
    }
    for table in (*TABLES, "without"):
        assert [name for name in FEATURES[table] if name not in used] == [], table
    for names in FEATURES["own"].values():
        assert [name for name in names if name not in used] == []
    # What is excused is newer.
    newer = {name for table in TABLES for name, new in FEATURES[table].items() if _is_newer(new)}
    assert newer == {*FEATURES["without"]}


def test_the_documentation_names_the_oldest_browsers() -> None:
    oldest = FEATURES["oldest"]
    stated = "Chromium {chromium}, Firefox {firefox} and Safari {safari}".format(**oldest)
    assert stated in (ROOT / "docs/page.md").read_text()
