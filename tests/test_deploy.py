"""What `docs/deploy` starts exists, what must not be logged is not, and operators are told all."""

import json
import re
import shlex
from configparser import ConfigParser
from pathlib import Path

import click
import pytest

from analysis.survey.survey import LONGEST_REQUEST
from server.cli import COMMANDS, main
from server.store.inspection import empty_database, tables
from server.writer import PATIENCE

DOCS = Path(__file__).parent.parent / "docs"
NGINX = (DOCS / "deploy/nginx.conf").read_text()
CONTAINERFILE = (DOCS / "deploy/Containerfile").read_text()
OPERATIONS = (DOCS / "operations.md").read_text()
UNITS = {"s": 1, "k": 1024}


def service() -> dict[str, str]:
    unit = ConfigParser(interpolation=None, strict=False)  # SystemCallFilter stands there twice
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string((DOCS / "deploy/deniable.service").read_text())
    return dict(unit["Service"])


def instruction(name: str) -> list[str]:
    (found,) = re.findall(rf"^{name} (\[(?:.|\\\n)*?\])$", CONTAINERFILE, re.M)
    return list(json.loads(found.replace("\\\n", "")))


def setting(name: str) -> list[str]:
    """The values of a directive of nginx, wherever it stands."""
    return re.findall(rf"^\s*{name}\s+([^;]+);", NGINX, re.M)


def number(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1]]


def parsed(words: list[str]) -> tuple[click.Command, dict[str, object]]:
    """The command that words mean, and its parameters; an error if it takes no such words."""
    command: click.Command = main
    name = "deniable"
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"{name} is no command"
        command = found
    return command, dict(command.make_context(name, words).params)


STARTS = {
    "unit": shlex.split(service()["ExecStart"])[1:],
    "container": instruction("CMD"),
}


@pytest.mark.parametrize("words", STARTS.values(), ids=STARTS)
def test_starts_are_commands_with_researchers_apart(words: list[str]) -> None:
    command, params = parsed(words)
    assert command.name == "serve"
    assert params["port"] == 8000
    assert params["research_port"] == 8001


def test_unit_starts_what_operators_install() -> None:
    program = shlex.split(service()["ExecStart"])[0]
    assert program == "/opt/deniable/bin/deniable"
    assert program.removesuffix("deniable") + "pip install ." in OPERATIONS
    folder = Path("/var/lib", service()["StateDirectory"])
    assert parsed(STARTS["unit"])[1]["db"] == folder / "deniable.db"
    assert service()["WorkingDirectory"] == str(folder)


def test_unit_keeps_no_request_and_no_token() -> None:
    found = service()
    assert found["User"] not in ("", "root")
    assert (found["LimitCORE"], found["MemorySwapMax"]) == ("0", "0")
    assert found["StandardOutput"] == "null"
    assert found["KillSignal"] == "SIGTERM"
    assert int(found["TimeoutStopSec"]) > 10
    assert found["UMask"] == "0077"


def test_container_holds_the_program_alone_and_not_as_root() -> None:
    assert instruction("ENTRYPOINT") == ["deniable"]
    copied = re.findall(r"^COPY (.*) /src/", CONTAINERFILE, re.M)
    assert {word for line in copied for word in line.split()} == {
        *("pyproject.toml", "README.md", "LICENSE"),
        *("analysis", "client", "server"),
    }
    lines = CONTAINERFILE.splitlines()
    assert lines.index("USER deniable") < lines.index("VOLUME /data")
    assert parsed(STARTS["container"])[1]["db"] == Path("/data/deniable.db")
    assert "PYTHONDONTWRITEBYTECODE=1" in CONTAINERFILE
    assert f":{parsed(STARTS['container'])[1]['port']}/healthz" in CONTAINERFILE


def test_proxy_keeps_no_log_and_no_body() -> None:
    assert setting("access_log") == ["off"]
    assert setting("error_log") == ["/dev/null crit"]
    assert setting("include") == []
    assert setting("proxy_max_temp_file_size") == ["0"]
    assert number(setting("client_body_buffer_size")[0]) >= LONGEST_REQUEST


def test_proxy_buffers_what_the_collector_takes() -> None:
    assert setting("proxy_request_buffering") == ["on"]
    assert [number(size) for size in setting("client_max_body_size")] == [LONGEST_REQUEST]
    assert number(setting("proxy_read_timeout")[0]) > PATIENCE


def test_proxy_passes_nothing_of_respondents_on() -> None:
    assert setting("proxy_pass_request_headers") == ["off"]
    passed = {value.split()[0] for value in setting("proxy_set_header")}
    assert passed == {"Accept-Encoding", "If-None-Match", "Content-Type", "Sec-Fetch-Site"}
    assert not re.search(r"remote_addr|forwarded_for|\$request_id|realip", NGINX)
    assert setting("ssl_session_tickets") == setting("ssl_session_cache") == ["off"]


def test_proxy_leads_to_the_respondents_port() -> None:
    port = parsed(STARTS["unit"])[1]["port"]
    assert setting("proxy_pass") == [f"http://127.0.0.1:{port}"]


#: Commands of authors and researchers, who need no server.
OTHERS = {
    "demo",
    "import",
    "convert",
    "simulate",
    "plan",
    "decode",
    "analyze",
    "codebook",
    "crosstab",
    "regress",
}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - OTHERS))
def test_commands_of_operators_are_documented(name: str) -> None:
    assert f"deniable {name}" in OPERATIONS


@pytest.mark.parametrize("line", re.findall(r"^    deniable ([a-z].*)$", OPERATIONS, re.M))
def test_commands_of_the_documentation_are_taken(line: str) -> None:
    parsed(shlex.split(re.split(r"\s#|>", line)[0]))


def test_tables_that_respondents_write_to_are_in_the_threat_model() -> None:
    text = (DOCS / "threat-model.md").read_text()
    public = {"survey", "wave"}
    researchers = {"research_token", "researcher", "session"}
    for name in tables(empty_database()).keys() - public - researchers:
        assert f"`{name}`" in text
