"""Check the command `decode`: its table, its messages, and its exit codes."""

import csv
import io
import json
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from analysis.estimate.rappor_files import RapporParams, google_bloom, map_row
from server.commands.decode import decode_

PARAMS = RapporParams(k=16, h=2, m=32, p=0.25, q=0.75, f=0.25)
SHARES = {"apple": 0.4, "pear": 0.3, "-fig": 0.2}
COLUMNS = (
    "string,estimate,std_error,proportion,prop_std_error,prop_low_95,prop_high_95,p_value,detected"
)
PEOPLE = 100_000


def run(*arguments: object) -> Result:
    @click.group()
    def main() -> None:
        pass

    main.add_command(decode_)
    return CliRunner().invoke(main, ["decode", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    """Write reports of people.

    A tenth have the value "plum", which is not one of three candidates.
    """
    rng = np.random.default_rng(1)
    counts = []
    for cohort, people in enumerate(rng.multinomial(PEOPLE, np.full(32, 1 / 32))):
        of_each = rng.multinomial(people, [*SHARES.values(), 0.1])
        ones = np.zeros(16, dtype=int)
        for value, number in zip([*SHARES, "plum"], of_each, strict=True):
            ones[list(set(google_bloom(value, cohort, 16, 2)))] += number
        kept = rng.binomial(ones, 0.875) + rng.binomial(people - ones, 0.125)
        counts.append([people, *(rng.binomial(kept, 0.75) + rng.binomial(people - kept, 0.25))])
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n16,2,32,0.25,0.75,0.25\n")
    with (tmp_path / "counts.csv").open("w", newline="") as file:
        csv.writer(file).writerows(counts)
    with (tmp_path / "map.csv").open("w", newline="") as file:
        candidates = ["banana", *SHARES, "cherry"]
        csv.writer(file).writerows(map_row(value, PARAMS) for value in candidates)
    names = ("params", "counts", "map")
    return [part for name in names for part in (f"--{name}", tmp_path / f"{name}.csv")]


def test_decode_prints_exactly_the_columns_of_the_original(files: list[object]) -> None:
    result = run(*files)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == COLUMNS
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["string"] for row in rows[:3]] == ["apple", "pear", "'-fig"]
    assert [row["detected"] for row in rows] == ["yes"] * 3 + ["no"] * 2
    for row, share in zip(rows, [*SHARES.values(), 0, 0], strict=True):
        # Standard errors are near 0.005; each is off by 4 with probability 6e-5.
        assert abs(float(row["proportion"]) - share) < 4 * float(row["prop_std_error"])
        assert 0 <= float(row["prop_low_95"]) < float(row["prop_high_95"]) <= 1
        assert float(row["estimate"]) == pytest.approx(PEOPLE * float(row["proportion"]), rel=1e-8)
    assert "3 of 5 strings detected; on average about 5 % of them are false" in result.stderr
    assert "each one misses it in 3 % (Benjamini-Yekutieli)" in result.stderr
    assert "strings that are not in the map: " in result.stderr


def test_json_is_the_same_table(files: list[object]) -> None:
    rows = json.loads(run(*files, "--json").stdout)
    assert ",".join(rows[0]) == COLUMNS
    assert [row["string"] for row in rows[:3]] == list(SHARES)


def test_the_detected_have_wider_intervals_and_can_be_printed_alone(files: list[object]) -> None:
    every = json.loads(run(*files, "--json").stdout)
    assert json.loads(run(*files, "--json", "--detected").stdout) == every[:3]
    for row in every[:3]:
        # 3 of 5 are chosen, so each level is 97 %, with 2.170 instead of 1.960 standard errors.
        width = row["prop_high_95"] - row["prop_low_95"]
        assert width == pytest.approx(2 * 2.170 * row["prop_std_error"], rel=1e-3)


def test_messages_state_the_promise_of_the_options(files: list[object]) -> None:
    result = run(*files, "--any-false", "0.01", "--level", "0.9")
    assert "any is false is at most 1 % (Bonferroni)" in result.stderr
    assert "prop_low_90,prop_high_90" in result.stdout
    assert "about 20 % of them" in run(*files, "--false-discoveries", "0.2").stderr
    repeated = json.loads(run(*files, "--json", "--reports-per-person", "10").stdout)
    alone = json.loads(run(*files, "--json").stdout)
    assert repeated[0]["prop_std_error"] > 1.1 * alone[0]["prop_std_error"]


def test_a_bad_file_is_one_line_and_exit_1(files: list[object]) -> None:
    counts = Path(str(files[3]))
    counts.write_text(counts.read_text().replace(",", ",-", 1))
    result = run(*files)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{counts}: line 1, column 2: expected a whole number, 0 or more, got" in result.stderr
    assert result.stderr.count("\n") == 1


def test_wrong_usage_is_exit_2(files: list[object]) -> None:
    wrongs = ["--false-discoveries", "0"], ["--any-false", "nan"]
    for wrong in (*wrongs, ["--level", "1"], ["--reports-per-person", "0.5"]):
        assert run(*files, *wrong).exit_code == 2
    assert run("--params", files[1]).exit_code == 2
    assert run(*files[:5], "no-such-file.csv").exit_code == 2
