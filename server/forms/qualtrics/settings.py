"""What settings of blocks, ends and questions of Qualtrics say that no survey file can have."""

import re
from collections.abc import Mapping
from typing import Any

from server.forms.change import Change, lost
from server.forms.json_file import items, table
from server.forms.qualtrics.logic import bare

#: A program that does nothing, as the tool's editor of programs begins.
_IDLE = re.compile(r"(?:Qualtrics\.SurveyEngine\.addOn\w+\(function\(\w*\)\{\}\);?)*")
_REMARK = re.compile(r"/\*[^*]{0,200}\*/|//[^\n]{0,200}")


def unshuffled(options: Mapping[str, Any]) -> list[Change]:
    """Return what becomes of the random order of a block's questions."""
    advanced = table(table(options.get("Randomization")).get("Advanced"))
    drawn, number = items(advanced.get("RandomSubSet")), advanced.get("TotalRandSubset")
    for key in ("FixedOrder", "RandomizeAll"):
        advanced.get(key)
    mode = str(options.get("RandomizeQuestions") or "false")
    if mode in ("false", "False", "None"):
        return []
    some = f", instead of {number} of {len(drawn)} drawn ones" if drawn else ""
    told = f"its questions are not randomized ({mode})"
    return [lost(f"{told}: everybody is asked all of them{some}, in this order")]


def unlooped(options: Mapping[str, Any]) -> list[Change]:
    """Return what becomes of a block that is asked again and again."""
    mode = str(options.get("Looping") or "None")
    if mode in ("None", "false", "False"):
        return []
    given = table(options.get("LoopingOptions"))
    turns = table(given.get("Static"))
    fields = [table(turns[turn]) for turn in turns if turn.isdecimal()]
    texts = [" ".join(str(one[key]) for key in one if key.isdecimal()) for one in fields]
    what = ", ".join(filter(None, map(bare, texts)))[:200] or given.get("Locator")
    each = f"each of {what or 'several things'}"
    order, number = given.get("Randomization"), given.get("TotalRandSubset")
    drawn = [f"{number} of them at random"] if number else []
    how = ", ".join(["loop and merge", mode, *([str(order)] if order else []), *drawn])
    return [lost(f"its questions are asked once, not once for {each} ({how})")]


def unended(options: Mapping[str, Any]) -> list[Change]:
    """Return what is left out of the end of the survey, by what happens there."""
    sort = str(options.get("SurveyTermination") or "")
    message, address = (str(options.get(key) or "") for key in ("EOSMessage", "EOSRedirectURL"))
    found = []
    if message and sort not in ("DefaultMessage", "Redirect"):
        found.append(lost(f"the message at the end, {message} of a library, is left out"))
    if address.partition("//")[2] and sort not in ("DefaultMessage", "DisplayMessage"):
        found.append(lost(f"the page to which respondents go at the end is left out: {address}"))
    if sort not in ("", "DefaultMessage", "DisplayMessage", "Redirect"):
        found.append(lost(f"the end of the survey is another one ({sort[:60]})"))
    return found


def graded(data: Any) -> bool:
    """Return whether an answer has a score, and read it."""
    grades = table(table(data).get("Grades"))
    given = [str(grades[one]).strip() for one in grades if one.startswith("SC_")]
    return any(given)


def is_idle(program: Any) -> bool:
    """Return whether a program of a question does nothing."""
    return _IDLE.fullmatch(re.sub(r"\s", "", _REMARK.sub("", str(program or "")))) is not None


def pass_over_ids(kind: str, element: Mapping[str, Any]) -> None:
    """Read which authors see a note, and how often a randomizer led where."""
    content = table(element.get(kind)) if kind in ("NT", "BR") else {}
    given = table(content.get("UserStatuses")) if kind == "NT" else content
    for key in given:
        if key.startswith(("UR_", "FL_", "BL_")):
            given[key]
