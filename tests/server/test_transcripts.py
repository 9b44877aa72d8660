"""A server accepts the bytes of the protocol's vectors, and charges what devices do."""

import json
from collections import Counter
from pathlib import Path

from analysis.survey.freeze import thaw
from server.app import create_app
from server.intake.invitations import ISSUER
from server.store import Store

CASES = json.loads((Path(__file__).parents[1] / "vectors/transcripts.json").read_text())["cases"]


def test_every_kind_of_question_is_accepted_and_charged_as_by_devices(tmp_path: Path) -> None:
    database = tmp_path / "deniable.db"
    store = Store(database, create=True)
    for case in CASES:
        opened = case["open"]
        survey = thaw({key: opened[key] for key in ("survey", "randomizers")}, opened["version"])
        store.surveys.publish(survey)
        store.surveys.open_wave(survey.id, opened["wave"])
        if case["token"] is not None:
            store.invitations.add(survey.id, opened["wave"], [ISSUER.key(case["token"])])
    client = create_app({"DATABASE": database}).test_client()
    due = Counter[str]()
    for case in CASES:
        survey_id = case["open"]["survey"]["id"]
        for status in (201, 200):
            answer = client.post(
                f"/api/surveys/{survey_id}/reports",
                data=case["body"],
                content_type="application/json",
            )
            assert answer.status_code == status, answer.get_json()
        due[survey_id] += case["charge"]
    charged = store.database.query("SELECT survey, sum(charged) FROM ledger GROUP BY survey")
    assert dict(charged.fetchall()) == due


def test_reasons_to_refuse_come_in_the_order_of_the_protocol(tmp_path: Path) -> None:
    database = tmp_path / "deniable.db"
    store = Store(database, create=True)
    opened = CASES[-1]["open"]
    survey = thaw({key: opened[key] for key in ("survey", "randomizers")}, opened["version"])
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    client = create_app({"DATABASE": database}).test_client()
    # Each request has all faults from its own on.
    words = ["media-type", "cross-site", "not-found", "too-large", "malformed"]
    for fault, word in enumerate(words):
        answer = client.post(
            f"/api/surveys/{'none' if fault <= 2 else survey.id}/reports",
            data="x" * (70_000 if fault <= 3 else 1),
            content_type="text/plain" if fault == 0 else "application/json",
            headers={"Sec-Fetch-Site": "cross-site" if fault <= 1 else "none"},
        )
        assert answer.get_json()["type"] == f"urn:deniable:problem:{word}"
    page = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    assert f"in this order: {', '.join(f'`{word}`' for word in words)}" in page
