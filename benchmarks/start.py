"""Measure what commands cost before they do anything, beside importing numpy and scipy.special.

Each command runs in turns with a program that only imports both, in CPU time of the process. The
goals are multiples of that import: help needs neither, and checking the smallest example should
take at most three times as long. The exit status is 0, since machines differ; read the ratios.
"""

import resource
import subprocess
import sys
from statistics import median

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
ROUNDS = 1 if SMALLEST else 7
IMPORT = ("-c", "import numpy, scipy.special")
#: What is measured, and its goal as a multiple of the import.
COMMANDS = {
    "deniable --help": (("--help",), 0.5),
    "deniable estimate --help": (("estimate", "--help"), 0.5),
    "deniable check, of the smallest example": (("check", "examples/working-conditions.toml"), 3.0),
    "deniable estimate, of a table of 1,200 rows": (
        ("estimate", "examples/elsewhere/dice.csv", "--design", "examples/elsewhere/dice.toml"),
        3.0,
    ),
}


def cpu(*arguments: str) -> float:
    """Return the CPU seconds of a Python program that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    for arguments, _ in COMMANDS.values():
        cpu("-m", "server.cli", *arguments)  # compiles the modules
    for name, (arguments, goal) in COMMANDS.items():
        pairs = [(cpu("-m", "server.cli", *arguments), cpu(*IMPORT)) for _ in range(ROUNDS)]
        ratio = median(command / imported for command, imported in pairs)
        seconds = median(command for command, _ in pairs)
        print(f"{name}: {seconds:.2f} s, {ratio:.2f} times the import; the goal is {goal:g}")


if __name__ == "__main__":
    main()
