"""Find the programs that tests drive, or install them: `python tests/programs.py nginx`."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright


@dataclass(frozen=True)
class Program:
    """A program that tests need: the names of its command, and the Debian package that has it.

    `by_playwright` says whether Playwright's own build serves as well, `instead` which program
    does where this one cannot be had.
    """

    commands: tuple[str, ...]
    package: str
    by_playwright: bool = False
    instead: str | None = None


PROGRAMS = {
    "chromium": Program(
        ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        "chromium",
        by_playwright=True,
    ),
    # Chromium without windows and tabs, whose pages open with half of the work.
    "headless-shell": Program(
        ("chromium-headless-shell",), "chromium-headless-shell", instead="chromium"
    ),
    "firefox": Program(("firefox-esr", "firefox"), "firefox-esr"),
    "webkit": Program(("WebKitWebDriver",), "webkit2gtk-driver"),
    # WebKit runs in this display, since it has none of its own.
    "xvfb": Program(("Xvfb",), "xvfb"),
    "nginx": Program(("nginx", "/usr/sbin/nginx"), "nginx-light"),
    "caddy": Program(("caddy",), "caddy"),
    "certbot": Program(("certbot",), "certbot"),
    "pebble": Program(("pebble",), "pebble"),
    "age": Program(("age",), "age"),
    # Debian keeps its programs out of PATH, by release.
    "postgresql": Program(
        ("postgres", *(f"/usr/lib/postgresql/{n}/bin/postgres" for n in range(19, 13, -1))),
        "postgresql",
    ),
    "rscript": Program(("Rscript",), "r-cran-haven"),  # it brings R
    "pspp": Program(("pspp",), "pspp"),
    "java": Program(("java",), "default-jre-headless"),
    "node": Program(("node", "nodejs"), "nodejs"),
    "npm": Program(("npm",), "npm"),
}

#: Chromium's options: no sandbox, since tests also run as root in containers, and no requests
#: except those of the test.
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def find(name: str) -> str | None:
    """Return the path of a program, or of the one that serves instead."""
    instead = PROGRAMS[name].instead
    return _itself(name) or (find(instead) if instead else None)


def _variable(name: str) -> str:
    return f"DENIABLE_{name.upper().replace('-', '_')}"


def _itself(name: str) -> str | None:
    """Return the path in DENIABLE_NAME, of Playwright's own build, or of a command on PATH."""
    program, variable = PROGRAMS[name], _variable(name)
    named = os.environ.get(variable)
    if named:
        return shutil.which(named) or sys.exit(f"{variable}: no such program: {named}")
    if program.by_playwright:
        with sync_playwright() as playwright:
            own = getattr(playwright, name).executable_path
        if Path(own).is_file():
            return str(own)
    return next(filter(None, map(shutil.which, program.commands)), None)


def install(name: str) -> None:
    """Install a program by Playwright, or by the system's package manager if this user may."""
    program = PROGRAMS[name]
    print(f"No {name} found.", flush=True)
    if program.by_playwright:
        print("Trying Playwright's installer:", flush=True)
        installer = [sys.executable, "-m", "playwright", "install", name]
        if _run(installer, timeout=600):
            return
    if not shutil.which("apt-get"):
        return
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and not (shutil.which("sudo") and _run(["sudo", "-n", "true"], timeout=10)):
        return
    print("Trying the system's package manager:", flush=True)
    _run([*root, "apt-get", "update", "-qq"], timeout=600)
    _run([*root, "apt-get", "install", "-y", "-qq", program.package], timeout=1800)


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


def main(names: list[str]) -> None:
    """Find or install each program, and print which is used; if one is missing, say what to do."""
    for name in names:
        if _itself(name) is None:
            install(name)
        path = find(name)
        if path is None:
            sys.exit(
                f"The tests need {name}, and it could not be installed. Run this, then try again:\n"
                f"  sudo apt-get install {PROGRAMS[name].package}\n"
                f"or set {_variable(name)} to the path of one."
            )
        print(f"The tests use {path}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
