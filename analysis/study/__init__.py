"""Whole studies: plans before they start, and tables, tests, models and trends afterwards."""
