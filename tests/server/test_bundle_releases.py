"""A bundle of another release is checked by its numbers, and programs and texts are not trusted."""

import json
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import bundle_programs
import pytest
from bundled import opened
from command_line import run
from test_bundle import MEMBERS, complaint, packed, zipped

from analysis import Study
from analysis.study.bundle import verify, verify_bundle
from analysis.study.bundle.members import PROGRAMS

__all__ = ["zipped"]
RELEASE = version("deniable")


def test_a_bundle_of_another_release_is_checked_by_its_numbers(
    zipped: bytes, tmp_path: Path
) -> None:
    members = opened(zipped)
    older = members["datapackage.json"].replace(b'"release": "', b'"release": "0.0.')
    members |= {"datapackage.json": older, "methods.md": b"Other words.\n"}
    (tmp_path / "older.zip").write_bytes(packed(members))
    result = run("verify", tmp_path / "older.zip")
    assert result.exit_code == 3, result.output
    assert "as it should be" not in result.stdout
    assert "its programs are unknown to this release: run none of them" in result.stderr
    known = {"reports.csv", "estimates.csv", "survey.json", "tallies.json"}
    assert result.stderr.split(": ")[-1].strip() == ", ".join(sorted(MEMBERS - known))
    with pytest.warns(UserWarning, match="its programs are unknown to this release"):
        Study.open(tmp_path / "older.zip")
    table = members["estimates.csv"].decode()
    heads, rows = table.split("\n", 1)
    # A column with another name is not compared, and of two with one name only one would be.
    doubled = [f"{line},0.5" for line in rows.splitlines()]
    for changed in (
        table.replace("0.", "1.", 1),
        table.replace("0.", "0_0.", 1),
        table.replace(",120,", ",121,", 1),
        heads.replace("estimate", "estimated", 1) + "\n" + rows,
        "\n".join([f"{heads},estimate", *doubled, ""]),
    ):
        told = complaint(packed(members | {"estimates.csv": changed.encode()}))
        assert told.startswith("estimates.csv: "), changed[:300]
    more = members["datapackage.json"].replace(b'"reports": 120', b'"reports": 121', 1)
    assert more != members["datapackage.json"]
    assert "expected 120 reports, as the tally of meat has, got 121" in complaint(
        packed(members | {"datapackage.json": more})
    )


def test_programs_of_a_known_release_are_compared_with_those_that_it_wrote(
    zipped: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = opened(zipped)
    older = members["datapackage.json"].replace(b'"release": "', b'"release": "0.0.')
    members |= {"datapackage.json": older, "README.md": b"Run recompute.R, please.\n"}
    hashes = {name: sha256(members[name]).hexdigest() for name in PROGRAMS}
    monkeypatch.setattr(verify, "programs_of_releases", lambda: {f"0.0.{RELEASE}": hashes})
    (tmp_path / "older.zip").write_bytes(packed(members))
    result = run("verify", tmp_path / "older.zip")
    assert (result.exit_code, "as it should be" in result.stdout) == (3, False)
    assert "its programs are those of that release" in result.stderr
    unknown = result.stderr.split(": ")[-1]
    assert "README.md" in unknown
    assert not any(name in unknown for name in PROGRAMS)
    Study.open(tmp_path / "older.zip")
    for name in PROGRAMS:
        told = complaint(packed(members | {name: members[name] + b"\nsystem('true')\n"}))
        assert told == f"{name}: expected the program of release 0.0.{RELEASE}, got another one"


def test_a_program_of_another_name_is_unknown(zipped: bytes) -> None:
    members = {name: text for name, text in opened(zipped).items() if name not in PROGRAMS}
    members |= {"analysis.R": b"system('true')\n"}
    package = json.loads(members["datapackage.json"].replace(b'"release": "', b'"release": "0.0.'))
    package["resources"] = [one for one in package["resources"] if one["path"] in members]
    package["resources"].append(package["resources"][0] | {"path": "analysis.R"})
    members["datapackage.json"] = json.dumps(package).encode()
    found = verify_bundle(packed(members))
    assert "analysis.R" in found.unknown
    assert not found.knows_programs


def test_columns_that_this_release_cannot_make_are_named(zipped: bytes) -> None:
    members = opened(zipped)
    older = members["datapackage.json"].replace(b'"release": "', b'"release": "0.0.')
    for name, column in (("estimates.csv", "p_value"), ("reports.csv", "true_answer")):
        head, *rows = members[name].decode().splitlines()
        text = "\n".join([f"{head},{column}", *(f"{row},1" for row in rows), ""])
        found = verify_bundle(packed(members | {"datapackage.json": older, name: text.encode()}))
        assert f"{name} ({column})" in found.unknown


def test_counts_are_compared_exactly(zipped: bytes) -> None:
    members = opened(zipped)
    changed = members["estimates.csv"].replace(b",120,", b",120.00001,", 1)
    assert changed != members["estimates.csv"]
    told = complaint(packed(members | {"estimates.csv": changed}))
    assert told.startswith("estimates.csv: expected what follows")


def test_the_programs_of_this_release_are_listed() -> None:
    assert bundle_programs.FILE.read_text() == bundle_programs.text()
