"""Domains: the values that a question allows, as a mechanism sees them.

A domain owns what is special about its values. Other code asks the domain and tests no classes, so
that a new domain takes a new file here.
"""

from analysis.core.domain.base import NO_ANSWER, NONE, OTHER, RESERVED, Estimand, MeanOf, Sides
from analysis.core.domain.categories import Categories
from analysis.core.domain.numbers import Numbers
from analysis.core.domain.rankings import Rankings
from analysis.core.domain.sets import Sets
from analysis.core.domain.texts import Texts

#: The domains whose estimand is shares, and all domains.
DomainOfShares = Categories | Sets | Rankings
Domain = DomainOfShares | Numbers | Texts

__all__ = [
    "NONE",
    "NO_ANSWER",
    "OTHER",
    "RESERVED",
    "Categories",
    "Domain",
    "DomainOfShares",
    "Estimand",
    "MeanOf",
    "Numbers",
    "Rankings",
    "Sets",
    "Sides",
    "Texts",
]
