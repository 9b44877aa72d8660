"""The public page `/explore`: what ε and δ mean, cost and buy, in pictures that one can change."""

from server.explore.page import blueprint
from server.explore.static import as_markdown, render_static

__all__ = ["as_markdown", "blueprint", "render_static"]
