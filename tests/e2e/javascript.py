"""Run JavaScript of the served modules beside the vectors of the reference."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from collector import Collector
from device import Device
from playwright.sync_api import Page

Run = Callable[[str, str, Any], Any]
VECTORS = Path(__file__).parent.parent / "vectors"
#: Common to every script below: a tape of words, values as the modules represent them, and the
#: error with which a call is refused.
TOOLS = """
  const tape = (list) => { const left = [...list]; return {
    next: () => { if (!left.length) throw new Error('no word left'); return left.shift(); },
    get left() { return left.length; } }; };
  const fraction = (text) => text.split('/').map(BigInt);
  const given = (value) => value === 'NaN' ? NaN
    : /^-?\\d+\\/\\d+$/.test(value) ? fraction(value) : value;
  const refuses = (action) => { try { action(); return 'accepted'; }
    catch (error) { return `${error.constructor.name}: ${error.message}`; } };
  const reduced = ([top, bottom]) => {
    let [a, b] = [top < 0n ? -top : top, bottom]; while (b) [a, b] = [b, a % b];
    return `${top / a}/${bottom / a}`; };
"""


#: The modules that compute for only some surveys; others belong to a survey's page.
_NAMES = sorted(
    path.name
    for path in (Path(__file__).parents[2] / "client/optional").glob("*.js")
    if "'../page/" not in path.read_text()
)
_LOAD = "(names) => Promise.all(names.map((one) => import(`/client/optional/${one}`)))"


def beside_modules(device: Device, collector: Collector) -> Page:
    """Return a page beside the modules, which runs none itself; optional modules are loaded."""
    page = device.visit(f"{collector.url}/healthz")
    page.evaluate(_LOAD, _NAMES)
    return page


def vector(name: str) -> dict[str, Any]:
    """Return one file of vectors."""
    found: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text())
    for key, cases in found.items():
        assert cases, f"{name}.json has no {key}"
    return found


def check_refused(refused: list[Any], results: list[str]) -> None:
    """Check that each is refused, and that the browser names the same part as the reference."""
    for case, got in zip(refused, results, strict=True):
        part = re.findall(r"\w+", case["error"])[0]
        assert re.match(rf"RangeError: [^{{]*\b{part}\b", got), f"{case}: {got}"


def taken(results: list[Any]) -> list[Any]:
    """Return the results, after checking that each has used up its words."""
    assert all(left == 0 for _, left in results), "words were left"
    return [result for result, _ in results]
