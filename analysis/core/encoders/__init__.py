"""Encoders: the public step before a channel, from a domain's value to the channel's input.

An encoder protects nothing. Its counterpart in the browser is ``client/encoders.js``.
"""

from analysis.core.encoders.base import Encoder
from analysis.core.encoders.categories import Hash, Index, Onehot
from analysis.core.encoders.grid import Grid
from analysis.core.encoders.groups import Group, Order, Suborder
from analysis.core.encoders.several import Multihot, Padded, Pick
from analysis.core.encoders.text import Bloom, Digest, Prefix

#: Every encoder by its name on the wire.
ENCODERS: dict[str, type[Encoder]] = {
    encoder.name: encoder
    for encoder in (
        *(Index, Onehot, Hash, Grid, Multihot, Padded, Pick, Group, Order, Suborder),
        *(Digest, Bloom, Prefix),
    )
}

__all__ = ["ENCODERS", "Encoder"]
