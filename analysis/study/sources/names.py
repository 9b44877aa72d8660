"""The names of columns in the formula of a model."""

import re
from collections.abc import Sequence

from analysis.estimate.columns.of_survey import variable

#: A name in a formula: letters, digits, _ and ., or anything between backticks. Functions and their
#: options are no names: a parenthesis or a single = follows them.
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d][\w.]*)(?!\s*(?:\(|=(?!=))|[\w.])")


def names_in(formula: str) -> list[str]:
    """Return the columns that a formula names, without functions, options and quoted texts."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    return list(dict.fromkeys(quoted or name for quoted, name in _NAME.findall(plain)))


def spelled(formula: str, names: Sequence[str]) -> str:
    """Return a formula with its names as `variable` writes them."""
    for name in names:
        formula = formula.replace(f"`{name}`", variable(name)).replace(name, variable(name))
    return formula
