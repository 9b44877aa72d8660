"""What a monitoring system reads every minute, in the text format of Prometheus.

No number changes with a single report or request: whoever reads such a number often would learn
when somebody answered. So reports are counted as pages show them, in whole batches. There are no
counts of requests, and the free space of the disk is rounded.
"""

from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version

from flask import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from server.clock import today
from server.console.blueprint import blueprint
from server.console.surveys import shown_in
from server.extensions import the_store
from server.health import OK, the_status

#: Free space is given in whole gibibytes: a report takes some 300 bytes, so that reports change the
#: number once in millions.
_ROUNDED = 2**30


@blueprint.get("/metrics")
def get_metrics() -> Response:
    """Send all metrics; any account may read them, and a research token, too."""
    registry = CollectorRegistry()
    registry.register(_Metrics())
    return Response(generate_latest(registry), content_type="text/plain; version=0.0.4")


def _gauge(name: str, told: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"deniable_{name}", told, labels=labels)


class _Metrics(Collector):
    """The metrics as they are at this moment."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each metric with its values."""
        store, status = the_store(), the_status()
        release = _gauge("info", "The release of the program.", "version")
        release.add_metric([version("deniable")], 1)
        yield release
        healthy = _gauge("healthy", "1 if reports are taken and promises kept, else 0.", "status")
        healthy.add_metric([status], float(status == OK))
        yield healthy
        if (free := store.database.free()) is not None:
            room = _gauge("disk_free_bytes", "Free bytes of the disk, in whole gibibytes.")
            room.add_metric([], free // _ROUNDED * _ROUNDED)
            yield room
        if (last := store.backups.last()) is not None:
            made = _gauge("last_backup_timestamp_seconds", "When the last daily backup was made.")
            made.add_metric([], datetime.fromisoformat(last).timestamp())
            yield made
        waiting = _gauge("work_waiting", "Tables, models and audits that are not done yet.")
        waiting.add_metric([], store.work.waiting())
        yield waiting
        yield from self._of_waves()

    def _of_waves(self) -> Iterator[GaugeMetricFamily]:
        store, labels = the_store(), ("survey", "wave")
        reports = _gauge("reports", "Reports that are shown, in whole batches.", *labels)
        opened = _gauge("wave_open", "1 if a wave takes reports, else 0.", *labels)
        planned = _gauge("respondents_planned", "How many respondents are planned.", "survey")
        for current in store.surveys.all_current():
            survey = current.survey.id
            study = store.studies.get(survey)
            if study.is_trial or current.survey.is_pilot:
                continue
            over = current.state_on(today()) != "open"
            for wave, state in store.surveys.waves(survey).items():
                key = [survey, str(wave)]
                reports.add_metric(key, shown_in(survey, wave))
                opened.add_metric(key, float(state == "open" and not over))
            if study.planned:
                planned.add_metric([survey], study.planned)
        yield from (reports, opened, planned)
