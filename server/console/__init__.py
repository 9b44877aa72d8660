"""The researchers' console: pages and downloads, all of which show snapshots of whole batches."""

from server.console import fieldwork, people, privacy, results, surveys, tables
from server.console.blueprint import blueprint

__all__ = ["blueprint", "fieldwork", "people", "privacy", "results", "surveys", "tables"]
