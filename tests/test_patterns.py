"""No regular expression takes a time that grows faster than the text that it reads.

Such a pattern keeps the interpreter for as long as it searches, and all requests of a process wait.
The analysis below errs on the safe side: a pattern that it cannot clear stands in `BOUNDED`, with
the bound of its text.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = [path for name in ("analysis", "server") for path in sorted((ROOT / name).rglob("*.py"))]
FUNCTIONS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
}
#: Functions that try a pattern at the beginning of a text alone.
ANCHORED = {"match", "fullmatch"}
#: Repeats of more than this count as unbounded.
MANY = 1000
#: Ways through a pattern that are looked at.
MOST_WAYS = 4000

#: Patterns that are not cleared: the bound of their texts, and who writes them.
BOUNDED = {
    "analysis.core.channels.bit_reports: f'[{re.escape(ALPHABET)}]{{{free}}}{end}'": (
        "a number of characters without a choice, of a report whose length is checked"
    ),
    r"analysis.study.opened_study: postgres(ql)?(\+\w+)?:|(\w+ *= *\S+ +)*password *=": (
        "the address of a database, which somebody passes to a function of their own"
    ),
    r"analysis.study.regression.table: \bC\([^)]*(?<![\w.])x(?![\w.])": (
        "a term of a formula on the command line; the console makes formulas of names"
    ),
    r"server.audit.strict_http: b'HTTP/1\\.[01] %d ' % status": "a number of three digits",
    r"server.commands.plan: ([a-z0-9-]+)\.(.+)=(-?\d*\.?\d+(?:[eE]-?\d+)?)": (
        "an option of the command line"
    ),
    r"""server.console.mistakes: (?P<before>(?:<label class="tick[^"]*">)?)"""
    r"""(?P<tag><(?:input|select|textarea|fieldset)\b[^>]*?\sid="(?P<id>[^"]*)"[^>]*)>"""
    r"""(?P<legend>(?:<legend>.*?</legend>)?)""": (
        "the product's own pages, in which texts of others have no < and no quotation mark"
    ),
    r"""server.console.mistakes: <a href="#x" class="to-field">(.*?)</a>""": (
        "the product's own pages, in which each of these links has an end"
    ),
    r"server.doctor.logs: \b(access_log|error_log|include)\s+([^;]+);": (
        "nginx's files, which the operator of the machine writes"
    ),
    r"server.doctor.machine: f'^{name}\\s+(\\S+)\\s+(\\S+)'": "a file of the kernel",
    r"server.forms.texts: <[a-zA-Z/!][^>]*>": "it is used before the last > alone",
    """server.remarks: f'{what} "([^"]*)": '""": "two words of the product",
}

CHARACTERS = (
    "".join(map(chr, range(0x180))) + "\u2018\u2019\u201c\u201d\u202f\u27e6\ue000\ue001\ufeff"
)


@dataclass(frozen=True)
class Step:
    """A part of a way through a pattern: a character of a set, once or without bound, or a test.

    `can_fail` is false of a part that may match nothing; `is_guard` of a test before the step that
    fails behind a character of this set.
    """

    characters: frozenset[str]
    is_many: bool = False
    can_fail: bool = True
    is_possessive: bool = False
    is_guard: bool = False
    is_opaque: bool = False


ANY = frozenset(CHARACTERS)
parser: Any = re._parser  # type: ignore[attr-defined]
compiler: Any = re._compiler  # type: ignore[attr-defined]


def characters(node: Any, state: Any, flags: int) -> frozenset[str]:
    """Return those of `CHARACTERS` that a part for one character matches."""
    known = (str(node), flags)
    if known not in _KNOWN:
        part = compiler.compile(parser.SubPattern(state, [node]), flags)
        _KNOWN[known] = frozenset(filter(part.fullmatch, CHARACTERS))
    return _KNOWN[known]


_KNOWN: dict[tuple[str, int], frozenset[str]] = {}
ONE = {"LITERAL", "NOT_LITERAL", "IN", "ANY", "RANGE", "CATEGORY"}
REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


def ways(nodes: Sequence[Any], state: Any, flags: int) -> list[list[Step]]:
    """Return the ways through a pattern, each a sequence of steps."""
    found: list[list[Step]] = [[]]
    for node in nodes:
        parts = list(through(node, state, flags))
        found = [[*way, *part] for way, part in product(found, parts)]
        assert len(found) <= MOST_WAYS, "too many ways through this pattern: make it simpler"
    return found


def through(node: Any, state: Any, flags: int) -> Iterator[list[Step]]:
    """Yield the ways through one part of a pattern."""
    sort, value = str(node[0]), node[1]
    if sort in ONE:
        yield [Step(characters(node, state, flags))]
    elif sort == "BRANCH":
        for branch in value[1]:
            yield from ways(branch, state, flags)
    elif sort == "SUBPATTERN":
        _, more, less, inner = value
        yield from ways(inner, state, (flags | more) & ~less)
    elif sort == "ATOMIC_GROUP":
        yield from ways(value, state, flags)
    elif sort in REPEATS:
        least, most, inner = value
        is_one = len(inner) == 1 and str(inner[0][0]) in ONE
        if int(most) > MANY:
            if is_one:
                chars = characters(inner[0], state, flags)
                yield [Step(chars)] * min(least, 3) + [
                    Step(chars, True, False, sort == "POSSESSIVE_REPEAT")
                ]
            else:
                yield from rounds(inner, state, flags, least)
        else:
            inside = ways(inner, state, flags)
            if least == 0:
                yield []
            for way in inside:
                yield way
                if most > 1 and any(step.is_many for step in way):
                    yield way + way
    elif sort in ("ASSERT", "ASSERT_NOT"):
        ahead, inner = value
        inside = ways(inner, state, flags)
        if ahead < 0 and sort == "ASSERT_NOT" and all(len(way) == 1 for way in inside):
            behind = frozenset[str]().union(*(way[0].characters for way in inside))
            yield [Step(behind, is_guard=True)]
        elif ahead > 0:
            # What it looks at is read again behind it: it can fail, and takes nothing.
            for way in inside:
                yield [*way, Step(frozenset(), is_opaque=True)]
            yield [Step(frozenset(), is_opaque=True)]
        else:
            yield [Step(frozenset(), is_opaque=True)]
    elif sort == "AT":
        where = str(value)
        if where == "AT_BOUNDARY":
            word = frozenset(filter(re.compile(r"\w").fullmatch, CHARACTERS))
            yield [Step(word, is_guard=True)]
        elif where in ("AT_BEGINNING_STRING",) or (where == "AT_BEGINNING" and not flags & re.M):
            yield [Step(ANY, is_guard=True)]
        elif where == "AT_BEGINNING":
            yield [Step(ANY - {"\n"}, is_guard=True)]
        else:
            yield [Step(frozenset(), is_opaque=True)]
    elif sort == "GROUPREF":
        yield [Step(ANY, state.groupwidths[value][1] > MANY)]
    else:
        raise AssertionError(f"this test does not know {sort}: teach it")


def rounds(inner: Any, state: Any, flags: int, least: int) -> Iterator[list[Step]]:
    """Yield the ways through a repeat of several parts: two rounds, and any number if unclear.

    Rounds are clear if each way begins or ends with a character that nothing else in it matches.
    """
    inside = ways(inner, state, flags)
    firsts = {way[0].characters for way in inside if way and not way[0].is_many}
    lasts = {way[-1].characters for way in inside if way and not way[-1].is_many}
    everything = [step for way in inside for step in way]

    def is_clear(ends: set[frozenset[str]], at: int) -> bool:
        if len(ends) != 1 or any(not way or way[at].is_many for way in inside):
            return False
        (end,) = ends
        others = [step for way in inside for step in (way[1:] if at == 0 else way[:-1])]
        return not any(end & step.characters for step in others)

    chars = frozenset[str]().union(*(step.characters for step in everything))
    if is_clear(firsts, 0) or is_clear(lasts, -1):
        # Such rounds can be read in one way alone; together they are a run of their characters.
        yield [Step(chars, True, False, True)]
        for way in inside:
            yield [*way, *way]
    else:
        yield [Step(chars, True, False), Step(chars, True, False)]


def faults(pattern: str, flags: int = 0, is_anchored: bool = False) -> Iterator[str]:
    """Yield why the time of a pattern may grow faster than its text; nothing if it does not."""
    tree = parser.parse(pattern, flags)
    for way in ways(tree, tree.state, tree.state.flags):
        for place, step in enumerate(way):
            before, after = way[:place], way[place + 1 :]
            if not step.is_many or not any(one.can_fail for one in after):
                continue
            if not is_anchored and not any(keeps_out(one, step) for one in before):
                yield "a search begins anew at each character of a repeat that can fail"
            for number, other in enumerate(after if not step.is_possessive else ()):
                is_shared = other.is_many and other.characters & step.characters
                is_parted = any(parts(one, step, other) for one in after[:number])
                if is_shared and not is_parted and any(one.can_fail for one in after[number + 1 :]):
                    yield "two repeats share characters, and can share them out"


def keeps_out(one: Step, repeat: Step) -> bool:
    """Return whether nothing begins within a repeat because of a step before it."""
    if one.is_guard:
        return one.characters >= repeat.characters
    return one.can_fail and not one.is_opaque and not one.characters & repeat.characters


def parts(one: Step, first: Step, second: Step) -> bool:
    """Return whether a step between two repeats can match in one place alone."""
    is_character = one.can_fail and not one.is_guard and not one.is_opaque
    return is_character and not (
        one.characters & first.characters and one.characters & second.characters
    )


@dataclass(frozen=True)
class Pattern:
    """A pattern of the product: where it stands, what it is, and whether it is searched for."""

    place: str
    text: str | None
    flags: int
    is_anchored: bool


def uses(paths: Sequence[Path]) -> dict[str, set[str]]:
    """Return the attributes that files use of each name."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for name, attribute in re.findall(r"\b(\w+)\.(?=(\w+))", path.read_text()):
            found.setdefault(name, set()).add(attribute)
    return found


def text_of(node: ast.expr, names: dict[str, Any]) -> str | bytes | None:
    """Return a pattern as it is at run time; None if it depends on what is not known before."""

    class Escaped(ast.NodeTransformer):
        """Texts that are escaped are characters without a meaning, and stand for one of them."""

        def visit_Call(self, call: ast.Call) -> ast.AST:
            is_escape = ast.unparse(call.func) == "re.escape"
            return ast.copy_location(ast.Constant("x"), call) if is_escape else call

    expression = Escaped().visit(ast.parse(ast.unparse(node), mode="eval"))
    copy = ast.fix_missing_locations(expression)
    try:
        found = eval(compile(copy, "pattern", "eval"), dict(names))
    except NameError:
        return None
    return found if isinstance(found, str | bytes) else None


def patterns() -> Iterator[Pattern]:
    everywhere = uses(PYTHON)
    for path in PYTHON:
        if not re.search(r"\bre\b", path.read_text()):
            continue
        here, tree = uses([path]), ast.parse(path.read_text())
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                names[ast.unparse(node.value)] = ast.unparse(node.targets[0])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.module != "re", f"{name}: import re, so that its patterns are found"
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = node.func.value
            is_re = isinstance(owner, ast.Name) and owner.id == "re"
            if not is_re or node.func.attr not in FUNCTIONS:
                continue
            module = vars(import_module(name))
            text = text_of(node.args[0], module)
            if text is None and isinstance(module.get(ast.unparse(node.args[0])), re.Pattern):
                continue
            position = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(node.func.attr, 2)
            given = [one.value for one in node.keywords if one.arg == "flags"]
            given += node.args[position : position + 1]
            flags = int(eval(ast.unparse(given[0]), {"re": re})) if given else 0
            compiled = names.get(ast.unparse(node), "")
            called = (here if compiled.startswith("_") else everywhere).get(compiled)
            anchored = node.func.attr in ANCHORED or bool(called and called <= ANCHORED)
            shown = ast.unparse(node.args[0]) if text is None else text
            if isinstance(shown, bytes):
                shown = shown.decode("latin-1")
            is_known = text is not None
            yield Pattern(f"{name}: {shown}", shown if is_known else None, flags, anchored)


def test_the_time_of_each_pattern_grows_with_its_text_or_the_text_is_bounded() -> None:
    found = {
        one.place: sorted({*faults(one.text, one.flags, one.is_anchored)})
        if one.text is not None
        else ["it is not known before the program runs"]
        for one in patterns()
    }
    assert len(found) > 100
    # A pattern that is not in `BOUNDED` needs another form, or a line there with its bound. A line
    # of `BOUNDED` whose pattern is gone, or is cleared now, can go.
    assert {place: why for place, why in found.items() if why and place not in BOUNDED} == {}
    assert {place for place in BOUNDED if not found.get(place)} == set()


@pytest.mark.parametrize(
    "pattern",
    [
        r"<!--.*?-->", r"<(style|script)\b.*?</\1\s*>", r"<[a-z/!][^>]*>", r"\s*::?\s*", r"\s+$",
        r"(a+)+b", r"(a|aa)*b", r"(ab)+c", r"\d+\.?\d*x", r"\w+=", r"(\w+ *= *\S+ +)*password",
        r"\{answer\.([a-z]{1,64})(?:\|([^{}|]*[^{}|\s][^{}|]*))?\}",
    ],
)  # fmt: skip
def test_a_pattern_whose_time_grows_faster_is_found(pattern: str) -> None:
    assert list(faults(pattern)) != []


@pytest.mark.parametrize(
    "pattern",
    [
        r"'[^']*'", r"[^a-z]+", r"(/[A-Za-z0-9._@+-]+)+", r"<\s*(br|/p)\s*/?>", r"\b\w+=",
        r"(?<![\w.])([^\W\d][\w.]*)(?!\()", r"\{answer\.([a-z]{1,64})(?:\|(?=\s*+[^|])([^{|]++))?}",
    ],
)  # fmt: skip
def test_a_pattern_whose_time_grows_with_its_text_is_cleared(pattern: str) -> None:
    assert list(faults(pattern)) == []
