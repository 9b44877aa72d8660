"""The house: one owner for each dangerous thing, formula and rule."""

import ast
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.core.channels import CHANNELS
from analysis.core.encoders import ENCODERS
from analysis.mechanisms import MECHANISMS
from analysis.survey.kinds import KINDS
from server.pages.rendering import OPTIONAL

ROOT = Path(__file__).parent.parent
PYTHON = [path for name in ("analysis", "server") for path in sorted((ROOT / name).rglob("*.py"))]
CLIENT = ROOT / "client"
SCRIPTS = sorted(CLIENT.rglob("*.js"))
TEXTS = [*PYTHON, *SCRIPTS, *sorted((ROOT / "tests").rglob("*.py")), ROOT / "client/style.css"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _script(path: Path) -> str:
    return path.relative_to(CLIENT).as_posix()


#: Modules that only some surveys' pages need, beside those of page/.
_OF_PAGES = {
    f"optional/{name}.js"
    for name in ("draft", "exit", "kiosk", "links", "lists", "trial", "varied")
}


@pytest.mark.parametrize("path", SCRIPTS, ids=_name)
def test_each_dangerous_thing_has_one_owner(path: Path) -> None:
    owners = {
        "page": r"\b(document|navigator\.languages|location\.hash|addEventListener)\b",
        "page/dom.js": r"\b(URL|Blob)\b|\.href\b",
        "page/questions.js": r"\.src\b",
        "page/survey.js": r"history\.|location\.pathname",
        "random.js": r"getRandomValues|randomUUID",
        "memo.js": r"(local|session)Storage|indexedDB|navigator\.locks|\bcaches\b|globalThis\.name|"
        r"generateKey",
        "submit.js": r"\bfetch\(",
    }
    nobodys = (
        r"Math\.random|XMLHttpRequest|sendBeacon|WebSocket|EventSource|RTCPeer|BroadcastChannel|"
        r"postMessage|\bWorker\b|\bcookie\b|\b(inner|outer|insertAdjacent)HTML|DOMParser|\beval\b|"
        r"new Function|console\.|\bimport\(|new Image|\.action\b|setAttribute|"
        r"\bopen\(\w*['\"`]/|document\.write|location\.(?!hash\.slice|pathname\.startsWith)|globalThis(?!\.name)"
    )
    text = re.sub(r"/\*.*?\*/|^\s*//.*$", "", path.read_text(), flags=re.S | re.M)
    assert not re.search(nobodys, text)
    for owner, pattern in owners.items():
        owned = path.relative_to(CLIENT).is_relative_to(owner)
        owned = owned or (owner == "page" and _script(path) in _OF_PAGES)
        owned = owned or (owner == "memo.js" and _script(path) == "optional/draft.js")
        assert owned or not re.search(pattern, text), owner


def _reached(name: str) -> set[str]:
    """Return the imports of a module of client/, and the imports of these, with itself."""
    found, waiting = set[str](), [name]
    while waiting:
        path = CLIENT / waiting.pop()
        found.add(path.relative_to(CLIENT).as_posix())
        for other in re.findall(r"(?:\bfrom|^import) '([^']+)'", path.read_text(), flags=re.M):
            imported = (path.parent / other).resolve().relative_to(CLIENT).as_posix()
            waiting += {imported} - found - set(waiting)
    return found


#: Modules that store, send, draw words, or touch the document.
_DANGEROUS = {"memo.js", "submit.js", "random.js"} | {
    _script(path) for path in SCRIPTS if path.parent.name == "page"
}


_COMPUTE = {one for one in map(_script, SCRIPTS) if "page/" not in one} - _OF_PAGES


@pytest.mark.parametrize("name", sorted(_COMPUTE))
def test_modules_that_compute_reach_none_that_store_send_or_show(name: str) -> None:
    allowed = {"memo.js": {"memo.js", "random.js"}}.get(name, {name})
    assert _reached(name) & _DANGEROUS <= allowed


def test_modules_that_send_reach_no_answer_and_those_with_answers_do_not_send() -> None:
    # These are given answers; only the page's own flow reaches both them and the modules that send.
    for name in ("page/controls.js", "page/review.js", "report.js"):
        assert not _reached(name) & {"memo.js", "submit.js", "random.js", "page/sending.js"}, name
    for name in ("page/sending.js", "page/trials.js", "page/me.js", "memo.js", "submit.js"):
        assert not _reached(name) & {"page/controls.js", "page/review.js", "page/survey.js"}, name
    for name in ("page/trials.js", "page/controls.js"):
        assert not _reached(name) & {"memo.js", "submit.js"}, name
    reading = {name for name in map(_script, SCRIPTS) if "page/controls.js" in _reached(name)}
    assert reading == {"page/controls.js", "page/survey.js"}


def test_browsers_load_little_enough_to_be_read_in_one_sitting() -> None:
    styles = sorted(CLIENT.rglob("*.css"))
    optional = [path for path in SCRIPTS if path.parent.name == "optional"]
    always = [path for path in SCRIPTS if path not in optional]
    for scripts, most_lines, files, most_bytes in (
        # Files that every survey loads, and the page that shows what this browser has spent.
        (always, 2320, [*always, *styles], 38_700),
        # Some 170 lines are the second protocol of memories: frozen surveys keep the first.
        # Some 70 lines price surveys of the first format.
        (optional, 1100, optional, 18_900),
    ):
        # Comments count, blank lines do not.
        lines = [line for path in scripts for line in path.read_text().splitlines()]
        assert sum(map(bool, map(str.strip, lines))) <= most_lines
        # As one stream, this measures how much there is to read; each file is served by itself.
        assert len(gzip.compress(b"".join(path.read_bytes() for path in files), 9)) <= most_bytes


def test_the_intake_fits_into_an_afternoon_of_reading() -> None:
    files = sorted((ROOT / "server/intake").glob("*.py"))
    assert sum(len(path.read_text().splitlines()) for path in files) <= 1_250


def test_optional_modules_are_loaded_only_by_name() -> None:
    for path in SCRIPTS:
        reached = {name for name in _reached(_script(path)) if name.startswith("optional/")}
        assert reached <= {_script(path)}, _script(path)
    assert {*OPTIONAL} == {_script(path) for path in SCRIPTS if path.parent.name == "optional"}


def test_each_channel_and_kind_has_its_files_in_both_languages() -> None:
    for name in CHANNELS:
        assert (ROOT / f"analysis/core/channels/{name}.py").is_file()
        homes = [CLIENT / "channels.js", *sorted((CLIENT / "optional").glob("*.js"))]
        assert sum(f"\nconst {name} = {{" in home.read_text() for home in homes) == 1
        assert (ROOT / f"tests/vectors/{name}.json").is_file()
    for name in KINDS:
        assert (ROOT / f"server/templates/kinds/{name}.html").is_file()


#: Each table of the browser whose entries own what is special about them, with their names.
_TABLES = {"kinds.js": {*KINDS, "note"}, "channels.js": {*CHANNELS}, "encoders.js": {*ENCODERS}}


def _branches(name: str, text: str) -> list[str]:
    """Return what in a file of client/ compares with a name in another file's table."""
    others = set().union(*(names for table, names in _TABLES.items() if table != name))
    quoted = rf"""['"`](?:{"|".join(sorted(others))})['"`]"""
    compared = (
        rf"[=!]==?\s*{quoted}|{quoted}\s*[=!]==?|\bcase\s+{quoted}|"
        rf"{quoted}[^\]\n]*\]\.(?:includes|indexOf)\(|\.(?:includes|match|\w+sWith)\({quoted}|"
        rf"\[data-kind\W*{quoted}"
    )
    # "number" is also a type of JavaScript.
    return re.findall(compared, re.sub(r"typeof [\w.]+ [=!]== '\w+'", "", text))


def test_no_file_but_their_tables_branches_on_kinds_channels_or_encoders() -> None:
    for path in [*SCRIPTS, *sorted(CLIENT.rglob("*.css"))]:
        assert _branches(_script(path), path.read_text()) == [], _script(path)


@pytest.mark.parametrize(
    "branch",
    [
        "if (q.kind === 'rank') arrange(q, parts);",
        "entries.filter(({ kind }) => kind !== 'note');",
        "if ('yes-no' == kind) return true;",
        'switch (kind) { case "text": return answer; }',
        "if (['index', 'onehot'].includes(encoder.name)) return null;",
        "if (permanent.name === `window`) return worstWindow(permanent);",
        '[data-kind="text"] .entry input { width: 24rem; }',
    ],
)
def test_a_branch_on_a_name_is_found(branch: str) -> None:
    assert _branches("page/controls.js", branch)


def test_no_mechanism_is_named_in_the_browser_or_the_server() -> None:
    # Some are named after their channel or encoder, which the browser does know.
    own = set(MECHANISMS) - set(CHANNELS) - set(ENCODERS)
    names = "|".join(f"[\"']{name}[\"']" for name in own)
    for path in [*SCRIPTS, *sorted((ROOT / "server").rglob("*.py"))]:
        assert not re.search(names, path.read_text()), _name(path)


#: Where the differences between domains, encoders, channels and mechanisms belong.
_FOLDERS = ("core/domain", "core/channels", "core/encoders", "mechanisms")
HOMES = [ROOT / "analysis" / folder for folder in _FOLDERS]
_KINDS_OF_PARTS = {
    node.name
    for home in HOMES
    for path in sorted(home.glob("*.py"))
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef)
}


def _tested_classes(path: Path) -> set[str]:
    """Return the classes whose instances a file treats differently."""
    tested: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            tested |= {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.MatchClass):
            tested.add(ast.unparse(node.cls))
    return tested


def test_parts_are_asked_and_their_classes_not_tested() -> None:
    tested = {_name(path): _tested_classes(path) & _KINDS_OF_PARTS for path in PYTHON}
    assert {name: classes for name, classes in tested.items() if classes} == {}


def test_files_are_short() -> None:
    lengths = {_name(path): len(path.read_text().splitlines()) for path in TEXTS}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_there_are_no_packages_under_tests_or_client() -> None:
    assert not [*(ROOT / "tests").rglob("__init__.py"), *(ROOT / "client").rglob("*.py")]


#: Python that must call the owner of a formula instead of writing it again.
CALLERS = [*PYTHON, *sorted((ROOT / "benchmarks").rglob("*.py"))]


def _divided_weights(path: Path) -> Iterator[str]:
    """Yield each weight of a channel that is divided by another or by their sum."""
    weights = {"one", "zero", "near", "far"}
    for node in ast.walk(ast.parse(path.read_text())):
        pair: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            pair = [node.left, node.right]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Fraction":
            pair = node.args
        if len(pair) == 2 and isinstance(pair[1], ast.Attribute):
            divided = {part.attr for part in ast.walk(pair[0]) if isinstance(part, ast.Attribute)}
            if divided & weights and pair[1].attr in weights | {"total"}:
                yield ast.unparse(node)


def test_channels_alone_divide_the_weights_of_bits_and_windows() -> None:
    channels = ROOT / "analysis/core/channels"
    others = [path for path in CALLERS if not path.is_relative_to(channels)]
    assert len(others) < len(CALLERS)
    assert [(_name(path), text) for path in others for text in _divided_weights(path)] == []


def _share_variances(source: str) -> Iterator[str]:
    """Yield each statement with ``x * (1 - x)`` and ``p - q``: the variance of a debiased share."""
    for statement in ast.walk(ast.parse(source)):
        if not isinstance(statement, ast.stmt) or hasattr(statement, "body"):
            continue
        text = ast.unparse(statement)
        if re.search(r"(\b[\w.]+) \* \(1 - \1\)", text) and re.search(
            r"\bp - [\w.]*(q|chance)\b", text
        ):
            yield text


def test_shares_alone_know_the_variance_of_an_estimate() -> None:
    assert list(_share_variances("variance = s * (1 - s) / (n * (p - q) ** 2)"))
    owner = ROOT / "analysis/mechanisms/base.py"
    others = [path for path in PYTHON if path != owner]
    assert [_name(path) for path in others if list(_share_variances(path.read_text()))] == []


def test_the_interval_of_a_share_is_computed_in_one_place() -> None:
    # Clopper and Pearson's interval needs quantiles of the beta distribution, and nothing else
    # does.
    quantiles = r"\bbetaincinv\b|\bbeta\.(ppf|isf|interval)\b"
    places = [_name(path) for path in CALLERS if re.search(quantiles, path.read_text())]
    assert places == ["analysis/estimate/intervals/shares.py"]


def test_channels_alone_say_what_a_report_looks_like() -> None:
    for path in sorted((ROOT / "analysis/core/channels").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                assert ("check_report" in methods) == ("report_schema" in methods), node.name
    # The words with which JSON Schema describes whole numbers, sets and base64url.
    words = r"exclusiveMaximum|uniqueItems|A-Za-z0-9_-"
    assert not re.search(words, (ROOT / "server/openapi.py").read_text())


def test_the_rules_of_memory_are_read_and_applied_in_one_place() -> None:
    owners = {
        "analysis/core/memory.py": r"\.get\(\"(stable|memory)\"|\[\"(stable|memory)\"\](?! = )",
        "analysis/survey/question.py": r"randomizer\.spent\(",
        "analysis/survey/survey.py": r"\bUse\(|\.agrees or\b",
    }
    for owner, pattern in owners.items():
        assert [_name(path) for path in PYTHON if re.search(pattern, path.read_text())] == [owner]


def test_kinds_alone_say_which_keys_are_theirs() -> None:
    text = (ROOT / "server/survey_schema.py").read_text()
    for kind in KINDS.values():
        for key in {name for keys in kind.schema() for name in keys}:
            assert f'"{key}":' not in text, key
