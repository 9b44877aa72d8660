"""The names of columns in the formula of a model."""

import re
from collections.abc import Iterable, Sequence
from keyword import iskeyword

from analysis.estimate.columns.of_survey import variable

#: A name in a formula: letters, digits, _ and ., or anything between backticks. Functions and their
#: options are no names: a parenthesis or a single = follows them.
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d][\w.]*)(?!\s*(?:\(|=(?!=))|[\w.])")
#: Texts, names between backticks, and what may be names and the minus between them.
_PART = re.compile(r"\"[^\"]*\"?|'[^']*'?|`[^`]*`?|[\w.-]+")


def quoted(formula: str, names: Iterable[str]) -> str:
    """Return a formula in which known names that formulas cannot read stand between backticks.

    So ``a-b`` is the column a-b, if there is one, and otherwise a without b. Of names that begin
    alike, the longest counts. A name that is a number, such as ``1``, stays a number: it has to be
    between backticks already.
    """
    odd = {name for name in names if not _is_plain(name) and not _is_number(name)}
    longest = max((name.count("-") for name in odd), default=0) + 1

    def with_backticks(found: re.Match[str]) -> str:
        parts, written = found[0].split("-"), list[str]()
        while parts:
            joined = ("-".join(parts[:size]) for size in range(longest, 0, -1))
            name = next((one for one in joined if one in odd), "")
            written.append(f"`{name}`" if name else parts[0])
            del parts[: name.count("-") + 1]
        return "-".join(written)

    return _PART.sub(with_backticks, formula) if odd else formula


def _is_plain(name: str) -> bool:
    """Return whether formulas and the Python in them read a name without backticks."""
    return name.isidentifier() and not iskeyword(name)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def names_in(formula: str) -> list[str]:
    """Return the columns that a formula names, without functions, options and quoted texts."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    return list(dict.fromkeys(between or name for between, name in _NAME.findall(plain)))


def spelled(formula: str, names: Sequence[str]) -> str:
    """Return a formula with its names as `variable` writes them, between backticks if need be."""
    written = {name: variable(name) for name in names}
    quoting = {name: one if _is_plain(one) else f"`{one}`" for name, one in written.items()}

    def replaced(found: re.Match[str]) -> str:
        return quoting.get(found[1] or found[2], found[0])

    parts = re.split(r"(\"[^\"]*\"?|'[^']*'?)", formula)
    return "".join(
        part if place % 2 else _NAME.sub(replaced, part) for place, part in enumerate(parts)
    )
