"""A questionnaire of another tool, as its reader found it: what it asks, and what became of it."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.core.errors import SurveyError
from server.forms.change import (
    REFUSED,
    Change,
    Row,
    look,
    lost,
    outcome_of,
    refused,
)
from server.forms.conditions import Untold
from server.forms.meaning import is_none, is_outside, told_in
from server.forms.source import Declared, Given
from server.forms.texts import combined
from server.page_texts import languages_of

#: The most rows, of all sheets and lists together, and the most bytes of a file.
MOST_ROWS, LARGEST = 5_000, 8 << 20
#: The most languages of a form, and the most options of a question.
MOST_LANGUAGES, MOST_OPTIONS = 50, 1_000


class FormError(SurveyError):
    """A file that is no questionnaire of a tool that is known here; the message says why."""


@dataclass(frozen=True)
class Found:
    """A question or note of the source that is, or could be, imported.

    `place` is that among the form's items, `row` that in the source, and `text` in one language.
    Some numbers are there only if somebody gives the bounds that they lack. `beside` has the
    answers of a scale that are no points of it, in words.
    """

    place: int
    row: str
    text: str
    kind: str
    lacks_bounds: bool
    beside: str = ""


@dataclass(frozen=True)
class Imported:
    """A survey file, what became of each row of its source, and what it could ask."""

    toml: str
    rows: tuple[Row, ...]
    questions: int
    found: tuple[Found, ...] = ()


@dataclass(frozen=True)
class Written:
    """A questionnaire of another tool, and what became of each part of the survey."""

    content: bytes
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Condition:
    """When a question is asked: as `server.forms.conditions` describes it, and in the source.

    Its tree is empty if it could not be translated, which its own row says.
    """

    tree: list[Any]
    text: str


@dataclass(frozen=True)
class Wanted:
    """The wishes of somebody who imports a form.

    `bounds` has keys such as ``min``, ``max`` and ``unit`` for numbers that lack them, `kept` the
    questions and notes that are wanted, None for all, and `whole` the scales all of whose answers
    are points: all by the place among the items.
    """

    bounds: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    kept: Set[int] | None = None
    whole: Set[int] = frozenset()


#: Gives the tree of a condition of the source, or raises `Untold`.
Translate = Callable[[], list[Any]]


def condition_of(text: str, translate: Translate) -> tuple[Condition, list[Change]]:
    """Return a condition of the source, and the change that it is left out, if it is."""
    try:
        return Condition(translate(), text), []
    except Untold as error:
        return Condition([], text), [left_out(text, error)]


def left_out(text: str, why: object) -> Change:
    """Return that a condition of the source is left out."""
    given = " ".join(text.split())
    shown = given if len(given) <= 200 else f"{given[:199]}…"
    told = f"the condition {shown} could not be translated ({why})"
    return lost(f"{told}, so more people are asked")


@dataclass
class Asked:
    """A question or note of the source, in our terms.

    Parameters
    ----------
    row, name, type : str
        Its place in the source, such as ``survey!7``; its name and its type there.
    kind : str
        Our kind, or "note".
    text : str or dict
        Plain, or by language.
    keys : dict
        Our other keys: of its kind, such as ``min`` or ``candidates``, and ``help``, ``required``,
        ``random_order``, ``matrix``, ``namely`` (the value of the option) ...; without ``epsilon``,
        ``options``, ``items``, ``points``, ``section`` and ``new_page``.
    options : list of tuple
        For choice, choices, rank and scale: the value in the source, and the text. For yes-no:
        both values, yes first, unless they are yes and no.
    conditions : list of Condition
        All of these must hold for the question to be asked.
    alone : sequence of str
        Of choices: the values of the options that exclude all others in the source.
    page : int
        The number of its page; a new one begins where it is larger than before.
    headings : list
        The headings that it stands under, from the outside in.
    changes : list of Change
        What is different from the source: "an open text, of which the frequent answers are found",
        "the constraint . < 7 is left out".
    left : tuple of Change
        The values of the source that nobody has read.
    """

    row: str
    name: str
    type: str
    kind: str
    text: Any
    keys: dict[str, Any] = field(default_factory=dict)
    options: list[tuple[str, Any]] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    left: tuple[Change, ...] = ()
    alone: Sequence[str] = ()
    page: int = 0
    headings: list[Any] = field(default_factory=list)
    #: Why a number without both bounds is refused, unless somebody gives them.
    unbounded: str = ""
    #: The question of whose option it is the text.
    owner: "Asked | None" = None
    #: What its type in the source asks of respondents that says who they are.
    who: str = ""

    @property
    def none(self) -> tuple[str, Any] | None:
        """The option of choices that excludes all others since none of them is true, if any does.

        It excludes them in the source, where its words may be any but "do not know" and the like,
        or it says so in its words.
        """
        known = dict(reversed(self.options))
        alone = [(value, known[value]) for value in self.alone if value in known]
        means = [option for option in alone if any(map(is_none, option))]
        means += [option for option in self.options if is_none(option[1])]
        means += [option for option in alone if not is_outside(option[1])]
        return means[0] if means and self.kind == "choices" else None

    def count(self, low: float | None, high: float | None, why: str) -> None:
        """Let it ask a number; `why` says how the source can give both of its bounds."""
        self.kind = "number"
        if low is None or high is None:
            self.unbounded = f"a number needs its lowest and highest value: {why}"
        else:
            self.keys |= {"min": low, "max": high}

    def count_years(self, days: Sequence[object], how: str) -> str:
        """Let it ask the year of a date between two days; return why it cannot."""
        years = [re.match(r"\d{4}(?!\d)", str(day), re.ASCII) for day in days]
        known = [int(year[0]) for year in years if year]
        if len(known) != 2 or known[0] >= known[1]:
            return f"a date needs its first and last day: {how}"
        self.count(known[0], known[1], how)
        self.keys["integer"] = True
        self.look("a date is asked as its year")
        return ""

    def ask_if(self, text: str, translate: Translate) -> None:
        """Ask it only if this condition holds, too, as far as it can be translated."""
        condition, changes = condition_of(text, translate)
        self.conditions.append(condition)
        self.changes += changes

    def lose(self, words: str) -> None:
        """Note that a part of the source is lost."""
        self.changes.append(lost(words))

    def look(self, words: str) -> None:
        """Note a decision that somebody has to look at."""
        self.changes.append(look(words))

    def namely(self, option: str, text: Any, name: str) -> "Asked":
        """Return the text of the field beside an option."""
        told = (
            "the text beside an option becomes a question of its own, of which only frequent "
            "answers are found"
        )
        keys = {"namely": option}
        changes = [look(told)]
        return Asked(self.row, name, self.type, "text", text, keys, changes=changes, owner=self)

    def explain_ends(self, ends: Mapping[str, Any]) -> None:
        """Say in the help what the first and the last point of a scale mean, by their labels."""
        known = {point: text for point, text in ends.items() if text}
        if not known:
            return

        def told(given: str, *texts: str) -> str:
            points = [f"{point}: {text}" for point, text in zip(known, texts, strict=True)]
            meant = ", ".join(points)
            return f"{given} ({meant})" if given else meant

        self.keys["help"] = combined(told, self.keys.get("help", ""), *known.values())
        self.look("the labels of its ends stand in its help")


def stem_of(name: str) -> str:
    """Return the name of a file without its ending."""
    return re.sub(r"\.\w+$", "", name) or "form"


def points(low: int, high: int, step: int = 1) -> list[tuple[str, Any]]:
    """Return the points of a scale of numbers."""
    return [(str(one), str(one)) for one in range(low, high + 1, step)]


def phrases(languages: Sequence[str], key: str) -> Any:
    """Return a phrase of the product as survey files have it, plain or by language."""
    spoken = languages_of({"languages": list(languages)} if languages else {})
    by_tag = {language.tag: language.words[key] for language in spoken}
    return by_tag if languages else next(iter(by_tag.values()))


def is_yes_no(options: Sequence[tuple[str, Any]], languages: Sequence[str]) -> bool:
    """Return whether two options are labelled as the page labels its own Yes and No.

    `languages` are the tags of the texts that are tables; a plain text is taken as the page's
    first language, English if none is named.
    """
    if len(options) != 2:
        return False
    spoken = languages_of({"languages": list(languages)} if languages else {})
    for (_, label), answer in zip(options, ("yes", "no"), strict=True):
        for language in spoken:
            text = label.get(language.tag, "") if isinstance(label, dict) else label
            own = language.words[f"question.{answer}"]
            if str(text).strip().rstrip(".").lower() != own.lower():
                return False
    return True


@dataclass(frozen=True)
class PartRow:
    """A row of the source that lives in questions, such as an option: imported if one of them is.

    `of` has the rows of these questions, and `unused` says why it is refused if there are none.
    """

    row: str
    name: str
    type: str
    of: Sequence[str]
    unused: str = "no question has it"
    changes: tuple[Change, ...] = ()

    def with_changes(self, more: Sequence[Change]) -> "PartRow":
        """Return the row with more changes."""
        return replace(self, changes=(*self.changes, *more))


@dataclass
class Form:
    """A questionnaire as it was read: `items` has its questions, and other rows of the source.

    They stand in the order of the source. Items of the same row become one line of the report.
    `study` has our keys of a survey file that are texts, such as ``introduction``; `languages` the
    tags in which texts are given, if there are several.
    """

    title: Any
    name: str
    items: list[Asked | PartRow | Row] = field(default_factory=list)
    languages: Sequence[str] = ()
    study: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the source has the title; otherwise it is the file's name.
    has_title: bool = True
    #: The headings that the questions stand under, from the outside in, and the page's number.
    headings: list[Any] = field(default_factory=list)
    page: int = 0
    #: The parts of the file that have a row of their own, with this row.
    claimed: list[tuple[str, Given]] = field(default_factory=list)

    def put(self, asked: Asked, under: Any = None) -> None:
        """Add a question or note, on its page and under its headings, and under one of its own."""
        asked.page = self.page
        asked.headings = [one for one in (*self.headings, under) if one]
        self.items.append(asked)

    def tell(self, place: int, more: Sequence[Change]) -> None:
        """Add changes to the item at a place, which its row tells even if it is refused."""
        item = self.items[place]
        if isinstance(item, Asked):
            item.left += (*more,)
        else:
            self.items[place] = item.with_changes(more)

    def add_other(
        self, asked: Asked, label: Any = None, value: str = "other", place: int | None = None
    ) -> None:
        """Add an option that respondents can write, and the text that says which."""
        while any(known == value for known, _ in asked.options):
            value = f"{value}-written"
        option = (value, label or told_in("other", self.languages))
        asked.options.insert(len(asked.options) if place is None else place, option)
        specify = told_in("specify", self.languages)
        self.put(asked.namely(value, specify, f"{asked.name}-other"))

    def refuse(self, row: str, name: str, kind: str, why: str) -> None:
        """Note that a row of the source is not imported, and why."""
        self.items.append(refused(row, name, kind, why))

    def note(self, row: str, name: str, kind: str, *changes: Change, remark: str = "") -> None:
        """Note that a row of the source that asks nothing is in the survey."""
        self.items.append(Row(row, name, kind, outcome_of(changes), changes, remark=remark))

    def claim(self, row: str, part: object) -> None:
        """Let a row of the report answer for a part of the file, unless that is no table."""
        if isinstance(part, Given):
            part.is_claimed = True
            self.claimed.append((row, part))

    def account(self, declared: Declared) -> None:
        """Name in each row what nobody has read of its parts."""
        places = {item.row: place for place, item in reversed([*enumerate(self.items)])}
        for row, part in self.claimed:
            place = places.setdefault(row, len(self.items))
            if place == len(self.items):
                self.note(row, "", part.name)
            item = self.items[place]
            is_refused = isinstance(item, Row) and item.outcome == REFUSED
            more = declared.going_with(part) if is_refused else declared.changes(part)
            self.tell(place, more)
