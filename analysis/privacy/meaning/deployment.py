"""Deployments with a published ε, for comparisons, always with their unit and model.

The ε of one report, of a day and of a lifetime differ, and so do an ε with and an ε without a
curator who sees the answers. So no row can be written without its unit and model.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analysis.core.errors import check_positive


@dataclass(frozen=True)
class Deployment:
    """A published deployment.

    `unit` says what is protected. `model` says who is trusted; ``local`` means nobody, as here.
    `epsilon` and `delta` are None if only `rho`, of zero-concentrated privacy, was published.
    `verification` says how the value was checked, and `source` where it was published.
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
        """Return words for the ε that is spent, with unit and model."""
        if self.epsilon is None:
            return f"no ε published, ρ = {self.rho:g}; unit: {self.unit}; model: {self.model}"
        delta = f", δ = {self.delta:g}" if self.delta else ""
        return f"ε = {self.epsilon:g}{delta}; unit: {self.unit}; model: {self.model}"


@dataclass(frozen=True)
class Comparison:
    """The deployments of one model nearest to an ε: those that spend at most ε, and those above.

    Several are listed if they spend the same. A side without deployments is empty.
    """

    below: tuple[Deployment, ...]
    above: tuple[Deployment, ...]


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return all deployments by model, then by ε. Those without one are the last of their model.

    They are compiled from the Differential Privacy Deployments Registry of OpenDP and NIST (MIT
    license), D. Desfontaines' list of real-world uses of differential privacy, and the rows'
    sources.
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
        An ε of one report, of a wave or in total. The reader must be told which, and the
        deployments' units.
    model : str
        The model of the deployments, one of `Deployment.model`.

    Raises
    ------
    ValueError
        If `epsilon` is not a finite number above 0, or if no deployment has this model.
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
