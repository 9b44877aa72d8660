"""Regression where the outcome, predictors or both were randomized."""

from analysis.regression.regress import regress
from analysis.regression.response import FAMILIES
from analysis.regression.result import Regression, Term

__all__ = ["FAMILIES", "Regression", "Term", "regress"]
