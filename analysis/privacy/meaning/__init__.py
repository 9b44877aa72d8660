"""The meaning of ε: natural frequencies, beliefs, grades of odds, and other deployments."""

from analysis.privacy.meaning.belief import (
    PRIORS,
    OddsRow,
    chance,
    likelihood_ratio,
    odds_table,
    posterior,
    strongest_posterior,
)
from analysis.privacy.meaning.deployment import Comparison, Deployment, comparison, deployments
from analysis.privacy.meaning.frequencies import Odds, most_told, odds, sentences
from analysis.privacy.meaning.grades import Grade, grade_of
from analysis.privacy.meaning.numerals import of_100, percent, percent_at_most, rounded_up

__all__ = [
    "PRIORS",
    "Comparison",
    "Deployment",
    "Grade",
    "Odds",
    "OddsRow",
    "chance",
    "comparison",
    "deployments",
    "grade_of",
    "likelihood_ratio",
    "most_told",
    "odds",
    "odds_table",
    "of_100",
    "percent",
    "percent_at_most",
    "posterior",
    "rounded_up",
    "sentences",
    "strongest_posterior",
]
