"""The published description of the API is true of the routes, the wire, and a running server."""

import json
import os
import re
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from limits import LONG, MOMENT
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.clock import today
from server.deliver import to_store
from server.intake.wire import STATUS
from server.openapi import document
from server.store import Store

ROOT = Path(__file__).parent.parent.parent
NIGHT = {
    "where": "Blue",
    "drove": "yes",
    "tried": "pills",
    "safe": "4",
    "ride": "2",
    "spent": "30",
    "matters": "",
}


def _validator(name: str) -> OAS31Validator:
    components = document()["components"]
    return OAS31Validator({"$ref": f"#/components/schemas/{name}", "components": components})


def _refusals(operation: dict[str, Any]) -> dict[str, int]:
    """Return each word in which an operation's problems can end, with its status."""
    found = {}
    for status, response in operation["responses"].items():
        problem = response["content"].get("application/problem+json")
        for kind in problem["schema"]["properties"]["type"]["enum"] if problem else ():
            found[kind.removeprefix("urn:deniable:problem:")] = int(status)
            assert problem["schema"]["properties"]["status"] == {"const": int(status)}
    return found


def test_the_description_is_openapi(client: FlaskClient) -> None:
    served = client.get("/api/openapi.json")
    assert served.content_type == "application/json"
    assert served.get_json() == document()
    OpenAPIV31SpecValidator(served.get_json()).validate()


def test_each_api_route_is_described_and_nothing_else(client: FlaskClient) -> None:
    routes = set()
    for rule in client.application.url_map.iter_rules():
        path = re.sub(r"<(\w+)>", r"{\1}", rule.rule)
        if not path.startswith(("/api/", "/healthz")):
            continue
        choice = re.search(r"<any\(([^)]*)\):\w+>", path)
        for form in choice[1].split(", ") if choice else [""]:
            name = rule.endpoint.rpartition(".")[2] + f"_{form}" * bool(form)
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                routes.add((path.replace(choice[0] if choice else "", form), method, name))
    described = {
        (path, method.upper(), operation["operationId"])
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert described == routes


TABLES = (
    *("estimates", "reports", "plausibility", "ledger", "log"),
    *("codebook", "label", "crosstab", "model", "predicted", "effects"),
    "calibrated",
)


def test_researchers_routes_need_one_of_three_proofs() -> None:
    proofs: list[dict[str, list[str]]] = [
        {scheme: []} for scheme in document()["components"]["securitySchemes"]
    ]
    for path, item in document()["paths"].items():
        for_researchers = bool(
            re.search(
                rf"/({'|'.join(TABLES)})\.(csv|json)$|/methods\.txt$|/bundle\.zip$|/reports\.\w+$",
                path,
            )
        )
        operation = item.get("get", item.get("post"))
        assert operation.get("security", []) == proofs * for_researchers


def test_it_is_served_where_respondents_are(database: Path, store: Store) -> None:
    for plane, status in (("public", 200), ("research", 404)):
        app = create_app({"DATABASE": database, "PLANES": [plane]})
        assert app.test_client().get("/api/openapi.json").status_code == status


def test_refusals_are_those_of_the_wire_and_of_the_protocol() -> None:
    paths = document()["paths"]
    intake = paths["/api/surveys/{survey_id}/reports"]["post"]
    assert _refusals(intake) == STATUS
    assert _refusals(paths["/api/surveys/{survey_id}"]["get"]) == {"not-found": 404}
    text = (ROOT / "docs/protocol.md").read_text()
    rows = re.findall(r"^\| (\d{3}) \| ([^|]*)\|", text, re.M)
    assert {status for status, _ in rows} == set(intake["responses"])
    assert {word: int(s) for s, words in rows for word in re.findall(r"`(.+?)`", words)} == STATUS


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.toml")), ids=lambda f: f.name)
def test_examples_are_served_as_described(file: Path, store: Store, client: FlaskClient) -> None:
    survey = read_survey(file)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    _validator("OpenSurvey").validate(client.get(f"/api/surveys/{survey.id}").get_json())


def test_a_question_has_the_keys_of_its_kind_and_no_others() -> None:
    survey = read_survey(ROOT / "examples/well-being.toml")
    validator = _validator("Question")
    for question in survey.questions:
        assert validator.is_valid(question.spec)
        required, _ = KINDS[question.spec["kind"]].schema()
        for key in required:
            without = {name: value for name, value in question.spec.items() if name != key}
            assert not validator.is_valid(without), key
        foreign = {"min": 1} if "min" not in required else {"longest": 3}
        assert not validator.is_valid(question.spec | foreign)


def test_what_devices_send_is_as_described(survey: Survey, make: Any) -> None:
    good = json.loads(json.dumps(make()))
    validator = _validator("Submission")
    assert validator.is_valid(good)
    assert validator.is_valid(good | {"token": "any", "work": 7})
    wrong: dict[str, Any]
    for wrong in (
        {"version": "0" * 63},
        {"rid": "AB" * 16},
        {"rid": "ab" * 16 + "\n"},
        {"wave": 0},
        {"wave": 1_000_001},
        {"wave": "1"},
        {"respondent": None},
        {"token": ""},
        {"token": "x" * 129},
        {"work": -1},
        {"work": 2**53},
        {"reports": {}},
        {"reports": {"meat": None}},
        {"reports": {"NO": 1}},
        {"truth": 1},
    ):
        assert not validator.is_valid(good | wrong), wrong


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.toml")), ids=lambda f: f.name)
def test_reports_of_every_channel_are_as_described(file: Path) -> None:
    validator, survey = _validator("Report"), read_survey(file)
    for question in survey.questions:
        longest = question.randomizer.longest()
        question.randomizer.check_report(longest, "longest")
        validator.validate(longest)
    for wrong in (-1, 0.5, 2**53, [1, 1], [-1], "", "AA=", None, True, {"cohort": 1}):
        assert not validator.is_valid(wrong), wrong


def _report(question: Question) -> dict[str, Any]:
    """Return the reports of symbols of a question in a list: 1.0 is an integer to JSON Schema."""
    cohorts, symbols = question.randomizer.shape
    longest = question.randomizer.longest()
    drawn: dict[str, Any] = {"enum": list(range(symbols))}
    if isinstance(longest, list):
        # Members rise, which JSON Schema cannot say.
        drawn = {"enum": [[*members] for members in combinations(range(symbols), len(longest))]}
    return drawn if cohorts == 1 else _exactly(cohort={"enum": list(range(cohorts))}, report=drawn)


def _exactly(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _narrowed(survey: Survey) -> dict[str, Any]:
    """Return the description for one survey, so that much of what is drawn from it is stored."""
    text = json.dumps(document()).replace("{survey_id}", survey.id)
    narrowed: dict[str, Any] = json.loads(text)
    for path in narrowed["paths"].values():
        path["parameters"] = [one for one in path.get("parameters", []) if one["in"] != "path"]
    fields = narrowed["components"]["schemas"]["Submission"]["properties"]
    fields["version"] = {"const": survey.version}
    fields["wave"] = {"enum": [1, 2]}
    fields["token"] = {"enum": [None, "any"]}
    # They must differ, which JSON Schema cannot say.
    fields["rid"]["pattern"], fields["respondent"]["pattern"] = "^a[0-9a-f]{31}$", "^b[0-9a-f]{31}$"
    fields["reports"] = _exactly(**{one.id: _report(one) for one in survey.questions})
    # They are listed, since to JSON Schema 1.0 is also an integer, which the wire refuses.
    narrowed["components"]["schemas"]["Link"]["properties"]["wave"] = {"enum": [1, 2]}
    # Wrong passwords are slowed down, so most would get 429, which says nothing.
    del narrowed["components"]["securitySchemes"]["password"]
    for path in narrowed["paths"].values():
        if "security" in path.get("get", {}):
            path["get"]["security"].remove({"password": []})
    return narrowed


#: Any whole number is accepted as work, so the numbers cannot be listed. But 1.0, an integer to
#: JSON Schema, is refused by the wire (test_fuzz.py has such numbers).
HOOKS = """
import schemathesis

@schemathesis.hook
def filter_body(context, body):
    return not (isinstance(body, dict) and isinstance(body.get("work"), float))
"""


@pytest.mark.more
def test_a_running_server_does_as_described(tmp_path: Path) -> None:
    """schemathesis sends allowed and forbidden requests, and checks the answers."""
    file, database = ROOT / "examples/night-life.toml", tmp_path / "x.db"
    survey = read_survey(file)
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    assert to_store(store, survey.id, payloads(survey, [NIGHT] * 5, 1, 1), print)["stored"] == 5
    (tmp_path / "narrowed.json").write_text(json.dumps(_narrowed(survey)))
    (tmp_path / "hooks.py").write_text(HOOKS)
    serve = [sys.executable, "-m", "server.cli", "serve", "--port", "0", "--db", str(database)]
    serve += ["--workers", "1"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said: dict[str, str] = {}
        for line in server.stdout:
            said |= re.findall(r"(serves on|token:) (\S+)", line)
            if "token:" in said:
                break
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", "narrowed.json"),
                *(
                    "--url",
                    said["serves on"],
                    "--header",
                    f"Authorization: Bearer {said['token:']}",
                ),
                *("--phases", "coverage,fuzzing", "--checks", "all", "--max-examples", "20"),
                # The time to draw examples depends on how busy the machine is.
                *("--suppress-health-check", "too_slow"),
                *("--generation-deterministic", "--continue-on-failure", "--no-color"),
            ],
            cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=MOMENT)
    assert done.returncode == 0, done.stdout + done.stderr + err
    assert re.search(r"Selected: (\d+)/\1\n  Tested: \1\n", done.stdout)
    assert "deniable: " not in err
    assert list(store.upkeep.discrepancies(today())) == []
    assert store.reports.kept(survey.id, 1) > 5
