"""What the proxy and the journal keep, as far as files say it, and which processes run."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from server.doctor import Check

#: The number of a process, and its words.
Process = tuple[int, Sequence[str]]


def look(root: Path) -> Iterator[Check]:
    """Yield what nginx, Caddy and the journal keep, where this user can read their files."""
    yield from _of_nginx(root)
    yield from _of_caddy(root)
    yield from _of_journal(root)


def running(root: Path, program: str = "deniable", command: str = "serve") -> Iterator[Process]:
    """Yield the numbers of the processes that are this command of a program, and their words."""
    for path in sorted((root / "proc").glob("[0-9]*/cmdline")):
        with suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            names = [word.rpartition("/")[2] for word in words[:4]]
            for before, word in pairwise(names):
                if word == command and before in (program, "server.cli"):
                    yield int(path.parent.name), words


def option(words: Sequence[str], name: str) -> str:
    """Return the value of an option in the words of a process; nothing, if it has none."""
    for word, after in pairwise([*words, ""]):
        if word == name:
            return after
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _of_nginx(root: Path) -> Iterator[Check]:
    """Yield what nginx logs according to its files, where this user can read them."""
    file = root / "etc/nginx/nginx.conf"
    try:
        text = re.sub(r"#.*", "", file.read_text())
    except (OSError, UnicodeDecodeError):
        return
    wrong = [
        f"{name} {value.strip()}"
        for name, value in re.findall(r"\b(access_log|error_log|include)\s+([^;]+);", text)
        if not (name == "access_log" and value.strip() == "off")
        and not (name == "error_log" and value.split()[0] == "/dev/null")
        and not (name == "include" and value.split()[0].endswith("mime.types"))
    ]
    if "access_log" not in text:
        wrong.append("access_log as it is by default")
    yield Check(
        "proxy",
        "logs of nginx",
        f"addresses may be kept: {'; '.join(wrong)}" if wrong else "no address is kept",
        not wrong,
        "set access_log off and error_log /dev/null crit, with no include that switches logs on",
    )
    full = [
        path.name for path in sorted((root / "var/log/nginx").glob("*.log*")) if path.stat().st_size
    ]
    yield Check(
        "proxy",
        "old logs of nginx",
        f"/var/log/nginx has {', '.join(full)}" if full else "/var/log/nginx has no logs",
        not full,
        "delete them once you know that they are not needed",
    )


def _of_caddy(root: Path) -> Iterator[Check]:
    """Yield what Caddy logs according to the file that it runs with, or otherwise to ours."""
    named = [option(words, "--config") for _, words in running(root, "caddy", "run")]
    for name in dict.fromkeys(named or ["/etc/caddy/caddy.json"]):
        file = root / name.lstrip("/")
        try:
            text = file.read_text()
        except (OSError, UnicodeDecodeError):
            continue
        try:
            wrong = _logged_by_caddy(json.loads(text))
        except (ValueError, AttributeError, TypeError):
            wrong = ["it is not Caddy's JSON, and its other format logs errors by default"]
        yield Check(
            "proxy",
            "logs of Caddy",
            f"addresses may be kept, by {name}: {'; '.join(wrong)}"
            if wrong
            else "no address is kept",
            not wrong,
            "run it with the file that deniable deploy caddy prints",
        )


def _logged_by_caddy(read: dict[str, Any]) -> list[str]:
    """Return which parts of a Caddy configuration keep requests or errors, which have addresses."""
    servers = read.get("apps", {}).get("http", {}).get("servers", {})
    wrong = [f"server {name} logs requests" for name, one in servers.items() if "logs" in one]
    for name, log in {"default": {}, **read.get("logging", {}).get("logs", {})}.items():
        kept = log.get("include", [])
        silent = log.get("writer", {}).get("output") == "discard"
        if not silent and not (kept and all(one.startswith("tls.") for one in kept)):
            wrong.append(f"log {name} has errors of requests")
    return wrong


def _of_journal(root: Path) -> Iterator[Check]:
    """Yield whether a unit lets the journal keep the research token."""
    units = sorted((root / "etc/systemd/system").glob("*.service"))
    wrong = []
    serving = False
    for unit in units:
        with suppress(OSError, UnicodeDecodeError):
            text = "\n".join(
                one.read_text()
                for one in (unit, *sorted(unit.with_name(f"{unit.name}.d").glob("*.conf")))
            )
            if re.search(r"(?m)^ExecStart=\S*deniable serve\b", text):
                serving = True
                output = re.findall(r"(?m)^StandardOutput=(\S*)", text)
                if not output or output[-1] != "null":
                    wrong.append(unit.name)
    if serving:
        storage = _storage(root)
        yield Check(
            "machine",
            "journal",
            f"the journal is {storage}, and has the research token that {', '.join(wrong)} prints"
            if wrong
            else f"the journal is {storage}, and has no research token",
            not wrong,
            "StandardOutput=null in that unit; then journalctl --rotate and --vacuum-time=1s",
        )


def _storage(root: Path) -> str:
    """Return where the journal is, as journald's files say it."""
    said = "auto"
    places = [root / "etc/systemd/journald.conf"]
    places += sorted((root / "etc/systemd/journald.conf.d").glob("*.conf"))
    for place in places:
        with suppress(OSError, UnicodeDecodeError):
            said = [said, *re.findall(r"(?m)^Storage=(\w+)", place.read_text())][-1]
    if said == "auto":
        said = "persistent" if (root / "var/log/journal").is_dir() else "volatile"
    return {"persistent": "on the disk", "volatile": "in memory", "none": "switched off"}.get(
        said, said
    )
