"""The forms of a study and of each kind of question: which fields they have, in which order."""

from collections.abc import Mapping
from typing import Any

from analysis.survey.codes import CODE
from analysis.survey.digest import NOTE
from server.editing.fields import (
    Condition,
    Day,
    Field,
    Image,
    Languages,
    Lines,
    Mechanism,
    Number,
    Pick,
    Text,
    Tick,
    Ticks,
    Untick,
)
from server.editing.options import Options, Points

#: A field that is not stored: it allows removing the texts in languages that were left out.
FORGET = "forget"

#: Fields under a heading. Those of the first stand open, all others are folded.
Sections = Mapping[str, tuple[Field, ...]]

STUDY_FORM: Sections = {
    "The study": (
        Text("title", "Title"),
        Text("organisation", "Who asks"),
        Text("introduction", "Why this study is done", lines=4),
        Number("minutes", "Duration in minutes"),
        Text("contact", "Contact for questions", lines=2),
        Text("consent", "What people agree to", "They cannot go on without a tick.", lines=3),
        Text("thanks", "Thank-you text", lines=2),
        Field("link", "Web address to continue to"),
        Text("link_text", "The text of that link"),
        Image("logo", "Logo", "A PNG or JPEG file of at most 64 KiB."),
    ),
    "Languages": (
        Languages(
            "languages",
            "Languages",
            "For example German, fr. Each text then has a field for each language.",
        ),
        Ticks(FORGET, "Languages that are no longer in the list"),
    ),
    "Privacy and results": (
        Number(
            "privacy.cap",
            "Most ε of a respondent, over all waves",
            "If empty, the cost of one wave.",
        ),
        Number(
            "privacy.device_cap",
            "Most ε of a device, over all surveys of this address",
            "If empty, there is no such limit. A device that is forgotten begins at 0.",
        ),
        Number(
            "results.minimum",
            "Show results from this many reports on",
            "If empty, 100; at least 20, and at least one step.",
        ),
        Number(
            "results.batch",
            "Update them after at least this many more",
            "If empty, 50; at least 10.",
        ),
        Untick(
            "results.open",
            "Show nothing before a wave is closed",
            "Also not how many people have answered.",
        ),
        Ticks("results.public", "Questions whose results everybody can see after the end"),
    ),
    "Who may answer, and when": (
        Pick(
            "access",
            "Who may answer",
            options={
                "open": "Whoever has the address",
                "invited": "People with a link for each wave",
                "panel": "People with a link for all waves",
            },
        ),
        Number(
            "proof_of_work",
            "Work before a device sends, in bits",
            "0 to 20; if empty, 0. More work makes many fake reports expensive.",
        ),
        Day("closes", "Last day of answering", "It ends at midnight UTC."),
        Day("delete_reports_after", "Last day of keeping single reports"),
    ),
    "How the page behaves": (
        Pick("page.example", "Question that the first screen takes as its example"),
        Tick("page.comprehension", "Ask whether the method was understood"),
        Tick("page.resume", "Keep answers in the tab until they are sent"),
        Tick("page.random_order", "Ask the questions of a page in a random order for each person"),
        Tick("page.kiosk", "Many people use one device"),
        Field(
            "page.exit",
            "Where “Exit this page” leads",
            "about:blank for a blank page; if empty, there is no such button.",
        ),
    ),
}

_TEXT = Text("text", "Question", lines=2)
_HELP = Text("help", "Help below it")
_SHOWN = {
    "Whom it is asked": (Condition("shows_if", "Only those who said"),),
    "Place on the page": (
        Tick("new_page", "A new page begins here"),
        Text("section", "Heading above it"),
        Image("image", "Image", "A PNG or JPEG file of at most 64 KiB."),
        Text("image_text", "What the image shows, for people who do not see it"),
    ),
}
_EPSILON = Number(
    "epsilon",
    "ε, the most that a report reveals",
    "More is more precise, and reveals more.",
    slider=True,
)
_PRIVACY = (
    _EPSILON,
    Text("reason", "Why this ε; respondents can read it"),
    Mechanism("mechanism", "Mechanism"),
    Number("epsilon_forever", "Most ε over all waves, if the device remembers its draw"),
    Tick("stable", "The true answer can never change"),
)
_REQUIRED = Tick("required", "It must be answered", "Nobody can choose “prefer not to say”.")
_SHUFFLED = Tick("random_order", "Show them in a random order for each person")

#: The fields that only questions of one kind have.
_OWN: dict[str, tuple[Field, ...]] = {
    "yes-no": (),
    "choice": (Options("options", "Options"), _SHUFFLED),
    "choices": (
        Options("options", "Options"),
        Number("at_most", "How many may be ticked", "If empty, all; fewer are more precise."),
        Text("none", "The words of “None of these”, if others are better"),
        _SHUFFLED,
    ),
    "scale": (
        Points("points", "Points, in order", whole_numbers=True),
        Text(
            "matrix",
            "Text over a grid",
            "Makes a grid of statements. The scale after this one becomes a row if it has the "
            "same points; otherwise a new row is added. Copy a row to add another one.",
        ),
    ),
    "number": (
        Number("min", "Lowest"),
        Number("max", "Highest"),
        Number("step", "Step", "What is typed is rounded to it."),
        Text("unit", "Unit"),
        Tick("integer", "Whole numbers"),
        Tick("slider", "Show a slider, too"),
    ),
    "rank": (Options("items", "Items"), _SHUFFLED),
    "text": (
        Lines(
            "candidates",
            "Texts whose shares are estimated",
            "One in each line. Without them, only texts that many people write are found.",
        ),
        Number("longest", "Most letters", "32 if empty; at most 64 without a list of texts."),
        Field("letters", "Letters that answers can have"),
        Pick("namely", "It belongs to this option"),
    ),
}
_AIMS = {
    "scale": Pick(
        "aim",
        "Best for",
        options={"shares": "Shares", "mean": "The mean", "cumulative": "Shares up to a point"},
    ),
}

#: The kinds in words, in the order in which they are offered.
KINDS_IN_WORDS = {
    "yes-no": "Yes or no",
    "choice": "One of several options",
    "choices": "Any number of options",
    "scale": "A scale",
    "number": "A number",
    "rank": "A ranking",
    "text": "A text",
    NOTE: "A note, which asks nothing",
}

TOGETHER_FORM: Sections = {
    "One draw for several questions": (
        Ticks("questions", "Questions"),
        Number("epsilon", "ε of all of them together"),
        Number("epsilon_each", "ε of one, for somebody who knows the others"),
        Number("ask", "How many of them to ask each person", "All if empty."),
        Pick(
            "aim",
            "Best for",
            options={
                "both": "Shares and pairs of answers",
                "shares": "Shares",
                "pairs": "Pairs of answers",
            },
        ),
        Text("reason", "Why these limits; respondents can read it"),
    ),
}


def form_of(kind: str, is_drawn_with_others: bool = False) -> Sections:
    """Return the form of a question; one that is drawn with others has no ε of its own."""
    if kind == NOTE:
        return {"Note": (Text("text", "Note", lines=3), _HELP), **_SHOWN}
    privacy: tuple[Field, ...] = (_PRIVACY[1],) if is_drawn_with_others else _PRIVACY
    aims = (_AIMS[kind],) if kind in _AIMS and not is_drawn_with_others else ()
    first, *others = privacy
    return {
        "Question": (_TEXT, _HELP, *_OWN[kind], first, _REQUIRED),
        **_SHOWN,
        **({"More about privacy": (*others, *aims)} if others or aims else {}),
    }


def fields_of(sections: Sections) -> list[Field]:
    """Return all fields of a form."""
    return [field for fields in sections.values() for field in fields]


def begun(kind: str, name: str, text: str) -> dict[str, Any]:
    """Return a new question or note, with the keys that its kind cannot do without."""
    two = [{"id": "option-1", "text": "Option 1"}, {"id": "option-2", "text": "Option 2"}]
    own: dict[str, dict[str, Any]] = {
        "choice": {"options": two},
        "choices": {"options": two},
        "scale": {"points": ["never", "seldom", "sometimes", "often", "always"]},
        "number": {"min": 0, "max": 100, "step": 1},
        "rank": {"items": two},
    }
    question = {"id": name, "kind": kind, "text": text, **own.get(kind, {})}
    return question if kind == NOTE else {**question, "epsilon": 1.0}


def in_language(data: Mapping[str, Any], tag: str) -> dict[str, Any]:
    """Return a question all of whose texts are in one language."""
    labels = {
        key: [
            {**one, "text": {tag: one["text"]}} if isinstance(one, dict) else {tag: one}
            for one in data[key]
        ]
        for key in _LISTS
        if key in data
    }
    return {**data, "text": {tag: data["text"]}, **labels}


#: The keys under which kinds have a list of labels.
_LISTS = ("options", "items", "points")


def _text_of(point: Any) -> Any:
    """Return the label of a point without a code, in all its languages."""
    return point if isinstance(point, dict) else str(point)


def turned(data: Mapping[str, Any], kind: str, is_drawn_with_others: bool) -> dict[str, Any]:
    """Return a question as one of another kind; keys of both kinds and labels of lists stay."""
    name = data["id"]
    new = begun(kind, name, data["text"])
    known = {field.path for field in fields_of(form_of(kind, is_drawn_with_others))}
    kept = {key: value for key, value in data.items() if key in known or key == "id"}
    listed = [
        one if isinstance(one, dict) and "text" in one else {"text": _text_of(one)}
        for key in _LISTS
        for one in data.get(key, ())
    ]
    has_codes = any(CODE in one for one in listed)
    for key in _LISTS:
        if listed and key in new and key not in data:
            new[key] = [
                (one["text"] if not has_codes else {k: v for k, v in one.items() if k != "id"})
                if key == "points"
                else {"id": f"option-{place}", **one}
                for place, one in enumerate(listed, 1)
            ]
    if is_drawn_with_others:
        new.pop("epsilon", None)
    return {**new, **kept, "kind": kind}
