"""The people whom an XLSForm asks are those whom the imported survey asks, for all answers.

pyxform makes the form that the tools run, and lxml evaluates its conditions (XPath 1.0).
"""

import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from pyxform.xls2xform import convert

from analysis.survey.document import parsed
from analysis.survey.logic import holds
from analysis.survey.survey_file import survey_of
from server.forms import read_form

pytestmark = pytest.mark.more

XFORMS = "http://www.w3.org/2002/xforms"
CHOICES = """
| choices | | | |
| | list_name | name | label |
| | yn | yes | Yes |
| | yn | no | No |
| | what | a | A |
| | what | b | B |
| | what | z | None of these |
"""
#: The conditions of two questions below `one` (yes or no), `many` (options, in a group) and `age`.
CONDITIONS = [
    "${one} = 'yes'",
    "${one} != 'yes'",
    "not(${one} = 'no')",
    "${one} = ''",
    "${one} != ''",
    "selected(${many}, 'a')",
    "selected(../../g/many, 'a') or selected(${many}, 'b')",
    "not(selected(${many}, 'z'))",
    "selected(${many}, 'z') and ${one}='no'",
    "count-selected(${many}) > 0",
    "count-selected(${many}) = 0",
    "${age} > 20",
    "${age} <= '21'",
    "20 < ${age} and ${age} < 22",
    "int(${age}) = 21",
    "int(${age}) != 21",
    "int(${age}) <= 21",
    "21 < int(${age})",
    'int(${age}) >= 21 or ${one} = "yes"',
    "${age} = ''",
    "${age} != 21",
    "true()",
    "(${one} = 'yes' or ${age} > 20) and not(selected(${many}, 'b'))",
]
ANSWERS = {
    "one": ["", "yes", "no"],
    "many": ["", "a", "b", "a b", "z"],
    "age": ["", "20", "21", "22"],
}


def form(condition: str) -> str:
    return f"""
| survey | | | | |
| | type | name | label | relevant | constraint |
| | select_one yn | one | One? | | |
| | begin_group | g | G | | |
| | select_multiple what | many | Many? | | |
| | end_group | | | | |
| | integer | age | Age? | | . >= 20 and . <= 22 |
| | begin_group | h | H | | |
| | select_one yn | last | Last? | {condition} | |
| | end_group | | | | |
{CHOICES}"""


def words(given: Any) -> list[str]:
    """Return the words of a value, of the first of some nodes."""
    first = given[0] if isinstance(given, list) and given else given
    return str(getattr(first, "text", first) or "").split()


#: The functions of XForms by ODK that are none of XPath.
FUNCTIONS = {
    (None, "selected"): lambda _, given, value: words(value)[0] in words(given),
    (None, "count-selected"): lambda _, given: len(words(given)),
    (None, "int"): lambda _, given: float("".join(words(given)) or "nan"),
}


def shown(xform: str, answers: Mapping[str, str]) -> bool:
    """Return whether a form asks its last question after these answers."""
    binds = etree.fromstring(xform.encode()).findall(f".//{{{XFORMS}}}bind")
    paths = {str(bind.get("nodeset")): bind.get("relevant") for bind in binds}
    data = etree.Element(next(iter(paths)).split("/")[1])
    for path in paths:
        place = data
        for name in path.split("/")[2:]:
            found = place.find(name)
            place = etree.SubElement(place, name) if found is None else found
        place.text = answers.get(path.rpartition("/")[2])
    (relevant,) = (relevant for path, relevant in paths.items() if path.endswith("/last"))
    (last,) = data.iter("last")
    return bool(etree.XPath(f"boolean({relevant})", extensions=FUNCTIONS)(last))


def answers() -> Iterator[dict[str, str]]:
    yield from (dict(zip(ANSWERS, each, strict=True)) for each in product(*ANSWERS.values()))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_same_people_are_asked(condition: str, tmp_path: Path) -> None:
    source = form(condition)
    imported = read_form(source.encode(), "form.md")
    survey = survey_of(parsed(imported.toml, "x"), "x", tmp_path)
    last = next(one for one in survey.spec["questions"] if one["id"] == "last")
    xform = convert(source, validate=False).xform
    for given in answers():
        ours = {name: "|".join(one.split()) for name, one in given.items()}
        # The page has an answer of its own for it.
        ours["many"] = ours["many"].replace("z", "none")
        asked = holds(last["shows_if"], ours) if "shows_if" in last else True
        assert asked == shown(xform, given), (given, tomllib.loads(imported.toml)["questions"][-1])
