"""Write the vectors that bind Python to JavaScript, and the schema of the protocol.

Usage: python tests/vectors/generate.py

The Python reference makes them and both languages read them; `tests/test_vectors.py` makes them
again and compares. A change of a vector is a change of protocol. In a vector, a fraction is written
"1/3", and a value that is not a number is "NaN".
"""

import json
import re
import sys
from fractions import Fraction
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from analysis.core.channels import CHANNELS
from analysis.core.channels.bits import Bits
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.window import Window
from analysis.core.encoders.categories import Hash
from analysis.core.encoders.grid import Grid
from analysis.core.encoders.several import Multihot
from analysis.core.epsilon import log_ratio
from analysis.core.memory import Memory, pseudonym
from analysis.core.randomizer import Randomizer
from analysis.core.texts import BEGINNING, NOTHING, WHOLE, normalized, text_words
from analysis.core.words import WORD, below, bernoulli, seeded_words
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import compiled
from analysis.survey.freeze import freeze
from analysis.survey.kinds import KINDS
from analysis.survey.logic import holds
from analysis.survey.survey import version_of
from server.openapi import protocol_schema

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))
import devices
import memories
import samples
import together
import whole_surveys
from tape import Tape, edges, error, given, refusal

HERE = Path(__file__).parent


def first_words(channel: Any, symbol: Any) -> list[list[int]]:
    """Return the first words for each edge of the first draw; for bits, of every draw."""
    if isinstance(channel, Window):
        total, inside = channel.total, channel.width * channel.near
        marks = [channel.near, inside, inside + channel.far, total]
    elif isinstance(channel, Subset):
        total = channel.include + channel.exclude
        marks = [channel.include, total]
    elif isinstance(channel, Bits):
        total, marks = channel.total, [channel.zero, channel.one, channel.total]
    else:
        row = {"shift": "noise", "overlap": "weights"}.get(channel.name, "rows")
        weights = getattr(channel, row)
        total, marks = (
            channel.total,
            list(accumulate(weights[symbol] if row == "rows" else weights)),
        )
    times = channel.inputs if isinstance(channel, Bits) else 1
    return [[word] * times for word in edges(total, marks)]


def channels() -> dict[str, Any]:
    """Return each channel's vectors by name: inputs and words to reports, ratios, and refusals."""
    found: dict[str, Any] = {}
    for name in CHANNELS:
        cases = []
        for number, (encoder, channel) in enumerate(samples.SAMPLES):
            if channel.name == name:
                cases.append(_channel_case(encoder, channel, number))
        sound, changes = samples.BROKEN[name]
        good = Randomizer(*sound).to_json()
        broken = [{**good, "channel": samples.changed(good["channel"], one)} for one in changes]
        found[name] = {"cases": cases, "refused": [refusal(one) for one in broken]}
    return found


def _channel_case(encoder: Any, channel: Any, number: int) -> dict[str, Any]:
    last = channel.inputs - 1
    symbols: list[Any] = sorted({0, channel.inputs // 2, last})
    if channel.takes_bits:
        symbols = [(0,), (last,)]
        if isinstance(encoder, Multihot):
            symbols.append(tuple(range(encoder.at_most)))
        if channel.ones is not None:
            symbols = [tuple(range(first, first + channel.ones)) for first in (0, 1)]
            symbols.append((*range(channel.ones - 1), last))
    draws = []
    for symbol in symbols:
        for place, start in enumerate([*first_words(channel, symbol), [], []]):
            tape = Tape(chain(start, seeded_words(channel.name, number, symbol, place)))
            report = channel.randomize(symbol, tape)
            draws.append({"symbol": symbol, "words": tape.taken, "report": report})
    whole = Randomizer(encoder, channel)
    whole.check()
    stated = whole.to_json()
    return {
        "channel": stated["channel"],
        "apart": encoder.apart,
        "ratio": stated["ratio"],
        "draws": draws,
    }


def encoders() -> dict[str, Any]:
    """Return values, cohorts and words to inputs; and values, cohorts and encoders to refuse."""
    cases, values, broken = [], [], []
    for encoder, good, bad in samples.ENCODED:
        whole = encoder_json(encoder)
        cohorts = encoder.cohorts or 1
        for value in good:
            starts = [[0], [WORD // 3], [WORD - 1], []] if isinstance(encoder, Grid) else [[]]
            for cohort in sorted({0, 1 % cohorts, cohorts // 2, cohorts - 1}):
                for start in starts:
                    tape = Tape(chain(start, seeded_words("encoder", str(value))))
                    symbol = encoder.encode(given(value, encoder), cohort, tape)
                    case = {"encoder": whole, "value": value, "cohort": cohort}
                    cases.append({**case, "words": tape.taken, "symbol": symbol})
        wrong: list[tuple[Any, Any]] = [(value, 0) for value in bad]
        if encoder.cohorts is not None:
            wrong += [(good[0], cohort) for cohort in (cohorts, -1, 0.5, "0", None, "NaN")]
        for value, cohort in wrong:
            arguments = given(value, encoder), given(cohort), iter(())
            message = error(partial(encoder.encode, *arguments))
            case = {"encoder": whole, "value": value, "cohort": cohort}
            values.append({**case, "error": message})
    channel = {"name": "window", "inputs": 3, "width": 1, "near": 3, "far": 1}
    for name, numbers in samples.UNSOUND:
        one = {"encoder": {"name": name, **numbers}, "channel": channel, "ratio": ["3", "1"]}
        broken.append(refusal(one))
    return {"cases": cases, "values": values, "refused": broken}


def encoder_json(encoder: Any) -> Any:
    """Return an encoder as it is sent."""
    channel: Any = (Bits if encoder.gives_bits else Window)(encoder.inputs, 1, 1, 2)
    if encoder.ones is not None:
        channel = Overlap(encoder.inputs, encoder.ones, 1, (1, 1))
    return Randomizer(encoder, channel).to_json()["encoder"]


def randomizers() -> dict[str, Any]:
    """Return what every mechanism compiles to, with ε, δ and draws; and tampered ones."""
    cases = []
    for domain, values in samples.DOMAINS:
        # A solver's design may change with its release; tables have vectors of their own.
        for mechanism in (one for name, one in MECHANISMS.items() if name != "optimal"):
            for epsilon in ("0.1", "1", "4") if mechanism.parameters is None else ("1",):
                if mechanism.fits(domain):
                    params = {key: samples.PARAMETERS[key] for key in mechanism.parameters or ()}
                    # By the first format, noise can have a δ.
                    for more in ({}, {"delta": 1e-6}) if "delta" in mechanism.heeds else ({},):
                        one = mechanism.compile(domain, Fraction(epsilon), params | more)
                        cases.append(_randomizer_case(one, values))
    tilted = Shift(5, (1, 2, 8, 40, 100, 40, 8, 2, 1))
    cases += [_randomizer_case(Randomizer(Grid(4, 5), tilted, limit), ["1/3"])
              for limit in (Fraction(3, 2), Fraction(50), Fraction(10**6))]  # fmt: skip
    loose = Randomizer(Hash(5, 2, 3), Window(3, 1, 4, 1))
    unreduced = {**loose.to_json(), "ratio": ["0012", "3"]}
    cases.append({**_randomizer_case(loose, [4]), "randomizer": unreduced})
    return {"cases": cases, "refused": [refusal(one) for one in samples.tampered()]}


def _randomizer_case(randomizer: Randomizer[Any, Any], values: list[Any]) -> dict[str, Any]:
    draws: list[dict[str, Any]] = []
    cohorts = randomizer.encoder.cohorts
    for value in values:
        starts = [[]] if cohorts is None else [[word] for word in edges(cohorts, [])]
        for start in starts:
            tape = Tape(chain(start, seeded_words("whole", str(value), len(draws))))
            report = randomizer.randomize(given(value, randomizer.encoder), tape)
            draws.append({"value": value, "words": tape.taken, "report": report})
    return {
        "randomizer": randomizer.to_json(),
        "epsilon": log_ratio(randomizer.stated_ratio),
        "delta": float(randomizer.delta),
        "charge": randomizer.charge,
        "draws": draws,
    }


def remembered() -> dict[str, Any]:
    """Return randomizers with a memory: costs of waves, and what two devices keep and send."""
    cases, texts = [], []
    for domain, values in [*samples.REMEMBERED, *samples.TEXTS]:
        for name, mechanism in MECHANISMS.items():
            if not mechanism.fits(domain) or name == "optimal":
                continue
            try:
                one = compiled(mechanism, domain, Fraction(1), {}, Fraction(5, 2))
            except ValueError:
                continue
            cases.append(_remembered_case(name, one, values))
    for domain, values in samples.TEXTS:
        for name in ("hashed-krr", "rappor"):
            if MECHANISMS[name].fits(domain):
                one = MECHANISMS[name].compile(domain, Fraction(1), {})
                texts.append(_remembered_case(name, one, values))
    good = cases[0]["randomizer"]
    broken = [
        {key: one for key, one in good.items() if key != "forever"},
        {key: one for key, one in good.items() if key != "permanent"},
        {**good, "forever": ["3", "1"]},
        {**good, "ratio": good["forever"]},
        {**good, "permanent": {**good["permanent"], "inputs": 4}},
        {**good, "permanent": {**good["permanent"], "width": 2}},
        {**good, "permanent": {**good["permanent"], "near": 1}},
        {**good, "permanent": {"name": "bits", "inputs": 3, "one": 2, "zero": 1, "total": 3}},
        {**good, "permanent": {"name": "shift", "inputs": 3, "noise": [1, 2, 1]}},
        {**good, "permanent": "window"},
        {**good, "delta": ["0", "1"]},
    ]
    return {"cases": cases, "texts": texts, "refused": [refusal(one) for one in broken]}


#: The id of the survey with memories.
_SURVEY = "work-2026"


def _remembered_case(name: str, one: Randomizer[Any, Any], values: list[Any]) -> dict[str, Any]:
    digest = bytes(range(32))
    draws = []
    for secret in ("00" * 32, "0123456789abcdef" * 4):
        for value in values:
            memory = Memory.of(bytes.fromhex(secret), _SURVEY, f"q-{name}", digest)
            tape = Tape(seeded_words("remembered", name, str(value)))
            report = one.randomize(given(value, one.encoder), tape, memory)
            case = {"secret": secret, "value": value, "words": tape.taken, "report": report}
            draws.append(case)
    waves = (0, 1, 2, 3, 5, 13) if one.stages else (0, 1, 3)
    return {
        "survey": _SURVEY,
        "question": f"q-{name}",
        "digest": digest.hex(),
        "randomizer": one.to_json(),
        # By the first protocol; `memories` has the second.
        "spent": [[n, one.spent(n, protocol=1), one.spent(n, stable=True)] for n in waves],
        "draws": draws,
    }


def texts() -> dict[str, Any]:
    """Return texts in the form in which they are compared, and the words for their hashes."""
    return {
        "normalized": [{"text": one, "normalized": normalized(one)} for one in samples.SPELLED],
        "words": [
            {"what": what, "text": text, "start": start, "words": text_words(what, text, start, n)}
            for what, text in ((NOTHING, ""), (WHOLE, "a"), (WHOLE, "größe 😀"), (BEGINNING, "a"))
            for start, n in ((0, 1), (7, 3), (2040, 8))
        ],
    }


def words() -> dict[str, Any]:
    """Return draws from words, with those that are drawn again."""
    uniform = []
    for total in (1, 2, 3, 10, 2**31 + 1, WORD - 1, WORD):
        limit = WORD - WORD % total
        for first in sorted({0, total - 1, min(limit, WORD - 1), limit - 1, WORD - 1}):
            tape = Tape([first, 12345, 7])
            uniform.append({"total": total, "result": below(total, tape), "words": tape.taken})
    coins = []
    for chance in ("0/1", "1/2", "1/3", "1/4294967296", "1/10000000000000000000", "9/10"):
        cut = int(Fraction(chance) * WORD)
        for first in (0, max(0, cut - 1), cut, WORD - 1):
            tape = Tape([first, 0, 5, 9])
            result = bernoulli(Fraction(chance), tape)
            coins.append({"chance": chance, "words": tape.taken, "result": result})
    return {"below": uniform, "bernoulli": coins}


def answers() -> dict[str, Any]:
    """Return answers as controls hold them, with their values, and invalid answers."""
    values, refused = [], []
    for question in samples.questions():
        texts = samples.NUMBERS if question["kind"] == "number" else samples.NAMES
        if question["kind"] == "text":
            texts = [*texts, *whole_surveys.longest(question["longest"]), "\ud800", "a\udc00"]
        for text in ["", "no-answer", *texts]:
            case = {"question": question, "answer": text}
            try:
                value = KINDS[question["kind"]].value(text, question)
            except ValueError as error:
                # Python writes 1e-07, and JavaScript writes 1e-7.
                expected = {"error": str(error)} if question["id"] != "tiny" else {}
                refused.append({**case, **expected})
                continue
            if isinstance(value, Fraction):
                value = f"{value.numerator}/{value.denominator}"
            values.append({**case, "value": value})
    return {"values": values, "refused": refused}


def logic() -> dict[str, Any]:
    """Return conditions with the answers for which they hold."""
    trees: list[list[Any]] = [
        ["=", "a", "yes"],
        ["!=", "a", "yes"],
        ["=", "a", "no-answer"],
        ["and", ["=", "a", "yes"], [">", "n", 18]],
        ["or", ["=", "a", "no"], ["<=", "n", 0.5]],
        ["not", ["or", ["<", "n", 5], [">=", "n", 10]]],
        ["=", "n", 5],
        ["!=", "n", 5],
        ["selected", "a", "yes"],
        ["not", ["selected", "a", "no-answer"]],
    ]
    given = [
        {"a": a, "n": n}
        for a in ("yes", "no", "no|yes", "no-answer", "")
        for n in ("", "5", "0.5", "19", "1e1")
    ]
    return {
        "cases": [
            {"condition": tree, "answers": one, "holds": holds(tree, one)}
            for tree in trees
            for one in given
        ],
        "shown": devices.shown(),
    }


def versions() -> dict[str, Any]:
    """Return frozen surveys and hashes, whose texts and numbers test canonical JSON."""
    cases = []
    for title in ("Plain", 'Ünïcode "quotes" \\ \u2028 \U0001f600 <b>&', {"en": "A", "fr": "B"}):
        questions = [
            {**question, "mechanism": {"name": samples.SERVED[question["kind"]]}}
            for question in samples.questions()
        ]
        spec = {"id": "v", "title": title, "privacy": {"cap": 12.5}, "questions": questions}
        cases.append(freeze(spec).to_json())
    return {"cases": [{**one, "version": version_of(one)} for one in cases]}


def pseudonyms() -> dict[str, Any]:
    """Return respondents' names in a survey, from their device's secret."""
    secrets = ["00" * 32, "0123456789abcdef" * 4]
    return {
        "cases": [
            {"secret": one, "survey": name, "respondent": pseudonym(bytes.fromhex(one), name)}
            for one in secrets
            for name in ("work-2026", "a")
        ]
    }


def everything() -> dict[str, Any]:
    """Return all vectors by the name of their file."""
    return {
        **channels(),
        "encoders": encoders(),
        "randomizers": randomizers(),
        "remembered": remembered(),
        "memories": memories.memories(),
        "texts": texts(),
        "words": words(),
        "answers": answers(),
        "logic": logic(),
        "versions": versions(),
        "together": together.together(),
        "pseudonyms": pseudonyms(),
        "fit": devices.fit(),
        "charges": devices.charges(),
        "limits": devices.limits(),
        "transcripts": devices.transcripts(),
    }


if __name__ == "__main__":
    for name, content in everything().items():
        text = json.dumps(content, indent=None, ensure_ascii=True, separators=(",", ":"))
        # A case in each line: short enough to read in a diff.
        (HERE / f"{name}.json").write_text(text.replace('},{"', '},\n{"') + "\n")
    schema = json.dumps(protocol_schema(), ensure_ascii=True, separators=(",", ":"))
    # A definition in each line.
    lines = re.sub(r'(?<=\})(,"[A-Z]\w+":)', r"\n\1", schema)
    (HERE.parents[1] / "docs/protocol.schema.json").write_text(lines + "\n")
