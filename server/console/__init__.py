"""The researchers' console: pages and downloads, all of which show snapshots of whole batches."""

from server.console import (
    fieldwork,
    live,
    people,
    planning,
    privacy,
    results,
    surveys,
    tables,
    together,
)
from server.console.blueprint import blueprint

__all__ = [
    "blueprint",
    "fieldwork",
    "live",
    "people",
    "planning",
    "privacy",
    "results",
    "surveys",
    "tables",
    "together",
]
