"""The choices of questions of Qualtrics: options, points or rows, and all that is said of them."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import Change, lost
from server.forms.form import Asked
from server.forms.json_file import items, table
from server.forms.qualtrics.logic import bare, shortened, words

#: The keys of choices; those that are carried forward begin with an x.
_CHOICE = re.compile(r"x?\d+", re.ASCII)
#: Texts that the tool inserts, other than earlier answers.
_INSERTED = re.compile(r"\$\{(?!q://)[^{}]{1,100}\}")
#: Words of Qualtrics for what is switched on.
_ON = ("true", "on", "yes", "1")


@dataclass(frozen=True)
class Choice:
    """An option, a point or a row: its id, its code, its text, and its table in the source."""

    key: str
    value: str
    text: Any
    part: Mapping[str, Any]
    can_type: bool

    @property
    def label(self) -> str:
        return texts.first(self.text)


def is_on(value: Any) -> bool:
    """Return whether a setting is switched on."""
    return str(value).lower() in _ON


class Wording:
    """Reads the texts of questions in the form's languages, and in those that are left out.

    `codes` has the codes of all languages, whose texts the survey's row answers for.
    """

    def __init__(self, languages: texts.Languages, codes: Collection[str]) -> None:
        self.languages = languages
        self._codes = codes

    def text(
        self, question: Mapping[str, Any], part: Callable[[Mapping[str, Any]], Any]
    ) -> tuple[Any, list[Change]]:
        """Return a part of a question in all languages, and what is different from the source."""
        others = table(question.get("Language"))
        spoken = {code: part(table(others[code])) for code in self._codes if code in others}
        given = {**spoken, next(iter(self.languages.tags)): part(question)}
        known = {code: text for code, text in given.items() if isinstance(text, str)}
        text, changes = self.languages.text(
            {code: _INSERTED.sub("…", one) for code, one in known.items()}
        )
        found = [
            one for code in self.languages.tags for one in _INSERTED.findall(known.get(code, ""))
        ]
        if found:
            names = ", ".join(dict.fromkeys(found))[:100]
            changes.append(lost(f"what the source inserts into its text ({names}) is left out"))
        return text, changes

    def choices(
        self, asked: Asked, question: Mapping[str, Any], key: str = "Choices"
    ) -> list[Choice]:
        """Return the choices in the order of the source, and note what is different in them.

        Codes belong to the answers of a matrix, and otherwise to the choices. If two choices share
        a code, their ids take the place of all codes.
        """
        parts = _tables(question, key)
        order = _order(asked, question, key)
        advanced = table(table(question.get("Randomization")).get("Advanced"))
        hidden = {str(one) for one in items(advanced.get("Undisplayed"))}
        keys = [*dict.fromkeys(one for one in order if one in parts)] or [*parts]
        unseen = [str(parts[one].get("Display")) for one in keys if one in hidden]
        if unseen:
            keys = [one for one in keys if one not in hidden]
            asked.look(f"{', '.join(map(bare, unseen))[:100]} is left out, which is never shown")
        recoded: dict[str, Any] = {}
        if key == "Answers" or "Answers" not in question:
            given = table(question.get("RecodeValues"))
            recoded = {one: given[one] for one in given if _CHOICE.fullmatch(one)}
        codes = [str(recoded.get(one, one)) for one in keys]
        _look_at_analyses(asked, question)
        twice = sorted(code for code, number in Counter(codes).items() if number > 1)
        if twice:
            told = f"the code {', '.join(twice)[:60]} stands for several options"
            asked.look(
                f"{told}: the numbers of the options in the source are used instead of codes"
            )
        found = []
        for one, code in zip(keys, keys if twice else codes, strict=True):
            text, changes = self.text(question, partial(_display, key, one))
            if text is None and len(keys) > 1:
                # For example, an image has no text.
                asked.lose(f"the label of its option {one} has no text")
            asked.changes += [change for change in changes if change not in asked.changes]
            can_type = is_on(parts[one].get("TextEntry"))
            text = text or self.languages.same(one)
            found.append(Choice(one, code, text, parts[one], can_type))
        return found

    def labels(self, asked: Asked, question: Mapping[str, Any]) -> list[Any]:
        """Return the labels along a slider, or those of the ends of a scale, from left to right."""
        for key in ("Labels", "ColumnLabels", "NumericLabels"):
            told = [
                self.text(question, partial(_display, key, one)) for one in _tables(question, key)
            ]
            if any(text for text, _ in told):
                asked.changes += [change for _, changes in told for change in changes]
                return [text for text, _ in told]
        return []


def _look_at_analyses(asked: Asked, question: Mapping[str, Any]) -> None:
    """Note which choices analyses leave out; the names of columns say nothing."""
    for names in (table(question.get(key)) for key in ("VariableNaming", "ChoiceDataExportTags")):
        for one in names:
            if _CHOICE.fullmatch(one):
                names[one]
    used = table(question.get("AnalyzeChoices"))
    unused = [one for one in used if _CHOICE.fullmatch(one) and not is_on(used[one])]
    told = f"analyses of the source leave out its option {', '.join(unused)}"
    if unused and all(told != change.words for change in asked.changes):
        asked.look(told)


def carried(question: Mapping[str, Any]) -> str:
    """Return which choices of another question a question has, too; "" if none."""
    given = table(question.get("DynamicChoices"))
    told = [str(given[key]) for key in ("DynamicType", "Type", "Locator") if given.get(key)]
    return " ".join(told)


def lose_conditions(asked: Asked, choices: Sequence[Choice]) -> None:
    """Note which options are shown on conditions, since all people see all options here."""
    for choice in choices:
        logic = choice.part.get("DisplayLogic")
        if logic:
            asked.lose(
                f"the condition {shortened(words(logic))} of its option {choice.label} is left out"
            )


def lose_typed(asked: Asked, choices: Sequence[Choice]) -> None:
    """Note that nobody can write beside some choices."""
    names = ", ".join(f"“{choice.label}”" for choice in choices if choice.can_type)
    if names:
        asked.lose(f"what is written beside {names[:100]} is left out")


def excluding(choices: Sequence[Choice]) -> list[str]:
    """Return the values of the options that exclude all others."""
    return [one.value for one in choices if is_on(one.part.get("ExclusiveAnswer"))]


def set_order(
    asked: Asked, question: Mapping[str, Any], what: str, stays: Collection[str] | None = None
) -> None:
    """Let options come in a random order, or note that they do not, or that some are not drawn.

    Parameters
    ----------
    what : str
        What the choices are, such as "rows".
    stays : collection of str, optional
        The ids of choices that the page does not move; None if it moves none of them.
    """
    given = table(question.get("Randomization"))
    kind = str(given.get("Type") or "None")
    advanced = table(given.get("Advanced"))
    drawn, number = [
        advanced.get(key) or given.get(key) for key in ("RandomSubSet", "TotalRandSubset")
    ]
    order = {str(one) for one in items(advanced.get("FixedOrder"))}
    fixed = {one for one in order if _CHOICE.fullmatch(one)}
    moved = items(advanced.get("RandomizeAll")) + items(advanced.get("ScaleReversal"))
    is_all = kind == "All" or (
        kind == "Advanced" and bool(moved) and "{~ScaleReversal~}" not in order
    )
    if kind == "None":
        return
    if drawn or number:
        asked.lose(f"everybody sees all of its {what}, not {number or 'some'} of them at random")
    elif stays is not None and is_all and fixed <= {*stays}:
        asked.keys["random_order"] = True
    else:
        beside = f", of which {len(fixed)} keep their places" if fixed else ""
        asked.lose(
            f"its {what} stand in one order, while the source shuffles them ({kind}{beside})"
        )


def _tables(question: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Return the tables of choices or labels by their ids; those of a list begin with 0."""
    given = question.get(key)
    if isinstance(given, list):
        return {str(at): table(one) for at, one in enumerate(given)}
    parts = table(given)
    return {one: table(parts[one]) for one in parts if _CHOICE.fullmatch(one)}


def _order(asked: Asked, question: Mapping[str, Any], key: str) -> list[str]:
    """Return the ids of choices in their order, and note the headings of groups of choices."""
    if key == "Answers":
        return [str(one) for one in items(question.get("AnswerOrder"))]
    order = [str(one) for one in items(question.get("ChoiceOrder"))]
    groups = table(question.get("ChoiceGroups"))
    within = {one: table(groups[one]) for one in groups if one.startswith("cg_")}
    if not within:
        return order
    labels = [bare(one.get("GroupLabel")) for one in within.values()]
    asked.lose(f"the headings above groups of its options are left out: {', '.join(labels)[:100]}")
    inner = {key: items(one.get("ChoiceGroupOrder")) for key, one in within.items()}
    shown = [inner.get(str(one), [one]) for one in items(question.get("ChoiceGroupOrder"))]
    return [*(str(one) for each in shown for one in each), *order]


def _display(key: str, choice: str, question: Mapping[str, Any]) -> Any:
    """Return the text of a choice, in the language of this table."""
    given = question.get(key)
    if isinstance(given, list):
        return table(given[int(choice)]).get("Display") if int(choice) < len(given) else None
    return table(table(given).get(choice)).get("Display")
