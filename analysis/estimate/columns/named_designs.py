"""Designs of two answers that have a name: the probability of "yes" in each class.

The classic ones are those of `analysis.mechanisms`. The others have more unknowns than one sample
can identify.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from analysis.estimate.columns.unknowns import Polynomial, parsed
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.classic import Classic

Numbers = Mapping[str, str]


@dataclass(frozen=True)
class Named:
    """A design with a name.

    Attributes
    ----------
    parameters : tuple of str
        Probabilities that must be given.
    yes : mapping
        The probability of "yes" in each class, as a text of parameters and unknowns. The classes
        "yes" and "no" are the values. Other classes have names of their own.
    unknowns : tuple of str
        Probabilities that are estimated.
    optional : tuple of str
        Probabilities that are 0 unless they are given.
    anchor : str, optional
        The probability of "yes" to the anchor question, which is the same in each class.
    """

    parameters: tuple[str, ...]
    yes: Mapping[str, str]
    unknowns: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    anchor: str | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes besides yes and no, which come first."""
        return tuple(name for name in self.yes if name not in ("yes", "no"))

    def chances(self, numbers: Numbers) -> list[Fraction]:
        """Return the probability of "yes" in each class; `numbers` has parameters and unknowns."""
        return [_number(text, numbers) for text in self.yes.values()]

    def chances_of_anchor(self, numbers: Numbers) -> list[Fraction]:
        """Return the probability of "yes" to the anchor question in each class."""
        return [_number(self.anchor or "", numbers)] * len(self.yes)


def _number(text: str, numbers: Numbers) -> Fraction:
    known = {name: Polynomial.constant(Fraction(number)) for name, number in numbers.items()}
    return parsed(text, known).at({})


@dataclass(frozen=True)
class _OfMechanism(Named):
    """A classic design. Its mechanism gives the probabilities: sums of products of parameters."""

    mechanism: Classic | None = None

    def chances(self, numbers: Numbers) -> list[Fraction]:
        assert self.mechanism is not None
        return list(self.mechanism.yes(dict(numbers)))


#: All designs that have a name, by name.
NAMED: dict[str, Named] = {
    **{
        name: _OfMechanism(
            mechanism.parameters, {"yes": "", "no": ""}, mechanism=cast(Classic, mechanism)
        )
        for name, mechanism in MECHANISMS.items()
        if mechanism.parameters is not None
    },
    # Moshagen, Musch and Erdfelder, Behavior Research Methods 2012: a person with the trait says so
    # with probability t; a person without it says "no" with probability p.
    "lie-detector": Named(("p",), {"yes": "t", "no": "1 - p"}, ("t",)),
    # Clark and Desharnais, Psychological Methods 1998: cheaters say "no" whatever they should say.
    "cheater-detection": Named(
        ("p_yes",), {"yes": "1 - p_no", "no": "p_yes", "cheater": "0"}, optional=("p_no",)
    ),
    # Atsusaka and Stevenson, Political Analysis 2023: inattentive people pick an answer at random,
    # also to an anchor question, whose sensitive statement is true for nobody.
    "crosswise-anchor": Named(
        ("prevalence", "anchor_prevalence"),
        {
            "yes": "attentive * prevalence + (1 - attentive) / 2",
            "no": "attentive * (1 - prevalence) + (1 - attentive) / 2",
        },
        ("attentive",),
        anchor="attentive * (1 - anchor_prevalence) + (1 - attentive) / 2",
    ),
}
