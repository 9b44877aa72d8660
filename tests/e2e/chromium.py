"""Finds a Chromium for the browser tests, or gets one; run it by itself to do so ahead of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

#: No sandbox, since tests also run as root in containers; and no request but the test's own.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """The path of a Chromium: DENIABLE_CHROMIUM, Playwright's own, or one on PATH."""
    named = os.environ.get("DENIABLE_CHROMIUM")
    if named:
        return shutil.which(named) or sys.exit(f"DENIABLE_CHROMIUM: no such program: {named}")
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if Path(own).is_file():
        return own
    return next(filter(None, map(shutil.which, _COMMANDS)), None)


def get() -> None:
    """Install a Chromium: Playwright's, else the system's where this user may."""
    print("No Chromium found. Trying Playwright's installer:", flush=True)
    installer = [sys.executable, "-m", "playwright", "install", "chromium"]
    if _run(installer, timeout=600) or not shutil.which("apt-get"):
        return
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and not (shutil.which("sudo") and _run(["sudo", "-n", "true"], timeout=10)):
        return
    print("That failed. Trying the system's package manager:", flush=True)
    _run([*root, "apt-get", "update", "-qq"], timeout=600)
    _run([*root, "apt-get", "install", "-y", "-qq", "chromium"], timeout=1800)


def _run(command: list[str], timeout: int) -> bool:
    print("  $", " ".join(command), flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, timeout=timeout, env=environment, capture_output=True, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print("   ", error, flush=True)
        return False
    if done.returncode:
        print("   ", (done.stderr.strip() or done.stdout.strip() or "failed")[-300:], flush=True)
    return done.returncode == 0


def main() -> None:
    """Find one or get one; say which; fail with the one command to run if there is none."""
    if find() is None:
        get()
    path = find()
    if path is None:
        sys.exit(
            "The browser tests need Chromium, and none could be installed. Run this, then again "
            "make test:\n  sudo apt-get install chromium\n"
            "or set DENIABLE_CHROMIUM to the path of one."
        )
    print("Browser tests use", path, flush=True)


if __name__ == "__main__":
    main()
