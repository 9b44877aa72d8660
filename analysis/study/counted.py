"""One wave of a survey whose reports were counted: what the counts alone tell."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite

from analysis.estimate import Ints
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.plausibility import Plausibility, plausibility
from analysis.estimate.poisoning import shifts
from analysis.study.methods import Fieldwork, simulated_of
from analysis.study.tally import Tally
from analysis.survey.survey import Survey


class CountedWave(ABC):
    """Estimates of a wave from its counts, wherever the counts are kept.

    `survey` is the frozen version, or the last published of several, and `number` the wave's.
    """

    survey: Survey
    number: int

    @property
    @abstractmethod
    def version(self) -> str:
        """The version; of several the beginnings of all, the last published first."""

    @property
    @abstractmethod
    def tallies(self) -> Mapping[str, Ints]:
        """For each question, how many reports count for each symbol."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, Ints]:
        """How many reports count for 0, 1, ... symbols, of questions where that differs."""

    @property
    @abstractmethod
    def simulated(self) -> int:
        """How many of the reports that are shown were simulated."""

    def estimates(
        self, level: float, method: str = "clopper-pearson", simultaneous: bool = False
    ) -> list[Estimate]:
        """Return the estimates with intervals of this confidence level; as `estimates` does."""
        return estimates(self.survey, self.tallies, level, method=method, simultaneous=simultaneous)

    def plausibility(self) -> list[Plausibility]:
        """Return whether the reports look as their channels draw them."""
        return plausibility(self.survey, self.tallies, self.sizes)

    @property
    def n(self) -> int:
        """The number of reports, whatever their respondents were asked."""
        first = self.survey.questions[0]
        return first.randomizer.reports_in(self.tallies[first.id])

    @property
    def simulated_sentence(self) -> str:
        """How many reports were simulated; empty if none."""
        return simulated_of(Fieldwork(self.n, simulated=self.simulated))

    def shifts(self, fakes: int | None = None) -> tuple[int, dict[tuple[str, str], float]]:
        """Return how far fakes among the reports could have moved each estimate.

        Returns
        -------
        tuple
            The number of fakes, by default 1 % of the reports but at least one. Then the shifts, by
            question and term; none where the honest reports could tell nothing.
        """
        fakes = max(1, self.n // 100) if fakes is None else fakes
        if fakes >= self.n:
            return fakes, {}
        moved = shifts(self.survey, self.tallies, fakes)
        return fakes, {key: shift for key, shift in moved.items() if isfinite(shift)}


class TalliedWave(CountedWave):
    """A wave of which there is a tally and nothing else."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.survey, self.number = tally.survey, tally.number

    @property
    def version(self) -> str:
        return self.survey.version

    @property
    def tallies(self) -> Mapping[str, Ints]:
        return self._tally.tallies

    @property
    def sizes(self) -> Mapping[str, Ints]:
        return self._tally.sizes or {}

    @property
    def simulated(self) -> int:
        return self._tally.simulated
