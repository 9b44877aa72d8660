"""A randomizer: encoder, then channel; what the respondent's browser runs for one question."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.channels import CHANNELS, Channel
from analysis.channels.one_symbol import OneSymbol
from analysis.encoders import ENCODERS, Encoder
from analysis.epsilon import exp_lower, log_ratio, micro
from analysis.errors import ReportError, shown
from analysis.words import Block, below, below_many, parts

#: The most digits of a ratio or delta; texts of over 4,300 Python does not read as numbers.
_DIGITS = 4000

EncoderT = TypeVar("EncoderT", bound=Encoder, covariant=True)
ChannelT = TypeVar("ChannelT", bound=Channel, covariant=True)


@dataclass(frozen=True)
class Reports:
    """Many reports, a row each: their cohorts (0 where there are none), and what was drawn.

    In the smallest integers that hold them: widen them before calculating.
    """

    cohorts: NDArray[Any]
    drawn: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """The memory they take: a 0 that stands for all cohorts takes none."""
        return self.cohorts.nbytes * any(self.cohorts.strides) + self.drawn.nbytes


@dataclass(frozen=True)
class Randomizer(Generic[EncoderT, ChannelT]):
    """An encoder and a channel that fit each other; `from_json` refuses any that do not.

    With `limit`, the privacy that is stated is approximate: the probabilities of any set of
    reports under two answers have at most this ratio, but for `delta`. Without it `delta` is 0.
    """

    encoder: EncoderT
    channel: ChannelT
    limit: Fraction | None = None

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two answers; or `limit`."""
        return self.channel.ratio(self.encoder.apart) if self.limit is None else self.limit

    @cached_property
    def delta(self) -> Fraction:
        """By how much the probability of a set of reports can exceed `ratio` times another's.

        The hockey-stick divergence, summed exactly over the channel's table, of its worst inputs.
        """
        if self.limit is None:
            return Fraction(0)
        top, bottom = self.ratio.numerator, self.ratio.denominator
        assert isinstance(self.channel, OneSymbol)
        rows = [self.channel.weights(symbol) for symbol in range(self.channel.inputs)]
        worst = max(
            sum(max(0, bottom * a - top * b) for a, b in zip(one, other, strict=True))
            for one in rows
            for other in rows
        )
        return Fraction(worst, bottom * sum(rows[0]))

    @property
    def epsilon(self) -> float:
        """ε of one report: ln of `ratio`."""
        return log_ratio(self.ratio)

    @property
    def charge(self) -> int:
        """What one report costs, in millionths of ε, rounded up."""
        return micro(self.ratio)

    @property
    def shape(self) -> tuple[int, int]:
        """Of a tally: cohorts, or 1 if there are none, and symbols."""
        return self.encoder.cohorts or 1, self.channel.symbols

    def randomize(self, value: Any, words: Iterator[int]) -> Any:
        """Draw the report for a value of the question's domain; ValueError if it is none."""
        cohorts = self.encoder.cohorts
        cohort = 0 if cohorts is None else below(cohorts, words)
        report = self.channel.randomize(self.encoder.encode(value, cohort, words), words)
        return report if cohorts is None else {"cohort": cohort, "report": report}

    def randomize_many(self, values: NDArray[Any], block: Block) -> Reports:
        """Draw the reports of many values at once, from the same distribution.

        Parameters
        ----------
        values : (n,) or (n, flags) array
            Places of categories; places of numbers in 0..1, NaN for no answer; or rows of flags,
            of -1 for no answer. All must be values of the domain.
        block : Block
            Gives the words.
        """
        cohorts: NDArray[Any] = np.broadcast_to(np.uint8(0), len(values))
        if self.encoder.cohorts is not None:
            drawn = below_many(self.encoder.cohorts, len(values), block)
            cohorts = drawn.astype(np.min_scalar_type(self.encoder.cohorts - 1), copy=False)
        symbols = self.encoder.encode_many(values, cohorts, block)
        return Reports(cohorts, self.channel.randomize_many(symbols, block))

    def tally_many(self, reports: Reports) -> NDArray[np.int64]:
        """The tally of many reports, of this shape: how many of each cohort count for a symbol."""
        cohorts, symbols = self.shape
        if cohorts == 1:
            return self.channel.count_many(reports.drawn).reshape(1, symbols)
        assert isinstance(self.channel, OneSymbol)
        counts = np.zeros(cohorts * symbols, dtype=np.int64)
        dtype = np.min_scalar_type(len(counts) - 1)
        for part in parts(len(reports.drawn), max(32768, 4 * len(counts))):
            cells = reports.cohorts[part].astype(dtype)
            cells *= dtype.type(symbols)
            cells += reports.drawn[part].astype(dtype, copy=False)
            counts += np.bincount(cells, minlength=len(counts))
        return counts.reshape(cohorts, symbols)

    def check_report(self, report: Any, field: str) -> None:
        """Raise ReportError unless `report` is one that this randomizer can make."""
        cohorts = self.encoder.cohorts
        if cohorts is None:
            return self.channel.check_report(report, field)
        if not isinstance(report, dict) or sorted(report) != ["cohort", "report"]:
            raise ReportError(field, "an object of cohort and report", shown(report))
        if type(report["cohort"]) is not int or not 0 <= report["cohort"] < cohorts:
            expected = f"an integer of 0..{cohorts - 1}"
            raise ReportError(f"{field}.cohort", expected, shown(report["cohort"]))
        return self.channel.check_report(report["report"], f"{field}.report")

    def tallied(self, report: Any) -> list[tuple[int, int]]:
        """The cohort and symbol of each thing that a report counts for."""
        if self.encoder.cohorts is None:
            return [(0, symbol) for symbol in self.channel.tallied(report)]
        return [(report["cohort"], symbol) for symbol in self.channel.tallied(report["report"])]

    def longest(self) -> Any:
        """The report that takes the most room as JSON."""
        report, cohorts = self.channel.longest(), self.encoder.cohorts
        return report if cohorts is None else {"cohort": cohorts - 1, "report": report}

    def reports_in(self, counts: NDArray[np.int64]) -> int:
        """The number of reports behind a tally."""
        return self.channel.reports_in(counts.sum(axis=0))

    def check(self) -> None:
        """Raise ValueError unless both parts are sound and fit each other."""
        _check_part(self.encoder)
        _check_part(self.channel)
        if (self.encoder.gives_bits, self.encoder.inputs) != (
            self.channel.takes_bits,
            self.channel.inputs,
        ):
            raise ValueError(
                f"channel must take what {self.encoder.name} gives, {self.encoder.inputs} "
                f"{'bits' if self.encoder.gives_bits else 'inputs'}, "
                f"got {self.channel.name} of {self.channel.inputs}"
            )
        if self.limit is not None and (
            self.encoder.cohorts is not None or not isinstance(self.channel, OneSymbol)
        ):
            raise ValueError("delta must be left out where reports have cohorts or several symbols")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"ratio must be at least 1, got {_written(self.limit)}")

    def check_epsilon(self, asked: Fraction) -> None:
        """Raise ValueError unless the ratio is proved to be at most e^asked."""
        if self.ratio > exp_lower(asked):
            raise ValueError(f"ratio {self.ratio} must be at most e^{asked}")

    def to_json(self) -> dict[str, Any]:
        """Whole numbers only; those of ratio and delta as strings, since they may pass 2^53."""
        found = {
            "encoder": _numbers(self.encoder),
            "channel": _numbers(self.channel),
            "ratio": _written(self.ratio).split("/"),
        }
        if self.limit is not None:
            found["delta"] = _written(self.delta).split("/")
        return found

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Randomizer[Any, Any]":
        """Read what `to_json` wrote and believe nothing: structure, ratio and delta are checked.

        Raises
        ------
        ValueError
            If a number is not whole, the parts do not fit, or a stated number is not the true one.
        """
        if not isinstance(data, dict) or set(data) - {"delta"} != {"encoder", "channel", "ratio"}:
            raise ValueError(
                "randomizer must have channel, encoder, ratio, and may have delta, "
                f"got {shown(data)}"
            )
        encoder = _part("encoder", ENCODERS, data["encoder"])
        channel = _part("channel", CHANNELS, data["channel"])
        top, bottom = _whole_ratio("ratio", data["ratio"])
        limit = Fraction(top, bottom) if "delta" in data else None
        randomizer: Randomizer[Any, Any] = cls(encoder, channel, limit)
        randomizer.check()
        for name in ("ratio", "delta") if "delta" in data else ("ratio",):
            top, bottom = _whole_ratio(name, data[name])
            true: Fraction = getattr(randomizer, name)
            if top * true.denominator != bottom * true.numerator:
                raise ValueError(f"{name} must be {_written(true)}, got {top}/{bottom}")
        return randomizer


def is_weak(randomizer: Randomizer[Any, Any]) -> bool:
    """Whether one report points to its answer so strongly that nobody could deny it.

    The line is drawn at ε = 4, odds of 55: a belief of one half would become 98 %.
    """
    return randomizer.ratio > exp_lower(Fraction(4))


def _numbers(part: Any) -> dict[str, Any]:
    return {"name": part.name, **{name: _thawed(one) for name, one in asdict(part).items()}}


def _thawed(value: Any) -> Any:
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


def _part(what: str, table: dict[str, Any], data: Any) -> Any:
    """An encoder or a channel, from its JSON: whole numbers of at least 1, or lists of them."""
    name = data.get("name") if isinstance(data, dict) else data
    if not isinstance(data, dict) or not isinstance(name, str) or name not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, got {shown(name)}")
    known = sorted(field.name for field in fields(table[name]))
    if sorted(data) != sorted([*known, "name"]):
        got = ", ".join(sorted(set(data) - {"name"}))
        raise ValueError(f"{name} must have {', '.join(known)}, got {got}")
    part = table[name](**{key: _frozen(data[key]) for key in known})
    _check_part(part)
    return part


def _check_part(part: Any) -> None:
    for field in fields(part):
        value = getattr(part, field.name)
        depth = str(field.type).count("tuple")
        if not _is_whole(value, depth):
            kind = ("a whole number", "a list of whole numbers", "rows of whole numbers")[depth]
            raise ValueError(f"{part.name}: {field.name} must be {kind} of at least 1")
    part.check()


def _is_whole(value: Any, depth: int) -> bool:
    if depth == 0:
        return type(value) is int and 1 <= value < 2**53
    return isinstance(value, tuple) and bool(value) and all(_is_whole(v, depth - 1) for v in value)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


def _whole_ratio(name: str, pair: Any) -> tuple[int, int]:
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or not all(isinstance(one, str) and one.isascii() and one.isdigit() for one in pair)
        or max(map(len, pair)) > _DIGITS
        or int(pair[1]) < 1
    ):
        raise ValueError(
            f"{name} must be two whole numbers as strings of at most {_DIGITS} digits, "
            f"got {shown(pair)}"
        )
    return int(pair[0]), int(pair[1])


def _written(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"
