"""Deployments that published what they spend, to compare an ε with; always with unit and model.

An ε of one report, of a day and of a lifetime are different things, and so are one with and one
without a curator who sees the answers. So no row can be written without its unit and model.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analysis.core.errors import check_positive


@dataclass(frozen=True)
class Deployment:
    """One published setting.

    `unit` is what is protected. `model` says who is trusted: ``local`` means nobody, as here.
    `epsilon` and `delta` are None where only `rho`, of zero-concentrated privacy, was published.
    `verification` says how the value was checked, `source` where it was published.
    """

    name: str
    organization: str
    year: int
    model: str
    unit: str
    epsilon: float | None
    delta: float | None
    rho: float | None
    source: str
    verification: str

    def __post_init__(self) -> None:
        if not (self.unit and self.model):
            raise ValueError(f"{self.name}: unit and model must be stated")

    @property
    def spent(self) -> str:
        """Say what is spent, on which unit, in which model."""
        if self.epsilon is None:
            return f"no ε published, ρ = {self.rho:g}; unit: {self.unit}; model: {self.model}"
        delta = f", δ = {self.delta:g}" if self.delta else ""
        return f"ε = {self.epsilon:g}{delta}; unit: {self.unit}; model: {self.model}"


@dataclass(frozen=True)
class Comparison:
    """The deployments of one model that spend nearest to an ε: as much or less, and more.

    There are several if they spend the same, and none if no deployment is on that side.
    """

    below: tuple[Deployment, ...]
    above: tuple[Deployment, ...]


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return all deployments by model, then by ε; without a published ε last of their model.

    Compiled from the Differential Privacy Deployments Registry of OpenDP and NIST (MIT license),
    D. Desfontaines' list of real-world uses of differential privacy, and the sources of the rows.
    """
    source = files("analysis.privacy.meaning") / "deployments.json"
    stored = json.loads(source.read_text(encoding="utf-8"))
    rows = [Deployment(**row) for row in stored["deployments"]]
    return tuple(
        sorted(rows, key=lambda row: (row.model != "local", row.model, _size(row), row.name))
    )


def comparison(epsilon: float, model: str = "local") -> Comparison:
    """Return the deployments that spend nearest to an ε.

    Parameters
    ----------
    epsilon : float
        Of one report, of a wave or in total; a reader must be told which, beside their units.
    model : str
        The model of the deployments, one of `Deployment.model`.

    Raises
    ------
    ValueError
        If `epsilon` is no finite number above 0, or no deployment has this model.
    """
    check_positive(epsilon)
    known = sorted({row.model for row in deployments()})
    if model not in known:
        raise ValueError(f'model must be one of {", ".join(known)}, got "{model}"')
    rows = [row for row in deployments() if row.model == model and row.epsilon is not None]
    sizes = [_size(row) for row in rows]
    below = max((size for size in sizes if size <= epsilon), default=None)
    above = min((size for size in sizes if size > epsilon), default=None)
    return Comparison(
        tuple(row for row in rows if _size(row) == below),
        tuple(row for row in rows if _size(row) == above),
    )


def _size(row: Deployment) -> float:
    return float("inf") if row.epsilon is None else row.epsilon
