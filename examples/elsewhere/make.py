"""Makes the files of this folder: people who are made up, and answer by the designs beside them.

`python examples/elsewhere/make.py FOLDER` writes them there. The truth is what the functions say.
"""

import csv
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Columns = Mapping[str, NDArray[Any]]


def _halves(n: int) -> NDArray[np.str_]:
    return np.where(np.arange(n) % 2 == 0, "A", "B")


def _yes_no(yes: NDArray[np.bool_]) -> NDArray[np.str_]:
    return np.where(yes, "yes", "no")


def unrelated(rng: Generator, n: int = 800) -> Columns:
    """A fifth cheated, and 35 % were born in the first four months, which nobody else knows.

    In sample A they are asked the sensitive question with probability .7, in B with .3.
    """
    form, cheated, born = _halves(n), rng.random(n) < 0.2, rng.random(n) < 0.35
    asked = rng.random(n) < np.where(form == "A", 0.7, 0.3)
    return {"cheated": _yes_no(np.where(asked, cheated, born)), "form": form}


def lie_detector(rng: Generator, n: int = 1000) -> Columns:
    """A fifth used drugs; 75 % of these say yes. Others say no with probability .2, or .8."""
    form, used = _halves(n), rng.random(n) < 0.2
    honest = rng.random(n) < 0.75
    no = rng.random(n) < np.where(form == "A", 0.2, 0.8)
    return {"used": _yes_no(np.where(used, honest, ~no)), "form": form}


def cheater(rng: Generator, n: int = 1000) -> Columns:
    """15 % stole and say so, 20 % say no whatever the card says; it says yes with .25, or .75."""
    form, kind = _halves(n), rng.choice(3, n, p=(0.15, 0.65, 0.2))
    card = rng.random(n) < np.where(form == "A", 0.25, 0.75)
    return {"stole": _yes_no(np.where(kind == 1, card, kind == 0)), "form": form}


def anchor(rng: Generator, n: int = 1000) -> Columns:
    """A quarter evaded taxes, and 85 % are attentive; others pick an answer by lot, twice.

    Birthdays that are true for 20 % make both statements true, or both false, or only one of them.
    """
    evaded, attentive = rng.random(n) < 0.25, rng.random(n) < 0.85
    lot, birthday = rng.random((2, n)) < 0.5, rng.random((2, n)) < 0.2
    same = np.where(attentive, evaded == birthday[0], lot[0])
    same_of_anchor = np.where(attentive, ~birthday[1], lot[1])
    words = ("different", "same")
    return {
        "evaded": np.where(same, words[1], words[0]),
        "anchor": np.where(same_of_anchor, words[1], words[0]),
    }


def extended_crosswise(rng: Generator, n: int = 600) -> Columns:
    """A third skipped classes; birthdays are true for a quarter in A, three quarters in B."""
    form, skipped = _halves(n), rng.random(n) < 1 / 3
    birthday = rng.random(n) < np.where(form == "A", 0.25, 0.75)
    return {"skipped": _yes_no(skipped == birthday), "form": form}


def scrambled(rng: Generator, n: int = 600) -> Columns:
    """Incomes about 2,000 in the north and 3,000 in the south; half are multiplied by a number
    between 0 and 2. The south is three quarters of the people, and half of the sample.
    """
    south = np.arange(n) % 2 == 1
    income = rng.gamma(4, np.where(south, 750, 500))
    told = np.where(rng.random(n) < 0.5, income, income * rng.uniform(0, 2, n))
    return {
        "income": np.round(told).astype(int),
        "region": np.where(south, "south", "north"),
        "weight": np.where(south, 1.5, 0.5),
        "age": np.round(30 + income / 200 + rng.normal(0, 8, n)).astype(int),
    }


def unrelated_number(rng: Generator, n: int = 800) -> Columns:
    """12 drinks a month, on average; in sample A told with probability .75, in B with .25.

    Else people say how often they washed up, 18 times on average.
    """
    form, drinks, dishes = _halves(n), rng.negative_binomial(4, 0.25, n), rng.poisson(18, n)
    own = rng.random(n) < np.where(form == "A", 0.75, 0.25)
    return {"drinks": np.where(own, drinks, dishes), "form": form}


def direct(rng: Generator, n: int = 900) -> Columns:
    """30 % drove drunk. A third are asked directly, where one in two of them says so; the others
    throw a die: 1 forces yes, 6 no. All are asked directly whether they drive to work: 60 % do.
    """
    drove, work = rng.random(n) < 0.3, rng.random(n) < 0.6
    die = rng.integers(1, 7, n)
    thrown = _yes_no(np.where((die == 1) | (die == 6), die == 1, drove))
    said = _yes_no(drove & (rng.random(n) < 0.5))
    asked = np.arange(n) % 3 == 0
    return {
        "asked": np.where(asked, said, ""),
        "thrown": np.where(asked, "", thrown),
        "work": _yes_no(work),
    }


MADE: dict[str, Callable[[Generator], Columns]] = {
    "unrelated": unrelated,
    "lie-detector": lie_detector,
    "cheater": cheater,
    "anchor": anchor,
    "extended-crosswise": extended_crosswise,
    "scrambled": scrambled,
    "direct": direct,
    "unrelated-number": unrelated_number,
}


def write(folder: Path) -> None:
    """Write a CSV file of each function into a folder."""
    for seed, (name, make) in enumerate(MADE.items(), 1):
        columns = make(np.random.default_rng(seed))
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
