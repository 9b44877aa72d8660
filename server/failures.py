"""Log failures by type and place in the code, without time, values or message.

A message can repeat what somebody sent.
"""

import sys
import traceback
from contextlib import suppress
from pathlib import Path


def log(error: BaseException, doing: str = "") -> None:
    """Print a line on stderr, such as ``deniable: KeyError at writer.py:12 < cli.py:3``."""
    trail = " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in reversed(traceback.extract_tb(error.__traceback__))
    )
    with suppress(OSError):  # raised if the log is on a full disk
        print(f"deniable: {type(error).__name__}{doing} at {trail}", file=sys.stderr, flush=True)
