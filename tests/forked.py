"""Run Python programs, each in a fork of one process that has imported what most of them use.

Usage: `python tests/forked.py SECONDS`, with a line of standard input for each program: its path,
files for its standard output and error, and its arguments, as a JSON list. The answer is a line
with its exit status. A program that takes more than so many seconds is ended.
"""

import json
import os
import runpy
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import NoReturn

# As in the `deniable` command, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

IMPORTS = (
    "numpy",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "analysis.estimate.estimates",
    "analysis.study.regression",
    "server.cli",
)


def run(program: str, out: str, err: str, *arguments: str) -> NoReturn:
    """Run a program in this process, as `python` would, and end with its exit status."""
    for stream, name in ((1, out), (2, err)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).parent)
    status: object = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    for name in IMPORTS:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            signal.alarm(int(sys.argv[1]))
            run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
