"""A survey file that is edited: unchanged parts stay as their author wrote them."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Whitespace

from analysis.core.errors import SurveyError
from analysis.survey.document import check_keys
from server.editing.draft_view import KINDS, LISTS, STUDY, DraftView, is_translated, plain


class DraftFile(DraftView):
    """The file of a draft, to be changed.

    Raises
    ------
    SurveyError
        If it is not TOML, has a key of too many parts, or its ``[[questions]]`` are not tables that
        stand together.
    """

    def __init__(self, toml: str) -> None:
        check_keys(toml, "the file")
        try:
            self._document = tomlkit.parse(toml)
        except TOMLKitError as error:
            raise SurveyError(f"not TOML: {error}") from None
        for key in LISTS.values():
            if key in self._document and not isinstance(self._document[key], AoT):
                raise SurveyError(
                    f"{key}: the editor needs all [[{key}]] tables one after another; move them "
                    "together in the file, and upload it"
                )

    @property
    def toml(self) -> str:
        """The file as text."""
        return tomlkit.dumps(self._document)

    def put(self, part: str, path: str, value: Any) -> None:
        """Set what stands at a path such as ``privacy.cap``; None takes it away."""
        *folders, key = path.split(".")
        table = self.table(part)
        for folder in folders:
            if folder not in table:
                if value is None:
                    return
                self._space()
                table[folder] = tomlkit.table()
            table = table[folder]
        if value is None:
            table.pop(key, None)
            if folders and not table:
                self.table(part).pop(folders[0])
        elif isinstance(value, dict) and isinstance(plain(table.get(key)), dict):
            _update(table[key], value)
        elif key not in table or plain(table[key]) != value:
            table[key] = _written(value, table.get(key))

    def add(self, kind: str, data: Mapping[str, Any], after: str = "") -> str:
        """Add a table behind another one, by default behind the last; return its part."""
        tables = self._list(kind)
        if not tables:
            self._document[LISTS[kind]] = tables = tomlkit.aot()
        place = self._place(after)[1] + 1 if after else len(tables)
        self._space()
        tables.insert(place, _table(data))
        return f"{kind}/{data['id']}"

    def copy(self, part: str) -> str:
        """Add a copy of a table behind it, with an id of its own; return the copy's part."""
        kind, _ = self._place(part)
        data = self.table(part).unwrap()
        data["id"] = free_id(data["id"], self.ids())
        return self.add(kind, data, part)

    def move(self, part: str, step: int) -> None:
        """Move a table up or down by a `step` of 1 or -1, if there is room."""
        kind, place = self._place(part)
        tables = self._list(kind)
        if 0 <= place + step < len(tables):
            tables.insert(place + step, tables.pop(place))
            self._space()

    def delete(self, part: str) -> None:
        """Take a table away; a question leaves the tables that draw it with others, too."""
        kind, place = self._place(part)
        name = str(self.table(part)["id"])
        del self._list(kind)[place]
        if not self._list(kind):
            del self._document[LISTS[kind]]
        for table in list(self._list("together")) if kind == "question" else ():
            left = [one for one in table.get("questions", []) if one != name]
            if len(left) != len(table.get("questions", [])):
                self.put(f"together/{table['id']}", "questions", left)

    def rename(self, part: str, name: str) -> str:
        """Give a question another id, also where conditions and tables name it."""
        kind, _ = self._place(part)
        before = str(self.table(part)["id"])
        if before == name:
            return part
        if name in self.ids("question") + self.ids("together"):
            raise SurveyError(f"id: expected one that is not taken, got {name}")
        self.put(part, "id", name)
        for table in self._list("together"):
            names = [name if one == before else one for one in table.get("questions", [])]
            self.put(f"together/{table['id']}", "questions", names)
        for table in self._list("question"):
            _change_texts(table, "shows_if", lambda text: renamed_in_condition(text, before, name))
            for key in _PIPED:
                _change_texts(table, key, lambda text: renamed_in_text(text, before, name))
        if self._document.get("page", {}).get("example") == before:
            self.put(STUDY, "page.example", name)
        public = self._document.get("results", {}).get("public")
        if public:
            self.put(STUDY, "results.public", [name if q == before else q for q in public])
        return f"{kind}/{name}"

    def speak(self, languages: Sequence[str]) -> None:
        """Give the survey these languages: texts in any other language are removed."""
        for table, key, texts in list(self._translated()):
            left = {tag: text for tag, text in texts.items() if tag in languages}
            if left != texts:
                table[key] = _written(left or next(iter(texts.values())))
        words = self._document.get("words", {})
        for tag in [tag for tag in words if tag not in languages]:
            del words[tag]
        if not words:
            self._document.pop("words", None)
        self.put(STUDY, "languages", list(languages) or None)

    def texts_in(self, language: str) -> int:
        """Return how many texts there are in a language, of those that have several."""
        told = sum(bool(texts.get(language)) for _, _, texts in self._translated())
        words = self._document.get("words", {}).get(language, {})
        return told + sum(len(texts) for texts in words.values())

    def _translated(self) -> Iterator[tuple[Any, str, dict[str, str]]]:
        """Yield the tables and keys of texts in several languages, and these texts."""
        for table in _tables(self._document):
            for key, value in table.items():
                texts = plain(value)
                if is_translated(texts, self.languages):
                    yield table, key, texts

    def epsilons(self) -> dict[str, Decimal]:
        """Return the ε that questions alone and tables of questions state, by their parts."""
        return {
            f"{kind}/{table['id']}": Decimal(str(table["epsilon"]))
            for kind in LISTS
            for table in self._list(kind)
            if "epsilon" in table
        }

    def spend(self, epsilons: Mapping[str, Decimal]) -> None:
        """Write another ε into parts, and change the limits of one answer and of all waves."""
        before = self.epsilons()
        for part, epsilon in epsilons.items():
            for key in ("epsilon_each", "epsilon_forever"):
                if key in self.table(part):
                    limit = Decimal(str(self.table(part)[key])) * epsilon / before[part]
                    self.put(part, key, float(round(limit, 6)))
            self.put(part, "epsilon", float(epsilon))

    def _space(self) -> None:
        """Put an empty line behind each table that others can follow."""
        for kind in LISTS:
            for table in self._list(kind):
                body = table.value.body
                if body and not isinstance(body[-1][1], Whitespace):
                    table.add(tomlkit.nl())


def toml_of(tables: Mapping[str, Any]) -> str:
    """Return the file of these tables: texts first, then tables, questions, and their draws."""
    lists = {KINDS[key]: value for key, value in tables.items() if key in KINDS}
    document = tomlkit.document()
    for key, value in tables.items():
        if key not in (*KINDS, "words") and not (isinstance(value, dict) and key in _TABLES):
            document[key] = _written(value)
    for key in _TABLES:
        if tables.get(key):
            document.add(tomlkit.nl())
            document[key] = _table(tables[key])
    if "words" in tables:
        document["words"] = tomlkit.item(tables["words"])
    document.add(tomlkit.nl())
    file = DraftFile(tomlkit.dumps(document))
    for kind, entries in lists.items():
        for entry in entries:
            file.add(kind, entry)
    return file.toml


#: Tables of a survey file that are written as such.
_TABLES = ("privacy", "results", "page")
#: Texts that can repeat an earlier answer.
_PIPED = ("text", "help", "matrix")


#: The most letters of an id that is made of a text.
_LONGEST = 24
#: The most letters of a text that are looked at for its id.
_READ = 1000


def id_of(text: str, longest: int = _LONGEST) -> str:
    """Return an id made of a text: its first words, and its year; "x" if it has neither.

    A longer text gives an id of at most `longest` characters.
    """
    # Many marks over one letter take time that grows with the square.
    bare = unicodedata.normalize("NFKD", text[:_READ].lower()).replace("ß", "ss")
    letters = "".join(letter for letter in bare if not unicodedata.combining(letter))
    words = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    if len(words) <= longest:
        return words or "x"
    begun, year = _begun(words, longest), re.search(r"-(19|20)\d\d(?=-|$)", words)
    if year is None or year.end() <= len(begun):
        return begun
    return _begun(words[: year.start()], longest - len(year[0])) + year[0]


def _begun(words: str, longest: int) -> str:
    """Return as many of the first words between hyphens as have at most `longest` letters."""
    if len(words) <= longest:
        return words
    cut = words[: longest + 1].rpartition("-")[0] or words[:longest]
    return cut.strip("-")


def free_id(wanted: str, taken: Collection[str]) -> str:
    """Return an id like the one that is wanted, which nothing else has."""
    number = 2
    found = wanted[:64]
    while found in taken:
        end = f"-{number}"
        found, number = wanted[: 64 - len(end)].rstrip("-") + end, number + 1
    return found


def renamed_in_condition(text: str, before: str, after: str) -> str:
    """Return a condition in which a question has another id; quoted values stay as they are."""
    pattern = re.compile(rf"('[^']*')|(?<![a-z0-9-]){re.escape(before)}(?![a-z0-9-])")
    return pattern.sub(lambda found: found[1] or after, text)


def renamed_in_text(text: str, before: str, after: str) -> str:
    """Return a text that repeats the answer to a question, after that got another id."""
    for end in "|}":
        text = text.replace(f"{{answer.{before}{end}", f"{{answer.{after}{end}")
    return text


def _change_texts(table: Any, key: str, change: Callable[[str], str]) -> None:
    value = plain(table.get(key))
    if isinstance(value, str) and change(value) != value:
        table[key] = change(value)
    elif isinstance(value, dict):
        for tag, text in value.items():
            if change(text) != text:
                table[key][tag] = change(text)


def _tables(value: Any) -> Iterator[Any]:
    """Yield a table, and all tables within it."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _tables(part)


def _table(data: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    for key, value in data.items():
        table[key] = _written(value)
    return table


def _update(table: Any, value: Mapping[str, Any]) -> None:
    """Change what differs in a table, however it is written."""
    for key in [key for key in table if key not in value]:
        del table[key]
    for key, one in value.items():
        if key not in table or plain(table[key]) != one:
            table[key] = _written(one)


def _written(value: Any, before: Any = None) -> Any:
    """Return a value as it is written in the file: a list of tables has one in each line."""
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update({key: _written(one) for key, one in value.items()})
        return table
    if not isinstance(value, list):
        if isinstance(value, str) and "\n" in value:
            return tomlkit.string(value, multiline=True)
        return value
    if isinstance(before, list) and len(before) == len(value) and all(map(plain, before)):
        # As many as before: what is the same stays with its comments.
        for place, (old, new) in enumerate(zip(list(before), value, strict=True)):
            if plain(old) != new:
                before[place] = _written(new)
        return before
    array = tomlkit.array()
    array.extend(_written(one) for one in value)
    return array.multiline(any(isinstance(one, dict) for one in value) or len(value) > 6)
