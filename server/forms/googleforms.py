"""Google Forms: a form as its API gives it (`forms.get`), as JSON.

It follows the reference of the resource `forms` of the Google Forms API, version 1. The export of
Google Forms itself has answers alone. Google's page about `forms.get` shows a form to its owner.
"""

from collections.abc import Callable, Mapping
from typing import Any

from server.editing.draft_file import id_of
from server.forms import texts
from server.forms.form import MOST_ROWS, Asked, Form, FormError, is_yes_no
from server.forms.json_file import amount, is_json_of, items, parsed, table

#: Items and questions that ask nothing that can be randomized, and why.
_REFUSED = {
    "imageItem": "an image without a question asks nothing",
    "videoItem": "a video asks nothing",
    "fileUploadQuestion": "files are not collected",
    "timeQuestion": "a time has no kind of its own: ask for the hour as a number, 0 to 23",
    "dateQuestion": "a date has no first and last day here: ask for the year as a number",
}


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with the id and the items of a form."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    data = parsed(content, name)
    if not _is_form(data):
        raise FormError(f"{name}: expected JSON of the Google Forms API, with info and items")
    info = table(data.get("info"))
    stem = name.rpartition(".")[0] or name
    form = Form(_text(info.get("title")) or _text(info.get("documentTitle")) or stem, stem)
    about = _text(info.get("description"))
    form.study = {"introduction": about} if about else {}
    given = items(data["items"])
    if sum(1 + len(_rows(item)) for item in map(table, given)) > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} items, got more")
    reader = _Reader(form)
    for number, item in enumerate(given):
        reader.read(f"items[{number}]", table(item))
    return form


def _is_form(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("items"), list) and "info" in data


def _text(value: Any) -> str:
    return texts.plain(value if isinstance(value, str) else "")[0]


def _rows(item: Mapping[str, Any]) -> list[Any]:
    return items(table(item.get("questionGroupItem")).get("questions"))


class _Reader:
    """The items of one form become items of `form`, in their order."""

    def __init__(self, form: Form) -> None:
        self._form = form

    def read(self, place: str, item: Mapping[str, Any]) -> None:
        kinds = [key for key in item if key.endswith("Item")]
        kind, title = kinds[0] if kinds else "", _text(item.get("title"))
        about = _text(item.get("description"))
        if kind == "pageBreakItem":
            self._form.page += 1
            self._form.headings = [title]
            self._form.note(place, title[:60], kind)
            if about:
                self._form.put(Asked(place, id_of(title), kind, "note", about))
        elif kind == "textItem":
            note = Asked(place, id_of(title or about), kind, "note", title or about)
            if title and about:
                note.keys["help"] = about
            self._form.put(note) if title or about else self._refuse(note, "it has no text")
        elif kind == "questionItem":
            question = table(table(item[kind]).get("question"))
            asked = self._asked(place, title, question)
            if about:
                asked.keys["help"] = about
            if "image" in table(item[kind]):
                asked.lose("its image is left out")
            self._ask(asked, question)
        elif kind == "questionGroupItem":
            self._read_grid(place, title, about, table(item[kind]))
        else:
            why = _REFUSED.get(kind, f"the item {kind[:30] or '(none)'} is not known here")
            self._form.refuse(place, title[:60], kind, why)

    def _asked(self, place: str, title: str, question: Mapping[str, Any]) -> Asked:
        asked = Asked(place, id_of(title), _kind(question), "", title or "–")
        if question.get("required") is True:
            asked.keys["required"] = True
        if "grading" in question:
            asked.lose("the right answer and its points are left out")
        return asked

    def _refuse(self, asked: Asked, why: str) -> None:
        self._form.refuse(asked.row, asked.name, asked.type, why)

    def _ask(self, asked: Asked, question: Mapping[str, Any]) -> None:
        reader = _READERS.get(asked.type)
        if reader is None:
            unknown = f"the question {asked.type[:30] or '(none)'} is not known here"
            self._refuse(asked, _REFUSED.get(asked.type, unknown))
            return
        why = reader(asked, table(question.get(asked.type)))
        if why:
            self._refuse(asked, why)
            return
        self._form.put(asked)
        options = [*map(table, items(table(question.get(asked.type)).get("options")))]
        written = [option for option in options if option.get("isOther") is True]
        if asked.type == "choiceQuestion" and written:
            label = _text(written[0].get("value")) or "Other"
            self._form.put(asked.add_other(label, "Please specify"))

    def _read_grid(self, place: str, title: str, about: str, group: Mapping[str, Any]) -> None:
        """Make a scale of each row of a grid, or a choice of several if several can be ticked."""
        columns = table(table(group.get("grid")).get("columns"))
        is_scale = columns.get("type") != "CHECKBOX"
        options = _options(columns)
        if len(options) < 2:
            self._form.refuse(place, title[:60], "grid", "it has fewer than two columns")
            return
        self._form.note(place, title[:60], "grid", remark="each of its rows is a question")
        for number, row in enumerate(map(table, _rows({"questionGroupItem": group}))):
            text = _text(table(row.get("rowQuestion")).get("title"))
            asked = self._asked(f"{place}.questions[{number}]", text, row)
            asked.name = f"{id_of(title)}-{id_of(text)}"
            asked.kind, asked.options = "scale" if is_scale else "choices", options
            over = f"{title} ({about})" if title and about else title or about or "–"
            if is_scale:
                asked.keys["matrix"] = over
            self._form.headings.append(None if is_scale else over)
            self._form.put(asked)
            self._form.headings.pop()


def _kind(question: Mapping[str, Any]) -> str:
    return next((key for key in question if key.endswith("Question")), "")


def _options(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options except the other answer; their texts are their values."""
    texts_of = [
        _text(option.get("value"))
        for option in map(table, items(given.get("options")))
        if option.get("isOther") is not True
    ]
    return [(id_of(text), text) for text in texts_of if text]


def _choose(asked: Asked, given: Mapping[str, Any]) -> str:
    asked.options = _options(given)
    asked.kind = "choices" if given.get("type") == "CHECKBOX" else "choice"
    has_other = any(table(one).get("isOther") is True for one in items(given.get("options")))
    if len(asked.options) + has_other < 2:
        return "it has fewer than two options"
    if asked.kind == "choice" and not has_other and is_yes_no(asked.options, ()):
        asked.kind = "yes-no"
    elif given.get("shuffle") is True:
        asked.keys["random_order"] = True
    options = [*map(table, items(given.get("options")))]
    if any("goToAction" in option or "goToSectionId" in option for option in options):
        asked.lose("“go to section” is left out: everybody is asked what follows")
    if any("image" in option for option in options):
        asked.lose("the images of its options are left out")
    return ""


def _write(asked: Asked, given: Mapping[str, Any]) -> str:
    if given.get("paragraph") is True:
        return "free prose cannot be randomized: ask a question with options instead"
    asked.kind = "text"
    asked.look("it is asked as a text, of which only frequent answers are found")
    return ""


def _rate(asked: Asked, given: Mapping[str, Any]) -> str:
    low, high = amount(given.get("low", 0)), amount(given.get("high"))
    if type(low) is not int or type(high) is not int or not 1 <= high - low < 50:
        return "expected 2 to 50 points that are whole numbers"
    asked.kind, asked.options = "scale", [(str(one), str(one)) for one in range(low, high + 1)]
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
