"""The files of `deniable deploy` start commands that exist, log nothing, and are documented."""

import json
import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from analysis.survey.survey import LONGEST_REQUEST
from server.cli import COMMANDS, main
from server.deploy import KINDS, Settings, SettingsError, made, unavailable
from server.intake.writer import PATIENCE
from server.page_texts import LANGUAGES
from server.store.inspection import empty_database, tables
from server.store.places import Address

DOCS = Path(__file__).parent.parent / "docs"
SETTINGS = Settings("survey.example.org")
FILES = {
    name: text
    for kind in ("caddy", "nginx", "systemd")
    for name, text in made(kind, SETTINGS).items()
}
COMPOSE = made("compose", SETTINGS)
SHARED = made("compose-postgres", SETTINGS)
NGINX, CONTAINERFILE = FILES["nginx.conf"], COMPOSE["Containerfile"]
OPERATIONS = (DOCS / "operations.md").read_text()
UNITS = {"s": 1, "k": 1024}


class UnitParser(ConfigParser):
    """A parser that keeps keys in capitals, as systemd does."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit(name: str, section: str) -> dict[str, str]:
    read = UnitParser(interpolation=None, strict=False)  # SystemCallFilter occurs twice there
    read.read_string(FILES[name])
    return dict(read[section])


def service() -> dict[str, str]:
    return unit("deniable.service", "Service")


def instruction(name: str) -> list[str]:
    (found,) = re.findall(rf"^{name} (\[(?:.|\\\n)*?\])$", CONTAINERFILE, re.M)
    return list(json.loads(found.replace("\\\n", "")))


def setting(name: str) -> list[str]:
    """Return the values of a directive of nginx, wherever it is."""
    return re.findall(rf"^\s*{name}\s+([^;]+);", NGINX, re.M)


def number(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1]]


def parsed(words: list[str]) -> tuple[click.Command, dict[str, object]]:
    """Return the command of some words, and its parameters; raise an error if there is none."""
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
    pip = program.removesuffix("deniable") + "pip install"
    requirements = "server/deploy/files/requirements.txt"
    assert OPERATIONS.count(f"{pip} --require-hashes -r {requirements}\n") == 2
    wheel = f"./deniable-{version('deniable')}-py3-none-any.whl\n"
    for options in ("--no-deps", "--no-deps --force-reinstall"):
        assert f"{pip} {options} {wheel}" in OPERATIONS
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


@pytest.mark.parametrize("name", ["backup", "audit"])
def test_timers_start_commands_that_say_nothing_of_respondents_and_mail_if_they_fail(
    name: str,
) -> None:
    assert unit(f"deniable-{name}.timer", "Timer").keys() >= {"OnCalendar", "Persistent"}
    started = unit(f"deniable-{name}.service", "Service")
    assert (started["Type"], started["User"], started["UMask"]) == ("oneshot", "deniable", "0077")
    assert (started["LimitCORE"], started["MemorySwapMax"]) == ("0", "0")
    assert started["StandardOutput"] == "null"
    # Both ways start the same commands.
    (line,) = re.findall(rf"said=\$\((\S+ {name}.*) 2>&1\)", FILES["deniable.cron"])
    commands = [parsed(shlex.split(words)[1:]) for words in (started["ExecStart"], line)]
    assert [command.name for command, _ in commands] == [name, name]
    params = commands[0][1]
    assert params == {**commands[1][1], "db": Path("/var/lib/deniable/deniable.db")}
    if name == "audit":
        assert params["quiet"]
    else:
        assert params["folder"] == Path("/var/lib/deniable/backups")
        assert str(params["recipients"]) in OPERATIONS
        assert params["overdue"]
    for failing in (f"deniable-{name}.service", "deniable.service"):
        assert unit(failing, "Unit")["OnFailure"] == "deniable-failed@%n.service"
    assert "MAILTO=root\n" in FILES["deniable.cron"]
    assert 'echo "To: root"' in unit("deniable-failed@.service", "Service")["ExecStart"]


@pytest.mark.more
def test_systemd_finds_no_fault_with_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd here")
    files = made("systemd", Settings("survey.example.org", program="/bin/true"))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    units = [str(tmp_path / name) for name in files if not name.endswith(".cron")]
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_container_has_only_the_program_and_does_not_run_as_root() -> None:
    assert instruction("ENTRYPOINT") == ["deniable"]
    copied = re.findall(r"^COPY (.*) /src/", CONTAINERFILE, re.M)
    assert copied == ["requirements.txt deniable-*.whl"]
    assert "--require-hashes --requirement /src/requirements.txt" in CONTAINERFILE
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


def test_proxy_buffers_requests_of_the_collectors_size() -> None:
    assert setting("proxy_request_buffering") == ["on"]
    assert [number(size) for size in setting("client_max_body_size")] == [LONGEST_REQUEST]
    assert number(setting("proxy_read_timeout")[0]) > PATIENCE


def test_proxy_passes_on_nothing_about_respondents() -> None:
    assert setting("proxy_pass_request_headers") == ["off"]
    passed = {value.split()[0] for value in setting("proxy_set_header")}
    assert passed == {"Host", "Accept-Encoding", "If-None-Match", "Content-Type", "Sec-Fetch-Site"}
    assert not re.search(r"remote_addr|forwarded_for|\$request_id|realip", NGINX)
    assert setting("ssl_session_tickets") == setting("ssl_session_cache") == ["off"]


def test_proxy_leads_to_the_respondents_port() -> None:
    port = parsed(STARTS["unit"])[1]["port"]
    assert setting("proxy_pass") == [f"http://127.0.0.1:{port}"]


def test_proxy_serves_two_names_and_has_files_enough() -> None:
    assert "ssl_reject_handshake on;" in NGINX
    assert setting("return")[0] == "444"
    assert int(setting("worker_rlimit_nofile")[0]) >= 2 * int(setting("worker_connections")[0])
    both = made("nginx", Settings("survey.example.org", "results.example.org"))["nginx.conf"]
    assert "server_name results.example.org;" in both
    assert "results.example.org" not in NGINX


@pytest.mark.parametrize("files", [COMPOSE, SHARED], ids=["one", "two"])
def test_compose_files_harden_all_and_give_nobody_the_collectors(files: dict[str, str]) -> None:
    composed = yaml.safe_load(files["compose.yaml"])
    services = dict(composed["services"])
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["logging"] == {"driver": "none"}
        assert service["mem_limit"] == service["memswap_limit"]
        assert service["healthcheck"]["test"]
    proxy = services.pop("proxy")
    for service in services.values():
        assert set(service["networks"]) <= {"inside", "stored"}
        assert "ports" not in service
    assert all(composed["networks"][name] == {"internal": True} for name in ("inside",))
    assert proxy["networks"] == ["inside", "outside"]
    assert {one for one in proxy["ports"] if "127.0.0.1" not in one} == {"80:80", "443:443"}
    mounted = {one.split(":")[0].removeprefix("./") for one in proxy["volumes"]}
    assert mounted - set(files) == {"certificates"}
    caddy = json.loads(files["caddy.json"])
    assert ":8001" in caddy["apps"]["http"]["servers"]["researchers"]["listen"]


@pytest.mark.parametrize("files", [COMPOSE, SHARED], ids=["compose", "compose-postgres"])
def test_images_from_elsewhere_are_pinned_by_their_content(files: dict[str, str]) -> None:
    texts = files["compose.yaml"], files["Containerfile"]
    named = [name for text in texts for name in re.findall(r"docker\.io/[^\s}\"]+", text)]
    assert len(named) >= 3
    for name in named:
        assert re.fullmatch(r"[a-z./]+:[0-9][0-9a-z.-]+@sha256:[0-9a-f]{64}", name)


def test_two_collectors_of_a_compose_file_share_a_database_that_nobody_else_reaches() -> None:
    composed = yaml.safe_load(SHARED["compose.yaml"])
    collector, second, database = (
        composed["services"][name] for name in ("collector", "second", "database")
    )
    assert database["networks"] == ["stored"]
    assert composed["networks"]["stored"] == {"internal": True}
    assert collector["networks"] == second["networks"] == ["inside", "stored"]
    assert collector["image"] == second["image"]
    (start,) = re.findall(r"^CMD (\[(?:.|\\\n)*?\])$", SHARED["Containerfile"], re.M)
    place = parsed(json.loads(start.replace("\\\n", "")))[1]["db"]
    assert isinstance(place, Address)
    assert (
        place.text == f"postgresql://{database['environment']['POSTGRES_USER']}@database/deniable"
    )
    # The password is only in .env, and compose refuses to start without it.
    assert collector["environment"]["PGPASSWORD"].startswith("${PASSWORD:?")
    assert database["environment"]["POSTGRES_PASSWORD"].startswith("${PASSWORD:?")
    (copied,) = re.findall(r"^COPY (.*) /src/", SHARED["Containerfile"], re.M)
    assert copied.split() == ["requirements.txt", "requirements-postgres.txt", "deniable-*.whl"]
    pip = "--require-hashes --requirement /src/"
    assert SHARED["Containerfile"].count(pip) == 2
    assert f"{pip}requirements-postgres.txt" in SHARED["Containerfile"]
    assert SHARED["requirements-postgres.txt"].startswith("psycopg==")
    (balanced,) = (
        handler
        for route in json.loads(SHARED["caddy.json"])["apps"]["http"]["servers"]["secure"]["routes"]
        for handler in route["handle"]
        if handler["handler"] == "reverse_proxy"
    )
    assert [one["dial"] for one in balanced["upstreams"]] == ["collector:8000", "second:8000"]
    # A collector that has come back is tried again before a request is given up.
    forgotten = balanced["health_checks"]["passive"]["fail_duration"]
    assert 0 < forgotten < balanced["load_balancing"]["try_duration"]
    # Sessions belong to one server.
    assert SHARED["caddy.json"].count('"dial": "collector:8001"') == 1
    assert '"dial": "second:8001"' not in SHARED["caddy.json"]


@pytest.mark.parametrize("text", [FILES["caddy.json"], COMPOSE["caddy.json"], SHARED["caddy.json"]])
def test_caddy_keeps_no_log_and_gives_no_ticket(text: str) -> None:
    caddy = json.loads(text)
    (log,) = caddy["logging"]["logs"].values()
    assert all(name.startswith("tls.") for name in log["include"])
    assert caddy["apps"]["tls"]["session_tickets"] == {"disabled": True}
    assert caddy["admin"]["disabled"]
    assert all("logs" not in one for one in caddy["apps"]["http"]["servers"].values())


@pytest.mark.parametrize("text", [COMPOSE["caddy.json"], SHARED["caddy.json"], FILES["caddy.json"]])
def test_caddy_buffers_requests_to_respondents_and_researchers(text: str) -> None:
    servers = json.loads(text)["apps"]["http"]["servers"].values()
    routes = [route for server in servers for route in server["routes"]]
    handlers = [handler for route in routes for handler in route["handle"]]
    proxies = [handler for handler in handlers if handler["handler"] == "reverse_proxy"]
    sizes = {proxy.get("request_buffers", proxy.get("max_buffer_size")) for proxy in proxies}
    assert sizes == {LONGEST_REQUEST}
    assert len(proxies) >= (2 if "researchers" in text else 1)


def test_page_of_a_collector_that_is_away_is_complete_and_loads_nothing() -> None:
    page, headers = unavailable()
    assert all(one.words["message.unavailable"] in page for one in LANGUAGES.values())
    assert not re.search(r"https?:|src=|href=|url\(|<script|'", page)
    assert len(page) < 4000  # nginx accepts no longer word
    assert "sha256-" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("host", "what"),
    [
        ("example.org/survey", "of its own"),
        ("https://survey.example.org", "of its own"),
        ("survey.example.org:8443", "expected a host name"),
        ("survey", "expected a host name"),
        ("a b.org; return 200", "expected a host name"),
        ("", "expected a host name"),
    ],
)
def test_other_names_than_hosts_are_refused(host: str, what: str) -> None:
    with pytest.raises(SettingsError, match=what):
        Settings(host)


def test_paths_ports_and_names_must_be_apart_and_plain() -> None:
    with pytest.raises(SettingsError, match="another name for researchers"):
        Settings("survey.example.org", "Survey.example.org")
    with pytest.raises(SettingsError, match="two ports"):
        Settings("survey.example.org", port=8001)
    for path in ("relative", "/etc/../root", "/etc/a;b", "/etc/a b"):
        with pytest.raises(SettingsError, match="absolute path"):
            Settings("survey.example.org", certificates=path)
    with pytest.raises(SettingsError, match="an address such as"):
        Settings("survey.example.org", mail="root; rm")
    with pytest.raises(SettingsError, match="under /var/lib"):
        Settings("survey.example.org", folder="/srv/deniable")


@pytest.mark.parametrize("kind", KINDS)
def test_deploy_prints_one_file_or_writes_all(kind: str, tmp_path: Path) -> None:
    words = ["deploy", kind, "--host", "Survey.Example.ORG", "--port", "8123"]
    printed = CliRunner().invoke(main, words)
    assert printed.exit_code == 0
    assert CliRunner().invoke(main, [*words, "--output", str(tmp_path / "new")]).exit_code == 0
    written = {path.name: path.read_text() for path in (tmp_path / "new").iterdir()}
    assert written.keys() == KINDS[kind].keys()
    assert printed.stdout == written[next(iter(KINDS[kind]))]
    assert any("8123" in text for text in written.values())
    assert not any("Survey.Example.ORG" in text for text in written.values())
    assert not any("{{" in text or "{%" in text for text in written.values())
    again = CliRunner().invoke(main, [*words, "--output", str(tmp_path / "new")])
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    refused = CliRunner().invoke(main, ["deploy", kind, "--host", "example.org/survey"])
    assert refused.exit_code == 2


#: Commands of authors and researchers, who need no server.
OTHERS = {
    "bundle",
    "verify",
    "demo",
    "import",
    "convert",
    "simulate",
    "plan",
    "rank",
    "decode",
    "analyze",
    "codebook",
    "compare",
    "crosstab",
    "regress",
    "test",
    "trend",
}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - OTHERS))
def test_commands_of_operators_are_documented(name: str) -> None:
    assert f"deniable {name}" in OPERATIONS


@pytest.mark.parametrize(
    "line", re.findall(r"^    (?:/opt/deniable/bin/)?deniable ([a-z].*)$", OPERATIONS, re.M)
)
def test_commands_of_the_documentation_are_accepted(line: str) -> None:
    parsed(shlex.split(re.split(r"\s#|>", line)[0]))


def test_tables_that_respondents_write_to_are_in_the_threat_model() -> None:
    text = (DOCS / "threat-model.md").read_text()
    public = {"survey", "wave"}
    researchers = {"research_token", "researcher", "session"}
    for name in tables(empty_database()).keys() - public - researchers:
        assert f"`{name}`" in text
