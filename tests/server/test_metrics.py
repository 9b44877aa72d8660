"""Metrics for a monitoring system: what they say, and to whom; see `test_shown.py` for when."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from server.app import create_app
from server.store import Store


def _told(client: FlaskClient, headers: dict[str, str]) -> dict[tuple[str, ...], float]:
    """Return the values by name and labels, as Prometheus' own parser reads them."""
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200
    assert response.content_type.startswith("text/plain; version=0.0.4")
    return {
        (sample.name.removeprefix("deniable_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


@pytest.mark.usefixtures("answered")
def test_metrics_say_how_the_field_and_the_collector_are(
    client: FlaskClient, store: Store, bearer: dict[str, str]
) -> None:
    store.studies.plan("canteen", 300)
    told = _told(client, bearer)
    assert told["reports", "canteen", "1"] == 120
    assert told["wave_open", "canteen", "1"] == 0
    assert told["respondents_planned", "canteen"] == 300
    assert told["healthy", "ok"] == 1
    assert told["disk_free_bytes",] % 2**30 == 0
    assert not any("last_backup" in name for name, *_ in told)
    store.surveys.open_wave("canteen", 2)
    told = _told(client, bearer)
    assert told["wave_open", "canteen", "2"] == 1
    assert told["reports", "canteen", "2"] == 0


def test_metrics_are_for_researchers_alone(
    client: FlaskClient, database: Path, bearer: dict[str, str]
) -> None:
    assert client.get("/metrics").status_code == 401
    respondents = create_app({"DATABASE": database, "PLANES": ["public"]}).test_client()
    assert respondents.get("/metrics", headers=bearer).status_code == 404
