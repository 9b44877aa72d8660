"""The auditors' program accepts sound surveys, and finds each fault of others."""

import copy
import http.server
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from limits import LONG

from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey
from server.store.surveys import described

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "docs/check_survey.py"


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("check_survey", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER = _load()


def _vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"tests/vectors/{name}.json").read_text())
    return found


OPENED = {
    case["open"]["survey"]["id"]: case["open"] for case in _vector("transcripts")["cases"]
} | {"limited": {**_vector("limits")["cases"][0], "wave": 1}}


def _of_vector(name: str) -> dict[str, Any]:
    """Return a sound survey of the vectors, to be changed."""
    data = copy.deepcopy(OPENED[name])
    return {"version": version_of({key: data[key] for key in ("survey", "randomizers")}), **data}


def _wrong(data: dict[str, Any]) -> list[str]:
    return [line for is_right, line in CHECKER.check(data, 2) if not is_right]


@pytest.mark.parametrize("name", OPENED)
def test_sound_surveys_are_accepted(name: str) -> None:
    assert _wrong(_of_vector(name)) == []


@pytest.mark.more
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_examples_are_accepted(path: Path) -> None:
    survey = read_survey(path)
    data = described(survey, 1, "open")
    # The survey is taken as it comes, with numbers as JSON has them.
    findings = list(CHECKER.check(json.loads(json.dumps(data)), 4))
    assert [line for is_right, line in findings if not is_right] == []
    for wave in range(1, 5):
        cost = sum(draw.spent(wave) for draw in survey.draws)
        assert f" {cost / 10**6:.6f}" in findings[-1][1]


def test_all_sound_randomizers_of_the_vectors_have_their_ratios() -> None:
    cases = [*_vector("randomizers")["cases"], *_vector("remembered")["cases"]]
    for name in ("window", "subset", "overlap", "bits", "shift", "table"):
        for case in _vector(name)["cases"]:
            true = CHECKER.fraction(case["ratio"])
            assert CHECKER.ratio_of(case["channel"], case["apart"]) == true
    for case in cases:
        randomizer = case["randomizer"]
        apart, channel = CHECKER.apart_of(randomizer["encoder"]), randomizer["channel"]
        if "permanent" in randomizer:
            true = CHECKER.constant(randomizer["permanent"], channel, apart, 1)
        elif "delta" not in randomizer:
            true = CHECKER.ratio_of(channel, apart)
        else:
            continue
        assert CHECKER.fraction(randomizer["ratio"]) == true


def test_waves_cost_what_devices_are_charged() -> None:
    for name in ("cases", "texts"):
        for case in _vector("remembered")[name]:
            for waves, cost, stable in case["spent"]:
                if waves < 6:
                    assert CHECKER.cost(case["randomizer"], {}, waves) == cost
                    assert (
                        CHECKER.cost(
                            case["randomizer"], {"stable": True, "no_answer": False}, waves
                        )
                        == stable
                    )
    for case in _vector("memories")["bits"]:
        for waves, second, first in case["spent"]:
            if waves < 6:
                assert CHECKER.cost(case["randomizer"], {"memory": 2}, waves) == second
                assert CHECKER.cost(case["randomizer"], {}, waves) == first


def test_encoders_fit_as_devices_find() -> None:
    found = _vector("fit")
    for case in found["cases"]:
        fits = [CHECKER.fits(encoder, case["question"]) for encoder in found["encoders"]]
        assert [place for place, one in enumerate(fits) if one] == case["fitting"]


def test_ids_of_options_with_another_meaning_are_reported() -> None:
    (ticked,) = (
        case
        for case in _vector("limits")["cases"]
        if case["sound"] and case["survey"]["questions"][1]["kind"] == "choices"
    )
    for name in ("none", "no-answer", "b"):
        data = copy.deepcopy(ticked)
        data["survey"]["questions"][1]["options"][0]["id"] = name
        whole = {key: data[key] for key in ("survey", "randomizers")}
        data |= {"version": version_of(whole), "wave": 1}
        assert _wrong(data) == ["q: an option's id has another meaning"]


def test_hashes_are_those_of_the_vectors() -> None:
    for case in _vector("versions")["cases"]:
        assert _wrong({**case, "wave": 1}) == []
    for number, text in (
        (1e-07, "1e-7"),
        (1.5e-12, "1.5e-12"),
        (1e-06, "0.000001"),
        (-0.5, "-0.5"),
    ):
        assert CHECKER.canonical([number, {"b": 1, "a": 12.0}]) == f'[{text},{{"a":12,"b":1}}]'


_WINDOW = {"name": "window", "inputs": 2, "width": 1, "near": 271, "far": 100}
_ONE = {"encoder": {"name": "index", "inputs": 2}, "channel": _WINDOW, "ratio": ["271", "100"]}
_SHIFT = {"name": "shift", "inputs": 3, "noise": [1, 3, 5, 3]}


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        ("every", "protocol", "deniable-2", "protocol: deniable-2"),
        ("every", "randomizers/other", _ONE, "drawn: "),
        ("every", "randomizers/must/channel/near", 2**31, "must: ratio is "),
        ("every", "randomizers/must/channel/near", 1.5, "must: a number is not whole"),
        ("every", "randomizers/must/channel/far", 0, "must: a number is not whole"),
        ("every", "randomizers/must/ratio", ["1_0", "1"], "must: a fraction is no two numbers"),
        ("every", "randomizers/must/ratio", ["1", "0"], "must: not a randomizer"),
        ("every", "randomizers/team/channel/zero", 2**32, "team: bits have no such weights"),
        ("every", "randomizers/20/channel/size", 9, "20: subset has no such weights"),
        ("every", "survey/questions/0/epsilon", 0.9, "must: epsilon is 0.9, not 1.0"),
        ("every", "survey/questions/0/no_answer", True, "must: the encoder does not fit"),
        ("every", "survey/questions/0/shows_if", ["=", "a", "b"], "must: being hidden shows"),
        ("every", "randomizers/must/encoder", {"name": "onehot", "inputs": 2}, "must: the channel"),
        ("every", "randomizers/team/encoder/name", "index", "team: the channel does not take"),
        ("every", "survey/questions/0/epsilon_forever", 3, "must: epsilon_forever is odd"),
        ("every", "survey/privacy/cap", 11.9, "all: 12.000000 24.000000; the cap of 11.9 allows 0"),
        ("panel", "randomizers/glad/forever", ["9", "1"], "glad: forever is "),
        ("panel", "randomizers/glad/ratio", ["9", "1"], "glad: ratio is "),
        ("panel", "randomizers/glad/permanent/inputs", 4, "glad: permanent is not as channel"),
        ("panel", "randomizers/glad/permanent/width", 2, "glad: permanent and channel are no"),
        ("panel", "survey/questions/3/epsilon_forever", 1.9, "glad: epsilon_forever is 1.9, not 2"),
        ("limited", "randomizers/q", {**_ONE, "encoder": _ONE["encoder"]}, "q: the encoder does"),
        ("limited", "randomizers/q/channel", {**_SHIFT, "noise": [1, 3, 5, 3]}, "q: shift has no"),
        ("limited", "randomizers/q/delta", ["1", "9"], "q: δ is 0"),
        (
            "limited",
            "randomizers/q/channel",
            {"name": "table", "inputs": 3, "rows": [[1]]},
            "q: table",
        ),
        (
            "limited",
            "randomizers/q/channel",
            {"name": "table", "inputs": 3, "rows": [[1, 2], [2, 1], [1, 1]]},
            "q: rows differ",
        ),
        ("tables", "randomizers/t1/ratio", ["11", "1"], "t1: ratio is 12"),
        ("tables", "randomizers/t2/each", ["39", "1"], "t2: each is 40"),
        ("tables", "survey/together/0/epsilon", 2.4, "t1: epsilon is 2.4, not 2.48"),
        ("tables", "survey/together/1/epsilon_each", 3.6, "t2: epsilon_each is 3.6, not 3.68"),
        ("tables", "survey/questions/1/epsilon", 3.5, "t2: d: epsilon is not epsilon_each"),
        ("tables", "survey/questions/1/no_answer", False, "t2: d: the encoder does not fit"),
        ("tables", "randomizers/t2/encoders/1/inputs", 4, "t2: channel does not take"),
        ("tables", "randomizers/t2/channel/weights", [1, 2], "t2: pattern has no such weights"),
    ],
)
def test_each_fault_is_found(name: str, path: str, value: Any, says: str) -> None:
    data = _of_vector(name)
    *parents, last = path.split("/")
    part: Any = data
    for key in parents:
        part = part[int(key)] if isinstance(part, list) else part[key]
    part[last if isinstance(part, dict) else int(last)] = value
    data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})
    (line,) = _wrong(data)
    assert line.startswith(says)


def test_another_version_and_too_large_a_delta_are_found() -> None:
    data = _of_vector("limited")
    data["survey"]["title"] = "T"
    (line,) = _wrong(data)
    assert line.startswith("version: ")
    loose = {**data["randomizers"]["q"], "ratio": ["27", "10"], "delta": ["1", "471"]}
    for delta, wrong in ((0.003, 0), (0.002, 1)):
        data["survey"]["questions"][1]["delta"] = delta
        data["randomizers"]["q"] = loose
        data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})
        assert len(_wrong(data)) == wrong


def _run(*words: str) -> tuple[int, str]:
    call = [sys.executable, "-I", "-S", str(PROGRAM), *words]
    done = subprocess.run(call, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture
def address(client: FlaskClient, survey: Survey) -> Iterator[str]:
    page = client.get(f"/s/{survey.id}").data

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/s/{survey.id}#secret"
        server.shutdown()
        thread.join()


def test_a_page_is_checked_where_it_is_served_and_where_it_was_saved(
    address: str, client: FlaskClient, survey: Survey, tmp_path: Path
) -> None:
    code, fetched = _run(address)
    assert code == 0
    assert f"ok    version: {survey.version}" in fetched
    saved = tmp_path / "page.html"
    page = client.get(f"/s/{survey.id}").get_data(as_text=True)
    saved.write_text(page)
    assert _run(str(saved)) == (0, fetched)
    saved.write_text(page.replace('"near": ', '"near": 1'))
    code, told = _run(str(saved), "--waves", "1")
    assert code == 1
    assert "WRONG" in told
    saved.write_text("<p>Nothing")
    code, told = _run(str(saved))
    assert code == 2
    assert told.startswith(f"{saved}: expected a survey of deniable")
