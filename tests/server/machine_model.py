"""A model of what the database must hold, derived from the words of the protocol alone."""

import json
from dataclasses import dataclass, field

from analysis.survey.survey import Survey

#: The invitations of each wave.
TOKENS = ("one", "two", "three", "four")


@dataclass(frozen=True)
class Sent:
    """A submission of a device. No other device sends the same `symbol`, which is a measurement."""

    version: str
    wave: int
    rid: str
    respondent: str
    symbol: int
    token: str | None

    @property
    def row(self) -> tuple[str, int, int]:
        """Return the parts that make a submission the same for the server."""
        return self.version, self.wave, self.symbol

    @property
    def body(self) -> bytes:
        names = ("version", "wave", "rid", "respondent")
        body = {name: getattr(self, name) for name in names}
        token = {} if self.token is None else {"token": self.token}
        return json.dumps(body | token | {"reports": {"unique": self.symbol}}).encode()


@dataclass
class Model:
    """What was published, opened, used and stored so far."""

    published: list[str] = field(default_factory=list)
    opened: set[int] = field(default_factory=set)
    used: set[tuple[int, str]] = field(default_factory=set)
    stored: dict[str, Sent] = field(default_factory=dict)

    def add(self, one: Sent, versions: dict[str, Survey]) -> int | str:
        """Return the status, or the word of the refusal."""
        if one.version not in self.published:
            return "malformed"
        if one.rid in self.stored:
            return 200 if self.stored[one.rid].row == one.row else "rid-reused"
        if one.wave not in self.opened:
            return "closed"
        mine = [other for other in self.stored.values() if other.respondent == one.respondent]
        promised = {one.version, self.published[-1], *(other.version for other in mine)}
        cap = min(versions[version].cap for version in promised)
        if (len(mine) + 1) * versions[one.version].charge > cap:
            return "cap-exceeded"
        invited = {versions[one.version].access, versions[self.published[-1]].access} != {"open"}
        fits = one.token in TOKENS if invited else one.token is None
        if not fits or (one.wave, one.token) in self.used:
            return "invitation"
        if one.token is not None:
            self.used.add((one.wave, one.token))
        self.stored[one.rid] = one
        return 201
