"""What the respondent's page explains, made from the channels that will run."""

from server.explanation.cost import costs
from server.explanation.label import an_answer
from server.explanation.question import Explained, explained
from server.explanation.tells import tells, verdict

__all__ = ["Explained", "an_answer", "costs", "explained", "tells", "verdict"]
