"""The public page `/explore`: what ε and δ mean, cost and buy, in pictures that one can change."""

from server.explore.page import blueprint

__all__ = ["blueprint"]
