"""Regression where the outcome, predictors or both were randomized."""

from analysis.study.regression.regress import regress
from analysis.study.regression.response import FAMILIES
from analysis.study.regression.result import Regression, Term

__all__ = ["FAMILIES", "Regression", "Term", "regress"]
