"""The tables that researchers download: estimates, reports, checks, what was spent, and the log."""

import re
from collections.abc import Iterable
from dataclasses import asdict, fields

from flask import Response, abort, request

from analysis.core.csv_json import pieces
from analysis.estimate.estimates import ESTIMATE_COLUMNS, estimate_rows
from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS
from analysis.estimate.totals import TOTAL_COLUMNS, totals, with_totals
from analysis.privacy.ledger import COLUMNS_BY, DELTA, ledger_rows
from analysis.study.codebook import codebook_table
from analysis.study.label import Fact, label
from analysis.study.methods import methods
from server import access
from server.console.blueprint import asked_view, asked_wave, blueprint
from server.extensions import the_store
from server.formats import FORMATS, written
from server.formats.table import Unwritable
from server.store.log import Entry
from server.stored_bundle import bundle_of
from server.stored_ledger import ledger_of_survey
from server.stored_results import Missing, StoredWave

#: The form of δ in an address: .001 or 1e-6, but nothing that is 0 or rounds to 1.
DELTAS = re.compile(r"0?\.0{0,20}[1-9][0-9]{0,14}|[1-9](\.[0-9]{1,14})?e-0?[1-9][0-9]?")


@blueprint.get("/api/surveys/<survey_id>/estimates.<any(csv, json):form>")
def get_estimates(survey_id: str, form: str) -> Response:
    view = asked_view(survey_id)
    wave = view.wave
    estimates = wave.estimates(view.level, view.interval)
    rows = estimate_rows(survey_id, wave.version, wave.number, estimates)
    columns: tuple[str, ...] = (*ESTIMATE_COLUMNS, "simulated")
    if view.population is not None:
        rows = with_totals(rows, totals(wave.survey, wave.tallies, estimates, view.population))
        columns += TOTAL_COLUMNS
    made_up = {"simulated": wave.simulated}
    text = pieces([row | made_up for row in rows], columns, form)
    return send_table(text, form, survey_id, _named("estimates", wave))


@blueprint.get("/api/surveys/<survey_id>/ledger.<any(csv, json):form>")
def get_ledger(survey_id: str, form: str) -> Response:
    by, delta = request.args.get("by", "respondent"), request.args.get("delta", str(DELTA))
    if by not in COLUMNS_BY:
        raise Missing(f"by: expected one of {', '.join(COLUMNS_BY)}, got {by[:20]!a}")
    if not DELTAS.fullmatch(delta):
        raise Missing(f"delta: expected a number above 0 and below 1, got {delta[:20]!a}")
    found = ledger_of_survey(the_store(), survey_id, by, float(delta), batch=True)
    rows = ledger_rows(found)
    what = "ledger" if by == "respondent" else f"ledger-by-{by}"
    return send_table(pieces(rows, COLUMNS_BY[by], form), form, survey_id, what)


@blueprint.get(
    "/api/surveys/<survey_id>/reports.<any(csv, json, xlsx, sav, dta, parquet, R, xml):form>"
)
def get_reports(survey_id: str, form: str) -> Response:
    wave = asked_wave(survey_id)
    (name,) = (name for name, each in FORMATS.items() if each.suffix == form)
    try:
        content = b"".join(written(wave, name))
    except Unwritable as error:
        abort(409, str(error))
    return _send(content, FORMATS[name].media, survey_id, f"{_named('reports', wave)}.{form}")


@blueprint.get("/api/surveys/<survey_id>/plausibility.<any(csv, json):form>")
def get_plausibility(survey_id: str, form: str) -> Response:
    rows = map(asdict, asked_wave(survey_id).plausibility())
    return send_table(pieces(rows, PLAUSIBILITY_COLUMNS, form), form, survey_id, "plausibility")


@blueprint.get("/api/surveys/<survey_id>/codebook.<any(csv, json):form>")
def get_codebook(survey_id: str, form: str) -> Response:
    wave = asked_wave(survey_id)
    made_up = {"simulated": wave.simulated if wave.shown else None}
    codes, columns = codebook_table(wave.survey, wave.pooled)
    text = pieces([code | made_up for code in codes], [*columns, *made_up], form)
    return send_table(text, form, survey_id, f"codebook-{wave.survey.version[:8]}")


@blueprint.get("/api/surveys/<survey_id>/label.<any(csv, json):form>")
def get_label(survey_id: str, form: str) -> Response:
    wave = asked_wave(survey_id)
    fieldwork = wave.fieldwork if wave.shown else None
    rows = map(asdict, label(wave.survey, fieldwork))
    text = pieces(rows, [field.name for field in fields(Fact)], form)
    return send_table(text, form, survey_id, f"label-{wave.survey.version[:8]}")


@blueprint.get("/api/surveys/<survey_id>/methods.txt")
def get_methods(survey_id: str) -> Response:
    view = asked_view(survey_id)
    wave = view.wave
    rows = wave.estimates(view.level, view.interval)
    text = methods(wave.survey, wave.number, rows, wave.fieldwork, view.population)
    access.record("download", f"{survey_id} methods.txt")
    return Response(f"{text}\n", content_type="text/plain; charset=utf-8")


@blueprint.get("/api/surveys/<survey_id>/bundle.zip")
def get_bundle(survey_id: str) -> Response:
    view = asked_view(survey_id)
    wave = view.wave
    wave.check_settled()
    kept = wave.kept_until is None
    content = bundle_of(wave, view.level, with_reports=kept)
    return _send(content, "application/zip", survey_id, f"{_named('bundle', wave)}.zip")


@blueprint.get("/api/log.<any(csv, json):form>")
def get_log(form: str) -> Response:
    columns = [field.name for field in fields(Entry)]
    text = pieces(map(asdict, the_store().log.entries()), columns, form)
    return send_table(text, form, "deniable", "log")


def _named(what: str, wave: StoredWave) -> str:
    version = "-".join(part.survey.version[:8] for part in wave.parts)
    return f"{what}-wave-{wave.number}-{version}"


def send_table(parts: Iterable[str], form: str, survey_id: str, what: str) -> Response:
    """Return a table as a file, once all of it is made, and note in the log that it was."""
    content = "".join(parts).encode()  # read to the end before anything is written
    return _send(content, FORMATS[form].media, survey_id, f"{what}.{form}")


def _send(content: bytes, media: str, survey_id: str, what: str) -> Response:
    """Return a file, and note in the log that it was given."""
    access.record("download", f"{survey_id} {what}")
    texts = "; charset=utf-8" * media.startswith(("text/", "application/json"))
    response = Response(content, content_type=f"{media}{texts}")
    response.headers["Content-Disposition"] = f'attachment; filename="{survey_id}-{what}"'
    return response
