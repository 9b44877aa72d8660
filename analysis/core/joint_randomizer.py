"""Joint randomizers: what the browser runs for several questions that are drawn together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.joint_bits import JointBits
from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_pattern import SampledPattern
from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.encoders import ENCODERS, Encoder
from analysis.core.epsilon import check_within, log_ratio, micro
from analysis.core.errors import shown
from analysis.core.part_json import check_part, read_fraction, read_part, to_numbers, written
from analysis.core.randomizer import Randomizer
from analysis.core.reports import Reports
from analysis.core.types import Integers
from analysis.core.words import LARGEST_TOTAL, check_total

_MEMBERS = {"encoders", "ratio", "each"}


@dataclass(frozen=True)
class Place:
    """The position of a part in a draw: the draw's id, its channel, and the number of the part."""

    draw: str
    channel: Pattern | SampledPattern
    part: int


@dataclass(frozen=True)
class Marginal(Randomizer[Any, Any]):
    """The law of one question's reports, where several questions are drawn together.

    Reports are read, counted and debiased by it, but never drawn by it. Its privacy is not that of
    its channel: `each` is the largest ratio of the probabilities of all reports of the draw
    together if only this answer changes. It bounds what somebody who knows all other answers learns
    about this one. The sum of ln `each` over all questions is at least the ε of the draw.
    """

    each: Fraction = Fraction(1)

    @property
    def ratio(self) -> Fraction:
        """`each`: the channel's own ratio holds only against those who know no other answer."""
        return self.each

    def contrasts(self) -> None:
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that give its reports their meaning. Nothing is drawn by them."""
        return {
            "encoder": to_numbers(self.encoder),
            **self.channel.law,
            "each": written(self.each).split("/"),
        }


@dataclass(frozen=True)
class SampledMarginal(Marginal):
    """The law of one question's reports, where each person is asked some of the questions."""

    @property
    def portion(self) -> Fraction:
        return Fraction(self.channel.portion)

    @property
    def of_asked(self) -> Marginal:
        return Marginal(self.encoder, self.channel.asked, each=self.each)

    def asked_in(self, counts: Integers) -> int:
        return int(self.channel.asked_in(counts[0]))

    def asked_many(self, reports: Reports) -> NDArray[np.bool_]:
        return np.asarray(self.channel.asked_many(reports.drawn))

    def as_of_asked(self, reports: Reports) -> Reports:
        return replace(reports, drawn=self.channel.sets_of(reports.drawn))


@dataclass(frozen=True)
class JointRandomizer:
    """An encoder for each question, then one draw for all questions, or for those that are asked.

    `from_json` refuses encoders and a channel that do not fit each other.
    """

    encoders: tuple[Encoder, ...]
    channel: Pattern | SampledPattern

    #: Every wave is drawn anew, and no report names a cohort.
    stages = None

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two rows of answers."""
        return self.channel.ratio()

    @cached_property
    def parts(self) -> tuple[range, ...]:
        """The parts of the channel that each question's answer goes into."""
        ends = accumulate((len(encoder.part_inputs) for encoder in self.encoders), initial=0)
        return tuple(range(first, end) for first, end in pairwise(ends))

    @property
    def samples(self) -> tuple[tuple[int, ...], ...]:
        """The sets of questions that one person can be asked: one set of all, or several sets."""
        return self.channel.samples or (tuple(range(len(self.encoders))),)

    @property
    def laws(self) -> tuple[Pattern, ...]:
        """The law of the reports on each of `samples`."""
        return self.channel.laws

    @property
    def asks(self) -> int:
        """The number of questions that each person is asked."""
        return len(self.samples[0])

    @property
    def asks_some(self) -> bool:
        """Return whether each person is asked only some of the questions."""
        return self.asks < len(self.encoders)

    @cached_property
    def portions(self) -> tuple[Fraction, ...]:
        """The proportion of people who are asked each question."""
        times = Counter(place for sample in self.samples for place in sample)
        return tuple(Fraction(times[at], len(self.samples)) for at in range(len(self.encoders)))

    def ratio_of(self, questions: Sequence[int]) -> Fraction:
        """Return the largest such ratio if rows of answers differ at most in these questions."""
        return self.channel.ratio([part for place in questions for part in self.parts[place]])

    @cached_property
    def each(self) -> Fraction:
        """The largest such ratio if the rows of answers differ in one question, the worst one."""
        return max(self.ratio_of([place]) for place in range(len(self.encoders)))

    @property
    def epsilon(self) -> float:
        """ε of one report on all questions: ln of `ratio`."""
        return log_ratio(self.ratio)

    @property
    def charge(self) -> int:
        """The cost of one report on all questions, in millionths of ε, rounded up."""
        return micro(self.ratio)

    def contrasts(self) -> None:
        """Return None: there are too many pairs of rows of answers to look at."""
        return None

    @cached_property
    def marginals(self) -> tuple[Marginal, ...]:
        """The law of the reports of each question."""
        return tuple(map(self._marginal, range(len(self.encoders))))

    def _marginal(self, place: int) -> Marginal:
        encoder, each = self.encoders[place], self.ratio_of([place])
        parts, portion = self.parts[place], self.portions[place]
        if len(parts) > 1:
            return Marginal(encoder, JointBits(len(parts), self.channel.of(parts)), each=each)
        one = self.channel.marginal(parts[0])
        if portion == 1:
            return Marginal(encoder, one, each=each)
        sampled = SampledSubset(one.inputs, one.size, one.include, one.exclude, portion)
        return SampledMarginal(encoder, sampled, each=each)

    def randomize(
        self, values: Sequence[Any], words: Iterator[int], asked: Sequence[int] | None = None
    ) -> list[Any]:
        """Return a report for each value; raise ValueError if there is no such value.

        `asked` has the positions of the questions that are asked, in order, if not all are asked.
        """
        chosen = self.samples[0] if asked is None else tuple(asked)
        states = [self.encoders[place].states_of(values[place]) for place in chosen]
        law = self.laws[self.samples.index(chosen)]
        sets = law.randomize([state for own in states for state in own], words)
        starts = accumulate(map(len, states), initial=0)
        reports: list[Any] = [[] for _ in self.encoders]
        for place, (first, end) in zip(chosen, pairwise(starts), strict=True):
            reports[place] = self.marginals[place].channel.joined(sets[first:end])
        return reports

    def check(self) -> None:
        """Raise ValueError unless the channel has the parts that the encoders give."""
        for part in (*self.encoders, *self.laws):
            check_part(part)
        inputs = [encoder.part_inputs for encoder in self.encoders]
        if not all(inputs) or (self.asks_some and any(len(own) > 1 for own in inputs)):
            raise ValueError(
                "encoders must be of questions that can be drawn together, and of one part each if "
                f"people are asked some of them, got parts of {inputs}"
            )
        if {place for sample in self.samples for place in sample} != set(range(len(inputs))):
            raise ValueError("each question must be asked of somebody")
        for sample, law in zip(self.samples, self.laws, strict=True):
            given = tuple(k for place in sample for k in inputs[place])
            if given != law.inputs:
                raise ValueError(
                    f"channel must take what the encoders give, {given}, got {law.inputs}"
                )
        if self.asks_some:
            # Check that each question has one size of sets, and that the mean of its laws is a
            # channel.
            for place in range(len(self.encoders)):
                one = self.channel.marginal(place)
                check_total("channels", one.include + one.exclude, LARGEST_TOTAL)

    def check_limits(self, total: Fraction, each: Fraction) -> None:
        """Raise ValueError unless each ratio is proved to be at most e^ε of its stated ε."""
        check_within("ratio", self.ratio, total)
        check_within("each", self.each, each)

    def to_json(self) -> dict[str, Any]:
        """Return its whole numbers. Those of fractions are strings, since they may exceed 2^53."""
        return {
            "encoders": [to_numbers(encoder) for encoder in self.encoders],
            **self._channel_json,
            "ratio": written(self.ratio).split("/"),
            "each": written(self.each).split("/"),
        }

    @property
    def _channel_json(self) -> dict[str, Any]:
        if not self.channel.samples:
            return {"channel": to_numbers(self.laws[0])}
        keys = [_key(self.encoders, sample) for sample in self.samples]
        return {
            "channels": {key: to_numbers(law) for key, law in zip(keys, self.laws, strict=True)}
        }

    @classmethod
    def from_json(
        cls, data: dict[str, Any], samples: tuple[tuple[int, ...], ...] = ()
    ) -> "JointRandomizer":
        """Return the randomizer that `to_json` wrote, after checks of its structure and fractions.

        `samples` are the sets of questions that one person can be asked, if that is not all
        questions.

        Raise ValueError if a number is not whole, the parts do not fit, or a stated number is not
        the true one.
        """
        members = _MEMBERS | {"channels" if samples else "channel"}
        if not isinstance(data, dict) or set(data) != members:
            raise ValueError(
                f"joint randomizer must have {', '.join(sorted(members))}, got {shown(data)}"
            )
        if not isinstance(data["encoders"], list):
            raise ValueError(f"encoders must be a list, got {shown(data['encoders'])}")
        encoders = tuple(read_part("encoder", ENCODERS, part) for part in data["encoders"])
        joint = cls(
            encoders,
            _read_sampled(data["channels"], samples, encoders)
            if samples
            else _read_pattern(data["channel"]),
        )
        joint.check()
        for name in ("ratio", "each"):
            top, bottom = read_fraction(name, data[name])
            true: Fraction = getattr(joint, name)
            if top * true.denominator != bottom * true.numerator:
                raise ValueError(f"{name} must be {written(true)}, got {top}/{bottom}")
        return joint


def _read_pattern(data: Any) -> Pattern:
    pattern: Pattern = read_part("channel", {Pattern.name: Pattern}, data)
    return pattern


def _read_sampled(
    data: Any, samples: tuple[tuple[int, ...], ...], encoders: tuple[Encoder, ...]
) -> SampledPattern:
    if max(max(sample) for sample in samples) >= len(encoders):
        raise ValueError(f"encoders must be one for each question, got {len(encoders)}")
    keys = [_key(encoders, sample) for sample in samples]
    if not isinstance(data, dict) or set(data) != set(keys):
        raise ValueError(f"channels must be those of {sorted(set(keys))}, got {shown(data)}")
    patterns = {key: _read_pattern(part) for key, part in data.items()}
    return SampledPattern(samples, tuple(patterns[key] for key in keys))


def _key(encoders: tuple[Encoder, ...], sample: tuple[int, ...]) -> str:
    """Return the positions of the questions asked, each replaced by the first of its kind."""
    return ",".join(str(encoders.index(encoders[place])) for place in sample)


#: A draw with one cost: the randomizer of one question, or of several together.
AnyDraw = Randomizer[Any, Any] | JointRandomizer
