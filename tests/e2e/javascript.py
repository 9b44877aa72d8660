"""What runs JavaScript of the served modules beside the vectors of the reference."""

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
#: What every script below can use: a tape of words, values as the modules hold them, and what a
#: call is refused with.
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


#: The modules that compute for some surveys alone; others belong to a survey's page.
_NAMES = sorted(
    path.name
    for path in (Path(__file__).parents[2] / "client/optional").glob("*.js")
    if "'../page/" not in path.read_text()
)
_LOAD = "(names) => Promise.all(names.map((one) => import(`/client/optional/${one}`)))"


def beside_modules(device: Device, collector: Collector) -> Page:
    """A page beside the modules, which runs none itself; those of some surveys alone are loaded."""
    page = device.visit(f"{collector.url}/healthz")
    page.evaluate(_LOAD, _NAMES)
    return page


def vector(name: str) -> dict[str, Any]:
    """One file of vectors."""
    found: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text())
    for key, cases in found.items():
        assert cases, f"{name}.json has no {key}"
    return found


def check_refused(refused: list[Any], results: list[str]) -> None:
    """Each is refused, and the browser names the same part as the reference does."""
    for case, got in zip(refused, results, strict=True):
        part = re.findall(r"\w+", case["error"])[0]
        assert re.match(rf"RangeError: [^{{]*\b{part}\b", got), f"{case}: {got}"


def taken(results: list[Any]) -> list[Any]:
    """The results, of which each must have used up its words."""
    assert all(left == 0 for _, left in results), "words were left"
    return [result for result, _ in results]
