"""Break the trunk on purpose, and see whether the tests nearest to each break fail.

    python tests/mutants.py              break and test again all that tests/mutants.toml has
    python tests/mutants.py NUMBER ...   those with these numbers, and print what their tests say
    python tests/mutants.py --draw SEED  print 100 mutants of the trunk, drawn by this seed

A mutant is a file with a text in place of another. It is killed if a test fails or takes too long,
and survives otherwise. Whoever changes a text that a mutant names changes the mutant, too.
"""

import argparse
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tokenize
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests/mutants.toml"
#: What must be trusted: what draws, takes in, decides and stores, and the mathematics of channels.
TRUNK = (
    *("server/intake/wire.py", "server/intake/decision.py", "server/intake/writer.py"),
    *("analysis/core/**/*.py", "client/**/*.js"),
)
#: How many mutants are drawn, and the least part of all mutants that must be killed.
DRAWN, LEAST = 100, 0.9
#: Seconds after which the tests of a mutant are ended; a program that never ends is noticed.
PATIENCE = 900.0
#: The bytes that each process of the tests can write into.
MEMORY = 6 << 30
#: What a text becomes, in either language.
SWAPS = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"===": "!==", "!==": "===", "+": "-", "-": "+", "*": "+", "//": "*", "/": "*"},
    **{"%": "+", "**": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+="},
    **{"and": "or", "or": "and", "&&": "||", "||": "&&", "??": "&&", "not": "", "!": ""},
    **{"in": "not in", "is": "is not", "True": "False", "False": "True", "true": "false"},
    **{"false": "true", "min": "max", "max": "min", "any": "all", "all": "any"},
    **{"some": "every", "every": "some", "sorted": "list", "0": "1", "0n": "1n", "raise": "pass;"},
    **{"return": "return None", "must": "void", "continue": "break", "await": ""},
}
#: Strings, comments and patterns of JavaScript, and what can be swapped.
JAVASCRIPT = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`"""
    r"""|/\^(?:\\.|[^/\n])*/)|(?P<token>\b\d+n?\b|[=!]==|=>|[<>]=|\*\*|[-+]=|&&|\|\||\?\?|<<|>>"""
    r"""|[-+*/%<>!]|\b[a-zA-Z]\w*\b)""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Mutant:
    """A file, a text that occurs once in it, what stands there instead, and what that breaks.

    `survives` is the reason why no test can fail, if none does. `tests` are others than the nearest
    of its file, such as one that runs in `make test-more`.
    """

    file: str
    old: str
    new: str
    rule: str = ""
    survives: str = ""
    tests: Sequence[str] = ()

    def mutated(self) -> str:
        """Return the file's text with the change; ValueError unless `old` occurs once."""
        text = (ROOT / self.file).read_text()
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.file}: expected once, and changed: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Listed:
    """The mutants, and the tests nearest to the files that match a pattern; the first holds."""

    mutants: list[Mutant]
    nearest: dict[str, list[str]]

    @classmethod
    def read(cls) -> "Listed":
        """Return what tests/mutants.toml has."""
        read = tomllib.loads(LIST.read_text())
        return cls([Mutant(**entry) for entry in read["mutant"]], read["nearest"])

    def tests_of(self, mutant: Mutant) -> Sequence[str]:
        """Return a mutant's tests, or those nearest to its file; KeyError if there are none."""
        if mutant.tests:
            return mutant.tests
        for pattern, tests in self.nearest.items():
            if Path(mutant.file).match(pattern):
                return tests
        raise KeyError(mutant.file)


def draw(seed: str) -> Iterator[Mutant]:
    """Yield `DRAWN` mutants of the trunk, each of a random place where a token can be swapped."""
    files = [path for pattern in TRUNK for path in sorted(ROOT.glob(pattern))]
    places = [(path, *place) for path in files for place in _places(path)]
    random.Random(seed).shuffle(places)
    drawn = 0
    for path, begin, end, new in places:
        if drawn == DRAWN:
            return
        text = path.read_text()
        mutated = text[:begin] + new + text[end:]
        if _is_program(path, mutated):
            drawn += 1
            yield Mutant(path.relative_to(ROOT).as_posix(), *_in_context(text, begin, end, new))


def _places(path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield where a file's tokens begin and end that have a swap, and what comes in their place."""
    text = path.read_text()
    tokens = _python(text) if path.suffix == ".py" else _javascript(text)
    for begin, end in tokens:
        token = text[begin:end]
        if re.fullmatch(r"[1-9]\d*n?", token):
            bare = token.removesuffix("n")
            yield begin, end, f"{int(bare) + 1}{token[len(bare) :]}"
        elif token in SWAPS:
            yield begin, end, SWAPS[token]


def _python(text: str) -> Iterator[tuple[int, int]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        words = text[starts[token.start[0] - 1] :].split("\n", 1)[0].split()
        is_import = words[:1] in (["import"], ["from"])
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER) and not is_import:
            yield (
                starts[token.start[0] - 1] + token.start[1],
                starts[token.end[0] - 1] + token.end[1],
            )


def _javascript(text: str) -> Iterator[tuple[int, int]]:
    for match in JAVASCRIPT.finditer(text):
        if match["token"]:
            yield match.span()


def _is_program(path: Path, text: str) -> bool:
    """Return whether a changed text can be compiled; otherwise its death would show nothing."""
    if path.suffix == ".py":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                compile(text, path.name, "exec")
            except SyntaxError:
                return False
        return True
    checked = ["node", "--check", "--input-type=module", "-"]
    return subprocess.run(checked, input=text, text=True, capture_output=True).returncode == 0


def _in_context(text: str, begin: int, end: int, new: str) -> tuple[str, str]:
    """Return the lines around a change, as many as make them occur once, before and after it."""
    first, last = text.rfind("\n", 0, begin) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    while text.count(text[first:last]) > 1:
        first = text.rfind("\n", 0, max(first - 1, 0)) + 1
    return text[first:last], text[first:begin] + new + text[end:last]


def _quoted(text: str) -> str:
    """Return a text as TOML: lines as they are, and others with escapes."""
    is_plain = "\n" in text and "'''" not in text
    return f"'''\n{text}'''" if is_plain else json.dumps(text, ensure_ascii=False)


def copy_tree(folder: Path) -> None:
    """Copy the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def outcome(mutant: Mutant, tests: Sequence[str], folder: Path) -> tuple[str, str]:
    """Return what a mutant's tests say in a copy of the tree, in a word and in full."""
    place = folder / mutant.file
    place.write_text(mutant.mutated())
    marked = ["-m", "more or not more"] if mutant.tests else []
    options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", *marked]
    running = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A break can make a loop endless, which would take all of the machine's memory.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
    )
    try:
        said, _ = running.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        return "killed", "the tests did not end"
    finally:
        shutil.copy2(ROOT / mutant.file, place)
    # All passed; a test failed; a file of tests or their fixtures could not be read.
    if running.returncode in (0, 1, 2, 4):
        return ("killed" if running.returncode else "survives"), said
    raise RuntimeError(f"pytest ended with {running.returncode}:\n{said}")


def run(chosen: list[int]) -> bool:
    """Test mutants by their numbers, or all; return whether as many are killed as must be."""
    listed = Listed.read()
    numbers = chosen or [*range(1, len(listed.mutants) + 1)]
    killed: dict[int, bool] = {}
    workers = min(os.cpu_count() or 1, 4)
    with tempfile.TemporaryDirectory() as name:
        folders: SimpleQueue[Path] = SimpleQueue()
        for worker in range(workers):
            copy_tree(Path(name) / str(worker))
            folders.put(Path(name) / str(worker))

        def test(number: int) -> None:
            mutant, folder = listed.mutants[number - 1], folders.get()
            try:
                word, said = outcome(mutant, listed.tests_of(mutant), folder)
            finally:
                folders.put(folder)  # or the others would wait for it
            killed[number] = word == "killed"
            print(f"{len(killed)}/{len(numbers)}: {number} {mutant.file} {word}", flush=True)
            if chosen or (word == "survives") != bool(mutant.survives):
                print(f"- {mutant.old}\n+ {mutant.new}\n{said if chosen else ''}", flush=True)

        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(test, numbers):
                pass
    score = sum(killed.values()) / len(killed)
    print(f"killed {sum(killed.values())} of {len(killed)}: {score:.3f}, at least {LEAST} expected")
    unexplained = [n for n in numbers if killed[n] == bool(listed.mutants[n - 1].survives)]
    for number in unexplained:
        expected = "a test that fails" if not killed[number] else "no reason to survive"
        print(f"mutant {number}: expected {expected}, or another list", file=sys.stderr)
    return score >= LEAST and not unexplained


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
    parser.add_argument("--draw", metavar="SEED")
    options = parser.parse_args()
    if options.draw is None:
        raise SystemExit(0 if run(options.numbers) else 1)
    for mutant in draw(options.draw):
        texts = (f"{key} = {_quoted(getattr(mutant, key))}" for key in ("file", "old", "new"))
        print("\n[[mutant]]", *texts, sep="\n")


if __name__ == "__main__":
    main()
