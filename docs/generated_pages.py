"""Texts of the reference that come from the code: commands, addresses, names and notebooks."""

import ast
import contextlib
import inspect
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

import analysis
from analysis.estimate.estimates import Estimate
from analysis.estimate.plausibility import Plausibility
from analysis.estimate.totals import PopulationTotal
from analysis.mechanisms import MECHANISMS
from analysis.privacy.ledger import LEDGERS
from analysis.study.codebook import Code
from analysis.study.comparison import Comparison, Slope
from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest
from analysis.study.label import Fact
from analysis.study.planning import Plan, Power, Sampled, Split, WaveTotal
from analysis.study.ranking import Rank
from analysis.study.regression import Effect, Predicted, Term
from analysis.survey.check import Check
from analysis.survey.kinds import KINDS
from server.cli import COMMANDS, main
from server.explore import as_markdown
from server.openapi import document

NOTEBOOKS = Path(__file__).parent.parent / "examples/notebooks"

#: The classes of the rows in the tables that commands print and pages offer as downloads.
_ROWS = (
    *(Check, Plan, Power, Sampled, Split, WaveTotal),
    *(Estimate, PopulationTotal, Plausibility, Code, Fact),
    *(Row, HypothesisTest, Comparison, Rank, Slope, Term, Predicted, Effect),
    *(kind for kind, _ in LEDGERS.values()),
)

#: The public names of each page on Python, by the rooms of their modules.
_PAGES = {
    "studies": ("analysis.study.opened_study", "analysis.study.frames", "analysis.survey"),
    "estimates": ("analysis.estimate",),
    "tables-and-models": (
        "analysis.study.changes",
        "analysis.study.comparison",
        "analysis.study.crosstab",
        "analysis.study.hypotheses",
        "analysis.study.ranking",
        "analysis.study.regression",
        "analysis.study.trend",
    ),
    "planning": ("analysis.study.planning", "analysis.study.design_plan"),
    "privacy": ("analysis.privacy",),
    "parts": ("analysis.core", "analysis.mechanisms"),
}


def commands(_: str) -> str:
    """Return a section for each command: how it is called, what it does, its options."""
    return "\n".join(_command(name, ()) for name in COMMANDS)


def _command(name: str, before: tuple[str, ...], parent: click.Group = main) -> str:
    context = click.Context(parent)
    command = parent.get_command(context, name)
    assert command is not None, name
    called = " ".join(("deniable", *before, name))
    own = click.Context(command, info_name=called)
    usage = " ".join([called, *command.collect_usage_pieces(own)])
    heading = "#" * (2 + len(before))
    parts = [f"{heading} {' '.join((*before, name))}\n", f"```text\n{usage}\n```\n"]
    parts += [_escaped(inspect.cleandoc(command.help or "")) + "\n"]
    rows = [_option(parameter, own) for parameter in command.params]
    table = "".join(f"| {names} | {meaning} |\n" for names, meaning in filter(None, rows))
    parts += [f"| option | |\n|---|---|\n{table}"] if table else []
    if isinstance(command, click.Group):
        parts += [_command(one, (*before, name), command) for one in command.list_commands(own)]
    return "\n".join(parts)


def _escaped(text: str) -> str:
    """Return a sentence of the code as Markdown, with options as code."""
    for sign in "\\*_<|[":
        text = text.replace(sign, "\\" + sign)
    return re.sub(r"(`+[^`]+`+)|(?<!\S)(--[a-z-]+)", lambda part: part[1] or f"`{part[2]}`", text)


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    if record is None or not record[1]:
        return None  # an argument that the usage alone names
    names, meaning = record
    names = names.replace("|", "\\|")
    return f"`{names}`", _escaped(" ".join(meaning.split()))


def http(_: str) -> str:
    """Return a section for each address: its parameters, its answers, and their shapes."""
    described = document()
    parts = []
    for path, methods in described["paths"].items():
        shared = methods.get("parameters", [])
        for method in ("get", "post"):
            if method in methods:
                parts.append(_operation(method.upper(), path, methods[method], shared))
    parts.append("## Shapes\n")
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts.append(_shape(name, schema))
    return "\n".join(parts)


def _operation(method: str, path: str, told: dict[str, Any], shared: list[dict[str, Any]]) -> str:
    parts = [f"## {method} {_escaped(path)}\n", f"{_escaped(told['summary'])}.\n"]
    if "security" in told:
        parts.append("Needs a research token, or a researcher's name and password.\n")
    rows = [
        (f"`{one['name']}` ({one['in']})", one.get("description", "The survey's id."))
        for one in [*shared, *told.get("parameters", [])]
    ]
    if "requestBody" in told:
        body = told["requestBody"]
        rows.append((f"body: {_kinds(body['content'])}", body.get("description", "")))
    parts.append(_table(("sent", ""), rows))
    answers = [
        (status, f"{_escaped(answer['description'])} {_kinds(answer.get('content', {}))}".strip())
        for status, answer in told["responses"].items()
    ]
    parts.append(_table(("status", "answer"), answers))
    return "\n".join(parts)


def _kinds(content: dict[str, Any]) -> str:
    """Return the media types of a body, with the names of the shapes that they have."""
    shown = []
    for media, told in content.items():
        shape = _named(told.get("schema", {}))
        shown.append(f"`{media}`" + (f" of {shape}" if shape else ""))
    return ", ".join(shown)


def _named(schema: dict[str, Any]) -> str:
    """Return the links to the shapes that a schema refers to at its top, if there are any."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "items" in schema:
        return _named(schema["items"])
    return " or ".join(filter(None, map(_named, schema.get("anyOf", []))))


def _shape(name: str, schema: dict[str, Any]) -> str:
    parts = [f"### {name}\n"]
    if "description" in schema:
        parts.append(f"{_escaped(schema['description'])}\n")
    required = set(schema.get("required", []))
    rows = [
        (f"`{field}`" + ("" if field in required else " (optional)"), _type(inner))
        for field, inner in schema.get("properties", {}).items()
    ]
    if rows:
        parts.append(_table(("field", ""), rows))
    else:
        parts.append(f"{_type(schema)}\n")
    return "\n".join(parts)


def _type(schema: dict[str, Any]) -> str:
    """Return in a few words what a value can be."""
    named = _named(schema)
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(one, ensure_ascii=False)}`" for one in schema["enum"])
    if "$ref" in schema:
        return named
    if "anyOf" in schema or "oneOf" in schema:
        many = schema.get("anyOf", schema.get("oneOf", []))
        return " or ".join(dict.fromkeys(map(_type, many)))
    if "items" in schema:
        return f"a list of {_type(schema['items'])}" if schema["items"] else "a list"
    kind = schema.get("type", "anything")
    words = " or ".join(kind) if isinstance(kind, list) else kind
    bounds = [f"{sign} {schema[key]}" for key, sign in _BOUNDS if key in schema]
    if "pattern" in schema:
        bounds.append("matching `" + schema["pattern"].replace("|", "\\|") + "`")
    told = _escaped(schema.get("description", ""))
    return ", ".join([words, *bounds]) + (f". {told}" if told else "")


_BOUNDS = (
    ("minimum", "≥"),
    ("maximum", "≤"),
    ("exclusiveMinimum", ">"),
    ("exclusiveMaximum", "<"),
    ("minLength", "length ≥"),
    ("maxLength", "length ≤"),
)


def _table(heads: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    if not rows:
        return ""
    lines = [f"| {heads[0]} | {heads[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| {one} | {other} |" for one, other in rows)]) + "\n"


def names(page: str) -> str:
    """Return what Sphinx needs to print the docstrings of a page's names."""
    found = [name for name in analysis.__all__ if _page_of(name) == page]
    # Functions come before the classes that they return.
    found.sort(key=lambda name: (name[0].isupper() and page != "studies", name.lower()))
    directives = []
    for name in found:
        value = getattr(analysis, name)
        if isinstance(value, dict):
            directives.append(_mapping(name, value))
            continue
        kind = "class" if isinstance(value, type) else "function"
        if isinstance(value, type) and issubclass(value, Exception):
            kind = "exception"
        directives.append(f".. auto{kind}:: analysis.{name}\n")
        directives += ["   :members:\n"] if kind == "class" else []
        directives.append("\n")
    return "```{eval-rst}\n" + "".join(directives) + "```\n"


def kinds(_: str) -> str:
    """Return a table of the kinds of questions, and one of the mechanisms, by their docstrings."""
    tables = (("kind", KINDS), ("mechanism", MECHANISMS))
    return "\n".join(
        _table((head, "what it is"), [(f"`{key}`", _first(part)) for key, part in parts.items()])
        for head, parts in tables
    )


def rows(_: str) -> str:
    """Return what Sphinx needs to print the docstrings of the rows of all tables."""
    directives = [
        f".. autoclass:: {kind.__module__}.{kind.__qualname__}\n   :members:\n   :no-index:\n\n"
        for kind in _ROWS
    ]
    return "```{eval-rst}\n" + "".join(directives) + "```\n"


def _first(part: object) -> str:
    """Return the first sentence of the docstring of a class or its instance."""
    return (part.__doc__ or "").partition("\n\n")[0].replace("\n", " ").replace("``", "`")


def _mapping(name: str, parts: dict[str, Any]) -> str:
    """Return a description of a table of classes, with the first sentence of each docstring."""
    lines = [f".. py:data:: analysis.{name}\n", "   Classes by their names:\n"]
    for key, part in parts.items():
        lines.append(f"   * ``{key}``: {_first(part).replace('`', '``')}")
    return "\n".join(lines) + "\n\n"


def _page_of(name: str) -> str:
    module = analysis._MODULES[name]
    return next(page for page, begins in _PAGES.items() if module.startswith(begins))


def notebook(name: str) -> str:
    """Run a notebook, and return it with what its cells print."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return "\n\n".join(_cells(cells)) + "\n"


def _cells(cells: list[dict[str, Any]]) -> Iterator[str]:
    found: dict[str, Any] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield source
            continue
        yield f"```python\n{source}\n```"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _run(source, found)
        if printed.getvalue():
            yield f"```text\n{printed.getvalue().rstrip()}\n```"
        if hasattr(value, "_repr_html_"):
            html = value._repr_html_()
            yield "```{raw} html\n" + f'<div class="shown" tabindex="0">{html}</div>' + "\n```"
        elif value is not None:
            yield f"```text\n{value!r}\n```"


def _run(source: str, found: dict[str, Any]) -> Any:
    """Run a cell, and return the value of its last line if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), found)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), found)
    return None


def explore(_: str) -> str:
    """Return what `/explore` shows at first."""
    return as_markdown(3)


def included(name: str) -> str:
    """Return what Sphinx needs to show a file beside docs/."""
    return f"```{{include}} ../{name}\n:relative-docs: docs/\n```\n"


#: The mark of a page whose links lead to the pages below it, and the pattern of these links.
_CONTENTS, _LINKED = "<!-- contents -->", re.compile(r"\]\(([\w/-]+)\.md\)")


def with_contents(text: str) -> str:
    """Return a page with what Sphinx needs to put the pages that it lists below it."""
    below = "\n".join(dict.fromkeys(_LINKED.findall(text)))
    return text.replace(_CONTENTS, f"```{{toctree}}\n:hidden:\n\n{below}\n```")


#: The makers of the texts that a page asks for with <!-- generated: NAME WHICH -->.
GENERATED: dict[str, Callable[[str], str]] = {
    "commands": commands,
    "explore": explore,
    "file": included,
    "http": http,
    "kinds": kinds,
    "names": names,
    "notebook": notebook,
    "rows": rows,
}
