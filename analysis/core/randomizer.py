"""Randomizers: an encoder followed by a channel, which the browser runs for one question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels import CHANNELS, Channel
from analysis.core.encoders import ENCODERS, Encoder
from analysis.core.epsilon import MICRO, check_within, exp_lower, log_ratio, micro
from analysis.core.errors import ReportError, shown
from analysis.core.memory import PROTOCOL, Memory
from analysis.core.part_json import check_part, read_fraction, read_part, to_numbers, written
from analysis.core.reports import Reports
from analysis.core.types import Apart, Array, Integers
from analysis.core.waves import constant_ratio, worst_ratio
from analysis.core.waves_of_bits import MOST_ONES, TRILLION, worst_total
from analysis.core.words import Block, below, below_many, parts

EncoderT = TypeVar("EncoderT", bound=Encoder, covariant=True)
ChannelT = TypeVar("ChannelT", bound=Channel, covariant=True)


@dataclass(frozen=True)
class Randomizer(Generic[EncoderT, ChannelT]):
    """An encoder and a channel that fit each other; `from_json` refuses any that do not.

    With `limit`, as in survey files of format 1, the stated privacy is approximate: any set of
    reports has at most this ratio of its probabilities under two answers, except for `delta`. The
    true `ratio` is then larger, and it alone says what reports reveal and cost.

    With `stages` it has a memory: for all waves, the device keeps what the first channel draws for
    an input. Each wave passes that through the second channel anew (Erlingsson, Pihur and Korolova,
    CCS 2014, section 3.1). `channel` is then the composition of both, the law of a wave's report.
    """

    encoder: EncoderT
    channel: ChannelT
    limit: Fraction | None = None
    stages: tuple[Any, Any] | None = None

    @classmethod
    def remembering(cls, encoder: Any, permanent: Any, instant: Any) -> "Randomizer[Any, Any]":
        """Return a randomizer with a memory; both channels are `Bits`, or `Window` of width 1."""
        return cls(encoder, permanent.followed_by(instant), stages=(permanent, instant))

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two answers.

        See docs/methods.md, (38).
        """
        return self.channel.ratio(self.encoder.apart)

    @property
    def stated_ratio(self) -> Fraction:
        """The ratio that the frozen form states: `limit` if there is one, and otherwise `ratio`."""
        return self.ratio if self.limit is None else self.limit

    @cached_property
    def delta(self) -> Fraction:
        """The most by which a set's probability can exceed `stated_ratio` times another's."""
        channel: Any = self.channel
        return Fraction(0 if self.limit is None else channel.delta(self.limit))

    def contrasts(self) -> Array | None:
        """Return the probabilities of reports under the inputs that are easiest to distinguish.

        It is None if these are not known. Then only `ratio` is known.
        """
        contrasts: Array | None = self.channel.contrasts(self.encoder.apart)
        return contrasts

    @property
    def reports_values(self) -> bool:
        """Return whether a report is one of the values. Otherwise it counts for several values."""
        return self.encoder.is_identity and self.channel.gives_one_symbol

    @property
    def epsilon(self) -> float:
        """ε of one report: ln of `ratio`."""
        return log_ratio(self.ratio)

    @cached_property
    def charge(self) -> int:
        """The cost of one report in millionths of ε, rounded up."""
        return micro(self.ratio)

    @property
    def forever(self) -> Fraction:
        """The largest ratio over any number of waves, if the answer never changes.

        Raise ValueError if it has no memory, since without one the noise averages out.
        """
        if self.stages is None:
            raise ValueError("ratio over all waves: the randomizer has no memory")
        permanent: Channel = self.stages[0]
        return permanent.ratio(self.encoder.apart)

    def spent(
        self, reports: int, stable: bool = False, protocol: int = PROTOCOL, stated: bool = False
    ) -> int:
        """Return the cost of `reports` reports of a respondent, in millionths of ε, rounded up.

        With a memory, it is the worst cost over all sequences of answers or, if `stable`, over
        those that never change. Protocol 1 charges memories of bits by a looser bound. If `stated`,
        fresh reports cost what `stated_ratio` proves; a memory has no other ratio.
        """
        if self.stages is None:
            return reports * (micro(self.stated_ratio) if stated else self.charge)
        return _spent(self.stages, self.encoder.apart, reports, stable, protocol)

    @property
    def keeps_cohort(self) -> bool:
        """Return whether a device has one cohort for all waves, rather than one for each report."""
        return self.encoder.keeps_cohort or (
            self.stages is not None and self.encoder.cohorts is not None
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a tally: the number of cohorts, or 1 if there are none, and of symbols."""
        return self.encoder.cohorts or 1, self.channel.symbols

    def randomize(self, value: Any, words: Iterator[int], memory: Memory | None = None) -> Any:
        """Return a report for a value; raise ValueError if the question's domain has no such value.

        The permanent draws come from `memory`. A device that is used once has no memory, and draws
        everything from `words`.
        """
        memory = memory or Memory.once(words)
        cohorts = self.encoder.cohorts
        cohort = 0
        if cohorts is not None:
            cohort = below(cohorts, memory.words("cohort") if self.keeps_cohort else words)
        if self.stages is None:
            report = self.channel.randomize(self.encoder.encode(value, cohort, words), words)
        else:
            permanent, instant = self.stages
            draws = partial(memory.words, "permanent", cohort)
            symbol = self.encoder.encode(value, cohort, memory.words("rounding"))
            report = instant.randomize(permanent.remember(symbol, draws), words)
        return report if cohorts is None else {"cohort": cohort, "report": report}

    def randomize_many(self, values: Array, block: Block) -> Reports:
        """Return a report for each of many values, each of a new device, from the same law.

        `values` have the form of the domain's `as_array`: an (n,) array of positions of categories,
        or of positions of numbers in 0..1, NaN for no answer; or (n, flags) rows, -1 for no answer.
        """
        cohorts: Array = np.broadcast_to(np.uint8(0), len(values))
        if self.encoder.cohorts is not None:
            drawn = below_many(self.encoder.cohorts, len(values), block)
            cohorts = drawn.astype(np.min_scalar_type(self.encoder.cohorts - 1), copy=False)
        symbols = self.encoder.encode_many(values, cohorts, block)
        for channel in self.stages or (self.channel,):
            symbols = channel.randomize_many(symbols, block)
        return Reports(cohorts, symbols)

    def read_many(self, sent: Sequence[Any]) -> Reports:
        """Return reports that were sent in the packed form that `randomize_many` gives.

        Preconditions: each passes `check_report`.
        """
        if self.encoder.cohorts is None:
            return Reports(np.broadcast_to(np.uint8(0), len(sent)), self.channel.read_many(sent))
        dtype = np.min_scalar_type(self.encoder.cohorts - 1)
        cohorts = np.array([report["cohort"] for report in sent], dtype=dtype)
        return Reports(cohorts, self.channel.read_many([report["report"] for report in sent]))

    def joined(self, columns: Sequence[Reports]) -> Reports:
        """Return several packed columns of reports as one, in their order."""
        columns = [*columns, self.read_many([])]
        cohorts = np.concatenate([column.cohorts for column in columns])
        return Reports(cohorts, np.concatenate([column.drawn for column in columns]))

    def tally_many(self, reports: Reports) -> Integers:
        """Return the tally of many reports: how many of each cohort's count for each symbol."""
        cohorts, symbols = self.shape
        if cohorts == 1:
            return self.channel.count_many(reports.drawn).reshape(1, symbols)
        counts = np.zeros(cohorts * symbols, dtype=np.int64)
        for part in parts(len(reports.drawn), max(32768, 4 * len(counts))):
            counts += np.bincount(self._cells(reports.of(part)), minlength=len(counts))
        return counts.reshape(cohorts, symbols)

    def cells_many(self, reports: Reports) -> tuple[Integers, Integers, Integers]:
        """Return the cells of a tally that reports add to, in order: cohorts, symbols, counts."""
        if self.shape[0] == 1:
            counts = self.channel.count_many(reports.drawn)
            symbols = np.flatnonzero(counts)
            return np.zeros_like(symbols), symbols, counts[symbols]
        # A few reports can have many cohorts, so this lays out no whole tally.
        cells, times = np.unique(self._cells(reports), return_counts=True)
        cohorts, symbols = np.divmod(cells.astype(np.int64), self.channel.symbols)
        return cohorts, symbols, times

    def sizes_many(self, reports: Reports) -> Integers | None:
        """Return how many reports count for 0, 1, 2, ... symbols; None if all count for as many."""
        sizes = self.channel.sizes_many(reports.drawn)
        return None if sizes is None else np.bincount(sizes, minlength=self.channel.symbols + 1)

    def _cells(self, reports: Reports) -> Array:
        """Return the cells of the flattened tally that reports count for, with repetitions."""
        cohorts, symbols = self.shape
        dtype = np.min_scalar_type(cohorts * symbols)
        places, counted = self.channel.entries(reports.drawn)
        cells: Array = reports.cohorts[places].astype(dtype)
        cells *= dtype.type(symbols)
        cells += counted.astype(dtype, copy=False)
        return cells

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
        """Return each pair of cohort and symbol that a report, as it was sent, counts for."""
        cohorts, symbols, _ = self.cells_many(self.read_many([report]))
        return list(zip(cohorts.tolist(), symbols.tolist(), strict=True))

    def longest(self) -> Any:
        """Return the report that takes the most room as JSON."""
        report, cohorts = self.channel.longest(), self.encoder.cohorts
        return report if cohorts is None else {"cohort": cohorts - 1, "report": report}

    def reports_in(self, counts: Integers) -> int:
        """Return the number of reports behind a tally."""
        return self.channel.reports_in(counts.sum(axis=0))

    @property
    def portion(self) -> Fraction:
        """The proportion of people who are asked. It is 1 unless a table asks only some."""
        return Fraction(1)

    @property
    def of_asked(self) -> "Randomizer[Any, Any]":
        """The randomizer of respondents who are asked."""
        return self

    def asked_in(self, counts: Integers) -> int:
        """Return how many of the reports behind a tally are from people who were asked."""
        return self.reports_in(counts)

    def asked_many(self, reports: Reports) -> NDArray[np.bool_]:
        """Return (n,) whether each report comes from a respondent who was asked."""
        return np.ones(len(reports.drawn), dtype=np.bool_)

    def as_of_asked(self, reports: Reports) -> Reports:
        """Return the reports of people who were asked in the form of reports of `of_asked`."""
        return reports

    def check(self) -> None:
        """Raise ValueError unless both parts are sound and fit each other."""
        check_part(self.encoder)
        for channel in self.stages or (self.channel,):
            check_part(channel)
        if self.stages is not None:
            _check_stages(*self.stages)
        if (self.encoder.gives_bits, self.encoder.inputs, self.encoder.ones) != (
            self.channel.takes_bits,
            self.channel.inputs,
            self.channel.ones,
        ):
            raise ValueError(
                f"channel must take what {self.encoder.name} gives, {self.encoder.inputs} "
                f"{'bits' if self.encoder.gives_bits else 'inputs'}, "
                f"got {self.channel.name} of {self.channel.inputs}"
            )
        if self.limit is not None and (
            self.encoder.cohorts is not None or not self.channel.gives_one_symbol
        ):
            raise ValueError("delta must be left out where reports have cohorts or several symbols")
        if self.limit is not None and self.stages is not None:
            raise ValueError("delta must be left out where the device has a memory")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"ratio must be at least 1, got {written(self.limit)}")

    def check_epsilon(self, asked: Fraction) -> None:
        """Raise ValueError unless the ratio is proved to be at most e^asked."""
        check_within("ratio", self.stated_ratio, asked)

    def check_forever(self, asked: Fraction | None) -> None:
        """Raise ValueError unless the ratio over all waves is proved to be at most e^asked.

        `asked` must be None if, and only if, there is no memory.
        """
        if (asked is None) != (self.stages is None):
            raise ValueError("epsilon_forever must be there if, and only if, there is a memory")
        if asked is not None and self.forever > exp_lower(asked):
            raise ValueError(f"ratio {self.forever} over all waves must be at most e^{asked}")

    def to_json(self) -> dict[str, Any]:
        """Return its whole numbers; those of fractions are strings, since they may pass 2^53."""
        numbers = {
            "encoder": to_numbers(self.encoder),
            "channel": to_numbers(self.stages[1] if self.stages else self.channel),
            "ratio": written(self.stated_ratio).split("/"),
        }
        if self.stages is not None:
            numbers["permanent"] = to_numbers(self.stages[0])
            numbers["forever"] = written(self.forever).split("/")
        if self.limit is not None:
            numbers["delta"] = written(self.delta).split("/")
        return numbers

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Randomizer[Any, Any]":
        """Return what `to_json` wrote, believing nothing: structure and fractions are checked.

        Raise ValueError if a number is not whole, the parts do not fit, or a stated number is not
        the true one.
        """
        more = {"delta", "permanent", "forever"}
        if not isinstance(data, dict) or set(data) - more != {"encoder", "channel", "ratio"}:
            raise ValueError(
                "randomizer must have channel, encoder, ratio, and may have delta, or permanent "
                f"and forever, got {shown(data)}"
            )
        if ("permanent" in data) != ("forever" in data):
            raise ValueError("permanent and forever must be there together")
        encoder = read_part("encoder", ENCODERS, data["encoder"])
        channel = read_part("channel", CHANNELS, data["channel"])
        top, bottom = read_fraction("ratio", data["ratio"])
        limit = Fraction(top, bottom) if "delta" in data else None
        randomizer: Randomizer[Any, Any]
        if "permanent" in data:
            permanent = read_part("permanent", CHANNELS, data["permanent"])
            _check_stages(permanent, channel)
            randomizer = cls(encoder, permanent.followed_by(channel), limit, (permanent, channel))
        else:
            randomizer = cls(encoder, channel, limit)
        randomizer.check()
        for name in [name for name in ("ratio", "delta", "forever") if name in data]:
            top, bottom = read_fraction(name, data[name])
            true: Fraction = getattr(randomizer, "stated_ratio" if name == "ratio" else name)
            if top * true.denominator != bottom * true.numerator:
                raise ValueError(f"{name} must be {written(true)}, got {top}/{bottom}")
        return randomizer


#: A randomizer of any encoder and channel.
AnyRandomizer = Randomizer[Any, Any]


@lru_cache(maxsize=4096)
def _spent(
    stages: tuple[Any, Any],
    apart: Apart,
    reports: int,
    stable: bool,
    protocol: int,
) -> int:
    """Return `Randomizer.spent` of a randomizer with a memory."""
    if stable:
        return micro(constant_ratio(*stages, apart, reports))
    if protocol > 1 and reports > 1 and stages[0].takes_bits:
        most = max(map(max, apart))
        if most <= MOST_ONES:
            return -(-worst_total(*stages, most, reports) // (TRILLION // MICRO))
    return micro(worst_ratio(*stages, apart, reports))


def _check_stages(permanent: Any, instant: Any) -> None:
    """Raise ValueError unless the second channel can take the reports of the first as inputs."""
    if permanent.name != instant.name or not (permanent.can_be_kept and instant.can_be_kept):
        raise ValueError(
            "permanent must be bits before bits, or a window of width 1 before another, "
            f"got {permanent.name} before {instant.name}"
        )
    if any(channel.p < channel.q for channel in (permanent, instant)):
        raise ValueError("permanent and channel must have near of at least far")
    if permanent.inputs != instant.inputs:
        raise ValueError(
            f"permanent must have as many inputs as channel, {instant.inputs}, "
            f"got {permanent.inputs}"
        )
