"""Make respondents' pages from what the API gives and from the program's files, and nothing else.

No request, database or clock decides what they contain. So whoever has this code can make the page
of a survey again, and compare it with the page that a server delivers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from analysis.charts import icon_patterns
from analysis.privacy.one_wave import Group
from analysis.survey.digest import NOTE, groups_of
from analysis.survey.freeze import thaw
from analysis.survey.piping import answers_told, pieces
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on, version_of
from server.explanation import (
    Explained,
    an_answer,
    costs,
    example,
    explained,
    limits_of_one,
    presses,
    promise,
    sampling,
    tells,
)
from server.headers import policy
from server.page_texts import LANGUAGES, Language, Phrase, Value, languages_of, spoken, told
from server.pages.browser_files import (
    File,
    Resource,
    hash_of_all,
    import_map,
    integrity_of,
    modules_of,
)
from server.pages.markdown import in_lines, linked, rendered

#: From this many options on, there is a field to search them: a phone shows some ten at a time.
_LONG_LIST = 13

#: The pages that run a program, `client/page/NAME.js`.
PROGRAMS = ("survey", "me")


def _encoders(survey: Survey) -> set[str]:
    """Return the names of the encoders of all questions."""
    return {question.randomizer.encoder.name for question in survey.questions}


def _kinds(survey: Survey) -> set[str]:
    return {question.spec["kind"] for question in survey.questions}


def is_long(entry: Mapping[str, Any]) -> bool:
    """Return whether a question has so many options that a search field helps."""
    return entry["kind"] in ("choice", "choices") and len(entry["options"]) >= _LONG_LIST


def _varies(survey: Survey) -> bool:
    """Return whether the device draws an order, or a text repeats an earlier answer."""
    parts = (survey.spec.get("page", ()), *survey.spec["questions"])
    return any("random_order" in part for part in parts) or any(
        map(answers_told, survey.spec["questions"])
    )


#: The module of previews and pilots.
TRIAL = "optional/trial.js"
#: The modules that only some surveys need, and which these are: it depends on no answer.
OPTIONAL: dict[str, Callable[[Survey], bool]] = {
    "optional/together.js": lambda survey: bool(survey.joint),
    "optional/memory.js": lambda survey: bool(survey.memos),
    "optional/stated.js": lambda survey: survey.charged_as_stated,
    "optional/several.js": lambda survey: bool({"padded", "group"} & _encoders(survey)),
    "optional/numbers.js": lambda survey: "number" in _kinds(survey),
    "optional/orders.js": lambda survey: "rank" in _kinds(survey),
    "optional/texts.js": lambda survey: "text" in _kinds(survey),
    "optional/lists.js": lambda survey: any(map(is_long, survey.spec["questions"])),
    "optional/varied.js": _varies,
    "optional/links.js": lambda survey: survey.access != "open",
    "optional/draft.js": lambda survey: "resume" in survey.spec.get("page", ()),
    "optional/exit.js": lambda survey: "exit" in survey.spec.get("page", ()),
    "optional/work.js": lambda survey: "proof_of_work" in survey.spec,
    TRIAL: lambda survey: survey.is_pilot,
    "optional/kiosk.js": lambda survey: "kiosk" in survey.spec.get("page", ()),
}


def optional_of(*versions: Survey) -> list[str]:
    """Return the names of the optional modules that the page of a survey runs.

    It can have to price earlier versions, too, which need their own.
    """
    return [name for name, is_needed in OPTIONAL.items() if any(map(is_needed, versions))]


_HTML = ("Content-Type", "text/html; charset=utf-8")

#: Pages with one sentence that lead on: the text of the link, and where it leads.
_LINKS = {"home": ("message.home-explore", "/explore")}


class Pages:
    """Make respondents' pages, which run the program in these files.

    Raises
    ------
    ValueError
        If a module imports one that is not among the files.
    """

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        for entry in (*(f"page/{name}.js" for name in PROGRAMS), *OPTIONAL):
            modules_of(files, [entry])
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parents[1] / "templates"), autoescape=True
        )
        self._templates.filters |= {
            "linked": linked,
            "markdown": rendered,
            "in_lines": in_lines,
            "pieces": pieces,
        }
        self._templates.policies["json.dumps_kwargs"] = {"sort_keys": False}
        self._templates.globals["integrity"] = {
            name: file.integrity for name, file in files.items()
        }

    def survey(
        self, survey: Survey, data: Mapping[str, Any], *, is_preview: bool = False
    ) -> Resource:
        """Return a survey's page from what the API gives: its questions, or that it is closed.

        A preview keeps nothing in its browser, as a pilot does.
        """
        languages = languages_of(survey.spec)
        if data["state"] == "closed":
            return self.message("closed", languages, title=survey.spec["title"])
        return self._run(
            "survey",
            languages,
            [
                *optional_of(
                    survey, *(thaw(one, version_of(one)) for one in data.get("earlier", ()))
                ),
                *([TRIAL] if is_preview else []),
            ],
            survey=survey,
            data=data,
            **_contents(survey),
        )

    def me(self) -> Resource:
        """Return the page on which a browser shows what it has spent."""
        return self._run("me", list(LANGUAGES.values()))

    def message(
        self, key: str, languages: Iterable[Language] = LANGUAGES.values(), **values: Value
    ) -> Resource:
        """Return a page with one sentence, in all these languages at once; it runs no program.

        Below the sentence stands the link that the page has in `_LINKS`, if there is one.
        """
        spoken_in = list(languages)
        title, text = Phrase(f"message.{key}-title", values), Phrase(f"message.{key}", values)
        name, address = _LINKS.get(key, ("", ""))
        content = self._templates.get_template("message.html").render(
            titles=[told(title, language) for language in spoken_in],
            texts=[told(text, language) for language in spoken_in],
            links=[told(Phrase.of(name), language) for language in spoken_in] if name else [],
            address=address,
            key=text.key,
            **spoken(spoken_in),
        )
        return Resource.of(content.encode(), _HTML)

    def _run(
        self, name: str, languages: list[Language], optional: Iterable[str] = (), **contents: Any
    ) -> Resource:
        """Return a page of `PROGRAMS`; its policy allows no inline script but its import map.

        The `optional` modules run first, and add to the program what only some surveys need.
        """
        # The first one notes if any of the others cannot be loaded.
        modules = modules_of(self.files, ["page/dom.js", *optional, f"page/{name}.js"])
        pinned = import_map(modules)
        content = self._templates.get_template(f"{name}.html").render(
            modules=modules,
            import_map=Markup(pinned),
            hash_of_all=hash_of_all(self.files),
            **spoken(languages),
            **contents,
        )
        allowed = policy(integrity_of(pinned.encode()))
        return Resource.of(content.encode(), _HTML, ("Content-Security-Policy", allowed))


@dataclass(frozen=True)
class EntryGroup:
    """Entries of a frozen survey that stand together.

    They are a single entry, the rows of a `matrix`, which is the text over all of them, or a
    question and the text that says which "other" is meant.
    """

    entries: tuple[dict[str, Any], ...]

    @property
    def matrix(self) -> Any:
        """The text over all rows; None for entries that are no matrix."""
        return self.entries[0].get("matrix")


@dataclass(frozen=True)
class Part:
    """The entries under one heading of a page; the heading is None if the one before goes on.

    Each of the `runs` is a note, or groups between notes, which can stand in any order.
    """

    section: Any
    runs: list[list[EntryGroup]]


def layout(spec: dict[str, Any]) -> list[list[Part]]:
    """Return the pages of a frozen survey, with its notes; one if no entry begins a new page."""
    pages: list[list[Part]] = []
    heading = None
    for entries in _groups(spec["questions"]):
        first = entries[0]
        section = first.get("section", heading)
        if first.get("new_page") or not pages:
            pages.append([Part(None if section == heading else section, [])])
        elif section != heading:
            pages[-1].append(Part(section, []))
        heading = section
        runs = pages[-1][-1].runs
        group = EntryGroup(tuple(entries))
        if not runs or NOTE in (first["kind"], runs[-1][0].entries[0]["kind"]):
            runs.append([group])
        else:
            runs[-1].append(group)
    return pages


def _groups(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the entries, those in one list that cannot be parted."""
    groups: list[list[dict[str, Any]]] = []
    for group in groups_of(entries):
        if "namely" in group[0]:
            groups[-1].extend(group)
        else:
            groups.append(list(group))
    return groups


def entries_of(page: list[Part]) -> list[dict[str, Any]]:
    """Return all entries of a page, in their order."""
    return [entry for part in page for run in part.runs for group in run for entry in group.entries]


def explanations_of(survey: Survey) -> dict[str, Explained]:
    """Return what is explained of each question, by its id."""
    is_again = bool(survey.memos) or spent_on([(survey, 2)]) <= survey.cap
    return {
        question.id: explained(
            question,
            is_again,
            Group.of(survey, question).lasting,
            survey.joint_draw_of(question),
        )
        for question in survey.questions
    }


#: Keys of a question that its answers, and those that can be made up to be tried, depend on.
_OF_ANSWERS = ("kind", "options", "at_most", "min", "max", "step", "unit", "longest", "candidates")


def alike(
    survey: Survey, page: list[Part], explanations: Mapping[str, Explained]
) -> list[list[Question]]:
    """Return lists of a page's questions; questions with the same explanation share a list.

    Explanations are those of all questions, by their ids.
    """
    asked = {question.id: question for question in survey.questions}
    told: list[tuple[Any, ...]] = []
    found: list[list[Question]] = []
    for question in (asked[entry["id"]] for entry in entries_of(page) if entry["id"] in asked):
        answers = [question.spec.get(key) for key in _OF_ANSWERS]
        all_of_it = (explanations[question.id], survey.reason_of(question), answers)
        if all_of_it not in told:
            told.append(all_of_it)
            found.append([])
        found[told.index(all_of_it)].append(question)
    return found


def _is_in_a_row(entry: dict[str, Any]) -> bool:
    """Return whether options are few and short enough to stand beside each other on a phone."""
    texts = [option["text"] for option in entry.get("options", ()) if "text" in option]
    if not 0 < len(texts) <= 11:
        return False
    labels = [
        one for text in texts for one in (text.values() if isinstance(text, dict) else [text])
    ]
    return all(len(label) <= 2 for label in labels)


def reasons(survey: Survey) -> dict[str, Any]:
    """Return why each question has its ε, if its author says so; a table's reason is for all."""
    return {
        question.id: reason
        for question in survey.questions
        if (reason := survey.reason_of(question)) is not None
    }


def minutes_left(pages: list[list[Part]], minutes: int | None) -> list[int | None]:
    """Return for each page how many minutes are left, by the part of all entries that is left.

    Conditions do not count: otherwise the time would reveal answers to whoever sees the screen.
    """
    entries = [len(entries_of(page)) for page in pages]
    if minutes is None:
        return [None] * len(pages)
    return [ceil(minutes * sum(entries[at:]) / sum(entries)) for at in range(len(pages))]


def _contents(survey: Survey) -> dict[str, Any]:
    """Return what the template of a survey's page shows: questions and explanations."""
    pages = layout(survey.spec)
    explanations = explanations_of(survey)
    return {
        "first": survey.text,
        "pages": pages,
        "alike": [alike(survey, page, explanations) for page in pages],
        "others": {
            f"{spec['shows_if'][1]}--{spec['namely']}"
            for spec in survey.spec["questions"]
            if "namely" in spec
        },
        "long_lists": {spec["id"] for spec in survey.spec["questions"] if is_long(spec)},
        "left": minutes_left(pages, survey.spec.get("minutes")),
        "explained": explanations,
        "costs": list(costs(survey)),
        "presses": list(presses(survey)),
        "limits_of_one": list(limits_of_one(survey)),
        "an_answer": an_answer(survey),
        "reasons": reasons(survey),
        "in_a_row": {spec["id"] for spec in survey.spec["questions"] if _is_in_a_row(spec)},
        "promise": promise(survey),
        "example": example(survey),
        "sampling": tuple(sampling(survey)),
        "tells": list(tells(survey)),
        "patterns": Markup(icon_patterns()),
    }
