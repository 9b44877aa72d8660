"""Make load for `intake.py`: find or install wrk, start it, and read its measurements."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: Seconds that wrk gets to end after its time.
_PATIENCE = 30


@dataclass(frozen=True)
class Round:
    """The results of one run of wrk; latencies are in milliseconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    refused: int  # answered, but not with 2xx or 3xx
    broken: int  # socket errors and time-outs

    @property
    def rate(self) -> float:
        """Return the requests a second that were answered with 2xx or 3xx."""
        return (self.requests - self.refused) / self.seconds

    @property
    def errors(self) -> int:
        """Return the requests that went wrong in any way."""
        return self.refused + self.broken


def find() -> str:
    """Return the path of wrk; install it if this user may, otherwise end the program."""
    if shutil.which("wrk") is None and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "-qq", "wrk"]
        if os.geteuid() and shutil.which("sudo"):
            command = ["sudo", "-n", *command]
        print("No wrk found. Trying the system's package manager:\n  $", *command, flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print("   ", (done.stderr.strip() or done.stdout.strip())[-300:], flush=True)
    return shutil.which("wrk") or sys.exit(
        "This benchmark needs wrk; run this, then again: sudo apt-get install wrk"
    )


def run(url: str, seconds: int, connections: int, template: str | None = None) -> Round:
    """Load a URL from one thread for some seconds.

    Parameters
    ----------
    url : str
        What to load.
    seconds : int
        How long.
    connections : int
        Kept open, one request at a time on each.
    template : str, optional
        Of the body to POST, as `intake.lua` says; by default GET without one. No two runs draw
        from the same seed.
    """
    command = [find(), "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s"]
    command += ["-s", str(Path(__file__).with_name("intake.lua")), url, "--"]
    if template is not None:
        command += [str(int.from_bytes(os.urandom(6))), template]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=seconds + _PATIENCE
    )
    if done.returncode:
        raise RuntimeError(f"wrk failed: {done.stderr.strip() or done.stdout.strip()}")
    return Round(**json.loads(done.stdout.splitlines()[-1]))
