"""The survey flow of Qualtrics: which blocks are shown in which order, and to whom."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from server.forms.change import look, lost, refused
from server.forms.conditions import Untold, joined
from server.forms.form import Asked, Condition, Form, condition_of
from server.forms.json_file import items, table
from server.forms.qualtrics.choices import Wording, carried, is_on
from server.forms.qualtrics.kinds import REFUSED, Kinds
from server.forms.qualtrics.logic import bare, selected, shortened, words
from server.forms.qualtrics.settings import (
    graded,
    is_idle,
    pass_over_ids,
    unended,
    unlooped,
    unshuffled,
)
from server.forms.source import Given

_GOES_ON = "the survey cannot end early: people who would have left are asked what follows"
#: The most places of a survey where somebody leaves it, or skips questions, that are read: each
#: makes a condition of all questions behind it.
_MOST_LEAVINGS = 50


class Flow:
    """The elements of a file; its questions become items of the form, in the order of the flow."""

    def __init__(self, form: Form, wording: Wording) -> None:
        self.form = form
        self._wording = wording
        #: Elements with the places of their rows.
        self._elements: list[tuple[str, Given]] = []
        self._questions: dict[str, Mapping[str, Any]] = {}
        self._blocks: dict[str, Given] = {}
        self._seen: set[str] = set()
        #: The conditions under which each block is shown.
        self._led: dict[str, list[Condition]] = {}
        #: Who has not left the survey yet, and whether everybody has.
        self._staying: list[Condition] = []
        self._is_over = False
        self._leavings = 0

    def add(self, place: str, element: Given) -> None:
        """Add an element of the file, whose row is at this place if it is no question."""
        name = str(element.get("PrimaryAttribute"))
        if element.get("Element") == "SQ" and name not in self._questions:
            self._questions[name] = table(element.get("question"))
            self.form.claim(name, element)
            return
        self._elements.append((place, element))
        self.form.claim(place, element)
        if element.get("Element") == "BL":
            blocks = element.get("blocks")
            if isinstance(blocks, Mapping):
                blocks = [blocks[key] for key in blocks if key.isdecimal()]
            for at, block in enumerate(one for one in items(blocks) if isinstance(one, Given)):
                self._blocks.setdefault(str(block.get("ID", at)), block)

    def read(self) -> None:
        """Read what the flow shows, and report on everything else."""
        self._names = self._all_names()
        self._kinds = Kinds(self.form, self._wording, self._names)
        for place, one in self._elements:
            kind, name = str(one.get("Element", "")), str(one.get("PrimaryAttribute", ""))
            if kind == "FL":
                self.form.note(place, name, "flow")
                flow = table(one.get("flow"))
                flow.get("Type")
                self._follow(flow, "Flow", [], is_drawn=False)
            elif kind == "SQ":
                self.form.refuse(place, name, kind, "another question has its id")
            elif kind == "SO":
                self.form.note(place, name, kind, *unended(table(one.get("options"))))
            else:
                pass_over_ids(kind, one)
                self.form.note(place, name, {"BL": "blocks"}.get(kind, kind))
        if not any(one.get("Element") == "FL" for _, one in self._elements):
            for key in self._blocks:
                self._show(key, key, "block", [])
        for key, block in self._blocks.items():
            if key not in self._led:
                self._leave_out(key, block)
        for place in self._questions:
            self._refuse(place, "it is in no block")

    def _all_names(self) -> dict[str, str]:
        """Return the names of questions by their ids: their tags, where these differ."""
        trash = {
            place
            for block in self._blocks.values()
            if block.get("Type") == "Trash"
            for place in _asked_in(block)
        }
        tags = {place: str(one.get("DataExportTag")) for place, one in self._questions.items()}
        used = [tag for place, tag in tags.items() if place not in trash]
        return {
            place: tag if place not in trash and tag != "None" and used.count(tag) == 1 else place
            for place, tag in tags.items()
        }

    def _follow(
        self, flow: Mapping[str, Any], where: str, conditions: list[Condition], is_drawn: bool
    ) -> None:
        """Read the steps of a flow in their order, under the conditions of the branches around it.

        `is_drawn` says whether a randomizer around it decides who comes here.
        """
        for number, step in enumerate(map(table, items(flow.get("Flow")))):
            kind, place = str(step.get("Type", "")), f"{where}[{number}]"
            key, name = str(step.get("ID", "")), str(step.get("FlowID", ""))
            inside, draws = conditions, is_drawn
            self.form.claim(place, step)
            if kind in ("Block", "Standard") and key in self._led:
                self._widen(key, [*self._staying, *conditions])
                told = look("its questions are asked once, where it stood first")
                self.form.note(place, key, kind, told)
            elif kind in ("Block", "Standard") and key in self._blocks and not self._is_over:
                self._show(place, key, kind, [*self._staying, *conditions])
            elif kind == "Branch":
                logic = step.get("BranchLogic")
                found, changes = condition_of(words(logic), partial(self._kinds.tree, logic))
                inside = [*conditions, found]
                self.form.note(place, name, kind, *changes)
            elif kind == "Group":
                self.form.note(place, name, kind)
            elif kind in ("BlockRandomizer", "Randomizer"):
                draws = True
                parts, shown = str(len(items(step.get("Flow")))), str(step.get("SubSet") or "")
                some = (
                    f" instead of {shown} of its {parts} parts" if shown not in ("", parts) else ""
                )
                what = f"everybody is asked all of it{some}, in this order"
                told = lost(f"it is not randomized: {what}")
                self.form.note(place, name, kind, told)
            elif kind == "EndSurvey":
                self._end(step, place, conditions, is_drawn)
            else:
                self.form.refuse(place, name, kind, self._lacking(step, kind))
            self._follow(step, f"{place}.Flow", inside, draws)

    def _lacking(self, step: Mapping[str, Any], kind: str) -> str:
        """Return why a step has no counterpart."""
        if kind in ("Block", "Standard"):
            over = "the survey is over before it"
            return over if self._is_over else "its block is not in the file"
        why = REFUSED.get(kind, f"the step {kind[:20] or '(none)'} is not known here")
        data = [table(one) for one in items(step.get("EmbeddedData"))]
        names = [str(one.get("Field")) for one in data]
        values = [str(one.get("Value") or "") for one in data]
        told = [
            f"{name} = {value}" if value else name
            for name, value in zip(names, values, strict=True)
        ]
        return f"{why} ({', '.join(told)[:200]})" if told else why

    def _end(
        self, step: Mapping[str, Any], place: str, conditions: list[Condition], is_drawn: bool
    ) -> None:
        """Ask those who leave the survey here nothing more, if it is known who they are."""
        name, kind = str(step.get("FlowID", "")), "EndSurvey"
        ending = unended(table(step.get("Options")))
        self._leavings += 1
        is_known = all(one.tree for one in conditions) and not is_drawn
        if not is_known or self._leavings > _MOST_LEAVINGS:
            self.form.items.append(refused(place, name, kind, _GOES_ON, *ending))
            return
        told = "nobody who leaves here is asked more"
        self.form.note(place, name, kind, *ending, remark=told)
        if not conditions:
            self._is_over = True
            return
        tree = ["not", joined("and", [one.tree for one in conditions])]
        text = " and ".join(one.text for one in conditions)
        self._staying.append(Condition(tree, f"not ({text})"))

    def _widen(self, key: str, conditions: list[Condition]) -> None:
        """Ask the questions of a block if the flow leads to either of two places that show it."""
        before = self._led[key]
        if not before:
            return  # everybody is asked them
        if all(one.tree for one in conditions) and conditions:
            trees = [joined("and", [one.tree for one in each]) for each in (before, conditions)]
            text = " or ".join(
                " and ".join(one.text for one in each) for each in (before, conditions)
            )
            wider = [Condition(joined("or", trees), text)]
        else:
            wider = []
        asked = {*_asked_in(self._blocks[key])}
        for item in self.form.items:
            if isinstance(item, Asked) and item.row.split(".")[0] in asked:
                item.conditions = [*wider, *item.conditions[len(before) :]]
        self._led[key] = wider

    def _show(self, place: str, key: str, kind: str, conditions: list[Condition]) -> None:
        """Read the questions of a block, which is shown under these conditions."""
        block = self._blocks[key]
        options = table(block.get("Options"))
        advanced = table(table(options.get("Randomization")).get("Advanced"))
        hidden = {str(one) for one in items(advanced.get("Undisplayed"))}
        asked = _asked_in(block)
        changes = [*unshuffled(options), *unlooped(options)]
        changes += [
            lost(f"{one} is not in the file") for one in asked if one not in self._questions
        ]
        changes += [lost(f"{one} was asked before") for one in asked if one in self._seen]
        self.form.note(place, key, kind, *changes)
        self.form.claim(place, block)
        self._led[key] = conditions
        self.form.page += 1
        # Who has not skipped the questions up to another one.
        skips: list[tuple[str, Condition]] = []
        for part in map(table, items(block.get("BlockElements"))):
            name = str(part.get("QuestionID"))
            skips = [(until, condition) for until, condition in skips if until != name]
            if part.get("Type") == "Page Break":
                self.form.page += 1
            elif name in hidden:
                self._refuse(name, "it is never shown")
            elif name in self._questions and name not in self._seen:
                self._seen.add(name)
                question = self._questions[name]
                self._read(name, question, [*conditions, *(one for _, one in skips)])
                for logic in (*items(part.get("SkipLogic")), *items(question.get("SkipLogic"))):
                    skips += self._skip(name, table(logic))

    def _skip(self, place: str, skip: Mapping[str, Any]) -> list[tuple[str, Condition]]:
        """Return the question up to which some skip the others, and the condition of all others."""
        description = bare(skip.get("Description") or "of Qualtrics")
        locator = skip.get("Locator") or skip.get("ChoiceLocator")
        operator, until = skip.get("Condition"), str(skip.get("SkipToDestination") or "")
        why, tree = "", list[Any]()
        try:
            tree = ["not", selected(locator, operator, self._kinds.answers)]
        except Untold as error:
            why = f"{shortened(description)} could not be translated ({error})"
        self._leavings += 1
        if until not in ("ENDOFBLOCK", "ENDOFSURVEY") and until not in self._questions:
            why = why or f"{shortened(description)} leads to an unknown place"
        if self._leavings > _MOST_LEAVINGS:
            why = why or f"at most {_MOST_LEAVINGS} are read"
        if why:
            told = f"its skip logic is left out, so more people are asked what it skips: {why}"
            rows = [item.row for item in self.form.items]
            self.form.tell(rows.index(place), [lost(told)])
            return []
        found = Condition(tree, description)
        if until == "ENDOFSURVEY":
            self._staying.append(found)
        return [(until, found)]

    def _leave_out(self, key: str, block: Given) -> None:
        """Refuse the questions of a block that nobody is shown."""
        is_trash = block.get("Type") == "Trash"
        unshuffled(table(block.get("Options")))  # nobody sees it, so nothing is lost
        why = "it is in the trash" if is_trash else "its block is not in the flow"
        places = [place for place in _asked_in(block) if place in self._questions]
        name = bare(block.get("Description") or "")
        if places:
            self.form.refuse(key, name, "block", why)
        else:
            self.form.note(key, name, "block", remark="nothing is in it")
        self.form.claim(key, block)
        for place in places:
            self._refuse(place, why)

    def _refuse(self, place: str, why: str) -> None:
        if place in self._questions and place not in self._seen:
            self._seen.add(place)
            question = self._questions[place]
            self.form.refuse(place, self._names[place], _type(question), why)

    def _read(
        self, place: str, question: Mapping[str, Any], conditions: Sequence[Condition]
    ) -> None:
        name = self._names[place]
        text, changes = self._wording.text(question, lambda one: one.get("QuestionText"))
        asked = Asked(place, name, _type(question), "", text or name, changes=changes)
        asked.conditions = [*conditions]
        self._kinds.ask_if(asked, question)
        settings = table(table(question.get("Validation")).get("Settings"))
        if is_on(settings.get("ForceResponse")) and question.get("QuestionType") != "DB":
            asked.keys["required"] = True
        if settings.get("Type") == "CustomValidation":
            logic = table(settings.get("CustomValidation")).get("Logic")
            asked.lose(f"its validation {shortened(words(logic))} is left out")
        if any(graded(one) for one in items(question.get("GradingData"))):
            asked.lose("the scores of its answers are left out")
        if not is_idle(question.get("QuestionJS")):
            asked.lose("its program is left out")
        more = carried(question)
        if more:
            asked.lose(f"the choices that it carries forward are left out ({more})")
        why = self._kinds.fill(asked, question)
        if why:
            why = f"{why}, but for those that it carries forward ({more})" if more else why
            self.form.refuse(place, name, _type(question), why)


def _type(question: Mapping[str, Any]) -> str:
    parts = (str(question.get(key) or "") for key in ("QuestionType", "Selector", "SubSelector"))
    return " ".join(filter(None, parts))


def _asked_in(block: Mapping[str, Any]) -> list[str]:
    parts = map(table, items(block.get("BlockElements")))
    return [str(part.get("QuestionID")) for part in parts if part.get("Type") == "Question"]
