"""Vectors of the second protocol of memories, and of the costs by the first one."""

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import devices
import samples

from analysis.core.domain import NO_ANSWER, Categories, Domain, Sets, Texts
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import compiled
from analysis.survey.freeze import freeze, thaw
from analysis.survey.survey import Survey, spent_on, version_of

#: Mechanisms of bits, and numbers of waves.
BITS: list[tuple[str, Domain, tuple[int, ...]]] = [
    ("oue", Categories(("yes", "no")), (0, 1, 2, 3, 5, 12, 13)),
    ("sue", Categories(("a", "b", NO_ANSWER)), (2, 3, 6, 14)),
    ("oue", Categories(tuple(f"v{value}" for value in range(9))), (2, 4, 5, 7)),
    ("multihot", Sets(("a", "b"), 2, False), (2, 3, 12)),
    ("multihot", Sets(("a", "b", "c", "d", "e"), 4, True), (2, 3, 6, 12, 13)),
    ("rappor", Texts(("a", "b"), 12, True), (2, 6, 12)),
]
#: The differences between versions of `panel`: labels of a fact, the heading, a note, a matrix'
#: help.
LABELS = [
    ("Here", "There", "Now", "Think back.", "At work."),
    ("There", "Here", "Now", "Think back.", "At work."),
    ("Here", "There", "Last year", "Think of \u00e9t\u00e9.", "At home."),
]
#: Which of these versions is answered in which wave.
ORDERS = [(0, 0, 0), (0, 1, 0, 1), (1, 2, 0)]


def memories() -> dict[str, Any]:
    """Return vectors of the second protocol: digests, costs of waves of bits, and prices."""
    bits: list[dict[str, Any]] = []
    for name, domain, waves in BITS:
        one = compiled(MECHANISMS[name], domain, Fraction(1), {}, Fraction(2))
        spent = [[n, one.spent(n), one.spent(n, protocol=1)] for n in waves]
        bits.append({"randomizer": one.to_json(), "spent": spent})
    digests, prices = [], []
    for first in (False, True):
        versions = [freeze(samples.panel(*labels)) for labels in LABELS]
        if first:
            versions = [_of_first_protocol(one) for one in versions]
        for survey in versions:
            known = {one.id: [one.digest.hex(), one.meaning] for one in survey.questions}
            digests.append({**survey.to_json(), "digests": known})
        for order in ORDERS:
            rows = []
            for n, place in enumerate(order):
                counts = Counter(order[: n + 1])
                so_far = [(versions[one], times) for one, times in counts.items()]
                rows.append([place, spent_on(so_far), spent_on(so_far, stable=True)])
            prices.append({"versions": [one.to_json() for one in versions], "waves": rows})
    bits += devices.few_bits()
    return {"bits": bits, "digests": digests, "prices": prices}


def _of_first_protocol(survey: Survey) -> Survey:
    """Return the survey as it was frozen before memories had a name."""
    data = json.loads(json.dumps(survey.to_json()))
    for question in data["survey"]["questions"]:
        question.pop("memory", None)
    return thaw(data, version_of(data))
