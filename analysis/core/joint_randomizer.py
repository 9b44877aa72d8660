"""Joint randomizers: what the browser runs for several questions that are drawn together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from analysis.core.channels.pattern import Pattern
from analysis.core.encoders import ENCODERS, Encoder
from analysis.core.epsilon import log_ratio, micro
from analysis.core.errors import shown
from analysis.core.part_json import check_part, read_fraction, read_part, to_numbers, written
from analysis.core.randomizer import Randomizer, Reports, check_within
from analysis.core.types import Array
from analysis.core.words import Block

_MEMBERS = {"encoders", "channel", "ratio", "each"}


@dataclass(frozen=True)
class Place:
    """Which part of a draw it is: the draw's id, its channel, and the number of the part."""

    draw: str
    channel: Pattern
    part: int


@dataclass(frozen=True)
class Marginal(Randomizer[Any, Any]):
    """The law of one question's reports, where several questions are drawn together.

    Reports are read, counted and debiased by it, and nothing is drawn by it. Its privacy is not
    that of its channel: `each` is the largest ratio of the probabilities of all reports of the
    draw together, if only this answer is another. So much can be learned about the answer by
    somebody who knows all others. Added up over questions, ln of it is at least the ε of the draw.
    """

    each: Fraction = Fraction(1)

    @property
    def ratio(self) -> Fraction:
        """`each`, and not the ratio of the channel, which holds for who knows nothing else."""
        return self.each

    @property
    def largest_ratio(self) -> Fraction:
        return self.each

    def contrasts(self) -> None:
        return None

    def to_json(self) -> dict[str, Any]:
        """Return what gives its reports their meaning; nothing is drawn by it."""
        included = Fraction(self.channel.include, self.channel.include + self.channel.exclude)
        return {
            "encoder": to_numbers(self.encoder),
            "size": self.channel.size,
            "included": written(included).split("/"),
            "each": written(self.each).split("/"),
        }


@dataclass(frozen=True)
class JointRandomizer:
    """An encoder for each question, then one draw for all of them.

    `from_json` refuses encoders and a channel that do not fit each other.
    """

    encoders: tuple[Encoder, ...]
    channel: Pattern

    #: Every wave is drawn anew, and no report names a cohort.
    stages = None
    delta = Fraction(0)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two rows of answers."""
        return self.channel.ratio()

    @cached_property
    def each(self) -> Fraction:
        """The largest such ratio if the rows differ in one question, the worst of all questions."""
        return max(self.channel.ratio([part]) for part in range(len(self.encoders)))

    @property
    def epsilon(self) -> float:
        """ε of one report on all questions: ln of `ratio`."""
        return log_ratio(self.ratio)

    @property
    def charge(self) -> int:
        """What one report on all questions costs, in millionths of ε, rounded up."""
        return micro(self.ratio)

    def contrasts(self) -> None:
        """Return None: there are too many pairs of rows of answers to look at."""
        return None

    @cached_property
    def marginals(self) -> tuple[Marginal, ...]:
        """For each question the law of its reports."""
        return tuple(
            Marginal(encoder, self.channel.marginal(part), each=self.channel.ratio([part]))
            for part, encoder in enumerate(self.encoders)
        )

    def randomize(self, values: Sequence[Any], words: Iterator[int]) -> list[Any]:
        """Return a report for each value; raise ValueError if there is no such value."""
        symbols = [
            encoder.encode(value, 0, words)
            for encoder, value in zip(self.encoders, values, strict=True)
        ]
        return self.channel.randomize(symbols, words)

    def randomize_many(self, values: Array, block: Block) -> list[Reports]:
        """Return the reports on each question of many (n, questions) values, a row for a device.

        They are as `Randomizer.randomize_many` gives them.
        """
        no_cohorts = np.broadcast_to(np.uint8(0), len(values))
        drawn = self.channel.randomize_many(values, block)
        return [Reports(no_cohorts, reports) for reports in drawn]

    def check(self) -> None:
        """Raise ValueError unless the channel has a part for each encoder, of its inputs."""
        check_part(self.channel)
        for encoder in self.encoders:
            check_part(encoder)
        inputs = tuple(encoder.inputs for encoder in self.encoders)
        if inputs != self.channel.inputs or not all(e.is_identity for e in self.encoders):
            raise ValueError(
                f"channel must take what the encoders give, {inputs}, got {self.channel.inputs}"
            )

    def check_limits(self, total: Fraction, each: Fraction) -> None:
        """Raise ValueError unless both ratios are proved to be at most e^ε of what was asked."""
        check_within("ratio", self.ratio, total)
        check_within("each", self.each, each)

    def to_json(self) -> dict[str, Any]:
        """Return its whole numbers; those of fractions are strings, since they may pass 2^53."""
        return {
            "encoders": [to_numbers(encoder) for encoder in self.encoders],
            "channel": to_numbers(self.channel),
            "ratio": written(self.ratio).split("/"),
            "each": written(self.each).split("/"),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "JointRandomizer":
        """Return what `to_json` wrote, believing nothing: structure and fractions are checked.

        Raise ValueError if a number is not whole, the parts do not fit, or a stated number is not
        the true one.
        """
        if not isinstance(data, dict) or set(data) != _MEMBERS:
            raise ValueError(
                f"joint randomizer must have {', '.join(sorted(_MEMBERS))}, got {shown(data)}"
            )
        if not isinstance(data["encoders"], list):
            raise ValueError(f"encoders must be a list, got {shown(data['encoders'])}")
        encoders = tuple(read_part("encoder", ENCODERS, part) for part in data["encoders"])
        joint = cls(encoders, read_part("channel", {Pattern.name: Pattern}, data["channel"]))
        joint.check()
        for name in ("ratio", "each"):
            top, bottom = read_fraction(name, data[name])
            true: Fraction = getattr(joint, name)
            if top * true.denominator != bottom * true.numerator:
                raise ValueError(f"{name} must be {written(true)}, got {top}/{bottom}")
        return joint


#: What is drawn and priced as one: the randomizer of one question, or of several together.
AnyDraw = Randomizer[Any, Any] | JointRandomizer
