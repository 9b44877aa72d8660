"""A survey as the questionnaire of another tool: what all writers share.

Another tool collects true answers. So what is written keeps the questions, and nothing that
protects the answers; the report says so first.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from analysis.survey.codes import CODES, Code, codes_of
from analysis.survey.digest import NOTE
from analysis.survey.piping import NONE_YET, Piece, pieces
from analysis.survey.survey import Survey
from server.forms.change import CHANGED, Row, in_order, lost, refused
from server.page_texts import Phrase, languages_of, told

#: The outcome of a part of the survey that the other tool has, too.
EXPORTED = "exported"


@dataclass
class Leaving:
    """A survey on its way to another tool: its texts, its blocks, and the list of losses.

    `kept` are the keys of the study that the tool can carry.
    """

    survey: Survey
    kept: tuple[str, ...] = ()
    changes: dict[str, list[str]] = field(default_factory=dict)
    #: What is different in keys of the study that are kept, by key.
    study: dict[str, str] = field(default_factory=dict)
    _codes: dict[str, Mapping[str, Code]] = field(default_factory=dict)

    @property
    def languages(self) -> list[str]:
        """The survey's languages; "" alone if its texts are plain."""
        return list(self.survey.spec.get("languages", [""]))

    def by_language(self, text: Any, answer: Callable[[str], str]) -> dict[str, str]:
        """Return a text in each language; `answer` writes an earlier answer's place."""
        given = text if isinstance(text, Mapping) else dict.fromkeys(self.languages, text)
        return {
            language: "".join(
                self.literal(piece.words) if piece.question is None else answer(piece.question)
                for piece in pieces(str(given[language]))
            )
            for language in self.languages
        }

    @staticmethod
    def literal(words: str) -> str:
        """Return words in which another tool sees no reference to an answer."""
        return words.replace("${", "$(").replace("{", "(").replace("}", ")")

    def labels(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return the texts of a question's options by their ids."""
        if entry["kind"] == "yes-no":
            return {answer: self.phrase(f"question.{answer}") for answer in ("yes", "no")}
        return {option["id"]: option["text"] for option in entry.get("options", ())}

    def carry_codes(self, fits: Callable[[str], object], why: str) -> None:
        """Write the codes of questions in place of ids, where all codes of a question fit.

        Codes that do not fit are left out, and `why` says what the tool cannot have.
        """
        for entry in self.survey.spec["questions"]:
            codes = codes_of(self.survey.spec, entry["id"])
            if codes and all(fits(str(code)) for code in codes.values()):
                self._codes[entry["id"]] = codes
                self.change(entry, "its options have their codes in place of their ids")
            elif codes:
                self.change(entry, f"its codes are left out, since {why}")

    def value(self, question: str, option: str) -> Code:
        """Return what stands for an option there: its code, or its id."""
        return self._codes.get(question, {}).get(option, option)

    def phrase(self, key: str) -> dict[str, str]:
        """Return a phrase of the product in the survey's languages."""
        spoken = zip(self.languages, languages_of(self.survey.spec), strict=True)
        return {tag: told(Phrase.of(key), language) for tag, language in spoken}

    def change(self, entry: Mapping[str, Any], what: str) -> None:
        """Note what is different in a question."""
        self.changes.setdefault(entry["id"], []).append(what)

    def blocks(self) -> Iterator["Block"]:
        """Yield questions and notes by their headings and pages."""
        block = Block(None, False)
        for entry in self.survey.spec["questions"]:
            section = entry.get("section")
            is_new = bool(entry.get("new_page"))
            if is_new or (section is not None and section != block.section):
                if block.entries:
                    yield block
                block = Block(section, is_new)
            block.entries.append(entry)
        yield block

    def rows(self) -> tuple[Row, ...]:
        """Return a line for the study's keys, and for each question and note."""
        spec = self.survey.spec
        why = "answers are not randomized in another tool: it collects true answers"
        rows = [refused("privacy", "", "ε and mechanisms", why)]
        for key in spec:
            if key not in ("questions", "privacy", CODES):
                why = "the other tool has no known counterpart"
                if key not in self.kept:
                    rows.append(refused(key, "", "study", why))
                elif key in self.study:
                    rows.append(Row(key, "", "study", CHANGED, (lost(self.study[key]),)))
                else:
                    rows.append(Row(key, "", "study", EXPORTED))
        for entry in spec["questions"]:
            told = [*self.changes.get(entry["id"], [])]
            told += [f"{key} is left out" for key in _LOST if key in entry]
            parts = [*_pieces_of(entry)]
            if any("{" in part.words for part in parts if part.question is None):
                told.append("braces in its texts are parentheses, since they would be references")
            if any(part.words != NONE_YET for part in parts if part.question is not None):
                told.append("the words in place of an answer that is missing are left out")
            plain = [
                option for option in entry.get("options", ()) if option["id"] == option["text"]
            ]
            if entry["kind"] == "scale" and plain and len(self.languages) > 1:
                told.append("its points are known by their places, not by their labels")
            place = f"{'note' if entry['kind'] == NOTE else 'question'} {entry['id']}"
            outcome = CHANGED if told else EXPORTED
            rows.append(Row(place, entry["id"], entry["kind"], outcome, in_order(map(lost, told))))
        return tuple(rows)


def condition_text(tree: list[Any], negated: str, compare: Callable[[str, str, Any], str]) -> str:
    """Return a condition as another tool writes it.

    Parameters
    ----------
    tree : list
        As frozen surveys have it.
    negated : str
        How the tool writes that something does not hold, such as ``not({})``.
    compare : callable
        Writes a comparison, given its sign (or "selected"), the question and the value.
    """
    first, *rest = tree
    if first == "not":
        return negated.format(condition_text(rest[0], negated, compare))
    if first in ("and", "or"):
        parts = [condition_text(part, negated, compare) for part in rest]
        inner = [part[0] in ("and", "or") for part in rest]
        return f" {first} ".join(
            f"({part})" if is_joined else part for part, is_joined in zip(parts, inner, strict=True)
        )
    return compare(first, *rest)


@dataclass
class Block:
    """Questions below one heading; `starts_page` where a page begins."""

    section: Any
    starts_page: bool
    entries: list[dict[str, Any]] = field(default_factory=list)

    def runs(self) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
        """Yield the text of each matrix with its rows, and None with each other question."""
        for matrix, entries in groupby(self.entries, lambda entry: entry.get("matrix")):
            if matrix is None:
                for entry in entries:
                    yield None, [entry]
            else:
                yield matrix, [*entries]


def _pieces_of(entry: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield the words of all texts of a question, and the answers in them."""
    texts = [entry.get(key, "") for key in ("text", "help", "matrix", "section")]
    texts += [option["text"] for option in entry.get("options", ())]
    for text in texts:
        for one in text.values() if isinstance(text, Mapping) else [text]:
            yield from pieces(str(one))


#: Keys of questions that no other tool has.
_LOST = ("image", "reason", "letters", "epsilon_forever", "stable", "aim", "prior", "delta")
