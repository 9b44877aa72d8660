"""A randomizer: encoder, then channel; what the respondent's browser runs for one question."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from analysis.channels import CHANNELS, Channel
from analysis.encoders import ENCODERS, Encoder
from analysis.epsilon import exp_lower, log_ratio, micro

EncoderT = TypeVar("EncoderT", bound=Encoder, covariant=True)
ChannelT = TypeVar("ChannelT", bound=Channel, covariant=True)


@dataclass(frozen=True)
class Randomizer(Generic[EncoderT, ChannelT]):
    """An encoder and a channel that fit each other; `from_json` refuses any that do not."""

    encoder: EncoderT
    channel: ChannelT

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two answers."""
        return self.channel.ratio()

    @property
    def epsilon(self) -> float:
        """ε of one report: ln of `ratio`."""
        return log_ratio(self.ratio)

    @property
    def charge(self) -> int:
        """What one report costs, in millionths of ε, rounded up."""
        return micro(self.ratio)

    def randomize(self, value: Any, words: Iterator[int]) -> Any:
        """Draw the report for a value of the question's domain."""
        return self.channel.randomize(self.encoder.encode(value, words), words)

    def check(self) -> None:
        """Raise ValueError unless both parts are sound and fit each other."""
        self.encoder.check()
        self.channel.check()
        if self.encoder.inputs != self.channel.inputs:
            raise ValueError(
                f"channel must take the encoder's {self.encoder.inputs} inputs, "
                f"takes {self.channel.inputs}"
            )

    def check_epsilon(self, asked: Fraction) -> None:
        """Raise ValueError unless the ratio is proved to be at most e^asked."""
        if self.ratio > exp_lower(asked):
            raise ValueError(f"ratio {self.ratio} must be at most e^{asked}")

    def to_json(self) -> dict[str, Any]:
        """Whole numbers only; the ratio's as strings, since they may pass 2^53."""
        return {
            "encoder": {"name": self.encoder.name, **_numbers(self.encoder)},
            "channel": {"name": self.channel.name, **_numbers(self.channel)},
            "ratio": [str(self.ratio.numerator), str(self.ratio.denominator)],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Randomizer[Any, Any]":
        """Read what `to_json` wrote and believe nothing: structure and ratio are checked.

        Raises
        ------
        ValueError
            If a number is not whole, the parts do not fit, or the stated ratio is not the ratio.
        """
        randomizer: Randomizer[Any, Any] = cls(
            _part(ENCODERS, data["encoder"]), _part(CHANNELS, data["channel"])
        )
        randomizer.check()
        top, bottom = (int(number) for number in data["ratio"])
        if bottom < 1 or top * randomizer.ratio.denominator != bottom * randomizer.ratio.numerator:
            raise ValueError(f"stated ratio {top}/{bottom}, weights give {randomizer.ratio}")
        return randomizer


def is_weak(randomizer: Randomizer[Any, Any]) -> bool:
    """Whether one report points to its answer so strongly that nobody could deny it.

    The line is drawn at ε = 4, odds of 55: a belief of one half would become 98 %.
    """
    return randomizer.ratio > exp_lower(Fraction(4))


def _numbers(part: Any) -> dict[str, int]:
    return asdict(part)


def _part(table: dict[str, Any], data: dict[str, Any]) -> Any:
    numbers = {key: number for key, number in data.items() if key != "name"}
    if any(type(number) is not int for number in numbers.values()):
        raise ValueError(f"{data['name']}: expected whole numbers, got {numbers}")
    return table[data["name"]](**numbers)
