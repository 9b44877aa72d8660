"""Studies that made-up people answered, and their bundles."""

import io
import zipfile
from hashlib import sha256

import numpy as np
from command_line import run

from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from server.deliver import to_store
from server.store import Place, Store


def study(database: Place, survey: Survey, people: int) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    answers = made_up_answers(survey, people, np.random.default_rng(1))
    to_store(store, survey.id, payloads(survey, answers, 1, seed=1), lambda _: None)
    store.surveys.close_waves(survey.id)
    return store


def bundled(database: Place, survey_id: str, *more: object) -> bytes:
    output = database.parent / "study.zip"
    output.unlink(missing_ok=True)
    result = run("bundle", survey_id, "--db", database, "--output", output, *more)
    assert result.exit_code == 0, result.output
    assert sha256(output.read_bytes()).hexdigest() in result.stderr
    written: bytes = output.read_bytes()
    return written


def opened(data: bytes) -> dict[str, bytes]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    return {name: archive.read(name) for name in archive.namelist()}
