"""The files with which others run collectors: of nginx, Caddy, systemd and compose.

`files/` has them with places for names, ports and folders. Caddy's file is made in `caddy`, since
JSON has no comments.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.deploy import caddy
from server.page_texts import LANGUAGES

_FILES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "files"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # nothing but checked names and paths fills a place
)

#: The images of containers, by the hash of their content: a tag can get another content any day.
#: Each is an index of images of several processors, found at the end of November 2026.
IMAGES = {
    "python": "docker.io/library/python:3.12-slim@sha256:"
    "f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f",
    "caddy": "docker.io/library/caddy:2.11.7@sha256:"
    "f2a1290d0463aad60660d4ec134943f183ee2a5f6c3eb7bf32dd984f2f020772",
    "postgres": "docker.io/library/postgres:17.11@sha256:"
    "d74eeac9a635390a49bc21bd49fccd973de707e2a53a76ac49b552b8712ec46f",
}

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:10vh auto;padding:0 1rem}"
)

_NAME = re.compile(
    r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
)
_PATH = re.compile(r"(/[A-Za-z0-9._@+-]+)+")
_MAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(@[A-Za-z0-9.-]+)?")


class SettingsError(ValueError):
    """A name or folder that no file can be made for; the message says why."""


def checked_name(text: str) -> str:
    """Return the name of a host, in lower case; refuse addresses of pages, ports and paths."""
    name = text.lower()
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"expected a host name of its own such as survey.example.org, got {text!r}"
            + (
                ": scripts elsewhere on a shared host could read the form and what devices keep"
                if "/" in text
                else ""
            )
        )
    return name


def checked_path(text: str) -> str:
    """Return an absolute path of plain characters, so that it can stand in any of the files."""
    path = str(PurePosixPath(text))
    if not _PATH.fullmatch(path) or ".." in path.split("/"):
        raise SettingsError(
            f"expected an absolute path of letters, digits and . _ @ + -, got {text!r}"
        )
    return path


@dataclass(frozen=True)
class Settings:
    """The settings that differ between machines.

    Attributes
    ----------
    host, research_host : str
        Names of the respondents' and the researchers' pages; without the second, researchers reach
        their port by a tunnel.
    port, research_port : int
        Where the collector listens on this machine.
    program : str
        Path of the command.
    folder : str
        The collector's folder, under ``/var/lib``.
    certificates : str
        Folder of ``fullchain.pem`` and ``privkey.pem``, for nginx.
    challenges : str
        Folder in which an ACME client puts what the authority asks for, for nginx.
    backups : str
        Folder of the daily backups; by default ``backups`` within `folder`.
    recipients : str
        File of the public keys for which they are encrypted.
    mail : str
        Who gets a mail if a backup or an audit fails.
    """

    host: str
    research_host: str | None = None
    port: int = 8000
    research_port: int = 8001
    program: str = "/opt/deniable/bin/deniable"
    folder: str = "/var/lib/deniable"
    certificates: str = "/etc/ssl/deniable"
    challenges: str = "/var/www/acme"
    backups: str = ""
    recipients: str = "/etc/deniable/backup-keys.txt"
    mail: str = "root"

    def __post_init__(self) -> None:
        # Host names are not case-sensitive, and the files have them in lower case.
        object.__setattr__(self, "host", checked_name(self.host))
        if self.research_host is not None:
            object.__setattr__(self, "research_host", checked_name(self.research_host))
        names = [name for name in (self.host, self.research_host) if name]
        if len(set(names)) != len(names):
            raise SettingsError(
                f"expected another name for researchers, got {self.host} for both: "
                "a respondents' site serves nothing else"
            )
        if self.port == self.research_port:
            raise SettingsError(f"expected two ports, got {self.port} for both")
        object.__setattr__(self, "backups", self.backups or f"{self.folder}/backups")
        for path in (
            *(self.program, self.folder, self.certificates, self.challenges),
            *(self.backups, self.recipients),
        ):
            checked_path(path)
        if not _MAIL.fullmatch(self.mail):
            raise SettingsError(
                f"expected an address such as root or it@example.org, got {self.mail!r}"
            )
        if not self.folder.startswith("/var/lib/"):
            raise SettingsError(f"expected a folder under /var/lib, got {self.folder!r}")


def unavailable() -> tuple[str, dict[str, str]]:
    """Return the page that says that the collector does not answer, and its headers."""
    page = _FILES.get_template("unavailable.html").render(style=_STYLE, languages=LANGUAGES)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    return page, {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "Retry-After": "60",
        "Strict-Transport-Security": "max-age=63072000",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }


#: The database of several collectors in compose; its password is in PGPASSWORD.
DATABASE = "postgresql://deniable@database/deniable"


def _filled(name: str, settings: Settings, database: str = "") -> str:
    page, headers = unavailable()
    return _FILES.get_template(name).render(
        **asdict(settings),
        database=database,
        names=[name for name in (settings.host, settings.research_host) if name],
        upstream=f"http://127.0.0.1:{settings.port}",
        research_upstream=f"http://127.0.0.1:{settings.research_port}",
        unavailable=page,
        unavailable_headers=headers,
        images=IMAGES,
    )


def _caddy(settings: Settings, collectors: Sequence[str] = ()) -> str:
    page, headers = unavailable()
    made = caddy.configuration(
        settings.host,
        settings.research_host,
        settings.port,
        settings.research_port,
        page,
        headers,
        collectors,
    )
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


_Maker = Callable[[Settings], str]


def _from(name: str) -> _Maker:
    return partial(_filled, name)


#: The files of each way to run a collector; the first is the one that is printed.
KINDS: Mapping[str, Mapping[str, _Maker]] = {
    "nginx": {"nginx.conf": _from("nginx.conf")},
    "caddy": {"caddy.json": _caddy},
    "systemd": {
        name: _from(name)
        for name in (
            "deniable.service",
            "deniable-backup.service",
            "deniable-backup.timer",
            "deniable-audit.service",
            "deniable-audit.timer",
            "deniable-failed@.service",
            "deniable.cron",
        )
    },
    "compose": {
        "compose.yaml": _from("compose.yaml"),
        "Containerfile": _from("Containerfile"),
        "caddy.json": partial(_caddy, collectors=["collector"]),
        "requirements.txt": _from("requirements.txt"),
    },
    "compose-postgres": {
        "compose.yaml": partial(_filled, "compose-postgres.yaml", database=DATABASE),
        "Containerfile": partial(_filled, "Containerfile", database=DATABASE),
        "caddy.json": partial(_caddy, collectors=["collector", "second"]),
        "requirements.txt": _from("requirements.txt"),
        "requirements-postgres.txt": _from("requirements-postgres.txt"),
    },
}


def made(kind: str, settings: Settings) -> dict[str, str]:
    """Return the files of a kind, by name, with all places filled."""
    return {name: make(settings) for name, make in KINDS[kind].items()}
