"""Look at a collector in the field: its proxy from outside, and the machine that it runs on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A fact that was checked; `advice` says what to do if it is not as it should be."""

    part: str
    subject: str
    finding: str
    ok: bool
    advice: str = ""
