"""A study in one zip: what it holds and does not reveal, and that changed bytes are named."""

import csv
import io
import json
import random
import re
import sqlite3
import zipfile
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from bundled import bundled, opened, study
from command_line import run, table
from flask.testing import FlaskClient

from analysis.core.errors import DataError
from analysis.study.bundle import pack, verify_bundle
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MEMBERS = {
    *("CITATION.cff", "README.md", "channels.csv", "codebook.json", "croissant.json"),
    "datapackage.json",
    *("codebook.csv", "estimates.csv", "label.csv", "methods.md", "recompute.R"),
    *("recompute.ipynb", "study.R", "together.csv"),
    *("reports.csv", "scores.csv", "survey.json", "tallies.csv", "tallies.json"),
}


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory, survey_text: str) -> bytes:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "canteen.toml").write_text(survey_text)
    study(folder / "x.db", read_survey(folder / "canteen.toml"), 120)
    words = "--license", "CC-BY-4.0", "--author", "Ada Example"
    return bundled(folder / "x.db", "canteen", *words)


def packed(members: dict[str, bytes]) -> bytes:
    """Pack members as a deceiver would, with the hashes that they have now."""
    package = json.loads(members["datapackage.json"])
    for resource in package["resources"]:
        content = members.get(resource["path"], b"")
        resource["bytes"] = len(content)
        resource["hash"] = f"sha256:{sha256(content).hexdigest()}"
    text = json.dumps(package, ensure_ascii=False, indent=1) + "\n"
    return pack(members | {"datapackage.json": text.encode()})


def complaint(data: bytes) -> str:
    with pytest.raises(DataError) as error:
        verify_bundle(data)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_bundle_is_complete_and_agrees_with_the_commands(store: Store, answered: int) -> None:
    database = store.database.place
    data = bundled(database, "canteen")
    assert data == bundled(database, "canteen")
    members = opened(data)
    assert set(members) == MEMBERS
    for name, words in (
        ("estimates.csv", ["estimate"]),
        ("reports.csv", ["export"]),
        ("codebook.csv", ["codebook"]),
        ("codebook.json", ["codebook", "--json"]),
        ("label.csv", ["codebook", "--label"]),
        ("methods.md", ["codebook", "--methods"]),
    ):
        printed = run(*words, "canteen", "--db", database).stdout
        assert members[name].decode() == printed, name
    output = database.parent / "study.zip"
    result = run("verify", output)
    assert result.exit_code == 0, result.output
    rows = len(table(run("estimate", "canteen", "--db", database)))
    assert f"{answered} reports, {rows} estimates computed again, 19 files" in result.stdout
    refused = run("bundle", "canteen", "--db", database, "--output", output)
    assert (refused.exit_code, "expected a new file" in refused.stderr) == (1, True)


def test_a_bundle_distinguishes_nobody(store: Store, answered: int) -> None:
    data = bundled(store.database.place, "canteen")
    for entry in zipfile.ZipFile(io.BytesIO(data)).infolist():
        assert (entry.date_time, entry.extra, entry.comment) == ((1980, 1, 1, 0, 0, 0), b"", b"")
    connection = sqlite3.connect(str(store.database.place))
    secrets = set[bytes]()
    for name, *_ in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        for column in {"respondent", "id", "report_id", "receipt", "digest"} & set(columns):
            for (cell,) in connection.execute(f"SELECT {column} FROM {name}"):
                secrets.add(cell if isinstance(cell, bytes) else str(cell).encode())
    secrets = {secret for secret in secrets if len(secret) > 10}
    assert len(secrets) >= answered
    assert not [secret for secret in secrets if secret in data or secret.hex().encode() in data]
    assert not re.search(rb"20[2-9][0-9]-[01][0-9]-", data)


def test_every_column_says_what_it_means(zipped: bytes) -> None:
    package = json.loads(opened(zipped)["datapackage.json"])
    described = [each["schema"]["fields"] for each in package["resources"] if "schema" in each]
    assert len(described) == 8
    for column in chain.from_iterable(described):
        assert column["description"].endswith("."), column["name"]


def test_the_description_is_a_data_package(zipped: bytes) -> None:
    members = opened(zipped)
    package = json.loads(members["datapackage.json"])
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    assert package["contributors"] == [{"title": "Ada Example", "role": "author"}]
    assert {each["path"] for each in package["resources"]} == MEMBERS - {"datapackage.json"}
    kinds: dict[str, Callable[[str], Any]] = {
        "integer": int,
        "number": float,
        "string": str,
        "object": json.loads,
    }
    for resource in package["resources"]:
        assert re.fullmatch(r"[-a-z0-9._/]+", resource["name"])
        if not resource["path"].endswith(".csv"):
            continue
        fields = resource["schema"]["fields"]
        rows = list(csv.reader(io.StringIO(members[resource["path"]].decode())))
        assert [field["name"] for field in fields] == rows[0]
        assert all(field["description"] for field in fields)
        for row in rows[1:]:
            for field, cell in zip(fields, row, strict=True):
                assert cell == "" or kinds[field["type"]](cell) is not None
    citation = members["CITATION.cff"].decode()
    assert 'license: "CC-BY-4.0"' in citation
    assert '- name: "Ada Example"' in citation


def test_the_description_for_programs_states_files_and_columns_as_they_are(zipped: bytes) -> None:
    members = opened(zipped)
    described = json.loads(members["croissant.json"])
    package = json.loads(members["datapackage.json"])
    assert (described["name"], described["license"]) == (package["name"], "CC-BY-4.0")
    assert [each["name"] for each in described["creator"]] == ["Ada Example"]
    files = {each["@id"]: each for each in described["distribution"]}
    assert set(files) == MEMBERS - {"croissant.json", "datapackage.json"}
    for name, file in files.items():
        assert file["contentUrl"] == name
        assert file["contentSize"] == f"{len(members[name])} B"
        assert file["sha256"] == sha256(members[name]).hexdigest()
    tables = {}
    for records in described["recordSet"]:
        sources = [field["source"] for field in records["field"]]
        (path,) = {source["fileObject"]["@id"] for source in sources}
        tables[path] = [source["extract"]["column"] for source in sources]
    assert tables == {
        name: next(csv.reader(io.StringIO(members[name].decode())))
        for name in files
        if name.endswith(".csv")
    }
    names = [one["@id"] for records in described["recordSet"] for one in records["field"]]
    assert len(set(names)) == len(names)


def test_a_changed_byte_of_each_member_is_named(zipped: bytes) -> None:
    for entry in zipfile.ZipFile(io.BytesIO(zipped)).infolist():
        start = entry.header_offset + 30 + len(entry.filename)
        assert zipped[start : start + 2] == opened(zipped)[entry.filename][:2]
        for place in (start, start + entry.file_size // 2, start + entry.file_size - 1):
            changed = bytearray(zipped)
            changed[place] ^= 1
            assert complaint(bytes(changed)).startswith(f"{entry.filename}: "), entry.filename


def test_a_changed_member_is_named_though_its_hash_was_changed_with_it(zipped: bytes) -> None:
    members = opened(zipped)
    draw = random.Random(1)
    for name in sorted(MEMBERS - {"datapackage.json"}):
        text = members[name].decode()
        # A digit or a letter becomes another one, so most members can still be read. In tables the
        # first one of a cell is changed, since another machine may compute other last digits.
        places = [at for at, letter in enumerate(text) if letter in "23456efgh"]
        if name.endswith(".csv"):
            places = [at for at in places if text[at - 1] in ",\n"]
        for place in draw.sample(places, min(2, len(places))):
            letter = text[place]
            other = {"2": "3", "6": "5", "h": "g"}.get(letter, chr(ord(letter) + 1))
            changed = text[:place] + other + text[place + 1 :]
            told = complaint(packed(members | {name: changed.encode()}))
            # The changed report is possible, but it is not the one that was tallied.
            also = {"reports.csv": "tallies.json: "}.get(name, f"{name}: ")
            assert told.startswith((f"{name}: ", also)), (place, told)
    rows = members["estimates.csv"]
    for content in (b"", b"\xff", rows.removesuffix(b",0\n"), rows + b"x" * 2**18):
        told = complaint(packed(members | {"estimates.csv": content}))
        assert told.startswith("estimates.csv: ")


def test_reports_in_another_order_are_refused(zipped: bytes) -> None:
    members = opened(zipped)
    header, *rows = members["reports.csv"].decode().splitlines(keepends=True)
    again = "".join([header, *reversed(rows)]).encode()
    assert complaint(packed(members | {"reports.csv": again})).startswith("reports.csv: ")


def test_no_byte_of_the_zip_itself_can_be_changed(zipped: bytes) -> None:
    directory = zipped.index(b"PK\x01\x02")
    first = zipfile.ZipFile(io.BytesIO(zipped)).infolist()[0]
    headers = range(first.header_offset, first.header_offset + 30 + len(first.filename))
    end = range(len(zipped) - 22 - 100, len(zipped))
    for place in (*headers, *range(directory, directory + 46 + len(first.filename)), *end):
        changed = bytearray(zipped)
        changed[place] ^= 1 << place % 8
        assert complaint(bytes(changed)), place
    assert "byte" in complaint(zipped.replace(b"PK\x01\x02\x14", b"PK\x01\x02\x15", 1))
    for other in (b"", b"x" + zipped, zipped + b"x", zipped[:-1], zipped[: len(zipped) // 2]):
        assert complaint(other)


def _other_zip(members: dict[str, bytes], compression: int, *more: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in [*members.items(), *more]:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_other_zips_are_refused_before_they_are_unpacked(zipped: bytes) -> None:
    members = opened(zipped)
    bomb = members | {"zeros.csv": bytes(2**24)}
    assert "a compressed one" in complaint(_other_zip(bomb, zipfile.ZIP_DEFLATED))
    for name in ("../up.csv", "/etc/x", "a/b", "a\\b", "..", ".hidden"):
        assert "plain names" in complaint(_other_zip({}, zipfile.ZIP_STORED, (name, b"")))
    twice = _other_zip(members, zipfile.ZIP_STORED, ("label.csv", b""))
    assert complaint(twice).startswith("label.csv: expected one member of this name")
    many = {f"{number}.csv": b"" for number in range(101)}
    assert "at most 100 members" in complaint(_other_zip(many, zipfile.ZIP_STORED))
    less = {name: content for name, content in members.items() if name != "label.csv"}
    assert complaint(pack(less)).startswith("label.csv: expected a member of this name")
    more = pack(members | {"more.csv": b"x"})
    assert complaint(more).startswith("more.csv: expected no member")
    # The members share their bytes, so that they are larger than the file.
    big = bytearray(_other_zip({"a.csv": b"x" * 100}, zipfile.ZIP_STORED))
    place = big.index(b"PK\x01\x02") + 20
    big[place : place + 8] = (2**31).to_bytes(4, "little") * 2
    assert "a larger one" in complaint(bytes(big))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda package: package.pop("resources"), "datapackage.json: "),
        (lambda package: package.update(resources=3), "datapackage.json: "),
        (lambda package: package["resources"][0].update(path=None), "datapackage.json: "),
        (lambda package: package["resources"][0].update(path="a\nb"), "datapackage.json: "),
        (lambda package: package["deniable"].pop("release"), "datapackage.json: "),
        (lambda package: package["deniable"].update(release=[]), "datapackage.json: "),
        (lambda package: package.pop("deniable"), "survey.json: "),
        (lambda package: package["deniable"].update(version="0" * 64), "survey.json: "),
        (lambda package: package["deniable"].update(wave=2), "estimates.csv: "),
        (lambda package: package["deniable"].update(wave="1"), "datapackage.json: "),
        (lambda package: package["deniable"].update(conf_level=0.9), "estimates.csv: "),
        (lambda package: package["deniable"].update(conf_level=7.5), "datapackage.json: "),
        (lambda package: package["deniable"]["fieldwork"].update(reports=9), "datapackage.json: "),
        (lambda package: package["deniable"]["fieldwork"].update(x=9), "datapackage.json: "),
        (lambda package: package["deniable"]["fieldwork"].update(is_open=0), "datapackage.json: "),
        (lambda package: package.update(title="Other"), "datapackage.json: "),
        (lambda package: package.update(licenses=[]), "datapackage.json: "),
    ],
)
def test_a_description_that_is_changed_with_its_hash_is_refused(
    zipped: bytes, change: Callable[[dict[str, Any]], Any], told: str
) -> None:
    members = opened(zipped)
    package = json.loads(members["datapackage.json"])
    change(package)
    text = json.dumps(package, ensure_ascii=False, indent=1) + "\n"
    assert complaint(pack(members | {"datapackage.json": text.encode()})).startswith(told)


def test_reports_that_are_withheld_are_not_bundled(
    store: Store, survey: Survey, answered: int, tmp_path: Path
) -> None:
    store.surveys.open_wave("canteen")
    output = tmp_path / "study.zip"
    words = "bundle", "canteen", "--db", store.database.place, "--output", output
    for more, told in (
        (["--batch"], "wait for the wave to be closed"),
        (["--version", "pooled"], "expected one, since a bundle is of one frozen survey"),
        (["--wave", "7"], "wave: expected one of 1, got 7"),
    ):
        result = run(*words, *more)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert told in result.stderr
    assert run(*words, "--license", "my own").exit_code == 2
    assert not output.exists()
    # Estimates are shown in batches nevertheless, and a bundle can hold them alone.
    assert run(*words, "--batch", "--without-reports").exit_code == 0
    assert set(opened(output.read_bytes())) == MEMBERS - {"reports.csv"}
    assert run("verify", output).exit_code == 0
    last = list(store.log.entries())[-1]
    assert (last.what, last.subject) == ("bundle", f"canteen {survey.version}, wave 1")


def test_the_console_offers_the_same_bundle(
    store: Store, survey: Survey, answered: int, client: FlaskClient, bearer: dict[str, str]
) -> None:
    address = "/api/surveys/canteen/bundle.zip"
    assert client.get(address).status_code == 401
    page = client.get("/surveys/canteen/downloads", headers=bearer).text
    (link,) = re.findall(rf'<a href="({address}[^"]*)">Download everything</a>', page)
    served = client.get(unescape(link), headers=bearer)
    assert (served.status_code, served.content_type) == (200, "application/zip")
    assert "canteen-bundle-wave-1-" in served.headers["Content-Disposition"]
    assert served.data == bundled(store.database.place, "canteen", "--batch")
    store.surveys.open_wave("canteen")
    assert client.get(address, headers=bearer).status_code == 403
    assert (
        "Download everything" not in client.get("/surveys/canteen/downloads", headers=bearer).text
    )


def test_after_reports_are_deleted_the_rest_is_bundled(
    read: Callable[[str], Survey],
    survey_text: str,
    database: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = survey_text.replace(
        'id = "canteen"', 'id = "canteen"\ndelete_reports_after = 2999-01-01'
    )
    store = study(database, read(text), 120)
    store.access.add_token("let me in")
    for module in ("server.stored_results", "server.console.privacy"):
        monkeypatch.setattr(f"{module}.today", lambda: date(2999, 1, 2))
    client = create_app({"DATABASE": database}).test_client()
    headers = {"Authorization": "Bearer let me in"}
    served = client.get("/api/surveys/canteen/bundle.zip", headers=headers)
    assert set(opened(served.data)) == MEMBERS - {"reports.csv"}
    assert verify_bundle(served.data).reports == 120
    refused = run("bundle", "canteen", "--db", database, "--output", database.with_suffix(".zip"))
    assert "were kept until 2999-01-01" in refused.stderr


def test_verify_says_what_it_expects(tmp_path: Path) -> None:
    for name, content in (("none.zip", None), ("text.zip", b"no zip"), ("empty.zip", b"")):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        result = run("verify", tmp_path / name)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    (tmp_path / "folder").mkdir()
    assert "a folder" in run("verify", tmp_path / "folder").stderr


def test_bundling_an_open_wave_gives_a_warning(
    store: Store, survey: Survey, answered: int, tmp_path: Path
) -> None:
    store.surveys.open_wave("canteen")
    result = run("bundle", "canteen", "--db", store.database.place, "--output", tmp_path / "x.zip")
    assert result.exit_code == 0
    assert "another bundle would show which reports came in between" in result.stderr
