"""Import public questionnaires: `python benchmarks/real_forms.py FOLDER`.

The list of questionnaires, and how to get them, is `tests/forms.toml`. A file in the folder is
found by its hash, so its name does not matter. The first table says how many rows of each form were
imported, changed and refused. The second counts what the report says of changed and refused rows.
There … stands for what authors wrote, and N for numbers. The exit status is 1 if a form is missing.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from server.forms import FormError, Row, read_form
from server.forms.change import CHANGED, IMPORTED, REFUSED

LIST = Path(__file__).parent.parent / "tests/forms.toml"

#: Texts of authors that can contain semicolons, which part the details of a row.
_LONG = (
    (r"(?s)(the condition) .*? (could not be translated)", r"\1 … \2"),
    (r"(?s)(^|; )(the constraint|required|choice_filter) .*? (?=is left out)", r"\1\2 … "),
)
#: Texts of authors in one detail.
_SHORT = (
    (r"^\S+: (?=(?:the|its|an?|of|it|ids) )", ""),
    (r"^(its id is|ids of options:|no question that is imported uses the list) .*", r"\1 …"),
    (r"^(its list(?: of options)?|the list|it belongs to) .+?(?=,? (?:which|is not|has))", r"\1 …"),
    (r"\(\S+ (is not among the earlier questions|has no answer) ?[^)]*\)", r"(… \1)"),
    (r"^\S.*? = \S+( is read as whether) .* (is ticked)", r"…\1 … \2"),
    (r"^(of its answer|the label of its option) .+?(?=:| has no text)", r"\1 …"),
    (r"^(media::\w+) .*(?= is left out)", r"\1 …"),
    (r"^(without counterpart in a survey file:) .*", r"\1 …"),
    (r"^(its .+? in) .*(?= is missing:)", r"\1 …"),
    (r"\$?\{[^}]*\}|\"[^\"]*\"|'[^']*'", "…"),
    (r"\d+(?:[.,]\d+)*", "N"),
)


def listed() -> list[dict[str, Any]]:
    """Return the tables of the list, a form each."""
    forms: list[dict[str, Any]] = tomllib.loads(LIST.read_text("utf-8"))["form"]
    return forms


def contents(folder: Path, sizes: Iterable[int]) -> dict[str, bytes]:
    """Return the files of these sizes in a folder and its folders, by their SHA-256."""
    wanted = {*sizes}
    paths = (path for path in folder.rglob("*") if path.is_file())
    read = (path.read_bytes() for path in paths if path.stat().st_size in wanted)
    return {sha256(content).hexdigest(): content for content in read}


def kinds(detail: str) -> Iterator[str]:
    """Yield what the detail of a row says, part by part, without names and numbers."""
    for pattern, masked in _LONG:
        detail = re.sub(pattern, masked, detail)
    for part in detail.split("; "):
        for pattern, masked in _SHORT:
            part = re.sub(pattern, masked, part)
        yield part


def print_forms(forms: Sequence[Mapping[str, Any]], found: Mapping[str, bytes]) -> list[Row]:
    """Import each form that was found, print the first table, and return all rows."""
    rows: list[Row] = []
    unread: list[str] = []
    print("| form | questions | rows | imported | changed | refused |\n|---|---|---|---|---|---|")
    for form in forms:
        name = f"{form['tool']}: {form['repository']}, {Path(form['path']).name}"
        content = found.get(form["sha256"])
        if content is None:
            unread.append(f"missing: {name}, commit {form['commit']}")
            continue
        try:
            imported = read_form(content, Path(form["path"]).name)
        except FormError as error:
            unread.append(f"cannot be imported: {name}: {error}")
            continue
        rows += imported.rows
        print(f"| {name} | {imported.questions} | {_numbers(imported.rows)} |")
    print(f"| all | | {_numbers(rows)} |", *unread, sep="\n")
    return rows


def _numbers(rows: Sequence[Row]) -> str:
    outcomes = Counter(row.outcome for row in rows)
    each = (outcomes[outcome] for outcome in (IMPORTED, CHANGED, REFUSED))
    return " | ".join(f"{number:,}" for number in (len(rows), *each))


def print_kinds(rows: Iterable[Row]) -> None:
    """Print the second table, the most frequent first."""
    counts = Counter(
        (row.outcome, kind) for row in rows if row.outcome != IMPORTED for kind in kinds(row.detail)
    )
    print("\n| number | outcome | detail |\n|---|---|---|")
    for (outcome, kind), number in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        print(f"| {number:,} | {outcome} | {kind} |")


def main() -> int:
    """Print both tables, and return the exit status."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(f"expected a folder with the files that {LIST} lists", file=sys.stderr)
        return 2
    forms = listed()
    found = contents(Path(sys.argv[1]), (form["bytes"] for form in forms))
    rows = print_forms(forms, found)
    print_kinds(rows)
    return 0 if len(found) == len(forms) else 1


if __name__ == "__main__":
    sys.exit(main())
