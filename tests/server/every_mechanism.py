"""Surveys that ask a question under each mechanism, where it fits."""

from collections.abc import Callable, Collection, Iterable, Iterator

from analysis.mechanisms import MECHANISMS
from analysis.survey.survey import Survey

HEAD = """
title = "All"
id = "all"

[privacy]
cap = 100
"""


def _listed(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'{{id = "{name}", text = "?"}}' for name in names) + "]"


#: Mechanisms with parameters of their own, or with other keys.
_WITH_PARAMETERS = (
    'kind = "yes-no"\nmechanism = {name = "warner", p = "3/4"}\n',
    'kind = "yes-no"\nmechanism = {name = "two-coin"}\n',
    'kind = "yes-no"\nmechanism = {name = "forced", p_yes = "1/6", p_no = "1/6"}\n',
    'kind = "yes-no"\nmechanism = {name = "unrelated", p = "2/3", prevalence = "1/2"}\n',
    'kind = "yes-no"\nmechanism = {name = "crosswise", prevalence = "1/4"}\n',
    f'kind = "rank"\nitems = {_listed("abcdef")}\nmechanism = "suborder"\nepsilon = 4\n',
)


def _questions() -> Iterator[str]:
    """Yield the lines of questions in which each mechanism is named once where it could fit."""
    three = _listed("abc")
    kinds = {
        "yes-no": "",
        "choice": f"options = {three}\n",
        "choices": f"options = {three}\n",
        "scale": 'points = ["1", "2", "3", "4"]\n',
        "number": "min = 0\nmax = 10\n",
        "rank": f"items = {three}\n",
    }
    for lines in _WITH_PARAMETERS:
        yield f"required = true\n{lines}"
    for name in MECHANISMS:
        for kind, more in kinds.items():
            yield f'kind = "{kind}"\n{more}epsilon = 1\nmechanism = "{name}"\n'


#: What `_fitting` returned. Most questions of it are tried in vain.
_FITTING: list[tuple[str, Survey]] = []


def _fitting(read: Callable[[str], Survey]) -> list[tuple[str, Survey]]:
    """Return the lines of each question that can be asked, and the survey that asks it alone."""
    if not _FITTING:
        _FITTING.extend(tried(read))
    return _FITTING


def tried(read: Callable[[str], Survey]) -> Iterator[tuple[str, Survey]]:
    for lines in _questions():
        for either in dict.fromkeys((lines, f"{lines}required = true\n")):
            try:
                survey = read(f'{HEAD}\n[[questions]]\nid = "q"\ntext = "?"\n{either}')
            except ValueError:
                continue  # it does not serve this kind, or not with no-answer
            yield either, survey
            break


def surveys_of_one_question(read: Callable[[str], Survey]) -> list[Survey]:
    """Return a survey for each mechanism and kind that fit together."""
    return [survey for _, survey in _fitting(read)]


#: Longer texts, sets and bits, a memory, and draws for several questions.
_LARGER = f"""
[[together]]
id = "of-two"
questions = ["one", "several"]
epsilon = 4
epsilon_each = 2

[[together]]
id = "of-some"
questions = ["a", "b", "c"]
epsilon = 3
epsilon_each = 2
ask = 2

[[questions]]
id = "bloom"
kind = "text"
text = "?"
candidates = ["ab", "cd", "ef"]
epsilon = 3
mechanism = "rappor"

[[questions]]
id = "wish"
kind = "text"
text = "?"
longest = 8
epsilon = 3

[[questions]]
id = "long-set"
kind = "choice"
text = "?"
options = {_listed(f"o{place}" for place in range(24))}
epsilon = 0.5
mechanism = "subset"

[[questions]]
id = "long-bits"
kind = "choice"
text = "?"
options = {_listed(f"o{place}" for place in range(70))}
epsilon = 1
mechanism = "oue"

[[questions]]
id = "remembered"
kind = "yes-no"
text = "?"
epsilon = 1
epsilon_forever = 2

[[questions]]
id = "one"
kind = "choice"
text = "?"
options = {_listed("wxyz")}

[[questions]]
id = "several"
kind = "choices"
text = "?"
options = {_listed("xyz")}

[[questions]]
id = "a"
kind = "choice"
text = "?"
options = {_listed("uvwxyz")}

[[questions]]
id = "b"
kind = "choice"
text = "?"
options = {_listed("uvwxyz")}

[[questions]]
id = "c"
kind = "yes-no"
text = "?"
"""


def survey_of_all(read: Callable[[str], Survey], only: Collection[int] | None = None) -> Survey:
    """Return one survey with all these questions, q0, q1, ..., and longer ones after them.

    If `only` is given, it has only these of the questions with numbers.
    """
    blocks = [
        f'\n[[questions]]\nid = "q{place}"\ntext = "?"\n{lines}'
        for place, (lines, _) in enumerate(_fitting(read))
        if only is None or place in only
    ]
    return read("".join([HEAD, *blocks, _LARGER]))
