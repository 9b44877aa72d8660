"""Files that strangers make, damaged at random, are read or refused in a sentence.

No other error comes, no file takes seconds or all memory, and none is left behind.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from limits import LONG

#: The number of damaged files of each kind.
COUNT = 150


@pytest.mark.more
def test_damaged_files_are_read_or_refused_in_a_sentence(request: pytest.FixtureRequest) -> None:
    program = Path(__file__).with_name("read_damaged.py")
    seed = request.config.getoption("surveys")
    command = [sys.executable, str(program), str(seed), "0", str(COUNT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, env=environment)
    file, wrong = "", []
    for line in done.stdout.splitlines():
        if line.startswith('"'):
            wrong.append(f"{file}: {json.loads(line)}")
        else:
            file = line
    assert done.returncode == 0, f"{file}: ended with {done.returncode}: {done.stderr[-2000:]}"
    assert not wrong, f"seed {seed}, {wrong[0]}"
    assert file.endswith(f" {COUNT - 1}")
