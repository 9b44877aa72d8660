"""Whole studies: plans before they start; tables, tests, models and trends afterwards."""
