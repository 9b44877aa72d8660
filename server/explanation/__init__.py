"""What the respondent's page explains, made from the channels that will run."""

from server.explanation.question import Explained, explained
from server.explanation.survey import (
    an_answer,
    costs,
    example,
    example_of,
    limits_of_one,
    presses,
    promise,
    sampling,
    tells,
)

__all__ = [
    "Explained",
    "an_answer",
    "costs",
    "example",
    "example_of",
    "explained",
    "limits_of_one",
    "presses",
    "promise",
    "sampling",
    "tells",
]
