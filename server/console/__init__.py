"""The researchers' console: pages and downloads, all of which show snapshots of whole batches."""

from server.console import (
    account,
    drafts,
    editor,
    fieldwork,
    inviting,
    live,
    metrics,
    people,
    piloting,
    planning,
    privacy,
    publishing,
    results,
    schedule,
    surveys,
    tables,
    translations,
)
from server.console.blueprint import blueprint, let_in
from server.console.together import page as together_page

__all__ = [
    "account",
    "blueprint",
    "drafts",
    "editor",
    "fieldwork",
    "inviting",
    "let_in",
    "live",
    "metrics",
    "people",
    "piloting",
    "planning",
    "privacy",
    "publishing",
    "results",
    "schedule",
    "surveys",
    "tables",
    "together_page",
    "translations",
]
