"""Make respondents' pages from what the API gives and from the program's files, and nothing else.

No request, database or clock decides what they contain. So whoever has this code can make the page
of a survey again, and compare it with the page that a server delivers.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from analysis.charts import icon_patterns
from analysis.privacy.one_wave import Group
from analysis.survey.digest import groups_of
from analysis.survey.survey import Survey
from server.explanation import (
    an_answer,
    costs,
    explained,
    limits_of_one,
    sampling,
    tells,
    verdict,
    warning,
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
from server.pages.markdown import rendered

#: The pages that run a program, `client/page/NAME.js`.
PROGRAMS = ("survey", "me")


def _encoders(survey: Survey) -> set[str]:
    """Return the names of the encoders of all questions."""
    return {question.randomizer.encoder.name for question in survey.questions}


def _kinds(survey: Survey) -> set[str]:
    return {question.spec["kind"] for question in survey.questions}


#: The modules that only some surveys need, and which these are: it depends on no answer.
OPTIONAL: dict[str, Callable[[Survey], bool]] = {
    "optional/together.js": lambda survey: bool(survey.joint),
    "optional/memory.js": lambda survey: bool(survey.memos),
    "optional/several.js": lambda survey: bool({"padded", "group"} & _encoders(survey)),
    "optional/orders.js": lambda survey: "rank" in _kinds(survey),
    "optional/texts.js": lambda survey: "text" in _kinds(survey),
    "optional/links.js": lambda survey: survey.access != "open",
    "optional/draft.js": lambda survey: "resume" in survey.spec.get("page", ()),
    "optional/kiosk.js": lambda survey: "kiosk" in survey.spec.get("page", ()),
}


def optional_of(survey: Survey) -> list[str]:
    """Return the names of the optional modules that a survey's page runs."""
    return [name for name, is_needed in OPTIONAL.items() if is_needed(survey)]


_HTML = ("Content-Type", "text/html; charset=utf-8")
_JSON = ("Content-Type", "application/json")


def api(data: Mapping[str, Any]) -> Resource:
    """Return the API's answer about a survey, from what `server.store.surveys.described` gives."""
    content = json.dumps(data, separators=(",", ":")) + "\n"
    return Resource.of(content.encode(), _JSON, compress=False)


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
        self._templates.filters["markdown"] = rendered
        self._templates.policies["json.dumps_kwargs"] = {"sort_keys": False}
        self._templates.globals["integrity"] = {
            name: file.integrity for name, file in files.items()
        }

    def survey(self, survey: Survey, data: Mapping[str, Any]) -> Resource:
        """Return a survey's page from what the API gives: its questions, or that it is closed."""
        languages = languages_of(survey.spec)
        if data["state"] == "closed":
            return self.message("closed", languages, title=survey.spec["title"])
        return self._run(
            "survey",
            languages,
            optional_of(survey),
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
        """Return a page with one sentence, in all these languages at once; it runs no program."""
        spoken_in = list(languages)
        title, text = Phrase(f"message.{key}-title", values), Phrase(f"message.{key}", values)
        content = self._templates.get_template("message.html").render(
            titles=[told(title, language) for language in spoken_in],
            texts=[told(text, language) for language in spoken_in],
            **spoken(spoken_in),
        )
        return Resource.of(content.encode(), _HTML)

    def _run(
        self, name: str, languages: list[Language], optional: Iterable[str] = (), **contents: Any
    ) -> Resource:
        """Return a page of `PROGRAMS`; its policy allows no inline script but its import map.

        The `optional` modules run first, and add to the program what only some surveys need.
        """
        entries = [*optional, f"page/{name}.js"]
        modules = modules_of(self.files, entries)
        pinned = import_map(modules)
        content = self._templates.get_template(f"{name}.html").render(
            entries=[(entry, self.files[entry].integrity) for entry in entries],
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
    """Entries of a frozen survey that stand together: one alone, or the rows of a matrix.

    `section` is the heading to show before them, None where they continue the section before.
    `matrix` is the text over all rows, None for an entry alone. Texts may have several languages.
    """

    section: Any
    matrix: Any
    entries: tuple[dict[str, Any], ...]


def layout(spec: dict[str, Any]) -> tuple[tuple[EntryGroup, ...], ...]:
    """Return the pages of a frozen survey, with its notes; one if no entry begins a new page."""
    pages: list[list[EntryGroup]] = []
    heading = None
    for entries in groups_of(spec["questions"]):
        first = entries[0]
        section = first.get("section", heading)
        if first.get("new_page") or not pages:
            pages.append([])
        new_heading = None if section == heading else section
        pages[-1].append(EntryGroup(new_heading, first.get("matrix"), tuple(entries)))
        heading = section
    return tuple(map(tuple, pages))


def _is_in_a_row(entry: dict[str, Any]) -> bool:
    """Whether options are few and short enough to stand beside each other on a phone."""
    texts = [option["text"] for option in entry.get("options", ()) if "text" in option]
    if not 0 < len(texts) <= 11:
        return False
    labels = [
        one for text in texts for one in (text.values() if isinstance(text, dict) else [text])
    ]
    return all(len(label) <= 2 for label in labels)


def reasons(survey: Survey) -> dict[str, Any]:
    """Return why each question has its ε, if its author says so: for a table, of all of its."""
    return {
        question.id: reason
        for question in survey.questions
        if (reason := survey.reason_of(question)) is not None
    }


def minutes_left(
    pages: tuple[tuple[EntryGroup, ...], ...], minutes: int | None
) -> list[int | None]:
    """Return for each page how many minutes are left, by the part of all entries that is left.

    Conditions do not count: else the time would tell answers to whoever sees the screen.
    """
    entries = [sum(len(group.entries) for group in page) for page in pages]
    if minutes is None:
        return [None] * len(pages)
    return [ceil(minutes * sum(entries[at:]) / sum(entries)) for at in range(len(pages))]


def _contents(survey: Survey) -> dict[str, Any]:
    """Return what the template of a survey's page shows: questions and explanations."""
    remembers, pages = bool(survey.memos), layout(survey.spec)
    return {
        "first": survey.text,
        "pages": pages,
        "left": minutes_left(pages, survey.spec.get("minutes")),
        "explained": {
            question.id: explained(
                question,
                remembers,
                Group.of(survey, question).charge,
                survey.joint_draw_of(question),
            )
            for question in survey.questions
        },
        "costs": list(costs(survey)),
        "limits_of_one": list(limits_of_one(survey)),
        "an_answer": an_answer(survey),
        "reasons": reasons(survey),
        "in_a_row": {spec["id"] for spec in survey.spec["questions"] if _is_in_a_row(spec)},
        "verdict": verdict(survey),
        "warning": warning(survey),
        "sampling": tuple(sampling(survey)),
        "tells": list(tells(survey)),
        "patterns": Markup(icon_patterns()),
    }
