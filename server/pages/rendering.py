"""Make respondents' pages from what the API gives and from the program's files, and nothing else.

No request, database or clock decides what they contain. So whoever has this code can make the page
of a survey again, and compare it with the page that a server delivers.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from analysis.charts import icon_patterns
from analysis.privacy.one_wave import Group
from analysis.survey.digest import groups_of
from analysis.survey.survey import Survey
from server.explanation import an_answer, costs, explained, limits_of_one, sampling, tells, verdict
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

#: The pages that run a program, `client/page/NAME.js`.
PROGRAMS = ("survey", "me")

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
        self._modules = {name: modules_of(files, f"page/{name}.js") for name in PROGRAMS}
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parents[1] / "templates"), autoescape=True
        )
        self._templates.policies["json.dumps_kwargs"] = {"sort_keys": False}
        self._templates.globals["integrity"] = {
            name: file.integrity for name, file in files.items()
        }

    def survey(self, survey: Survey, data: Mapping[str, Any]) -> Resource:
        """Return a survey's page from what the API gives: its questions, or that it is closed."""
        languages = languages_of(survey.spec)
        if data["state"] == "closed":
            return self.message("closed", languages, title=survey.spec["title"])
        return self._run("survey", languages, survey=survey, data=data, **_contents(survey))

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

    def _run(self, name: str, languages: list[Language], **contents: Any) -> Resource:
        """Return a page of `PROGRAMS`; its policy allows no inline script but its import map."""
        pinned = import_map(self._modules[name])
        content = self._templates.get_template(f"{name}.html").render(
            modules=self._modules[name],
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


def _contents(survey: Survey) -> dict[str, Any]:
    """Return what the template of a survey's page shows: questions and explanations."""
    remembers = bool(survey.memos)
    return {
        "first": survey.text,
        "pages": layout(survey.spec),
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
        "verdict": verdict(survey),
        "sampling": tuple(sampling(survey)),
        "tells": list(tells(survey)),
        "patterns": Markup(icon_patterns()),
    }
