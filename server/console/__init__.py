"""The researchers' console: pages and downloads, all of which show snapshots of whole batches."""

from server.console import (
    drafts,
    editor,
    fieldwork,
    live,
    people,
    piloting,
    planning,
    privacy,
    publishing,
    results,
    schedule,
    surveys,
    tables,
    together,
    translations,
)
from server.console.blueprint import blueprint

__all__ = [
    "blueprint",
    "drafts",
    "editor",
    "fieldwork",
    "live",
    "people",
    "piloting",
    "planning",
    "privacy",
    "publishing",
    "results",
    "schedule",
    "surveys",
    "tables",
    "together",
    "translations",
]
