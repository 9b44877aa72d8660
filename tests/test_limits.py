"""No verdict depends on how fast the machine is, or on which tests ran before in this process."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
#: Attributes that read a clock; the functions of `limits` do so for all tests.
CLOCKS = {"monotonic", "perf_counter", "process_time", "monotonic_ns", "perf_counter_ns"}
#: Methods whose first argument is how long they wait, in seconds.
WAITS = {"communicate", "join", "result", "wait"}
#: The least limit that may be written out: a minute, in seconds or, for browsers, milliseconds.
LEAST = 60


def number(value: ast.expr) -> float | None:
    """Return the number that is written out, or None."""
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        return value.value
    return None


def is_short(limit: ast.expr) -> bool:
    """Return whether a limit is a number, and too small for a busy machine."""
    found = number(limit)
    return found is not None and not (LEAST <= found < 1000 or found >= 1000 * LEAST)


def dangers(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a test whose verdict could measure speed, each with what to do instead."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            yield node.lineno, f"{node.attr}: use limits.stopwatch, timed or wait_until"
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        limits = [given.value for given in node.keywords if given.arg == "timeout"]
        limits += node.args[:1] if name in WAITS else []
        limits += node.args[1:2] if name == "wait_until" else []
        limits += node.args[:1] if name.startswith("set_default_") else []
        if any(
            given.arg == "deadline" and number(given.value) is not None for given in node.keywords
        ):
            yield node.lineno, f"{name}: an example may take as long as it takes"
        if (
            name == "wait_for_function"
        ):  # The page's policy forbids it, unless its condition holds at once.
            yield node.lineno, f"{name}: use limits.wait_until with page.evaluate"
        if ast.unparse(node.func) == "asyncio.run":
            yield node.lineno, f"{name}: use limits.run_apart, since a browser's loop may run here"
        if any(map(is_short, limits)):
            yield node.lineno, f"{name}: use limits.MOMENT or limits.LONG"


def test_no_test_measures_how_fast_the_machine_is() -> None:
    others = ("limits.py", "programs.py")  # which installs programs
    measuring = {
        path.relative_to(TESTS).as_posix(): list(dangers(path.read_text()))
        for path in sorted(TESTS.rglob("*.py"))
        if path.name not in others
    }
    assert {name: lines for name, lines in measuring.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "begin = time.monotonic()",
        "assert perf.perf_counter() < begin + 2",
        "subprocess.run(command, timeout=30)",
        "process.wait(timeout=5.0)",
        "process.wait(15)",
        "thread.join(10)",
        "future.result(1)",
        "wait_until(is_done, 20)",
        "expect(page).to_have_count(1, timeout=2000)",
        "context.set_default_timeout(10_000)",
        "settings(deadline=200)",
        "page.wait_for_function('window.isReady')",
        "asyncio.run(load())",
    ],
)
def test_a_short_limit_is_found(line: str) -> None:
    assert [number for number, _ in dangers(f"import time\n{line}\n")] == [2]


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run(command, timeout=LONG)",
        "process.wait(600)",
        "expect(page).to_have_count(1, timeout=1000 * MOMENT)",
        "settings(deadline=None)",
        "', '.join(words)",
        "time.sleep(0.5)",
        "run_apart(load())",
    ],
)
def test_limits_that_only_end_hanging_tests_are_allowed(line: str) -> None:
    assert list(dangers(line)) == []
