"""Google Forms: a form as its API gives it (`forms.get`), as JSON.

It follows the reference of the resource `forms` of the Google Forms API, version 1. The export of
Google Forms itself has answers alone. Google's page about `forms.get` shows a form to its owner.
"""

from collections.abc import Callable, Mapping
from typing import Any

from server.editing.draft_file import free_id, id_of
from server.forms import texts
from server.forms.change import lost
from server.forms.form import (
    MOST_OPTIONS,
    MOST_ROWS,
    Asked,
    Condition,
    Form,
    FormError,
    PartRow,
    is_yes_no,
    points,
    stem_of,
)
from server.forms.json_file import amount, is_json_of, items, parsed, table
from server.forms.source import Declared, Given

_REFUSED = Declared("googleforms").refused
#: The section behind the last one, and what an option says that leads to the next one.
_END, _NEXT = MOST_ROWS, ("", "NEXT_SECTION", "GO_TO_ACTION_UNSPECIFIED")
#: The most options that lead past a section, more than anybody makes.
_MOST_JUMPS = 200


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with the id and the items of a form."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    raw = parsed(content, name)
    if not _is_form(raw):
        raise FormError(f"{name}: expected JSON of the Google Forms API, with info and items")
    data = Given(raw, "form")
    info, stem = table(data["info"]), stem_of(name)
    title = _text(info.get("title")) or _text(info.get("documentTitle"))
    form = Form(title or stem, stem, has_title=bool(title))
    about = _text(info.get("description"))
    form.study = {"introduction": about} if about else {}
    given = [*map(table, data["items"])]
    if sum(1 + len(_rows(item)) for item in given) > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} items, got more")
    reader = _Reader(form, [str(item.get("itemId")) for item in given if "pageBreakItem" in item])
    for number, item in enumerate(given):
        reader.read(f"items[{number}]", item)
    changes = []
    settings = table(data.get("settings"))
    if table(settings.get("quizSettings")).get("isQuiz") is True:
        changes.append(lost("that it is a quiz is left out"))
    emails = settings.get("emailCollectionType")
    if emails in ("VERIFIED", "RESPONDER_INPUT"):
        changes.append(lost("that it collects e-mail addresses is left out"))
    form.note("form", "", "form", *changes)
    form.claim("form", data)
    return form


def _is_form(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("items"), list) and "info" in data


def _text(value: Any) -> str:
    return texts.plain(value if isinstance(value, str) else "")[0]


def _rows(item: Mapping[str, Any]) -> list[Any]:
    return items(table(item.get("questionGroupItem")).get("questions"))


class _Reader:
    """The items of one form become items of `form`, in their order.

    `sections` has the ids of the items that begin a section.
    """

    def __init__(self, form: Form, sections: list[str]) -> None:
        self._form = form
        self._sections = {name: number for number, name in enumerate(sections, 1)}
        #: For each option that leads past a section: to which one, and the condition of the others.
        self._jumps: list[tuple[int, Condition]] = []
        #: The conditions of the section that is read.
        self._conditions: list[Condition] = []
        self._names = set[str]()

    def read(self, place: str, item: Mapping[str, Any]) -> None:
        kinds = [key for key in item if key.endswith("Item")]
        kind, title = kinds[0] if kinds else "", _text(item.get("title"))
        about = _text(item.get("description"))
        self._form.claim(place, item)
        if kind == "pageBreakItem":
            self._form.page += 1
            self._conditions = [told for target, told in self._jumps if target > self._form.page]
            self._form.headings = [title]
            self._form.note(place, title[:60], kind)
            if about:
                self._put(Asked(place, id_of(title), kind, "note", about))
        elif kind == "textItem":
            note = Asked(place, id_of(title or about), kind, "note", title or about)
            if title and about:
                note.keys["help"] = about
            self._put(note) if title or about else self._refuse(note, "it has no text")
        elif kind == "questionItem":
            question = table(table(item[kind]).get("question"))
            asked = self._asked(place, self._named(title), title, question)
            if about:
                asked.keys["help"] = about
            self._ask(asked, question)
        elif kind == "questionGroupItem":
            self._read_grid(place, title, about, table(item[kind]))
        else:
            why = _REFUSED.get(kind, f"the item {kind[:30] or '(none)'} is not known here")
            self._form.refuse(place, title[:60], kind, why)

    def _put(self, asked: Asked, under: str | None = None) -> None:
        """Add a question or note, which is not asked of those who skip its section."""
        asked.conditions = [*self._conditions]
        self._form.put(asked, under)

    def _named(self, *titles: str) -> str:
        """Return a name that no other question has, since conditions name questions."""
        name = free_id("-".join(map(id_of, titles)), self._names)
        self._names.add(name)
        return name

    def _asked(self, place: str, name: str, title: str, question: Mapping[str, Any]) -> Asked:
        asked = Asked(place, name, _kind(question), "", title or "–")
        if question.get("required") is True:
            asked.keys["required"] = True
        return asked

    def _refuse(self, asked: Asked, why: str) -> None:
        self._form.refuse(asked.row, asked.name, asked.type, why)

    def _ask(self, asked: Asked, question: Mapping[str, Any]) -> None:
        reader = _READERS.get(asked.type)
        if reader is None:
            unknown = f"the question {asked.type[:30] or '(none)'} is not known here"
            self._refuse(asked, _REFUSED.get(asked.type, unknown))
            return
        given = table(question.get(asked.type))
        why = reader(asked, given)
        if why:
            self._refuse(asked, why)
            return
        self._put(asked)
        options = [*map(table, items(given.get("options")))]
        written = [option for option in options if option.get("isOther") is True]
        if asked.type == "choiceQuestion" and written:
            self._form.add_other(asked, _text(written[0].get("value")))
        self._lead(asked, options)

    def _lead(self, asked: Asked, options: list[Mapping[str, Any]]) -> None:
        """Read where the options of a question lead: whoever chooses one skips what lies between.

        The file does not say where a section leads when it ends, so that may be elsewhere.
        """
        values = {text: value for value, text in asked.options}
        before = len(self._jumps)
        for option in options:
            action = str(option.get("goToAction", ""))
            section = str(option.get("goToSectionId", ""))
            if not section and action in _NEXT:
                continue
            target = _END if action == "SUBMIT_FORM" else self._sections.get(section, 0)
            is_other = option.get("isOther") is True
            label = _text(option.get("value")) or "other"
            if target <= self._form.page or len(self._jumps) >= _MOST_JUMPS:
                asked.lose(f"“go to section” of “{label[:60]}” is left out: all are asked the rest")
                continue
            chosen = asked.options[-1][0] if is_other else values.get(label, "")
            tree = ["not", ["=", asked.name, chosen]]
            self._jumps.append((target, Condition(tree, f"{asked.text} is not {label}")))
        if len(self._jumps) > before:
            asked.look("“go to section” is left out, and conditions skip what lies between instead")

    def _read_grid(self, place: str, title: str, about: str, group: Mapping[str, Any]) -> None:
        """Make a scale of each row of a grid, or a choice of several if several can be ticked."""
        grid = table(group.get("grid"))
        columns, rows = table(grid.get("columns")), items(group.get("questions"))
        is_scale = columns.get("type") != "CHECKBOX"
        options = _options(columns)
        if not rows:
            self._form.refuse(place, title[:60], "grid", "it has no rows")
            return
        random = lost("the random order of its rows is left out")
        changes = (random,) if grid.get("shuffleQuestions") is True else ()
        places = [f"{place}.questions[{number}]" for number in range(len(rows))]
        self._form.items.append(PartRow(place, title[:60], "grid", places, changes=changes))
        for number, row in enumerate(map(table, rows)):
            text = _text(table(row.get("rowQuestion")).get("title"))
            asked = self._asked(places[number], self._named(title, text), text, row)
            self._form.claim(asked.row, row)
            asked.kind, asked.options = "scale" if is_scale else "choices", options
            over = f"{title} ({about})" if title and about else title or about or "–"
            if is_scale:
                asked.keys["matrix"] = over
            self._put(asked, None if is_scale else over)


def _kind(question: Mapping[str, Any]) -> str:
    return next((key for key in question if key.endswith("Question")), "")


def _options(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options except the other answer; each text has a value of its own."""
    listed = [
        _text(option.get("value"))
        for option in map(table, items(given.get("options")))
        if option.get("isOther") is not True
    ]
    found: dict[str, str] = {}
    for text in filter(None, listed[: MOST_OPTIONS + 1]):
        found.setdefault(text, free_id(id_of(text), found.values()))
    return [(found.get(text, text), text) for text in listed if text]


def _choose(asked: Asked, given: Mapping[str, Any]) -> str:
    asked.options = _options(given)
    asked.kind = "choices" if given.get("type") == "CHECKBOX" else "choice"
    has_other = any(table(one).get("isOther") is True for one in items(given.get("options")))
    bare = len(items(given.get("options"))) - len(asked.options) - has_other
    if bare > 0:
        asked.lose(f"{bare} options without words are left out")
    is_random = given.get("shuffle") is True
    if asked.kind == "choice" and not has_other and is_yes_no(asked.options, ()):
        asked.kind = "yes-no"
    elif is_random:
        asked.keys["random_order"] = True
    return ""


def _write(asked: Asked, given: Mapping[str, Any]) -> str:
    if given.get("paragraph") is True:
        return _REFUSED["paragraph"]
    asked.kind = "text"
    return ""


def _rate(asked: Asked, given: Mapping[str, Any]) -> str:
    low, high = amount(given.get("low", 0)), amount(given.get("high"))
    if type(low) is not int or type(high) is not int or not 1 <= high - low < 50:
        return "expected 2 to 50 points that are whole numbers"
    asked.kind, asked.options = "scale", points(low, high)
    ends = {str(low): _text(given.get("lowLabel")), str(high): _text(given.get("highLabel"))}
    asked.explain_ends(ends)
    return ""


def _count_stars(asked: Asked, given: Mapping[str, Any]) -> str:
    return _rate(asked, {"low": 1, "high": given.get("ratingScaleLevel")})


_READERS: Mapping[str, Callable[[Asked, Mapping[str, Any]], str]] = {
    "choiceQuestion": _choose,
    "textQuestion": _write,
    "scaleQuestion": _rate,
    "ratingQuestion": _count_stars,
}
