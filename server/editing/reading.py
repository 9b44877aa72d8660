"""Reading a draft: the survey that it would be, and what keeps it from being published."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from analysis.core.epsilon import MICRO
from analysis.core.errors import SurveyError
from analysis.mechanisms.scale_design import LARGEST_SCALE
from analysis.survey.check import refusals
from analysis.survey.document import parsed
from analysis.survey.survey import Survey
from analysis.survey.survey_file import survey_of
from server.editing.draft_view import is_translated
from server.editing.spending import wave_total

#: The name of a survey file that no one has given a name.
NAME = "survey.toml"
#: The most bytes of a draft, and the most channels in it that have to be designed. Pages read a
#: draft while a request waits. A design takes up to 3 seconds of CPU, but other requests go on.
MOST_BYTES, MOST_DESIGNS = 1 << 20, 50
#: What the channel of a number or of a scale is designed for.
_DESIGNED_FOR = (
    "kind",
    "min",
    "max",
    "step",
    "points",
    "epsilon",
    "aim",
    "prior",
    "required",
    "shows_if",
)


@dataclass(frozen=True)
class Reading:
    """A draft as a survey, and the `problems` of its file, each a sentence without a period.

    With problems the survey is not what the file says: a text that lacks a translation is shown in
    another language, and a cap that is too low is left out of it, and is `low_cap`.
    """

    survey: Survey
    problems: tuple[str, ...] = ()
    low_cap: Decimal | None = None

    @property
    def cap(self) -> Decimal:
        """The most ε of a respondent over all waves, as the file states it."""
        return Decimal(self.survey.cap) / MICRO if self.low_cap is None else self.low_cap

    @property
    def others(self) -> tuple[str, ...]:
        """All problems except that of a cap which is too low."""
        return self.problems if self.low_cap is None else self.problems[:-1]


def read_draft(text: str, files: Mapping[str, bytes]) -> Reading:
    """Return the survey that a draft would be, with the problems of its file.

    Raises
    ------
    SurveyError
        If a mistake keeps it from being a survey. A problem of a `Reading` raises nothing.
    """
    return _read(text, tuple(files.items()))


def read_new(text: str, files: Mapping[str, bytes]) -> Reading:
    """Return what `read_draft` returns, of a file that is about to become a draft.

    Errors are those of `read_draft` and of `check_size`.
    """
    check_size(text)
    return read_draft(text, files)


def check_size(text: str) -> None:
    """Check that pages can read a draft while a request waits.

    Raises
    ------
    SurveyError
        If the file has more than `MOST_BYTES`, or needs more channels than `MOST_DESIGNS`.
    """
    if (size := len(text.encode())) > MOST_BYTES:
        raise SurveyError(
            f"{NAME}: expected at most {MOST_BYTES:,} bytes of a file that is edited here, got "
            f"{size:,}; a longer one can be published by `deniable publish`"
        )
    document = parsed(text.removeprefix("\ufeff"), NAME)
    designs = {
        tuple(str(question.get(key)) for key in _DESIGNED_FOR)
        for question in _tables(document, "questions")
        if _needs_design(question)
    }
    count = len(designs) + len(_tables(document, "together"))
    if count > MOST_DESIGNS:
        raise SurveyError(
            f"{NAME}: expected at most {MOST_DESIGNS} different channels of numbers, scales and "
            "[[together]] tables in a file that is edited here, since designing one can take "
            f"seconds, got {count}; give questions the same range and epsilon, or publish the file "
            "by `deniable publish`"
        )


def _tables(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the tables of a list in a file, which may be anything before it was checked."""
    given = document.get(key)
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _needs_design(question: Mapping[str, Any]) -> bool:
    """Return whether a channel is designed: as the question's own, or to compare it with that."""
    points, kind = question.get("points"), question.get("kind")
    is_short = isinstance(points, list) and len(points) <= LARGEST_SCALE
    return kind == "number" or (kind == "scale" and is_short)


#: A page, its preview and its figures ask for the same draft one after the other.
@lru_cache(maxsize=32)
def _read(text: str, files: tuple[tuple[str, bytes], ...]) -> Reading:
    document = parsed(text.removeprefix("\ufeff"), NAME)
    untranslated = list(_complete(document))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            (Path(folder) / name).write_bytes(content)
        try:
            return _frozen(document, Path(folder), untranslated)
        except SurveyError as error:
            raise SurveyError(str(error).replace(f"{folder}/", "")) from None


def _frozen(document: dict[str, Any], folder: Path, problems: Sequence[str]) -> Reading:
    if not document:
        raise SurveyError(
            f"{NAME}: expected a survey with title, id and [[questions]], got nothing"
        )
    try:
        survey = survey_of(deepcopy(document), NAME, folder)
        return Reading(survey, (*problems, *refusals(survey)))
    except SurveyError as error:
        privacy = document.get("privacy")
        if not isinstance(privacy, dict):
            raise
        cap: Any = privacy.get("cap")
        if type(cap) not in (int, Decimal) or not Decimal(cap).is_finite():
            raise
        capless = {**document, "privacy": {**privacy}}
        del capless["privacy"]["cap"]
        try:
            survey = survey_of(capless, NAME, folder)
        except SurveyError:
            raise error from None
        total = wave_total(survey)
        if cap > total:
            raise error from None
        told = f"the cap of {cap} is too low: one wave costs ε = {total:f}"
        return Reading(survey, (*problems, *refusals(survey), told), Decimal(cap))


def _complete(document: dict[str, Any]) -> Iterator[str]:
    """Fill in texts that lack a translation with another translation; yield what is missing."""
    languages = document.get("languages")
    if not isinstance(languages, list) or not all(isinstance(tag, str) for tag in languages):
        return
    for place, texts in texts_of(document, languages):
        lacking = [tag for tag in languages if not str(texts.get(tag, "")).strip()]
        there = [text for text in texts.values() if str(text).strip()]
        for tag in lacking if there else ():
            yield f"{place} is not translated into {tag}"
            texts[tag] = there[0]


def texts_of(
    value: Any, languages: Sequence[str], place: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables with a text for each language, and where each stands."""
    if isinstance(value, list):
        for number, entry in enumerate(value, 1):
            name = entry.get("id", number) if isinstance(entry, dict) else number
            yield from texts_of(entry, languages, f"{place} {name}".strip())
    elif place and is_translated(value, languages):
        yield place, value
    elif isinstance(value, dict):
        for key, entry in value.items():
            named = place if key in ("questions", "options", "items") else f"{place} {key}"
            yield from texts_of(entry, languages, named.strip() or key)


_Result = TypeVar("_Result")


#: How often changes are tried, of which some are refused.
_MOST_ATTEMPTS = 64


def apply_valid(
    paths: Sequence[str], attempt: Callable[[Sequence[str]], _Result]
) -> tuple[_Result, dict[str, ValueError]]:
    """Make as many of some changes as can be made together.

    Parameters
    ----------
    paths
        The names of the changes, in their order.
    attempt
        Makes some of them, or raises ValueError.

    Returns
    -------
    tuple
        The result of the last attempt that succeeded, and the error of each change that was not
        made. A change may need another one, such as a minimum above the former maximum, so all are
        tried together first, then in halves, and what is refused is tried again after others. After
        `_MOST_ATTEMPTS` the rest is refused: each attempt reads all of the draft.
    """
    try:
        return attempt(paths), {}
    except ValueError:
        result, made, refused = attempt(()), list[str](), dict[str, ValueError]()
    attempts = 0

    def add(group: Sequence[str]) -> None:
        """Make the changes of a group that can be made, and note the others."""
        nonlocal result, attempts
        attempts += 1
        try:
            result = attempt([*made, *group])
        except ValueError as error:
            if len(group) == 1 or attempts >= _MOST_ATTEMPTS:
                refused.update(dict.fromkeys(group, error))
            else:
                add(group[: len(group) // 2])
                add(group[len(group) // 2 :])
        else:
            made.extend(group)

    left = list(paths)
    while left and attempts < _MOST_ATTEMPTS:
        refused.clear()
        add(left)
        if len(refused) == len(left):
            break
        left = list(refused)
    return result, refused
